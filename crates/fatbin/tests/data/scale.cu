// The fatbins beside this file, all by nvcc 13.4 -fatbin scale.cu with
//   zstd          -arch=sm_75
//   lz4           -arch=sm_75 -compress-mode=speed
//   plain         -arch=sm_75 -compress-mode=none
//   relocatable   -arch=sm_80 -rdc=true
//   specific      -gencode arch=compute_XX,code=compute_XX for 90a, 100f and 90
//   concatenated  -gencode arch=compute_XX,code=[sm_XX,compute_XX] for 80 and 90, -concat -compress-mode=size
__global__ void scale(float *data, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) data[i] *= 2.0f;
}
