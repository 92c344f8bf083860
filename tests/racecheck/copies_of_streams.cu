#include "../memcheck/memcheck.h"
#include <ctime>

// Copies and fills in a stream, and kernels in another, on the same memory.
const int COUNT = 4096;

__global__ void write_all(int *data) {
    data[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

__global__ void read_all(const int *data, int *out) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    out[at] = data[at]; //~ ERROR data-race
}

// In the repaired program, what comes second waits for what comes first.
static void order(cudaStream_t first, cudaStream_t second) {
    WRONG_OR_RIGHT((void)0, [&] {
        cudaEvent_t event;
        OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
        OK(cudaEventRecord(event, first));
        OK(cudaStreamWaitEvent(second, event, 0));
        OK(cudaEventDestroy(event));
    }());
}

// Lets what was asked for end. The program does not know that it has.
static void pause_for_a_while() {
    struct timespec moment = {0, 300000000};
    nanosleep(&moment, nullptr);
}

static cudaStream_t new_stream() {
    cudaStream_t stream;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

int main() {
    cudaStream_t one = new_stream(), other = new_stream();
    int *out = device<int>(COUNT), *host;
    OK(cudaMallocHost(&host, COUNT * sizeof(int)));
    // What is launched for the first time takes long.
    write_all<<<COUNT / 256, 256>>>(out);
    read_all<<<COUNT / 256, 256>>>(out, device<int>(COUNT));
    OK(cudaDeviceSynchronize());

    // The result is copied before it is computed.
    int *data = device<int>(COUNT);
    OK(cudaDeviceSynchronize());
    write_all<<<COUNT / 256, 256, 0, one>>>(data);
    pause_for_a_while();
    order(one, other);
    OK(cudaMemcpyAsync(host, data, COUNT * sizeof(int), cudaMemcpyDeviceToHost, other)); //~ ERROR data-race
    OK(cudaDeviceSynchronize());

    // The input is computed with before it has arrived.
    int *input = device<int>(COUNT);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpyAsync(input, host, COUNT * sizeof(int), cudaMemcpyHostToDevice, one));
    pause_for_a_while();
    order(one, other);
    read_all<<<COUNT / 256, 256, 0, other>>>(input, out);
    OK(cudaDeviceSynchronize());

    // A buffer is cleared while a kernel fills it.
    int *buffer = device<int>(COUNT);
    OK(cudaDeviceSynchronize());
    write_all<<<COUNT / 256, 256, 0, one>>>(buffer);
    pause_for_a_while();
    order(one, other);
    OK(cudaMemsetAsync(buffer, 0, COUNT * sizeof(int), other)); //~ ERROR data-race
    OK(cudaDeviceSynchronize());

    // A copy between two buffers, and one of the second of them to the host.
    int *from = device<int>(COUNT), *to = device<int>(COUNT);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpyAsync(to, from, COUNT * sizeof(int), cudaMemcpyDeviceToDevice, one));
    pause_for_a_while();
    order(one, other);
    OK(cudaMemcpyAsync(host, to, COUNT * sizeof(int), cudaMemcpyDeviceToHost, other)); //~ ERROR data-race
    OK(cudaDeviceSynchronize());

    // Both only read: nothing to order. And the halves of a buffer have nothing to do with each other.
    read_all<<<COUNT / 256, 256, 0, one>>>(from, out);
    OK(cudaMemcpyAsync(host, from, COUNT * sizeof(int), cudaMemcpyDeviceToHost, other));
    OK(cudaDeviceSynchronize());
    write_all<<<COUNT / 512, 256, 0, one>>>(to);
    OK(cudaMemcpyAsync(host, to + COUNT / 2, COUNT / 2 * sizeof(int), cudaMemcpyDeviceToHost, other));
    return finish();
}
