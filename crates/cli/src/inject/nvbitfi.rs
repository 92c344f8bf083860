//! Trials as NVBitFI writes them, so that scripts for its results go on working: for each a line of the site and one of the
//! result. Instructions are those of PTX, not of the machine.

use std::fmt::Write;

use crate::trials::{Trial, Verdict};

/// NVBitFI's numbers of what happens to a value.
fn bit_flip_model(model: &str) -> Option<u32> {
    match model {
        "single-bit" | "thread-id" => Some(0),
        "double-bit" => Some(1),
        "random-value" => Some(2),
        "zero-value" => Some(3),
        _ => None,
    }
}

/// NVBitFI's label of an outcome. What it takes from a log of the system is not known here.
fn category(trial: &Trial) -> &'static str {
    match (&trial.program, trial.outcome.as_str()) {
        (Some(Verdict::Late), _) | (None, "hang") => "DUE: Timeout",
        (Some(Verdict::Exit(_) | Verdict::Signal(_)), _) => "DUE: Non-zero Exit Status",
        (Some(Verdict::Output { is_checked: false }), _) => "SDC: Standard Output is Different",
        (Some(Verdict::Output { is_checked: true }), _) => "SDC: App-specific Check Failed",
        (Some(Verdict::File(_)), _) => "SDC: Output File is Different",
        (Some(Verdict::StandardError), _) => "Potential DUE: Standard Error is Different",
        (_, "never-read") => "Masked: Never Read",
        (_, "masked") | (Some(Verdict::Masked), _) => "Masked: Other Reasons",
        (None, "sdc") => "SDC: Output File is Different",
        (None, "fault") => "Potential DUE: Kernel Error",
        _ => "Uncategorized",
    }
}

/// A line with the site and a line with the result for each trial that took place.
pub(super) fn lines(model: &str, trials: &[Trial]) -> String {
    let mut text = String::new();
    let flip = bit_flip_model(model).map_or_else(|| model.to_owned(), |number| number.to_string());
    for trial in trials.iter().filter(|trial| trial.is_valid()) {
        let opcode = trial
            .instruction
            .split_whitespace()
            .find(|word| !word.starts_with('@'))
            .unwrap_or("")
            .trim_end_matches(';');
        // Launches are counted from 0 on, here those of all kernels; its operand and bit are numbers between 0 and 1.
        let (kernel, launch, bit) = (&trial.kernel, trial.launch.saturating_sub(1), trial.bit as f64 / 64.0);
        let _ = writeln!(text, "{kernel} {launch} {} 0 {bit}", trial.place);
        let _ = writeln!(
            text,
            "{};{kernel};{launch};{};0;{bit}:{}:{opcode}:{}:{flip}:0:{}::{}:{}",
            trial.place,
            trial.place,
            trial.ptx_line,
            trial.thread_number,
            category(trial),
            trial.before,
            trial.after
        );
    }
    text
}
