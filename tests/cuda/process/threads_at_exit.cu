// A program ends as it should while its threads go on to call CUDA, to load kernels and to launch them.
//@ variants: static shared

#include "../expect.h"
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

template <int N> __global__ void add(int *p) { atomicAdd(p + threadIdx.x % N, N); }

template <int N> static void launch(int *p) {
    add<N><<<1, 32>>>(p);
    cudaStreamSynchronize(0);
    if constexpr (N > 1) launch<N - 1>(p);
}

// Leaves threads at work; kernels are compiled when they are first launched.
static int leave(int milliseconds) {
    int *p;
    if (cudaMalloc(&p, 4096) || cudaMemset(p, 0, 4096)) return 1;
    for (int i = 0; i < 4; i++)
        std::thread([=] {
            for (;;) {
                launch<8>(p);
                void *q = nullptr;
                cudaMalloc(&q, 100);
                cudaFree(q);
            }
        }).detach();
    usleep(milliseconds * 1000);
    return 0;
}

int main(int count, char **arguments) {
    if (count > 1) return leave(atoi(arguments[1]));
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (child == 0) {
            char delay[16];
            snprintf(delay, sizeof delay, "%d", i * 7);
            execl("/proc/self/exe", arguments[0], delay, (char *)nullptr);
            _exit(9);
        }
        int status = -1;
        waitpid(child, &status, 0);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    return done();
}
