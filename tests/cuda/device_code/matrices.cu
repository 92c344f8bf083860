// Products of matrices by a warp: wmma of half, and of bytes.
//@ variants: static shared sm_75 sm_90

#include "../expect.h"
#include <mma.h>

using namespace nvcuda;

__global__ void halves(const __half *a, const __half *b, float *c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 1.0f);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

__global__ void bytes(const signed char *a, const signed char *b, int *c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> fc;
    wmma::fill_fragment(fc, 0);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_col_major);
}

int main() {
    __half a[256], b[256], *da, *db;
    float *dc, c[256];
    for (int i = 0; i < 256; i++) a[i] = __float2half((float)(i % 7 - 3)), b[i] = __float2half((float)(i % 5) * 0.5f);
    OK(cudaMalloc(&da, sizeof a));
    OK(cudaMalloc(&db, sizeof b));
    OK(cudaMalloc(&dc, sizeof c));
    OK(cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice));
    halves<<<1, 32>>>(da, db, dc);
    OK(cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost));
    for (int y = 0; y < 16; y++)
        for (int x = 0; x < 16; x++) {
            float sum = 1.0f;
            for (int k = 0; k < 16; k++) sum += __half2float(a[y * 16 + k]) * __half2float(b[x * 16 + k]);
            CHECK(c[y * 16 + x] == sum);
        }
    signed char ba[256], bb[256];
    int bc[256];
    for (int i = 0; i < 256; i++) ba[i] = (signed char)(i * 37), bb[i] = (signed char)(i * 11 - 50);
    OK(cudaMemcpy(da, ba, sizeof ba, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(db, bb, sizeof bb, cudaMemcpyHostToDevice));
    bytes<<<1, 32>>>((signed char *)da, (signed char *)db, (int *)dc);
    OK(cudaMemcpy(bc, dc, sizeof bc, cudaMemcpyDeviceToHost));
    for (int y = 0; y < 16; y++)
        for (int x = 0; x < 16; x++) {
            int sum = 0;
            for (int k = 0; k < 16; k++) sum += ba[y * 16 + k] * bb[k * 16 + x];
            CHECK(bc[x * 16 + y] == sum);
        }
    return done();
}
