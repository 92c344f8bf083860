//@ flags: --leak-check full
//@ finds: leak
#include "memcheck.h"


int main() {
    int *data;
    OK(cudaMallocAsync(&data, 1000, 0));
#ifdef FIXED
    OK(cudaFreeAsync(data, 0));
#endif
    return finish();
}
