// Code of the host writes to device memory that it has freed, on another thread, and handles the signal.
#include "memcheck.h"
#include <csetjmp>
#include <csignal>
#include <thread>

static sigjmp_buf before;
static void go_on(int) { siglongjmp(before, 1); }

int main() {
    signal(SIGSEGV, go_on);
    int *p = device<int>(32), *other = device<int>(32);
    OK(cudaFree(p));
    std::thread thread([=] {
        if (sigsetjmp(before, 1) == 0) {
#ifndef FIXED
            p[3] = 1; //~ ERROR host-access
#endif
        }
        // The thread goes on, and CUDA can be used on it.
        OK(cudaMemset(other, 0, 32 * sizeof(int)));
    });
    thread.join();
    return finish();
}
