// Surfaces are written and read, at bytes, and what is outside is left out or is an error.

#include "../expect.h"

__global__ void write(cudaSurfaceObject_t surface, int width, int height) {
    int x = threadIdx.x, y = threadIdx.y;
    if (x < width && y < height) surf2Dwrite(x * 10 + y, surface, x * (int)sizeof(int), y);
    surf2Dwrite(-1, surface, (width + x) * (int)sizeof(int), y, cudaBoundaryModeZero); // Outside: nothing.
}

__global__ void read(cudaSurfaceObject_t surface, int *out, int width) {
    int x = threadIdx.x, y = threadIdx.y;
    out[y * width + x] = surf2Dread<int>(surface, x * (int)sizeof(int), y, cudaBoundaryModeZero);
}

__global__ void volume(cudaSurfaceObject_t surface) {
    surf3Dwrite((short)(threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z), surface, threadIdx.x * (int)sizeof(short), threadIdx.y, threadIdx.z);
}

int main() {
    const int width = 6, height = 5;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
    cudaArray_t array;
    OK(cudaMallocArray(&array, &format, width, height, cudaArraySurfaceLoadStore));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t surface;
    OK(cudaCreateSurfaceObject(&surface, &resource));
    write<<<1, dim3(width, height)>>>(surface, width, height);
    int host[height][width], *out, found[height][width + 2];
    OK(cudaMemcpy2DFromArray(host, sizeof host[0], array, 0, 0, sizeof host[0], height, cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) CHECK(host[y][x] == x * 10 + y);
    OK(cudaMalloc(&out, sizeof found));
    read<<<1, dim3(width + 2, height)>>>(surface, out, width + 2);
    OK(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width + 2; x++) CHECK(found[y][x] == (x < width ? x * 10 + y : 0));
    OK(cudaDestroySurfaceObject(surface));
    OK(cudaFreeArray(array));

    format = cudaCreateChannelDesc<short>();
    OK(cudaMalloc3DArray(&array, &format, make_cudaExtent(3, 4, 2), cudaArraySurfaceLoadStore));
    resource.res.array.array = array;
    OK(cudaCreateSurfaceObject(&surface, &resource));
    volume<<<1, dim3(3, 4, 2)>>>(surface);
    short box[2][4][3];
    cudaMemcpy3DParms copy = {};
    copy.srcArray = array;
    copy.dstPtr = make_cudaPitchedPtr(box, 6, 3, 4);
    copy.extent = make_cudaExtent(3, 4, 2);
    copy.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&copy));
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < 4; y++)
            for (int x = 0; x < 3; x++) CHECK(box[z][y][x] == x + 10 * y + 100 * z);
    OK(cudaDestroySurfaceObject(surface));
    RETURNS(cudaErrorInvalidValue, cudaCreateSurfaceObject(nullptr, &resource));
    OK(cudaFreeArray(array));
    return done();
}
