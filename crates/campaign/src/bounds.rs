//! Bounds of Clopper and Pearson on a share: exact for any number of trials.

/// The bounds at a confidence on the share of which so many of all trials were: two-sided.
pub fn clopper_pearson(hits: u64, trials: u64, confidence: f64) -> (f64, f64) {
    let tail = (1.0 - confidence) / 2.0;
    (lower(hits, trials, tail), upper(hits, trials, tail))
}

/// The largest share with which so few hits have a probability of more than `tail`.
pub fn upper(hits: u64, trials: u64, tail: f64) -> f64 {
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

/// The probability of at most so many hits, each with a share: the regularised incomplete beta function, which takes as long for
/// a million trials as for a thousand.
fn at_most(hits: u64, trials: u64, share: f64) -> f64 {
    if share <= 0.0 || hits >= trials {
        return 1.0;
    }
    if share >= 1.0 {
        return 0.0;
    }
    let (a, b) = ((hits + 1) as f64, (trials - hits) as f64);
    // The fraction converges fast on one side of the mean, and the function is symmetric.
    let value = match share < (a + 1.0) / (a + b + 2.0) {
        true => 1.0 - beta_fraction(a, b, share),
        false => beta_fraction(b, a, 1.0 - share),
    };
    value.clamp(0.0, 1.0)
}

/// The regularised incomplete beta function by its continued fraction (DLMF 8.17.22), evaluated by the method of Lentz.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp() / a;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let (mut c, mut fraction) = (1.0, d);
    // It takes about as many steps as the root of the number of trials.
    for step in 1..1_000_000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for coefficient in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + coefficient * d);
            c = away_from_zero(1.0 + coefficient / c);
            change = c * d;
            fraction *= change;
        }
        if (change - 1.0).abs() < 1e-14 {
            break;
        }
    }
    front * fraction
}

/// The logarithm of the gamma function: Stirling's series, from where it is exact to the last digits.
fn ln_gamma(mut x: f64) -> f64 {
    let mut shift = 0.0;
    while x < 15.0 {
        shift += x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series = (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0 - inverse / 1680.0))) / x;
    (x - 0.5) * x.ln() - x + (2.0 * std::f64::consts::PI).ln() / 2.0 + series - shift
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(value: f64, expected: f64) {
        assert!((value - expected).abs() <= expected.abs() * 2e-3 + 1e-9, "{value} is not {expected}");
    }

    /// The sum of binomial terms.
    #[test]
    fn probabilities_are_sums() {
        for (hits, trials, share) in [(0, 10, 0.3), (3, 10, 0.3), (9, 10, 0.9), (40, 1000, 0.05), (700, 1000, 0.69_f64)]
        {
            let (mut term, mut sum) = (trials as f64 * (1.0 - share).ln(), 0.0);
            for number in 0..=hits {
                sum += f64::exp(term);
                term += ((trials - number) as f64 / (number + 1) as f64).ln() + share.ln() - (1.0 - share).ln();
            }
            let value = at_most(hits, trials, share);
            assert!((value - sum).abs() < 1e-11, "{hits} of {trials} at {share}: {value} is not {sum}");
        }
        // Half of all, of many: nearly the normal distribution.
        assert!((at_most(5_000_000, 10_000_000, 0.5) - 0.5).abs() < 2e-4);
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
