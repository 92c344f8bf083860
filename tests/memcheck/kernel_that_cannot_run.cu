// A kernel that the device cannot run was not checked, and the run is not clean, although nothing was found.
//@ build: -lcuda
//@ exit: 87

#include "memcheck.h"
#include <cuda.h>

#ifdef FIXED
#define ADD "add.u32"
#else
#define ADD "add.rp.u32"
#endif

static const char *text = ".version 8.0\n"
                          ".target sm_80\n"
                          ".address_size 64\n"
                          ".visible .entry twice(.param .u64 p) {\n"
                          "    .reg .b32 %r<2>;\n"
                          "    .reg .b64 %rd<2>;\n"
                          "    ld.param.u64 %rd1, [p];\n"
                          "    ld.global.u32 %r1, [%rd1];\n"
                          "    " ADD " %r1, %r1, %r1;\n"
                          "    st.global.u32 [%rd1], %r1;\n"
                          "    ret;\n"
                          "}\n";

int main() {
    int *p = device<int>(1);
    CUmodule module;
    CUfunction function;
    void *arguments[] = {&p};
    printf("%d\n", cuModuleLoadData(&module, text));
    printf("%d\n", cuModuleGetFunction(&function, module, "twice"));
    printf("%d\n", cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, arguments, 0));
    return finish();
}
