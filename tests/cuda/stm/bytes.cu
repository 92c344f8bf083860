// Bytes of a word by several threads, and values that are read whole and written in parts, or the other way round.

#include "../expect.h"
#include <warpgrind/tx.cuh>

/// Parts of a value that was written whole, and the whole of a value that was written in parts.
__global__ void parts(uint4 *value, unsigned char *bytes, int *wrong) {
    warpgrind::atomically([&](warpgrind::tx &t) {
        t.write(&value->y, 5u);
        uint4 whole = t.read(value);
        if (whole.x != 1 || whole.y != 5 || whole.z != 3 || whole.w != 4) atomicAdd(wrong, 1);
        t.write(value, make_uint4(10, 20, 30, 40));
        if (t.read(&value->z) != 30) atomicAdd(wrong, 1);
        t.write(&bytes[1], (unsigned char)0xaa);
        if (t.read((unsigned *)bytes) != 0x4433aa11) atomicAdd(wrong, 1);
        if (t.read((unsigned short *)bytes) != 0xaa11) atomicAdd(wrong, 1);
        t.write((unsigned short *)(bytes + 2), (unsigned short)0xbbcc);
        if (t.read(&bytes[3]) != 0xbb || t.read(&bytes[2]) != 0xcc) atomicAdd(wrong, 1);
        if (t.read((unsigned *)bytes) != 0xbbccaa11) atomicAdd(wrong, 1);
        // Nobody is in its way.
        if (t.attempt() != 1 || t.irrevocable()) atomicAdd(wrong, 1);
    });
}

/// Bytes of one word, each changed by a thread of its own: transactions beside plain accesses.
__global__ void neighbours(unsigned char *bytes) {
    for (int round = 0; round < 10; round++) {
        if (threadIdx.x % 2 == 0) {
            warpgrind::atomically([&](warpgrind::tx &t) {
                t.write(&bytes[threadIdx.x], (unsigned char)(t.read(&bytes[threadIdx.x]) + 1));
            });
        } else {
            bytes[threadIdx.x]++;
        }
    }
}

/// Three bytes that are all there is.
struct Three {
    unsigned char at[3];
};

__global__ void at_the_end(Three *value) {
    warpgrind::atomically([&](warpgrind::tx &t) {
        Three three = t.read(value);
        for (int i = 0; i < 3; i++) three.at[i]++;
        t.write(value, three);
    });
}

int main() {
    uint4 *value;
    unsigned char *bytes;
    int *wrong;
    OK(cudaMallocManaged(&value, sizeof *value));
    OK(cudaMallocManaged(&bytes, 64));
    OK(cudaMallocManaged(&wrong, sizeof *wrong));
    *value = make_uint4(1, 2, 3, 4);
    *wrong = 0;
    const unsigned word = 0x44332211;
    memcpy(bytes, &word, 4);
    parts<<<1, 1>>>(value, bytes, wrong);
    OK(cudaDeviceSynchronize());
    CHECK(*wrong == 0);
    CHECK(value->x == 10 && value->y == 20 && value->z == 30 && value->w == 40);
    CHECK(bytes[0] == 0x11 && bytes[1] == 0xaa && bytes[2] == 0xcc && bytes[3] == 0xbb);

    memset(bytes, 0, 64);
    neighbours<<<1, 32>>>(bytes);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++) CHECK(bytes[i] == 10);

    Three *three, host = {{1, 2, 3}};
    OK(cudaMalloc(&three, sizeof *three));
    OK(cudaMemcpy(three, &host, sizeof host, cudaMemcpyHostToDevice));
    at_the_end<<<1, 8>>>(three);
    OK(cudaMemcpy(&host, three, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host.at[0] == 9 && host.at[1] == 10 && host.at[2] == 11);
    return done();
}
