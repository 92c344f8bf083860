// A program that closes all descriptors and uses their numbers again finds its files as it left them.
//@ variants: static shared

#include "../expect.h"
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

__global__ void add(int *p) { p[threadIdx.x] += 1; }
__global__ void multiply(int *p) { p[threadIdx.x] *= 3; }

int main() {
    char name[] = "/tmp/warpgrind-test-XXXXXX";
    CHECK(mkdtemp(name) != nullptr);
    const std::string directory = name, data = directory + "/data";
    // Looks like something of the cache that nobody finished, long ago.
    const std::string old = directory + "/new-00000000000000000000000000000000";
    close(open(old.c_str(), O_CREAT | O_WRONLY, 0600));
    const timespec long_ago[2] = {{1000, 0}, {1000, 0}};
    CHECK(utimensat(AT_FDCWD, old.c_str(), long_ago, 0) == 0);

    int *p;
    OK(cudaMalloc(&p, 32 * sizeof(int)));
    add<<<1, 32>>>(p);
    OK(cudaDeviceSynchronize());
    for (int i = 3; i < 4096; i++) close(i);
    int own[64];
    for (int i = 0; i < 64; i++)
        own[i] = i % 2 ? open(name, O_RDONLY | O_DIRECTORY) : open(data.c_str(), O_CREAT | O_RDWR | O_APPEND, 0600);
    // The numbers above those of most programs, too.
    for (int i = 0; i < 16; i++) CHECK(dup2(own[i % 2], 2000 + i) == 2000 + i);
    multiply<<<1, 32>>>(p);
    OK(cudaDeviceSynchronize());
    // Code is optimised and kept in the background.
    for (int i = 0; i < 200; i++) multiply<<<1, 32>>>(p);
    OK(cudaDeviceSynchronize());
    usleep(300000);

    struct stat status;
    CHECK(stat(old.c_str(), &status) == 0);
    CHECK(stat(data.c_str(), &status) == 0 && status.st_size == 0);
    for (int i = 0; i < 16; i++) CHECK(fcntl(2000 + i, F_GETFD) >= 0);
    unlink(old.c_str());
    unlink(data.c_str());
    CHECK(rmdir(name) == 0);
    return done();
}
