#include "memcheck.h"


int main() {
    OK(cudaFree(nullptr));
    int *data = WRONG_OR_RIGHT((int *)malloc(64), device<int>(16));
    cudaFree(data); //~ ERROR invalid-free
    return finish();
}
