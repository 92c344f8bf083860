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

/// A version, and in the lowest bit whether it is locked. What the two below share: logs of reads.
struct VersionedLocks {
    const int *read_address[MOST];
    int read_value[MOST];
    unsigned read_version[MOST];
    int reads;
    bool is_over;

    __device__ static unsigned *word(const int *p) { return &locks[lock_of(p)]; }
    __device__ static unsigned seen(const int *p) { return *(volatile unsigned *)word(p); }

    /// Reads what nobody has locked.
    __device__ bool log_read(const int *p, int &value) {
        const unsigned version = seen(p);
        if (version & 1) return false;
        __threadfence();
        value = *(const volatile int *)p;
        read_address[reads] = p;
        read_value[reads] = value;
        read_version[reads++] = version;
        return true;
    }
};

/// GPU-STM: words are written at the end, under locks that are taken in the order of their numbers; a read is valid if its
/// version is the same, or its value.
struct SortedLocks : VersionedLocks {
    int *write_address[MOST];
    int write_value[MOST];
    unsigned taken[MOST];
    int writes, count;

    __device__ void begin(int *const *, int) {
        reads = writes = count = 0;
        is_over = false;
    }
    __device__ bool read(const int *p, int &value) {
        if (is_over) return false;
        for (int i = 0; i < writes; i++) {
            if (write_address[i] == p) {
                value = write_value[i];
                return true;
            }
        }
        is_over = !log_read(p, value);
        return !is_over;
    }
    __device__ bool write(int *p, int value) {
        if (is_over) return false;
        int at = 0;
        while (at < writes && write_address[at] != p) at++;
        write_address[at] = p;
        write_value[at] = value;
        if (at < writes) return true;
        writes++;
        // Sorted when they are met.
        const unsigned next = lock_of(p);
        for (int i = 0; i < count; i++) {
            if (taken[i] == next) return true;
        }
        for (at = count++; at > 0 && taken[at - 1] > next; at--) taken[at] = taken[at - 1];
        taken[at] = next;
        return true;
    }
    __device__ bool commit() {
        if (is_over) return false;
        for (int i = 0; i < count; i++) {
            for (;;) {
                const unsigned version = *(volatile unsigned *)&locks[taken[i]];
                if (!(version & 1) && atomicCAS(&locks[taken[i]], version, version | 1) == version) break;
                __nanosleep(20);
            }
        }
        __threadfence();
        bool is_valid = true;
        for (int i = 0; i < reads && is_valid; i++) {
            const unsigned version = seen(read_address[i]);
            bool is_mine = false;
            for (int j = 0; j < count; j++) is_mine |= taken[j] == lock_of(read_address[i]);
            is_valid = (version & ~1u) == read_version[i] && (is_mine || !(version & 1));
            if (!is_valid && (is_mine || !(version & 1))) is_valid = *(const volatile int *)read_address[i] == read_value[i];
        }
        for (int i = 0; i < writes && is_valid; i++) *(volatile int *)write_address[i] = write_value[i];
        __threadfence();
        for (int i = 0; i < count; i++) atomicAdd(&locks[taken[i]], is_valid ? 1u : ~0u);
        is_over = true;
        return is_valid;
    }
};

/// Lightweight STM with invisible reads: a write locks its word at once and goes to memory, with an undo log. A read is valid
/// if its version is the same (ISTM), or also if its value is (ESTM, `ByValue`). Who fails waits twice as long each time.
template <bool ByValue> struct UndoLog : VersionedLocks {
    int *write_address[MOST];
    int old_value[MOST];
    int writes, failures = 0;

    __device__ void begin(int *const *, int) {
        for (int i = 0; failures > 0 && i < 1 << (failures < 10 ? failures : 10); i++) __nanosleep(20);
        reads = writes = 0;
        is_over = false;
    }
    __device__ bool is_mine(const int *p) const {
        for (int i = 0; i < writes; i++) {
            if (lock_of(write_address[i]) == lock_of(p)) return true;
        }
        return false;
    }
    __device__ bool read(const int *p, int &value) {
        if (is_over) return false;
        if (is_mine(p)) {
            value = *(const volatile int *)p;
            return true;
        }
        return log_read(p, value) || fail();
    }
    __device__ bool write(int *p, int value) {
        if (is_over) return false;
        if (!is_mine(p)) {
            const unsigned version = seen(p);
            if ((version & 1) || atomicCAS(word(p), version, version | 1) != version) return fail();
            __threadfence();
        }
        write_address[writes] = p;
        old_value[writes++] = *(volatile int *)p;
        *(volatile int *)p = value;
        return true;
    }
    __device__ bool commit() {
        if (is_over) return false;
        for (int i = 0; i < reads; i++) {
            const unsigned version = seen(read_address[i]);
            const bool mine = is_mine(read_address[i]);
            if ((version & ~1u) == read_version[i] && (mine || !(version & 1))) continue;
            if (ByValue && !mine && !(version & 1) && *(const volatile int *)read_address[i] == read_value[i]) continue;
            return fail();
        }
        release();
        failures = 0;
        return true;
    }

  private:
    /// With new versions, because others may have seen what was written.
    __device__ void release() {
        __threadfence();
        for (int i = 0; i < writes; i++) {
            bool is_first = true;
            for (int j = 0; j < i; j++) is_first &= lock_of(write_address[j]) != lock_of(write_address[i]);
            if (is_first) atomicAdd(word(write_address[i]), 1);
        }
    }
    __device__ bool fail() {
        for (int i = writes; i-- > 0;) *(volatile int *)write_address[i] = old_value[i];
        release();
        failures++;
        is_over = true;
        return false;
    }
};

using EagerUndo = UndoLog<true>;
using InvisibleUndo = UndoLog<false>;

/// Lightweight STM for programs that write what they read (PSTM): reads and writes own their words; who meets an owner fails.
struct OwnedWords {
    int *address[MOST];
    int old_value[MOST];
    unsigned owned[MOST];
    int writes, count, failures = 0;
    bool is_over;

    __device__ void begin(int *const *, int) {
        for (int i = 0; failures > 0 && i < 1 << (failures < 10 ? failures : 10); i++) __nanosleep(20);
        writes = count = 0;
        is_over = false;
    }
    __device__ bool own(const int *p) {
        if (is_over) return false;
        const unsigned me = blockIdx.x * blockDim.x + threadIdx.x + 1, lock = lock_of(p);
        const unsigned owner = atomicCAS(&locks[lock], 0, me);
        __threadfence();
        if (owner == 0) owned[count++] = lock;
        return owner == 0 || owner == me || fail();
    }
    __device__ bool read(const int *p, int &value) {
        if (!own(p)) return false;
        value = *(const volatile int *)p;
        return true;
    }
    __device__ bool write(int *p, int value) {
        if (!own(p)) return false;
        address[writes] = p;
        old_value[writes++] = *(volatile int *)p;
        *(volatile int *)p = value;
        return true;
    }
    __device__ bool commit() {
        if (is_over) return false;
        release();
        failures = 0;
        return true;
    }

  private:
    __device__ void release() {
        __threadfence();
        for (int i = 0; i < count; i++) atomicExch(&locks[owned[i]], 0);
    }
    __device__ bool fail() {
        for (int i = writes; i-- > 0;) *(volatile int *)address[i] = old_value[i];
        release();
        failures++;
        is_over = true;
        return false;
    }
};

/// Ours.
struct Warpgrind {
    warpgrind::transaction<16, 16> inner;
    __device__ void begin(int *const *, int) { inner.begin(); }
    __device__ bool read(const int *p, int &value) { return inner.read(p, value); }
    __device__ bool write(int *p, int value) { return inner.write(p, value); }
    __device__ bool commit() { return inner.commit(); }
};
