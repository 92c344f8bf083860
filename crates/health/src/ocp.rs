//! Records of the Open Compute Project's test and validation output, version 2.0: JSON lines.
//!
//! The crate `ocptv` writes them, too; but it brings an asynchronous runtime with it, and some sixty crates, for what are a dozen
//! lines here.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::outcome::{Outcome, Status};

/// The records of a check, a line each.
pub fn records(outcome: &Outcome, version: &str, host: &str, now: SystemTime) -> String {
    let mut all = vec![
        json!({ "schemaVersion": { "major": 2, "minor": 0 } }),
        json!({ "testRunArtifact": { "testRunStart": {
            "name": "warpgrind health",
            "version": version,
            "commandLine": "warpgrind health",
            "parameters": {},
            "dutInfo": {
                "dutInfoId": host,
                "name": host,
                "platformInfos": [{ "info": "CPU device: the processor is tested, no GPU" }],
                "softwareInfos": [],
                "hardwareInfos": [],
            },
        } } }),
    ];
    for (number, kernel) in outcome.kernels.iter().enumerate() {
        let mut step = |what: Value| {
            let mut artifact = json!({ "testStepId": number.to_string() });
            if let (Some(artifact), Value::Object(what)) = (artifact.as_object_mut(), what) {
                artifact.extend(what);
            }
            all.push(json!({ "testStepArtifact": artifact }));
        };
        step(json!({ "testStepStart": { "name": kernel.name } }));
        step(json!({ "measurement": { "name": "passes", "value": kernel.passes } }));
        let validators = json!([{ "type": "EQUAL", "value": 0 }]);
        step(json!({ "measurement": { "name": "mismatches", "value": kernel.mismatches, "validators": validators } }));
        let (kind, verdict) = match (kernel.passes, kernel.mismatches) {
            (0, _) => ("UNKNOWN", "no-result"),
            (_, 0) => ("PASS", "result-right"),
            _ => ("FAIL", "result-wrong"),
        };
        step(json!({ "diagnosis": { "verdict": verdict, "type": kind } }));
        step(json!({ "testStepEnd": { "status": if kernel.passes > 0 { "COMPLETE" } else { "ERROR" } } }));
    }
    for message in outcome.failure.iter().chain(&outcome.unchecked) {
        all.push(json!({ "testRunArtifact": { "error": { "symptom": "not-checked", "message": message } } }));
    }
    let (status, result) = match outcome.status() {
        Status::Good => ("COMPLETE", "PASS"),
        Status::Bad => ("COMPLETE", "FAIL"),
        Status::Warning => ("COMPLETE", "PASS"),
        Status::Unknown => ("ERROR", "NOT_APPLICABLE"),
    };
    all.push(json!({ "testRunArtifact": { "testRunEnd": { "status": status, "result": result } } }));
    let timestamp = timestamp(now);
    let mut lines = String::new();
    for (number, mut record) in all.into_iter().enumerate() {
        if let Some(record) = record.as_object_mut() {
            record.insert("sequenceNumber".to_owned(), json!(number));
            record.insert("timestamp".to_owned(), json!(timestamp));
        }
        lines += &record.to_string();
        lines.push('\n');
    }
    lines
}

/// The time as RFC 3339 has it, in UTC.
fn timestamp(now: SystemTime) -> String {
    let seconds = now.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let (days, of_day) = (seconds / 86400, seconds % 86400);
    // Days since 0000-03-01, in eras of 400 years (Howard Hinnant, "chrono-compatible low-level date algorithms").
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::outcome::tests::outcome;

    #[test]
    fn timestamps_are_dates() {
        let at = |seconds| timestamp(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(1_735_689_599), "2024-12-31T23:59:59Z");
    }

    #[test]
    fn records_are_numbered_and_end_with_a_result() {
        let text = records(&outcome(5, 1), "0.1.0", "node", UNIX_EPOCH);
        let all: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(all.iter().enumerate().all(|(number, record)| record["sequenceNumber"] == json!(number)));
        assert_eq!(all[0]["schemaVersion"], json!({ "major": 2, "minor": 0 }));
        let end = &all[all.len() - 1]["testRunArtifact"]["testRunEnd"];
        assert_eq!(end, &json!({ "status": "COMPLETE", "result": "FAIL" }));
        assert!(all.iter().any(|record| record["testStepArtifact"]["diagnosis"]["type"] == "FAIL"));
    }
}
