#include "memcheck.h"

// Memory of one stream that another uses: before it is allocated, and after it is freed.
__global__ void write(int *data) { data[threadIdx.x] = 1; } //~ ERROR unordered-use

static volatile int is_open;
static void wait(void *) { while (!is_open) {} }

// The second stream comes after what the first was asked for, if it should.
static void let_wait(cudaStream_t second, cudaStream_t first) {
    #ifdef FIXED
    cudaEvent_t event;
    OK(cudaEventCreate(&event));
    OK(cudaEventRecord(event, first));
    OK(cudaStreamWaitEvent(second, event));
    #endif
}

int main() {
    cudaStream_t first, second;
    OK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    int *launched, *filled, *copied, *freed, *target = device<int>(64);

    // Before the allocation.
    OK(cudaMallocAsync(&launched, 256, first));
    OK(cudaMallocAsync(&filled, 256, first));
    OK(cudaMallocAsync(&copied, 256, first));
    let_wait(second, first);
    write<<<1, 64, 0, second>>>(launched);
    OK(cudaMemsetAsync(filled, 0, 256, second)); //~ ERROR unordered-use
    OK(cudaMemcpyAsync(copied, target, 256, cudaMemcpyDeviceToDevice, second)); //~ ERROR unordered-use
    OK(cudaStreamSynchronize(second));

    // After the free: the first stream is not there yet, and the second does not wait for it, nor is waited for.
    OK(cudaMallocAsync(&freed, 256, first));
    OK(cudaStreamSynchronize(first));
    write<<<1, 64, 0, second>>>(freed);
    OK(cudaLaunchHostFunc(first, wait, nullptr));
    let_wait(first, second);
    OK(cudaFreeAsync(freed, first));
    OK(cudaStreamSynchronize(second));
    is_open = 1;

    // Freed by a stream that does not know of the allocation.
    int *other;
    OK(cudaMallocAsync(&other, 256, first));
    let_wait(second, first);
    OK(cudaFreeAsync(other, second)); //~ ERROR unordered-use

    // Right in any case: an event, a wait of the host, and the same stream.
    int *right;
    OK(cudaMallocAsync(&right, 256, first));
    cudaEvent_t event;
    OK(cudaEventCreate(&event));
    OK(cudaEventRecord(event, first));
    OK(cudaStreamWaitEvent(second, event));
    write<<<1, 64, 0, second>>>(right);
    OK(cudaStreamSynchronize(second));
    write<<<1, 64, 0, first>>>(right);
    OK(cudaFreeAsync(right, first));
    return finish();
}
