// A runtime of CUDA that hands everything on to a driver, as directly as it can be done: what the benchmarks call, and nothing else.
// What `warpgrind run --device gpu` costs is measured beside it, on the same driver (scripts/gpu-overhead).
//
// The driver is the file in DIRECT_DRIVER, the PTX of the program that in DIRECT_PTX. There is one module, one stream, and no memory
// is freed. Any error ends the program.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

struct dim3 {
    unsigned x, y, z;
};

namespace {

[[noreturn]] void fail(const std::string &what) {
    fprintf(stderr, "direct: %s\n", what.c_str());
    exit(1);
}

void check(const char *what, int code) {
    if (code != 0)
        fail(std::string(what) + " says " + std::to_string(code));
}
#define CALL(name, ...) check(#name, driver().name(__VA_ARGS__))

// What is used of the driver, as cuda.h of CUDA 12.2 has it.
struct Location {
    int kind, id;
};
struct Properties {
    int kind = 1, handle_types = 0;
    Location location;
    void *windows = nullptr;
    unsigned char flags[8] = {};
};
struct Access {
    Location location;
    int flags = 3;
};
struct Config {
    unsigned grid[3], block[3], shared;
    void *stream;
    const void *attributes;
    unsigned attribute_count;
};

struct Driver {
    int (*cuInit)(unsigned);
    int (*cuDeviceGet)(int *, int);
    int (*cuDevicePrimaryCtxRetain)(void **, int);
    int (*cuCtxSetCurrent)(void *);
    int (*cuStreamCreate)(void **, unsigned);
    int (*cuStreamSynchronize)(void *);
    int (*cuMemAddressReserve)(uint64_t *, size_t, size_t, uint64_t, uint64_t);
    int (*cuMemCreate)(uint64_t *, size_t, const Properties *, uint64_t);
    int (*cuMemMap)(uint64_t, size_t, size_t, uint64_t, uint64_t);
    int (*cuMemSetAccess)(uint64_t, size_t, const Access *, size_t);
    int (*cuMemcpyAsync)(uint64_t, uint64_t, size_t, void *);
    int (*cuModuleLoadDataEx)(void **, const void *, unsigned, const int *, void *const *);
    int (*cuModuleGetFunction)(void **, void *, const char *);
    int (*cuLaunchKernelEx)(const Config *, void *, void **, void **);
    int device = 0;
    void *stream = nullptr, *module = nullptr;
    std::string ptx;

    template <typename F> void find(F &function, const char *name, int version) {
        auto look_up = reinterpret_cast<int (*)(const char *, void **, int, uint64_t, int *)>(dlsym(library, "cuGetProcAddress_v2"));
        void *found = nullptr;
        int status;
        if (!look_up || look_up(name, &found, version, 0, &status) != 0 || !found)
            fail(std::string("the driver has no ") + name);
        function = reinterpret_cast<F>(found);
    }

    Driver() {
        const char *file = getenv("DIRECT_DRIVER");
        library = file ? dlopen(file, RTLD_NOW) : nullptr;
        if (!library)
            fail("DIRECT_DRIVER names no driver");
#define FIND(name, version) find(name, #name, version)
        FIND(cuInit, 2000);
        FIND(cuDeviceGet, 2000);
        FIND(cuDevicePrimaryCtxRetain, 7000);
        FIND(cuCtxSetCurrent, 4000);
        FIND(cuStreamCreate, 2000);
        FIND(cuStreamSynchronize, 2000);
        FIND(cuMemAddressReserve, 10020);
        FIND(cuMemCreate, 10020);
        FIND(cuMemMap, 10020);
        FIND(cuMemSetAccess, 10020);
        FIND(cuMemcpyAsync, 4000);
        FIND(cuModuleLoadDataEx, 2010);
        FIND(cuModuleGetFunction, 2000);
        FIND(cuLaunchKernelEx, 11060);
        check("cuInit", cuInit(0));
        check("cuDeviceGet", cuDeviceGet(&device, 0));
        void *context;
        check("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain(&context, device));
        check("cuCtxSetCurrent", cuCtxSetCurrent(context));
        check("cuStreamCreate", cuStreamCreate(&stream, 1));
        FILE *text = fopen(getenv("DIRECT_PTX") ? getenv("DIRECT_PTX") : "", "rb");
        if (!text)
            fail("DIRECT_PTX names no file");
        for (int letter; (letter = fgetc(text)) != EOF;)
            ptx += char(letter);
        fclose(text);
    }

  private:
    void *library;
};

Driver &driver() {
    static Driver all;
    return all;
}

// A kernel: where its parameters are.
struct Kernel {
    std::string name;
    void *function = nullptr;
    std::vector<std::pair<size_t, size_t>> params;
    size_t bytes = 0;

    void load() {
        Driver &all = driver();
        // A module is loaded when a kernel of it is launched: the driver may be slow to start.
        if (!all.module)
            CALL(cuModuleLoadDataEx, &all.module, all.ptx.c_str(), 0, nullptr, nullptr);
        CALL(cuModuleGetFunction, &function, all.module, name.c_str());
        size_t at = all.ptx.find(".entry " + name + "(");
        size_t end = all.ptx.find(')', at);
        while ((at = all.ptx.find(".param", at + 1)) < end) {
            // `.param .u64 name`, or `.param .align 8 .b8 name[24]`.
            std::string text = all.ptx.substr(at, all.ptx.find_first_of(",)", at) - at);
            size_t size = 0, align = 0, type = text.find_last_of('.');
            size = align = atoi(text.c_str() + type + 2) / 8;
            if (size_t found = text.find(".align"); found != std::string::npos)
                align = atoi(text.c_str() + found + 6);
            if (size_t found = text.find('['); found != std::string::npos)
                size *= atoi(text.c_str() + found + 1);
            bytes = (bytes + align - 1) / align * align;
            params.push_back({bytes, size});
            bytes += size;
        }
    }
};

// Programs register theirs before anything else is there.
std::map<const void *, Kernel> &kernels() {
    static std::map<const void *, Kernel> all;
    return all;
}

struct Configuration {
    dim3 grid, block;
    size_t shared;
    void *stream;
} configuration;

} // namespace

extern "C" {

void **__cudaRegisterFatBinary(void *) { return nullptr; }
void __cudaRegisterFatBinaryEnd(void **) {}
void __cudaUnregisterFatBinary(void **) {}

void __cudaRegisterFunction(void **, const char *stub, char *, const char *name, int, void *, void *, void *, void *, int *) {
    kernels()[stub].name = name;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream) {
    configuration = {grid, block, shared, stream};
    return 0;
}

int __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
    *grid = configuration.grid;
    *block = configuration.block;
    *shared = configuration.shared;
    memcpy(stream, &configuration.stream, sizeof(void *));
    return 0;
}

int __cudaGetKernel(void **kernel, const void *stub) {
    *kernel = &kernels()[stub];
    return 0;
}

int __cudaLaunchKernel(void *handle, dim3 grid, dim3 block, void **args, size_t shared, void *) {
    Kernel &kernel = *static_cast<Kernel *>(handle);
    if (!kernel.function)
        kernel.load();
    unsigned char params[4096];
    for (size_t i = 0; i < kernel.params.size(); i++)
        memcpy(params + kernel.params[i].first, args[i], kernel.params[i].second);
    size_t bytes = kernel.bytes;
    void *extra[] = {(void *)1, params, (void *)2, &bytes, nullptr};
    Config config = {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, unsigned(shared), driver().stream, nullptr, 0};
    CALL(cuLaunchKernelEx, &config, kernel.function, nullptr, extra);
    return 0;
}

int cudaMalloc(void **address, size_t bytes) {
    const size_t granule = 2 << 20;
    bytes = (bytes + granule - 1) / granule * granule;
    Properties properties;
    properties.location = {1, driver().device};
    Access access;
    access.location = properties.location;
    uint64_t start, handle;
    CALL(cuMemAddressReserve, &start, bytes, 0, 0, 0);
    CALL(cuMemCreate, &handle, bytes, &properties, 0);
    CALL(cuMemMap, start, bytes, 0, handle, 0);
    CALL(cuMemSetAccess, start, bytes, &access, 1);
    *address = reinterpret_cast<void *>(start);
    return 0;
}

int cudaDeviceSynchronize() {
    CALL(cuStreamSynchronize, driver().stream);
    return 0;
}

int cudaMemcpy(void *to, const void *from, size_t bytes, int) {
    CALL(cuMemcpyAsync, reinterpret_cast<uint64_t>(to), reinterpret_cast<uint64_t>(from), bytes, driver().stream);
    return cudaDeviceSynchronize();
}

int cudaGetLastError() { return 0; }
const char *cudaGetErrorString(int) { return ""; }
}
