#include "memcheck.h"

// A texture of twice the memory that there is, and rows of which the last goes past the end.
cudaError_t bind(cudaResourceDesc resource) {
    cudaTextureDesc how = {};
    cudaTextureObject_t object;
    return cudaCreateTextureObject(&object, &resource, &how, nullptr); //~ ERROR invalid-binding
}

int main() {
    cudaResourceDesc linear = {};
    linear.resType = cudaResourceTypeLinear;
    linear.res.linear.devPtr = device<char>(4 << 20);
    linear.res.linear.desc = cudaCreateChannelDesc<float>();
    linear.res.linear.sizeInBytes = WRONG_OR_RIGHT(8 << 20, 4 << 20);
    bind(linear);

    cudaResourceDesc rows = {};
    rows.resType = cudaResourceTypePitch2D;
    rows.res.pitch2D.devPtr = device<char>(64 * 256);
    rows.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    rows.res.pitch2D.width = 64;
    rows.res.pitch2D.height = WRONG_OR_RIGHT(65, 64);
    rows.res.pitch2D.pitchInBytes = 256;
    bind(rows);
    return finish();
}
