//! Turns: where in the serial order a thread is.
//!
//! A turn is a number of 64 bits. From its highest bit on it has: the launch, the block, the interval between barriers of the
//! block, the warp, how many collectives the warp has passed in this interval, and the lane. So the turn that comes first in the
//! serial order is the smaller number, for any two of all threads of all launches. Its lowest bits are zero: a record of an
//! access has the turn of its thread, and there the number of the site.
//!
//! How many bits each part has is said by the launch ([`Turns`]).

use rewrite::LaunchShape;

/// Bits of a record that have the site.
const SITE_BITS: u32 = 12;
/// The bits of the site; all of them for sites with larger numbers.
pub(super) const SITES: u32 = (1 << SITE_BITS) - 1;
/// Where the lane begins.
pub(super) const LANE: u32 = SITE_BITS;
/// The bits of a lane, and of a warp.
pub(super) const LANES: u64 = 31;
/// Where is how many collectives a warp has passed.
const MEETING: u32 = LANE + 5;
/// Turns are numbers below this.
const END: u64 = 1 << 63;

/// The turns of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Turns {
    /// The first one.
    pub(super) first: u64,
    /// Bits of the number of collectives that a warp passes between two barriers.
    meeting_bits: u32,
    /// How far the turns of two blocks are apart: a power of two.
    pub(super) block: u64,
    /// Whether each lane has a turn of its own; else a warp has one.
    pub(super) is_by_lane: bool,
}

/// A record, taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Recorded {
    pub(super) block: [u32; 3],
    pub(super) thread: [u32; 3],
    /// Nothing if its number is too large.
    pub(super) site: Option<u32>,
}

impl Turns {
    /// The turns of a launch after some that were given out; nothing if there are not so many any more.
    pub(super) fn after(
        given_out: u64,
        shape: &LaunchShape,
        has_barriers: bool,
        has_meetings: bool,
        is_by_lane: bool,
    ) -> Option<Self> {
        /// Intervals that a launch has about, if its kernel has barriers.
        const INTERVALS_OF_LAUNCH: u64 = 1 << 24;
        let blocks = shape.grid.iter().try_fold(1_u64, |blocks, &size| blocks.checked_mul(size.into()))?;
        let intervals = match has_barriers {
            true => (INTERVALS_OF_LAUNCH / blocks.clamp(1, INTERVALS_OF_LAUNCH)).clamp(256, 1 << 16),
            false => 1,
        };
        let intervals = intervals.next_power_of_two();
        let of_intervals = 64 - blocks.checked_mul(intervals)?.leading_zeros();
        // Two launches fit before the records of the first have to go.
        let room = 62_u32.checked_sub(MEETING + 5 + of_intervals)?;
        let meeting_bits = if has_meetings { room.clamp(1, 20) } else { 1 };
        let block = intervals << (MEETING + 5 + meeting_bits);
        let first = given_out.max(1).checked_next_multiple_of(block)?;
        let turns = Self { first, meeting_bits, block, is_by_lane };
        let end = blocks.checked_mul(block)?.checked_add(first)?;
        (end <= END).then_some(turns)
    }

    /// Where the turns of a launch of so many blocks end.
    pub(super) fn end(&self, shape: &LaunchShape) -> u64 {
        self.first + shape.grid.iter().map(|&size| u64::from(size)).product::<u64>() * self.block
    }

    /// How far the turns of two warps are apart.
    pub(super) fn warp(&self) -> u64 {
        1 << (MEETING + self.meeting_bits)
    }

    /// How far those of two intervals are.
    pub(super) fn interval(&self) -> u64 {
        self.warp() << 5
    }

    /// How far those of two lanes are.
    pub(super) fn lane(&self) -> u64 {
        u64::from(self.is_by_lane) << LANE
    }

    /// How far those before and after a collective are.
    pub(super) fn meeting(&self) -> u64 {
        u64::from(self.is_by_lane) << MEETING
    }

    /// The bits that tell these apart.
    pub(super) fn meetings(&self) -> u64 {
        self.warp() - (1 << MEETING)
    }

    /// Who made a record.
    pub(super) fn recorded(&self, record: u64, shape: &LaunchShape) -> Option<Recorded> {
        let number = record.checked_sub(self.first)?;
        let block = number / self.block;
        let thread = (number % self.interval() / self.warp() * 32 + (number >> LANE & LANES)) as u32;
        let [x, y, z] = shape.grid.map(u64::from);
        let place = [block % x, block / x % y, block / (x * y)];
        let [width, height, _] = shape.block;
        (place[2] < z).then(|| Recorded {
            block: place.map(|place| place as u32),
            thread: [thread % width, thread / width % height, thread / (width * height)],
            site: Some(record as u32 & SITES).filter(|&site| site != SITES),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: LaunchShape =
        LaunchShape { grid: [3, 2, 1], block: [40, 2, 1], dynamic_shared: 0, is_cooperative: false };

    #[test]
    fn turns_have_their_parts() {
        let turns = Turns::after(5, &SHAPE, true, true, true).unwrap();
        let turn = |block: u64, interval: u64, warp: u64, meeting: u64, lane: u64| {
            let of_block = turns.first + block * turns.block + interval * turns.interval();
            of_block + warp * turns.warp() + meeting * turns.meeting() + lane * turns.lane()
        };
        // In the serial order.
        let order = [
            turn(0, 0, 0, 0, 0),
            turn(0, 0, 0, 0, 31),
            turn(0, 0, 0, 1, 0),
            turn(0, 0, 1, 0, 0),
            turn(0, 1, 0, 0, 0),
            turn(0, 255, 2, 7, 31),
            turn(1, 0, 0, 0, 0),
            turn(5, 0, 0, 0, 0),
        ];
        assert!(order.is_sorted_by(|one, other| one < other), "{order:?}");
        assert!(order.iter().all(|turn| turn & u64::from(SITES) == 0));
        let recorded = turns.recorded(turn(4, 3, 1, 2, 9) | 77, &SHAPE).unwrap();
        assert_eq!(recorded, Recorded { block: [1, 1, 0], thread: [1, 1, 0], site: Some(77) });
        assert_eq!(turns.recorded(turn(0, 0, 0, 0, 1) | u64::from(SITES), &SHAPE).unwrap().site, None);
        assert!(turns.end(&SHAPE) > order[7] && turns.first > 5);
    }

    #[test]
    fn grids_of_all_sizes_have_turns_until_these_are_used_up() {
        for (grid, has_turns) in
            [([1; 3], true), ([1 << 20, 1, 1], true), ([1 << 30, 2, 1], true), ([1 << 30; 3], false)]
        {
            let shape = LaunchShape { grid, ..SHAPE };
            assert_eq!(Turns::after(0, &shape, true, true, true).is_some(), has_turns, "{grid:?}");
        }
        assert_eq!(Turns::after(END - 1, &SHAPE, false, false, true), None);
    }
}
