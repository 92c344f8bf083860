//@ flags: --leak-check full
//@ finds: leak
#include "memcheck.h"


int main() {
    int *data;
    OK(cudaMalloc(&data, 1000));
#ifdef FIXED
    OK(cudaFree(data));
#endif
    return finish();
}
