// Every call returns in a child that was forked while a kernel runs, and says that CUDA cannot be used there.
//@ build: -lcuda

#include "../expect.h"
#include <cuda.h>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

__global__ void wait_for(volatile int *flag) {
    while (*flag == 0) {}
}

static void in_a_child(const std::function<CUresult()> &call) {
    pid_t child = fork();
    if (child == 0) {
        alarm(10);
        _exit(call() == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static const char *ptx = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n";

int main() {
    int *flag;
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    OK(cudaHostAlloc(&flag, sizeof(int), 0));
    *flag = 0;
    CUdeviceptr memory;
    CUmodule module;
    CUfunction function;
    CUevent event;
    DRIVER_OK(cuMemAlloc(&memory, 64));
    DRIVER_OK(cuModuleLoadData(&module, ptx));
    DRIVER_OK(cuModuleGetFunction(&function, module, "k"));
    DRIVER_OK(cuEventCreate(&event, 0));
    wait_for<<<1, 32, 0, stream>>>(flag);
    OK(cudaGetLastError());
    DRIVER_OK(cuEventRecord(event, stream));
    usleep(100000);

    static char here[64];
    CUdeviceptr other;
    CUmodule loaded;
    CUstream created;
    int count;
    in_a_child([] { return cuInit(0); });
    in_a_child([&] { return cuDeviceGetCount(&count); });
    in_a_child([&] { return cuMemAlloc(&other, 1000); });
    in_a_child([&] { return cuMemFree(memory); });
    in_a_child([&] { return cuMemcpyDtoH(here, memory, 64); });
    in_a_child([&] { return cuModuleLoadData(&loaded, ptx); });
    in_a_child([&] { return cuModuleUnload(module); });
    in_a_child([&] { return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0); });
    in_a_child([&] { return cuStreamCreate(&created, 0); });
    in_a_child([&] { return cuStreamSynchronize(stream); });
    in_a_child([&] { return cuStreamDestroy(stream); });
    in_a_child([&] { return cuEventSynchronize(event); });
    in_a_child([&] { return cuEventDestroy(event); });
    in_a_child([&] { return cuCtxSynchronize(); });
    in_a_child([&] { return cuDevicePrimaryCtxReset(0); });
    in_a_child([&] { return (CUresult)cudaDeviceReset(); });
    // One that ends in an orderly way does not wait either.
    pid_t child = fork();
    if (child == 0) {
        alarm(10);
        exit(3);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);

    *(volatile int *)flag = 1;
    OK(cudaDeviceSynchronize());
    return done();
}
