#include "memcheck.h"

// Copies whose kind does not fit the pointers. Where the host's memory should be the device's, they are refused; the other way
// round they are not, and do what the pointers say.
int main() {
    const size_t bytes = 256;
    int host[64] = {}, *data = device<int>(64), *other = device<int>(64), *pinned, *managed;
    OK(cudaMallocHost(&pinned, bytes));
    OK(cudaMallocManaged(&managed, bytes));
    cudaMemcpy(host, data, bytes, WRONG_OR_RIGHT(cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost)); //~ ERROR wrong-direction
    cudaMemcpy(data, host, bytes, WRONG_OR_RIGHT(cudaMemcpyDeviceToDevice, cudaMemcpyHostToDevice)); //~ ERROR wrong-direction
    cudaMemcpy(data, other, bytes, WRONG_OR_RIGHT(cudaMemcpyHostToDevice, cudaMemcpyDeviceToDevice)); //~ ERROR wrong-direction
    cudaMemcpy(data, other, bytes, WRONG_OR_RIGHT(cudaMemcpyDeviceToHost, cudaMemcpyDefault)); //~ ERROR wrong-direction
    cudaMemcpy2DAsync(data, 16, other, 16, 16, 4, WRONG_OR_RIGHT(cudaMemcpyHostToHost, cudaMemcpyDeviceToDevice), 0); //~ ERROR wrong-direction
    // Pinned and managed memory is of both.
    OK(cudaMemcpy(pinned, data, bytes, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpy(data, managed, bytes, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(managed, data, bytes, cudaMemcpyDeviceToDevice));
    cudaGetLastError();
    return finish();
}
