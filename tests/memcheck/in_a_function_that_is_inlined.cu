#include "memcheck.h"

struct View {
    int *data;

    __device__ int &at(int i) {
        return data[i];
    }
};

__global__ void fill(int *data) {
    View view{data};
    view.at(threadIdx.x + WRONG_OR_RIGHT(1, 0)) = 7; //~ ERROR out-of-bounds
}

int main() {
    fill<<<1, 64>>>(device<int>(64));
    return finish();
}
