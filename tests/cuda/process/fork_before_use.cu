// A process that forks before it uses CUDA: both can use it.

#include "../expect.h"
#include <sys/wait.h>
#include <unistd.h>

__global__ void set(int *p, int value) { *p = value; }

static void use(int value) {
    int *p, host = 0;
    OK(cudaMalloc(&p, sizeof(int)));
    set<<<1, 1>>>(p, value);
    OK(cudaMemcpy(&host, p, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host == value);
}

int main() {
    pid_t child = fork();
    if (child == 0) {
        use(1);
        fflush(stdout);
        _exit(failed_checks ? 1 : 0);
    }
    use(2);
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return done();
}
