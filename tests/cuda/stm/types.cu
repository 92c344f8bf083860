// Values of 1 to 16 bytes: what is read, what is read after writes, whole and in parts, and that neighbours stay.
//@ variants: static clang

#include "../expect.h"
#include <warpgrind/tx.cuh>

template <int N> struct Bytes {
    unsigned char at[N];
};
struct Three {
    short a, b, c;
};
struct alignas(16) Wide {
    double x, y;
};

const int EACH = 16;

/// A number for each byte of each value, other than what is around it.
__host__ __device__ unsigned char pattern(int index, int byte) { return (unsigned char)(17 * index + 31 * byte + 1); }

template <class T> __host__ __device__ T value_of(int index) {
    unsigned char bytes[sizeof(T)];
    for (int i = 0; i < (int)sizeof(T); i++) bytes[i] = pattern(index, i);
    T value;
    memcpy(&value, bytes, sizeof(T));
    return value;
}

template <class T> __device__ bool same(const T &a, const T &b) {
    unsigned char x[sizeof(T)], y[sizeof(T)];
    memcpy(x, &a, sizeof(T));
    memcpy(y, &b, sizeof(T));
    for (int i = 0; i < (int)sizeof(T); i++) {
        if (x[i] != y[i]) return false;
    }
    return true;
}

/// Each thread writes its own value, by a transaction, into the middle of three; the others stay as they are.
template <class T> __global__ void write_middle(T *values, int *wrong) {
    const int i = threadIdx.x;
    T *middle = &values[3 * i + 1];
    warpgrind::atomically([&](warpgrind::tx &t) {
        if (!same(t.read(middle), value_of<T>(3 * i + 1))) atomicAdd(wrong, 1);
        t.write(middle, value_of<T>(100 + i));
        if (!same(t.read(middle), value_of<T>(100 + i))) atomicAdd(wrong, 1);
        if (!same(t.read(middle - 1), value_of<T>(3 * i))) atomicAdd(wrong, 1);
        t.write(middle, value_of<T>(200 + i));
        if (!same(t.read(middle + 1), value_of<T>(3 * i + 2))) atomicAdd(wrong, 1);
        if (!same(t.read(middle), value_of<T>(200 + i))) atomicAdd(wrong, 1);
    });
}

template <class T> void test() {
    T *values;
    int *wrong;
    // Exactly as large as the values: nothing beside them may be accessed.
    OK(cudaMalloc(&values, 3 * EACH * sizeof(T)));
    OK(cudaMallocManaged(&wrong, sizeof(int)));
    *wrong = 0;
    T host[3 * EACH];
    for (int i = 0; i < 3 * EACH; i++) host[i] = value_of<T>(i);
    OK(cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice));
    write_middle<<<1, EACH>>>(values, wrong);
    OK(cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(*wrong == 0);
    for (int i = 0; i < 3 * EACH; i++) {
        T wanted = i % 3 == 1 ? value_of<T>(200 + i / 3) : value_of<T>(i);
        CHECK(memcmp(&host[i], &wanted, sizeof(T)) == 0);
    }
    OK(cudaFree(values));
    OK(cudaFree(wrong));
}

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

int main() {
    test<char>();
    test<short>();
    test<int>();
    test<double>();
    test<void *>();
    test<float3>();
    test<int4>();
    test<Wide>();
    test<Three>();
    test<Bytes<3>>();
    test<Bytes<16>>();

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
    neighbours<<<1, 64>>>(bytes);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++) CHECK(bytes[i] == 10);
    return done();
}
