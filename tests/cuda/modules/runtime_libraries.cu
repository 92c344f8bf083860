// Libraries of the runtime: the same as those of the driver, under other names.

#include "../expect.h"

static const char *text = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 number = 7;
.visible .entry copy(.param .u64 out) {
    .reg .b64 %rd<3>; .reg .b32 %r1;
    ld.param.u64 %rd1, [out]; mov.u64 %rd2, number; ld.global.u32 %r1, [%rd2]; st.global.u32 [%rd1], %r1; ret;
}
)";

int main() {
    cudaLibrary_t library;
    cudaKernel_t kernel;
    OK(cudaLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
    unsigned count = 0;
    OK(cudaLibraryGetKernelCount(&count, library));
    CHECK(count == 1);
    OK(cudaLibraryGetKernel(&kernel, library, "copy"));
    void *number;
    size_t bytes = 0;
    OK(cudaLibraryGetGlobal(&number, &bytes, library, "number"));
    CHECK(bytes == 4);
    int *out, result = 0;
    OK(cudaMalloc(&out, 4));
    void *params[] = {&out};
    OK(cudaLaunchKernel((const void *)kernel, dim3(1), dim3(1), params, 0, nullptr));
    OK(cudaMemcpy(&result, out, 4, cudaMemcpyDeviceToHost));
    CHECK(result == 7);
    OK(cudaLibraryUnload(library));
    return done();
}
