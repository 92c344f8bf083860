// The other file of two_files_apart.cu.

static __device__ int variable = 2;
static __global__ void kernel(int *out) { *out = variable; }

int value_in_other_file() {
    int *out, value = 0;
    cudaMalloc(&out, sizeof(int));
    kernel<<<1, 1>>>(out);
    cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost);
    cudaFree(out);
    return value;
}
