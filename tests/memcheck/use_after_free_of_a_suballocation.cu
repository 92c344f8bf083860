//@ headers: nvtx
#include "suballocator.h"


__global__ void fill(int *data, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        data[i] = i; //~ ERROR use-after-free
}

int main() {
    Pool pool(1 << 20, "arena");
    int *data = pool.allocate<int>(100);
    nvtxMessageValue_t name;
    name.registered = nvtxDomainRegisterStringA(pool.domain, "activations");
    pool.call(data, NVTX_MESSAGE_TYPE_REGISTERED, name);
    fill<<<1, 128>>>(data, 100);
    // It waits for the kernel, which may still run.
    pool.free(data);
    pool.used = 0;
#ifdef FIXED
    data = pool.allocate<int>(100, "activations");
#endif
    fill<<<1, 128>>>(data, 100);
    finish();
    pool.release();
    return 0;
}
