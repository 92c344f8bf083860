// `printf` of a kernel returns how many arguments it printed, and -1 without a format.

#include "../expect.h"

__global__ void print(int *out) {
    out[0] = printf("");
    out[1] = printf("%d %d\n", 1, 2);
    out[2] = printf("no arguments\n");
}

int main() {
    int *out, host[3] = {};
    OK(cudaMalloc(&out, sizeof host));
    print<<<1, 1>>>(out);
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[0] == 0 && host[1] == 2 && host[2] == 0);
    return done();
}
