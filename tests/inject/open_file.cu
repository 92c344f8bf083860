// A copy of the process would write to the same place of a file as the process itself.
//@ trials: --model store-data --trials 3 --verdict program => outcomes.sdc=3 program.sdc=3
//@ not-forked: is a file that is written to
#include "common.h"

__global__ void store(int *out, int value) { out[threadIdx.x] = value; }

int main() {
    FILE *file = tmpfile();
    Numbers out(0);
    store<<<1, 64>>>(out.data, 5);
    bool is_right = true;
    for (int value : out.read())
        is_right &= value == 5;
    fprintf(file, "%d", is_right);
    fclose(file);
    printf(is_right ? "right\n" : "wrong\n");
}
