//! Where twins are: the shape of a doubled block, and the ids that its threads see.
//!
//! Lanes 0 to 15 of a warp are threads of the program, and lanes 16 to 31 their twins. Neighbours stay neighbours, so what
//! accesses of a warp touch stays together, on GPUs and on devices that run warps as vectors. With twins beside each other, as
//! Wadden and others have them (ISCA 2014, Figure 2), it does not.

use ptx::ir::{Operand, Reg};
use ptx::special::Special;
use ptx::types::Type;
use rewrite::{Cursor, LaunchShape, Refusal, ThreadId};

use super::slots::{GLOBAL_ENTRIES, SHARED_COUNTERS, SHARED_ENTRIES, SLOT};
use super::values::{compute, depth, number, pair_of_blocks, physical, size};
use super::version::{Exchange, Layout, Pair};
use super::{BLOCK_X, BLOCK_Y, DYNAMIC_SHARED, TOOL, copies};

/// Twins of a warp, and how far they are apart unless they are neighbours.
pub(super) const TWINS: u32 = 16;
/// Threads of the largest block that can be doubled.
const MOST_THREADS: u32 = 512;
/// Threads in the depth of the deepest block that can be doubled there.
const MOST_DEPTH: u32 = 32;
/// Blocks of the largest grid, doubled: they have numbers of 32 bits.
const MOST_BLOCKS: u32 = i32::MAX as u32;
/// The copies of dynamic shared memory begin at multiples of this.
const SHARED_ALIGN: u32 = 128;

/// How many threads a block has.
pub(super) fn threads([x, y, z]: [u32; 3]) -> u32 {
    x.saturating_mul(y).saturating_mul(z)
}

/// How far the copies of dynamic shared memory are apart.
pub(super) fn shared_distance(bytes: u32) -> u32 {
    bytes.next_multiple_of(SHARED_ALIGN)
}

impl Layout {
    /// How far twins are apart, in lanes: the bit of a lane's number that is set in second copies. 0 if they are not in one warp.
    pub(super) fn distance(self) -> u32 {
        match self {
            Self::Rows | Self::Eights | Self::Linear => TWINS,
            Self::Neighbours => 1,
            Self::Warps | Self::Blocks => 0,
        }
    }

    /// How many entries the log of a thread has.
    pub(super) fn log_entries(self) -> u32 {
        if self == Self::Blocks { GLOBAL_ENTRIES } else { SHARED_ENTRIES }
    }

    /// The layout for blocks of a size whose twins are so far apart.
    pub(super) fn of(block: [u32; 3], distance: u32) -> Self {
        let [x, y, _] = block;
        match () {
            () if distance == 1 => Self::Neighbours,
            () if x.is_multiple_of(TWINS) => Self::Rows,
            () if x == TWINS / 2 && y.is_multiple_of(2) => Self::Eights,
            () => Self::Linear,
        }
    }
}

impl Pair {
    /// How it is launched if the program launches in this way.
    pub(super) fn shape(self, shape: LaunchShape) -> Result<LaunchShape, Refusal> {
        let [x, y, z] = shape.block;
        let all = threads(shape.block);
        if self.layout == Layout::Blocks {
            return doubled_grid(shape);
        }
        if all > MOST_THREADS || (self.layout == Layout::Warps && z > MOST_DEPTH) {
            let reason = format!("blocks of {x} × {y} × {z} threads cannot be doubled");
            return Err(Refusal::new(TOOL, "block-too-large", reason));
        }
        if self.layout == Layout::Warps && !all.is_multiple_of(32) {
            let reason = format!("the last warp of blocks of {all} threads is not whole");
            return Err(Refusal::new(TOOL, "partial-warp", reason));
        }
        if matches!(self.layout, Layout::Rows | Layout::Eights) && self.layout != Layout::of(shape.block, TWINS) {
            let reason = format!("blocks of {x} × {y} × {z} threads have another layout");
            return Err(Refusal::new(TOOL, "layout", reason));
        }
        let block = match self.layout {
            Layout::Rows | Layout::Neighbours => [2 * x, y, z],
            Layout::Eights => [x, 2 * y, z],
            Layout::Linear => [2 * TWINS, all.div_ceil(TWINS), 1],
            Layout::Warps => [x, y, 2 * z],
            Layout::Blocks => [x, y, z],
        };
        let dynamic_shared = match self.exchange {
            Exchange::Shuffle => self.program_shared(shape.dynamic_shared),
            Exchange::Slots => self.slots(shape.dynamic_shared).saturating_add(threads(block) * SLOT),
            Exchange::Log => {
                let bytes = SHARED_COUNTERS + SHARED_ENTRIES * SLOT;
                self.slots(shape.dynamic_shared).saturating_add(all * bytes)
            }
        };
        Ok(LaunchShape { block, dynamic_shared, ..shape })
    }

    /// Bytes of dynamic shared memory that the program has in a block of this version.
    fn program_shared(self, bytes: u32) -> u32 {
        match bytes {
            0 => 0,
            bytes if self.doubles_shared() => shared_distance(bytes).saturating_add(bytes),
            bytes => bytes,
        }
    }

    /// Where in dynamic shared memory the slots of threads begin, if the program asks for so many bytes of it.
    pub(super) fn slots(self, bytes: u32) -> u32 {
        self.program_shared(bytes).checked_next_multiple_of(SLOT).unwrap_or(u32::MAX)
    }

    /// Which thread of the program a thread is.
    pub(super) fn program_thread(self, shape: &LaunchShape, ThreadId { block, thread }: ThreadId) -> ThreadId {
        let [x, y, z] = thread;
        let thread = match self.layout {
            Layout::Rows => [x / (2 * TWINS) * TWINS + x % TWINS, y, z],
            Layout::Eights => [x, y / 4 * 2 + y % 2, z],
            Layout::Neighbours => [x / 2, y, z],
            Layout::Warps => [x, y, z % shape.block[2].max(1)],
            Layout::Blocks => [x, y, z],
            Layout::Linear => {
                let [width, height, _] = shape.block.map(|size| size.max(1));
                let number = y * TWINS + x % TWINS;
                [number % width, number / width % height, number / width / height]
            }
        };
        // Blocks draw their ids, and most of them in the order in which they begin.
        let block = if self.layout == Layout::Blocks { drawn_block(shape, block) } else { block };
        ThreadId { block, thread }
    }

    /// The register that stands for a special one; nothing to keep it.
    pub(super) fn special(self, at: &mut Cursor<'_, '_>, special: Special) -> Option<Reg> {
        use Special::*;
        match self.layout {
            Layout::Warps => return self.special_of_warps(at, special),
            Layout::Blocks => return special_of_blocks(at, special),
            _ => {}
        }
        Some(match (special, self.layout) {
            (TidX, Layout::Rows) => {
                let x = physical(at, TidX);
                without_twins(at, x, TWINS)
            }
            (TidY, Layout::Eights) => {
                let y = physical(at, TidY);
                without_twins(at, y, 2)
            }
            (TidX | NtidX, Layout::Neighbours) | (NtidX, Layout::Rows) | (NtidY, Layout::Eights) => {
                let size = physical(at, special);
                compute(at, "shr.u32", &[size.into(), 1.into()])
            }
            (TidX, Layout::Linear) => {
                let [number, width] = [linear(at), size(at, BLOCK_X)];
                compute(at, "rem.u32", &[number.into(), width.into()])
            }
            (TidY, Layout::Linear) => {
                let [row, height] = [row(at), size(at, BLOCK_Y)];
                compute(at, "rem.u32", &[row.into(), height.into()])
            }
            (TidZ, Layout::Linear) => {
                let [row, height] = [row(at), size(at, BLOCK_Y)];
                compute(at, "div.u32", &[row.into(), height.into()])
            }
            (NtidX, Layout::Linear) => size(at, BLOCK_X),
            (NtidY, Layout::Linear) => size(at, BLOCK_Y),
            (NtidZ, Layout::Linear) => size(at, super::BLOCK_Z),
            (Laneid, _) => self.lane(at),
            (Warpid, _) => {
                let warp = warp(at);
                compute(at, "shr.u32", &[warp.into(), 1.into()])
            }
            (Nwarpid, _) => {
                let warps = physical(at, Nwarpid);
                let more = compute(at, "add.u32", &[warps.into(), 1.into()]);
                compute(at, "shr.u32", &[more.into(), 1.into()])
            }
            (LanemaskEq, _) => {
                let lane = self.lane(at);
                compute(at, "shl.b32", &[1.into(), lane.into()])
            }
            (LanemaskLt, _) => {
                let own = self.special(at, LanemaskEq)?;
                compute(at, "sub.u32", &[own.into(), 1.into()])
            }
            (LanemaskGe, _) => {
                let below = self.special(at, LanemaskLt)?;
                compute(at, "not.b32", &[below.into()])
            }
            (LanemaskLe, _) => {
                let [own, below] = [self.special(at, LanemaskEq)?, self.special(at, LanemaskLt)?];
                compute(at, "or.b32", &[own.into(), below.into()])
            }
            (LanemaskGt, _) => {
                let others = self.special(at, LanemaskLe)?;
                compute(at, "not.b32", &[others.into()])
            }
            (DynamicSmemSize, _) => size(at, DYNAMIC_SHARED),
            _ => return None,
        })
    }

    /// The same where warps are twins.
    fn special_of_warps(self, at: &mut Cursor<'_, '_>, special: Special) -> Option<Reg> {
        use Special::*;
        Some(match special {
            TidZ => {
                let [z, depth, copy] = [physical(at, TidZ), depth(at), copies::copy(at, self)];
                let before = compute(at, "mul.lo.u32", &[copy.into(), depth.into()]);
                compute(at, "sub.u32", &[z.into(), before.into()])
            }
            NtidZ => depth(at),
            Nwarpid => {
                let warps = physical(at, Nwarpid);
                compute(at, "shr.u32", &[warps.into(), 1.into()])
            }
            Warpid => {
                let thread = self.thread_of_copy(at);
                compute(at, "shr.u32", &[thread.into(), 5.into()])
            }
            DynamicSmemSize => size(at, DYNAMIC_SHARED),
            _ => return None,
        })
    }

    /// The number of a thread in the block of the program, where warps are twins.
    pub(super) fn thread_of_copy(self, at: &mut Cursor<'_, '_>) -> Reg {
        let [number, threads, copy] = [number(at), size(at, super::THREADS), copies::copy(at, self)];
        let before = compute(at, "mul.lo.u32", &[copy.into(), threads.into()]);
        compute(at, "sub.u32", &[number.into(), before.into()])
    }

    /// The lane that the program sees: two warps of the device are one of the program.
    fn lane(self, at: &mut Cursor<'_, '_>) -> Reg {
        let [warp, lane] = [warp(at), physical(at, Special::Laneid)];
        let low = match self.layout {
            Layout::Neighbours => compute(at, "shr.u32", &[lane.into(), 1.into()]),
            _ => compute(at, "and.b32", &[lane.into(), i64::from(TWINS - 1).into()]),
        };
        let odd = compute(at, "and.b32", &[warp.into(), 1.into()]);
        compute(at, "mad.lo.u32", &[odd.into(), i64::from(TWINS).into(), low.into()])
    }
}

/// A launch of twice as many blocks.
fn doubled_grid(shape: LaunchShape) -> Result<LaunchShape, Refusal> {
    let [x, y, z] = shape.grid;
    if shape.is_cooperative {
        let reason = "its blocks wait for each other, and twice as many may not be there at once";
        return Err(Refusal::new(TOOL, "cooperative", reason));
    }
    let blocks = [x, y, z].into_iter().try_fold(2_u32, |product, size| product.checked_mul(size));
    if blocks.is_none_or(|blocks| blocks > MOST_BLOCKS) {
        return Err(Refusal::new(TOOL, "grid-too-large", format!("grids of {x} × {y} × {z} blocks cannot be doubled")));
    }
    Ok(LaunchShape { grid: [2 * x, y, z], ..shape })
}

/// The block of the program that a block of a doubled grid is, if blocks begin in the order of their ids.
fn drawn_block(shape: &LaunchShape, [x, y, z]: [u32; 3]) -> [u32; 3] {
    let [width, height, _] = shape.grid.map(|size| u64::from(size.max(1)));
    let number = (u64::from(x) + 2 * width * (u64::from(y) + height * u64::from(z))) / 2;
    [number % width, number / width % height, number / width / height].map(|id| id as u32)
}

/// The register that stands for a special one where blocks are twins.
fn special_of_blocks(at: &mut Cursor<'_, '_>, special: Special) -> Option<Reg> {
    use Special::*;
    let width = |at: &mut Cursor<'_, '_>| {
        let doubled = physical(at, NctaidX);
        compute(at, "shr.u32", &[doubled.into(), 1.into()])
    };
    let row = |at: &mut Cursor<'_, '_>| {
        let [number, width] = [pair_of_blocks(at), width(at)];
        compute(at, "div.u32", &[number.into(), width.into()])
    };
    Some(match special {
        NctaidX => width(at),
        CtaidX => {
            let [number, width] = [pair_of_blocks(at), width(at)];
            compute(at, "rem.u32", &[number.into(), width.into()])
        }
        CtaidY => {
            let [row, height] = [row(at), physical(at, NctaidY)];
            compute(at, "rem.u32", &[row.into(), height.into()])
        }
        CtaidZ => {
            let [row, height] = [row(at), physical(at, NctaidY)];
            compute(at, "div.u32", &[row.into(), height.into()])
        }
        _ => return None,
    })
}

/// The number in the program of something that is followed by its twin after so many.
fn without_twins(at: &mut Cursor<'_, '_>, number: Reg, distance: u32) -> Reg {
    // Not by shifts to and fro: this is how devices see that neighbours have neighbouring numbers.
    let low = compute(at, "and.b32", &[number.into(), i64::from(distance - 1).into()]);
    let half = compute(at, "shr.u32", &[number.into(), 1.into()]);
    let high = compute(at, "and.b32", &[half.into(), Operand::Hex((!(distance - 1)).into())]);
    compute(at, "or.b32", &[low.into(), high.into()])
}

/// The number of the thread in the block of the program, in the linear layout.
fn linear(at: &mut Cursor<'_, '_>) -> Reg {
    let [x, y] = [physical(at, Special::TidX), physical(at, Special::TidY)];
    let low = compute(at, "and.b32", &[x.into(), i64::from(TWINS - 1).into()]);
    compute(at, "mad.lo.u32", &[y.into(), i64::from(TWINS).into(), low.into()])
}

/// The row of the thread among all rows of the block of the program, in the linear layout.
fn row(at: &mut Cursor<'_, '_>) -> Reg {
    let [number, width] = [linear(at), size(at, BLOCK_X)];
    compute(at, "div.u32", &[number.into(), width.into()])
}

/// Whether a thread of the linear layout is none of the program: it fills the last warp.
pub(super) fn is_filler(at: &mut Cursor<'_, '_>) -> Reg {
    let [number, all] = [linear(at), size(at, super::THREADS)];
    at.at_entry("setp.ge.u32", Type::Pred, &[number.into(), all.into()])
}

/// The warp of the device.
fn warp(at: &mut Cursor<'_, '_>) -> Reg {
    let number = number(at);
    compute(at, "shr.u32", &[number.into(), 5.into()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rmt::version::{Shared, Work};

    /// Every thread of the program has one twin, in its warp, sixteen lanes apart or beside it.
    #[test]
    fn twins_are_in_one_warp() {
        let blocks =
            [[16, 1, 1], [32, 8, 1], [48, 2, 3], [8, 8, 1], [8, 2, 3], [8, 3, 1], [5, 7, 3], [1, 1, 1], [512, 1, 1]];
        for (block, distance) in blocks.into_iter().flat_map(|block| [1, TWINS].map(|distance| (block, distance))) {
            let pair = Pair { layout: Layout::of(block, distance), ..PAIR };
            let shape = LaunchShape { grid: [1; 3], block, dynamic_shared: 0, is_cooperative: false };
            let doubled = pair.shape(shape).unwrap();
            let mut seen = std::collections::BTreeMap::<[u32; 3], Vec<u32>>::new();
            for number in 0..threads(doubled.block) {
                let [width, height, _] = doubled.block;
                let thread = [number % width, number / width % height, number / width / height];
                let of = pair.program_thread(&shape, ThreadId { block: [0; 3], thread });
                seen.entry(of.thread).or_default().push(number);
            }
            seen.retain(|[x, y, z], _| *x < block[0] && *y < block[1] && *z < block[2]);
            assert_eq!(seen.len() as u32, threads(block), "{block:?}");
            for (thread, lanes) in seen {
                let [first, twin] = lanes[..] else { panic!("{thread:?} of {block:?} has {lanes:?}") };
                assert_eq!((first / 32, first + distance), (twin / 32, twin), "{thread:?} of {block:?}");
            }
        }
    }

    const PAIR: Pair = Pair {
        layout: Layout::Rows,
        exchange: Exchange::Shuffle,
        shared: Shared::Doubled,
        is_in_place: false,
        work: Work::All,
    };

    /// Every thread has a slot, after what the program has of shared memory.
    #[test]
    fn slots_are_after_shared_memory() {
        let shape = LaunchShape { grid: [1; 3], block: [32, 1, 1], dynamic_shared: 100, is_cooperative: false };
        let slots = |shared| Pair { exchange: Exchange::Slots, shared, ..PAIR };
        assert_eq!(slots(Shared::Doubled).slots(100), 240);
        assert_eq!(slots(Shared::Doubled).shape(shape).unwrap().dynamic_shared, 240 + 64 * SLOT);
        assert_eq!(slots(Shared::Common).shape(shape).unwrap().dynamic_shared, 112 + 64 * SLOT);
        assert_eq!(PAIR.shape(shape).unwrap().dynamic_shared, 228);
    }
}
