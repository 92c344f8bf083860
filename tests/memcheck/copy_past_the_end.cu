#include "memcheck.h"

int main() {
    int *data = device<int>(100), host[101] = {};
    cudaMemcpy(data, host, WRONG_OR_RIGHT(101, 100) * sizeof(int), cudaMemcpyHostToDevice); //~ ERROR invalid-copy
    return finish();
}
