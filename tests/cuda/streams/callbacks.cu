// Functions of the host are called in the order of their stream, on another thread, before the stream goes on.

#include "../expect.h"
#include <thread>
#include <vector>

static std::vector<int> order;
static std::thread::id called_on;
static cudaError_t status_seen = cudaErrorUnknown;
static cudaStream_t stream_seen;

static void host_function(void *data) {
    order.push_back((int)(size_t)data);
    called_on = std::this_thread::get_id();
}
static void callback(cudaStream_t stream, cudaError_t status, void *data) {
    order.push_back((int)(size_t)data);
    status_seen = status;
    stream_seen = stream;
}
static void set_value(void *data) { *(int *)data = 77; }

__global__ void copy(int *to, volatile int *from) { *to = *from; }

int main() {
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    for (int i = 0; i < 10; i++) {
        if (i % 2) OK(cudaLaunchHostFunc(stream, host_function, (void *)(size_t)i));
        else OK(cudaStreamAddCallback(stream, callback, (void *)(size_t)i, 0));
    }
    OK(cudaStreamSynchronize(stream));
    CHECK(order.size() == 10);
    for (int i = 0; i < (int)order.size(); i++) CHECK(order[i] == i);
    CHECK(called_on != std::this_thread::get_id());
    CHECK(status_seen == cudaSuccess);
    CHECK(stream_seen == stream);

    int *cell, *out, result = 0;
    OK(cudaMallocHost(&cell, sizeof(int)));
    OK(cudaMalloc(&out, sizeof(int)));
    *cell = 0;
    OK(cudaLaunchHostFunc(stream, set_value, cell));
    copy<<<1, 1, 0, stream>>>(out, cell);
    OK(cudaMemcpyAsync(&result, out, sizeof(int), cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(result == 77);
    RETURNS(cudaErrorInvalidValue, cudaLaunchHostFunc(stream, nullptr, nullptr));
    RETURNS(cudaErrorInvalidValue, cudaStreamAddCallback(stream, callback, nullptr, 1));
    return done();
}
