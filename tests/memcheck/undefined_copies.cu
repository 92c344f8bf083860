#include "memcheck.h"

// Undefined memory that the host copies, fills and hands on; and what a program may copy without harm.
const int COUNT = 64;

__global__ void decide(const int *data, int *out) {
    if (data[threadIdx.x] > 3) //~ ERROR undefined-branch
        atomicAdd(out, 1);
}

// The same, for memory in which all is defined in both programs.
__global__ void decide_by_defined(const int *data, int *out) {
    if (data[threadIdx.x] > 3)
        atomicAdd(out, 1);
}

// One for each way, so that each has a finding of its own.
template <int WAY> __global__ void decide_after(const int *data, int *out) {
    if (data[threadIdx.x] > 3) //~ ERROR undefined-branch
        atomicAdd(out, 1);
}

__constant__ int constants[COUNT];
__device__ int variables[COUNT];

int main() {
    int *out = device<int>(1);
    int zeros[COUNT] = {};
    // A part is filled.
    int *filled = fresh<int>(COUNT);
    OK(cudaMemset(filled, 0, WRONG_OR_RIGHT(COUNT / 2, COUNT) * sizeof(int)));
    decide_after<0><<<1, COUNT>>>(filled, out);
    // A part is copied from the host.
    int *copied = fresh<int>(COUNT);
    OK(cudaMemcpy(copied, zeros, WRONG_OR_RIGHT(COUNT - 1, COUNT) * sizeof(int), cudaMemcpyHostToDevice));
    decide_after<1><<<1, COUNT>>>(copied, out);
    // From device to device, once and once again.
    int *first = fresh<int>(COUNT), *second = device<int>(COUNT), *third = device<int>(COUNT);
    if (WRONG_OR_RIGHT(0, 1))
        OK(cudaMemset(first, 0, COUNT * sizeof(int)));
    OK(cudaMemcpy(second, first, COUNT * sizeof(int), cudaMemcpyDeviceToDevice));
    OK(cudaMemcpyAsync(third, second, COUNT * sizeof(int), cudaMemcpyDeviceToDevice));
    decide_after<2><<<1, COUNT>>>(third, out);
    // What was undefined is overwritten by a copy.
    OK(cudaMemcpy(third, zeros, sizeof zeros, cudaMemcpyHostToDevice));
    decide_by_defined<<<1, COUNT>>>(third, out);
    // Rows of a picture: what is between them is not copied.
    int *picture;
    size_t pitch;
    OK(cudaMallocPitch((void **)&picture, &pitch, 16 * sizeof(int), 4));
    OK(cudaMemcpy2D(picture, pitch, zeros, 16 * sizeof(int), 16 * sizeof(int), 4, cudaMemcpyHostToDevice));
    decide_by_defined<<<1, 16>>>((int *)((char *)picture + 3 * pitch), out);
    decide_after<3><<<1, WRONG_OR_RIGHT(17, 16)>>>(picture, out);
    // Fewer rows than are used.
    int *rows = fresh<int>(COUNT);
    OK(cudaMemcpy2D(rows, 16 * sizeof(int), zeros, 16 * sizeof(int), 16 * sizeof(int), WRONG_OR_RIGHT(3, 4),
                    cudaMemcpyHostToDevice));
    decide_after<4><<<1, COUNT>>>(rows, out);
    // Through variables of the module.
    int *source = fresh<int>(COUNT), *target = device<int>(COUNT);
    if (WRONG_OR_RIGHT(0, 1))
        OK(cudaMemset(source, 0, COUNT * sizeof(int)));
    OK(cudaMemcpyToSymbol(variables, source, sizeof variables, 0, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpyFromSymbol(target, variables, sizeof variables, 0, cudaMemcpyDeviceToDevice));
    decide_after<5><<<1, COUNT>>>(target, out);
    OK(cudaMemcpyToSymbol(constants, zeros, sizeof zeros));
    OK(cudaMemcpyFromSymbol(target, constants, sizeof zeros, 0, cudaMemcpyDeviceToDevice));
    decide_by_defined<<<1, COUNT>>>(target, out);
    // Memory that the host can write is defined, from the beginning.
    int *managed, *pinned;
    OK(cudaMallocManaged(&managed, COUNT * sizeof(int)));
    OK(cudaMallocHost(&pinned, COUNT * sizeof(int)));
    decide_by_defined<<<1, COUNT>>>(managed, out);
    decide_by_defined<<<1, COUNT>>>(pinned, out);
    // In the order of a stream, and of a graph.
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    int *of_stream;
    OK(cudaMallocAsync((void **)&of_stream, COUNT * sizeof(int), stream));
    if (WRONG_OR_RIGHT(0, 1))
        OK(cudaMemsetAsync(of_stream, 0, COUNT * sizeof(int), stream));
    decide_after<6><<<1, COUNT, 0, stream>>>(of_stream, out);
    int *of_graph = fresh<int>(COUNT);
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaMemsetAsync(of_graph, 0, WRONG_OR_RIGHT(COUNT - 1, COUNT) * sizeof(int), stream));
    decide_after<7><<<1, COUNT, 0, stream>>>(of_graph, out);
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&executable, graph, 0));
    OK(cudaGraphLaunch(executable, stream));
    OK(cudaStreamSynchronize(stream));
    // What is freed and allocated again is undefined again.
    int *again = device<int>(COUNT);
    OK(cudaFree(again));
    again = WRONG_OR_RIGHT(fresh<int>(COUNT), device<int>(COUNT));
    decide<<<1, COUNT>>>(again, out);
    return finish();
}
