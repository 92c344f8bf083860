// Code of the host writes to device memory that it has freed, on another thread, and handles the signal.
#include "memcheck.h"
#include <csetjmp>
#include <csignal>
#include <pthread.h>

static sigjmp_buf before;
static void go_on(int) { siglongjmp(before, 1); }

static int *freed, *other;

static void *write(void *) {
    if (sigsetjmp(before, 1) == 0) {
#ifndef FIXED
        freed[3] = 1; //~ ERROR host-access
#endif
    }
    // The thread goes on, and CUDA can be used on it.
    OK(cudaMemset(other, 0, 32 * sizeof(int)));
    return nullptr;
}

int main() {
    signal(SIGSEGV, go_on);
    freed = device<int>(32);
    other = device<int>(32);
    OK(cudaFree(freed));
    pthread_t thread;
    pthread_create(&thread, nullptr, write, nullptr);
    pthread_join(thread, nullptr);
    return finish();
}
