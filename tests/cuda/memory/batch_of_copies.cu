//@ bugs: frees and copies what is not there
// Several copies by one call, also in a captured stream.

#include "../check.h"

int main() {
    int in[4] = {1, 2, 3, 4}, out[4] = {}, *device;
    CHECK(cudaMalloc(&device, 2 * sizeof(in)));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    cudaMemcpyAttributes attributes = {};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    size_t first = 0;
    // The halves change places.
    void *to[] = {device + 2, device};
    const void *from[] = {in, in + 2};
    size_t sizes[] = {2 * sizeof(int), 2 * sizeof(int)};
    CHECK(cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, stream));
    CHECK(cudaMemcpyAsync(out, device, sizeof(out), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    REQUIRE(out[0] == 3 && out[1] == 4 && out[2] == 1 && out[3] == 2);

    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    size_t nodes;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    REQUIRE(nodes == 2);
    sizes[1] = 1 << 20;
    EXPECT(cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, stream), cudaErrorInvalidValue);
    printf("PASS\n");
    return 0;
}
