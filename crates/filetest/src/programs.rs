//! Programs that check themselves: running them, and telling what came of it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// A program to run.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// What it is called in reports.
    pub name: String,
    /// Where it runs.
    pub directory: PathBuf,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// What it prints if its own check succeeded.
    #[serde(default)]
    pub pass: Option<String>,
    /// What it prints if its own check failed.
    #[serde(default)]
    pub fail: Option<String>,
    /// Seconds after which it is ended, if not those that hold for all.
    #[serde(default)]
    pub timeout: Option<u64>,
}

/// What came of a program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It said that its results are right.
    Passed,
    /// It ended well and says nothing of its results.
    Ended,
    /// It was still running when its time was over.
    TimedOut,
    /// Something that it needs is not supported.
    Refused,
    /// It said that its results are wrong.
    Wrong,
    /// It ended with an exit code other than 0.
    Failed,
    /// It was ended by a signal, or could not be started.
    Crashed,
}

impl Outcome {
    /// For people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Ended => "ended",
            Self::TimedOut => "timed out",
            Self::Refused => "refused",
            Self::Wrong => "wrong",
            Self::Failed => "failed",
            Self::Crashed => "crashed",
        }
    }
}

/// What is known of a program that ran.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The program.
    pub name: String,
    /// What came of it.
    pub outcome: Outcome,
    /// How long it ran.
    pub seconds: f64,
    /// Its exit code, or 128 and the number of the signal.
    pub exit: i32,
    /// What Warpgrind had to say, and else the last lines.
    pub words: Vec<String>,
}

/// Longer output is not kept: its start and its end say enough.
const MOST_OUTPUT: usize = 1 << 20;

/// What ends a program that used up the processor time that `prlimit --cpu` or `ulimit -t` allow.
const SIGXCPU: i32 = 24;

/// Reads a manifest. Directories are relative to it.
pub fn read_manifest(path: &Path) -> Result<Vec<Program>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    let mut all: Vec<Program> = serde_json::from_str(&text).with_context(|| format!("reading {}", path.display()))?;
    let base = path.parent().unwrap_or(Path::new("."));
    for program in &mut all {
        program.directory = base.join(&program.directory);
    }
    Ok(all)
}

/// Reads the results of an earlier run.
pub fn read_reports(path: &Path) -> Result<Vec<Report>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("reading {}", path.display()))
}

/// Writes the results of a run. Who reads the file, or ends us meanwhile, finds these or those that were there before.
pub fn write_reports(path: &Path, reports: &[Report]) -> Result<()> {
    let partial = path.with_extension("partial");
    let write = || -> Result<()> {
        std::fs::write(&partial, serde_json::to_string_pretty(reports)? + "\n")?;
        Ok(std::fs::rename(&partial, path)?)
    };
    write().with_context(|| format!("writing {}", path.display()))
}

/// Takes the reports of a run that was cut short, and leaves the programs that are still to be run.
pub fn resume(path: &Path, programs: &mut Vec<Program>) -> Result<Vec<Report>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let mut done = read_reports(path)?;
    done.retain(|report| programs.iter().any(|program| program.name == report.name));
    programs.retain(|program| done.iter().all(|report| report.name != program.name));
    Ok(done)
}

/// Runs programs, `jobs` at once, and hands each report to `tell` as soon as it is there.
pub fn run_all(
    programs: &[Program],
    under: &[String],
    jobs: usize,
    timeout: Duration,
    tell: impl FnMut(Report) -> Result<()> + Send,
) -> Result<()> {
    let next = Mutex::new(programs.iter());
    let tell = Mutex::new(tell);
    let work = || -> Result<()> {
        loop {
            let program = next.lock().expect("no thread panics with it").next();
            let Some(program) = program else { return Ok(()) };
            let report = run(program, under, program.timeout.map_or(timeout, Duration::from_secs));
            tell.lock().expect("no thread panics with it")(report)?;
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker does not panic"))
    })
}

/// Runs a program under a command.
pub fn run(program: &Program, under: &[String], timeout: Duration) -> Report {
    let start = Instant::now();
    let report = |outcome, exit, words| Report {
        name: program.name.clone(),
        outcome,
        seconds: start.elapsed().as_secs_f64(),
        exit,
        words,
    };
    let mut words = under.iter().chain(&program.command);
    let Some(first) = words.next() else {
        return report(Outcome::Crashed, 127, vec!["the manifest has no command for it".to_owned()]);
    };
    // A group of its own, so that all of it can be ended.
    let spawned = Command::new(first)
        .args(words)
        .current_dir(&program.directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => return report(Outcome::Crashed, 127, vec![format!("{first}: {error}")]),
    };
    let (output, errors) = (collect(child.stdout.take()), collect(child.stderr.take()));
    let status = wait(&mut child, timeout);
    let text = |thread: std::thread::JoinHandle<String>| thread.join().unwrap_or_default();
    let (output, errors) = (text(output), text(errors));
    let ours: Vec<String> = errors.lines().filter(|line| line.contains("warpgrind: ")).map(str::to_owned).collect();
    let all = output + &errors;
    let words = if ours.is_empty() { last_lines(&all) } else { ours };
    let has = |text: &Option<String>| text.as_ref().is_some_and(|text| all.contains(text.as_str()));
    let Some(status) = status else {
        return report(Outcome::TimedOut, 124, words);
    };
    let is_refused = words.iter().any(|line| line.contains("not supported"));
    let exit = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    let outcome = match () {
        () if exit == 128 + SIGXCPU => Outcome::TimedOut,
        () if status.signal().is_some() || exit > 128 => Outcome::Crashed,
        () if is_refused => Outcome::Refused,
        () if has(&program.fail) => Outcome::Wrong,
        () if exit != 0 => Outcome::Failed,
        () if has(&program.pass) => Outcome::Passed,
        () if program.pass.is_some() => Outcome::Wrong,
        () => Outcome::Ended,
    };
    report(outcome, exit, words)
}

/// Reads what a program prints, as it prints it.
fn collect(pipe: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let (mut kept, mut buffer) = (Vec::new(), [0; 16 << 10]);
        let Some(mut pipe) = pipe else { return String::new() };
        while let Ok(bytes) = pipe.read(&mut buffer) {
            if bytes == 0 {
                break;
            }
            kept.extend_from_slice(&buffer[..bytes]);
            if kept.len() > 2 * MOST_OUTPUT {
                kept.drain(MOST_OUTPUT / 2..kept.len() - MOST_OUTPUT / 2);
            }
        }
        String::from_utf8_lossy(&kept).into_owned()
    })
}

/// Waits for a program; ends it, and all that it started, when its time is over.
fn wait(child: &mut Child, timeout: Duration) -> Option<std::process::ExitStatus> {
    let start = Instant::now();
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        if start.elapsed() > timeout {
            // `kill` takes a group as a negative number.
            let group = format!("-{}", child.id());
            let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn last_lines(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(3)..].iter().map(|line| line.chars().take(200).collect()).collect()
}

/// All programs by what came of them, with what was said of those that did not end well.
pub fn table(reports: &[Report]) -> String {
    let mut text = String::new();
    let mut counts: BTreeMap<Outcome, usize> = BTreeMap::new();
    for report in reports {
        *counts.entry(report.outcome).or_default() += 1;
        if !matches!(report.outcome, Outcome::Passed | Outcome::Ended) {
            let words = report.words.last().map_or("", String::as_str);
            let _ =
                writeln!(text, "{:<10} {:>7.1} s  {:<30} {words}", report.outcome.word(), report.seconds, report.name);
        }
    }
    let parts: Vec<String> = counts.iter().map(|(outcome, count)| format!("{count} {}", outcome.word())).collect();
    let seconds: f64 = reports.iter().map(|report| report.seconds).sum();
    let _ = writeln!(text, "{} programs in {seconds:.0} s: {}", reports.len(), parts.join(", "));
    text
}

/// What changed since an earlier run.
pub fn changes(before: &[Report], after: &[Report]) -> String {
    let mut text = String::new();
    let before: BTreeMap<&str, &Report> = before.iter().map(|report| (report.name.as_str(), report)).collect();
    for report in after {
        let Some(old) = before.get(report.name.as_str()) else { continue };
        if old.outcome != report.outcome {
            let _ = writeln!(text, "changed: {} {} -> {}", report.name, old.outcome.word(), report.outcome.word());
        } else if report.seconds > 2.0 * old.seconds + 1.0 {
            let _ = writeln!(text, "slower: {} {:.1} s -> {:.1} s", report.name, old.seconds, report.seconds);
        }
    }
    if text.is_empty() { "nothing changed\n".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(name: &str, script: &str, pass: Option<&str>) -> Program {
        Program {
            name: name.to_owned(),
            directory: PathBuf::from("."),
            command: ["sh", "-c", script].map(str::to_owned).to_vec(),
            pass: pass.map(str::to_owned),
            fail: Some("FAIL".to_owned()),
            timeout: None,
        }
    }

    fn outcome_of(script: &str, pass: Option<&str>) -> (Outcome, i32) {
        let report = run(&program("test", script, pass), &[], Duration::from_secs(2));
        (report.outcome, report.exit)
    }

    #[test]
    fn outcomes() {
        assert_eq!(outcome_of("echo PASS", Some("PASS")), (Outcome::Passed, 0));
        assert_eq!(outcome_of("true", None), (Outcome::Ended, 0));
        assert_eq!(outcome_of("true", Some("PASS")), (Outcome::Wrong, 0));
        assert_eq!(outcome_of("echo FAIL; echo PASS", Some("PASS")), (Outcome::Wrong, 0));
        assert_eq!(outcome_of("echo PASS; exit 3", Some("PASS")), (Outcome::Failed, 3));
        assert_eq!(outcome_of("kill -SEGV $$", None), (Outcome::Crashed, 139));
        assert_eq!(outcome_of("sleep 60 & sleep 60", None), (Outcome::TimedOut, 124));
        assert_eq!(outcome_of("kill -XCPU $$", None), (Outcome::TimedOut, 152));
        assert_eq!(outcome_of("echo 'warpgrind: cuX is not supported' >&2; exit 1", None), (Outcome::Refused, 1));
    }

    #[test]
    fn run_that_was_cut_short_goes_on() {
        let path = std::env::temp_dir().join(format!("run-programs-{}.json", std::process::id()));
        let mut all = vec![program("a", "exit 0", None), program("b", "exit 3", None), program("c", "exit 0", None)];
        let mut reports = Vec::new();
        let cut = run_all(&all, &[], 1, Duration::from_secs(60), |report| {
            reports.push(report);
            write_reports(&path, &reports)?;
            anyhow::ensure!(reports.len() < 2, "cut short");
            Ok(())
        });
        assert!(cut.is_err());
        let done = resume(&path, &mut all).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(done, reports);
        assert_eq!(done.iter().map(|report| report.outcome).collect::<Vec<_>>(), [Outcome::Ended, Outcome::Failed]);
        assert_eq!(all.iter().map(|program| program.name.as_str()).collect::<Vec<_>>(), ["c"]);
        assert_eq!(resume(&path, &mut all).unwrap(), []);
    }

    #[test]
    fn time_limit_of_a_program() {
        let slow = Program { timeout: Some(1), ..program("slow", "sleep 60", None) };
        let mut outcome = None;
        run_all(&[slow], &[], 1, Duration::from_secs(60), |report| {
            outcome = Some(report.outcome);
            Ok(())
        })
        .unwrap();
        assert_eq!(outcome, Some(Outcome::TimedOut));
    }

    #[test]
    fn changes_are_shown() {
        let report = |outcome| Report { name: "p".to_owned(), outcome, seconds: 1.0, exit: 0, words: Vec::new() };
        let (before, after) = ([report(Outcome::Passed)], [report(Outcome::Wrong)]);
        assert_eq!(changes(&before, &after), "changed: p passed -> wrong\n");
        assert_eq!(changes(&before, &before), "nothing changed\n");
    }
}
