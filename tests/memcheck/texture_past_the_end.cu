#include "memcheck.h"

// Elements of memory that is bound to a texture; only some threads fetch in the second kernel.
__global__ void fetch(cudaTextureObject_t texture, float *out) {
    out[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x + WRONG_OR_RIGHT(1, 0)); //~ ERROR texture-out-of-bounds
}

__global__ void fetch_before(cudaTextureObject_t texture, int2 *out) {
    if (threadIdx.x >= WRONG_OR_RIGHT(1, 2)) out[threadIdx.x] = tex1Dfetch<int2>(texture, (int)threadIdx.x - 2); //~ ERROR texture-out-of-bounds
}

template <typename T> cudaTextureObject_t texture(size_t count) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = device<T>(count);
    resource.res.linear.desc = cudaCreateChannelDesc<T>();
    resource.res.linear.sizeInBytes = count * sizeof(T);
    cudaTextureDesc how = {};
    cudaTextureObject_t object;
    OK(cudaCreateTextureObject(&object, &resource, &how, nullptr));
    return object;
}

int main() {
    fetch<<<1, 32>>>(texture<float>(32), device<float>(32));
    OK(cudaDeviceSynchronize());
    fetch_before<<<1, 32>>>(texture<int2>(32), device<int2>(32));
    return finish();
}
