#include "memcheck.h"

// Undefined values in types of many sizes and layouts: where nobody wrote a member, a byte or a bit.
const int THREADS = 32;

struct Padded {
    char kind;
    int value;
};

struct Flags {
    unsigned ready : 1, level : 7, rest : 24;
};

struct Nested {
    struct {
        short x[3];
    } rows[2];
    double weight;
};

union Word {
    float number;
    unsigned bits;
    unsigned char bytes[4];
};

struct __align__(16) Wide {
    long long low, high;
};

// The padding is copied with the rest, which decides nothing.
__global__ void copies_padding(const Padded *in, Padded *out) {
    out[threadIdx.x] = in[threadIdx.x];
    if (out[threadIdx.x].value > 3)
        out[threadIdx.x].value = 3;
}

__global__ void member_after_padding(Padded *items, int *count) {
    items[threadIdx.x].kind = 1;
    WRONG_OR_RIGHT((void)0, (void)(items[threadIdx.x].value = 4));
    if (items[threadIdx.x].value > 3) //~ ERROR undefined-branch
        atomicAdd(count, 1);
}

__global__ void write_level(Flags *flags) { flags[threadIdx.x].level = 5; }

__global__ void write_ready(Flags *flags) { flags[threadIdx.x].ready = 1; }

__global__ void bit_field(const Flags *flags, int *count) {
    if (flags[threadIdx.x].ready) //~ ERROR undefined-branch
        atomicAdd(count, 1);
}

// Its neighbour in the same byte is not defined, and is not asked for.
__global__ void other_bit_field(const Flags *flags, int *count) {
    if (flags[threadIdx.x].level > 3)
        atomicAdd(count, 1);
}

__global__ void nested_array(Nested *items, int *count) {
    for (int i = 0; i < WRONG_OR_RIGHT(5, 6); ++i)
        items[threadIdx.x].rows[i / 3].x[i % 3] = i;
    if (items[threadIdx.x].rows[1].x[2] > 3) //~ ERROR undefined-branch
        atomicAdd(count, 1);
}

__global__ void behind_array(Nested *items, int *count) {
    WRONG_OR_RIGHT((void)0, (void)(items[threadIdx.x].weight = 2));
    if (items[threadIdx.x].weight > 1) //~ ERROR undefined-branch
        atomicAdd(count, 1);
}

__global__ void one_byte_of_a_union(Word *words, int *count) {
    for (int i = WRONG_OR_RIGHT(1, 0); i < 4; ++i)
        words[threadIdx.x].bytes[i] = 0x40;
    if (words[threadIdx.x].number > 1) //~ ERROR undefined-branch
        atomicAdd(count, 1);
}

__global__ void half_of_a_wide_struct(Wide *items, int *count) {
    items[threadIdx.x].low = 1;
    WRONG_OR_RIGHT((void)0, (void)(items[threadIdx.x].high = 1));
    Wide item = items[threadIdx.x];
    if (item.high > item.low) //~ ERROR undefined-branch
        atomicAdd(count, 1);
}

__global__ void part_of_a_vector(float4 *vectors, int *count) {
    float *parts = (float *)(vectors + threadIdx.x);
    for (int i = 0; i < WRONG_OR_RIGHT(3, 4); ++i)
        parts[i] = 1;
    float4 vector = vectors[threadIdx.x];
    if (vector.x + vector.w > 1) //~ ERROR undefined-branch
        atomicAdd(count, 1);
}

// The part that nobody wrote is loaded with the others.
__global__ void other_part_of_a_vector(float4 *vectors, int *count) {
    vectors[threadIdx.x].y = 1;
    float4 vector = vectors[threadIdx.x];
    if (vector.y > 1)
        atomicAdd(count, 1);
}

__global__ void three_numbers(int3 *vectors, int *count) {
    vectors[threadIdx.x].x = vectors[threadIdx.x].y = 1;
    WRONG_OR_RIGHT((void)0, (void)(vectors[threadIdx.x].z = 1));
    int3 vector = vectors[threadIdx.x];
    if (vector.x + vector.y + vector.z > 2) //~ ERROR undefined-branch
        atomicAdd(count, 1);
}

__global__ void bytes(unsigned char *text, int *count) {
    if (threadIdx.x % 2 == 0 || WRONG_OR_RIGHT(0, 1))
        text[threadIdx.x] = 'x';
    if (text[threadIdx.x] == 'x') //~ ERROR undefined-branch
        atomicAdd(count, 1);
}

__global__ void words_from_bytes(unsigned char *text, int *count) {
    if (threadIdx.x != 5 || WRONG_OR_RIGHT(0, 1))
        text[threadIdx.x] = 'x';
    __syncthreads();
    if (threadIdx.x < THREADS / 4 && ((const unsigned *)text)[threadIdx.x] == 0x78787878) //~ ERROR undefined-branch
        atomicAdd(count, 1);
}

__global__ void truth(const bool *flags, int *count) {
    if (flags[threadIdx.x]) //~ ERROR undefined-branch
        atomicAdd(count, 1);
}

__global__ void rows_of_a_matrix(double (*matrix)[4], int *count) {
    for (int i = 0; i < WRONG_OR_RIGHT(3, 4); ++i)
        matrix[threadIdx.x][i] = i;
    double sum = 0;
    for (int i = 0; i < 4; ++i)
        sum += matrix[threadIdx.x][i];
    if (sum > 5) //~ ERROR undefined-branch
        atomicAdd(count, 1);
}

int main() {
    int *count = device<int>(1);
    // Whole structs, written member by member on the host.
    Padded items[THREADS];
    for (Padded &item : items)
        item.kind = 1, item.value = 7;
    Padded *in = fresh<Padded>(THREADS);
    OK(cudaMemcpy(in, items, sizeof items, cudaMemcpyHostToDevice));
    copies_padding<<<1, THREADS>>>(in, fresh<Padded>(THREADS));
    member_after_padding<<<1, THREADS>>>(fresh<Padded>(THREADS), count);
    Flags *flags = fresh<Flags>(THREADS);
    write_level<<<1, THREADS>>>(flags);
    other_bit_field<<<1, THREADS>>>(flags, count);
    if (WRONG_OR_RIGHT(0, 1))
        write_ready<<<1, THREADS>>>(flags);
    bit_field<<<1, THREADS>>>(flags, count);
    nested_array<<<1, THREADS>>>(fresh<Nested>(THREADS), count);
    behind_array<<<1, THREADS>>>(fresh<Nested>(THREADS), count);
    one_byte_of_a_union<<<1, THREADS>>>(fresh<Word>(THREADS), count);
    half_of_a_wide_struct<<<1, THREADS>>>(fresh<Wide>(THREADS), count);
    part_of_a_vector<<<1, THREADS>>>(fresh<float4>(THREADS), count);
    other_part_of_a_vector<<<1, THREADS>>>(fresh<float4>(THREADS), count);
    three_numbers<<<1, THREADS>>>(fresh<int3>(THREADS), count);
    bytes<<<1, THREADS>>>(fresh<unsigned char>(THREADS), count);
    words_from_bytes<<<1, THREADS>>>(fresh<unsigned char>(THREADS), count);
    truth<<<1, THREADS>>>(WRONG_OR_RIGHT(fresh<bool>(THREADS), device<bool>(THREADS)), count);
    rows_of_a_matrix<<<1, THREADS>>>((double (*)[4])fresh<double>(4 * THREADS), count);
    return finish();
}
