//@ bugs: frees and copies what is not there
// Copies and fills of rows and boxes, with pitches on either side, by the runtime.
//@ variants: static shared ptds clang

#include "../expect.h"
#include <cstring>

__global__ void add(char *base, size_t pitch, size_t slice, int width, int height) {
    if (threadIdx.x < width && threadIdx.y < height) base[threadIdx.z * slice + threadIdx.y * pitch + threadIdx.x] += 100;
}

int main() {
    char *rows, host[10][20], back[10][20];
    size_t pitch = 0;
    OK(cudaMallocPitch(&rows, &pitch, 20, 10));
    CHECK(pitch >= 20 && pitch % 32 == 0);
    for (int i = 0; i < 200; i++) host[i / 20][i % 20] = (char)(i % 100);
    OK(cudaMemcpy2D(rows, pitch, host, 20, 20, 10, cudaMemcpyHostToDevice));
    add<<<1, dim3(20, 10)>>>(rows, pitch, 0, 5, 10);
    memset(back, 0, sizeof back);
    OK(cudaMemcpy2D(back, 20, rows, pitch, 20, 10, cudaMemcpyDeviceToHost));
    for (int y = 0; y < 10; y++)
        for (int x = 0; x < 20; x++) CHECK(back[y][x] == (char)(host[y][x] + (x < 5 ? 100 : 0)));
    // A part of it.
    memset(back, 0, sizeof back);
    OK(cudaMemcpy2DAsync(&back[2][3], 20, rows + 4 * pitch + 6, pitch, 7, 3, cudaMemcpyDeviceToHost, nullptr));
    OK(cudaDeviceSynchronize());
    CHECK(back[2][3] == host[4][6] && back[4][9] == host[6][12] && back[2][2] == 0 && back[2][10] == 0 && back[5][3] == 0);
    RETURNS(cudaErrorInvalidPitchValue, cudaMemcpy2D(back, 10, rows, pitch, 20, 10, cudaMemcpyDeviceToHost));
    RETURNS(cudaErrorInvalidValue, cudaMemcpy2D(back, 20, rows, pitch, 20, 1000, cudaMemcpyDeviceToHost));

    OK(cudaMemset2D(rows, pitch, 7, 3, 4));
    OK(cudaMemcpy2D(back, 20, rows, pitch, 20, 10, cudaMemcpyDeviceToHost));
    CHECK(back[0][0] == 7 && back[3][2] == 7 && back[4][2] != 7 && back[3][3] != 7);
    OK(cudaFree(rows));

    // A box of 12 bytes, 5 rows and 4 slices.
    cudaPitchedPtr box;
    OK(cudaMalloc3D(&box, make_cudaExtent(12, 5, 4)));
    CHECK(box.pitch >= 12 && box.xsize == 12 && box.ysize == 5);
    char volume[4][5][12], again[4][5][12];
    for (int i = 0; i < 240; i++) volume[i / 60][i / 12 % 5][i % 12] = (char)i;
    cudaMemcpy3DParms parameters = {};
    parameters.srcPtr = make_cudaPitchedPtr(volume, 12, 12, 5);
    parameters.dstPtr = box;
    parameters.extent = make_cudaExtent(12, 5, 4);
    parameters.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&parameters));
    OK(cudaMemset3D(cudaPitchedPtr{(char *)box.ptr + box.pitch, box.pitch, 12, 5}, 9, make_cudaExtent(2, 2, 3)));
    memset(again, 1, sizeof again);
    cudaMemcpy3DParms out = {};
    out.srcPtr = box;
    out.srcPos = make_cudaPos(1, 1, 1);
    out.dstPtr = make_cudaPitchedPtr(again, 12, 12, 5);
    out.dstPos = make_cudaPos(3, 2, 0);
    out.extent = make_cudaExtent(4, 3, 2);
    out.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3DAsync(&out, nullptr));
    OK(cudaDeviceSynchronize());
    for (int z = 0; z < 4; z++)
        for (int y = 0; y < 5; y++)
            for (int x = 0; x < 12; x++) {
                bool copied = z < 2 && y >= 2 && x >= 3 && x < 7;
                int sx = x - 2, sy = y - 1, sz = z + 1;
                bool filled = copied && sx < 2 && sy >= 1 && sy < 3 && sz < 3;
                char wanted = !copied ? 1 : filled ? 9 : volume[sz][sy][sx];
                CHECK(again[z][y][x] == wanted);
            }
    OK(cudaFree(box.ptr));
    return done();
}
