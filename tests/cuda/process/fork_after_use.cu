// A child that was forked after CUDA was used cannot use it: it gets an error, and does not hang; the parent goes on.

#include "../expect.h"
#include <sys/wait.h>
#include <unistd.h>

__global__ void set(int *p, int value) { *p = value; }

int main() {
    int *p, host = 0;
    OK(cudaMalloc(&p, sizeof(int)));
    set<<<1, 1>>>(p, 1);
    OK(cudaDeviceSynchronize());
    pid_t child = fork();
    if (child == 0) {
        void *q;
        RETURNS(cudaErrorInitializationError, cudaMalloc(&q, 4));
        RETURNS(cudaErrorInitializationError, cudaDeviceSynchronize());
        set<<<1, 1>>>(p, 2);
        CHECK(cudaGetLastError() != cudaSuccess);
        fflush(stdout);
        _exit(failed_checks ? 1 : 0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    set<<<1, 1>>>(p, 3);
    OK(cudaMemcpy(&host, p, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host == 3);
    return done();
}
