// Textures of volumes, layers, cubes and levels show what was copied into their arrays.

#include "../expect.h"

__global__ void volume(cudaTextureObject_t t, int *out) {
    out[(threadIdx.z * 3 + threadIdx.y) * 4 + threadIdx.x] = tex3D<int>(t, threadIdx.x + 0.5f, threadIdx.y + 0.5f, threadIdx.z + 0.5f);
}
__global__ void layers(cudaTextureObject_t t, int *out) {
    out[(threadIdx.z * 3 + threadIdx.y) * 4 + threadIdx.x] = tex2DLayered<int>(t, threadIdx.x + 0.5f, threadIdx.y + 0.5f, threadIdx.z);
}
__global__ void lines(cudaTextureObject_t t, int *out) {
    out[threadIdx.z * 4 + threadIdx.x] = tex1DLayered<int>(t, threadIdx.x + 0.5f, threadIdx.z);
}
__global__ void cube(cudaTextureObject_t t, int *out) {
    const float axes[6][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    const float *a = axes[threadIdx.x];
    out[threadIdx.x] = texCubemap<int>(t, a[0], a[1], a[2]);
}
__global__ void levels(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex2DLod<float>(t, 0.5f, 0.5f, threadIdx.x); }
__global__ void pixels(cudaTextureObject_t t, float4 *out) { out[threadIdx.x] = tex1D<float4>(t, threadIdx.x + 0.5f); }

static cudaTextureObject_t texture_of(cudaArray_t array, bool normalized = false) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc description = {};
    description.readMode = cudaReadModeElementType;
    description.normalizedCoords = normalized;
    for (auto &mode : description.addressMode) mode = cudaAddressModeClamp;
    cudaTextureObject_t texture = 0;
    OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    return texture;
}

static cudaArray_t array_of(cudaExtent extent, unsigned flags, const int *data) {
    cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
    cudaArray_t array = nullptr;
    OK(cudaMalloc3DArray(&array, &format, extent, flags));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr((void *)data, extent.width * 4, extent.width, extent.height ? extent.height : 1);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(extent.width, extent.height ? extent.height : 1, extent.depth);
    copy.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&copy));
    return array;
}

int main() {
    int data[24], found[24], *out;
    for (int i = 0; i < 24; i++) data[i] = i * 3 + 1;
    OK(cudaMalloc(&out, 1024));

    cudaArray_t array = array_of(make_cudaExtent(4, 3, 2), 0, data);
    volume<<<1, dim3(4, 3, 2)>>>(texture_of(array), out);
    OK(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 24; i++) CHECK(found[i] == data[i]);
    cudaChannelFormatDesc format;
    cudaExtent extent;
    unsigned flags = 9;
    OK(cudaArrayGetInfo(&format, &extent, &flags, array));
    CHECK(format.x == 32 && format.f == cudaChannelFormatKindSigned && extent.width == 4 && extent.height == 3 && extent.depth == 2 && flags == 0);
    OK(cudaFreeArray(array));

    array = array_of(make_cudaExtent(4, 3, 2), cudaArrayLayered, data);
    layers<<<1, dim3(4, 3, 2)>>>(texture_of(array), out);
    OK(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 24; i++) CHECK(found[i] == data[i]);
    OK(cudaFreeArray(array));

    array = array_of(make_cudaExtent(4, 0, 6), cudaArrayLayered, data);
    lines<<<1, dim3(4, 1, 6)>>>(texture_of(array), out);
    OK(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 24; i++) CHECK(found[i] == data[i]);
    OK(cudaFreeArray(array));

    int faces[6 * 4];
    for (int i = 0; i < 24; i++) faces[i] = i / 4 + 1;
    array = array_of(make_cudaExtent(2, 2, 6), cudaArrayCubemap, faces);
    cube<<<1, 6>>>(texture_of(array, true), out);
    OK(cudaMemcpy(found, out, 6 * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 6; i++) CHECK(found[i] == i + 1);
    OK(cudaFreeArray(array));

    // Levels of 4, 2 and 1.
    cudaMipmappedArray_t mipmaps;
    format = cudaCreateChannelDesc<float>();
    OK(cudaMallocMipmappedArray(&mipmaps, &format, make_cudaExtent(4, 4, 0), 3));
    for (int level = 0; level < 3; level++) {
        cudaArray_t of_level;
        OK(cudaGetMipmappedArrayLevel(&of_level, mipmaps, level));
        float values[16];
        for (float &value : values) value = level * 10.0f;
        int size = 4 >> level;
        OK(cudaMemcpy2DToArray(of_level, 0, 0, values, size * 4, size * 4, size, cudaMemcpyHostToDevice));
    }
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = mipmaps;
    cudaTextureDesc description = {};
    description.readMode = cudaReadModeElementType;
    description.normalizedCoords = 1;
    description.maxMipmapLevelClamp = 2;
    description.mipmapFilterMode = cudaFilterModePoint;
    cudaTextureObject_t texture;
    OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    levels<<<1, 3>>>(texture, (float *)out);
    float of_levels[3];
    OK(cudaMemcpy(of_levels, out, sizeof of_levels, cudaMemcpyDeviceToHost));
    CHECK(of_levels[0] == 0.0f && of_levels[1] == 10.0f && of_levels[2] == 20.0f);
    OK(cudaFreeMipmappedArray(mipmaps));

    // Four numbers in an element.
    uchar4 four[2] = {{255, 0, 51, 102}, {0, 255, 255, 0}};
    format = cudaCreateChannelDesc<uchar4>();
    OK(cudaMallocArray(&array, &format, 2));
    OK(cudaMemcpy2DToArray(array, 0, 0, four, sizeof four, sizeof four, 1, cudaMemcpyHostToDevice));
    resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    description = {};
    description.readMode = cudaReadModeNormalizedFloat;
    OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    pixels<<<1, 2>>>(texture, (float4 *)out);
    float4 colours[2];
    OK(cudaMemcpy(colours, out, sizeof colours, cudaMemcpyDeviceToHost));
    CHECK(colours[0].x == 1.0f && colours[0].y == 0.0f && colours[1].y == 1.0f && colours[0].z > 0.19f && colours[0].z < 0.21f);
    OK(cudaFreeArray(array));
    return done();
}
