// A plane with each address mode and filter, with coordinates outside of it, also normalized ones.

#include "../expect.h"
#include <cmath>

__global__ void sample(cudaTextureObject_t texture, const float2 *at, float *out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = tex2D<float>(texture, at[i].x, at[i].y);
}

const int width = 4, height = 4, n = 24;
static float image[height][width];

static int wrapped(int i, int size, cudaTextureAddressMode mode) {
    switch (mode) {
    case cudaAddressModeClamp: return i < 0 ? 0 : i >= size ? size - 1 : i;
    case cudaAddressModeWrap: return ((i % size) + size) % size;
    case cudaAddressModeMirror: {
        int k = ((i % (2 * size)) + 2 * size) % (2 * size);
        return k < size ? k : 2 * size - 1 - k;
    }
    default: return i < 0 || i >= size ? -1 : i;
    }
}

static float texel(int x, int y, cudaTextureAddressMode mode) {
    x = wrapped(x, width, mode), y = wrapped(y, height, mode);
    return x < 0 || y < 0 ? 0.0f : image[y][x];
}

static float expected(float x, float y, cudaTextureAddressMode mode, bool linear, bool normalized) {
    if (normalized) x *= width, y *= height;
    if (!linear) return texel((int)floorf(x), (int)floorf(y), mode);
    float xb = x - 0.5f, yb = y - 0.5f;
    int i = (int)floorf(xb), j = (int)floorf(yb);
    float a = xb - i, b = yb - j;
    return (1 - a) * (1 - b) * texel(i, j, mode) + a * (1 - b) * texel(i + 1, j, mode) + (1 - a) * b * texel(i, j + 1, mode) +
           a * b * texel(i + 1, j + 1, mode);
}

int main() {
    for (int i = 0; i < 16; i++) image[i / 4][i % 4] = (float)(i * i % 13);
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    OK(cudaMallocArray(&array, &format, width, height));
    OK(cudaMemcpy2DToArray(array, 0, 0, image, width * 4, width * 4, height, cudaMemcpyHostToDevice));
    float2 host[n], *at;
    float *out, found[n];
    OK(cudaMalloc(&at, sizeof host));
    OK(cudaMalloc(&out, sizeof found));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;

    for (int mode = 0; mode < 4; mode++)
        for (int linear = 0; linear < 2; linear++)
            for (int normalized = 0; normalized < 2; normalized++) {
                // Wrap and mirror only work with normalized coordinates; else they are clamp.
                bool only_normalized = mode == cudaAddressModeWrap || mode == cudaAddressModeMirror;
                auto effective = only_normalized && !normalized ? cudaAddressModeClamp : (cudaTextureAddressMode)mode;
                // Multiples of 1/16 of an element, which hardware's 8 bits of weight have exactly; none at the edge of one.
                for (int i = 0; i < n; i++) {
                    float x = -5.3125f + i * 0.625f, y = 6.125f - i * 0.5f;
                    host[i] = normalized ? float2{x / width, y / height} : float2{x, y};
                }
                cudaTextureDesc description = {};
                description.addressMode[0] = description.addressMode[1] = (cudaTextureAddressMode)mode;
                description.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
                description.readMode = cudaReadModeElementType;
                description.normalizedCoords = normalized;
                cudaTextureObject_t texture;
                OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
                OK(cudaMemcpy(at, host, sizeof host, cudaMemcpyHostToDevice));
                sample<<<1, 32>>>(texture, at, out, n);
                OK(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost));
                for (int i = 0; i < n; i++) {
                    float wanted = expected(host[i].x, host[i].y, effective, linear, normalized);
                    if (fabsf(found[i] - wanted) > 1e-3f) {
                        printf("mode %d linear %d normalized %d at (%g, %g): %g instead of %g\n", mode, linear, normalized, host[i].x,
                               host[i].y, found[i], wanted);
                        failed_checks++;
                    }
                }
                OK(cudaDestroyTextureObject(texture));
            }
    OK(cudaFreeArray(array));
    return done();
}
