//! The barriers of a block.

/// Barriers of a block.
pub(crate) const BARRIERS: usize = 16;
/// The barrier of the cluster, which is one block here, comes after those.
pub(crate) const CLUSTER: usize = BARRIERS;

/// One barrier of a block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Barrier {
    /// The lanes of each warp that have arrived.
    arrived: Vec<u32>,
    /// How many threads arrived; more than there are lanes if some came twice.
    count: u32,
    /// How many threads complete it; 0 for all that have not ended.
    expected: u32,
    /// How many threads that arrived said yes.
    yes: u32,
    /// The fibres that wait.
    pub(crate) waiting: Vec<usize>,
}

/// What the threads that waited are told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Tally {
    pub(crate) yes: u32,
    pub(crate) count: u32,
}

impl Barrier {
    /// Lanes of a warp arrive.
    pub(crate) fn arrive(&mut self, warps: usize, warp: usize, lanes: u32, expected: u32, yes: u32) {
        self.arrived.resize(warps, 0);
        self.arrived[warp] |= lanes;
        self.count += lanes.count_ones();
        self.yes += yes.count_ones();
        if expected != 0 {
            self.expected = expected;
        }
    }

    /// Whether lanes of a warp have arrived since threads were last let go on.
    pub(crate) fn has_arrived(&self, warp: usize, lanes: u32) -> bool {
        self.arrived.get(warp).is_some_and(|arrived| arrived & lanes != 0)
    }

    /// Whether all that are expected have arrived, given the lanes of each warp that have not ended.
    pub(crate) fn is_complete(&self, alive: &[u32]) -> bool {
        if self.count == 0 {
            return false;
        }
        if self.expected == 0 {
            // From the last warp on: warps mostly arrive in their order.
            return alive
                .iter()
                .enumerate()
                .rev()
                .all(|(warp, &lanes)| lanes & !self.arrived.get(warp).copied().unwrap_or(0) == 0);
        }
        // Counts are of whole warps: lanes that have ended, or never were, count as soon as the rest of their warp is
        // here.
        let absent: u32 = alive
            .iter()
            .zip(&self.arrived)
            .filter(|&(&lanes, &arrived)| arrived != 0 && lanes & !arrived == 0)
            .map(|(&lanes, &arrived)| (!(lanes | arrived)).count_ones())
            .sum();
        self.count + absent >= self.expected
    }

    /// What the threads are told that wait.
    pub(crate) fn tally(&self) -> Tally {
        Tally { yes: self.yes, count: self.count }
    }

    /// Starts again: nobody waits, and nobody has arrived.
    pub(crate) fn restart(&mut self) {
        self.arrived.fill(0);
        self.waiting.clear();
        (self.count, self.expected, self.yes) = (0, 0, 0);
    }

    /// Whether nobody has arrived.
    pub(crate) fn is_idle(&self) -> bool {
        self.count == 0
    }
}

#[cfg(test)]
mod tests {
    use super::Barrier;

    #[test]
    fn all_threads_that_have_not_ended() {
        let mut barrier = Barrier::default();
        let alive = [u32::MAX, 0xff];
        barrier.arrive(2, 0, u32::MAX, 0, 0);
        assert!(!barrier.is_complete(&alive));
        barrier.arrive(2, 1, 0xf0, 0, 0xf0);
        assert!(!barrier.is_complete(&alive));
        assert!(barrier.is_complete(&[u32::MAX, 0xf0]), "the rest ended");
        barrier.arrive(2, 1, 0x0f, 0, 0);
        assert!(barrier.is_complete(&alive));
        assert_eq!(barrier.tally(), super::Tally { yes: 4, count: 40 });
        barrier.restart();
        assert!(barrier.is_idle());
    }

    #[test]
    fn a_count_is_of_whole_warps() {
        let mut barrier = Barrier::default();
        let alive = [u32::MAX, 0xffff, u32::MAX];
        barrier.arrive(3, 0, u32::MAX, 64, 0);
        barrier.arrive(3, 1, 0x00ff, 64, 0);
        assert!(!barrier.is_complete(&alive));
        barrier.arrive(3, 1, 0xff00, 64, 0);
        assert!(barrier.is_complete(&alive));
    }
}
