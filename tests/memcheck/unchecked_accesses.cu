#include "memcheck.h"
#include <warpgrind/requests.h>

// The program asks for no checks. The word behind an array belongs to nobody, and a search reads it
// all the same.
__global__ void search(const int *data, int n, int *out) {
    int i = 0;
#ifdef FIXED
    WARPGRIND_CHECKS_OFF();
#endif
    while (i < n && data[i + 1] == 0) //~ ERROR out-of-bounds
        ++i;
#ifdef FIXED
    WARPGRIND_CHECKS_ON();
#endif
    out[threadIdx.x] = i;
}

int main() {
    search<<<1, 1>>>(device<int>(32), 32, device<int>(1));
    return finish();
}
