// What is found is reported although the program has closed all descriptors, and uses their numbers for its own files.

#include "memcheck.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

__global__ void set(int *p, int n) {
    int i = threadIdx.x;
#ifdef FIXED
    if (i >= n) return;
#endif
    p[i] = n; //~ ERROR out-of-bounds
}

int main() {
    int *p;
    OK(cudaMalloc(&p, 100 * sizeof(int)));
    set<<<1, 64>>>(p, 100);
    OK(cudaDeviceSynchronize());
    for (int i = 3; i < 4096; i++) close(i);
    char name[] = "/tmp/warpgrind-test-XXXXXX";
    int own = mkstemp(name);
    for (int i = 3; i < 32; i++) dup2(own, i);
    for (int i = 2000; i < 2032; i++) dup2(own, i);
    set<<<1, 128>>>(p, 100);
    cudaDeviceSynchronize();
    struct stat status;
    int size = fstat(own, &status) == 0 ? (int)status.st_size : -1;
    if (size != 0) printf("%d bytes were written to the file of the program\n", size);
    unlink(name);
    return size != 0;
}
