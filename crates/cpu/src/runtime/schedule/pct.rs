//! Schedules by priorities: probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte: A Randomized
//! Scheduler with Probabilistic Guarantees of Finding Bugs, ASPLOS 2010).
//!
//! Each warp, or thread at width 1, begins with a random priority, and of those that can run the one with the highest runs. At
//! some steps, the change points, the one that runs falls below all others. A bug that shows itself if d events happen in some
//! order, its depth, is found with a probability of at least 1 ÷ (n kᵈ⁻¹) by d - 1 change points among the k steps of n
//! warps. Most bugs have a small depth, so two change points do: d = 3. A random choice at each step finds such bugs far more
//! rarely where there are many steps.
//!
//! A step is an access to memory, if warps are preempted, and a place where a warp waits. How many there will be is not known
//! before; the paper counts them in a first run. Here the seed says how many steps of each warp are assumed, between 2 and 2¹²
//! and evenly in the logarithm, and then chooses the change points among those of all. So one of any twelve seeds in a row fits
//! within a factor of two, whatever the kernel, and no run has to be made twice.
//!
//! A warp that spins falls below all others each time that it gives way: else one with a high priority would wait for ever for
//! one with a low priority.

use super::random::Random;

/// How many events in an order a bug may need.
const DEPTH: usize = 3;
/// The logarithm of how many steps of a warp are assumed at most.
const MOST_STEPS_LOG: u64 = 12;

/// Who goes before whom. The higher, the earlier.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Priority(i64);

/// The priorities of a schedule.
#[derive(Debug)]
pub(super) struct Priorities {
    random: Random,
    /// The steps at which the one that runs falls, the next one last.
    change_points: Vec<u64>,
    step: u64,
    /// The lowest priority that was given.
    lowest: i64,
}

impl Priorities {
    /// The priorities of so many warps.
    pub(super) fn new(seed: u64, warps: u64) -> Self {
        let mut random = Random::new(seed);
        // Between two powers of two, each number is as likely as any other.
        let exponent = 1 + seed % MOST_STEPS_LOG;
        let steps_of_warp = (1 << exponent) / 2 + 1 + random.below(1 << (exponent - 1));
        let steps = warps.saturating_mul(steps_of_warp).max(1);
        let mut change_points: Vec<u64> = (1..DEPTH).map(|_| 1 + random.below(steps)).collect();
        change_points.sort_unstable_by(|a, b| b.cmp(a));
        Self { random, change_points, step: 0, lowest: 0 }
    }

    /// The priority of one that begins: above those that have fallen.
    pub(super) fn begin(&mut self) -> Priority {
        Priority(1 + self.random.below(1 << 62) as i64)
    }

    /// A priority below all others.
    pub(super) fn fall(&mut self) -> Priority {
        self.lowest -= 1;
        Priority(self.lowest)
    }

    /// The one that runs makes a step. Whether it falls there.
    pub(super) fn is_change_point(&mut self) -> bool {
        self.step += 1;
        let is_here = self.change_points.last().is_some_and(|&point| point <= self.step);
        if is_here {
            self.change_points.pop();
        }
        is_here
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_two_change_points_of_all_magnitudes() {
        let mut last_of_magnitude = [0; 16];
        for seed in 0..2000 {
            let mut priorities = Priorities::new(seed, 4);
            let points: Vec<u64> = (1..=4 << 12).filter(|_| priorities.is_change_point()).take(2).collect();
            assert_eq!(points.len(), 2, "seed {seed}");
            last_of_magnitude[points[1].ilog2() as usize] += 1;
        }
        assert!(last_of_magnitude[1..14].iter().all(|&count| count > 20), "{last_of_magnitude:?}");
    }

    #[test]
    fn who_falls_is_below_all_that_fell_before() {
        let mut priorities = Priorities::new(7, 1);
        let (begun, first, second) = (priorities.begin(), priorities.fall(), priorities.fall());
        assert!(begun > first && first > second && priorities.begin() > first);
    }
}
