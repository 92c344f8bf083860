// A program that is shown two GPUs has two devices: memory, streams, events, variables and default streams of each, and peer access.
//@ run: --gpu a100,t4 --device-memory 256M
//@ variants: static shared

#include <cstring>

#include "../expect.h"

__device__ int counter;
__managed__ int shared_by_all;
__constant__ int factor;

__global__ void add(int n) {
    counter += n * factor;
    shared_by_all += n;
}

__global__ void fill(int *out, int value) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = value + threadIdx.x;
}

__global__ void copy(int *to, const int *from) {
    to[threadIdx.x] = from[threadIdx.x];
}

static int device_of(const void *pointer) {
    cudaPointerAttributes attributes;
    OK(cudaPointerGetAttributes(&attributes, pointer));
    return attributes.device;
}

int main() {
    int count = 0, device = -1;
    OK(cudaGetDeviceCount(&count));
    CHECK(count == 2);
    OK(cudaGetDevice(&device));
    CHECK(device == 0);
    RETURNS(cudaErrorInvalidDevice, cudaSetDevice(2));
    RETURNS(cudaErrorInvalidDevice, cudaSetDevice(-1));

    // Each says what it is.
    cudaDeviceProp properties[2];
    for (int i = 0; i < 2; i++) OK(cudaGetDeviceProperties(&properties[i], i));
    CHECK(strcmp(properties[0].name, "NVIDIA A100-SXM4-40GB") == 0 && strcmp(properties[1].name, "Tesla T4") == 0);
    CHECK(properties[0].multiProcessorCount == 108 && properties[1].multiProcessorCount == 40);
    CHECK(properties[0].major == 8 && properties[1].major == 7 && properties[1].minor == 5);
    CHECK(memcmp(&properties[0].uuid, &properties[1].uuid, 16) != 0);
    char bus[2][32];
    for (int i = 0; i < 2; i++) {
        OK(cudaDeviceGetPCIBusId(bus[i], 32, i));
        OK(cudaDeviceGetByPCIBusId(&device, bus[i]));
        CHECK(device == i);
    }
    CHECK(strcmp(bus[0], bus[1]) != 0);

    // Memory is of the device that is current, and counted there.
    size_t free_bytes[2], total;
    int *data[2], *big;
    for (int i = 0; i < 2; i++) {
        OK(cudaSetDevice(i));
        OK(cudaGetDevice(&device));
        CHECK(device == i);
        OK(cudaMemGetInfo(&free_bytes[i], &total));
        CHECK(total == 256 << 20 && free_bytes[i] <= total);
        OK(cudaMalloc(&data[i], 1 << 20));
        CHECK(device_of(data[i]) == i && device_of(data[i] + 100) == i);
    }
    OK(cudaMalloc(&big, 200 << 20));
    size_t left;
    OK(cudaMemGetInfo(&left, &total));
    CHECK(left < 56 << 20);
    int *more;
    RETURNS(cudaErrorMemoryAllocation, cudaMalloc(&more, 200 << 20));
    OK(cudaSetDevice(0));
    OK(cudaMemGetInfo(&left, &total));
    CHECK(left > 200 << 20);
    OK(cudaMalloc(&more, 200 << 20));
    OK(cudaFree(more));
    OK(cudaFree(big)); // of the other device
    cudaGetLastError();

    // Variables are there for each device; a managed one is there once.
    for (int i = 0; i < 2; i++) {
        OK(cudaSetDevice(i));
        int number = 10 * (i + 1);
        OK(cudaMemcpyToSymbol(factor, &number, sizeof number));
    }
    void *of[2];
    for (int i = 0; i < 2; i++) {
        OK(cudaSetDevice(i));
        add<<<1, 1>>>(3);
        OK(cudaDeviceSynchronize());
        OK(cudaGetSymbolAddress(&of[i], counter));
        CHECK(device_of(of[i]) == i);
    }
    CHECK(of[0] != of[1]);
    for (int i = 0; i < 2; i++) {
        OK(cudaSetDevice(i));
        int found = 0;
        OK(cudaMemcpyFromSymbol(&found, counter, sizeof found));
        CHECK(found == 30 * (i + 1));
    }
    CHECK(shared_by_all == 6);

    // Streams and events are of a device; what is asked of the other's is refused, but for copies and waits.
    cudaStream_t stream[2];
    cudaEvent_t event[2];
    for (int i = 0; i < 2; i++) {
        OK(cudaSetDevice(i));
        OK(cudaStreamCreate(&stream[i]));
        OK(cudaEventCreate(&event[i]));
        fill<<<1, 64, 0, stream[i]>>>(data[i], 1000 * i);
        OK(cudaGetLastError());
        OK(cudaEventRecord(event[i], stream[i]));
    }
    fill<<<1, 64, 0, stream[0]>>>(data[0], 7); // device 1 is current
    RETURNS(cudaErrorInvalidResourceHandle, cudaGetLastError());
    RETURNS(cudaErrorInvalidResourceHandle, cudaEventRecord(event[1], stream[0]));
    RETURNS(cudaErrorInvalidResourceHandle, cudaEventRecord(event[0]));
    OK(cudaStreamWaitEvent(stream[1], event[0], 0));
    OK(cudaEventSynchronize(event[0]));
    OK(cudaEventQuery(event[0]));
    float milliseconds;
    OK(cudaEventSynchronize(event[1]));
    RETURNS(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, event[0], event[1]));
    cudaGetLastError();

    // Copies between devices need no peer access.
    int host[64];
    OK(cudaMemcpyPeer(data[1] + 64, 1, data[0], 0, 256));
    OK(cudaMemcpy(host, data[1] + 64, 256, cudaMemcpyDefault));
    CHECK(host[0] == 0 && host[63] == 63);
    OK(cudaMemcpyPeerAsync(data[0] + 64, 0, data[1], 1, 256, stream[0]));
    OK(cudaStreamSynchronize(stream[0]));
    OK(cudaMemcpy(host, data[0] + 64, 256, cudaMemcpyDeviceToHost));
    CHECK(host[0] == 1000 && host[63] == 1063);
    OK(cudaMemcpy(data[1] + 128, data[0] + 64, 256, cudaMemcpyDefault));
    OK(cudaMemcpy(host, data[1] + 128, 256, cudaMemcpyDeviceToHost));
    CHECK(host[63] == 1063);
    RETURNS(cudaErrorInvalidDevice, cudaMemcpyPeer(data[1], 2, data[0], 0, 4));

    // Peer access is enabled once, and in one direction.
    int can = 0;
    OK(cudaDeviceCanAccessPeer(&can, 0, 1));
    CHECK(can == 1);
    OK(cudaDeviceCanAccessPeer(&can, 1, 1));
    CHECK(can == 0);
    OK(cudaDeviceGetP2PAttribute(&can, cudaDevP2PAttrAccessSupported, 0, 1));
    CHECK(can == 1);
    RETURNS(cudaErrorInvalidDevice, cudaDeviceGetP2PAttribute(&can, cudaDevP2PAttrAccessSupported, 1, 1));
    OK(cudaSetDevice(0));
    RETURNS(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(0, 0));
    RETURNS(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(2, 0));
    RETURNS(cudaErrorInvalidValue, cudaDeviceEnablePeerAccess(1, 1));
    RETURNS(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(1));
    OK(cudaDeviceEnablePeerAccess(1, 0));
    RETURNS(cudaErrorPeerAccessAlreadyEnabled, cudaDeviceEnablePeerAccess(1, 0));
    cudaGetLastError();
    copy<<<1, 64>>>(data[0], data[1]);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(host, data[0], 256, cudaMemcpyDeviceToHost));
    CHECK(host[5] == 1005);
    OK(cudaDeviceDisablePeerAccess(1));

    // Pools are of a device, and the other may be given access to them.
    cudaMemPool_t pool[2];
    for (int i = 0; i < 2; i++) OK(cudaDeviceGetDefaultMemPool(&pool[i], i));
    CHECK(pool[0] != pool[1]);
    RETURNS(cudaErrorInvalidValue, cudaDeviceSetMemPool(0, pool[1]));
    cudaGetLastError();
    OK(cudaSetDevice(1));
    int *pooled;
    OK(cudaMallocAsync(&pooled, 256, stream[1]));
    CHECK(device_of(pooled) == 1);
    cudaMemLocation first = {cudaMemLocationTypeDevice, 0};
    cudaMemAccessFlags flags;
    OK(cudaMemPoolGetAccess(&flags, pool[1], &first));
    CHECK(flags == cudaMemAccessFlagsProtNone);
    cudaMemAccessDesc access = {first, cudaMemAccessFlagsProtReadWrite};
    OK(cudaMemPoolSetAccess(pool[1], &access, 1));
    OK(cudaMemPoolGetAccess(&flags, pool[1], &first));
    CHECK(flags == cudaMemAccessFlagsProtReadWrite);
    OK(cudaStreamSynchronize(stream[1]));
    OK(cudaSetDevice(0));
    fill<<<1, 64>>>(pooled, 5);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(host, pooled, 256, cudaMemcpyDeviceToHost));
    CHECK(host[1] == 6);
    OK(cudaFreeAsync(pooled, stream[1]));

    // A device that is reset takes what is its own with it.
    OK(cudaDeviceEnablePeerAccess(1, 0));
    OK(cudaStreamDestroy(stream[1]));
    OK(cudaSetDevice(1));
    OK(cudaStreamSynchronize(stream[0]));
    OK(cudaFree(data[1]));
    OK(cudaDeviceReset());
    OK(cudaGetDevice(&device));
    CHECK(device == 1);
    int found = 0;
    OK(cudaMemcpyFromSymbol(&found, counter, sizeof found));
    CHECK(found == 0);
    OK(cudaSetDevice(0));
    OK(cudaMemcpyFromSymbol(&found, counter, sizeof found));
    CHECK(found == 30);
    OK(cudaMemcpy(host, data[0], 256, cudaMemcpyDeviceToHost));
    RETURNS(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(1));
    OK(cudaFree(data[0]));
    return done();
}
