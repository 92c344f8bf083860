// Redundant multithreading between groups as Wadden and others describe it (ISCA 2014, section 7.2), written by hand into three
// of their kernels: scripts/rmt-study --seed-protocol measures it beside the variant `inter`. It is no variant of the tool.
//
//     seed_protocol KERNEL MODE      KERNEL: saxpy, bitonic_sort, black_scholes; MODE: plain, doubled, work, all
//
// A group draws its id from a counter; the lowest bit says whether it produces or consumes. A producer waits for a buffer in global
// memory, writes what it would store, and signals; the consumer reads it by atomic additions of 0, compares, stores, and frees the
// buffer. `doubled` has groups of producers that end at once, `work` leaves the buffers out: the parts of the seed's Figure 7.
#include "../bench.h"

enum Mode { PLAIN, DOUBLED, WORK, ALL };

// One for each of so many threads; others wait.
const int BUFFERS = 1 << 14;
struct Communication {
    unsigned ticket, differing;
    unsigned lock[BUFFERS]; // 0: free; else twice the number of the thread and 1: is written, or 2: can be read.
    unsigned long long address[BUFFERS];
    unsigned value[BUFFERS];
};

struct Group {
    unsigned id;
    bool produces, consumes;
};

template <Mode MODE> __device__ Group begin(Communication *communication) {
    if (MODE == PLAIN)
        return {blockIdx.x, false, true};
    __shared__ unsigned drawn;
    if (threadIdx.x == 0)
        drawn = atomicAdd(&communication->ticket, 1);
    __syncthreads();
    return {drawn >> 1, drawn % 2 == 0, drawn % 2 == 1};
}

__device__ unsigned read_through(unsigned *word) { return atomicAdd(word, 0u); }

// `never` keeps the compiler from leaving out what producers compute for nobody.
template <Mode MODE, typename T>
__device__ void store(Group group, Communication *communication, T *to, T value, bool never) {
    static_assert(sizeof(T) == 4, "a buffer has one word");
    unsigned bits;
    memcpy(&bits, &value, 4);
    if (MODE != ALL) {
        if (group.consumes || never)
            *to = value;
        return;
    }
    unsigned thread = group.id * blockDim.x + threadIdx.x, buffer = thread % BUFFERS;
    unsigned *lock = &communication->lock[buffer];
    if (group.produces) {
        while (atomicCAS(lock, 0u, 2 * thread + 1) != 0)
            ;
        communication->address[buffer] = (unsigned long long)to;
        communication->value[buffer] = bits;
        __threadfence();
        atomicExch(lock, 2 * thread + 2);
    } else {
        while (read_through(lock) != 2 * thread + 2)
            ;
        bool is_same = atomicAdd(&communication->address[buffer], 0ull) == (unsigned long long)to &&
                       read_through(&communication->value[buffer]) == bits;
        if (is_same)
            *to = value;
        else
            atomicAdd(&communication->differing, 1u);
        __threadfence();
        atomicExch(lock, 0u);
    }
}

template <Mode MODE>
__global__ void saxpy(Communication *communication, bool never, int n, float a, const float *x, const float *y, float *out) {
    Group group = begin<MODE>(communication);
    if (MODE == DOUBLED && group.produces)
        return;
    int i = group.id * blockDim.x + threadIdx.x;
    if (i < n)
        store<MODE>(group, communication, &out[i], a * x[i] + y[i], never);
}

// Of the values that were there before: a consumer that stores must not change what its producer has still to read.
template <Mode MODE>
__global__ void compare(Communication *communication, bool never, const unsigned *values, unsigned *out, int stage, int distance_log) {
    Group group = begin<MODE>(communication);
    if (MODE == DOUBLED && group.produces)
        return;
    int i = group.id * blockDim.x + threadIdx.x, distance = 1 << distance_log;
    int left = (i >> distance_log << (distance_log + 1)) + (i & (distance - 1)), right = left + distance;
    unsigned a = values[left], b = values[right];
    bool swaps = (a > b) == ((i >> stage & 1) == 0);
    store<MODE>(group, communication, &out[left], swaps ? b : a, never);
    store<MODE>(group, communication, &out[right], swaps ? a : b, never);
}

__host__ __device__ float normal(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float tail = 0.39894228f * expf(-0.5f * d * d) *
                 (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1.0f - tail : tail;
}

__host__ __device__ float price(float stock, float strike, float years) {
    const float rate = 0.02f, volatility = 0.3f;
    float root = sqrtf(years);
    float d1 = (logf(stock / strike) + (rate + 0.5f * volatility * volatility) * years) / (volatility * root);
    return stock * normal(d1) - strike * expf(-rate * years) * normal(d1 - volatility * root);
}

template <Mode MODE>
__global__ void prices(Communication *communication, bool never, const float *stock, const float *strike, const float *years, float *out,
                       int n) {
    Group group = begin<MODE>(communication);
    if (MODE == DOUBLED && group.produces)
        return;
    int i = group.id * blockDim.x + threadIdx.x;
    if (i < n)
        store<MODE>(group, communication, &out[i], price(stock[i], strike[i], years[i]), never);
}

template <Mode MODE> void run(const std::string &kernel) {
    const int copies = MODE == PLAIN ? 1 : 2;
    Communication *communication;
    OK(cudaMalloc(&communication, sizeof *communication));
    OK(cudaMemset(communication, 0, sizeof *communication));
    auto launch_kernel = [&](auto function, int blocks, auto... arguments) {
        OK(cudaMemsetAsync(&communication->ticket, 0, sizeof communication->ticket));
        function<<<copies * blocks, 256>>>(communication, false, arguments...);
        OK(cudaGetLastError());
    };
    if (kernel == "saxpy") {
        const int n = 1 << 21;
        auto x = numbers(n), y = numbers(n, 7);
        std::vector<float> expected(n);
        for (int i = 0; i < n; i++)
            expected[i] = 2 * x[i] + y[i];
        Buffer<float> device_x(x), device_y(y), out(n);
        measure([] {}, [&] { launch_kernel(saxpy<MODE>, n / 256, n, 2.0f, device_x.argument(), device_y.argument(), out.argument()); },
                [&] { expect("y", out.read(), expected, 1e-6); });
    } else if (kernel == "bitonic_sort") {
        const int log = 16, n = 1 << log;
        std::vector<unsigned> values(n);
        for (int i = 0; i < n; i++)
            values[i] = unsigned(number(i) * (1 << 24));
        auto expected = values;
        std::sort(expected.begin(), expected.end());
        Buffer<unsigned> one(values), other(n);
        unsigned *from = one.argument(), *to = other.argument();
        auto sort = [&] {
            for (int stage = 0; stage < log; stage++)
                for (int distance_log = stage; distance_log >= 0; distance_log--) {
                    launch_kernel(compare<MODE>, n / 2 / 256, (const unsigned *)from, to, stage, distance_log);
                    std::swap(from, to);
                }
        };
        auto prepare = [&] {
            from = one.argument(), to = other.argument();
            one.write(values);
        };
        measure(prepare, sort, [&] { expect("values", (from == one.argument() ? one : other).read(), expected); });
    } else if (kernel == "black_scholes") {
        const int n = 1 << 18;
        std::vector<float> stock(n), strike(n), years(n), expected(n);
        for (int i = 0; i < n; i++) {
            stock[i] = 5 + 25 * number(i);
            strike[i] = 1 + 99 * number(i + n);
            years[i] = 0.25f + 9.75f * number(i + 2 * n);
            expected[i] = price(stock[i], strike[i], years[i]);
        }
        Buffer<float> device_stock(stock), device_strike(strike), device_years(years), out(n);
        auto launch_prices = [&] {
            launch_kernel(prices<MODE>, n / 256, device_stock.argument(), device_strike.argument(), device_years.argument(),
                          out.argument(), n);
        };
        measure([] {}, launch_prices, [&] { expect("prices", out.read(), expected, 1e-4); });
    } else {
        fail("there is no kernel " + kernel);
    }
    unsigned differing;
    OK(cudaMemcpy(&differing, &communication->differing, sizeof differing, cudaMemcpyDeviceToHost));
    if (differing != 0)
        fail("copies differ");
}

int main(int count, char **arguments) {
    std::string kernel = count > 1 ? arguments[1] : "", mode = count > 2 ? arguments[2] : "";
    if (mode == "plain")
        run<PLAIN>(kernel);
    else if (mode == "doubled")
        run<DOUBLED>(kernel);
    else if (mode == "work")
        run<WORK>(kernel);
    else if (mode == "all")
        run<ALL>(kernel);
    else
        fail("there is no mode " + mode);
}
