//@ flags: --leak-check full
//@ finds: leak
#include "memcheck.h"


int main() {
    int *data;
    OK(cudaMallocManaged(&data, 1000));
#ifdef FIXED
    OK(cudaFree(data));
#endif
    return finish();
}
