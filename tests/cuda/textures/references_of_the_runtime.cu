// Texture references of CUDA 11: linear memory, rows, arrays, how they are read, offsets, errors.
//@ variants: clang-11
//@ build: -Wno-deprecated-declarations
//@ bugs: it makes calls that fail

#include "../expect.h"

texture<float, 1, cudaReadModeElementType> line;
texture<unsigned char, 1, cudaReadModeNormalizedFloat> bytes;
texture<float, 2, cudaReadModeElementType> plane;
texture<int4, 1, cudaReadModeElementType> vectors;

__global__ void fetch(float *out) { out[threadIdx.x] = tex1Dfetch(line, threadIdx.x); }
__global__ void fetch_bytes(float *out) { out[threadIdx.x] = tex1Dfetch(bytes, threadIdx.x); }
__global__ void fetch_vectors(int *out) {
    int4 v = tex1Dfetch(vectors, threadIdx.x);
    out[threadIdx.x] = v.x + v.y + v.z + v.w;
}
__global__ void sample(float *out, float x, float y) { out[0] = tex2D(plane, x, y); }

int main() {
    const int n = 256;
    float host[n], back[n];
    for (int i = 0; i < n; i++)
        host[i] = i;
    float *data, *out;
    CHECK(cudaMalloc(&data, sizeof host) == cudaSuccess);
    CHECK(cudaMalloc(&out, sizeof host) == cudaSuccess);
    CHECK(cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice) == cudaSuccess);

    // Linear memory, bound, bound elsewhere, and unbound.
    size_t offset = 7;
    CHECK(cudaBindTexture(&offset, line, data, sizeof host) == cudaSuccess && offset == 0);
    fetch<<<1, 32>>>(out);
    CHECK(cudaMemcpy(back, out, 32 * sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess);
    for (int i = 0; i < 32; i++)
        CHECK(back[i] == i);
    CHECK(cudaBindTexture(&offset, line, data + 130, 64 * sizeof(float)) == cudaSuccess);
    CHECK(offset == 2 * sizeof(float));
    size_t again = 0;
    CHECK(cudaGetTextureAlignmentOffset(&again, &line) == cudaSuccess && again == offset);
    fetch<<<1, 32>>>(out);
    CHECK(cudaMemcpy(back, out, 32 * sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess);
    for (int i = 0; i < 32; i++)
        CHECK(back[i] == 128 + i);
    CHECK(cudaBindTexture(nullptr, line, data + 1, 4) == cudaErrorInvalidValue);
    // All there is.
    CHECK(cudaBindTexture(nullptr, line, data) == cudaSuccess);
    CHECK(cudaUnbindTexture(line) == cudaSuccess);
    CHECK(cudaGetTextureAlignmentOffset(&again, &line) == cudaErrorInvalidTextureBinding);

    // Integers as numbers from 0 to 1, and vectors.
    unsigned char eight[4] = {0, 51, 255, 102};
    CHECK(cudaMemcpy(data, eight, 4, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaBindTexture(nullptr, bytes, data, 4) == cudaSuccess);
    fetch_bytes<<<1, 4>>>(out);
    CHECK(cudaMemcpy(back, out, 4 * sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(back[0] == 0 && back[1] == 51.0f / 255 && back[2] == 1 && back[3] == 102.0f / 255);
    int numbers[8] = {1, 2, 3, 4, 10, 20, 30, 40}, sums[2];
    CHECK(cudaMemcpy(data, numbers, sizeof numbers, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaBindTexture(nullptr, vectors, data, sizeof numbers) == cudaSuccess);
    fetch_vectors<<<1, 2>>>((int *)out);
    CHECK(cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(sums[0] == 10 && sums[1] == 100);

    // Rows, and an array with a filter: what the reference says when it is bound counts.
    float *rows;
    size_t pitch;
    CHECK(cudaMallocPitch(&rows, &pitch, 8 * sizeof(float), 4) == cudaSuccess);
    CHECK(cudaMemcpy2D(rows, pitch, host, 8 * sizeof(float), 8 * sizeof(float), 4, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaBindTexture2D(&offset, plane, rows, 8, 4, pitch) == cudaSuccess && offset == 0);
    sample<<<1, 1>>>(out, 3.5f, 2.5f);
    CHECK(cudaMemcpy(back, out, sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess && back[0] == 19);
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&array, &format, 8, 4) == cudaSuccess);
    CHECK(cudaMemcpy2DToArray(array, 0, 0, host, 8 * sizeof(float), 8 * sizeof(float), 4, cudaMemcpyHostToDevice) == cudaSuccess);
    plane.filterMode = cudaFilterModeLinear;
    plane.normalized = 1;
    plane.addressMode[0] = plane.addressMode[1] = cudaAddressModeWrap;
    CHECK(cudaBindTextureToArray(plane, array) == cudaSuccess);
    sample<<<1, 1>>>(out, 1 + 4.0f / 8, 1.5f / 4);
    CHECK(cudaMemcpy(back, out, sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess && back[0] == 11.5f);

    const textureReference *found = nullptr;
    CHECK(cudaGetTextureReference(&found, &line) == cudaSuccess && found == &line);
    CHECK(cudaGetTextureReference(&found, host) == cudaErrorInvalidTexture);
    return done();
}
