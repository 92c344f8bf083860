//! `campaign run`: runs the trials of a shard, a part at a time, each in a process of its own.
//!
//! What a part says is a function of the manifest alone; anything that it depends on is compared with the manifest before, and the
//! program must end as it should after the trials of each part. A part that is there is not run again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use campaign::{Manifest, Part, Row, Store, hash_bytes, hash_file};
use report::Exit;

use super::plan::{NONE, build};
use super::progress::Bar;
use super::read_manifest;
use crate::check::NOT_CHECKED;
use crate::output;
use crate::target::Target;
use crate::trials::{Faults, How, Protection, Ran, Runner, Strikes, Trial, Which};

/// Signals that end the whole shard, not only the program: what schedulers and people send.
const ENDING: [i32; 4] = [1, 2, 3, 15];

/// Arguments of `warpgrind campaign run`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// What `campaign plan` wrote.
    #[arg(long, value_name = "FILE")]
    manifest: PathBuf,
    /// Which shard, of how many: 1/8 to 8/8.
    #[arg(long, value_name = "I/N", default_value = "1/1", value_parser = parse_shard)]
    shard: (u64, u64),
    /// The directory of the campaign, which is made if it is not there.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

fn parse_shard(text: &str) -> Result<(u64, u64), String> {
    let numbers = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
    match numbers {
        Some((number, of)) if (1..=of).contains(&number) => Ok((number, of)),
        _ => Err("a shard is I/N, with I from 1 to N, such as 3/8".to_owned()),
    }
}

/// What is said of all parts together.
#[derive(Default)]
struct Told {
    /// Parts that another writer wrote, too.
    again: u64,
    /// What could not be tried as it should, and why.
    gaps: BTreeSet<String>,
}

/// How a part ended.
enum Ended {
    Done,
    /// Some trials did not take place, or the program did not end as it should.
    Failed(String),
    /// A signal asks us to end, too.
    Signalled(i32),
}

/// Runs a shard.
pub(super) fn run(args: &Args) -> Result<ExitCode> {
    let manifest = read_manifest(&args.manifest)?;
    check_hashes(&manifest)?;
    let store = Store::create(&args.out, &manifest)?;
    store.remove_left_behind()?;
    let (number, of) = args.shard;
    let parts = manifest.shard(number, of);
    let mut damaged = Vec::new();
    let finished = store.finished(parts.clone(), |path| damaged.push(path.to_owned()))?;
    for path in &damaged {
        output::complain(
            &path.display().to_string(),
            " is not what was written: it is removed, and its trials run again",
        );
        std::fs::remove_file(path).with_context(|| format!("removing {}", path.display()))?;
    }
    let trials = |parts: &mut dyn Iterator<Item = u64>| parts.map(|number| manifest.part(number).count).sum::<u64>();
    let all = trials(&mut parts.clone());
    let mut bar = Bar::new(format!("shard {number}/{of}"), all, trials(&mut finished.keys().copied()));
    let (mut failed, mut told) = (0, Told::default());
    for number in parts.filter(|number| !finished.contains_key(number)) {
        let part = manifest.part(number);
        match run_part(&manifest, &store, &part, &mut told)? {
            Ended::Done => bar.add(part.count),
            Ended::Failed(reason) => {
                bar.clear();
                output::complain(&format!("part {number} is not there: {reason}"), "");
                failed += 1;
            }
            Ended::Signalled(signal) => {
                bar.clear();
                output::complain("ended by a signal", ": run the shard again; what it has finished is kept");
                return Ok(ExitCode::from(u8::try_from(128 + signal).unwrap_or(NOT_CHECKED)));
            }
        }
    }
    bar.clear();
    for gap in &told.gaps {
        output::complain(gap, "");
    }
    if told.again > 0 {
        let again = told.again;
        output::complain(&format!("{again} parts were written by another writer, too"), ", with the same rows");
    }
    output::complain(&format!("shard {number}/{of}: {all} trials"), &format!(", {:.0} per second", bar.pace()));
    if failed > 0 {
        output::complain(&format!("{failed} parts are not there"), ": run the shard again");
        return Ok(ExitCode::from(NOT_CHECKED));
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether all is as it was when the campaign was planned.
fn check_hashes(manifest: &Manifest) -> Result<()> {
    let is = |path: &Path| hash_file(path).with_context(|| format!("reading {}", path.display()));
    ensure!(
        Path::new(&manifest.program.directory).is_dir(),
        "there is no directory {}, in which the program ran when the campaign was planned",
        manifest.program.directory
    );
    if is(Path::new(&manifest.program.path))? != manifest.program.hash {
        bail!("{} is not the program that the campaign was planned for: plan it again", manifest.program.path);
    }
    for input in &manifest.inputs {
        if is(&Path::new(&manifest.program.directory).join(&input.path))? != input.hash {
            bail!("{} has changed since the campaign was planned: plan it again", input.path);
        }
    }
    if build()? != manifest.build {
        bail!("the campaign was planned by another build of Warpgrind ({}): plan it again", manifest.build.version);
    }
    Ok(())
}

/// Runs a part, and writes it.
fn run_part(manifest: &Manifest, store: &Store, part: &Part, told: &mut Told) -> Result<Ended> {
    let (stratum, variant) = (&manifest.strata[part.stratum], &manifest.variants[part.variant]);
    let program = std::iter::once(&manifest.program.path).chain(&manifest.program.arguments);
    let directory = PathBuf::from(&manifest.program.directory);
    let target = Target::from_words(&manifest.device, program.map(Into::into).collect(), directory)?;
    let target = target.with_seed(manifest.seed);
    let Ok(runner) = Runner::new(&target) else { bail!("{} cannot be run", manifest.program.path) };
    let faults = Faults {
        runner: runner.without_progress(),
        model: &stratum.model,
        patience: manifest.patience,
        protection: (variant != NONE).then(|| Protection::parse(variant)).transpose()?,
        strikes: Strikes::All,
    };
    let which = Which { first: part.first, count: part.count, stays: false, follows: None };
    let Ok(ran) = faults.run(&stratum.places, which, How::default())? else {
        bail!("{} cannot be run", manifest.program.path)
    };
    if let Exit::Signal(signal) = ran.exit
        && ENDING.contains(&signal)
    {
        return Ok(Ended::Signalled(signal));
    }
    told.gaps.extend(ran.unchecked.iter().map(|gap| format!("{variant}: {gap}")));
    if let Some(reason) = wrong_end(manifest, &ran) {
        return Ok(Ended::Failed(reason));
    }
    let mut trials: Vec<Trial> = ran.rows("trials").map(Trial::of).collect();
    trials.sort_by_key(|trial| trial.number);
    if !trials.iter().map(|trial| trial.number).eq(part.first..part.first + part.count) {
        return Ok(Ended::Failed(format!("{} of {} trials were told", trials.len(), part.count)));
    }
    let rows: Vec<Row> = trials.into_iter().map(|trial| row(manifest, part, trial)).collect();
    let bytes = campaign::encode(manifest, &rows).context("writing rows")?;
    told.again += u64::from(store.write(part.number, &bytes)? == campaign::Written::Again);
    Ok(Ended::Done)
}

/// Trials leave nothing behind: the program must end as it does without them.
fn wrong_end(manifest: &Manifest, ran: &Ran) -> Option<String> {
    if ran.exit != Exit::Code(manifest.golden.exit) {
        return Some(match ran.exit {
            Exit::Code(code) => format!("the program ended with exit code {code}, and not {}", manifest.golden.exit),
            Exit::Signal(signal) => format!("signal {signal} ended the program"),
        });
    }
    let expected = manifest.golden.stdout.as_ref()?;
    (hash_bytes(&ran.stdout) != *expected)
        .then(|| "the program printed something else than in the golden run".to_owned())
}

fn row(manifest: &Manifest, part: &Part, trial: Trial) -> Row {
    let number = |text: &str| text.strip_prefix("0x").and_then(|text| u64::from_str_radix(text, 16).ok()).unwrap_or(0);
    // What was not tried in the protected kernel did nothing that protection could change.
    let (outcome, note) = match trial.protected.is_empty() {
        true => (trial.outcome.clone(), trial.note),
        false => (trial.protected, trial.protected_note),
    };
    let is_struck = !trial.after.is_empty();
    Row {
        row: part.first_row + (trial.number - part.first),
        kernel: manifest.strata[part.stratum].kernel.clone(),
        model: manifest.strata[part.stratum].model.clone(),
        variant: manifest.variants[part.variant].clone(),
        trial: trial.number,
        launch: trial.launch,
        thread: trial.thread_number,
        place: trial.place,
        thread_name: trial.thread,
        file: trial.file,
        line: trial.line,
        ptx_line: trial.ptx_line,
        instruction: trial.instruction,
        bit: is_struck.then(|| u32::try_from(trial.bit).ok()).flatten(),
        before: number(&trial.before),
        after: number(&trial.after),
        unprotected: trial.outcome,
        outcome,
        note: without_addresses(&note),
    }
}

/// An illegal address may be made of one of the host's, which is another one in each run. Which fault it was is enough.
fn without_addresses(note: &str) -> String {
    note.split(' ').filter(|word| !word.starts_with("0x")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_no_addresses_of_faults() {
        assert_eq!(without_addresses("32 lanes; illegal address 0x7fe544790030"), "32 lanes; illegal address");
        assert_eq!(without_addresses("an allocation, offset 40"), "an allocation, offset 40");
        assert_eq!(without_addresses(""), "");
    }

    #[test]
    fn shards_are_counted_from_one() {
        assert_eq!(parse_shard("8/8"), Ok((8, 8)));
        for wrong in ["0/8", "9/8", "1", "1/0", "/", "-1/8", "a/b"] {
            assert!(parse_shard(wrong).is_err(), "{wrong}");
        }
    }
}
