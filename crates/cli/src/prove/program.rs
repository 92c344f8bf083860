//! `warpgrind prove ./app`: runs the program, and tells what is proved of the launches that it made.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use report::{Exit, Report, Row, Run, Verdict};
use settings::Settings;

use super::Args;
use super::proof::{Proof, ProofReason};
use crate::check::{Directory, NOT_CHECKED, ProgramRun, Progress, watch};
use crate::{output, target};

/// The tool whose tables these are.
const TOOL: &str = "proofs";
/// How long processes are waited for that the program has left behind.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the program and answers.
pub(super) fn prove(args: &Args) -> Result<ExitCode> {
    args.target.check_flags().unwrap_or_else(|error| error.exit());
    let (mut command, settings) = match args.target.command() {
        Ok(prepared) => prepared,
        Err(code) => return Ok(ExitCode::from(code)),
    };
    let directory = Directory::create(false)?;
    let tools = settings::Tools {
        names: vec![TOOL.to_owned()],
        session: Some(directory.path().to_owned()),
        ..settings::Tools::default()
    };
    target::set(&mut command, &Settings { tools, ..settings });
    let ProgramRun { exit, report, .. } = match watch(command, &directory, &mut Progress::new(true), PATIENCE)? {
        Ok(run) => run,
        Err(error) => return Ok(ExitCode::from(args.target.refused(error))),
    };
    let words = args.target.program().iter().map(|word| word.to_string_lossy().into_owned());
    let run = Run {
        tools: vec![TOOL.to_owned()],
        command: words.collect(),
        exit,
        requires_cuda: true,
        requires_kernels: false,
        warnings_count: false,
    };
    let proofs = proofs(&report);
    for proof in &proofs {
        if args.is_json() {
            output::print_json(proof)?;
        } else {
            output::print(&proof.text())?;
        }
    }
    for gap in report.processes.iter().flat_map(|checked| &checked.unchecked) {
        let kernel = if gap.kernel.is_empty() { "a module".to_owned() } else { report::demangled(&gap.kernel) };
        output::complain(&kernel, &format!(" could not be read: {}", gap.reason));
    }
    let code = match exit {
        Exit::Code(code) => format!("the program ended with exit code {code}"),
        Exit::Signal(signal) => format!("the program was ended by signal {signal}"),
    };
    let sum = |of: fn(&Proof) -> bool| proofs.iter().filter(|proof| of(proof)).map(|proof| proof.launches).sum::<u64>();
    output::complain(
        &code,
        &format!(
            "; of {} launches, {} are in bounds and {} race-free, whatever memory holds",
            sum(|_| true),
            sum(|proof| proof.bounds),
            sum(|proof| proof.races)
        ),
    );
    if proofs.is_empty() || report.verdict(&run) == Verdict::NotChecked {
        let why = if proofs.is_empty() { "nothing was launched" } else { "not every launch could be looked at" };
        output::complain("not proved", &format!(": {why}"));
        return Ok(ExitCode::from(NOT_CHECKED));
    }
    Ok(ExitCode::from(u8::from(!proofs.iter().all(|proof| args.require.is_met(proof)))))
}

/// What the tool wrote down, which anybody may have written.
fn proofs(report: &Report) -> Vec<Proof> {
    let of_table = |table: &'static str| report.rows.iter().filter(move |row| row.tool == TOOL && row.table == table);
    let shape = |row: &Row| -> String {
        let columns = ["kernel", "grid", "block", "objects"].map(|name| row.text(name));
        format!("{}\0{}", columns.join("\0"), row.number("shared"))
    };
    let mut reasons: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
    for row in of_table("reasons") {
        reasons.entry(shape(row)).or_default().push(row);
    }
    let proof = |row: &Row| {
        let (bounds, races) = (row.number("bounds") == 1, row.number("races") == 1);
        let is_open = |question: &str| (question == "bounds" && !bounds) || (question == "races" && !races);
        let of_shape = reasons.get(&shape(row)).map_or(&[][..], Vec::as_slice);
        let reasons = of_shape.iter().filter(|row| is_open(row.text("question"))).map(|row| {
            let (file, line) = (row.text("file").to_owned(), row.number("line"));
            ProofReason {
                question: row.text("question").to_owned(),
                text: row.text("text").to_owned(),
                instruction: row.text("instruction").to_owned(),
                ptx_line: u32::try_from(row.number("ptx_line")).unwrap_or(0),
                line: (!file.is_empty()).then(|| u32::try_from(line).unwrap_or(0)),
                file: (!file.is_empty()).then_some(file),
            }
        });
        Proof {
            r#type: "proof",
            kernel: row.text("kernel").to_owned(),
            grid: extents(row.text("grid")),
            block: extents(row.text("block")),
            shared: u32::try_from(row.number("shared")).unwrap_or(0),
            objects: row.text("objects").split_whitespace().filter_map(|size| size.parse().ok()).collect(),
            launches: row.number("launches"),
            bounds,
            races,
            reasons: reasons.collect(),
        }
    };
    of_table("launches").map(proof).collect()
}

fn extents(text: &str) -> [u32; 3] {
    super::launch::extents(text).unwrap_or_default()
}
