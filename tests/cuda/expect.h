// What the programs here check with. A check that fails says so and the program goes on; `done` ends it.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static int failed_checks = 0;

static inline void failed_check(const char *file, int line, const char *what) {
    const int most = 20;
    if (++failed_checks <= most) printf("%s:%d: %s\n", file, line, what);
    if (failed_checks == most) printf("and more\n");
}

// `cudaError_t` and `CUresult` have the same numbers.
template <class Result> static inline void expect_result(Result wanted, Result found, const char *file, int line, const char *call) {
    if (found == wanted) return;
    char text[400];
    snprintf(text, sizeof text, "%.300s returned %d instead of %d", call, (int)found, (int)wanted);
    failed_check(file, line, text);
}

// Something that is true.
#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) failed_check(__FILE__, __LINE__, "not true: " #condition);                                   \
    } while (0)
// A call that returns this error.
#define RETURNS(error, call) expect_result((error), (call), __FILE__, __LINE__, #call)
// A call that succeeds, of the runtime and of the driver.
#define OK(call) RETURNS(cudaSuccess, call)
#define DRIVER_OK(call) RETURNS(CUDA_SUCCESS, call)

// The end of a program: what `main` returns.
static inline int done() {
    if (failed_checks == 0) printf("PASS\n");
    return failed_checks == 0 ? 0 : 1;
}
