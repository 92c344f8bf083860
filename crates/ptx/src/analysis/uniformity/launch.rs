//! What is known of a launch, and what the special registers hold because of it.

use super::value::{LANE_BITS, LANES, LaneBits, LaneValue};
use crate::ir::{DirectiveArg, Function};
use crate::name::Names;
use crate::special::Special;

/// What is known of the launches of a kernel. More can be said of a kernel the more is known.
///
/// A warp is 32 threads whose linear numbers follow each other, `x` running fastest. So `%tid.x` rises by one from lane
/// to lane only if no row of threads ends inside a warp: where the width of the block is a multiple of 32, or where
/// there is only one row. In a block that is 16 wide, each half of a warp is a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaunchFacts {
    /// Threads of a block in `x`, `y` and `z`, where known.
    pub block: [Option<u32>; 3],
    /// Blocks of the grid in `x`, `y` and `z`, where known. A bound from above is as good.
    pub grid: [Option<u32>; 3],
    /// A power of two, of which the threads of a block in `x` are a multiple: 32 where only whole rows of warps are
    /// launched, 1 where nothing is known.
    pub block_x_multiple: u32,
    /// The most threads that a block can have.
    pub max_threads: u32,
}

/// The most threads that a block can have on any device.
const MAX_THREADS: u32 = 1024;
/// The most threads that a block can have in `z`.
const MAX_BLOCK_Z: u32 = 64;
/// The most blocks that a grid can have in `x`, and in `y` and `z`.
const MAX_GRID: [u32; 3] = [i32::MAX as u32, 65535, 65535];

impl Default for LaunchFacts {
    /// Nothing is known.
    fn default() -> Self {
        Self { block: [None; 3], grid: [None; 3], block_x_multiple: 1, max_threads: MAX_THREADS }
    }
}

impl LaunchFacts {
    /// What a kernel says of its launches, by `.reqntid` and `.maxntid`.
    ///
    /// `.maxntid 16, 16` bounds the number of threads, not the dimensions: 256 in a row are allowed. `.reqntid` fixes
    /// the dimensions.
    pub fn of(names: &Names, function: &Function) -> Self {
        let mut facts = Self::default();
        let dimensions = |name| {
            let mut dimensions = [1_u32; 3];
            for (index, arg) in function.directive(names, name)?.args.iter().enumerate() {
                let DirectiveArg::Int(value) = *arg else { return None };
                *dimensions.get_mut(index)? = u32::try_from(value).ok().filter(|&value| value != 0)?;
            }
            Some(dimensions)
        };
        if let Some(dimensions) = dimensions("maxntid") {
            let threads = dimensions.into_iter().fold(1_u32, u32::saturating_mul);
            facts.max_threads = facts.max_threads.min(threads);
        }
        if let Some(dimensions) = dimensions("reqntid") {
            facts.block = dimensions.map(Some);
        }
        facts
    }

    /// The same for blocks of this size.
    pub fn with_block(self, block: [u32; 3]) -> Self {
        Self { block: block.map(Some), ..self }
    }

    /// The same for blocks of a width that is a multiple of 32, so that no row ends inside a warp.
    pub fn with_whole_rows(self) -> Self {
        Self { block_x_multiple: LANES, ..self }
    }

    /// What a special register holds; nothing is known of those that change.
    pub fn special(&self, special: Special) -> LaneValue {
        use Special::*;
        let bits = special.ty().bits();
        let uniform = LaneValue::uniform(bits);
        let between = |least: u32, greatest: u32| uniform.with_range(least.into(), greatest.into());
        match special {
            TidX => self.thread_x(),
            TidY => self.thread_y(),
            TidZ => self.thread_z(),
            NtidX => self.block_size(0),
            NtidY => self.block_size(1),
            NtidZ => self.block_size(2),
            CtaidX => between(0, self.grid_size(0) - 1),
            CtaidY => between(0, self.grid_size(1) - 1),
            CtaidZ => between(0, self.grid_size(2) - 1),
            NctaidX => between(1, self.grid_size(0)),
            NctaidY => between(1, self.grid_size(1)),
            NctaidZ => between(1, self.grid_size(2)),
            Laneid => varying(LaneFormula::of(|bit| Some(1 << bit))).with_low(32, 0),
            // Numbers of warps, unlike those of threads, need not be consecutive, but all lanes have the same.
            Warpid | Nwarpid => uniform,
            LanemaskEq | LanemaskLe | LanemaskLt | LanemaskGe | LanemaskGt => LaneValue::vector(bits),
            // The four components together.
            Tid | Ntid | Ctaid | Nctaid => LaneValue::vector(bits),
            Smid => uniform,
            _ if special.is_volatile() => LaneValue::vector(bits),
            _ => uniform,
        }
    }

    /// The lowest bits of the lane's number that count threads within one row.
    fn row_bits(&self) -> u32 {
        match self.block[0] {
            Some(width) => width.trailing_zeros().min(LANE_BITS as u32),
            None => self.block_x_multiple.trailing_zeros().min(LANE_BITS as u32),
        }
    }

    /// The lowest bits of the lane's number that count threads within one layer of rows.
    fn layer_bits(&self) -> u32 {
        let rows = self.block[1].map_or(0, u32::trailing_zeros);
        (self.row_bits() + rows).min(LANE_BITS as u32)
    }

    fn is_one(&self, dimension: usize) -> bool {
        self.block[dimension] == Some(1)
    }

    fn thread_x(&self) -> LaneValue {
        let row = self.row_bits();
        let greatest = self.greatest_thread(0);
        if self.is_one(1) && self.is_one(2) {
            // One row: the number of the thread.
            let formula = varying(LaneFormula::of(|bit| Some(1 << bit)));
            return formula.with_low(LANE_BITS as u32, 0).with_range(0, greatest.into());
        }
        match self.block[0] {
            // Several rows in a warp, each of them whole.
            Some(width) if width.is_power_of_two() && width < LANES => {
                varying(LaneFormula::of(|bit| Some(if bit < row { 1 << bit } else { 0 }))).with_low(32, 0)
            }
            // Rows end at multiples of 2^row.
            _ => varying(LaneFormula::of(|bit| (bit < row).then_some(1 << bit)))
                .with_low(row, 0)
                .with_range(0, greatest.into()),
        }
    }

    fn thread_y(&self) -> LaneValue {
        if self.is_one(1) {
            return LaneValue::number(32, 0);
        }
        let row = self.row_bits();
        let rows_of_warp = LANES >> row;
        let greatest = self.greatest_thread(1);
        let has_whole_rows = self.block[0] == Some(1 << row);
        match self.block[1] {
            // Several layers in a warp, each of them whole.
            Some(height) if has_whole_rows && height.is_power_of_two() && height < rows_of_warp => {
                let layer = row + height.trailing_zeros();
                let formula =
                    LaneFormula::of(|bit| Some(if (row..layer).contains(&bit) { 1 << (bit - row) } else { 0 }));
                varying(formula).with_low(32, 0)
            }
            // Some rows of one layer.
            height if has_whole_rows && (self.is_one(2) || height.is_some_and(|height| height % rows_of_warp == 0)) => {
                varying(LaneFormula::of(|bit| Some(if bit >= row { 1 << (bit - row) } else { 0 })))
                    .with_low(rows_of_warp.trailing_zeros(), 0)
                    .with_range(0, greatest.into())
            }
            _ => varying(LaneFormula::of(|bit| (bit < row).then_some(0))).with_range(0, greatest.into()),
        }
    }

    fn thread_z(&self) -> LaneValue {
        if self.is_one(2) {
            return LaneValue::number(32, 0);
        }
        let layer = self.layer_bits();
        let greatest = self.greatest_thread(2);
        let size = self.block[0].zip(self.block[1]).map(|(width, height)| u64::from(width) * u64::from(height));
        if size == Some(1 << layer) {
            let layers_of_warp = LANES >> layer;
            return varying(LaneFormula::of(|bit| Some(if bit >= layer { 1 << (bit - layer) } else { 0 })))
                .with_low(layers_of_warp.trailing_zeros(), 0)
                .with_range(0, greatest.into());
        }
        varying(LaneFormula::of(|bit| (bit < layer).then_some(0))).with_range(0, greatest.into())
    }

    /// The greatest number of a thread in a dimension. The last warp may be incomplete; the lanes that it lacks count,
    /// because facts about values are about all lanes of their formula.
    fn greatest_thread(&self, dimension: usize) -> u32 {
        let most = if dimension == 2 { MAX_BLOCK_Z } else { MAX_THREADS };
        let size = self.block[dimension].unwrap_or(self.max_threads.min(most)).max(1);
        let threads = self.block.iter().try_fold(1_u32, |threads, size| threads.checked_mul((*size)?));
        if threads.is_some_and(|threads| threads.is_multiple_of(LANES)) {
            return size - 1;
        }
        size.saturating_add(LANES - 1) / LANES * LANES - 1
    }

    fn block_size(&self, dimension: usize) -> LaneValue {
        if let Some(size) = self.block[dimension] {
            return LaneValue::number(32, size.into());
        }
        let most = if dimension == 2 { MAX_BLOCK_Z } else { MAX_THREADS };
        let size = LaneValue::uniform(32).with_range(1, self.max_threads.min(most).into());
        if dimension == 0 { size.with_low(self.block_x_multiple.trailing_zeros(), 0) } else { size }
    }

    fn grid_size(&self, dimension: usize) -> u32 {
        self.grid[dimension].unwrap_or(MAX_GRID[dimension]).max(1)
    }
}

/// Coefficients of the bits of the lane's number, as far as known.
struct LaneFormula {
    coefficients: [i64; LANE_BITS],
    free: LaneBits,
}

impl LaneFormula {
    fn of(coefficient: impl Fn(u32) -> Option<i64>) -> Self {
        let mut formula = Self { coefficients: [0; LANE_BITS], free: 0 };
        for bit in 0..LANE_BITS {
            match coefficient(bit as u32) {
                Some(coefficient) => formula.coefficients[bit] = coefficient,
                None => formula.free |= 1 << bit,
            }
        }
        formula
    }
}

fn varying(formula: LaneFormula) -> LaneValue {
    LaneValue { coefficients: formula.coefficients, ..LaneValue::varying_in(32, formula.free) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::uniformity::Class;

    /// Fails if a coefficient, a range or a known bit of a thread's coordinates is wrong for some shape of block: all
    /// warps of each shape are enumerated. A change of one coefficient or of one `<` to `<=` is enough.
    #[test]
    fn coordinates_of_threads_are_as_the_hardware_numbers_them() {
        let sizes = [1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 31, 32, 33, 40, 48, 64, 96, 100, 128];
        for x in sizes {
            for y in sizes {
                for z in [1, 2, 3, 4, 8, 16] {
                    if x * y * z > 1024 {
                        continue;
                    }
                    let known = LaunchFacts::default().with_block([x, y, z]);
                    check(&known, [x, y, z]);
                    for unknown in 0..3 {
                        let mut partly = known;
                        partly.block[unknown] = None;
                        check(&partly, [x, y, z]);
                        partly.block_x_multiple = 1 << x.trailing_zeros().min(5);
                        check(&partly, [x, y, z]);
                    }
                    check(&LaunchFacts::default(), [x, y, z]);
                }
            }
        }
    }

    fn check(facts: &LaunchFacts, [x, y, z]: [u32; 3]) {
        for warp in 0..(x * y * z).div_ceil(32) {
            let threads: Vec<u32> = (warp * 32..x * y * z).take(32).collect();
            let coordinates: [fn(u32, u32, u32) -> u32; 3] =
                [|thread, x, _| thread % x, |thread, x, y| thread / x % y, |thread, x, y| thread / (x * y)];
            for (special, coordinate) in [Special::TidX, Special::TidY, Special::TidZ].into_iter().zip(coordinates) {
                let value = facts.special(special);
                let values: Vec<u64> = threads.iter().map(|&thread| coordinate(thread, x, y).into()).collect();
                let context = || format!("{special} of warp {warp} in {x}, {y}, {z} with {facts:?}: {value:?}");
                for (lane, &one) in values.iter().enumerate() {
                    assert!(value.range().0 <= one && one <= value.range().1, "range of {}", context());
                    let base = value.base_lane(lane as u32) as usize;
                    assert_eq!(values[base] as i64 + value.offset(lane as u32), one as i64, "formula of {}", context());
                    let (known, low) = value.low_bits_of_base();
                    assert_eq!(values[base] & ((1 << known) - 1), low, "low bits of {}", context());
                }
            }
        }
    }

    /// Fails if a common shape of block loses its precise form.
    #[test]
    fn common_blocks_have_precise_forms() {
        let class = |block, special| LaunchFacts::default().with_block(block).special(special).class();
        let affine = Class::Affine { stride: 1 };
        assert_eq!(class([256, 1, 1], Special::TidX), affine);
        assert_eq!(class([100, 1, 1], Special::TidX), affine);
        assert_eq!(class([32, 8, 1], Special::TidX), affine);
        assert_eq!(class([32, 8, 1], Special::TidY), Class::Uniform);
        assert_eq!(class([16, 16, 1], Special::TidX), Class::Grouped { lanes: 16, stride: 1 });
        assert_eq!(class([16, 16, 1], Special::TidY), Class::Grouped { lanes: 16, stride: 0 });
        assert_eq!(class([8, 8, 8], Special::TidZ), Class::Uniform);
        assert_eq!(class([4, 4, 4], Special::TidZ), Class::Grouped { lanes: 16, stride: 0 });
        assert_eq!(class([48, 4, 1], Special::TidX), Class::Grouped { lanes: 16, stride: 1 });
        assert_eq!(class([1, 64, 1], Special::TidY), affine);
        assert_eq!(class([7, 7, 1], Special::TidX), Class::Vector);
        let whole_rows = LaunchFacts::default().with_whole_rows();
        assert_eq!(whole_rows.special(Special::TidX).class(), affine);
        assert_eq!(whole_rows.special(Special::TidY).class(), Class::Uniform);
        assert_eq!(LaunchFacts::default().special(Special::TidX).class(), Class::Vector);
        assert_eq!(LaunchFacts::default().special(Special::TidZ).class(), Class::Vector);
    }
}
