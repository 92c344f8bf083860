// Textures over memory: one line by index, and rows with a pitch by coordinates.

#include "../expect.h"

__global__ void fetch(cudaTextureObject_t texture, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex1Dfetch<float>(texture, i);
}

__global__ void fetch_normalized(cudaTextureObject_t texture, float *out) {
    out[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x);
}

__global__ void rows(cudaTextureObject_t texture, float *out, float shift, int width) {
    out[threadIdx.y * width + threadIdx.x] = tex2D<float>(texture, threadIdx.x + shift, threadIdx.y + 0.5f);
}

int main() {
    const int n = 100;
    float host[n], *device, *out, found[n];
    for (int i = 0; i < n; i++) host[i] = i * 1.5f;
    OK(cudaMalloc(&device, sizeof host));
    OK(cudaMalloc(&out, sizeof host));
    OK(cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = device;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = sizeof host;
    cudaTextureDesc description = {};
    description.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture;
    OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    fetch<<<4, 32>>>(texture, out, n);
    OK(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) CHECK(found[i] == host[i]);
    OK(cudaDestroyTextureObject(texture));

    // Bytes as numbers between 0 and 1.
    unsigned char bytes[4] = {0, 51, 102, 255};
    OK(cudaMemcpy(device, bytes, sizeof bytes, cudaMemcpyHostToDevice));
    resource.res.linear.desc = cudaCreateChannelDesc<unsigned char>();
    resource.res.linear.sizeInBytes = sizeof bytes;
    description.readMode = cudaReadModeNormalizedFloat;
    OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    fetch_normalized<<<1, 4>>>(texture, out);
    OK(cudaMemcpy(found, out, 4 * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 4; i++) CHECK(found[i] > bytes[i] / 255.0f - 1e-6f && found[i] < bytes[i] / 255.0f + 1e-6f);
    OK(cudaDestroyTextureObject(texture));

    float *pitched;
    size_t pitch;
    OK(cudaMallocPitch(&pitched, &pitch, 8 * sizeof(float), 4));
    OK(cudaMemcpy2D(pitched, pitch, host, 8 * sizeof(float), 8 * sizeof(float), 4, cudaMemcpyHostToDevice));
    cudaResourceDesc plane = {};
    plane.resType = cudaResourceTypePitch2D;
    plane.res.pitch2D.devPtr = pitched;
    plane.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    plane.res.pitch2D.width = 8;
    plane.res.pitch2D.height = 4;
    plane.res.pitch2D.pitchInBytes = pitch;
    description.readMode = cudaReadModeElementType;
    description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
    OK(cudaCreateTextureObject(&texture, &plane, &description, nullptr));
    rows<<<1, dim3(8, 4)>>>(texture, out, 0.5f, 8);
    OK(cudaMemcpy(found, out, 32 * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) CHECK(found[i] == host[i]);
    OK(cudaDestroyTextureObject(texture));
    description.filterMode = cudaFilterModeLinear;
    OK(cudaCreateTextureObject(&texture, &plane, &description, nullptr));
    rows<<<1, dim3(7, 4)>>>(texture, out, 1.0f, 7); // Half way between two elements.
    OK(cudaMemcpy(found, out, 28 * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 28; i++) CHECK(found[i] == (host[i / 7 * 8 + i % 7] + host[i / 7 * 8 + i % 7 + 1]) / 2);
    OK(cudaDestroyTextureObject(texture));
    return done();
}
