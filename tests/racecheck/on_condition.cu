#include "../memcheck/memcheck.h"

// Kernels whose threads read what is known before they run, and write where data says so: they race only if such a write meets
// such a read, and nothing else is looked at.
const int SIZE = 64;

// Paths through node k. Row and column k do not change, unless the way from k to itself has a length below 0.
__global__ void relax(int *distances, int k) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int other = distances[y * SIZE + k] + distances[k * SIZE + x];
    if (other < distances[y * SIZE + x]) distances[y * SIZE + x] = other; //~ ERROR data-race
}

// The same with bounds: not all threads read.
__global__ void relax_inside(int *distances, int k, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    int other = distances[y * SIZE + k] + distances[k * SIZE + x];
    if (other < distances[y * SIZE + x]) distances[y * SIZE + x] = other; //~ ERROR data-race
}

// All threads read the last number, which the last thread may replace.
__global__ void raise(int *numbers, const int *wanted) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, last = numbers[gridDim.x * blockDim.x - 1];
    if (wanted[i] > last) numbers[i] = last + 1; //~ ERROR data-race
}

// A lane of the same warp reads it: only lockstep orders that.
__global__ void neighbours(short *numbers) {
    int i = threadIdx.x;
    short right = numbers[i + 1];
    if (right > 5) numbers[i] = right; //~ ERROR warp-synchrony
}

// What all read is a part of what they may write.
__global__ void reference(const int *table, int *numbers) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, other = table[(i + 1) % 32];
    if (other < numbers[i]) numbers[i] = other; //~ ERROR data-race
}

int main() {
    const dim3 grid(SIZE / 16, SIZE / 16), block(16, 16);
    static int ways[SIZE * SIZE];
    for (int i = 0; i < SIZE * SIZE; i++) ways[i] = i / SIZE == i % SIZE ? 0 : 1 + i * 37 % 1000;
    // Launches that are right come before one that is not.
    int *distances = device<int>(SIZE * SIZE), last = SIZE - 1;
    OK(cudaMemcpy(distances, ways, sizeof ways, cudaMemcpyHostToDevice));
    for (int k = 0; k < SIZE; k++) relax<<<grid, block>>>(distances, k);
    for (int k = 0; k < last; k++) relax_inside<<<grid, block>>>(distances, k, last);
    ways[last * SIZE + last] = ways[(last - 1) * SIZE + last - 1] = WRONG_OR_RIGHT(-1, 0);
    OK(cudaMemcpy(distances, ways, sizeof ways, cudaMemcpyHostToDevice));
    relax<<<grid, block>>>(distances, last);
    OK(cudaMemcpy(distances, ways, sizeof ways, cudaMemcpyHostToDevice));
    relax_inside<<<grid, block>>>(distances, last - 1, last);

    static int values[128];
    int *numbers = device<int>(128), *wanted = device<int>(128);
    for (int i = 0; i < 128; i++) values[i] = i % 3 == 1;
    values[127] = WRONG_OR_RIGHT(1, 0);
    OK(cudaMemcpy(wanted, values, sizeof values, cudaMemcpyHostToDevice));
    raise<<<2, 64>>>(numbers, wanted);

    static short small[33];
    short *few = device<short>(33);
    small[9] = WRONG_OR_RIGHT(6, 5);
    OK(cudaMemcpy(few, small, sizeof small, cudaMemcpyHostToDevice));
    neighbours<<<1, 32>>>(few);

    // The table is a part of the numbers.
    for (int i = 0; i < 128; i++) values[i] = WRONG_OR_RIGHT(200 - i, 7);
    values[64] = WRONG_OR_RIGHT(0, 7);
    OK(cudaMemcpy(numbers, values, sizeof values, cudaMemcpyHostToDevice));
    reference<<<2, 48>>>(numbers + 64, numbers);
    return finish();
}
