// Transactions by locks, by the algorithms of others, and by ours, behind one set of calls:
//
//     begin(keys, count)   with the addresses that will be accessed, which only ordered locks need
//     read(p, value), write(p, value), commit()   false if the attempt has failed
//
// All are for words of 32 bits, as the published ones are.
#pragma once

#include <warpgrind/tx.cuh>

const unsigned LOCKS = 1 << 20;
const int MOST = 16;

__device__ unsigned locks[LOCKS];

__device__ inline unsigned lock_of(const int *p) { return (unsigned)((unsigned long long)p >> 2) & (LOCKS - 1); }

__device__ inline void lock(unsigned *word) {
    while (atomicCAS(word, 0, 1) != 0) __nanosleep(20);
    __threadfence();
}

__device__ inline void unlock(unsigned *word) {
    __threadfence();
    atomicExch(word, 0);
}

/// One lock for everything.
struct GlobalLock {
    __device__ void begin(int *const *, int) { lock(&locks[0]); }
    __device__ bool read(const int *p, int &value) {
        value = *(const volatile int *)p;
        return true;
    }
    __device__ bool write(int *p, int value) {
        *(volatile int *)p = value;
        return true;
    }
    __device__ bool commit() {
        unlock(&locks[0]);
        return true;
    }
};

/// A lock for each word, taken in the order of their numbers: the sets must be known beforehand.
struct OrderedLocks {
    unsigned taken[MOST];
    int count;
    __device__ void begin(int *const *keys, int keys_count) {
        count = 0;
        for (int i = 0; i < keys_count; i++) {
            unsigned next = lock_of(keys[i]);
            int at = count;
            bool is_there = false;
            for (int j = 0; j < count; j++) is_there |= taken[j] == next;
            if (is_there) continue;
            while (at > 0 && taken[at - 1] > next) {
                taken[at] = taken[at - 1];
                at--;
            }
            taken[at] = next;
            count++;
        }
        for (int i = 0; i < count; i++) lock(&locks[taken[i]]);
    }
    __device__ bool read(const int *p, int &value) {
        value = *(const volatile int *)p;
        return true;
    }
    __device__ bool write(int *p, int value) {
        *(volatile int *)p = value;
        return true;
    }
    __device__ bool commit() {
        for (int i = 0; i < count; i++) unlock(&locks[taken[i]]);
        return true;
    }
};

/// Priority-rule STM: the word of a lock is version (11 bits), priority of the owner (19), prelocked and locked, and the
/// number of a thread is its priority. `ValidatesFirst` is as published by its authors' later code, which validates reads
/// before it locks; without, as in section 4 of the thesis that this project started from, which prelocks, validates, locks.
template <bool ValidatesFirst> struct PriorityRule {
    static constexpr unsigned LOCKED = 1, PRELOCKED = 2, OWNER = 0x7ffff, VERSION_SHIFT = 21;
    const int *read_address[MOST];
    unsigned read_version[MOST];
    int *write_address[MOST];
    int write_value[MOST];
    unsigned write_version[MOST];
    int reads, writes, prelocked, locked;
    bool is_over;

    __device__ static unsigned me() { return (blockIdx.x * blockDim.x + threadIdx.x) & OWNER; }
    __device__ static unsigned seen(const int *p) { return *(volatile unsigned *)&locks[lock_of(p)]; }

    __device__ void begin(int *const *, int) {
        reads = writes = prelocked = locked = 0;
        is_over = false;
    }
    __device__ bool read(const int *p, int &value) {
        if (is_over || (seen(p) & LOCKED)) return fail();
        for (int i = 0; i < writes; i++) {
            if (write_address[i] == p) {
                value = write_value[i];
                return true;
            }
        }
        if (ValidatesFirst) {
            const unsigned version = seen(p) >> VERSION_SHIFT;
            value = *(const volatile int *)p;
            read_version[reads] = version;
        } else {
            // The value first, and then the version that it is taken to have.
            value = *(const volatile int *)p;
            read_version[reads] = seen(p) >> VERSION_SHIFT;
        }
        read_address[reads++] = p;
        return true;
    }
    __device__ bool write(int *p, int value) {
        const unsigned word = seen(p);
        if (is_over || (word & LOCKED)) return fail();
        for (int i = 0; i < writes; i++) {
            if (write_address[i] == p) {
                write_value[i] = value;
                return true;
            }
        }
        write_address[writes] = p;
        write_value[writes] = value;
        write_version[writes++] = word >> VERSION_SHIFT;
        return true;
    }
    __device__ bool commit() {
        if (is_over) return false;
        if (ValidatesFirst && !validate()) return fail();
        for (int i = 0; i < writes; i++) {
            for (;;) {
                const unsigned word = seen(write_address[i]);
                if (word >> VERSION_SHIFT != write_version[i] || (word & LOCKED)) return fail();
                if ((word & PRELOCKED) && (word >> 2 & OWNER) < me()) return fail();
                if (atomicCAS(&locks[lock_of(write_address[i])], word, mine(i)) == word) break;
            }
            prelocked = i + 1;
        }
        if (!ValidatesFirst && !validate()) return fail();
        for (int i = 0; i < writes; i++) {
            if (atomicCAS(&locks[lock_of(write_address[i])], mine(i), mine(i) | LOCKED) != mine(i)) return fail();
            locked = i + 1;
        }
        for (int i = 0; i < writes; i++) *(volatile int *)write_address[i] = write_value[i];
        __threadfence();
        for (int i = 0; i < writes; i++) {
            atomicExch(&locks[lock_of(write_address[i])], (write_version[i] + 1) << VERSION_SHIFT);
        }
        return true;
    }

  private:
    __device__ unsigned mine(int i) const { return write_version[i] << VERSION_SHIFT | me() << 2 | PRELOCKED; }
    __device__ bool validate() const {
        for (int i = 0; i < reads; i++) {
            if (seen(read_address[i]) >> VERSION_SHIFT != read_version[i]) return false;
        }
        return true;
    }
    __device__ bool fail() {
        for (int i = 0; i < prelocked; i++) {
            unsigned *word = &locks[lock_of(write_address[i])];
            const unsigned version = write_version[i] << VERSION_SHIFT;
            if (i < locked) {
                atomicExch(word, version);
            } else {
                atomicCAS(word, mine(i), version);
            }
        }
        prelocked = locked = 0;
        is_over = true;
        return false;
    }
};

using PublishedPriorityRule = PriorityRule<true>;
using Seed = PriorityRule<false>;

/// Ours.
struct Warpgrind {
    warpgrind::transaction<16, 16> inner;
    __device__ void begin(int *const *, int) { inner.begin(); }
    __device__ bool read(const int *p, int &value) { return inner.read(p, value); }
    __device__ bool write(int *p, int value) { return inner.write(p, value); }
    __device__ bool commit() { return inner.commit(); }
};
