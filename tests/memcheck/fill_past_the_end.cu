#include "memcheck.h"

int main() {
    int *data = device<int>(100);
    cudaMemset(data + 50, 0, WRONG_OR_RIGHT(51, 50) * sizeof(int)); //~ ERROR invalid-copy
    return finish();
}
