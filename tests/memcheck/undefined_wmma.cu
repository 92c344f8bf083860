//@ architecture: sm_90
// What wmma loads, multiplies and stores is undefined element by element.
#include "memcheck.h"
#include <cuda_bf16.h>
#include <mma.h>

using namespace nvcuda;

// The first that is undefined in a row, and in a column.
constexpr int ROW = 3, COLUMN = 5;

template <class Type, class Result> struct Matrices {
    Type *first, *second;
    Result *added, *product;
};

template <class Type, class Result> __device__ void multiply(Matrices<Type, Result> of) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, Type, wmma::row_major> first;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, Type, wmma::col_major> second;
    wmma::fragment<wmma::accumulator, 16, 16, 16, Result> sum;
    wmma::load_matrix_sync(first, of.first, 16);
    wmma::load_matrix_sync(second, of.second, 16);
    wmma::load_matrix_sync(sum, of.added, 16, wmma::mem_row_major);
    wmma::mma_sync(sum, first, second, sum);
    wmma::store_matrix_sync(of.product, sum, 16, wmma::mem_row_major);
    __syncwarp();
}


// A row of the first factor makes a row of the product undefined, and a column of the second one a column.
__global__ void halves(Matrices<__half, float> of, int *out) {
    multiply(of);
    int lane = threadIdx.x % 16;
    if (of.product[ROW * 16 + lane] > 1) out[0] = 1;          //~ ERROR undefined-branch
    if (of.product[lane * 16 + COLUMN] > 1) out[1] = 1;       //~ ERROR undefined-branch
    if (of.product[(ROW + 1) * 16 + lane % COLUMN] > 1) out[2] = 1;
    if (of.product[0 * 16 + COLUMN + 1 + lane % 8] > 1) out[3] = 1;
}

__global__ void small_floats(Matrices<__nv_bfloat16, float> of, int *out) {
    multiply(of);
    int lane = threadIdx.x % 16;
    if (of.product[ROW * 16 + lane] > 1) out[0] = 1;          //~ ERROR undefined-branch
    if (of.product[lane * 16 + COLUMN] > 1) out[1] = 1;       //~ ERROR undefined-branch
    if (of.product[(ROW + 1) * 16 + lane % COLUMN] > 1) out[2] = 1;
}

__global__ void bytes(Matrices<signed char, int> of, int *out) {
    multiply(of);
    int lane = threadIdx.x % 16;
    if (of.product[ROW * 16 + lane] > 1) out[0] = 1;          //~ ERROR undefined-branch
    if (of.product[lane * 16 + COLUMN] > 1) out[1] = 1;       //~ ERROR undefined-branch
    if (of.product[(ROW + 1) * 16 + lane % COLUMN] > 1) out[2] = 1;
}

// Sums in halves, two of which are in a register.
__global__ void half_sums(Matrices<__half, __half> of, int *out) {
    multiply(of);
    int lane = threadIdx.x % 16;
    if (__half2float(of.product[ROW * 16 + lane]) > 1) out[0] = 1;    //~ ERROR undefined-branch
    if (__half2float(of.product[lane * 16 + COLUMN]) > 1) out[1] = 1; //~ ERROR undefined-branch
    if (__half2float(of.product[(ROW + 1) * 16 + lane % COLUMN]) > 1) out[2] = 1;
}

// What is added, alone, through shared memory.
__global__ void added(const float *from, float *product, int *out) {
    __shared__ __align__(32) float tile[16 * 20];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> first;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> second;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(first, __float2half(1));
    wmma::fill_fragment(second, __float2half(1));
    wmma::load_matrix_sync(sum, from, 16, wmma::mem_row_major);
    wmma::mma_sync(sum, first, second, sum);
    wmma::store_matrix_sync(tile, sum, 20, wmma::mem_col_major);
    __syncwarp();
    int lane = threadIdx.x % 16;
    // By columns now.
    if (tile[COLUMN * 20 + ROW] > 1) out[0] = 1;              //~ ERROR undefined-branch
    if (tile[COLUMN * 20 + lane % ROW] > 1) out[1] = 1;
    if (tile[lane % COLUMN * 20 + ROW] > 1) out[2] = 1;
    wmma::load_matrix_sync(sum, tile, 20, wmma::mem_col_major);
    for (int nth = 0; nth < sum.num_elements; nth++)
        sum.x[nth] *= 2;
    wmma::store_matrix_sync(product, sum, 16, wmma::mem_row_major);
    __syncwarp();
    if (product[ROW * 16 + COLUMN] > 1) out[3] = 1;           //~ ERROR undefined-branch
    if (product[ROW * 16 + lane % COLUMN] > 1) out[4] = 1;
}

// Other shapes: 8 x 4 times 4 x 8, 16 x 8 times 8 x 16, and bits and half bytes.
__global__ void doubles(const double *from, double *product, int *out) {
    wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> first;
    wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> second;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> sum;
    wmma::load_matrix_sync(first, from, 4);
    wmma::fill_fragment(second, 1.0);
    wmma::fill_fragment(sum, 1.0);
    wmma::mma_sync(sum, first, second, sum);
    wmma::store_matrix_sync(product, sum, 8, wmma::mem_row_major);
    __syncwarp();
    if (product[ROW * 8 + threadIdx.x % 8] > 1) out[0] = 1;   //~ ERROR undefined-branch
    if (product[(ROW + 1) * 8 + threadIdx.x % 8] > 1) out[1] = 1;
}

__global__ void short_floats(const float *from, float *product, int *out) {
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> first;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> second;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(first, 1.0f);
    wmma::load_matrix_sync(second, from, 16);
    wmma::fill_fragment(sum, 1.0f);
    wmma::mma_sync(sum, first, second, sum);
    wmma::store_matrix_sync(product, sum, 16, wmma::mem_row_major);
    __syncwarp();
    if (product[threadIdx.x % 16 * 16 + COLUMN] > 1) out[0] = 1; //~ ERROR undefined-branch
    if (product[threadIdx.x % 16 * 16 + COLUMN + 1] > 1) out[1] = 1;
}

__global__ void bits(const unsigned *from, int *product, int *out) {
    using namespace wmma::experimental;
    wmma::fragment<wmma::matrix_a, 8, 8, 128, precision::b1, wmma::row_major> first;
    wmma::fragment<wmma::matrix_b, 8, 8, 128, precision::b1, wmma::col_major> second;
    wmma::fragment<wmma::accumulator, 8, 8, 128, int> sum;
    wmma::load_matrix_sync(first, from, 128);
    wmma::load_matrix_sync(second, from + 32, 128);
    for (auto how : {bmmaBitOpXOR, bmmaBitOpAND}) {
        wmma::fill_fragment(sum, 1);
        if (how == bmmaBitOpXOR)
            wmma::bmma_sync(sum, first, second, sum, bmmaBitOpXOR);
        else
            wmma::bmma_sync(sum, first, second, sum, bmmaBitOpAND);
        wmma::store_matrix_sync(product, sum, 8, wmma::mem_row_major);
        __syncwarp();
        if (product[ROW * 8 + threadIdx.x % 8] > 1) out[0] = 1; //~ ERROR undefined-branch
        if (product[threadIdx.x % 8 * 8 + COLUMN] > 1) out[1] = 1; //~ ERROR undefined-branch
        if (product[(ROW + 1) * 8 + threadIdx.x % COLUMN] > 1) out[2] = 1;
    }
}

__global__ void half_bytes(const unsigned *from, int *product, int *out) {
    using namespace wmma::experimental;
    wmma::fragment<wmma::matrix_a, 8, 8, 32, precision::s4, wmma::row_major> first;
    wmma::fragment<wmma::matrix_b, 8, 8, 32, precision::s4, wmma::col_major> second;
    wmma::fragment<wmma::accumulator, 8, 8, 32, int> sum;
    wmma::load_matrix_sync(first, from, 32);
    wmma::load_matrix_sync(second, from + 32, 32);
    wmma::fill_fragment(sum, 1);
    wmma::mma_sync(sum, first, second, sum);
    wmma::store_matrix_sync(product, sum, 8, wmma::mem_row_major);
    __syncwarp();
    if (product[ROW * 8 + threadIdx.x % 8] > 1) out[0] = 1;   //~ ERROR undefined-branch
    if (product[threadIdx.x % 8 * 8 + COLUMN] > 1) out[1] = 1; //~ ERROR undefined-branch
    if (product[(ROW + 1) * 8 + threadIdx.x % COLUMN] > 1) out[2] = 1;
}

// All of a matrix, but one row of it, between whose rows nothing was written.
__global__ void padded(const __half *from, __half *to, int *out) {
    wmma::fragment<wmma::accumulator, 16, 16, 16, __half> sum;
    wmma::load_matrix_sync(sum, from, 24, wmma::mem_row_major);
    wmma::store_matrix_sync(to, sum, 16, wmma::mem_row_major);
    __syncwarp();
    for (int row = 0; row < 16; row++)
        if (__half2float(to[row * 16 + threadIdx.x % 16]) > 1) out[row] = 1; //~ ERROR undefined-branch
}

// Undefined in the right program, too: what is between the rows.
template <class Type> Type *matrix(int holes, int first, int step, int stride = 16) {
    Type *made = fresh<Type>(16 * stride), *hole = fresh<Type>(1);
    OK(cudaMemset2D(made, stride * sizeof(Type), 0, 16 * sizeof(Type), 16));
    for (int nth = 0; nth < holes; nth++)
        OK(cudaMemcpy(made + first + nth * step, hole, sizeof(Type), cudaMemcpyDeviceToDevice));
    return made;
}

template <class Type, class Result> Matrices<Type, Result> matrices() {
    int holes = WRONG_OR_RIGHT(2, 0);
    // Elements of a row; and of a column, which is kept by columns.
    return {matrix<Type>(holes, ROW * 16 + 7, 4), matrix<Type>(holes, COLUMN * 16 + 1, 9), matrix<Result>(0, 0, 0),
            fresh<Result>(256)};
}

int main() {
    int *out = device<int>(32);
    halves<<<1, 32>>>(matrices<__half, float>(), out);
    small_floats<<<1, 32>>>(matrices<__nv_bfloat16, float>(), out);
    bytes<<<1, 32>>>(matrices<signed char, int>(), out);
    half_sums<<<1, 32>>>(matrices<__half, __half>(), out);
    added<<<1, 32>>>(matrix<float>(WRONG_OR_RIGHT(1, 0), ROW * 16 + COLUMN, 0), fresh<float>(256), out);
    int holes = WRONG_OR_RIGHT(1, 0);
    doubles<<<1, 32>>>(matrix<double>(holes, ROW * 4 + 2, 0), fresh<double>(64), out);
    short_floats<<<1, 32>>>(matrix<float>(holes, 6 * 16 + COLUMN, 0), fresh<float>(256), out);
    // The first factor, and after 32 words the second: rows and columns of four words.
    int words = WRONG_OR_RIGHT(2, 0), step = 32 + (COLUMN - ROW) * 4;
    bits<<<1, 32>>>(matrix<unsigned>(words, ROW * 4 + 1, step), fresh<int>(64), out);
    half_bytes<<<1, 32>>>(matrix<unsigned>(words, ROW * 4 + 1, step), fresh<int>(64), out);
    padded<<<1, 32>>>(matrix<__half>(WRONG_OR_RIGHT(1, 0), 9 * 24 + 2, 0, 24), fresh<__half>(256), out);
    return finish();
}
