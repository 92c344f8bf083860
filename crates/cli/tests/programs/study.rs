//! Runs `scripts/diffusion-study` for a small volume: what does not depend on the size must be as the study says.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::run::Installation;

/// Rows that must be in its tables.
const ROWS: [&str; 8] = [
    // Table 1, and what the kernels are with `-G`.
    "| `cache_fixed` | 2 | 2 |",
    "| `cache_computed` | 3 | 3 |",
    "| `shared_fixed` | 5 | 5 |",
    "| `shared_computed` | 6 | 6 |",
    // Figure 2: a line for each request in y and z; in x two, except for one of the two warps in a row, which is at the border.
    "| up | 1.00 | 4.00 |",
    "| behind | 1.00 | 4.00 |",
    "| left | 1.50 | 4.50 |",
    "| right | 1.50 | 4.50 |",
];

/// Runs the script.
pub(crate) fn check() -> Result<()> {
    let installation = Installation::make()?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/diffusion-study").canonicalize()?;
    let mut command = Command::new(script);
    command.args(["--size", "64x64x8", "--steps", "1", "--warpgrind"]).arg(installation.file("bin/warpgrind"));
    let output = command.output().context("starting the script")?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "the exit is {}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    for row in ROWS {
        ensure!(text.lines().any(|line| line.starts_with(row)), "`{row}` is missing:\n{text}");
    }
    // Occupancy orders blocks of the study's GPU as its times do.
    // Without the tile, the two branches that fill its borders are gone.
    for row in ["| `shared_fixed` | 6 | 4 |", "| `shared_computed` | 6 | 4 |"] {
        ensure!(text.lines().any(|line| line.starts_with(row)), "`{row}` is missing:\n{text}");
    }
    for row in ["8x8 | sm_21, 16 KB | 33 %", "16x16 | sm_21, 16 KB | 100 %", "32x32 | sm_21, 16 KB | 66 %"] {
        ensure!(text.contains(row), "`{row}` is missing:\n{text}");
    }
    Ok(())
}
