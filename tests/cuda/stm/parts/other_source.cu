#include <warpgrind/tx.cuh>

__device__ void increment_elsewhere(int *counter) {
    warpgrind::atomically([&](warpgrind::tx &t) { t.write(counter, t.read(counter) + 1); });
}
