//! The rows. The notation is described in the parent module; the manual is
//! <https://docs.nvidia.com/cuda/parallel-thread-execution/>.

use super::{Effect, RowText};
use crate::types::spelled_enum;

/// Declares the instructions: `Variant "name" { "modifiers" "operands" Effect; … }`.
macro_rules! ops {
    ($($(#[$doc:meta])* $variant:ident $name:literal { $($modifiers:literal $operands:literal $effect:ident;)* })*) => {
        spelled_enum! {
            /// An instruction of the PTX manual. Its text is the part of the spelling that never varies.
            Op { $($(#[$doc])* $variant $name,)* }
        }

        pub(super) const ROWS: &[RowText] = &[$($(
            RowText { op: Op::$variant, modifiers: $modifiers, operands: $operands, effect: Effect::$effect },
        )*)*];
    };
}

ops! {
    // Integer arithmetic. Rows for floating point of the same instruction follow in the same entry.

    /// Adds two values.
    Add "add" {
        "<u16|s16|u64|s64>"                             "d, a, b" Pure;
        "{.sat}<int32|u16x2|s16x2|u8x4|s8x4>"           "d, a, b" Pure;
        ".cc<int3264>"                                  "d, a, b" Pure;
        "{<rnd>}{.ftz}{.sat}<f32|fp16>"                 "d, a, b" Pure;
        "{<rnd>}{.ftz}.f32x2"                           "d, a, b" Pure;
        "{<rnd>}<f64|bfp16>"                            "d, a, b" Pure;
        "{<rnd>}{.sat}.f32<f16|bf16>"                   "d, a, b:t0" Pure;
        "{<rnd>}{.ftz}{.sat}.f32x2<f16x2|bf16x2>.f32x2" "d, a:t1, b:t2" Pure;
        "{.rn}{.satfinite}<e4m3x4|e5m2x4><narrowx4>"    "d, a, b:t0" Pure;
    }
    /// Adds two values and the carry.
    Addc "addc" {
        "{.cc}<int>"                               "d, a, b" Pure;
    }
    /// Subtracts the second value from the first.
    Sub "sub" {
        "<u16|u32|u64|s16|s64>"                         "d, a, b" Pure;
        "{.sat}<s32|u8x4|s8x4>"                         "d, a, b" Pure;
        ".cc<int3264>"                                  "d, a, b" Pure;
        "{<rnd>}{.ftz}{.sat}<f32|fp16>"                 "d, a, b" Pure;
        "{<rnd>}{.ftz}.f32x2"                           "d, a, b" Pure;
        "{<rnd>}<f64|bfp16>"                            "d, a, b" Pure;
        "{<rnd>}{.sat}.f32<f16|bf16>"                   "d, a, b:t0" Pure;
        "{<rnd>}{.ftz}{.sat}.f32x2<f16x2|bf16x2>.f32x2" "d, a:t1, b:t2" Pure;
        "{.rn}{.satfinite}<e4m3x4|e5m2x4><narrowx4>"    "d, a, b:t0" Pure;
    }
    /// Subtracts the second value and the borrow from the first.
    Subc "subc" {
        "{.cc}<int>"                               "d, a, b" Pure;
    }
    /// Multiplies two values: the low half, the high half or all of the product.
    Mul "mul" {
        "<hi|lo><int>"                                         "d, a, b" Pure;
        ".wide<u16|s16|int32>"                                 "d:wide, a, b" Pure;
        "{<rnd>}{.ftz}{.sat}<f32|fp16>"                        "d, a, b" Pure;
        "{<rnd>}{.ftz}.f32x2"                                  "d, a, b" Pure;
        "{<rnd>}<f64|bfp16>"                                   "d, a, b" Pure;
        "{.rn}{.satfinite}<e4m3x4|e5m2x4><narrowx4><narrowx4>" "d, a:t1, b:t2" Pure;
    }
    /// Multiplies two values and adds a third.
    Mad "mad" {
        "<hi|lo><int>"                             "d, a, b, c" Pure;
        ".hi.sat.s32"                              "d, a, b, c" Pure;
        "<hi|lo>.cc<int3264>"                      "d, a, b, c" Pure;
        ".wide<u16|s16|int32>"                     "d:wide, a, b, c:wide" Pure;
        "{<rnd>}{.ftz}{.sat}.f32"                  "d, a, b, c" Pure;
        "<rnd>.f64"                                "d, a, b, c" Pure;
    }
    /// Multiplies two values and adds a third and the carry.
    Madc "madc" {
        "<hi|lo>{.cc}<int>"                        "d, a, b, c" Pure;
    }
    /// Multiplies the low 24 bits of two values.
    Mul24 "mul24" {
        "<hi|lo><int32>"                           "d, a, b" Pure;
    }
    /// Multiplies the low 24 bits of two values and adds a third.
    Mad24 "mad24" {
        "<hi|lo><int32>"                           "d, a, b, c" Pure;
        ".hi.sat.s32"                              "d, a, b, c" Pure;
    }
    /// Multiplies two polynomials over one bit and adds a third, without carries.
    Clmad "clmad" {
        "<hi|lo><u64|s64>"                         "d, a, b, c" Pure;
    }
    /// Adds the absolute difference of two values to a third.
    Sad "sad" {
        "<int>"                                    "d, a, b, c" Pure;
    }
    /// Divides the first value by the second.
    Div "div" {
        "<int>"                                    "d, a, b" Pure;
        "<approx|full|rnd>{.ftz}.f32"              "d, a, b" Pure;
        "<rnd>.f64"                                "d, a, b" Pure;
    }
    /// Remainder of a division.
    Rem "rem" {
        "<int>"                                    "d, a, b" Pure;
    }
    /// Absolute value.
    Abs "abs" {
        "<signed|f64|bfp16>"                       "d, a" Pure;
        "{.ftz}<f32|fp16>"                         "d, a" Pure;
    }
    /// Changes the sign.
    Neg "neg" {
        "<signed|s8x4|f64|bfp16>"                  "d, a" Pure;
        "{.ftz}<f32|fp16>"                         "d, a" Pure;
    }
    /// Smaller of two values, or smallest of three.
    Min "min" {
        "<u16|u32|u64|u16x2|s16|s64|f64|u8x4>"      "d, a, b" Pure;
        "{.relu}<s16x2|s32|s8x4>"                   "d, a, b" Pure;
        "{.ftz}{.NaN}{.xorsign.abs}<f32|fp16>"      "d, a, b" Pure;
        "{.ftz}{.NaN}{.abs}.f32"                    "d, a, b, c" Pure;
        "{.NaN}{.xorsign.abs}<bfp16>"               "d, a, b" Pure;
    }
    /// Larger of two values, or largest of three.
    Max "max" {
        "<u16|u32|u64|u16x2|s16|s64|f64|u8x4>"      "d, a, b" Pure;
        "{.relu}<s16x2|s32|s8x4>"                   "d, a, b" Pure;
        "{.ftz}{.NaN}{.xorsign.abs}<f32|fp16>"      "d, a, b" Pure;
        "{.ftz}{.NaN}{.abs}.f32"                    "d, a, b, c" Pure;
        "{.NaN}{.xorsign.abs}<bfp16>"               "d, a, b" Pure;
    }
    /// Counts the bits that are one.
    Popc "popc" {
        "<bits3264>"                               "d:b32, a" Pure;
    }
    /// Counts the leading zeros.
    Clz "clz" {
        "<bits3264>"                               "d:b32, a" Pure;
    }
    /// Position of the most significant bit that differs from the sign.
    Bfind "bfind" {
        "{.shiftamt}<int3264>"                     "d:b32, a" Pure;
    }
    /// Finds the n-th bit that is one in a mask.
    Fns "fns" {
        ".b32"                                     "d, a, b, c" Pure;
    }
    /// Reverses the order of the bits.
    Brev "brev" {
        "<bits3264>"                               "d, a" Pure;
    }
    /// Extracts a field of bits.
    Bfe "bfe" {
        "<int3264>"                                "d, a, b:b32, c:b32" Pure;
    }
    /// Inserts a field of bits into a value.
    Bfi "bfi" {
        "<bits3264>"                               "d, a, b, c:b32, e:b32" Pure;
    }
    /// Extends a value of some number of bits to 32 bits.
    Szext "szext" {
        "<clamp|wrap><int32>"                      "d, a, b:b32" Pure;
    }
    /// Makes a mask of some number of ones at some position.
    Bmsk "bmsk" {
        "<clamp|wrap>.b32"                         "d, a, b" Pure;
    }
    /// Dot product of four bytes each, plus a third value.
    Dp4a "dp4a" {
        "<int32><int32>"                           "d, a:t0, b:t1, c:t0" Pure;
    }
    /// Dot product of two halfwords and two bytes, plus a third value.
    Dp2a "dp2a" {
        "<lo|hi><int32><int32>"                    "d, a:t0, b:t1, c:t0" Pure;
    }

    // Floating point.

    /// Multiplies two values and adds a third with one rounding.
    Fma "fma" {
        "<rnd>{.ftz}{.sat}<f32|fp16>"                          "d, a, b, c" Pure;
        "<rnd>{.ftz}.f32x2"                                    "d, a, b, c" Pure;
        "<rnd>.f64"                                            "d, a, b, c" Pure;
        "<rnd>{.ftz}.relu<fp16>"                               "d, a, b, c" Pure;
        "<rnd>{.relu}<bfp16>"                                  "d, a, b, c" Pure;
        "<rnd>.oob{<relu|sat>}<fp16|bfp16>"                    "d, a, b, c" Pure;
        "<rnd>{.sat}.f32<f16|bf16>"                            "d, a, b, c:t0" Pure;
        "<rnd>{.ftz}{.sat}.f32x2<f16x2|bf16x2>.f32x2.f32x2"    "d, a:t1, b:t2, c:t3" Pure;
        "{.rn}{.satfinite}<e4m3x4|e5m2x4><narrowx4><narrowx4>" "d, a:t1, b:t2, c:t0" Pure;
    }
    /// Whether a value is finite, infinite, a number, normal or subnormal.
    Testp "testp" {
        "<finite|infinite|number|notanumber|normal|subnormal><f32|f64>" "p, a" Pure;
    }
    /// The magnitude of the second value with the sign of the first.
    Copysign "copysign" {
        "<f32|f64>"                                "d, a, b" Pure;
    }
    /// Reciprocal.
    Rcp "rcp" {
        "<approx|rnd>{.ftz}.f32"                   "d, a" Pure;
        "<rnd>.f64"                                "d, a" Pure;
        ".approx.ftz.f64"                          "d, a" Pure;
    }
    /// Square root.
    Sqrt "sqrt" {
        "<approx|rnd>{.ftz}.f32"                   "d, a" Pure;
        "<rnd>.f64"                                "d, a" Pure;
    }
    /// Reciprocal of the square root.
    Rsqrt "rsqrt" {
        ".approx{.ftz}<f32|f64>"                   "d, a" Pure;
    }
    /// Sine, fast.
    Sin "sin" {
        ".approx{.ftz}.f32"                        "d, a" Pure;
    }
    /// Cosine, fast.
    Cos "cos" {
        ".approx{.ftz}.f32"                        "d, a" Pure;
    }
    /// Logarithm to base 2, fast.
    Lg2 "lg2" {
        ".approx{.ftz}.f32"                        "d, a" Pure;
    }
    /// Power of 2, fast.
    Ex2 "ex2" {
        ".approx{.ftz}<f32|fp16|bfp16>"            "d, a" Pure;
    }
    /// Hyperbolic tangent, fast.
    Tanh "tanh" {
        ".approx<f32|fp16|bfp16>"                  "d, a" Pure;
    }

    // Comparison and selection.

    /// Compares, and writes all ones, 1.0 or zero.
    Set "set" {
        "<cmp>{.ftz}<int32|f32><scalar>"                      "d, a, b" Pure;
        "<cmp><bool>{.ftz}<int32|f32><scalar>"                "d, a, b, {!}c:pred" Pure;
        "<cmp>{.ftz}<u16|s16|int32><f16|bf16>"                "d, a, b" Pure;
        "<cmp><bool>{.ftz}<u16|s16|int32><f16|bf16>"          "d, a, b, {!}c:pred" Pure;
        "<cmp>{.ftz}<f16|bf16><scalar|f16|bf16>"              "d, a, b" Pure;
        "<cmp><bool>{.ftz}<f16|bf16><scalar|f16|bf16>"        "d, a, b, {!}c:pred" Pure;
        "<cmp>{.ftz}<f16x2|bf16x2|int32><f16x2|bf16x2>"       "d, a, b" Pure;
        "<cmp><bool>{.ftz}<f16x2|bf16x2|int32><f16x2|bf16x2>" "d, a, b, {!}c:pred" Pure;
        "<cmp><u16x2|s16x2|u8x4|s8x4>"                        "d, a, b" Pure;
    }
    /// Compares, and writes a predicate and perhaps its complement.
    Setp "setp" {
        "<cmp>{.ftz}<scalar|f16|bf16>"             "p{|q}, a, b" Pure;
        "<cmp><bool>{.ftz}<scalar|f16|bf16>"       "p{|q}, a, b, {!}c:pred" Pure;
        "<cmp>{.ftz}<f16x2|bf16x2>"                "p|q, a, b" Pure;
        "<cmp><bool>{.ftz}<f16x2|bf16x2>"          "p|q, a, b, {!}c:pred" Pure;
    }
    /// Selects one of two values by a predicate.
    Selp "selp" {
        "<scalar>"                                 "d, a, b, {!}c:pred" Pure;
    }
    /// Selects one of two values by the sign of a third.
    Slct "slct" {
        "<scalar>.s32"                             "d, a:t0, b:t0, c:t1" Pure;
        "{.ftz}<scalar>.f32"                       "d, a:t0, b:t0, c:t1" Pure;
    }

    // Logic and shift.

    /// Bitwise and.
    And "and" {
        "<pred|bits>"                              "d, {!}a, {!}b" Pure;
    }
    /// Bitwise or.
    Or "or" {
        "<pred|bits>"                              "d, {!}a, {!}b" Pure;
    }
    /// Bitwise exclusive or.
    Xor "xor" {
        "<pred|bits>"                              "d, {!}a, {!}b" Pure;
    }
    /// Bitwise complement.
    Not "not" {
        "<pred|bits>"                              "d, {!}a" Pure;
    }
    /// Logical not as in C: one if the value is zero.
    Cnot "cnot" {
        "<bits>"                                   "d, a" Pure;
    }
    /// Any logical function of three values, given as a table.
    Lop3 "lop3" {
        ".b32"                                     "d, a, b, c, lut:imm" Pure;
        "<and|or>.b32"                             "d|p, a, b, c, lut:imm, {!}e:pred" Pure;
    }
    /// Funnel shift: shifts two registers as one.
    Shf "shf" {
        "<l|r><clamp|wrap>.b32"                    "d, a, b, c" Pure;
    }
    /// Shifts left.
    Shl "shl" {
        "<bits>"                                   "d, a, b:b32" Pure;
    }
    /// Shifts right, with sign for signed types.
    Shr "shr" {
        "<bits|int>"                               "d, a, b:b32" Pure;
    }

    // Moving data between registers.

    /// Copies a register, an address or a special register; packs and unpacks vectors.
    Mov "mov" {
        "<bits|b128>"                              "d:pack, a:pack" Pure;
        "<int|f32|f64>"                            "d, a" Pure;
        ".pred"                                    "d, {!}a" Pure;
        "<v2|v4><scalar>"                          "d, a" Pure;
    }
    /// Exchanges registers between the lanes of a warp.
    Shfl "shfl" {
        ".sync<up|down|bfly|idx>.b32"              "d{|p}, a, b:b32, c:b32, mask:b32" Collective;
        "<up|down|bfly|idx>.b32"                   "d{|p}, a, b:b32, c:b32" Collective;
    }
    /// Picks four bytes out of eight.
    Prmt "prmt" {
        ".b32{<f4e|b4e|rc8|ecl|ecr|rc16>}"         "d, a, b, c" Pure;
    }

    // Loads and stores.

    /// Loads from memory.
    Ld "ld" {
        "{.weak}{<ld_space>}{<ld_cache>}{<l1_evict>}{<l2_evict>}{.L2::cache_hint}{<l2_fetch>}{<vec>}<mem>"
            "d, [a]{, policy:b64}" Load;
        ".global{<ld_cache>}.nc{<l1_evict>}{<l2_evict>}{.L2::cache_hint}{<l2_fetch>}{<vec>}<mem>"
            "d, [a]{, policy:b64}" Load;
        ".proxy::readonly{<ld_space>}{<ld_cache>}{<l1_evict>}{<l2_evict>}{.L2::cache_hint}{<l2_fetch>}{<vec>}<mem>"
            "d, [a]{, policy:b64}" Load;
        ".volatile{<ld_space>}{<l2_fetch>}{<vec>}<mem>"
            "d, [a]" Load;
        "<relaxed|acquire><scope>{<ld_space>}{<l1_evict>}{<l2_evict>}{.L2::cache_hint}{<l2_fetch>}{<vec>}<mem>"
            "d, [a]{, policy:b64}" Load;
        ".mmio<relaxed|acquire>.sys{.global}<mem>"
            "d, [a]" Load;
    }
    /// Loads from an address that is the same in all lanes.
    Ldu "ldu" {
        "{.global}{<v2|v4>}<mem>"                  "d, [a]" Load;
    }
    /// Stores to memory.
    St "st" {
        "{.weak}{<st_space>}{<st_cache>}{<l1_evict>}{<l2_evict>}{.L2::cache_hint}{<vec>}<mem>"
            "[a], b{, policy:b64}" Store;
        ".volatile{<st_space>}{<vec>}<mem>"
            "[a], b" Store;
        "<relaxed|release><scope>{<st_space>}{<l1_evict>}{<l2_evict>}{.L2::cache_hint}{<vec>}<mem>"
            "[a], b{, policy:b64}" Store;
        ".mmio<relaxed|release>.sys{.global}<mem>"
            "[a], b" Store;
    }
    /// Stores to the shared memory of another block, or to global memory, asynchronously.
    StAsync "st.async" {
        "{.weak}{.cluster}{.shared::cluster}{.mbarrier::complete_tx::bytes}{<v2|v4>}<bits3264|b128|int3264|f32|f64>"
            "[a:w], b, [mbar:rw 8]" AsyncCopy;
        "{.mmio}.release<gpu|sys>{.global}<mem8|scalar>"
            "[a:w], b" AsyncCopy;
    }
    /// Stores zeros to a range of shared memory.
    StBulk "st.bulk" {
        "{.weak}{.shared::cta}"                    "[a], size:any, b:imm" Store;
    }
    /// Loads from all replicas of a multicast address and reduces them.
    MultimemLdReduce "multimem.ld_reduce" {
        "{<weak|relaxed|acquire>}{<scope>}{.global}<and|or|xor><bits3264>"
            "d, [a]" Load;
        "{<weak|relaxed|acquire>}{<scope>}{.global}<min|max|add><int3264>"
            "d, [a]" Load;
        "{<weak|relaxed|acquire>}{<scope>}{.global}<min|max|add>{<acc::f32|acc::f16>}{<vec>}\
         <f32|f64|fp16|bfp16|fp8|fp8x2|e4m3x4|e5m2x4>"
            "d, [a]" Load;
    }
    /// Stores to all replicas of a multicast address.
    MultimemSt "multimem.st" {
        "{<weak|relaxed|release>}{<scope>}{.global}<bits3264|int3264>"
            "[a], b" Store;
        "{<weak|relaxed|release>}{<scope>}{.global}{<vec>}<f32|f64|fp16|bfp16|fp8|fp8x2|e4m3x4|e5m2x4>"
            "[a], b" Store;
    }
    /// Reduces into all replicas of a multicast address.
    MultimemRed "multimem.red" {
        "{<relaxed|release>}{<scope>}{.global}<and|or|xor><bits3264>"
            "[a], b" Atomic;
        "{<relaxed|release>}{<scope>}{.global}<min|max|add><int3264>"
            "[a], b" Atomic;
        "{<relaxed|release>}{<scope>}{.global}<min|max|add>{<vec>}<f32|f64|fp16|bfp16>"
            "[a], b" Atomic;
    }
    /// Stores to all replicas of a multicast address, asynchronously.
    MultimemStAsync "multimem.st.async" {
        ".release<gpu|sys>{.global}<mem8|scalar>"
            "[a:w], b" AsyncCopy;
    }
    /// Reduces into all replicas of a multicast address, asynchronously.
    MultimemRedAsync "multimem.red.async" {
        ".release<gpu|sys>{.global}.add<int3264>"
            "[a:rw], b" AsyncCopy;
    }

    // Caches and addresses.

    /// Fetches a line into a cache.
    Prefetch "prefetch" {
        "{<global|local>}<L1|L2>"                    "[a]" Hint;
        "{.global}<L2::evict_last|L2::evict_normal>" "[a]" Hint;
        "{.global}.L1::32B.valid_addr"               "[a]" Hint;
        "{<const|param|param::entry>}.tensormap"     "[a]" Hint;
    }
    /// Fetches a line into the uniform cache.
    Prefetchu "prefetchu" {
        ".L1"                                      "[a]" Hint;
    }
    /// Changes how likely lines are to be evicted.
    Applypriority "applypriority" {
        "{.global}.L2::evict_normal"               "[a], size:imm" Hint;
    }
    /// Changes how likely the lines of a range are to be evicted, asynchronously.
    ApplypriorityAsyncBulk "applypriority.async.bulk" {
        "{.global}.bulk_group.L2::evict_normal"    "[a], size:b32" Hint;
    }
    /// Changes how likely the lines of a tile are to be evicted, asynchronously.
    ApplypriorityAsyncBulkTensor "applypriority.async.bulk.tensor" {
        "<dim>{.global}.bulk_group{<tile|tile::gather4|im2col_out>}.L2::evict_normal{.override::global_address}\
         {<override_shape>}"
            "[a]" Hint;
        "<dim>{.global}.bulk_group<im2col_in>.L2::evict_normal{.override::global_address}"
            "[a], info:any" Hint;
    }
    /// Destroys the lines of a range without writing them back.
    Discard "discard" {
        "{.global}.L2"                             "[a], size:imm" Hint;
    }
    /// Makes a cache policy for other instructions.
    Createpolicy "createpolicy" {
        ".range{.global}<l2_policy>{<L2::evict_first|L2::evict_unchanged>}.b64" "d, [a:no], b:b32, c:b32" Pure;
        ".fractional<l2_policy>{<L2::evict_first|L2::evict_unchanged>}.b64"     "d{, a:f32}" Pure;
        ".cvt.L2.b64"                                                           "d, a" Pure;
    }
    /// Whether a generic address is in a state space.
    Isspacep "isspacep" {
        "<generic_space>"                          "p, a:any" Pure;
    }
    /// Converts between generic addresses and those of a state space.
    Cvta "cvta" {
        "{.to}<generic_space><u32|u64>"            "d, a" Pure;
    }
    /// Maps an address of shared memory to that of another block of the cluster.
    Mapa "mapa" {
        "{.shared::cluster}<u32|u64>"              "d, a, b:b32" Pure;
    }
    /// The rank of the block that an address of shared memory belongs to.
    Getctarank "getctarank" {
        "{.shared::cluster}<u32|u64>"              "d:b32, a" Pure;
    }

    // Conversions.

    /// Converts between types.
    Cvt "cvt" {
        "{<rnd|irnd>}{.ftz}{.sat}<u8|s8|int|f16|bf16|f32|f64><u8|s8|int|f16|bf16|f32|f64>" "d, a" Pure;
        "<rnd>{.relu}{.satfinite}{.pzo}<f16|bf16|tf32>.f32"                                "d, a" Pure;
        ".rna{.satfinite}.tf32.f32"                                                        "d, a" Pure;
        "<rn|rz>{.relu}{.satfinite}{.pzo}<f16x2|bf16x2>.f32"                               "d, a, b" Pure;
        ".rs{.relu}{.satfinite}<f16x2|bf16x2>.f32"                                         "d, a, b, c:b32" Pure;
        "<rn|rz>.satfinite{.relu}{.pzo}<narrowx2|s2f6x2>.f32"                              "d, a, b" Pure;
        "<rn|rz>.satfinite{.relu}{.pzo}<narrowx2|s2f6x2><f16x2|bf16x2>"                    "d, a" Pure;
        "<rn|rz>.satfinite{.relu}{.pzo}.scaled::n1::ue8m0<narrowx2>.f32"                   "d, a, b, c:b8" Pure;
        "<rn|rz>.satfinite{.relu}{.pzo}.scaled::n1::ue8m0<narrowx2><f16x2|bf16x2>"         "d, a, b:b8" Pure;
        "<rn|rz>.satfinite{.relu}.scaled::n2::ue8m0.s2f6x2.f32"                            "d, a, b, c:b16" Pure;
        "<rn|rz>.satfinite{.relu}.scaled::n2::ue8m0.s2f6x2.bf16x2"                         "d, a, b:b16" Pure;
        "<rn|rz|rp>{.satfinite}<ue5m3x2|ue8m0x2>.f32"                                      "d, a, b" Pure;
        "<rn|rz|rp>{.satfinite}<ue5m3x2|ue8m0x2><f16x2|bf16x2>"                            "d, a" Pure;
        "<rn|rz|rp>{.satfinite}.scaled::n1::ue8m0.ue5m3x2.f32"                             "d, a, b, c:b8" Pure;
        "<rn|rz|rp>{.satfinite}.scaled::n1::ue8m0.ue5m3x2<f16x2|bf16x2>"                   "d, a, b:b8" Pure;
        ".rn{.satfinite}{.relu}<f16x2|bf16x2><narrowx2|s2f6x2|ue5m3x2|ue8m0x2>"            "d, a" Pure;
        ".rn{.satfinite}{.relu}.scaled::n2::ue8m0.bf16x2<narrowx2|s2f6x2|ue5m3x2>"         "d, a, b:b16" Pure;
        ".rs{.relu}.satfinite<narrowx4>.f32"                                               "d, a:any, b:b32" Pure;
    }
    /// Keeps two of each four values, and says which.
    Spcompress "spcompress" {
        "<b8|b16><b2|b4>.sp::2:4<count128>"        "d:any, d2:any, a:any, b:b32" Pure;
    }
    /// Undoes `spcompress`, with zeros for what was left out.
    Spdecompress "spdecompress" {
        "<b8|b16><b2|b4>.sp::2:4<count128>"        "d:any, a:any, b:any" Pure;
    }
    /// Converts two integers to a narrower type and packs them.
    CvtPack "cvt.pack" {
        ".sat<u16|s16>.s32"                        "d:b32, a, b" Pure;
        ".sat<u2|s2|nibble|byte>.s32.b32"          "d:b32, a:t1, b:t1, c" Pure;
    }

    // Asynchronous copies.

    /// Copies 4, 8 or 16 bytes from global to shared memory asynchronously.
    CpAsync "cp.async" {
        "<ca|cg><shared_own>.global{<l2_fetch>}"
            "[d:w shared], [a:r global], size:imm{, {!}src_size:any}" AsyncCopy;
        "<ca|cg><shared_own>.global.L2::cache_hint{<l2_fetch>}"
            "[d:w shared], [a:r global], size:imm{, {!}src_size:any}, policy:b64" AsyncCopy;
    }
    /// Makes a group of all copies that are in none yet.
    CpAsyncCommitGroup "cp.async.commit_group" {
        ""                                         "" AsyncGroup;
    }
    /// Waits until at most so many groups of copies are pending.
    CpAsyncWaitGroup "cp.async.wait_group" {
        ""                                         "n:imm" AsyncGroup;
    }
    /// Waits for all copies.
    CpAsyncWaitAll "cp.async.wait_all" {
        ""                                         "" AsyncGroup;
    }
    /// Makes a barrier object wait for all copies of the thread so far.
    CpAsyncMbarrierArrive "cp.async.mbarrier.arrive" {
        "{.noinc}{<shared_own>}.b64"               "[mbar:rw 8]" AsyncGroup;
    }
    /// Copies a range between global and shared memory asynchronously.
    CpAsyncBulk "cp.async.bulk" {
        "<shared::cta|shared::cluster>.global.mbarrier::complete_tx::bytes{<report>}{.L2::cache_hint}{.weak}\
         {.relaxed<scope>.b128}"
            "[d:w space0], [a:r space1], size:b32, [mbar:rw shared 8]{, policy:b64}" AsyncCopy;
        ".shared::cluster.global.mbarrier::complete_tx::bytes<multicast16>{<report>}{.L2::cache_hint}{.weak}\
         {.relaxed<scope>.b128}"
            "[d:w space0], [a:r space1], size:b32, [mbar:rw shared 8], ctas:b16{, policy:b64}" AsyncCopy;
        ".shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster::32b{<report>}{.L2::cache_hint}{.weak}\
         {.relaxed<scope>.b128}"
            "[d:w space0], [a:r space1], size:b32, [mbar:rw shared 8], ctas:b32{, policy:b64}" AsyncCopy;
        ".shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob{<report>}{.L2::cache_hint}{.weak}\
         {.relaxed<scope>.b128}"
            "[d:w space0], [a:r space1], size:b32, b:b32, c:b32, [mbar:rw shared 8]{, policy:b64}" AsyncCopy;
        ".shared::cluster.shared::cta.mbarrier::complete_tx::bytes{.weak}{.relaxed<scope>.b128}"
            "[d:w space0], [a:r space1], size:b32, [mbar:rw shared 8]" AsyncCopy;
        ".global.shared::cta.bulk_group{.L2::cache_hint}{.weak}{.relaxed<scope>.b128}"
            "[d:w space0], [a:r space1], size:b32{, policy:b64}" AsyncCopy;
        ".global.shared::cta.bulk_group{.L2::cache_hint}.cp_mask{.weak}{.relaxed<scope>.b128}"
            "[d:w space0], [a:r space1], size:b32{, policy:b64}, bytes:b16" AsyncCopy;
    }
    /// Fetches a range into the level-2 cache asynchronously.
    CpAsyncBulkPrefetch "cp.async.bulk.prefetch" {
        ".L2.global{<L2::cache_hint|L2::evict_last>}" "[a], size:b32{, policy:b64}" Hint;
    }
    /// Makes a group of all bulk copies that are in none yet.
    CpAsyncBulkCommitGroup "cp.async.bulk.commit_group" {
        ""                                         "" AsyncGroup;
    }
    /// Waits until at most so many groups of bulk copies are pending, or have still to read their sources.
    CpAsyncBulkWaitGroup "cp.async.bulk.wait_group" {
        "{.read}{.sync_restrict::proxy::async}"    "n:imm" AsyncGroup;
    }
    /// Copies a tile of a tensor between global and shared memory asynchronously.
    CpAsyncBulkTensor "cp.async.bulk.tensor" {
        "<dim><shared::cta|shared::cluster>.global{<tile|tile::gather4>}.mbarrier::complete_tx::bytes{<report>}\
         {<cta_group>}{.L2::cache_hint}{.override::global_address}{<override_shape>}"
            "[d:w space0], [a:r tensor], [mbar:rw shared 8]{, policy:b64}" AsyncCopy;
        "<dim><shared::cta|shared::cluster>.global<im2col_in>.mbarrier::complete_tx::bytes{<report>}{<cta_group>}\
         {.L2::cache_hint}{.override::global_address}"
            "[d:w space0], [a:r tensor], [mbar:rw shared 8], info:any{, policy:b64}" AsyncCopy;
        "<dim>.shared::cluster.global{<tile|tile::gather4>}.mbarrier::complete_tx::bytes<multicast16>{<report>}\
         {<cta_group>}{.L2::cache_hint}{.override::global_address}{<override_shape>}"
            "[d:w space0], [a:r tensor], [mbar:rw shared 8], ctas:b16{, policy:b64}" AsyncCopy;
        "<dim>.shared::cluster.global<im2col_in>.mbarrier::complete_tx::bytes<multicast16>{<report>}{<cta_group>}\
         {.L2::cache_hint}{.override::global_address}"
            "[d:w space0], [a:r tensor], [mbar:rw shared 8], info:any, ctas:b16{, policy:b64}" AsyncCopy;
        "<dim>.shared::cluster.global{<tile|tile::gather4>}.mbarrier::complete_tx::bytes.multicast::cluster::32b\
         {<report>}{<cta_group>}{.L2::cache_hint}{.override::global_address}{<override_shape>}"
            "[d:w space0], [a:r tensor], [mbar:rw shared 8], ctas:b32{, policy:b64}" AsyncCopy;
        "<dim>.shared::cluster.global<im2col_in>.mbarrier::complete_tx::bytes.multicast::cluster::32b{<report>}\
         {<cta_group>}{.L2::cache_hint}{.override::global_address}"
            "[d:w space0], [a:r tensor], [mbar:rw shared 8], info:any, ctas:b32{, policy:b64}" AsyncCopy;
        "<dim>.global.shared::cta{<tile|tile::scatter4|im2col_out>}.bulk_group{.L2::cache_hint}\
         {.override::global_address}{<override_shape>}"
            "[d:w tensor], [a:r space1]{, policy:b64}" AsyncCopy;
    }
    /// Fetches a tile of a tensor into the level-2 cache asynchronously.
    CpAsyncBulkPrefetchTensor "cp.async.bulk.prefetch.tensor" {
        "<dim>.L2.global{<tile|tile::gather4>}{<L2::cache_hint|L2::evict_last>}{.override::global_address}\
         {<override_shape>}"
            "[a:no tensor]{, policy:b64}" Hint;
        "<dim>.L2.global<im2col_in>{<L2::cache_hint|L2::evict_last>}{.override::global_address}"
            "[a:no tensor], info:any{, policy:b64}" Hint;
    }
    /// Reduces a range of shared memory into another range asynchronously.
    CpReduceAsyncBulk "cp.reduce.async.bulk" {
        ".shared::cluster.shared::cta.mbarrier::complete_tx::bytes<and|or|xor>.b32{.relaxed<scope>}"
            "[d:rw space0], [a:r space1], size:b32, [mbar:rw shared 8]" AsyncCopy;
        ".shared::cluster.shared::cta.mbarrier::complete_tx::bytes<add|min|max|inc|dec><int3264>{.relaxed<scope>}"
            "[d:rw space0], [a:r space1], size:b32, [mbar:rw shared 8]" AsyncCopy;
        ".global.shared::cta.bulk_group{.L2::cache_hint}<and|or|xor><bits3264>{.relaxed<scope>}"
            "[d:rw space0], [a:r space1], size:b32{, policy:b64}" AsyncCopy;
        ".global.shared::cta.bulk_group{.L2::cache_hint}<add|min|max|inc|dec><int3264>{.relaxed<scope>}"
            "[d:rw space0], [a:r space1], size:b32{, policy:b64}" AsyncCopy;
        ".global.shared::cta.bulk_group{.L2::cache_hint}<add|min|max>{.noftz}<f16|bf16|f32|f64>{.relaxed<scope>}"
            "[d:rw space0], [a:r space1], size:b32{, policy:b64}" AsyncCopy;
    }
    /// Reduces shared memory into a tile of a tensor asynchronously.
    CpReduceAsyncBulkTensor "cp.reduce.async.bulk.tensor" {
        "<dim>.global.shared::cta<red_op>{<tile|im2col_out>}.bulk_group{.L2::cache_hint}{.override::global_address}\
         {<override_shape>}"
            "[d:rw tensor], [a:r space1]{, policy:b64}" AsyncCopy;
    }
    /// Copies a range of shared memory to all replicas of a multicast address asynchronously.
    MultimemCpAsyncBulk "multimem.cp.async.bulk" {
        ".global.shared::cta.bulk_group{.weak}{.relaxed<scope>.b128}"
            "[d:w space0], [a:r space1], size:b32" AsyncCopy;
        ".global.shared::cta.bulk_group.cp_mask{.weak}{.relaxed<scope>.b128}"
            "[d:w space0], [a:r space1], size:b32, bytes:b16" AsyncCopy;
    }
    /// Reduces a range of shared memory into all replicas of a multicast address asynchronously.
    MultimemCpReduceAsyncBulk "multimem.cp.reduce.async.bulk" {
        ".global.shared::cta.bulk_group<and|or|xor><bits3264>{.relaxed<scope>}"
            "[d:rw space0], [a:r space1], size:b32" AsyncCopy;
        ".global.shared::cta.bulk_group<add|min|max|inc|dec><int3264>{.relaxed<scope>}"
            "[d:rw space0], [a:r space1], size:b32" AsyncCopy;
        ".global.shared::cta.bulk_group<add|min|max>{.noftz}<f16|bf16|f32|f64>{.relaxed<scope>}"
            "[d:rw space0], [a:r space1], size:b32" AsyncCopy;
    }

    // Tensor maps.

    /// Changes a field of a tensor map.
    TensormapReplace "tensormap.replace" {
        ".tile<global_address|rank|elemtype|interleave_layout|swizzle_mode|swizzle_atomicity|fill_mode>\
         {<global|shared::cta>}.b1024<bits3264>"
            "[a:w 128], b" Store;
        ".tile<box_dim|global_dim|global_stride|element_stride>{<global|shared::cta>}.b1024<bits3264>"
            "[a:w 128], b:imm, c" Store;
    }
    /// Copies a tensor map from shared to global memory and makes it visible to bulk copies.
    TensormapCpFenceproxy "tensormap.cp_fenceproxy" {
        // The copy is complete when the fence is, so this is a fence with two accesses and not an asynchronous copy.
        ".global.shared::cta.tensormap::generic.release<scope>.sync.aligned"
            "[d:w space0], [a:r space1], size:imm" Fence;
    }

    // Fabric: memory of other devices.

    /// Copies from the memory of another device to shared memory asynchronously.
    FabricTryGetAsync "fabric.try_get.async" {
        ".shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric{.L2::cache_hint}{.relaxed}.sys.b128"
            "[d:w space0], [a:no], size:b32, [mbar:rw shared 8]{, policy:b64}" AsyncCopy;
    }
    /// Copies a tile of a tensor on another device to shared memory asynchronously.
    FabricTryGetAsyncTensor "fabric.try_get.async.tensor" {
        "<dim>.shared::cta{.tile}.mbarrier::complete_tx::bytes.mbarrier::report::fabric{.L2::cache_hint}\
         .override::global_address{<override_shape>}{.relaxed}.sys.b128"
            "[d:w space0 ?], [a:no], [mbar:rw shared 8]{, policy:b64}" AsyncCopy;
    }
    /// Copies from shared memory to the memory of other devices asynchronously.
    FabricTryPutAsync "fabric.try_put.async" {
        "{.multimem}.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric{.counted::bytes}{.L2::cache_hint}\
         {.relaxed}.sys.b128"
            "[d:no], [a:r space0], size:b32, [mbar:rw shared 8]{, policy:b64}" AsyncCopy;
        "{.multimem}.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric{.counted::bytes}{.L2::cache_hint}\
         .cp_mask{.relaxed}.sys.b128"
            "[d:no], [a:r space0], size:b32, [mbar:rw shared 8]{, policy:b64}, bytes:b16" AsyncCopy;
    }
    /// Copies a tile of a tensor from shared memory to other devices asynchronously.
    FabricTryPutAsyncTensor "fabric.try_put.async.tensor" {
        "{.multimem}<dim>.shared::cta{.tile}.mbarrier::complete_tx::16B.mbarrier::report::fabric{.counted::bytes}\
         {.L2::cache_hint}.override::global_address{<override_shape>}{.relaxed}.sys.b128"
            "[d:no], [a:r space0], size:b32, [mbar:rw shared 8]{, policy:b64}" AsyncCopy;
    }
    /// Reduces shared memory into the memory of other devices asynchronously.
    FabricTryRedAsync "fabric.try_red.async" {
        "{.multimem}.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric{.counted::bytes}{.L2::cache_hint}\
         {.relaxed}.sys<and|or|xor><bits3264>"
            "[d:no], [a:r space0], size:b32, [mbar:rw shared 8]{, policy:b64}" AsyncCopy;
        "{.multimem}.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric{.counted::bytes}{.L2::cache_hint}\
         {.relaxed}.sys<add|min|max><int3264|f16|bf16|f32|f64>"
            "[d:no], [a:r space0], size:b32, [mbar:rw shared 8]{, policy:b64}" AsyncCopy;
    }
    /// Reduces shared memory into a tile of a tensor on other devices asynchronously.
    FabricTryRedAsyncTensor "fabric.try_red.async.tensor" {
        "{.multimem}<dim>.shared::cta{.tile}.mbarrier::complete_tx::16B.mbarrier::report::fabric{.counted::bytes}\
         {.L2::cache_hint}.override::global_address{<override_shape>}{.relaxed}.sys<red_op>"
            "[d:no], [a:r space0], size:b32, [mbar:rw shared 8]{, policy:b64}" AsyncCopy;
    }
    /// Reduces all replicas of a multicast address on other devices into shared memory asynchronously.
    FabricTryPullredAsync "fabric.try_pullred.async" {
        ".multimem.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric{.relaxed}.sys<and|or|xor>\
         <bits3264>.sync"
            "[d:w space0], [a:no], size:b32, [mbar:rw shared 8], mask:b32" AsyncCopy;
        ".multimem.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric{.relaxed}.sys<add|min|max>\
         {<acc::f32|acc::f16>}<int3264|f16|bf16|f32|fp8>.sync"
            "[d:w space0], [a:no], size:b32, [mbar:rw shared 8], mask:b32" AsyncCopy;
    }
    /// Performs an atomic operation on the memory of another device asynchronously.
    FabricTryAtomAsync "fabric.try_atom.async" {
        ".shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric{.L2::cache_hint}{.relaxed}.sys<and|or|xor>\
         <bits3264>"
            "[a:no], [d:w space0], [b:r space0], [mbar:rw shared 8]{, policy:b64}" AsyncCopy;
        ".shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric{.L2::cache_hint}{.relaxed}.sys<cas|exch>\
         <bits3264|b128>"
            "[a:no], [d:w space0], [b:r space0 ?], [mbar:rw shared 8]{, policy:b64}" AsyncCopy;
        ".shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric{.L2::cache_hint}{.relaxed}.sys<add|min|max>\
         <int3264|f16x2|bf16x2|f32|f64>"
            "[a:no], [d:w space0], [b:r space0], [mbar:rw shared 8]{, policy:b64}" AsyncCopy;
    }
    /// Starts the fabric operations of the thread.
    FabricSubmit "fabric.submit" {
        "{<op_restrict::fetching|commit_group>}"   "" AsyncGroup;
    }
    /// Waits until the fabric operations of the thread have read their sources.
    FabricWait "fabric.wait" {
        ".sync_restrict::reads"                    "" AsyncGroup;
        ".sync_restrict::read"                     "n:imm" AsyncGroup;
    }

    // Textures and surfaces.

    /// Samples a texture.
    Tex "tex" {
        "{.base}<tex_geom>.v4<int32|f16|f32><s32|f32>" "d{|p}, [a:r texture]{, e:any}{, f:any}" TextureLoad;
        "{.base}<tex_geom>.v2.f16x2<s32|f32>"          "d{|p}, [a:r texture]{, e:any}{, f:any}" TextureLoad;
        ".level<tex_geom>.v4<int32|f16|f32><s32|f32>"  "d{|p}, [a:r texture], b:any{, e:any}{, f:any}" TextureLoad;
        ".level<tex_geom>.v2.f16x2<s32|f32>"           "d{|p}, [a:r texture], b:any{, e:any}{, f:any}" TextureLoad;
        ".grad<tex_geom>.v4<int32|f16|f32><s32|f32>"
            "d{|p}, [a:r texture], b:any, c:any{, e:any}{, f:any}" TextureLoad;
        ".grad<tex_geom>.v2.f16x2<s32|f32>"
            "d{|p}, [a:r texture], b:any, c:any{, e:any}{, f:any}" TextureLoad;
    }
    /// Fetches one component of the four texels that would be interpolated.
    Tld4 "tld4" {
        "<r|g|b|a><2d|a2d|cube|acube>.v4<int32|f32>.f32" "d{|p}, [a:r texture]{, e:any}{, f:any}" TextureLoad;
    }
    /// Asks for a property of a texture or sampler.
    Txq "txq" {
        "<tex_query>.b32"                          "d, [a:no texture]" TextureQuery;
        ".level<width|height|depth>.b32"           "d, [a:no texture], b:b32" TextureQuery;
        "<sampler_query>.b32"                      "d, [a:no texture]" TextureQuery;
    }
    /// Whether an address refers to a texture, sampler or surface.
    Istypep "istypep" {
        "<texref|samplerref|surfref>"              "p, a:b64" TextureQuery;
    }
    /// Loads from a surface.
    Suld "suld" {
        ".b<surf_geom>{<ca|cg|cs|cv>}{<v2|v4>}<b8|bits>{<clip>}" "d, [a:r texture]" TextureLoad;
    }
    /// Stores to a surface.
    Sust "sust" {
        ".b<surf_geom>{<st_cache>}{<v2|v4>}<b8|bits>{<clip>}" "[a:w texture], b" SurfaceStore;
        ".p<surf_geom>{<st_cache>}{<v2|v4>}.b32{<clip>}"      "[a:w texture], b" SurfaceStore;
    }
    /// Reduces into a surface.
    Sured "sured" {
        ".b<and|or><1d|2d|3d>.b32<clip>"                   "[a:rw texture], b" SurfaceStore;
        ".b<add|min|max><1d|2d|3d><int3264><clip>"         "[a:rw texture], b" SurfaceStore;
        ".p<add|min|max|and|or><1d|2d|3d><bits3264><clip>" "[a:rw texture], b" SurfaceStore;
    }
    /// Asks for a property of a surface.
    Suq "suq" {
        "<surf_query>.b32"                         "d, [a:no texture]" TextureQuery;
    }

    // Control flow.

    /// Goes on at a label.
    Bra "bra" {
        "{.uni}"                                   "target:label" Branch;
    }
    /// Goes on at one label of a list.
    BrxIdx "brx.idx" {
        "{.uni}"                                   "index:b32, table:label" Branch;
    }
    /// Calls a function.
    Call "call" {
        "{.uni}"                                   "(d), f:func{, ()}{, targets:label}" Call;
        "{.uni}"                                   "f:func{, ()}{, targets:label}" Call;
    }
    /// Returns from a function.
    Ret "ret" {
        "{.uni}"                                   "" Return;
    }
    /// Ends the thread.
    Exit "exit" {
        ""                                         "" Exit;
    }

    // Synchronisation.

    /// Waits at a barrier of the block; all threads of a warp come together.
    BarSync "bar.sync" {
        "{.cta}"                                   "a:b32{, b:b32}" Barrier;
    }
    /// Arrives at a barrier of the block without waiting.
    BarArrive "bar.arrive" {
        "{.cta}"                                   "a:b32, b:b32" Barrier;
    }
    /// Waits at a barrier of the block and combines a predicate of all threads.
    BarRed "bar.red" {
        "{.cta}.popc.u32"                          "d, a:b32{, b:b32}, {!}c:pred" Barrier;
        "{.cta}<and|or>.pred"                      "p, a:b32{, b:b32}, {!}c:pred" Barrier;
    }
    /// Waits at a barrier of the block.
    BarrierSync "barrier.sync" {
        "{.cta}{.aligned}"                         "a:b32{, b:b32}" Barrier;
    }
    /// Arrives at a barrier of the block without waiting.
    BarrierArrive "barrier.arrive" {
        "{.cta}{.aligned}"                         "a:b32, b:b32" Barrier;
    }
    /// Waits at a barrier of the block and combines a predicate of all threads.
    BarrierRed "barrier.red" {
        "{.cta}.popc{.aligned}.u32"                "d, a:b32{, b:b32}, {!}c:pred" Barrier;
        "{.cta}<and|or>{.aligned}.pred"            "p, a:b32{, b:b32}, {!}c:pred" Barrier;
    }
    /// Waits for lanes of the warp.
    BarWarpSync "bar.warp.sync" {
        ""                                         "mask:b32" Collective;
    }
    /// Arrives at the barrier of the cluster without waiting.
    BarrierClusterArrive "barrier.cluster.arrive" {
        "{<release|relaxed>}{.aligned}"            "" Barrier;
    }
    /// Waits at the barrier of the cluster.
    BarrierClusterWait "barrier.cluster.wait" {
        "{.acquire}{.aligned}"                     "" Barrier;
    }
    /// Orders memory accesses of the thread.
    Fence "fence" {
        "{<sc|acq_rel|acquire|release>}<scope>"           "" Fence;
        ".acquire.sync_restrict::shared::cluster.cluster" "" Fence;
        ".release.sync_restrict::shared::cta.cluster"     "" Fence;
        ".mbarrier_init.release.cluster"                  "" Fence;
        ".alias.sync_restrict::read.release.sys"          "" Fence;
    }
    /// Orders accesses that reach memory by different ways.
    FenceProxy "fence.proxy" {
        "<alias|async>"                                                               "" Fence;
        ".async<global|shared::cta|shared::cluster>"                                  "" Fence;
        ".alias<acquire|release>.sys"                                                 "" Fence;
        "<fabric::fabric|fabric::generic|generic::fabric>.alias<acquire|release>.sys" "" Fence;
        ".tensormap::generic.release<scope>"                                          "" Fence;
        ".tensormap::generic.acquire<scope>"                                          "[a], size:imm" Fence;
        ".async::generic.acquire.sync_restrict::shared::cluster.cluster"              "" Fence;
        ".async::generic.release.sync_restrict::shared::cta.cluster"                  "" Fence;
        ".async::generic.release.sync_restrict::shared::cluster::read<cta|cluster>"   "" Fence;
    }
    /// Orders memory accesses of the thread, as before `fence`.
    Membar "membar" {
        "<cta|gl|sys>"                             "" Fence;
        ".proxy<alias|async>"                      "" Fence;
    }
    /// Reads memory, writes it and returns the old value in one step.
    Atom "atom" {
        "{<relaxed|acquire|release|acq_rel>}{<scope>}{<atom_space>}<and|or|xor|exch>{.L2::cache_hint}<bits3264>"
            "d, [a], b{, policy:b64}" Atomic;
        "{<relaxed|acquire|release|acq_rel>}{<scope>}{<atom_space>}<add|min|max>{.L2::cache_hint}<int3264>"
            "d, [a], b{, policy:b64}" Atomic;
        "{<relaxed|acquire|release|acq_rel>}{<scope>}{<atom_space>}<inc|dec>{.L2::cache_hint}.u32"
            "d, [a], b{, policy:b64}" Atomic;
        "{<relaxed|acquire|release|acq_rel>}{<scope>}{<atom_space>}.add{.L2::cache_hint}.f64"
            "d, [a], b{, policy:b64}" Atomic;
        "{<relaxed|acquire|release|acq_rel>}{<scope>}{<atom_space>}.cas{.L2::cache_hint}<bits|b128>"
            "d, [a], b, c{, policy:b64}" Atomic;
        "{<relaxed|acquire|release|acq_rel>}{<scope>}{<atom_space>}.exch{.L2::cache_hint}.b128"
            "d, [a], b{, policy:b64}" Atomic;
        "{<relaxed|acquire|release|acq_rel>}{<scope>}{<atom_space>}<add|min|max>.noftz{.L2::cache_hint}{<vec>}\
         <fp16|bfp16>"
            "d, [a], b{, policy:b64}" Atomic;
        "{<relaxed|acquire|release|acq_rel>}{<scope>}{<atom_space>}.add{.noftz}{.L2::cache_hint}{<v2|v4>}.f32"
            "d, [a], b{, policy:b64}" Atomic;
    }
    /// Reads and writes memory in one step.
    Red "red" {
        "{<relaxed|release>}{<scope>}{<atom_space>}<and|or|xor>{.L2::cache_hint}<bits3264>"
            "[a], b{, policy:b64}" Atomic;
        "{<relaxed|release>}{<scope>}{<atom_space>}<add|min|max>{.L2::cache_hint}<int3264>"
            "[a], b{, policy:b64}" Atomic;
        "{<relaxed|release>}{<scope>}{<atom_space>}<inc|dec>{.L2::cache_hint}.u32"
            "[a], b{, policy:b64}" Atomic;
        "{<relaxed|release>}{<scope>}{<atom_space>}.add{.L2::cache_hint}.f64"
            "[a], b{, policy:b64}" Atomic;
        "{<relaxed|release>}{<scope>}{<atom_space>}<add|min|max>.noftz{.L2::cache_hint}{<vec>}<fp16|bfp16>"
            "[a], b{, policy:b64}" Atomic;
        "{<relaxed|release>}{<scope>}{<atom_space>}.add{.noftz}{.L2::cache_hint}{<v2|v4>}.f32"
            "[a], b{, policy:b64}" Atomic;
    }
    /// Reads and writes memory in one step, asynchronously.
    RedAsync "red.async" {
        ".relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes<add|min|max><int3264>"
            "[a:rw], b, [mbar:rw 8]" AsyncCopy;
        ".relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes<and|or|xor>.b32"
            "[a:rw], b, [mbar:rw 8]" AsyncCopy;
        ".relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes<inc|dec>.u32"
            "[a:rw], b, [mbar:rw 8]" AsyncCopy;
        "{.mmio}.release<gpu|sys>{.global}<add|min|max><int3264>"
            "[a:rw], b" AsyncCopy;
        "{.mmio}.release<gpu|sys>{.global}<and|or|xor>.b32"
            "[a:rw], b" AsyncCopy;
        "{.mmio}.release<gpu|sys>{.global}<inc|dec>.u32"
            "[a:rw], b" AsyncCopy;
    }
    /// Combines a predicate of all lanes.
    Vote "vote" {
        ".sync<all|any|uni>.pred"                  "p, {!}a:pred, mask:b32" Collective;
        ".sync.ballot.b32"                         "d, {!}a:pred, mask:b32" Collective;
        "<all|any|uni>.pred"                       "p, {!}a:pred" Collective;
        ".ballot.b32"                              "d, {!}a:pred" Collective;
    }
    /// Finds the lanes that have the same value.
    Match "match" {
        ".any.sync<bits3264>"                      "d:b32, a, mask:b32" Collective;
        ".all.sync<bits3264>"                      "d{|p}:b32, a, mask:b32" Collective;
    }
    /// The lanes that execute this instruction together.
    Activemask "activemask" {
        ".b32"                                     "d" Collective;
    }
    /// Reduces a value over the lanes of a warp.
    Redux "redux" {
        ".sync<add|min|max><int32>"                "d, a, mask:b32" Collective;
        ".sync<and|or|xor>.b32"                    "d, a, mask:b32" Collective;
        ".sync<min|max>{.abs}{.NaN}.f32"           "d, a, mask:b32" Collective;
    }
    /// Elects one lane of a warp.
    Elect "elect" {
        ".sync"                                    "d|p:b32, mask:b32" Collective;
    }
    /// Lets the next grid start early, or waits for the previous one.
    Griddepcontrol "griddepcontrol" {
        "<launch_dependents|wait>"                 "" Control;
    }

    // Barrier objects in shared memory.

    /// Makes a barrier object.
    MbarrierInit "mbarrier.init" {
        "{<layout::v0|layout::v1>}{<shared_own>}.b64" "[a:w 8], b:b32" Mbarrier;
    }
    /// Ends a barrier object, so that its memory can be used for something else.
    MbarrierInval "mbarrier.inval" {
        "{<shared_own>}.b64"                       "[a:w 8]" Mbarrier;
    }
    /// Makes the phase wait for more bytes.
    MbarrierExpectTx "mbarrier.expect_tx" {
        "{.relaxed}{<cta|cluster>}{<shared_any>}.b64"                             "[a:rw 8], b:b32" Mbarrier;
        "{.relaxed}{<cta|cluster>}{.shared::cluster}.multicast::cluster::32b.b64" "[a:rw 8], b:b32, ctas:b32" Mbarrier;
    }
    /// Tells the phase that bytes have come.
    MbarrierCompleteTx "mbarrier.complete_tx" {
        "{.relaxed}{<cta|cluster>}{<shared_any>}.b64"                             "[a:rw 8], b:b32" Mbarrier;
        "{.relaxed}{<cta|cluster>}{.shared::cluster}.multicast::cluster::32b.b64" "[a:rw 8], b:b32, ctas:b32" Mbarrier;
    }
    /// Arrives at a barrier object.
    MbarrierArrive "mbarrier.arrive" {
        "{<release|relaxed>}{<cta|cluster>}{<shared_any>}.b64"           "d, [a:rw 8]{, b:b32}" Mbarrier;
        ".expect_tx{<release|relaxed>}{<cta|cluster>}{<shared_any>}.b64" "d, [a:rw 8], b:b32" Mbarrier;
        "{.expect_tx}{<release|relaxed>}{<cta|cluster>}{.shared::cluster}.multicast::cluster::32b.b64"
            "d, [a:rw 8], b:b32, ctas:b32" Mbarrier;
        ".noComplete{.release}{.cta}{<shared_own>}.b64"                  "d, [a:rw 8], b:b32" Mbarrier;
    }
    /// Arrives at a barrier object and is no longer expected there.
    MbarrierArriveDrop "mbarrier.arrive_drop" {
        "{<release|relaxed>}{<cta|cluster>}{<shared_any>}.b64"           "d, [a:rw 8]{, b:b32}" Mbarrier;
        ".expect_tx{<release|relaxed>}{<cta|cluster>}{<shared_any>}.b64" "d, [a:rw 8], b:b32" Mbarrier;
        "{.expect_tx}{<release|relaxed>}{<cta|cluster>}{.shared::cluster}.multicast::cluster::32b.b64"
            "d, [a:rw 8], b:b32, ctas:b32" Mbarrier;
        ".noComplete{.release}{.cta}{<shared_own>}.b64"                  "d, [a:rw 8], b:b32" Mbarrier;
    }
    /// Whether a phase is complete.
    MbarrierTestWait "mbarrier.test_wait" {
        "{<acquire|relaxed>}{<cta|cluster>}{<shared_own>}.b64" "p, [a:r 8], b:b64" Mbarrier;
        ".parity{.phase_type::conditional}{<acquire|relaxed>}{<cta|cluster>}{<shared_own>}.b64"
            "p, [a:r 8], b:b32" Mbarrier;
        ".phase_type::primary{<acquire|relaxed>}{<cta|cluster>}{<shared_own>}.b64"
            "p{|q}{, d:b8}, [a:r 8], b:b64" Mbarrier;
        ".parity.phase_type::primary{<acquire|relaxed>}{<cta|cluster>}{<shared_own>}.b64"
            "p{|q}{, d:b8}, [a:r 8], b:b32" Mbarrier;
    }
    /// Waits some time for a phase to complete.
    MbarrierTryWait "mbarrier.try_wait" {
        "{<acquire|relaxed>}{<cta|cluster>}{<shared_own>}.b64" "p, [a:r 8], b:b64{, c:b32}" Mbarrier;
        ".parity{.phase_type::conditional}{<acquire|relaxed>}{<cta|cluster>}{<shared_own>}.b64"
            "p, [a:r 8], b:b32{, c:b32}" Mbarrier;
        ".phase_type::primary{<acquire|relaxed>}{<cta|cluster>}{<shared_own>}.b64"
            "p{|q}{, d:b8}, [a:r 8], b:b64{, c:b32}" Mbarrier;
        ".parity.phase_type::primary{<acquire|relaxed>}{<cta|cluster>}{<shared_own>}.b64"
            "p{|q}{, d:b8}, [a:r 8], b:b32{, c:b32}" Mbarrier;
    }
    /// The number of arrivals that a phase still waited for.
    MbarrierPendingCount "mbarrier.pending_count" {
        "{<layout::v0|layout::v1>}.b64"            "d:b32, a" Pure;
    }
    /// Whether a barrier object has a layout.
    MbarrierCheckLayout "mbarrier.check_layout" {
        "<layout::v0|layout::v1>{<shared_own>}.b64" "p, [a:r 8]" Mbarrier;
    }

    // Launching clusters.

    /// Asks to cancel a cluster that has not started yet, and writes the answer to shared memory.
    ClusterlaunchcontrolTryCancel "clusterlaunchcontrol.try_cancel" {
        ".async{.shared::cta}.mbarrier::complete_tx::bytes{.multicast::cluster::all}.b128"
            "[a:w 16], [mbar:rw 8]" AsyncCopy;
    }
    /// Reads the answer to a request to cancel a cluster.
    ClusterlaunchcontrolQueryCancel "clusterlaunchcontrol.query_cancel" {
        ".is_canceled.pred.b128"                                              "p, a:b128" Pure;
        ".get_first_ctaid.v4.b32.b128"                                        "d, a:b128" Pure;
        "<get_first_ctaid::x|get_first_ctaid::y|get_first_ctaid::z>.b32.b128" "d, a:b128" Pure;
    }

    // Matrices of a warp.

    /// Loads a fragment of a matrix.
    WmmaLoadA "wmma.load.a" {
        ".sync.aligned<layout><mnk>{<global|shared_own>}<f16|bf16|tf32|f64|byte|nibble|b1>"
            "d:any, [a:r ?]{, stride:b32}" Load;
    }
    /// Loads a fragment of a matrix.
    WmmaLoadB "wmma.load.b" {
        ".sync.aligned<layout><mnk>{<global|shared_own>}<f16|bf16|tf32|f64|byte|nibble|b1>"
            "d:any, [a:r ?]{, stride:b32}" Load;
    }
    /// Loads a fragment of an accumulator.
    WmmaLoadC "wmma.load.c" {
        ".sync.aligned<layout><mnk>{<global|shared_own>}<f16|f32|s32|f64>"
            "d:any, [a:r ?]{, stride:b32}" Load;
    }
    /// Stores a fragment of an accumulator.
    WmmaStoreD "wmma.store.d" {
        ".sync.aligned<layout><mnk>{<global|shared_own>}<f16|f32|s32|f64>"
            "[a:w ?], b:any{, stride:b32}" Store;
    }
    /// Multiplies two matrices and adds a third.
    WmmaMma "wmma.mma" {
        ".sync.aligned<layout><layout><mnk><f16|f32><f16|f32>{.satfinite}"
            "d:any, a:any, b:any, c:any" Collective;
        ".sync.aligned<layout><layout><mnk>.s32<byte|nibble><byte|nibble>.s32{.satfinite}"
            "d:any, a:any, b:any, c:any" Collective;
        ".sync.aligned<layout><layout><mnk>.f32<bf16|tf32><bf16|tf32>.f32"
            "d:any, a:any, b:any, c:any" Collective;
        ".sync.aligned<layout><layout><mnk>{<rnd>}.f64.f64.f64.f64"
            "d:any, a:any, b:any, c:any" Collective;
        "<xor|and>.popc.sync.aligned<layout><layout><mnk>.s32.b1.b1.s32"
            "d:any, a:any, b:any, c:any" Collective;
    }
    /// Multiplies two matrices and adds a third; the first may be sparse, all may be scaled.
    Mma "mma" {
        ".sync.aligned<mnk><layout><layout><f16|f32>.f16.f16<f16|f32>"     "d:any, a:any, b:any, c:any" Collective;
        ".sync.aligned<mnk><layout><layout>.f32<bf16|tf32><bf16|tf32>.f32" "d:any, a:any, b:any, c:any" Collective;
        ".sync.aligned<mnk>.row.col{.kind::f8f6f4}<f16|f32><narrow><narrow><f16|f32>"
            "d:any, a:any, b:any, c:any" Collective;
        ".sync.aligned<mnk>.row.col{<rnd>}.f64.f64.f64.f64"                "d:any, a:any, b:any, c:any" Collective;
        ".sync.aligned<mnk>.row.col{.satfinite}.s32<byte><byte>.s32"       "d:any, a:any, b:any, c:any" Collective;
        ".sync.aligned<mnk>.row.col{.satfinite}.s32<nibble><nibble>.s32"   "d:any, a:any, b:any, c:any" Collective;
        ".sync.aligned<mnk>.row.col.s32.b1.b1.s32<xor|and>.popc"           "d:any, a:any, b:any, c:any" Collective;
        ".sync.aligned<mnk>.row.col<kind::mxf4|kind::mxf4nvf4|kind::mxf8f6f4>.block_scale{<scale_vec>}.f32<narrow>\
         <narrow>.f32<ue8m0|ue4m3>"
            "d:any, a:any, b:any, c:any, e:b32, f:any, g:b32, h:any" Collective;
        "<sparse>.sync.aligned<mnk>.row.col<f16|f32>.f16.f16<f16|f32>"
            "d:any, a:any, b:any, c:any, e:b32, f:imm" Collective;
        "<sparse>.sync.aligned<mnk>.row.col.f32<bf16|tf32><bf16|tf32>.f32"
            "d:any, a:any, b:any, c:any, e:b32, f:imm" Collective;
        "<sparse>.sync.aligned<mnk>.row.col{.kind::f8f6f4}<f16|f32><narrow><narrow><f16|f32>"
            "d:any, a:any, b:any, c:any, e:b32, f:imm" Collective;
        "<sparse>.sync.aligned<mnk>.row.col{.satfinite}.s32<byte><byte>.s32"
            "d:any, a:any, b:any, c:any, e:b32, f:imm" Collective;
        "<sparse>.sync.aligned<mnk>.row.col{.satfinite}.s32<nibble><nibble>.s32"
            "d:any, a:any, b:any, c:any, e:b32, f:imm" Collective;
        "<sparse>.sync.aligned<mnk>.row.col<kind::mxf4|kind::mxf4nvf4|kind::mxf8f6f4>.block_scale{<scale_vec>}.f32\
         <narrow><narrow>.f32<ue8m0|ue4m3>"
            "d:any, a:any, b:any, c:any, e:b32, f:imm, g:b32, h:any, i:b32, j:any" Collective;
    }
    /// Loads small matrices from shared memory; each lane gives the address of a row.
    Ldmatrix "ldmatrix" {
        ".sync.aligned.m8n8<count4>{.trans}{<shared_own>}.b16"                       "d:any, [a:r 16]" Load;
        ".sync.aligned.m16n16<x1|x2>.trans{<shared_own>}.b8"                         "d:any, [a:r 16]" Load;
        ".sync.aligned.m8n16<count4>{<shared_own>}.b8x16<b6x16_p32|b4x16_p64>"       "d:any, [a:r 16]" Load;
        ".sync.aligned.m8n16<count4>{<shared_own>}.s8.s4"                            "d:any, [a:r 8]" Load;
        ".sync.aligned.m16n16<x1|x2>.trans{<shared_own>}.b8x16<b6x16_p32|b4x16_p64>" "d:any, [a:r 16]" Load;
    }
    /// Stores small matrices to shared memory; each lane gives the address of a row.
    Stmatrix "stmatrix" {
        ".sync.aligned.m8n8<count4>{.trans}{<shared_own>}.b16" "[a:w 16], b:any" Store;
        ".sync.aligned.m16n8<count4>.trans{<shared_own>}.b8"   "[a:w 16], b:any" Store;
    }
    /// Transposes a small matrix in registers.
    Movmatrix "movmatrix" {
        ".sync.aligned.m8n8.trans.b16"             "d:b32, a:b32" Collective;
    }

    // Matrices of a warpgroup.

    /// Multiplies matrices in shared memory and adds to registers, asynchronously.
    WgmmaMmaAsync "wgmma.mma_async" {
        ".sync.aligned<mnk><f16|f32><f16|bf16><f16|bf16>"
            "+d:any, a:any, b:b64, {!}c:pred, e:imm, f:imm, g:imm{, h:imm}" Tensor;
        ".sync.aligned<mnk><f16|f32><tf32|fp8><tf32|fp8>"
            "+d:any, a:any, b:b64, {!}c:pred, e:imm, f:imm" Tensor;
        ".sync.aligned<mnk>{.satfinite}.s32<byte><byte>"
            "+d:any, a:any, b:b64, {!}c:pred" Tensor;
        ".sync.aligned<mnk>.s32.b1.b1.and.popc"
            "+d:any, a:any, b:b64, {!}c:pred" Tensor;
    }
    /// Multiplies matrices of which the first is sparse and adds to registers, asynchronously.
    WgmmaMmaAsyncSp "wgmma.mma_async.sp" {
        ".sync.aligned<mnk><f16|f32><f16|bf16><f16|bf16>"
            "+d:any, a:any, b:b64, c:b32, e:imm, {!}f:pred, g:imm, h:imm, i:imm{, j:imm}" Tensor;
        ".sync.aligned<mnk><f16|f32><tf32|fp8><tf32|fp8>"
            "+d:any, a:any, b:b64, c:b32, e:imm, {!}f:pred, g:imm, h:imm" Tensor;
        ".sync.aligned<mnk>{.satfinite}.s32<byte><byte>"
            "+d:any, a:any, b:b64, c:b32, e:imm, {!}f:pred" Tensor;
    }
    /// Orders registers and shared memory with `wgmma`.
    WgmmaFence "wgmma.fence" {
        ".sync.aligned"                            "" Fence;
    }
    /// Makes a group of all `wgmma` that are in none yet.
    WgmmaCommitGroup "wgmma.commit_group" {
        ".sync.aligned"                            "" AsyncGroup;
    }
    /// Waits until at most so many groups of `wgmma` are pending.
    WgmmaWaitGroup "wgmma.wait_group" {
        ".sync.aligned"                            "n:imm" AsyncGroup;
    }

    // Tensor memory and matrices of a block or two.

    /// Allocates columns of tensor memory and writes their address to shared memory.
    Tcgen05Alloc "tcgen05.alloc" {
        "{.exclusive}<cta_group>.sync.aligned{.shared::cta}.b32" "[a:w], b:b32" Tensor;
    }
    /// Frees columns of tensor memory.
    Tcgen05Dealloc "tcgen05.dealloc" {
        "{.exclusive}<cta_group>.sync.aligned.b32" "a, b:b32" Tensor;
    }
    /// Promises to allocate no more tensor memory.
    Tcgen05RelinquishAllocPermit "tcgen05.relinquish_alloc_permit" {
        "<cta_group>.sync.aligned"                 "" Tensor;
    }
    /// Loads registers from tensor memory, asynchronously.
    Tcgen05Ld "tcgen05.ld" {
        ".sync.aligned<tmem_shape><count128>{.pack::16b}.b32" "d:any, [a:r tmem]" Tensor;
        ".sync.aligned.16x32bx2<count128>{.pack::16b}.b32"    "d:any, [a:r tmem], b:imm" Tensor;
    }
    /// Loads registers from tensor memory and reduces them, asynchronously.
    Tcgen05LdRed "tcgen05.ld.red" {
        ".sync.aligned.32x32b<count128><min|max>{.abs}{.NaN}<f32|int32>"   "d:any, d2:b32, [a:r tmem]" Tensor;
        ".sync.aligned.16x32bx2<count128><min|max>{.abs}{.NaN}<f32|int32>" "d:any, d2:b32, [a:r tmem], b:imm" Tensor;
    }
    /// Loads registers from tensor memory and keeps two of each four, asynchronously.
    Tcgen05LdSpcompress "tcgen05.ld.spcompress" {
        ".sync.aligned.32x32b<count128><min|max>.sp::2:4{.abs}{.NaN}.f32.b2" "d:any, d2:any, [a:r tmem]" Tensor;
    }
    /// Loads registers from tensor memory, keeps two of each four and reduces them, asynchronously.
    Tcgen05LdRedSpcompress "tcgen05.ld.red.spcompress" {
        ".sync.aligned.32x32b<count128><min|max>.sp::2:4{.abs}{.NaN}.f32.b2" "d:any, d2:any, q:b32, [a:r tmem]" Tensor;
    }
    /// Stores registers to tensor memory, asynchronously.
    Tcgen05St "tcgen05.st" {
        ".sync.aligned<tmem_shape><count128>{.unpack::16b}.b32" "[a:w tmem], b:any" Tensor;
        ".sync.aligned.16x32bx2<count128>{.unpack::16b}.b32"    "[a:w tmem], b:imm, c:any" Tensor;
    }
    /// Waits for the loads from tensor memory of the thread.
    Tcgen05WaitLd "tcgen05.wait::ld" {
        ".sync.aligned"                            "" AsyncGroup;
    }
    /// Waits for the stores to tensor memory of the thread.
    Tcgen05WaitSt "tcgen05.wait::st" {
        ".sync.aligned"                            "" AsyncGroup;
    }
    /// Copies from shared to tensor memory, asynchronously.
    Tcgen05Cp "tcgen05.cp" {
        "<cta_group><128x256b|4x256b|128x128b|64x128b|32x128b>{<warpx2::02_13|warpx2::01_23|warpx4>}\
         {.b8x16<b6x16_p32|b4x16_p64>}"
            "[d:w tmem], a:b64" Tensor;
    }
    /// Shifts rows of tensor memory down, asynchronously.
    Tcgen05Shift "tcgen05.shift" {
        "<cta_group>.down"                         "[a:rw tmem]" Tensor;
    }
    /// Multiplies matrices and adds to tensor memory, asynchronously.
    Tcgen05Mma "tcgen05.mma" {
        "<cta_group><kind::f16|kind::tf32|kind::f8f6f4|kind::i8|kind::ti16>{.ashift}{<collect_a>}{<collect_b>}"
            "[d:rw tmem], a:b64, b:b64, c:b32{, e:any}, {!}f:pred{, g:imm}" Tensor;
        "<cta_group><kind::f16|kind::tf32|kind::f8f6f4|kind::i8|kind::ti16>{.ashift}{<collect_a>}{<collect_b>}"
            "[d:rw tmem], [a:r tmem], b:b64, c:b32{, e:any}, {!}f:pred{, g:imm}" Tensor;
        "<cta_group><kind::mxf8f6f4|kind::mxf4|kind::mxf4nvf4>.block_scale{<scale_vec>}{<collect_a>}{<collect_b>}"
            "[d:rw tmem], a:b64, b:b64, c:b32, [e:r tmem], [f:r tmem], {!}g:pred" Tensor;
        "<cta_group><kind::mxf8f6f4|kind::mxf4|kind::mxf4nvf4>.block_scale{<scale_vec>}{<collect_a>}{<collect_b>}"
            "[d:rw tmem], [a:r tmem], b:b64, c:b32, [e:r tmem], [f:r tmem], {!}g:pred" Tensor;
        "<cta_group>.kind::f8f6f4.decompress::lut::b{.ashift}{<collect_a>}{<collect_b>}"
            "[d:rw tmem], a:b64, b:b64, [m:r tmem], c:b32{, e:any}, {!}f:pred{, g:imm}" Tensor;
        "<cta_group>.kind::f8f6f4.decompress::lut::b{.ashift}{<collect_a>}{<collect_b>}"
            "[d:rw tmem], [a:r tmem], b:b64, [m:r tmem], c:b32{, e:any}, {!}f:pred{, g:imm}" Tensor;
        "<cta_group>.kind::mxf8f6f4.block_scale.decompress::lut::b{<scale_vec>}{<collect_a>}{<collect_b>}"
            "[d:rw tmem], a:b64, b:b64, [m:r tmem], c:b32, [e:r tmem], [f:r tmem], {!}g:pred" Tensor;
        "<cta_group>.kind::mxf8f6f4.block_scale.decompress::lut::b{<scale_vec>}{<collect_a>}{<collect_b>}"
            "[d:rw tmem], [a:r tmem], b:b64, [m:r tmem], c:b32, [e:r tmem], [f:r tmem], {!}g:pred" Tensor;
    }
    /// Multiplies matrices of which the first is sparse and adds to tensor memory, asynchronously.
    Tcgen05MmaSp "tcgen05.mma.sp" {
        "<cta_group><kind::f16|kind::tf32|kind::f8f6f4|kind::i8|kind::ti16>{.ashift}{<collect_a>}{<collect_b>}"
            "[d:rw tmem], a:b64, b:b64, [m:r tmem], c:b32{, e:any}, {!}f:pred{, g:imm}" Tensor;
        "<cta_group><kind::f16|kind::tf32|kind::f8f6f4|kind::i8|kind::ti16>{.ashift}{<collect_a>}{<collect_b>}"
            "[d:rw tmem], [a:r tmem], b:b64, [m:r tmem], c:b32{, e:any}, {!}f:pred{, g:imm}" Tensor;
        "<cta_group><kind::mxf8f6f4|kind::mxf4|kind::mxf4nvf4>.block_scale{<scale_vec>}{<collect_a>}{<collect_b>}"
            "[d:rw tmem], a:b64, b:b64, [m:r tmem], c:b32, [e:r tmem], [f:r tmem], {!}g:pred" Tensor;
        "<cta_group><kind::mxf8f6f4|kind::mxf4|kind::mxf4nvf4>.block_scale{<scale_vec>}{<collect_a>}{<collect_b>}"
            "[d:rw tmem], [a:r tmem], b:b64, [m:r tmem], c:b32, [e:r tmem], [f:r tmem], {!}g:pred" Tensor;
    }
    /// Multiplies matrices with the second kept in place and adds to tensor memory, asynchronously.
    Tcgen05MmaWs "tcgen05.mma.ws" {
        ".cta_group::1<kind::f16|kind::tf32|kind::f8f6f4|kind::i8|kind::ti16>{<collect_ws>}"
            "[d:rw tmem], a:b64, b:b64, c:b32, {!}e:pred{, f:b64}" Tensor;
        ".cta_group::1<kind::f16|kind::tf32|kind::f8f6f4|kind::i8|kind::ti16>{<collect_ws>}"
            "[d:rw tmem], [a:r tmem], b:b64, c:b32, {!}e:pred{, f:b64}" Tensor;
    }
    /// Multiplies matrices, the first sparse and the second kept in place, and adds to tensor memory, asynchronously.
    Tcgen05MmaWsSp "tcgen05.mma.ws.sp" {
        ".cta_group::1<kind::f16|kind::tf32|kind::f8f6f4|kind::i8|kind::ti16>{<collect_ws>}"
            "[d:rw tmem], a:b64, b:b64, [m:r tmem], c:b32, {!}e:pred{, f:b64}" Tensor;
        ".cta_group::1<kind::f16|kind::tf32|kind::f8f6f4|kind::i8|kind::ti16>{<collect_ws>}"
            "[d:rw tmem], [a:r tmem], b:b64, [m:r tmem], c:b32, {!}e:pred{, f:b64}" Tensor;
    }
    /// Orders tensor operations before a synchronisation of threads.
    Tcgen05FenceBefore "tcgen05.fence::before_thread_sync" {
        ""                                         "" Fence;
    }
    /// Orders tensor operations after a synchronisation of threads.
    Tcgen05FenceAfter "tcgen05.fence::after_thread_sync" {
        ""                                         "" Fence;
    }
    /// Makes a barrier object wait for all tensor operations of the thread so far.
    Tcgen05Commit "tcgen05.commit" {
        "<cta_group>.mbarrier::arrive::one{.sync_restrict::shared::read::mma::a}{.shared::cluster}.b64"
            "[mbar:rw 8]" AsyncGroup;
        "<cta_group>.mbarrier::arrive::one{.sync_restrict::shared::read::mma::a}{.shared::cluster}<multicast16>.b64"
            "[mbar:rw 8], ctas:b16" AsyncGroup;
        "<cta_group>.mbarrier::arrive::one{.sync_restrict::shared::read::mma::a}{.shared::cluster}\
         .multicast::cluster::32b.b64"
            "[mbar:rw 8], ctas:b32" AsyncGroup;
    }

    // Stack.

    /// The stack pointer.
    Stacksave "stacksave" {
        "<u32|u64>"                                "d" Stack;
    }
    /// Sets the stack pointer.
    Stackrestore "stackrestore" {
        "<u32|u64>"                                "a" Stack;
    }
    /// Allocates memory on the stack.
    Alloca "alloca" {
        "<u32|u64>"                                "d, a{, b:imm}" Stack;
    }

    // Video: bytes and halfwords of registers.

    /// Adds bytes, halfwords or words.
    Vadd "vadd" {
        "<int32><int32><int32>{.sat}"              "d, a:t1, b:t2{, c:t0}" Pure;
        "<int32><int32><int32>{.sat}<add|min|max>" "d, a:t1, b:t2, c:t0" Pure;
    }
    /// Subtracts bytes, halfwords or words.
    Vsub "vsub" {
        "<int32><int32><int32>{.sat}"              "d, a:t1, b:t2{, c:t0}" Pure;
        "<int32><int32><int32>{.sat}<add|min|max>" "d, a:t1, b:t2, c:t0" Pure;
    }
    /// Absolute difference of bytes, halfwords or words.
    Vabsdiff "vabsdiff" {
        "<int32><int32><int32>{.sat}"              "d, a:t1, b:t2{, c:t0}" Pure;
        "<int32><int32><int32>{.sat}<add|min|max>" "d, a:t1, b:t2, c:t0" Pure;
    }
    /// Smaller of two bytes, halfwords or words.
    Vmin "vmin" {
        "<int32><int32><int32>{.sat}"              "d, a:t1, b:t2{, c:t0}" Pure;
        "<int32><int32><int32>{.sat}<add|min|max>" "d, a:t1, b:t2, c:t0" Pure;
    }
    /// Larger of two bytes, halfwords or words.
    Vmax "vmax" {
        "<int32><int32><int32>{.sat}"              "d, a:t1, b:t2{, c:t0}" Pure;
        "<int32><int32><int32>{.sat}<add|min|max>" "d, a:t1, b:t2, c:t0" Pure;
    }
    /// Shifts a byte, halfword or word left.
    Vshl "vshl" {
        "<int32><int32>.u32{.sat}<clamp|wrap>"              "d, a:t1, b:t2{, c:t0}" Pure;
        "<int32><int32>.u32{.sat}<clamp|wrap><add|min|max>" "d, a:t1, b:t2, c:t0" Pure;
    }
    /// Shifts a byte, halfword or word right.
    Vshr "vshr" {
        "<int32><int32>.u32{.sat}<clamp|wrap>"              "d, a:t1, b:t2{, c:t0}" Pure;
        "<int32><int32>.u32{.sat}<clamp|wrap><add|min|max>" "d, a:t1, b:t2, c:t0" Pure;
    }
    /// Multiplies bytes or halfwords and adds.
    Vmad "vmad" {
        "<int32><int32><int32>{.po}{.sat}{<shr7|shr15>}" "d, a:t1, b:t2, c:t0" Pure;
    }
    /// Compares bytes, halfwords or words.
    Vset "vset" {
        "<int32><int32><cmp_sign>"                 "d:b32, a:t0, b:t1{, c:b32}" Pure;
        "<int32><int32><cmp_sign><add|min|max>"    "d:b32, a:t0, b:t1, c:b32" Pure;
    }
    /// Adds two pairs of halfwords.
    Vadd2 "vadd2" {
        "<int32><int32><int32>{<sat|add>}"         "d, a:t1, b:t2, c:t0" Pure;
    }
    /// Subtracts two pairs of halfwords.
    Vsub2 "vsub2" {
        "<int32><int32><int32>{<sat|add>}"         "d, a:t1, b:t2, c:t0" Pure;
    }
    /// Averages two pairs of halfwords.
    Vavrg2 "vavrg2" {
        "<int32><int32><int32>{<sat|add>}"         "d, a:t1, b:t2, c:t0" Pure;
    }
    /// Absolute differences of two pairs of halfwords.
    Vabsdiff2 "vabsdiff2" {
        "<int32><int32><int32>{<sat|add>}"         "d, a:t1, b:t2, c:t0" Pure;
    }
    /// Smaller ones of two pairs of halfwords.
    Vmin2 "vmin2" {
        "<int32><int32><int32>{<sat|add>}"         "d, a:t1, b:t2, c:t0" Pure;
    }
    /// Larger ones of two pairs of halfwords.
    Vmax2 "vmax2" {
        "<int32><int32><int32>{<sat|add>}"         "d, a:t1, b:t2, c:t0" Pure;
    }
    /// Compares two pairs of halfwords.
    Vset2 "vset2" {
        "<int32><int32><cmp_sign>{.add}"           "d:b32, a:t0, b:t1, c:b32" Pure;
    }
    /// Adds four pairs of bytes.
    Vadd4 "vadd4" {
        "<int32><int32><int32>{<sat|add>}"         "d, a:t1, b:t2, c:t0" Pure;
    }
    /// Subtracts four pairs of bytes.
    Vsub4 "vsub4" {
        "<int32><int32><int32>{<sat|add>}"         "d, a:t1, b:t2, c:t0" Pure;
    }
    /// Averages four pairs of bytes.
    Vavrg4 "vavrg4" {
        "<int32><int32><int32>{<sat|add>}"         "d, a:t1, b:t2, c:t0" Pure;
    }
    /// Absolute differences of four pairs of bytes.
    Vabsdiff4 "vabsdiff4" {
        "<int32><int32><int32>{<sat|add>}"         "d, a:t1, b:t2, c:t0" Pure;
    }
    /// Smaller ones of four pairs of bytes.
    Vmin4 "vmin4" {
        "<int32><int32><int32>{<sat|add>}"         "d, a:t1, b:t2, c:t0" Pure;
    }
    /// Larger ones of four pairs of bytes.
    Vmax4 "vmax4" {
        "<int32><int32><int32>{<sat|add>}"         "d, a:t1, b:t2, c:t0" Pure;
    }
    /// Compares four pairs of bytes.
    Vset4 "vset4" {
        "<int32><int32><cmp_sign>{.add}"           "d:b32, a:t0, b:t1, c:b32" Pure;
    }

    // Others.

    /// Stops in the debugger.
    Brkpt "brkpt" {
        ""                                         "" Trap;
    }
    /// Sleeps for about so many nanoseconds.
    Nanosleep "nanosleep" {
        ".u32"                                     "a" Control;
    }
    /// Triggers performance monitor events.
    Pmevent "pmevent" {
        "{.mask}"                                  "a:imm" Control;
    }
    /// Ends the kernel with an error.
    Trap "trap" {
        ""                                         "" Trap;
    }
    /// Takes registers from, or gives them back to, the pool of the block.
    Setmaxnreg "setmaxnreg" {
        "<inc|dec>.sync.aligned.u32"               "a:imm" Control;
    }
}
