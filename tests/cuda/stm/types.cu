// Values of 1 to 16 bytes: what is read, what is read after writes, and that neighbours stay.
//@ variants: static clang
//@ tools: no

#include "../expect.h"
#include <warpgrind/tx.cuh>

template <int N> struct Bytes {
    unsigned char at[N];
};
struct Three {
    short a, b, c;
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
        for (int written = 0; written <= 2; written++) {
            for (int k = 0; k < 3; k++) {
                const int wanted = k == 1 && written > 0 ? 100 * written + i : 3 * i + k;
                if (!same(t.read(&values[3 * i + k]), value_of<T>(wanted))) atomicAdd(wrong, 1);
            }
            if (written < 2) t.write(middle, value_of<T>(100 * (written + 1) + i));
        }
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

int main() {
    test<char>();
    test<short>();
    test<double>();
    test<float3>();
    test<Three>();
    test<Bytes<3>>();
    test<Bytes<16>>();
    return done();
}
