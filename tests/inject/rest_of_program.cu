// What the program printed before, what it reads, and the launches that come after the one with the fault are the same in a copy
// of the process as in a process of its own.
//@ trials: --model store-data --trials 12 --verdict program => program.due=12
//@ trials: --model address --trials 12 --verdict program => program.due>0
//@ trials: --model store-data --trials 6 --verdict program => program.sdc=6 with: print
//@ trials: --model store-data --trials 6 --verdict program --launch-count 1 => program.masked=6 with: overwrite
//@ trials: --model store-data --trials 1 --verdict program --launch-count 1 => program.hang=1 with: wait
//@ gpu: --model store-data --trials 2 --verdict program => program.due=2
//@ gpu: --model store-data --trials 2 --verdict program --launch-count 1 => program.masked=2 with: overwrite
#include "common.h"
#include <cstring>
#include <unistd.h>

__global__ void store(int *out, int value) { out[threadIdx.x] = value; }

__global__ void add(int *out, int value) { out[threadIdx.x] += value; }

int main(int count, char **arguments) {
    const char *how = count > 1 ? arguments[1] : "exit";
    // Not written before the launch, but with the rest.
    printf("before the launch\n");
    FILE *self = fopen(arguments[0], "rb");
    char head[4], next[4];
    if (!self || fread(head, 1, 4, self) != 4)
        return 5;
    Numbers out(0);
    cudaStream_t stream;
    ok(cudaStreamCreate(&stream));
    store<<<1, 64, 0, stream>>>(out.data, 5);
    if (!strcmp(how, "overwrite"))
        store<<<1, 64, 0, stream>>>(out.data, 5);
    // Copies move on from the same place of the file.
    if (fseek(self, 0, SEEK_CUR) || fread(next, 1, 4, self) != 4 || memcmp(head, "\177ELF", 4) || next[0] != 2)
        return 6;
    int *copy;
    ok(cudaMallocAsync(&copy, 64 * sizeof(int), stream));
    ok(cudaMemcpyAsync(copy, out.data, 64 * sizeof(int), cudaMemcpyDeviceToDevice, stream));
    add<<<1, 64, 0, stream>>>(copy, 1);
    std::vector<int> values(64);
    ok(cudaMemcpyAsync(values.data(), copy, 64 * sizeof(int), cudaMemcpyDeviceToHost, stream));
    ok(cudaStreamSynchronize(stream));
    int wrong = 0;
    for (int value : values)
        wrong += value != 6;
    if (!strcmp(how, "print"))
        printf("%d are wrong\n", wrong);
    else if (wrong && !strcmp(how, "wait"))
        pause();
    else
        return wrong ? 4 : 0;
}
