// What cannot be in a transaction. The kernels run as they are, each is named with the reason, and the run is not a clean one.
//@ refused: barrier atomic printf device-heap volatile ordered-access shared-memory local-memory fence collective nested
#include <warpgrind/transactional.cuh>

#include "stm.h"

#ifdef FIXED
#define BEGIN
#define END
#else
#define BEGIN warpgrind::transaction_begin();
#define END warpgrind::transaction_end();
#endif

__global__ void with_barrier(int *p) { BEGIN __syncthreads(); p[threadIdx.x] = 1; END }
__global__ void with_atomic(int *p) { BEGIN atomicAdd(p, 1); END }
__global__ void with_printf(int *p) { BEGIN if (p[0] > 1000) printf("%d\n", p[0]); END }
__global__ void with_malloc(int *p) { BEGIN *(void **)(p + 50) = malloc(4); END }
__global__ void with_volatile(volatile int *p) { BEGIN p[41] = 1; END }
__global__ void with_order(int *p) { BEGIN asm volatile("st.release.gpu.u32 [%0], 1;" : : "l"(p + 42) : "memory"); END }
__global__ void with_shared(int *p) { __shared__ int s[32]; BEGIN s[threadIdx.x] = p[43]; END p[44] = s[31 - threadIdx.x]; }
__global__ void with_local(int *p) { int l[32]; for (int i = 0; i < 32; ++i) l[i] = i; BEGIN l[p[44]] = p[45]; END p[46] = l[p[45]]; }
__global__ void with_fence(int *p) { BEGIN p[47] = 1; __threadfence(); END }
__global__ void with_vote(int *p) { BEGIN p[48] = __any_sync(~0u, p[0]); END }
__global__ void with_another(int *p) { BEGIN BEGIN p[49] = 1; END END }

int main() {
    int *p = managed<int>(64);
    void (*kernels[])(int *) = {with_barrier, with_atomic, with_printf, with_malloc, with_order, with_shared,
                                with_local,   with_fence,  with_vote,   with_another};
    for (auto kernel : kernels) kernel<<<1, 32>>>(p);
    with_volatile<<<1, 32>>>(p);
    OK(cudaDeviceSynchronize());
    return check(p[1] == 1 && p[41] == 1 && p[42] == 1 && p[47] == 1 && p[49] == 1, "kernels that run as they are");
}
