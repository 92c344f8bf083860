//@ headers: nvtx
//@ flags: --leak-check full
//@ finds: leak
#include "suballocator.h"


__global__ void fill(int *data) {
    data[threadIdx.x] = threadIdx.x;
}

int main() {
    Pool pool(1 << 20, "arena");
    int *data = pool.allocate<int>(128, "forgotten");
    fill<<<1, 128>>>(data);
    finish();
#ifdef FIXED
    pool.free(data);
    pool.release();
#endif
    return 0;
}
