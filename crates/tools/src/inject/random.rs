//! Random numbers that are a function of a counter: Philox 4x32-10 (Salmon and others, "Parallel random numbers: as easy as
//! 1, 2, 3", SC 2011). A trial is found by its number, whoever runs it, and in whatever order.

/// The numbers of one trial: each that is asked for is another one.
#[derive(Clone, Debug)]
pub(super) struct Numbers {
    key: [u32; 2],
    counter: [u32; 4],
}

impl Numbers {
    /// Those of a trial, in a stratum of its own, from a seed.
    pub(super) fn new(seed: u64, stratum: u32, trial: u64) -> Self {
        Self { key: [seed as u32, (seed >> 32) as u32], counter: [trial as u32, (trial >> 32) as u32, stratum, 0] }
    }

    /// The next number of 64 bits.
    pub(super) fn next(&mut self) -> u64 {
        let [low, high, ..] = philox(self.counter, self.key);
        self.counter[3] += 1;
        u64::from(low) | u64::from(high) << 32
    }

    /// The next number below a limit. No number is likelier than another by more than one in 2^64 over the limit.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }
}

fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    const MULTIPLIERS: [u32; 2] = [0xd251_1f53, 0xcd9e_8d57];
    const WEYL: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];
    for _ in 0..10 {
        let product = |a: u32, b: u32| {
            let product = u64::from(a) * u64::from(b);
            ((product >> 32) as u32, product as u32)
        };
        let (high, low) = product(MULTIPLIERS[0], counter[0]);
        let (other_high, other_low) = product(MULTIPLIERS[1], counter[2]);
        counter = [other_high ^ counter[1] ^ key[0], other_low, high ^ counter[3] ^ key[1], low];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    counter
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers that the authors publish with their library.
    #[test]
    fn numbers_are_those_of_philox() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox([u32::MAX; 4], [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
    }

    #[test]
    fn numbers_depend_on_the_seed_the_stratum_and_the_trial() {
        let first = |seed, stratum, trial| Numbers::new(seed, stratum, trial).next();
        let all = [first(1, 0, 0), first(2, 0, 0), first(1, 1, 0), first(1, 0, 1), first(1, 0, 1 << 32)];
        for (place, number) in all.iter().enumerate() {
            assert!(!all[..place].contains(number));
        }
        let mut numbers = Numbers::new(1, 0, 0);
        assert_eq!(numbers.next(), all[0]);
        assert_ne!(numbers.next(), all[0]);
        let mut seen = [0; 5];
        for trial in 0..1000 {
            seen[Numbers::new(3, 0, trial).below(5) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| (140..260).contains(&count)), "{seen:?}");
    }
}
