// Values of all sizes and types that loads and stores have, signed and not, alone and as vectors: each counts the same.
#include <warpgrind/transactional.cuh>

#include "stm.h"
#include <cuda_fp16.h>

struct Counters {
    signed char byte;
    unsigned char unsigned_byte;
    short half_word;
    __half half;
    int word;
    float real;
    long long wide;
    double precise;
    uchar4 bytes;
    short2 half_words;
    int2 pair;
    float4 four;
    double2 doubles;
};

__global__ void count(Counters *c, int rounds) {
    for (int round = 0; round < rounds; ++round) {
#ifdef FIXED
        warpgrind::atomically([&](warpgrind::tx &t) {
            t.write(&c->byte, (signed char)(t.read(&c->byte) - 1));
            t.write(&c->unsigned_byte, (unsigned char)(t.read(&c->unsigned_byte) + 1));
            t.write(&c->half_word, (short)(t.read(&c->half_word) - 1));
            t.write(&c->half, __half(t.read(&c->half) + __half(1)));
            t.write(&c->word, t.read(&c->word) + 1);
            t.write(&c->real, t.read(&c->real) + 1);
            t.write(&c->wide, t.read(&c->wide) + 1);
            t.write(&c->precise, t.read(&c->precise) + 1);
            uchar4 b = t.read(&c->bytes);
            t.write(&c->bytes, make_uchar4(b.x + 1, b.y - 1, b.z + 2, b.w));
            short2 h = t.read(&c->half_words);
            t.write(&c->half_words, make_short2(h.x - 1, h.y + 1));
            int2 p = t.read(&c->pair);
            t.write(&c->pair, make_int2(p.x + 1, p.y - 1));
            float4 f = t.read(&c->four);
            t.write(&c->four, make_float4(f.x + 1, f.y - 1, f.z + 2, f.w));
            double2 d = t.read(&c->doubles);
            t.write(&c->doubles, make_double2(d.x + 1, d.y - 1));
        });
#else
        warpgrind::transaction_scope transaction;
        c->byte -= 1;
        c->unsigned_byte += 1;
        c->half_word -= 1;
        c->half = c->half + __half(1);
        c->word += 1;
        c->real += 1;
        c->wide += 1;
        c->precise += 1;
        const uchar4 b = c->bytes;
        c->bytes = make_uchar4(b.x + 1, b.y - 1, b.z + 2, b.w);
        const short2 h = c->half_words;
        c->half_words = make_short2(h.x - 1, h.y + 1);
        const int2 p = c->pair;
        c->pair = make_int2(p.x + 1, p.y - 1);
        const float4 f = c->four;
        c->four = make_float4(f.x + 1, f.y - 1, f.z + 2, f.w);
        const double2 d = c->doubles;
        c->doubles = make_double2(d.x + 1, d.y - 1);
#endif
    }
}

int main() {
    Counters *c = managed<Counters>(1);
    const int times = 2 * 32 * 4;
    count<<<2, 32>>>(c, 4);
    OK(cudaDeviceSynchronize());
    const int byte = times % 256;
    int is_wrong = check(c->byte == (signed char)-byte && c->unsigned_byte == byte, "bytes");
    is_wrong |= check(c->half_word == -times && float(c->half) == times, "half words");
    is_wrong |= check(c->word == times && c->real == times, "words");
    is_wrong |= check(c->wide == times && c->precise == times, "double words");
    is_wrong |= check(c->bytes.x == byte && c->bytes.y == (unsigned char)-byte && c->bytes.z == 2 * times % 256 && c->bytes.w == 0, "four bytes");
    is_wrong |= check(c->half_words.x == -times && c->half_words.y == times, "two half words");
    is_wrong |= check(c->pair.x == times && c->pair.y == -times, "a pair of words");
    is_wrong |= check(c->four.x == times && c->four.y == -times && c->four.z == 2 * times && c->four.w == 0, "four words");
    return is_wrong | check(c->doubles.x == times && c->doubles.y == -times, "a pair of double words");
}
