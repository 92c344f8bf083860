// A kernel that launches kernels (dynamic parallelism), which needs separate compilation.
__global__ void child(int* p, int n, float f) { p[threadIdx.x] = n + (int)f; }
__global__ void parent(int* p) {
  child<<<2, 64>>>(p, 1, 2.0f);
  child<<<dim3(p[0], 2), dim3(32, 2), 1024, cudaStreamFireAndForget>>>(p, 3, 4.0f);
  child<<<1, 1, 0, cudaStreamTailLaunch>>>(p, 5, 6.0f);
  if (cudaGetLastError() != cudaSuccess) p[1] = 7;
  void* memory;
  cudaMalloc(&memory, 100);
  cudaMemcpyAsync(p, memory, 100, cudaMemcpyDeviceToDevice);
  cudaFree(memory);
}
