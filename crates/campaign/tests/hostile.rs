//! Manifests and parts that are damaged at random: reading ends in a result or an error, in bounded time and memory.
//!
//! Some seconds in every test run; `WARPGRIND_FUZZ_SECONDS=900 cargo test --release -p campaign --test hostile` takes longer.

use std::time::{Duration, Instant};

use campaign::{Manifest, Row, decode, encode};

/// Xorshift, so that what fails fails again.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// Changes some bytes, cuts a piece out, doubles one, or writes a number that is likely to matter.
fn damaged(bytes: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut damaged = bytes.to_vec();
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(damaged.len());
        match numbers.below(6) {
            0 => damaged.truncate(at),
            1 => {
                let end = (at + numbers.below(64)).min(damaged.len());
                damaged.drain(at..end);
            }
            2 => {
                let end = (at + numbers.below(64)).min(damaged.len());
                let piece = damaged[at..end].to_vec();
                damaged.splice(at..at, piece);
            }
            3 if at + 8 <= damaged.len() => {
                let number = [0, 1, u64::MAX, i64::MAX as u64, u64::from(u32::MAX), 1 << 31][numbers.below(6)];
                damaged[at..at + 8].copy_from_slice(&number.to_le_bytes());
            }
            // The footer, where all sizes are.
            4 if damaged.len() > 600 => {
                let at = damaged.len() - 1 - numbers.below(600);
                damaged[at] = numbers.next() as u8;
            }
            _ if at < damaged.len() => damaged[at] ^= 1 << numbers.below(8),
            _ => {}
        }
    }
    damaged
}

fn time() -> Duration {
    let seconds = std::env::var("WARPGRIND_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(seconds.unwrap_or(3))
}

#[test]
fn manifests_are_read_or_refused() {
    let text = include_bytes!("manifest.json");
    let (mut numbers, since, mut read) = (Numbers(0x5eed), Instant::now(), [0_u64; 2]);
    while since.elapsed() < time() {
        let outcome = Manifest::parse(&damaged(text, &mut numbers));
        read[usize::from(outcome.is_ok())] += 1;
        if let Ok(manifest) = outcome {
            // Whatever it says can be computed with.
            let last = manifest.part(manifest.parts() - 1);
            assert_eq!(last.rows().end, manifest.rows());
            assert_eq!(Manifest::parse(manifest.to_json().as_bytes()).unwrap(), manifest);
        }
    }
    assert!(read[0] > 100, "{read:?}");
}

#[test]
fn parts_are_read_or_refused() {
    let manifest = Manifest::parse(include_bytes!("manifest.json")).unwrap();
    let row = |row: u64| Row { row, kernel: format!("k{row}"), outcome: "sdc".to_owned(), ..Row::default() };
    let bytes = encode(&manifest, &(0..16).map(row).collect::<Vec<_>>()).unwrap();
    let (mut numbers, since, mut read) = (Numbers(0xfeed), Instant::now(), [0_u64; 2]);
    // What the reader of the format says when it gives up is not for the log of the test.
    std::panic::set_hook(Box::new(|_| ()));
    while since.elapsed() < time() {
        let outcome = decode(damaged(&bytes, &mut numbers), manifest.part);
        read[usize::from(outcome.is_ok())] += 1;
        assert!(outcome.map_or(0, |rows| rows.len()) as u64 <= manifest.part);
    }
    let _ = std::panic::take_hook();
    assert!(read[0] > 100, "{read:?}");
}
