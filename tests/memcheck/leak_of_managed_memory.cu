//@ flags: --leak-check full
#include "memcheck.h"


int main() {
    int *data;
    OK(cudaMallocManaged(&data, 1000)); //~ ERROR leak
#ifdef FIXED
    OK(cudaFree(data));
#endif
    return finish();
}
