//! Decoded instructions: what the interpreter runs. Registers are slots, names are addresses, labels are positions.

use ptx::ir::StmtId;
use ptx::special::Special;
use smallvec::SmallVec;

use crate::arith::approx::Approx;
use crate::arith::bits::Permute;
use crate::arith::convert::Conversion;
use crate::arith::float::{FloatCompare, MinMax, Mode};
use crate::arith::format::{Format, Round};
use crate::arith::int::Int;
use crate::arith::matrix::{Dot, Element};
use crate::arith::video::{Order, Second, Selectors, Simd, VideoOp};
use crate::memory::Window;

/// The place of a register in a frame.
pub(crate) type Slot = u32;

/// A value that is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arg {
    /// No immediate is wider.
    Const(u64),
    Reg(Slot),
    /// `!%p`
    Not(Slot),
    /// `-%r`
    Neg(Slot),
    /// Some bits of a register.
    Part {
        slot: Slot,
        shift: u8,
        bits: u8,
    },
    Special(Special),
    /// The address in local memory of an offset in the frame of the function.
    Frame(u32),
}

/// A register that is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Dest {
    /// `_`
    Sink,
    /// All of a register; the value is cut to its width.
    Reg { slot: Slot, bits: u8 },
}

/// An address operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Address {
    pub window: Window,
    pub base: Arg,
    pub offset: i64,
    /// Whether the base is a 32-bit register: the sum wraps there.
    pub narrow: bool,
}

/// One instruction.
#[derive(Clone, Debug)]
pub(crate) struct Inst {
    /// A predicate, and whether the instruction runs where it is false.
    pub guard: Option<(Slot, bool)>,
    pub code: Code,
    pub dests: SmallVec<[Dest; 2]>,
    pub args: SmallVec<[Arg; 4]>,
    pub addresses: SmallVec<[Address; 1]>,
    pub stmt: StmtId,
}

/// What an instruction does. Dests, args and addresses are those of [`Inst`], in the order of the manual unless said
/// otherwise.
#[derive(Clone, Debug)]
pub(crate) enum Code {
    /// One result from the args.
    Pure(Pure),
    /// Args with their widths are strung together, lowest first, and dealt out to the dests.
    Deal {
        sources: SmallVec<[u8; 4]>,
        targets: SmallVec<[u8; 4]>,
    },
    /// Two predicates: the comparison, and its complement or that of the upper half.
    Setp(Setp),
    /// `lop3` with a predicate: the table, and `.or` instead of `.and`.
    Lop3Predicate {
        table: u8,
        or: bool,
    },
    /// `add.cc`, `addc`, `sub.cc`, `subc`, `mad.cc`, `madc`.
    Carry(Carry),
    Load {
        size: u8,
        signed: bool,
    },
    Store {
        size: u8,
    },
    Atomic(Atomic),
    /// Args: the size of the source if it is given, as a byte count or (`is_predicate`) as "ignore it".
    CopyAsync {
        size: u32,
        has_source_size: bool,
        is_predicate: bool,
    },
    Mbarrier(Mbarrier),
    /// Copies bytes at once and tells a barrier object. Args: the size, how many bytes at the start and at the end are
    /// left out, and which bytes of 16 are copied. Addresses: target, source, barrier.
    CopyBulk,
    /// Answers that no block was cancelled, and tells a barrier object. Addresses: the answer, barrier.
    TryCancel,
    /// Stores zeros. Arg: the size.
    StoreBulk,
    Bra(u32),
    /// Arg: the index.
    BrxIdx(Box<[u32]>),
    Call(Box<Call>),
    Ret,
    Exit,
    Trap,
    /// Nothing that can be seen here: fences, hints.
    Nop,
    /// Lets other threads run.
    Yield,
    Alloca {
        align: u64,
    },
    StackSave,
    StackRestore,
    Barrier(Barrier),
    ClusterArrive,
    ClusterWait,
    Collective(Collective),
}

/// Operations from values to one value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Pure {
    /// Copies bits of a width; signed ones are extended.
    Copy(Int),
    /// On each of some lanes of a type.
    Int {
        op: IntOp,
        ty: Int,
        lanes: u8,
        limit: IntLimit,
    },
    Popc(u32),
    Clz(u32),
    Bfind(Int, bool),
    Fns,
    Brev(u32),
    Bfe(Int),
    Bfi(u32),
    Szext {
        signed: bool,
        wrap: bool,
    },
    Bmsk {
        wrap: bool,
    },
    Dp4a {
        a_signed: bool,
        b_signed: bool,
    },
    Dp2a {
        a_signed: bool,
        b_signed: bool,
        high: bool,
    },
    Clmad {
        high: bool,
    },
    Logic(Logic),
    Cnot(u32),
    Lop3(u8),
    Shf {
        left: bool,
        wrap: bool,
    },
    Shl(u32),
    Shr(Int),
    Prmt(Permute),
    /// `c ? a : b`
    Selp,
    /// By the sign of an integer.
    SlctInt,
    /// By the sign of a single.
    SlctFloat {
        flush: bool,
    },
    Float {
        op: FloatOp,
        format: Format,
        lanes: u8,
        mode: Mode,
    },
    /// As `Float`, with factors or the first addend in a narrower format.
    Mixed {
        op: FloatOp,
        narrow: Format,
        mode: Mode,
    },
    Copysign(Format),
    Testp(TestKind, Format),
    Approx {
        function: Approx,
        format: Format,
        lanes: u8,
        flush: bool,
    },
    ApproxUpperHalf(Approx),
    DivApprox {
        flush: bool,
    },
    Set {
        compare: Compare,
        combine: Option<Combine>,
        truth: u64,
        lane_bits: u8,
    },
    Convert(Conversion),
    /// Two sources, the first into the upper half of the result.
    ConvertPair {
        conversion: Conversion,
        bits: u8,
    },
    /// Every lane of a packed source.
    ConvertLanes {
        conversion: Conversion,
        from_bits: u8,
        to_bits: u8,
        lanes: u8,
    },
    /// `cvt.pack`: type of the results and whether a third operand fills the upper bits.
    ConvertPack {
        to: Int,
    },
    /// From a generic address, or to one.
    Cvta {
        window: Window,
        to: bool,
        bits: u32,
    },
    Isspacep(Window),
    Video(Video),
    VideoMad {
        result_signed: bool,
        a: Int,
        b: Int,
        po: bool,
        negate_product: bool,
        negate_c: bool,
        saturate: bool,
        shift: u8,
    },
    VideoSimd {
        simd: Simd,
        selectors: Selectors,
    },
    MbarrierPendingCount,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum IntOp {
    Add,
    Sub,
    MulLo,
    MulHi,
    /// The whole product: the result is twice as wide.
    MulWide,
    MadLo,
    MadHi,
    MadWide,
    Mul24Lo,
    Mul24Hi,
    Mad24Lo,
    Mad24Hi,
    Sad,
    Div,
    Rem,
    Abs,
    Neg,
    Min,
    Max,
    /// All ones where the comparison holds.
    Compare(Order),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum IntLimit {
    Wrap,
    Saturate,
    Relu,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Logic {
    And,
    Or,
    Xor,
    Not,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FloatOp {
    Add,
    Sub,
    Mul,
    Fma,
    Div,
    Sqrt,
    Rcp,
    Abs,
    Neg,
    MinMax(MinMax),
    MinMax3(MinMax),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TestKind {
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
}

/// A comparison of values of a type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Compare {
    Int(Int, Order),
    Float { format: Format, lanes: u8, flush: bool, compare: FloatCompare },
}

/// How a comparison is combined with a predicate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Combine {
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Setp {
    pub compare: Compare,
    pub combine: Option<Combine>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Carry {
    pub op: CarryOp,
    pub ty: Int,
    pub read: bool,
    pub write: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CarryOp {
    Add,
    Sub,
    MadLo,
    MadHi,
}

/// An atomic operation on one or more elements.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Atomic {
    pub op: AtomicOp,
    pub size: u8,
    pub vector: u8,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum AtomicOp {
    Int(IntOp, Int),
    Logic(Logic),
    Exchange,
    CompareAndSwap,
    Inc,
    Dec,
    Float { op: FloatOp, format: Format, lanes: u8, mode: Mode },
}

/// Operations on barrier objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mbarrier {
    /// Arg: the count.
    Init,
    Inval,
    ExpectTx,
    CompleteTx,
    /// Arg: the count, or the bytes if `expect`. Dest: the state, unless it is not wanted.
    Arrive {
        drop: bool,
        expect: bool,
        no_complete: bool,
    },
    /// Arg: the state, or the parity. Dest: whether the phase is complete.
    Wait {
        parity: bool,
        is_try: bool,
    },
    /// `cp.async.mbarrier.arrive`: copies are complete at once, so this is an arrival, but without `.noinc` one that
    /// was not counted before.
    CopyArrive {
        noinc: bool,
    },
}

/// A call: arguments and results by value or by the place of a variable in the frame.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub callee: Callee,
    pub arguments: Vec<Place>,
    pub results: Vec<Place>,
}

#[derive(Clone, Debug)]
pub(crate) enum Callee {
    /// Index of a decoded function.
    Function(u32),
    /// A function of the runtime.
    Host(Host),
    /// The first arg is the address.
    Indirect,
}

/// A function that the interpreter provides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Host {
    Vprintf,
    Assertfail,
    Malloc,
    Free,
}

/// Where an argument or result is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// Bytes in the frame.
    Frame { offset: u32, size: u32 },
    /// A register or constant that is read.
    Value(Arg),
    /// A register that is written.
    Register(Dest),
}

/// A barrier of the block. Args: the id, then the count if there is one, then the predicate of a reduction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Barrier {
    pub has_count: bool,
    pub kind: BarrierKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BarrierKind {
    Sync,
    Arrive,
    Reduce(Reduction),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reduction {
    Popc,
    And,
    Or,
}

/// An exchange between the lanes of a warp.
#[derive(Clone, Debug)]
pub(crate) struct Collective {
    pub op: CollectiveOp,
    /// Who takes part.
    pub members: Members,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Members {
    /// The last arg is the mask.
    Mask,
    /// All lanes that have not exited (`.aligned`).
    All,
    /// The lanes that happen to stand at the same instruction.
    Here,
}

#[derive(Clone, Debug)]
pub(crate) enum CollectiveOp {
    /// Args: value, lane or distance, clamp. Dests: value, whether the source was in range.
    Shuffle(Shuffle),
    Vote(Vote),
    Ballot,
    /// Width.
    MatchAny(u32),
    MatchAll(u32),
    ActiveMask,
    Redux(Redux),
    /// `bar.warp.sync`
    Sync,
    Elect,
    /// How many 8x8 matrices of 16-bit elements.
    LdMatrix {
        count: u8,
        transpose: bool,
    },
    StMatrix {
        count: u8,
        transpose: bool,
    },
    MovMatrix,
    Mma(Box<Mma>),
    WmmaLoad(Box<Fragment>),
    WmmaStore(Box<Fragment>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Vote {
    All,
    Any,
    Uniform,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Redux {
    Int(IntOp, Int),
    Logic(Logic),
    Float(MinMax),
}

/// A matrix multiplication: the registers of a, b, c are args in this order, those of d dests.
#[derive(Clone, Debug)]
pub(crate) struct Mma {
    pub shape: [u32; 3],
    /// The lanes that multiply matrices of their own; layouts number them from 0.
    pub groups: Vec<Vec<u8>>,
    pub dot: Dot,
    pub a: Layout,
    pub b: Layout,
    pub c: Layout,
    pub d: Layout,
}

/// Which element of a matrix each lane holds where.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub element: Element,
    pub registers: u32,
    /// For lane and element of the lane: row and column.
    pub place: Vec<(u16, u16)>,
    pub per_lane: u32,
}

/// A fragment of `wmma` in memory. The last arg is the stride if there is one.
#[derive(Clone, Debug)]
pub(crate) struct Fragment {
    pub layout: Layout,
    pub rows: u32,
    pub columns: u32,
    pub row_major: bool,
    pub has_stride: bool,
}

/// A scalar video instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Video {
    pub op: VideoOp,
    pub result_signed: bool,
    /// Types of the parts that are read.
    pub a: Int,
    pub b: Int,
    pub saturate: bool,
    /// Shift and width of the part of the result that is merged into the third operand.
    pub merge: Option<(u8, u8)>,
    pub second: Second,
}

/// The rounding of an instruction without one.
pub(crate) const DEFAULT_ROUND: Round = Round::NearestEven;
