// Copies of many sizes: prints the processor time of one, in microseconds, for each size and direction.
//
//     copies MOST_BYTES
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

int main(int count, char **arguments) {
    if (count != 2) {
        fprintf(stderr, "usage: copies MOST_BYTES\n");
        return 2;
    }
    size_t most = strtoull(arguments[1], nullptr, 10);
    char *host = (char *)malloc(most), *device, *other;
    memset(host, 1, most);
    if (!host || cudaMalloc(&device, most) || cudaMalloc(&other, most)) return 1;
    // All of it is defined, as in programs that are right; pages are there.
    if (cudaMemset(device, 1, most) || cudaMemset(other, 1, most)) return 1;
    const char *names[] = {"host to device", "device to host", "device to device"};
    for (size_t bytes = 4; bytes <= most; bytes *= 4) {
        for (int direction = 0; direction < 3; ++direction) {
            // About as long for each size, and a few at least.
            int copies = bytes < 1 << 16 ? 2000 : bytes < 1 << 24 ? 32 : 3;
            clock_t begin = clock();
            for (int i = 0; i < copies; ++i) {
                cudaError_t error = cudaSuccess;
                switch (direction) {
                case 0: error = cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice); break;
                case 1: error = cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost); break;
                case 2: error = cudaMemcpy(other, device, bytes, cudaMemcpyDeviceToDevice); break;
                }
                if (error) return error;
            }
            printf("%s,%zu,%g\n", names[direction], bytes, double(clock() - begin) / CLOCKS_PER_SEC / copies * 1e6);
        }
    }
    return 0;
}
