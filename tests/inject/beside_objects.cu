// What a trial leaves beside the objects of the program is undone, too. A number that is exchanged with one beside the allocation is
// lost; if it was still there, the same exchange would not take place again, and the program would go on as without a fault.
//@ trials: --model single-bit --trials 120 --verdict program => outcomes.sdc=27 outcomes.fault=42 program.due=69
#include "common.h"

__global__ void order(int *numbers, int apart) {
    int low = threadIdx.x, high = low + apart;
    int left = numbers[low], right = numbers[high];
    if (left > right) {
        numbers[low] = right;
        numbers[high] = left;
    }
}

int main() {
    Numbers numbers(0);
    std::vector<int> values(64);
    for (int i = 0; i < 64; i++)
        values[i] = i + 1;
    ok(cudaMemcpy(numbers.data, values.data(), 64 * sizeof(int), cudaMemcpyHostToDevice));
    order<<<1, 32>>>(numbers.data, 32);
    return numbers.read() == values ? 0 : 4;
}
