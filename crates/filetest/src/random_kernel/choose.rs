//! Where choices come from.

/// Random numbers that depend on a seed alone (SplitMix64).
#[derive(Clone, Debug)]
pub(super) struct Choose {
    state: u64,
}

impl Choose {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(0x1234_5678) }
    }

    pub(super) fn word(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.state;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    /// A number below `bound`, which is at least 1.
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        (self.word() % u64::from(bound)) as u32
    }

    /// A number of `low..=high`.
    pub(super) fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high - low + 1)
    }

    /// True in so many of a hundred cases.
    pub(super) fn percent(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u32) as usize]
    }

    /// One of several, each as often as its weight says.
    pub(super) fn weighted<T: Copy>(&mut self, from: &[(u32, T)]) -> T {
        let mut rest = self.below(from.iter().map(|(weight, _)| weight).sum());
        for &(weight, value) in from {
            if rest < weight {
                return value;
            }
            rest -= weight;
        }
        unreachable!("the rest is below the sum of the weights")
    }
}
