// A library of the runtime: PTX that a program loads, its kernels and variables.

#include "../check.h"

static const char *code = R"(
.version 7.0
.target sm_50
.address_size 64
.visible .global .align 4 .u32 amount = 5;
.visible .entry add_amount(.param .u64 where) {
    .reg .u64 %rd<3>;
    .reg .u32 %r<4>;
    ld.param.u64 %rd1, [where];
    cvta.to.global.u64 %rd2, %rd1;
    ld.global.u32 %r1, [%rd2];
    ld.global.u32 %r2, [amount];
    add.u32 %r3, %r1, %r2;
    st.global.u32 [%rd2], %r3;
    ret;
}
)";

int main() {
    cudaLibrary_t library;
    CHECK(cudaLibraryLoadData(&library, code, nullptr, nullptr, 0, nullptr, nullptr, 0));
    unsigned count = 0;
    CHECK(cudaLibraryGetKernelCount(&count, library));
    REQUIRE(count == 1);
    cudaKernel_t kernel, same;
    CHECK(cudaLibraryGetKernel(&kernel, library, "add_amount"));
    CHECK(cudaLibraryEnumerateKernels(&same, 1, library));
    REQUIRE(kernel == same);
    EXPECT(cudaLibraryGetKernel(&same, library, "nothing"), cudaErrorSymbolNotFound);
    size_t params, offset, bytes_of_param;
    CHECK(cudaFuncGetParamCount((const void *)kernel, &params));
    CHECK(cudaFuncGetParamInfo((const void *)kernel, 0, &offset, &bytes_of_param));
    REQUIRE(params == 1 && offset == 0 && bytes_of_param == 8);
    void *variable;
    size_t bytes;
    CHECK(cudaLibraryGetGlobal(&variable, &bytes, library, "amount"));
    REQUIRE(bytes == 4);
    int *value, out = 30, amount = 12;
    CHECK(cudaMalloc(&value, sizeof(int)));
    CHECK(cudaMemcpy(value, &out, sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(variable, &amount, sizeof(int), cudaMemcpyHostToDevice));
    void *args[] = {&value};
    CHECK(cudaLaunchKernel((const void *)kernel, dim3(1), dim3(1), args, 0, 0));
    CHECK(cudaMemcpy(&out, value, sizeof(int), cudaMemcpyDeviceToHost));
    REQUIRE(out == 42);
    CHECK(cudaLibraryUnload(library));
    EXPECT(cudaLibraryGetKernelCount(&count, library), cudaErrorInvalidResourceHandle);
    printf("PASS\n");
    return 0;
}
