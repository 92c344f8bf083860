// What a program can ask of Warpgrind's tools. Where none is at work, requests in kernels cost nothing, and those of the host
// one comparison after the first. A header of C and CUDA C++; nothing has to be linked.
//
// On the host, for ranges of device memory:
//
//     WARPGRIND_MARK_DEFINED(pointer, bytes)       what is there counts as written
//     WARPGRIND_MARK_UNDEFINED(pointer, bytes)     what is there counts as never written
//     WARPGRIND_MARK_NO_ACCESS(pointer)            nobody may access the allocation, until
//     WARPGRIND_MARK_ACCESSIBLE(pointer)
//     WARPGRIND_BENIGN_RACE(pointer, bytes)        racecheck reports no race there
//     WARPGRIND_IS_AT_WORK()                       1 if a tool of Warpgrind is at work
//
// In kernels:
//
//     WARPGRIND_CHECKS_OFF()                       accesses from here on are not checked, until
//     WARPGRIND_CHECKS_ON()
//     WARPGRIND_HAPPENS_BEFORE(pointer)            what this thread has done so far comes before
//     WARPGRIND_HAPPENS_AFTER(pointer)             what another thread does after this, of the same pointer
//
// NVIDIA's NVTX (nvToolsExtMem.h) says the first of these as well, and the parts of a program's own heap; see the guide.
#ifndef WARPGRIND_REQUESTS_H
#define WARPGRIND_REQUESTS_H

#include <stddef.h>

#define WARPGRIND_MARK_DEFINED(pointer, bytes) warpgrind_request(1, pointer, bytes)
#define WARPGRIND_MARK_UNDEFINED(pointer, bytes) warpgrind_request(2, pointer, bytes)
#define WARPGRIND_MARK_NO_ACCESS(pointer) warpgrind_request(3, pointer, 0)
#define WARPGRIND_MARK_ACCESSIBLE(pointer) warpgrind_request(4, pointer, 0)
#define WARPGRIND_BENIGN_RACE(pointer, bytes) warpgrind_request(5, pointer, bytes)
#define WARPGRIND_IS_AT_WORK() warpgrind_request(0, NULL, 0)

#ifdef __CUDACC__
// The register is read by nobody, so the assembler removes the instruction. Accesses to memory do not pass it.
#define WARPGRIND_CHECKS_OFF() asm volatile("{ .reg .b32 warpgrind_checks; mov.b32 warpgrind_checks, 0; }" ::: "memory")
#define WARPGRIND_CHECKS_ON() asm volatile("{ .reg .b32 warpgrind_checks; mov.b32 warpgrind_checks, 1; }" ::: "memory")
#define WARPGRIND_HAPPENS_BEFORE(pointer)                                                                     \
    asm volatile("{ .reg .b64 warpgrind_happens_before; mov.b64 warpgrind_happens_before, %0; }"              \
                 ::"l"((const volatile void *)(pointer))                                                      \
                 : "memory")
#define WARPGRIND_HAPPENS_AFTER(pointer)                                                                      \
    asm volatile("{ .reg .b64 warpgrind_happens_after; mov.b64 warpgrind_happens_after, %0; }"                \
                 ::"l"((const volatile void *)(pointer))                                                      \
                 : "memory")
#endif

#ifdef __linux__
#include <dlfcn.h>
#include <stdlib.h>

// Warpgrind has NVTX load a library, by a variable of the environment; that has the function, and no other does.
static inline unsigned warpgrind_request(unsigned what, const void *pointer, size_t bytes) {
    typedef unsigned (*request)(unsigned, const void *, size_t);
    static request function;
    static int is_known;
    if (!is_known) {
        const char *path = getenv("NVTX_INJECTION64_PATH");
        void *library = path && *path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;
        function = library ? (request)dlsym(library, "warpgrind_request") : NULL;
        is_known = 1;
    }
    return function ? function(what, pointer, bytes) : 0;
}
#else
static inline unsigned warpgrind_request(unsigned what, const void *pointer, size_t bytes) {
    (void)what, (void)pointer, (void)bytes;
    return 0;
}
#endif

#endif
