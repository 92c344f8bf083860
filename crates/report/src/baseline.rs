//! Findings of an earlier run, which are known and do not count.
//!
//! A baseline is a report that this program wrote: the JSON lines of `--format json`, or SARIF. Of both, only fingerprints are
//! read. A file without any that is no report of a clean run either is refused: a baseline that says nothing by mistake would
//! be taken for one that knows nothing.

use std::collections::HashSet;

use serde::Deserialize;

use crate::report::Report;
use crate::sarif;

/// Longer files are no baselines.
pub const LARGEST_BASELINE: u64 = 256 << 20;

/// The fingerprints of findings that are known.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Baseline {
    fingerprints: HashSet<String>,
}

/// What is wrong with a baseline.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BaselineError {
    /// It is neither of the two formats.
    #[error("it is no report: {message}; `--format json --log-file FILE` and `--sarif FILE` write one")]
    NoReport {
        /// What is wrong.
        message: String,
    },
    /// It has findings that cannot be recognised.
    #[error("it has findings without fingerprints, so an older version has written it: make it anew")]
    NoFingerprints,
}

/// The part of a line of JSON that matters here.
#[derive(Deserialize)]
struct JsonLine {
    r#type: String,
    fingerprint: Option<String>,
}

#[derive(Deserialize)]
struct SarifLog {
    runs: Vec<SarifRun>,
}

#[derive(Deserialize)]
struct SarifRun {
    #[serde(default)]
    results: Vec<SarifResult>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult {
    #[serde(default)]
    partial_fingerprints: std::collections::HashMap<String, String>,
}

impl Baseline {
    /// Reads a report.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        // A report of ours has SARIF on several lines, and the first is no object.
        let first = text.lines().next().unwrap_or_default();
        match serde_json::from_str::<JsonLine>(first) {
            Ok(_) => Self::from_json_lines(text),
            Err(_) => Self::from_sarif(text),
        }
    }

    fn from_json_lines(text: &str) -> Result<Self, BaselineError> {
        let mut fingerprints = HashSet::new();
        let mut is_whole = false;
        for (index, line) in text.lines().enumerate() {
            let no_report =
                |message: String| BaselineError::NoReport { message: format!("line {}: {message}", index + 1) };
            let line: JsonLine = serde_json::from_str(line).map_err(|error| no_report(error.to_string()))?;
            match line.r#type.as_str() {
                "finding" => _ = fingerprints.insert(line.fingerprint.ok_or(BaselineError::NoFingerprints)?),
                "summary" => is_whole = true,
                _ => {}
            }
        }
        if !is_whole {
            let message = "there is no summary, so its end is missing, or something else has written it".to_owned();
            return Err(BaselineError::NoReport { message });
        }
        Ok(Self { fingerprints })
    }

    fn from_sarif(text: &str) -> Result<Self, BaselineError> {
        let log: SarifLog = serde_json::from_str(text)
            .map_err(|error| BaselineError::NoReport { message: format!("neither JSON lines nor SARIF ({error})") })?;
        let results = log.runs.into_iter().flat_map(|run| run.results);
        let fingerprints = results.map(|mut result| result.partial_fingerprints.remove(sarif::FINGERPRINT));
        let fingerprints: Option<HashSet<String>> = fingerprints.collect();
        Ok(Self { fingerprints: fingerprints.ok_or(BaselineError::NoFingerprints)? })
    }

    /// Takes what is known out of the findings, which have been [identified](Report::identify).
    pub fn apply(&self, report: &mut Report) {
        for found in std::mem::take(&mut report.findings) {
            let is_known = self.fingerprints.contains(&found.fingerprint);
            if is_known { &mut report.known } else { &mut report.findings }.push(found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_report_is_refused() {
        for text in [
            "",
            "\n",
            "{}",
            "[]",
            "not JSON",
            "{\"runs\": 5}",
            "{\"type\":\"summary\"}\nmore",
            "{\"type\":\"finding\",\"fingerprint\":\"a:1\"}\n",
            "{\"type\":\"finding\",\"fingerprint\":5}\n{\"type\":\"summary\"}",
        ] {
            assert!(matches!(Baseline::parse(text), Err(BaselineError::NoReport { .. })), "{text}");
        }
        assert!(Baseline::parse(&"[".repeat(100_000)).is_err());
        let old = "{\"type\":\"finding\"}\n{\"type\":\"summary\"}\n";
        assert_eq!(Baseline::parse(old), Err(BaselineError::NoFingerprints));
        let foreign = "{\"runs\":[{\"results\":[{\"ruleId\":\"x\"}]}]}";
        assert_eq!(Baseline::parse(foreign), Err(BaselineError::NoFingerprints));
        assert_eq!(Baseline::parse("{\"type\":\"summary\"}\n"), Ok(Baseline::default()));
        assert_eq!(Baseline::parse("{\"runs\":[]}"), Ok(Baseline::default()));
    }
}
