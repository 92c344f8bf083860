// Faults in what rmt inserts. Most are noticed, or change nothing. Only registers of inserted instructions are struck: a kernel
// that runs twice as it is has none.
//@ trials: --model inserted-bit --trials 500 --with rmt:pair => trials=500 outcomes.detected>100
//@ trials: --model inserted-bit --trials 200 --with rmt:warp-pair => trials=200 outcomes.detected>20
//@ trials: --model inserted-bit --trials 200 --with rmt:inter => trials=200 outcomes.detected>20
//@ trials: --model inserted-bit --trials 20 --with rmt:pair --verdict program => trials=20
//@ gpu: --model inserted-bit --trials 4 --with rmt:pair => trials=4 differ=1
#include "common.h"

__global__ void scale(int *out, const int *in) {
    for (int i = threadIdx.x; i < 64; i += 32)
        out[i] = in[i] * 3 + i;
}

int main() {
    Numbers in(5), out(0);
    scale<<<1, 32>>>(out.data, in.data);
    std::vector<int> values = out.read();
    for (int i = 0; i < 64; i++)
        if (values[i] != 15 + i)
            return 1;
}
