#include "memcheck.h"

int main() {
    int *data = device<int>(100), host[100];
#ifdef FIXED
    OK(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
    OK(cudaFree(data));
#else
    OK(cudaFree(data));
    cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost); //~ ERROR use-after-free
#endif
    return finish();
}
