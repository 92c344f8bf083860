// A program that starts itself: the child runs on the device, too.

#include "../expect.h"
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

__global__ void set(int *p, int value) { *p = value; }

static void use() {
    int *p, host = 0;
    OK(cudaMalloc(&p, sizeof(int)));
    set<<<1, 1>>>(p, 7);
    OK(cudaMemcpy(&host, p, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host == 7);
}

int main(int argc, char **argv) {
    use();
    if (argc > 1) return failed_checks ? 1 : 33;
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", argv[0], "child", (char *)nullptr);
        _exit(99);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 33);
    char command[4200];
    snprintf(command, sizeof command, "'%s' child", argv[0]);
    status = system(command);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 33);
    return done();
}
