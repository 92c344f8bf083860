//! The bundled kernels: `kernels/health.cu`, as PTX.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::driver::{Driver, DriverError};

/// Their names.
pub const NAMES: [&str; 4] = ["integers", "fp32", "fp64", "memory"];
/// What begins the line that tells a result.
const RESULT: &str = "result";

const PTX: &str = include_str!("../kernels/health.ptx");
const BLOCKS: u32 = 8;
const THREADS: u32 = 256;
const ROUNDS: u32 = 64;
const SEED: u32 = 0x5eed;

/// Launches all kernels again and again until so much time has passed, at least once, and writes a line for each result.
pub fn run(time: Duration, out: &mut dyn Write) -> Result<(), DriverError> {
    let since = Instant::now();
    let driver = Driver::start(PTX)?;
    let mut bytes = vec![0; (BLOCKS * THREADS) as usize * 8];
    let buffer = driver.allocate(bytes.len())?;
    for pass in 0.. {
        for name in NAMES {
            if pass > 0 && since.elapsed() >= time {
                return Ok(());
            }
            driver.launch(name, [BLOCKS, THREADS], buffer, [ROUNDS, SEED])?;
            driver.read(buffer, &mut bytes)?;
            let hash = blake3::hash(&bytes).to_hex();
            // Whoever reads it may have gone.
            let _ = writeln!(out, "{RESULT} {name} {hash}").and_then(|()| out.flush());
        }
    }
    Ok(())
}

/// The results in what [`run`] wrote: names and hashes. Other lines are not results.
pub fn results(output: &str) -> impl Iterator<Item = (&'static str, &str)> {
    output.lines().filter_map(|line| {
        let (name, hash) = line.strip_prefix(RESULT)?.trim_start().split_once(' ')?;
        Some((*NAMES.iter().find(|known| **known == name)?, hash))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Golden;

    fn mixed(mut value: u32) -> u32 {
        value ^= value >> 16;
        value = value.wrapping_mul(0x7feb_352d);
        value ^= value >> 15;
        value = value.wrapping_mul(0x846c_a68b);
        value ^ value >> 16
    }

    fn integers(thread: u32) -> u64 {
        let mut value = u64::from(mixed(thread ^ SEED));
        for round in 0..ROUNDS {
            value = value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            value ^= value >> 29;
            let high = (u64::from(value as u32) * u64::from(mixed(round))) >> 32;
            value = value.wrapping_add(high);
        }
        value
    }

    fn fp32(thread: u32) -> u64 {
        let (mut x, mut y) = ((mixed(thread ^ SEED) >> 8) as f32 * 2_f32.powi(-24), 0.5_f32);
        for _ in 0..ROUNDS {
            x = 3.99_f32 * x * (1.0 - x);
            y = y.mul_add(0.75, x);
        }
        u64::from(x.to_bits()) << 32 | u64::from(y.to_bits())
    }

    fn fp64(thread: u32) -> u64 {
        let (mut x, mut y) = (f64::from(mixed(thread ^ SEED)) * 2_f64.powi(-32), 1.0_f64);
        for _ in 0..ROUNDS {
            x = 3.99 * x * (1.0 - x);
            y = y.mul_add(0.75, x / (1.0 + y));
        }
        x.to_bits() ^ y.to_bits()
    }

    fn memory() -> Vec<u64> {
        let mut out = Vec::new();
        for block in 0..BLOCKS {
            let mut shared: Vec<u32> = (0..THREADS).map(|thread| mixed((block * THREADS + thread) ^ SEED)).collect();
            let mut last = vec![0; THREADS as usize];
            for round in 0..ROUNDS {
                let others: Vec<u32> =
                    (0..THREADS).map(|thread| shared[((thread * 5 + round) % 256) as usize]).collect();
                for (thread, other) in others.into_iter().enumerate() {
                    shared[thread] = mixed(other.wrapping_add(round));
                    last[thread] = u64::from(other) << 32 | u64::from(round);
                }
            }
            out.extend(last.iter().zip(shared.iter().rev()).map(|(last, shared)| last ^ u64::from(*shared)));
        }
        out
    }

    /// The same in Rust: what is bundled is not what some device happened to compute.
    #[test]
    fn golden_hashes_are_those_of_the_arithmetic() {
        let golden = Golden::bundled();
        let threads = || 0..BLOCKS * THREADS;
        let all = [
            ("integers", threads().map(integers).collect()),
            ("fp32", threads().map(fp32).collect()),
            ("fp64", threads().map(fp64).collect()),
            ("memory", memory()),
        ];
        for (name, numbers) in all {
            let bytes: Vec<u8> = numbers.into_iter().flat_map(u64::to_le_bytes).collect();
            assert_eq!(golden.get(name), Some(blake3::hash(&bytes).to_hex().as_str()), "{name}");
        }
    }

    #[test]
    fn only_results_are_results() {
        let found: Vec<_> = results("result fp32 abc\nresult other x\nnoise\nresult memory\n").collect();
        assert_eq!(found, [("fp32", "abc")]);
    }
}
