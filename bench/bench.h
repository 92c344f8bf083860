// What the benchmarks share. A benchmark is one program in three versions: its host part, written once, makes the
// inputs, launches kernels and checks results; the kernels are CUDA (with nvcc), OpenCL C (NAME.cl, with -DOPENCL) or
// native (functions that run one block, as loops over its threads). What surrounds the kernels is the same for all:
//
//     Buffer<float> x(numbers(n));                     device memory
//     LAUNCH(saxpy, n / 256, 256, n, 2.0f, x, y);      kernel, blocks, threads in a block, arguments
//     measure(prepare, launch, check);                 prints how long each launch took
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#ifndef __CUDACC__
struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(4) uchar4 {
    unsigned char x, y, z, w;
};
#endif

[[noreturn]] inline void fail(const std::string &why) {
    printf("wrong: %s\n", why.c_str());
    exit(1);
}

#if defined(__CUDACC__)

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        cudaError_t error = (call);                                                                                    \
        if (error != cudaSuccess)                                                                                      \
            fail(std::string(#call) + ": " + cudaGetErrorString(error));                                               \
    } while (0)

template <typename T> class Buffer {
    T *data;
    size_t count;

  public:
    explicit Buffer(const std::vector<T> &values) : count(values.size()) {
        OK(cudaMalloc(&data, count * sizeof(T)));
        write(values);
    }
    explicit Buffer(size_t count) : Buffer(std::vector<T>(count)) {}
    void write(const std::vector<T> &values) {
        OK(cudaMemcpy(data, values.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    }
    std::vector<T> read() const {
        std::vector<T> values(count);
        OK(cudaMemcpy(values.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
        return values;
    }
    T *argument() const { return data; }
};

template <typename T> T argument(T value) { return value; }
template <typename T> T *argument(const Buffer<T> &buffer) { return buffer.argument(); }

template <typename Kernel, typename... Arguments>
void launch(Kernel kernel, dim3 grid, dim3 block, const Arguments &...arguments) {
    kernel<<<grid, block>>>(argument(arguments)...);
    OK(cudaGetLastError());
}
#define LAUNCH(kernel, ...) launch(kernel, __VA_ARGS__)

inline void synchronize() { OK(cudaDeviceSynchronize()); }

#elif defined(OPENCL)

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        cl_int status = (call);                                                                                        \
        if (status != CL_SUCCESS)                                                                                      \
            fail(std::string(#call) + ": OpenCL error " + std::to_string(status));                                     \
    } while (0)

// The one CPU device of the one platform that the loader sees, and the program of this benchmark for it.
struct OpenCl {
    cl_context context;
    cl_command_queue queue;
    cl_program program;

    static OpenCl &get() {
        static OpenCl all;
        return all;
    }

    OpenCl() {
        cl_platform_id platform;
        cl_device_id device;
        cl_int error;
        OK(clGetPlatformIDs(1, &platform, nullptr));
        OK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, nullptr));
        context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
        OK(error);
        queue = clCreateCommandQueue(context, device, 0, &error);
        OK(error);
        char name[256], version[256];
        OK(clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, nullptr));
        OK(clGetDeviceInfo(device, CL_DRIVER_VERSION, sizeof version, version, nullptr));
        printf("device %s %s\n", name, version);

        std::string source;
        FILE *file = fopen(KERNELS, "rb");
        if (!file)
            fail("cannot open " KERNELS);
        for (int character; (character = fgetc(file)) != EOF;)
            source += char(character);
        fclose(file);
        const char *text = source.c_str();
        program = clCreateProgramWithSource(context, 1, &text, nullptr, &error);
        OK(error);
        // What nvcc does unless told otherwise: it contracts multiplications and additions, and rounds divisions and
        // square roots correctly.
        std::string options = "-cl-std=CL1.2 -cl-mad-enable";
        cl_device_fp_config single;
        OK(clGetDeviceInfo(device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof single, &single, nullptr));
        if (single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT)
            options += " -cl-fp32-correctly-rounded-divide-sqrt";
        if (clBuildProgram(program, 1, &device, options.c_str(), nullptr, nullptr) != CL_SUCCESS) {
            std::vector<char> log(1 << 16);
            clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, log.size() - 1, log.data(), nullptr);
            fail(std::string("the kernels do not compile:\n") + log.data());
        }
    }
};

template <typename T> class Buffer {
    cl_mem data;
    size_t count;

  public:
    explicit Buffer(const std::vector<T> &values) : count(values.size()) {
        cl_int error;
        data = clCreateBuffer(OpenCl::get().context, CL_MEM_READ_WRITE, count * sizeof(T), nullptr, &error);
        OK(error);
        write(values);
    }
    explicit Buffer(size_t count) : Buffer(std::vector<T>(count)) {}
    void write(const std::vector<T> &values) {
        OK(clEnqueueWriteBuffer(OpenCl::get().queue, data, CL_TRUE, 0, count * sizeof(T), values.data(), 0, nullptr,
                                nullptr));
    }
    std::vector<T> read() const {
        std::vector<T> values(count);
        OK(clEnqueueReadBuffer(OpenCl::get().queue, data, CL_TRUE, 0, count * sizeof(T), values.data(), 0, nullptr,
                               nullptr));
        return values;
    }
    cl_mem argument() const { return data; }
};

template <typename T> T argument(T value) { return value; }
template <typename T> cl_mem argument(const Buffer<T> &buffer) { return buffer.argument(); }

template <typename... Arguments>
void launch(cl_kernel kernel, dim3 grid, dim3 block, const Arguments &...arguments) {
    cl_uint index = 0;
    auto set = [&](auto value) { OK(clSetKernelArg(kernel, index++, sizeof value, &value)); };
    (set(argument(arguments)), ...);
    size_t global[3] = {size_t(grid.x) * block.x, size_t(grid.y) * block.y, size_t(grid.z) * block.z};
    size_t local[3] = {block.x, block.y, block.z};
    OK(clEnqueueNDRangeKernel(OpenCl::get().queue, kernel, 3, nullptr, global, local, 0, nullptr, nullptr));
}

inline cl_kernel create_kernel(const char *name) {
    cl_int error;
    cl_kernel kernel = clCreateKernel(OpenCl::get().program, name, &error);
    OK(error);
    return kernel;
}
#define LAUNCH(kernel, ...)                                                                                            \
    do {                                                                                                               \
        static cl_kernel created = create_kernel(#kernel);                                                             \
        launch(created, __VA_ARGS__);                                                                                  \
    } while (0)

inline void synchronize() { OK(clFinish(OpenCl::get().queue)); }

#else

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

// Which block a native kernel runs, and of how many.
struct Block {
    int x, y, z;
    dim3 grid;
};

template <typename T> class Buffer {
    T *data;
    size_t count;

  public:
    explicit Buffer(const std::vector<T> &values) : count(values.size()) {
        data = static_cast<T *>(aligned_alloc(256, (count * sizeof(T) + 255) / 256 * 256));
        write(values);
    }
    explicit Buffer(size_t count) : Buffer(std::vector<T>(count)) {}
    void write(const std::vector<T> &values) { std::copy(values.begin(), values.end(), data); }
    std::vector<T> read() const { return std::vector<T>(data, data + count); }
    T *argument() const { return data; }
};

template <typename T> T argument(T value) { return value; }
template <typename T> T *argument(const Buffer<T> &buffer) { return buffer.argument(); }

// Threads that wait for work; BENCH_THREADS says how many run blocks, the caller of `run` among them.
class Pool {
    std::vector<std::thread> threads;
    std::mutex mutex;
    std::condition_variable has_work, is_done;
    const std::function<void()> *work = nullptr;
    size_t round = 0, running = 0;

    void serve() {
        size_t seen = 0;
        std::unique_lock<std::mutex> lock(mutex);
        for (;;) {
            has_work.wait(lock, [&] { return round != seen; });
            seen = round;
            lock.unlock();
            (*work)();
            lock.lock();
            if (--running == 0)
                is_done.notify_one();
        }
    }

  public:
    const size_t count;

    static Pool &get() {
        static Pool *pool = new Pool; // Never destroyed: its threads run until the process ends.
        return *pool;
    }

    Pool() : count(getenv("BENCH_THREADS") ? std::max(1, atoi(getenv("BENCH_THREADS"))) : 1) {
        for (size_t i = 1; i < count; i++)
            threads.emplace_back([this] { serve(); });
    }

    void run(const std::function<void()> &task) {
        {
            std::lock_guard<std::mutex> lock(mutex);
            work = &task;
            running = threads.size();
            round++;
        }
        has_work.notify_all();
        task();
        std::unique_lock<std::mutex> lock(mutex);
        is_done.wait(lock, [&] { return running == 0; });
    }
};

template <typename Kernel, typename... Arguments>
void launch(Kernel kernel, dim3 grid, dim3, const Arguments &...arguments) {
    Pool &pool = Pool::get();
    if (pool.count == 1) {
        for (unsigned z = 0; z < grid.z; z++)
            for (unsigned y = 0; y < grid.y; y++)
                for (unsigned x = 0; x < grid.x; x++)
                    kernel(Block{int(x), int(y), int(z), grid}, argument(arguments)...);
        return;
    }
    size_t blocks = size_t(grid.x) * grid.y * grid.z, chunk = std::max<size_t>(1, blocks / (pool.count * 8));
    std::atomic<size_t> next = 0;
    pool.run([&] {
        for (size_t start; (start = next.fetch_add(chunk, std::memory_order_relaxed)) < blocks;)
            for (size_t i = start; i < std::min(start + chunk, blocks); i++)
                kernel(Block{int(i % grid.x), int(i / grid.x % grid.y), int(i / grid.x / grid.y), grid},
                       argument(arguments)...);
    });
}
#define LAUNCH(kernel, ...) launch([](Block block, auto... arguments) { kernel(block, arguments...); }, __VA_ARGS__)

inline void synchronize() {}

#endif

// Numbers from 0 to 1 that are the same in every run and version.
inline float number(unsigned i) {
    i = (i ^ 61) ^ (i >> 16);
    i *= 9;
    i ^= i >> 4;
    i *= 0x27d4eb2d;
    i ^= i >> 15;
    return (i & 0xffffff) / float(1 << 24);
}

inline std::vector<float> numbers(size_t count, unsigned seed = 0) {
    std::vector<float> all(count);
    for (size_t i = 0; i < count; i++)
        all[i] = number(unsigned(i) + seed);
    return all;
}

// Ends the program unless all values are near what is expected, up to `by`, absolute for small values and relative for
// large ones, and another difference that is absolute.
template <typename T, typename U>
void expect(const char *what, const std::vector<T> &found, const std::vector<U> &expected, double by = 0,
            double absolute = 0) {
    if (found.size() != expected.size())
        fail(std::string(what) + ": wrong number of values");
    for (size_t i = 0; i < found.size(); i++)
        if (!(std::fabs(double(found[i]) - double(expected[i])) <= by * (1 + std::fabs(double(expected[i]))) + absolute))
            fail(std::string(what) + "[" + std::to_string(i) + "] is " + std::to_string(found[i]) + " instead of " +
                 std::to_string(expected[i]));
}

// Seconds by the clock on the wall and by that of the process, which stands still while others have the processor.
struct Clocks {
    double wall, processor;

    static Clocks now() {
        timespec spent;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
        auto wall = std::chrono::steady_clock::now().time_since_epoch();
        return {std::chrono::duration<double>(wall).count(), double(spent.tv_sec) + 1e-9 * double(spent.tv_nsec)};
    }
};

// Launches and checks once, then launches until a time has passed, at least three times, and checks the last result too.
// Prints the seconds that each launch took by both clocks, from the call until the device is idle.
template <typename Prepare, typename Launch, typename Check>
void measure(Prepare prepare, Launch launch, Check check) {
    const double limit = getenv("BENCH_SECONDS") ? atof(getenv("BENCH_SECONDS")) : 1;
    prepare();
    launch();
    synchronize();
    check();
    std::vector<Clocks> launches;
    for (double total = 0; launches.size() < 3 || total < limit; total += launches.back().wall) {
        prepare();
        synchronize();
        Clocks start = Clocks::now();
        launch();
        synchronize();
        Clocks end = Clocks::now();
        launches.push_back({end.wall - start.wall, end.processor - start.processor});
    }
    check();
    printf("wall");
    for (const Clocks &seconds : launches)
        printf(" %.9f", seconds.wall);
    printf("\nprocessor");
    for (const Clocks &seconds : launches)
        printf(" %.9f", seconds.processor);
    printf("\n");
}
