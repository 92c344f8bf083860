// Kernels run from constructors of global objects, before main, and CUDA answers in destructors and functions at exit.
//@ stdout: constructor 5
//@ stdout: main 6
//@ stdout: at exit 7
//@ stdout: destructor 8

#include <cstdio>
#include <cstdlib>

__device__ int counter = 4;
__global__ void count(int *out) { *out = ++counter; }

static void run(const char *where) {
    int *out, value = -1;
    cudaError_t error = cudaMalloc(&out, sizeof(int));
    count<<<1, 1>>>(out);
    if (error == cudaSuccess) error = cudaGetLastError();
    if (error == cudaSuccess) error = cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaFree(out);
    if (error == cudaSuccess) printf("%s %d\n", where, value);
    else printf("%s: %s\n", where, cudaGetErrorString(error));
}

struct Global {
    Global() { run("constructor"); }
    ~Global() { run("destructor"); }
} global;

int main() {
    run("main");
    atexit([] { run("at exit"); });
    return 0;
}
