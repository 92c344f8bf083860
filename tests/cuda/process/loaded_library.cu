// A shared object that is loaded later, with a runtime of its own: it and the program see the same device.
//@ library: parts/loaded_library_part.cu
//@ build: -ldl

#include "../expect.h"
#include <dlfcn.h>

__global__ void set(int *p) { *p = 20; }

int main(int, char **argv) {
    int *p, value = 0;
    OK(cudaMalloc(&p, sizeof(int)));
    set<<<1, 1>>>(p);
    for (int round = 0; round < 3; round++) {
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) {
            printf("%s\n", dlerror());
            return 1;
        }
        auto twice = (int (*)(int *))dlsym(library, "twice");
        CHECK(twice != nullptr && twice(p) == 0);
        OK(cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost));
        CHECK(value == 40 << round);
        CHECK(dlclose(library) == 0);
    }
    set<<<1, 1>>>(p);
    OK(cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost));
    CHECK(value == 20);
    return done();
}
