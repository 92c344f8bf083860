// Automatic transactions: kernels mark where a transaction begins and ends, and `warpgrind stm` makes the code between a
// transaction of tx.cuh.
//
//     #include <warpgrind/transactional.cuh>
//
//     {
//         warpgrind::transaction_scope transaction;
//         if (account[from] >= amount) {
//             account[from] -= amount;
//             account[to] += amount;
//         }
//     }
//
// Without `warpgrind stm` the marks are nothing: no instruction is executed for them, and threads race in the code between.
// A program that must be right on its own uses `atomically` of tx.cuh. Both share one table of locks, so that a kernel may
// have both. docs/stm.md has what can be between the marks.
#pragma once

#include <new>

#include <warpgrind/tx.cuh>

namespace warpgrind {

// A mark is a `mov` to a register that nobody reads, so the assembler removes it; accesses to memory do not pass it. The value
// is how many bytes a transaction has.

/// A transaction begins here. It ends at the next `transaction_end` on every way, in the same function.
__device__ __forceinline__ void transaction_begin() {
    asm volatile("{ .reg .b32 warpgrind_transaction_begin; mov.b32 warpgrind_transaction_begin, %0; }"
                 :
                 : "n"(sizeof(transaction<>))
                 : "memory");
}

/// The transaction ends here, and all that it wrote is seen by others at once.
__device__ __forceinline__ void transaction_end() {
    asm volatile("{ .reg .b32 warpgrind_transaction_end; mov.b32 warpgrind_transaction_end, 0; }" : : : "memory");
}

/// A transaction as long as the object lives.
class transaction_scope {
  public:
    __device__ __forceinline__ transaction_scope() { transaction_begin(); }
    __device__ __forceinline__ ~transaction_scope() { transaction_end(); }
    transaction_scope(const transaction_scope &) = delete;
    transaction_scope &operator=(const transaction_scope &) = delete;
};

namespace tx_detail {

__device__ __forceinline__ bool is_global(word address) {
    u32 is;
    asm("{ .reg .pred p; isspacep.global p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(is) : "l"(address));
    return is;
}

__device__ __forceinline__ bool is_shared(word address) {
    u32 is;
    asm("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(is) : "l"(address));
    return is;
}

/// Reads through a transaction what may be anywhere. What is the thread's own, or constant, is read as it is; in shared
/// memory there are no transactions.
template <class T> __device__ __forceinline__ u32 region_read(transaction<> *t, word address, void *value) {
    const T *const p = reinterpret_cast<const T *>(address);
    T read;
    if (is_global(address)) {
        if (!t->read(p, read)) return 0;
    } else {
        if (is_shared(address)) __trap();
        read = *p;
    }
    *static_cast<T *>(value) = read;
    return 1;
}

template <class T> __device__ __forceinline__ u32 region_write(transaction<> *t, word address, const void *value) {
    if (!is_global(address)) __trap();
    return t->write(reinterpret_cast<T *>(address), *static_cast<const T *>(value));
}

} // namespace tx_detail

} // namespace warpgrind

// What `warpgrind stm` calls, by these names. Nothing else does; the attribute keeps them.
#define WARPGRIND_TX_CALLED extern "C" inline __device__ __noinline__ __attribute__((used))

/// Makes a transaction of memory.
WARPGRIND_TX_CALLED void warpgrind_tx_open(warpgrind::transaction<> *t) { new (t) warpgrind::transaction<>; }

/// Begins an attempt.
WARPGRIND_TX_CALLED void warpgrind_tx_begin(warpgrind::transaction<> *t) { t->begin(); }

/// Reads a value of 1, 2, 4, 8 or 16 bytes; 0 if the attempt has failed.
WARPGRIND_TX_CALLED unsigned warpgrind_tx_read(warpgrind::transaction<> *t, unsigned long long address, unsigned bytes,
                                               void *value) {
    using namespace warpgrind::tx_detail;
    switch (bytes) {
    case 1: return region_read<unsigned char>(t, address, value);
    case 2: return region_read<unsigned short>(t, address, value);
    case 4: return region_read<unsigned int>(t, address, value);
    case 8: return region_read<uint2>(t, address, value);
    default: return region_read<uint4>(t, address, value);
    }
}

/// Writes one; 0 if the attempt has failed.
WARPGRIND_TX_CALLED unsigned warpgrind_tx_write(warpgrind::transaction<> *t, unsigned long long address, unsigned bytes,
                                                const void *value) {
    using namespace warpgrind::tx_detail;
    switch (bytes) {
    case 1: return region_write<unsigned char>(t, address, value);
    case 2: return region_write<unsigned short>(t, address, value);
    case 4: return region_write<unsigned int>(t, address, value);
    case 8: return region_write<uint2>(t, address, value);
    default: return region_write<uint4>(t, address, value);
    }
}

/// Ends an attempt; 0 if it has failed.
WARPGRIND_TX_CALLED unsigned warpgrind_tx_commit(warpgrind::transaction<> *t) { return t->commit(); }

#undef WARPGRIND_TX_CALLED
