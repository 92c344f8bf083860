// Calls that fail and that nobody looks at are reported; answers that are no errors are not.
//@ flags: --fail-on warning

#include "memcheck.h"

__global__ void set(int *p) { p[threadIdx.x] = 1; } //~ ERROR api-error

int main() {
    int *p = device<int>(32);
    int host[32];
    set<<<1, WRONG_OR_RIGHT(2048, 32)>>>(p);
    for (int i = 0; i < 10; i++)
        cudaMemcpy(host, p, sizeof host, WRONG_OR_RIGHT((cudaMemcpyKind)9, cudaMemcpyDeviceToHost)); //~ ERROR api-error
    cudaSetDevice(WRONG_OR_RIGHT(7, 0)); //~ ERROR api-error
    cudaGetLastError();
    int *flag;
    OK(cudaHostAlloc(&flag, sizeof(int), 0));
    cudaEvent_t event;
    OK(cudaEventCreate(&event));
    OK(cudaLaunchHostFunc(0, [](void *flag) { while (*(volatile int *)flag == 0) {} }, flag));
    OK(cudaEventRecord(event));
    printf("%s\n", cudaGetErrorName(cudaEventQuery(event)));
    *(volatile int *)flag = 1;
    return finish();
}
