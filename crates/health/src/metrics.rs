//! Metrics for the textfile collector of Prometheus' node exporter.

use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::outcome::{Outcome, Status};

/// The text of a file for the collector.
pub fn metrics(outcome: &Outcome, now: SystemTime) -> String {
    let mut text = String::new();
    let mut metric = |name: &str, help: &str, values: &[(String, String)]| {
        let _ = writeln!(text, "# HELP warpgrind_health_{name} {help}\n# TYPE warpgrind_health_{name} gauge");
        for (labels, value) in values {
            let _ = writeln!(text, "warpgrind_health_{name}{{device=\"cpu\"{labels}}} {value}");
        }
    };
    let status = match outcome.status() {
        Status::Good => 0,
        Status::Warning => 1,
        Status::Bad => 2,
        Status::Unknown => 3,
    };
    let one = |value: String| [(String::new(), value)];
    metric("status", "0 good, 1 warning, 2 bad, 3 unknown.", &one(status.to_string()));
    let of_kernels = |value: fn(&crate::Kernel) -> u64| -> Vec<(String, String)> {
        let kernels = outcome.kernels.iter();
        kernels.map(|kernel| (format!(",kernel=\"{}\"", label(&kernel.name)), value(kernel).to_string())).collect()
    };
    metric("passes", "How often a kernel ran.", &of_kernels(|kernel| kernel.passes));
    metric("mismatches", "How often its result was wrong.", &of_kernels(|kernel| kernel.mismatches));
    metric("differences", "How often redundant copies differed.", &one(outcome.differences.to_string()));
    metric("duration_seconds", "How long the check took.", &one(format!("{:.3}", outcome.took.as_secs_f64())));
    let seconds = now.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    metric("last_run_timestamp_seconds", "When it ended.", &one(seconds.to_string()));
    text
}

fn label(text: &str) -> String {
    let plain = text.chars().filter(|letter| !letter.is_control()).take(200).collect::<String>();
    plain.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::tests::outcome;

    #[test]
    fn metrics_are_lines_of_prometheus() {
        let mut outcome = outcome(5, 1);
        outcome.kernels[0].name = "a\"b\\\n".to_owned();
        let text = metrics(&outcome, UNIX_EPOCH);
        assert!(text.contains("warpgrind_health_status{device=\"cpu\"} 2\n"), "{text}");
        assert!(text.contains("warpgrind_health_mismatches{device=\"cpu\",kernel=\"a\\\"b\\\\\"} 1\n"), "{text}");
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (_, value) = line.rsplit_once(' ').unwrap();
            assert!(value.parse::<f64>().is_ok() && line.starts_with("warpgrind_health_"), "{line}");
        }
    }
}
