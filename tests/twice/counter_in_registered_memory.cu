//@ flags: --fail-on warning
//@ finds: not-repeatable
#include "../memcheck/memcheck.h"

// A counter that nobody sets back, in memory of the program: who runs again from the same memory of the device draws another.
__global__ void draw(unsigned *ticket, unsigned *counter) { *ticket = WRONG_OR_RIGHT(atomicAdd(counter, 1), *ticket + 1); }

int main() {
    static unsigned counter;
    unsigned *mapped;
    OK(cudaHostRegister(&counter, sizeof counter, cudaHostRegisterMapped));
    OK(cudaHostGetDevicePointer(&mapped, &counter, 0));
    draw<<<1, 1>>>(device<unsigned>(1), mapped);
    int exit_code = finish();
    OK(cudaHostUnregister(&counter));
    return exit_code;
}
