// Lines of the host and of kernels come in order at every point where the host waits.
//@ stdout: host 1
//@ stdout: kernel 1
//@ stdout: host 2
//@ stdout: kernel 2
//@ stdout: host 3
//@ stdout: kernel 3
//@ stdout: host 4
//@ stdout: kernel 4
//@ stdout: host 5
//@ stdout: kernel 5
//@ stdout: host 6
//@ variants: static shared ptds

#include <cstdio>

__global__ void say(int n) { printf("kernel %d\n", n); }

int main() {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaEvent_t event;
    cudaEventCreate(&event);
    int *p, value;
    cudaMalloc(&p, sizeof(int));

    printf("host 1\n");
    say<<<1, 1>>>(1);
    cudaDeviceSynchronize();
    printf("host 2\n");
    say<<<1, 1, 0, stream>>>(2);
    cudaStreamSynchronize(stream);
    printf("host 3\n");
    say<<<1, 1, 0, stream>>>(3);
    cudaEventRecord(event, stream);
    cudaEventSynchronize(event);
    printf("host 4\n");
    say<<<1, 1>>>(4);
    cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost);
    printf("host 5\n");
    say<<<1, 1>>>(5);
    cudaDeviceReset();
    printf("host 6\n");
    return 0;
}
