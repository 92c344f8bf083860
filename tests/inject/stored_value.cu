// A bit of what is stored is wrong in memory, whatever else happens: silent corruption, which the program shows in different ways.
//@ trials: --model store-data --trials 64 => outcomes.sdc=64
//@ trials: --model store-data --trials 8 --verdict program => outcomes.sdc=8 program.sdc=8
//@ trials: --model store-data --trials 8 --verdict program --check true => outcomes.sdc=8 program.masked=8
//@ trials: --model store-data --trials 8 --verdict program => program.due=8 with: exit
//@ trials: --model store-data --trials 8 --verdict program => program.masked=8 with: ignore
//@ gpu: --model store-data --trials 4 => outcomes.sdc=4
//@ gpu: --model store-data --trials 2 --verdict program => outcomes.sdc=2 program.sdc=2
//@ gpu: --model store-data --trials 2 --verdict program => program.due=2 with: exit
#include "common.h"
#include <cstring>

__global__ void store(int *out, int value) { out[threadIdx.x] = value; }

int main(int count, char **arguments) {
    Numbers out(0);
    store<<<1, 64>>>(out.data, 5);
    bool is_right = true;
    for (int value : out.read())
        is_right &= value == 5;
    const char *how = count > 1 ? arguments[1] : "print";
    if (!strcmp(how, "ignore"))
        return 0;
    if (!strcmp(how, "exit"))
        return is_right ? 0 : 4;
    printf(is_right ? "right\n" : "wrong\n");
}
