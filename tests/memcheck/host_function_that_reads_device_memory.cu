// A function of the host that a stream calls, and one that CUDA asks for sizes, may access what the host may access.
#include "memcheck.h"


struct Data {
    int *on_device, *managed, *pinned;
};

static void add(void *argument) {
    Data *data = (Data *)argument;
    *data->managed += 1;
    *data->pinned += 1;
#ifndef FIXED
    *data->managed += *data->on_device; //~ ERROR host-access
#endif
}

__managed__ int variable = 5;

int main() {
    Data data = {device<int>(1)};
    OK(cudaMallocManaged(&data.managed, sizeof(int)));
    OK(cudaMallocHost(&data.pinned, sizeof(int)));
    *data.managed = *data.pinned = variable;
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    OK(cudaLaunchHostFunc(stream, add, &data));
    OK(cudaStreamSynchronize(stream));
    printf("%d %d\n", *data.managed, *data.pinned);
    return finish();
}
