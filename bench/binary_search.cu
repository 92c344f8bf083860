#include "bench.h"

#if defined(__CUDACC__)

__global__ void search(const unsigned *table, int n, const unsigned *keys, int *found, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    unsigned key = keys[i];
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (table[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    found[i] = low < n && table[low] == key ? low : -1;
}

#elif !defined(OPENCL)

static void search(Block block, const unsigned *table, int n, const unsigned *keys, int *found, int count) {
    for (int i = block.x * 256; i < std::min(block.x * 256 + 256, count); i++) {
        unsigned key = keys[i];
        int low = 0, high = n;
        while (low < high) {
            int middle = (low + high) / 2;
            if (table[middle] < key)
                low = middle + 1;
            else
                high = middle;
        }
        found[i] = low < n && table[low] == key ? low : -1;
    }
}

#endif

int main() {
    const int n = 1 << 20, count = 1 << 16;
    std::vector<unsigned> table(n), keys(count);
    std::vector<int> expected(count);
    for (int i = 0; i < n; i++)
        table[i] = 2 * i;
    for (int i = 0; i < count; i++) {
        keys[i] = unsigned(number(i) * 2 * n);
        expected[i] = keys[i] % 2 ? -1 : int(keys[i] / 2);
    }
    Buffer<unsigned> device_table(table), device_keys(keys);
    Buffer<int> found(count);
    measure([&] {}, [&] { LAUNCH(search, count / 256, 256, device_table, n, device_keys, found, count); },
            [&] { expect("places", found.read(), expected); });
}
