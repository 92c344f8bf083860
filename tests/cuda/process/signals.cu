// Signals that a program sends to itself do what they do without us: they end it, are ignored, or come to its handlers,
// whether or not a kernel runs.
//@ variants: static shared
//@ bugs: its processes are ended by signals

#include "../expect.h"
#include <csignal>
#include <functional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

__global__ void wait_for(volatile int *flag) {
    while (*flag == 0) {}
}
__global__ void set(int *p) { *p = 1; }

static volatile sig_atomic_t handled;
static void note(int signal) { handled = signal; }

// Runs something in a process of its own; how that ended.
static int status_of(const std::function<int()> &body) {
    pid_t child = fork();
    if (child == 0) {
        alarm(30);
        _exit(body());
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

static bool use_cuda() {
    int *p;
    if (cudaMalloc(&p, sizeof(int))) return false;
    set<<<1, 1>>>(p);
    return cudaDeviceSynchronize() == cudaSuccess;
}

// Sends a signal to the process while a kernel runs; what comes of the kernel.
static cudaError_t during_a_kernel(int signal) {
    int *flag;
    cudaHostAlloc(&flag, sizeof(int), 0);
    *flag = 0;
    wait_for<<<1, 32>>>(flag);
    std::thread other([=] {
        usleep(50000);
        kill(getpid(), signal);
        usleep(50000);
        *(volatile int *)flag = 1;
    });
    cudaError_t result = cudaDeviceSynchronize();
    other.join();
    return result;
}

int main() {
    for (int signal : {SIGSEGV, SIGFPE, SIGABRT, SIGTERM, SIGUSR1}) {
        int status = status_of([=] { return use_cuda() ? raise(signal) : 9; });
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == signal);
        status = status_of([=] { return during_a_kernel(signal); });
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == signal);
        // Ignored, and so nothing happens.
        status = status_of([=] {
            std::signal(signal, SIG_IGN);
            return use_cuda() && raise(signal) == 0 && during_a_kernel(signal) == cudaSuccess ? 0 : 9;
        });
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    for (int signal : {SIGSEGV, SIGFPE, SIGTERM, SIGURG, SIGUSR1}) {
        // A handler that is older than our use of CUDA, and one that is not.
        for (bool is_older : {true, false}) {
            int status = status_of([=] {
                if (is_older) std::signal(signal, note);
                if (!use_cuda()) return 9;
                if (!is_older) std::signal(signal, note);
                raise(signal);
                if (handled != signal) return 1;
                handled = 0;
                if (during_a_kernel(signal) != cudaSuccess) return 2;
                return handled == signal ? 0 : 3;
            });
            CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        }
    }
    // A fault of the host is a fault of the host.
    int status = status_of([] { return use_cuda() ? *(volatile int *)8 : 9; });
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    // Nobody takes a signal that the program waits for.
    status = status_of([] {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGURG);
        pthread_sigmask(SIG_BLOCK, &set, nullptr);
        if (during_a_kernel(SIGURG) != cudaSuccess) return 1;
        sigset_t pending;
        sigpending(&pending);
        return sigismember(&pending, SIGURG) ? 0 : 2;
    });
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return done();
}
