//@ flags: --leak-check full
#include "memcheck.h"


int main() {
    int *data;
    OK(cudaMalloc(&data, 1000)); //~ ERROR leak
#ifdef FIXED
    OK(cudaFree(data));
#endif
    return finish();
}
