//! Bounds of Clopper and Pearson on a share: exact for any number of trials.

/// The bounds at a confidence on the share of which so many of all trials were: two-sided.
pub(super) fn clopper_pearson(hits: u64, trials: u64, confidence: f64) -> (f64, f64) {
    let tail = (1.0 - confidence) / 2.0;
    (lower(hits, trials, tail), upper(hits, trials, tail))
}

/// The largest share with which so few hits have a probability of more than `tail`.
pub(super) fn upper(hits: u64, trials: u64, tail: f64) -> f64 {
    if hits >= trials {
        return 1.0;
    }
    bisect(|share| at_most(hits, trials, share) > tail)
}

fn lower(hits: u64, trials: u64, tail: f64) -> f64 {
    if hits == 0 {
        return 0.0;
    }
    // At least so many hits: all but at most one less.
    bisect(|share| 1.0 - at_most(hits - 1, trials, share) < tail)
}

/// Where something that holds for small shares begins to fail.
fn bisect(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if holds(middle) { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// The probability of at most so many hits, each with a share: the sum of binomial terms, the larger ones first in logarithms.
fn at_most(hits: u64, trials: u64, share: f64) -> f64 {
    if share <= 0.0 {
        return 1.0;
    }
    if share >= 1.0 {
        return f64::from(u8::from(hits >= trials));
    }
    let (hit, miss) = (share.ln(), (-share).ln_1p());
    let mut term = trials as f64 * miss;
    let mut sum = term.exp();
    for number in 1..=hits {
        term += ((trials - number + 1) as f64 / number as f64).ln() + hit - miss;
        sum += term.exp();
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(value: f64, expected: f64) {
        assert!((value - expected).abs() <= expected.abs() * 2e-3 + 1e-9, "{value} is not {expected}");
    }

    /// Values of R's `binom.test` and of the tables in the literature.
    #[test]
    fn bounds_are_those_of_clopper_and_pearson() {
        let (low, high) = clopper_pearson(5, 10, 0.95);
        is_near(low, 0.187_086);
        is_near(high, 0.812_914);
        let (low, high) = clopper_pearson(0, 100, 0.95);
        is_near(low, 0.0);
        is_near(high, 0.036_217);
        let (low, high) = clopper_pearson(100, 100, 0.95);
        is_near(low, 0.963_783);
        is_near(high, 1.0);
        // One-sided: no escape in 2,995 trials is a coverage of 99.9 % at 95 %.
        assert!(upper(0, 2995, 0.05) <= 0.001 && upper(0, 2994, 0.05) > 0.001);
        is_near(upper(0, 10_000, 0.05), 3.0e-4);
        is_near(upper(1, 10_000, 0.05), 4.743e-4);
        is_near(upper(5, 10_000, 0.05), 1.051e-3);
    }
}
