#include <cstdio>

// Adds two vectors.
__global__ void vecadd(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}

int main()
{
	float *a, *b, *c;
	cudaMalloc(&a, 400); cudaMalloc(&b, 400); cudaMalloc(&c, 400);
	vecadd<<<1, 128>>>(a, b, c, 100);
	return cudaDeviceSynchronize();
}
