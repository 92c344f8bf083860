// Transactions for CUDA kernels: memory accesses that take effect together or not at all.
//
//     #include <warpgrind/tx.cuh>
//
//     warpgrind::atomically([&](warpgrind::tx &t) {
//         int have = t.read(&account[from]);
//         if (have < amount) t.abort();
//         t.write(&account[from], have - amount);
//         t.write(&account[to], t.read(&account[to]) + amount);
//     });
//
// `atomically` repeats the body until it has committed, and returns true; it returns false only after `t.abort()`, of
// which nothing remains. A body sees memory as it was at one moment, always: at the first access that cannot be
// reconciled with what it has read, it is left and begins anew. Nothing has to be set up on the host.
//
// Needs C++17 and sm_70 or newer. docs/stm.md has the algorithm, the reason for each fence, and what is not allowed in
// a body.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <cuda_runtime.h>

/// The lock table has 2^WARPGRIND_TX_LOCK_BITS words of 8 bytes. At most 22.
#ifndef WARPGRIND_TX_LOCK_BITS
#define WARPGRIND_TX_LOCK_BITS 20
#endif

// Kernels of several sources share the table where they are linked; in a source that is compiled as a whole program
// it is that source's own.
#if defined(__CUDACC_RDC__) || defined(__CLANG_RDC__)
#define WARPGRIND_TX_VARIABLE inline __device__
#else
#define WARPGRIND_TX_VARIABLE static __device__
#endif

namespace warpgrind {

namespace tx_detail {

using word = unsigned long long;
using u32 = unsigned int;

// A lock word: version (42 bits) | slot of the owner (20) | prelocked (1) | locked (1).
//
// Free:      both bits 0. The version is the tick of the last commit under this lock.
// Prelocked: an older transaction may steal the lock. Readers take no notice.
// Locked:    final, until its owner releases it. With the other bit as well: an irrevocable owner has written.
constexpr word LOCKED = 1;
constexpr word PRELOCKED = 2;
constexpr int OWNER_SHIFT = 2;
constexpr int VERSION_SHIFT = 22;
constexpr word VERSION_MASK = ~word(0) << VERSION_SHIFT;
constexpr word LAST_VERSION = (word(1) << (64 - VERSION_SHIFT)) - 1;

constexpr u32 LOCKS = u32(1) << WARPGRIND_TX_LOCK_BITS;
constexpr u32 SLOTS = u32(1) << (VERSION_SHIFT - OWNER_SHIFT);
constexpr u32 NO_LOCK = ~u32(0);
constexpr u32 NO_SLOT = ~u32(0);
/// The slot of the irrevocable transaction, of which there is one at most.
constexpr u32 IRREVOCABLE_SLOT = SLOTS - 1;
static_assert(LOCKS <= u32(1) << VERSION_SHIFT, "WARPGRIND_TX_LOCK_BITS is at most 22");

/// Bytes under one lock, as a power of two, where no region says otherwise.
constexpr u32 DEFAULT_SHIFT = 3;
/// Rounds for which a transaction waits for a lock before it gives way.
constexpr int PATIENCE = 16;
/// Aborts after which a transaction becomes irrevocable.
constexpr u32 MOST_ABORTS = 16;
/// What an irrevocable transaction can remember to undo and to release; beyond that see `irrevocable_*`.
constexpr u32 UNDO_ENTRIES = 1 << 14;
constexpr u32 MOST_REGIONS = 64;

/// A range of memory with a granularity of its own.
struct region {
    word begin, end;
    u32 shift, unused;
};

/// What an irrevocable transaction has overwritten.
struct undo_entry {
    word address;
    /// The bytes in the high half, how many in the low one.
    word value;
};

/// All that transactions share. Zeros are a valid beginning.
struct shared_state {
    /// Counts commits that have written.
    alignas(128) word clock;
    /// The token of irrevocable transactions, a ticket lock.
    alignas(128) word next_ticket;
    word now_serving;
    alignas(128) region regions[MOST_REGIONS];
    u32 region_count;
    /// What the holder of the token has locked, as version | index; and overwritten.
    alignas(128) word irrevocable_locks[UNDO_ENTRIES];
    undo_entry undo[UNDO_ENTRIES];
    /// The age of the transaction that has a slot, 0 if nobody has: the clock when it began, and its slot, so that no two
    /// are equal. Less is older.
    alignas(128) word ages[SLOTS];
    alignas(128) word locks[LOCKS];
};

WARPGRIND_TX_VARIABLE shared_state state;

// Accesses with an order and a scope. A data word is always accessed with one size, because the axioms of PTX do not
// cover races of different sizes.

__device__ __forceinline__ word load_acquire(const word *p) {
    word value;
    asm volatile("ld.acquire.gpu.b64 %0, [%1];" : "=l"(value) : "l"(p) : "memory");
    return value;
}
__device__ __forceinline__ word load_relaxed(const word *p) {
    word value;
    asm volatile("ld.relaxed.gpu.b64 %0, [%1];" : "=l"(value) : "l"(p) : "memory");
    return value;
}
__device__ __forceinline__ void store_relaxed(word *p, word value) {
    asm volatile("st.relaxed.gpu.b64 [%0], %1;" : : "l"(p), "l"(value) : "memory");
}
__device__ __forceinline__ void store_release(word *p, word value) {
    asm volatile("st.release.gpu.b64 [%0], %1;" : : "l"(p), "l"(value) : "memory");
}
__device__ __forceinline__ word compare_and_swap(word *p, word expected, word desired) {
    word value;
    asm volatile("atom.relaxed.gpu.cas.b64 %0, [%1], %2, %3;"
                 : "=l"(value)
                 : "l"(p), "l"(expected), "l"(desired)
                 : "memory");
    return value;
}
__device__ __forceinline__ word add_relaxed(word *p, word value) {
    word old;
    asm volatile("atom.relaxed.gpu.add.u64 %0, [%1], %2;" : "=l"(old) : "l"(p), "l"(value) : "memory");
    return old;
}
__device__ __forceinline__ word add_acq_rel(word *p, word value) {
    word old;
    asm volatile("atom.acq_rel.gpu.add.u64 %0, [%1], %2;" : "=l"(old) : "l"(p), "l"(value) : "memory");
    return old;
}
__device__ __forceinline__ void fence() { asm volatile("fence.acq_rel.gpu;" : : : "memory"); }

/// Loads 1, 2 or 4 bytes, so that the load of a lock cannot come before it.
template <u32 Size> __device__ __forceinline__ u32 load_data(word address) {
    u32 value;
    if constexpr (Size == 4) {
        asm volatile("ld.acquire.gpu.b32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
    } else if constexpr (Size == 2) {
        asm volatile("ld.acquire.gpu.u16 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
    } else {
        asm volatile("ld.acquire.gpu.u8 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
    }
    return value;
}
__device__ __forceinline__ void store_data(word address, u32 value, u32 size) {
    if (size == 4) {
        asm volatile("st.relaxed.gpu.b32 [%0], %1;" : : "l"(address), "r"(value) : "memory");
    } else if (size == 2) {
        asm volatile("st.relaxed.gpu.u16 [%0], %1;" : : "l"(address), "r"(value) : "memory");
    } else {
        asm volatile("st.relaxed.gpu.u8 [%0], %1;" : : "l"(address), "r"(value) : "memory");
    }
}
__device__ __forceinline__ void sleep(u32 nanoseconds) {
    asm volatile("nanosleep.u32 %0;" : : "r"(nanoseconds) : "memory");
}

/// The region that an address is in, by binary search.
__device__ __noinline__ inline u32 shift_in_region(word address) {
    u32 low = 0, high = state.region_count;
    while (low < high) {
        const u32 middle = (low + high) / 2;
        if (address < state.regions[middle].begin) {
            high = middle;
        } else if (address >= state.regions[middle].end) {
            low = middle + 1;
        } else {
            return state.regions[middle].shift;
        }
    }
    return DEFAULT_SHIFT;
}

/// The lock of an address. Neighbours have neighbouring locks; tables of equal size do not fall on each other.
__device__ __forceinline__ u32 lock_of(word address) {
    const u32 shift = state.region_count == 0 ? DEFAULT_SHIFT : shift_in_region(address);
    const word stripe = address >> shift;
    return u32(stripe ^ (stripe >> WARPGRIND_TX_LOCK_BITS)) & (LOCKS - 1);
}

__device__ __forceinline__ u32 owner(word lock) { return u32(lock >> OWNER_SHIFT) & (SLOTS - 1); }

/// An access as so many units.
template <class Unit, u32 Units> struct units_of {
    using unit = Unit;
    static constexpr u32 units = Units;
};

/// How the bytes of a value are accessed: as words, or as what they are aligned to.
template <class T> struct access_of {
    static_assert(std::is_trivially_copyable<T>::value, "transactions copy values by their bytes");
    static_assert(sizeof(T) <= 16, "a transaction reads and writes at most 16 bytes at once");
    using less_than_a_word = typename std::conditional<alignof(T) == 2, std::uint16_t, std::uint8_t>::type;
    using unit = typename std::conditional<(alignof(T) >= 4), std::uint32_t, less_than_a_word>::type;
    using type = units_of<unit, sizeof(T) / sizeof(unit)>;
};
template <class T> using access = typename access_of<T>::type;

} // namespace tx_detail

/// A transaction by explicit calls. `Reads` and `Writes` are how many locks and how many words it remembers; one that
/// accesses more becomes irrevocable.
///
///     warpgrind::transaction<> t;
///     do {
///         t.begin();
///         if (!t.read(&x, value)) continue;
///         t.write(&x, value + 1);
///     } while (!t.commit());
///
/// After a call that returns false, the attempt is over: begin again, or leave. `commit` then returns false at once.
template <unsigned Reads = 64, unsigned Writes = 32> class transaction {
    using word = tx_detail::word;
    using u32 = tx_detail::u32;

  public:
    __device__ transaction() {}
    transaction(const transaction &) = delete;
    transaction &operator=(const transaction &) = delete;
    __device__ ~transaction() { leave(); }

    /// Begins an attempt, whatever became of the one before.
    __device__ __forceinline__ void begin() {
        using namespace tx_detail;
        if (is_irrevocable) abort();
        reads = writes = 0;
        written_filter = 0;
        is_over = false;
        if (aborts >= MOST_ABORTS || is_full) {
            become_irrevocable();
            return;
        }
        snapshot = load_acquire(&state.clock);
        if (aborts == 0) first_snapshot = snapshot;
    }

    /// Reads a value; false if that is not possible together with what was read before.
    template <class T> __device__ __forceinline__ bool read(const volatile T *p, T &value) {
        using namespace tx_detail;
        using how = access<T>;
        if (is_over) return false;
        typename how::unit units[how::units];
        if (!read_units<how>(reinterpret_cast<word>(p), units)) return false;
        memcpy(&value, units, sizeof(T));
        return true;
    }

    /// Writes a value when the transaction commits; false if the attempt is over.
    template <class T>
    __device__ __forceinline__ bool write(volatile T *p, const typename std::enable_if<true, T>::type &value) {
        using namespace tx_detail;
        using how = access<T>;
        if (is_over) return false;
        typename how::unit units[how::units];
        memcpy(units, &value, sizeof(T));
        return write_units<how>(reinterpret_cast<word>(p), units);
    }

    /// Whether all that was read is still as it was; if not, the attempt is over.
    __device__ __forceinline__ bool validate() { return !is_over && (is_irrevocable || extend()); }

    /// Makes all writes visible at once; false if that is not possible.
    __device__ __noinline__ bool commit() {
        using namespace tx_detail;
        if (is_over) return false;
        if (is_irrevocable) {
            irrevocable_release();
        } else if (writes != 0 && !commit_writes()) {
            return false;
        }
        leave();
        is_over = true;
        return true;
    }

    /// Ends the attempt; nothing of it remains.
    __device__ __noinline__ void abort() {
        using namespace tx_detail;
        if (is_irrevocable) {
            if (undo_count > UNDO_ENTRIES) __trap();
            for (u32 i = undo_count; i-- > 0;) {
                const word value = load_relaxed(&state.undo[i].value);
                store_data(load_relaxed(&state.undo[i].address), u32(value >> 32), u32(value));
            }
            irrevocable_release();
        }
        leave();
        is_over = true;
    }

    /// Which attempt this is, from 1.
    __device__ u32 attempt() const { return aborts + 1; }

    /// Whether this attempt cannot fail.
    __device__ bool irrevocable() const { return is_irrevocable; }

  private:
    // Reading: the lock, the value, the lock again.

    template <class How> __device__ __noinline__ bool read_units(word address, typename How::unit *units) {
        using namespace tx_detail;
        constexpr u32 size = sizeof(typename How::unit);
        u32 lock = NO_LOCK;
        word before = 0;
        for (u32 i = 0; i < How::units; ++i) {
            const word at = address + i * size;
            const u32 own = find(at & ~word(3));
            u32 value = 0;
            if (!is_written<size>(own, at)) {
                const u32 next = lock_of(at);
                if (is_irrevocable) {
                    irrevocable_lock(next);
                } else if (next != lock) {
                    if (lock != NO_LOCK && !end_read(lock, before)) return false;
                    lock = next;
                    if (!begin_read(lock, before)) return false;
                }
                value = load_data<size>(at);
            }
            if (own != writes) value = merge<size>(own, at, value);
            units[i] = static_cast<typename How::unit>(value);
        }
        return lock == NO_LOCK || end_read(lock, before);
    }

    /// Waits until a lock is not locked.
    __device__ __forceinline__ bool begin_read(u32 lock, word &before) {
        using namespace tx_detail;
        for (int round = 0;; ++round) {
            before = load_acquire(&state.locks[lock]);
            if (!(before & LOCKED)) return true;
            if (round == PATIENCE) return fail();
        }
    }

    /// Whether nobody has written since `begin_read`, and what was read belongs to the snapshot.
    __device__ __forceinline__ bool end_read(u32 lock, word before) {
        using namespace tx_detail;
        const word after = load_relaxed(&state.locks[lock]);
        if ((after & LOCKED) || (after & VERSION_MASK) != (before & VERSION_MASK)) return fail();
        const word entry = (before & VERSION_MASK) | lock;
        const u32 count = reads;
        if (count == 0 || read_set[count - 1] != entry) {
            if (count == Reads) return overflow();
            read_set[count] = entry;
            reads = count + 1;
        }
        return before >> VERSION_SHIFT <= snapshot || extend();
    }

    /// Moves the snapshot to now, if all that was read is as it was.
    __device__ __noinline__ bool extend() {
        using namespace tx_detail;
        const word now = load_acquire(&state.clock);
        const u32 count = reads;
        for (u32 i = 0; i < count; ++i) {
            const word entry = read_set[i];
            const word lock = load_relaxed(&state.locks[index(entry)]);
            if ((lock & LOCKED) || (lock & VERSION_MASK) != (entry & VERSION_MASK)) return fail();
        }
        snapshot = now;
        return true;
    }

    // Writing: words with masks of bytes, which memory gets when the transaction commits.

    template <class How> __device__ __noinline__ bool write_units(word address, const typename How::unit *units) {
        constexpr u32 size = sizeof(typename How::unit);
        for (u32 i = 0; i < How::units; ++i) {
            if (is_irrevocable) {
                irrevocable_write<size>(address + i * size, units[i]);
            } else if (!log_write<size>(address + i * size, units[i])) {
                return false;
            }
        }
        return true;
    }

    /// Has a bit of the word at `address`.
    __device__ __forceinline__ static word filter_bit(word address) {
        return word(1) << ((address >> 2 ^ address >> 8) & 63);
    }

    /// The entry for the word at `address`, or `writes`.
    __device__ __forceinline__ u32 find(word address) const {
        if (!(written_filter & filter_bit(address))) return writes;
        u32 i = 0;
        while (i < writes && write_address[i] != address) ++i;
        return i;
    }

    /// Where in its word a unit begins, in bits.
    template <u32 Size> __device__ __forceinline__ static u32 shift_of(word at) {
        return Size == 4 ? 0 : 8 * u32(at & 3);
    }

    /// Which bytes of its word a unit has.
    template <u32 Size> __device__ __forceinline__ static u32 mask_of(word at) {
        return Size == 4 ? 15 : ((u32(1) << Size) - 1) << (at & 3);
    }

    /// Whether the transaction itself has written all bytes of a unit.
    template <u32 Size> __device__ __forceinline__ bool is_written(u32 i, word at) const {
        return i != writes && (write_mask[i] & mask_of<Size>(at)) == mask_of<Size>(at);
    }

    /// A unit with the bytes that the transaction itself has written.
    template <u32 Size> __device__ __forceinline__ u32 merge(u32 i, word at, u32 unit) const {
        const u32 bytes = bytes_of(write_mask[i]) >> shift_of<Size>(at);
        return (unit & ~bytes) | (write_value[i] >> shift_of<Size>(at) & bytes);
    }

    template <u32 Size> __device__ __forceinline__ bool log_write(word at, u32 unit) {
        const word address = at & ~word(3);
        const u32 i = find(address);
        if (i == writes) {
            if (writes == Writes) return overflow();
            write_address[i] = address;
            write_value[i] = 0;
            write_mask[i] = 0;
            write_unit[i] = Size;
            written_filter |= filter_bit(address);
            ++writes;
        }
        const u32 mask = mask_of<Size>(at);
        write_value[i] = (write_value[i] & ~bytes_of(mask)) | unit << shift_of<Size>(at);
        write_mask[i] |= mask;
        if (Size < write_unit[i]) write_unit[i] = Size;
        return true;
    }

    /// A mask of four bytes as a mask of 32 bits.
    __device__ __forceinline__ static u32 bytes_of(u32 mask) {
        return (mask & 1 ? 0xffu : 0) | (mask & 2 ? 0xff00u : 0) | (mask & 4 ? 0xff0000u : 0) |
               (mask & 8 ? 0xff000000u : 0);
    }

    // Committing.

    __device__ __forceinline__ bool commit_writes() {
        using namespace tx_detail;
        take_slot();
        // In registers: accesses with an order make the compiler read members again.
        const u32 words = writes;
        const word me = word(slot) << OWNER_SHIFT;
        u32 taken = 0;
        for (u32 i = 0; i < words; ++i) {
            const u32 lock = lock_of(write_address[i]);
            if (holds(lock, taken)) continue;
            word version;
            if (!prelock(lock, me, version)) return fail(taken, 0);
            held_set[taken++] = version | lock;
        }
        for (u32 i = 0; i < taken; ++i) {
            const word entry = held_set[i];
            const word prelocked = (entry & VERSION_MASK) | me | PRELOCKED;
            // Stolen, by an older transaction.
            if (compare_and_swap(&state.locks[index(entry)], prelocked, prelocked ^ PRELOCKED ^ LOCKED) != prelocked) {
                return fail(taken, i);
            }
        }
        const word tick = next_tick();
        if (!is_unchanged(taken)) return fail(taken, taken);
        // A reader that sees one of the values below also sees the lock.
        fence();
        for (u32 i = 0; i < words; ++i) store_unit(i);
        // One that sees the lock free also sees the values.
        fence();
        for (u32 i = 0; i < taken; ++i) store_relaxed(&state.locks[index(held_set[i])], tick << VERSION_SHIFT);
        return true;
    }

    /// Whether a lock is among those that were taken so far.
    __device__ __forceinline__ bool holds(u32 lock, u32 taken) const {
        for (u32 i = 0; i < taken; ++i) {
            if (index(held_set[i]) == lock) return true;
        }
        return false;
    }

    /// Gets a lock that is free, or that a younger transaction may still lose, and its version.
    __device__ __forceinline__ bool prelock(u32 lock, word me, word &version) {
        using namespace tx_detail;
        for (int round = 0;;) {
            const word seen = load_relaxed(&state.locks[lock]);
            if (seen & LOCKED) {
                if (++round > PATIENCE) return false;
                continue;
            }
            if ((seen & PRELOCKED) && is_older(owner(seen))) return false;
            version = seen & VERSION_MASK;
            if (compare_and_swap(&state.locks[lock], seen, version | me | PRELOCKED) == seen) return true;
        }
    }

    /// Whether all that was read is as it was, also under locks of others that will be released with a newer version.
    __device__ __forceinline__ bool is_unchanged(u32 taken) {
        using namespace tx_detail;
        const u32 count = reads;
        for (u32 i = 0; i < count; ++i) {
            const word entry = read_set[i];
            for (int round = 0;;) {
                const word lock = load_relaxed(&state.locks[index(entry)]);
                // Whether it is locked by this transaction is not asked of the owner's slot: what is seen may be from
                // before the slot was taken.
                if ((lock & LOCKED) && !holds(index(entry), taken)) {
                    if (is_older(owner(lock)) || ++round > PATIENCE) return false;
                    continue;
                }
                if ((lock & VERSION_MASK) != (entry & VERSION_MASK)) return false;
                break;
            }
        }
        return true;
    }

    __device__ __forceinline__ void store_unit(u32 i) {
        using namespace tx_detail;
        const u32 size = write_unit[i];
        if (size == 4) {
            store_data(write_address[i], write_value[i], 4);
            return;
        }
        for (u32 byte = 0; byte < 4; byte += size) {
            if (write_mask[i] >> byte & 1) store_data(write_address[i] + byte, write_value[i] >> (8 * byte), size);
        }
    }

    /// The next tick of the clock, which never begins anew: a version means one commit.
    __device__ __forceinline__ static word next_tick() {
        using namespace tx_detail;
        const word tick = add_acq_rel(&state.clock, 1) + 1;
        if (tick >= LAST_VERSION) __trap();
        return tick;
    }

    __device__ __forceinline__ bool is_older(u32 other) const {
        using namespace tx_detail;
        if (other == IRREVOCABLE_SLOT) return true;
        const word theirs = load_relaxed(&state.ages[other]);
        return theirs != 0 && theirs < age;
    }

    /// Gives locks back as they were: of those that were taken, the first few are locked. Memory is untouched, so nothing
    /// else is to be undone.
    __device__ __noinline__ bool fail(u32 taken, u32 locked) {
        using namespace tx_detail;
        const word me = word(slot) << OWNER_SHIFT;
        for (u32 i = 0; i < taken; ++i) {
            const word version = held_set[i] & VERSION_MASK;
            word *const lock = &state.locks[index(held_set[i])];
            if (i < locked) {
                store_relaxed(lock, version);
            } else {
                compare_and_swap(lock, version | me | PRELOCKED, version);
            }
        }
        return fail();
    }

    /// Ends an attempt that holds nothing.
    __device__ __forceinline__ bool fail() {
        ++aborts;
        is_over = true;
        return false;
    }

    __device__ __forceinline__ bool overflow() {
        is_full = true;
        return fail();
    }

    // Irrevocable: one transaction at a time locks what it accesses when it accesses it, waits for the locks of all
    // others, and writes in place. Nobody waits for it while holding what is locked, so it always ends.

    __device__ __noinline__ void become_irrevocable() {
        using namespace tx_detail;
        give_slot_back();
        const word ticket = add_relaxed(&state.next_ticket, 1);
        while (load_acquire(&state.now_serving) != ticket) sleep(200);
        is_irrevocable = true;
        undo_count = irrevocable_held = 0;
    }

    __device__ __noinline__ void irrevocable_lock(u32 lock) {
        using namespace tx_detail;
        const word me = word(IRREVOCABLE_SLOT) << OWNER_SHIFT;
        for (;;) {
            const word seen = load_relaxed(&state.locks[lock]);
            if (seen & LOCKED) {
                if (owner(seen) == IRREVOCABLE_SLOT) return;
                sleep(100);
                continue;
            }
            if (compare_and_swap(&state.locks[lock], seen, (seen & VERSION_MASK) | me | LOCKED) == seen) break;
        }
        if (irrevocable_held < UNDO_ENTRIES) store_relaxed(&state.irrevocable_locks[irrevocable_held], lock);
        ++irrevocable_held;
        // What is read from here on is what the lock was released with, and a reader that sees what is written from here
        // on also sees the lock.
        fence();
    }

    template <u32 Size> __device__ __noinline__ void irrevocable_write(word at, u32 unit) {
        using namespace tx_detail;
        const u32 lock = lock_of(at);
        irrevocable_lock(lock);
        store_relaxed(&state.locks[lock], load_relaxed(&state.locks[lock]) | PRELOCKED);
        if (undo_count < UNDO_ENTRIES) {
            store_relaxed(&state.undo[undo_count].address, at);
            store_relaxed(&state.undo[undo_count].value, word(load_data<Size>(at)) << 32 | Size);
        }
        ++undo_count;
        store_data(at, unit, Size);
    }

    /// Releases all locks, those of written data with a new version, and the token.
    __device__ __noinline__ void irrevocable_release() {
        using namespace tx_detail;
        const word tick = next_tick();
        fence();
        if (irrevocable_held <= UNDO_ENTRIES) {
            for (u32 i = 0; i < irrevocable_held; ++i) {
                irrevocable_unlock(u32(load_relaxed(&state.irrevocable_locks[i])), tick);
            }
        } else {
            for (u32 i = 0; i < LOCKS; ++i) irrevocable_unlock(i, tick);
        }
        is_irrevocable = false;
        store_release(&state.now_serving, load_relaxed(&state.now_serving) + 1);
    }

    __device__ __forceinline__ void irrevocable_unlock(u32 lock, word tick) {
        using namespace tx_detail;
        const word seen = load_relaxed(&state.locks[lock]);
        if (!(seen & LOCKED) || owner(seen) != IRREVOCABLE_SLOT) return;
        store_relaxed(&state.locks[lock], seen & PRELOCKED ? tick << VERSION_SHIFT : seen & VERSION_MASK);
    }

    // Slots: a number that no other transaction has at the same time. Threads have no such number of their own.

    __device__ __forceinline__ void take_slot() {
        using namespace tx_detail;
        if (slot != NO_SLOT) return;
        const word oldest_of_snapshot = (first_snapshot << (VERSION_SHIFT - OWNER_SHIFT)) + 1;
        const u32 block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
        const u32 thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
        u32 candidate = (block * (blockDim.x * blockDim.y * blockDim.z) + thread) % IRREVOCABLE_SLOT;
        while (compare_and_swap(&state.ages[candidate], 0, oldest_of_snapshot + candidate) != 0) {
            candidate = (candidate + 1) % IRREVOCABLE_SLOT;
        }
        slot = candidate;
        age = oldest_of_snapshot + candidate;
    }

    __device__ __forceinline__ void give_slot_back() {
        using namespace tx_detail;
        if (slot == NO_SLOT) return;
        store_relaxed(&state.ages[slot], 0);
        slot = NO_SLOT;
    }

    __device__ __forceinline__ void leave() {
        give_slot_back();
        aborts = 0;
        is_full = false;
    }

    __device__ __forceinline__ static u32 index(word entry) { return u32(entry) & (tx_detail::LOCKS - 1); }

    word snapshot = 0, first_snapshot = 0, age = 0;
    word written_filter = 0;
    u32 reads = 0, writes = 0;
    u32 slot = tx_detail::NO_SLOT;
    u32 aborts = 0;
    u32 undo_count = 0, irrevocable_held = 0;
    bool is_over = true, is_full = false, is_irrevocable = false;

    word read_set[Reads];
    word held_set[Writes];
    word write_address[Writes];
    u32 write_value[Writes];
    unsigned char write_mask[Writes], write_unit[Writes];
};

// Leaves the function around it, which is the body of a transaction: there are no exceptions in kernels.
#define WARPGRIND_TX_LEAVE asm volatile("ret;" : : : "memory")

/// What a body accesses memory by.
template <unsigned Reads, unsigned Writes> class basic_tx {
  public:
    __device__ explicit basic_tx(transaction<Reads, Writes> &inner) : inner(inner) {}
    basic_tx(const basic_tx &) = delete;
    basic_tx &operator=(const basic_tx &) = delete;

    /// The value at `p`. Leaves the body if there is none that goes with what was read before.
    template <class T> __device__ __forceinline__ T read(const volatile T *p) {
        T value;
        if (!inner.read(p, value)) WARPGRIND_TX_LEAVE;
        return value;
    }

    /// Writes a value when the transaction commits.
    template <class T>
    __device__ __forceinline__ void write(volatile T *p, const typename std::enable_if<true, T>::type &value) {
        if (!inner.write(p, value)) WARPGRIND_TX_LEAVE;
    }

    /// Leaves the body; nothing of it remains, and `atomically` returns false.
    __device__ __forceinline__ void abort() {
        is_given_up = true;
        WARPGRIND_TX_LEAVE;
    }

    /// Leaves the body, to begin anew, if what was read has changed.
    __device__ __forceinline__ void validate() {
        if (!inner.validate()) WARPGRIND_TX_LEAVE;
    }

    /// Which attempt this is, from 1.
    __device__ unsigned attempt() const { return inner.attempt(); }

    /// Whether this attempt cannot fail.
    __device__ bool irrevocable() const { return inner.irrevocable(); }

  private:
    template <unsigned R, unsigned W, class Body> friend __device__ bool atomically(Body &&body);
    transaction<Reads, Writes> &inner;
    bool is_given_up = false;
};

/// What bodies name.
using tx = basic_tx<64, 32>;

namespace tx_detail {

/// A function of its own, because `WARPGRIND_TX_LEAVE` leaves it.
template <class Body, class Tx> __device__ __noinline__ void run_body(Body &body, Tx &t) { body(t); }

} // namespace tx_detail

/// Runs a body as one transaction; see above. `Reads` and `Writes` are those of `transaction`.
template <unsigned Reads = 64, unsigned Writes = 32, class Body> __device__ bool atomically(Body &&body) {
    transaction<Reads, Writes> inner;
    for (;;) {
        inner.begin();
        basic_tx<Reads, Writes> t(inner);
        tx_detail::run_body(body, t);
        if (t.is_given_up) {
            inner.abort();
            return false;
        }
        if (inner.commit()) return true;
    }
}

/// Sets how many bytes of a range of memory are under one lock, a power of two from 4; 8 where nothing is said. Ranges
/// do not overlap, there are at most 64, and no transaction runs meanwhile.
inline cudaError_t set_granularity(const void *begin, std::size_t bytes, unsigned bytes_per_lock) {
    using namespace tx_detail;
    if (bytes_per_lock < 4 || (bytes_per_lock & (bytes_per_lock - 1)) != 0) return cudaErrorInvalidValue;
    static shared_state *address = nullptr;
    if (address == nullptr) {
        void *symbol = nullptr;
        if (cudaError_t error = cudaGetSymbolAddress(&symbol, state)) return error;
        address = static_cast<shared_state *>(symbol);
    }
    region regions[MOST_REGIONS + 1];
    u32 count = 0;
    if (cudaError_t error = cudaMemcpy(&count, &address->region_count, sizeof count, cudaMemcpyDeviceToHost)) {
        return error;
    }
    if (cudaError_t error = cudaMemcpy(regions, address->regions, count * sizeof(region), cudaMemcpyDeviceToHost)) {
        return error;
    }
    region added = {reinterpret_cast<word>(begin), reinterpret_cast<word>(begin) + bytes, 0, 0};
    while (1u << added.shift < bytes_per_lock) ++added.shift;
    u32 at = 0;
    while (at < count && regions[at].end <= added.begin) ++at;
    if (at < count && regions[at].begin == added.begin && regions[at].end == added.end) {
        regions[at] = added;
    } else if (count == MOST_REGIONS || (at < count && regions[at].begin < added.end)) {
        return cudaErrorInvalidValue;
    } else {
        for (u32 i = count; i > at; --i) regions[i] = regions[i - 1];
        regions[at] = added;
        ++count;
    }
    if (cudaError_t error = cudaMemcpy(address->regions, regions, count * sizeof(region), cudaMemcpyHostToDevice)) {
        return error;
    }
    return cudaMemcpy(&address->region_count, &count, sizeof count, cudaMemcpyHostToDevice);
}

} // namespace warpgrind
