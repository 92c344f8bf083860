//! Runs the CUDA programs in `tests/cuda` under `warpgrind run`: each is built by NVIDIA's compiler in the ways that its
//! header asks for, and must end as its header says. `group/program [variant]` is the name of a test.
//!
//! Those in `tests/memcheck`, `tests/racecheck`, `tests/repair`, `tests/rmt`, `tests/fidelity`, `tests/twice`, `tests/loads`, `tests/stores`, `tests/order` and `tests/doubled` are run under the tool of that name
//! (`report.rs`). Those in `tests/stm` race unless the tool makes transactions of what they mark (`transactions.rs`; `marked/` is the group). Those in `tests/traffic/closed_forms` and `tests/traffic/caches` have the numbers at their lines that traffic must count (`tables.rs`). Those
//! in `tests/inject` say what must come of faults in them (`faults.rs`). Those in `tests/campaign` are run in shards (`campaigns.rs`).
//! `gpu.rs` has what runs on the GPU device, `gpu_failures.rs` a driver that fails, `valgrind.rs` runs a program under memcheck and Valgrind. `health.rs` runs `warpgrind health`, `sarif.rs` writes SARIF with every tool, `guide.rs` has the commands of the guide, and
//! `study.rs` the study of the diffusion filter.
//!
//! `cargo nextest run -p warpgrind --test programs --run-ignored only`, and `streams/` after that for a part of them.

mod build;
mod campaigns;
mod faults;
mod gpu;
mod gpu_failures;
mod guide;
mod header;
mod health;
mod report;
mod run;
mod sarif;
#[path = "../../../report/tests/schema/mod.rs"]
mod schema;
mod study;
mod tables;
mod transactions;
mod valgrind;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};
use build::Toolchain;
use header::{Header, Variant};
use libtest_mimic::{Arguments, Failed, Trial};
use run::Command;

/// Tools with a directory of programs in which they must find or count something, or that they refuse.
const WITH_BUGS: [&str; 12] = [
    "memcheck",
    "racecheck",
    "repair",
    "rmt",
    "traffic",
    "fidelity",
    "twice",
    "loads",
    "stores",
    "order",
    "proofs",
    "doubled",
];

/// Flags that do not change what a tool finds.
const SAME_FINDINGS: [(&str, &str); 2] = [("racecheck", "--no-prove"), ("racecheck", "--no-prune")];

/// Tools under which programs must do what they do without.
const TOOLS: [&[&str]; 5] = [
    &["memcheck"],
    &["memcheck", "--tool", "nop,trace", "--seed", "1"],
    &["repair", "--allow-unrepaired", "--no-prove"],
    &["rmt", "--allow-unprotected", "--seed", "1"],
    &["traffic"],
];

/// Tools for some of the programs: those that change launches, to show that the plan of a launch can be changed, and racecheck,
/// which has nothing to find in transactions, nor in streams of two devices.
const FOR_SOME: [(&[&str], &[&str]); 9] = [
    (&["twice", "--seed", "1"], TWICE),
    (&["twice", "--seed", "1", "--tool", "memcheck"], TWICE),
    (&["doubled"], DOUBLED),
    (&["doubled", "--tool", "memcheck,trace"], DOUBLED),
    (&["rmt", "--exchange", "slots", "--pair-distance", "1", "--allow-unprotected"], TWINS),
    (&["rmt", "--variant", "warp-pair", "--allow-unprotected"], TWINS),
    (&["rmt", "--variant", "inter", "--allow-unprotected"], TWINS),
    (&["racecheck"], TRANSACTIONS),
    (&["racecheck", "--tool", "memcheck,order"], &["devices/two_gpus", "devices/two_gpus_of_driver"]),
];

/// Their kernels have atomic operations, collectives, shared memory, barriers and waits for other blocks.
const TWINS: &[&str] = &[
    "device_code/async_copy",
    "device_code/atomics",
    "device_code/cub",
    "device_code/half_and_bfloat16",
    "device_code/warps",
    "kernels/cooperative",
];

/// Their kernels do not wait for the host, and give the same twice.
const TWICE: &[&str] = &[
    "device_code/async_copy",
    "device_code/atomics",
    "device_code/calls",
    "device_code/cub",
    "device_code/half_and_bfloat16",
    "device_code/heap",
    "device_code/mathematics",
    "device_code/warps",
    "graphs/built_by_hand",
    "kernels/cooperative",
    "kernels/dynamic_shared",
    "kernels/shapes",
    "output/order_with_host",
    "output/threads_of_a_warp",
    "streams/order",
    "symbols/variables",
];

/// Their threads share memory by transactions alone.
const TRANSACTIONS: &[&str] = &["stm/abort", "stm/bank", "stm/conflicts", "stm/list"];

/// How programs in `tests/stm` are built.
const TRANSACTIONAL: [Variant; 4] =
    [Variant::Lines, Variant::Relocatable, Variant::Clang, Variant::Architecture("sm_120")];

/// Their blocks can be doubled.
const DOUBLED: &[&str] = &["device_code/async_copy", "device_code/cub", "device_code/warps", "kernels/cooperative"];

fn main() -> Result<()> {
    let args = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cuda").canonicalize()?;
    let mut trials = Vec::new();
    for (name, source) in find_programs(&root)? {
        let text = std::fs::read_to_string(&source).with_context(|| format!("reading {}", source.display()))?;
        let header = Header::parse(&text).with_context(|| format!("in the header of {}", source.display()))?;
        for &variant in &header.variants {
            let (source, header) = (source.clone(), header.clone());
            let trial = Trial::test(format!("{name} [{}]", variant.name()), move || {
                test(&source, &header, variant, Command::Run).map_err(|error| Failed::from(format!("{error:#}")))
            });
            // They need scripts/cuda-toolchain.
            trials.push(trial.with_ignored_flag(true));
        }
        let for_some =
            FOR_SOME.iter().filter(|(_, programs)| programs.contains(&name.as_str())).map(|(arguments, _)| arguments);
        for arguments in TOOLS.iter().chain(for_some).filter(|arguments| header.is_right_under(arguments[0])) {
            let (source, header, variant) = (source.clone(), header.clone(), header.variants[0]);
            let trial = Trial::test(format!("{name} [{}]", arguments.join(" ")), move || {
                let command = Command::Tool(arguments);
                test(&source, &header, variant, command).map_err(|error| Failed::from(format!("{error:#}")))
            });
            trials.push(trial.with_ignored_flag(true));
        }
    }
    trials.extend(on_gpu(&root)?);
    for tool in WITH_BUGS {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(tool).canonicalize()?;
        for (name, source) in sources_in(&directory, &["cu", "py"])? {
            let other = source.clone();
            let with_bug = move || report::with_bug(toolchain()?, tool, &source);
            let repaired = move || report::repaired(toolchain()?, tool, &other);
            let failed = |error: anyhow::Error| Failed::from(format!("{error:#}"));
            trials.push(
                Trial::test(format!("{tool}/{name}"), move || with_bug().map_err(failed)).with_ignored_flag(true),
            );
            for (_, flag) in SAME_FINDINGS.iter().filter(|(of, _)| *of == tool) {
                let source = directory.join(&name).with_extension("cu");
                let with_flag = move || report::with_flag(toolchain()?, tool, flag, &source);
                let name = format!("{tool}/{name} [{flag}]");
                trials.push(Trial::test(name, move || with_flag().map_err(failed)).with_ignored_flag(true));
            }
            let name = format!("{tool}/{name} [repaired]");
            trials.push(Trial::test(name, move || repaired().map_err(failed)).with_ignored_flag(true));
        }
    }
    let closed_forms = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/traffic/closed_forms").canonicalize()?;
    for (name, source) in sources_in(&closed_forms, &["cu"])? {
        let check = move || tables::check(toolchain()?, &source).map_err(|error| Failed::from(format!("{error:#}")));
        trials.push(Trial::test(format!("traffic/closed_forms/{name}"), check).with_ignored_flag(true));
    }
    let caches = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/traffic/caches").canonicalize()?;
    for (name, source) in sources_in(&caches, &["cu"])? {
        let check =
            move || tables::check_caches(toolchain()?, &source).map_err(|error| Failed::from(format!("{error:#}")));
        trials.push(Trial::test(format!("traffic/caches/{name}"), check).with_ignored_flag(true));
    }
    let marked = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/stm").canonicalize()?;
    for (name, source) in sources_in(&marked, &["cu"])? {
        for variant in TRANSACTIONAL {
            let source = source.clone();
            let check = move || transactions::check(toolchain()?, &source, variant);
            let check = move || check().map_err(|error| Failed::from(format!("{error:#}")));
            trials.push(Trial::test(format!("marked/{name} [{}]", variant.name()), check).with_ignored_flag(true));
        }
        let repaired = move || transactions::repaired(toolchain()?, &source);
        let repaired = move || repaired().map_err(|error| Failed::from(format!("{error:#}")));
        trials.push(Trial::test(format!("marked/{name} [repaired]"), repaired).with_ignored_flag(true));
    }
    let faulty = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/inject").canonicalize()?;
    for (name, source) in sources_in(&faulty, &["cu"])? {
        let check = move || faults::check(toolchain()?, &source).map_err(|error| Failed::from(format!("{error:#}")));
        trials.push(Trial::test(format!("inject/{name}"), check).with_ignored_flag(true));
    }
    let campaigns = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/campaign").canonicalize()?;
    for (name, source) in sources_in(&campaigns, &["cu"])? {
        let check = move || campaigns::check(toolchain()?, &source).map_err(|error| Failed::from(format!("{error:#}")));
        trials.push(Trial::test(format!("campaign/{name}"), check).with_ignored_flag(true));
    }
    for (tool, name) in sarif::PROGRAMS {
        let source =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/{tool}/{name}.cu")).canonicalize()?;
        let check =
            move || sarif::check(toolchain()?, tool, &source).map_err(|error| Failed::from(format!("{error:#}")));
        trials.push(Trial::test(format!("sarif {tool}/{name}"), check).with_ignored_flag(true));
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/valgrind/sums.cu").canonicalize()?;
    for (variant, is_fixed) in valgrind::VARIANTS.into_iter().flat_map(|variant| [(variant, false), (variant, true)]) {
        let source = source.clone();
        let check = move || valgrind::check(toolchain()?, &source, variant, is_fixed);
        let check = move || check().map_err(|error| Failed::from(format!("{error:#}")));
        let name = format!("valgrind/sums [{}{}]", variant.name(), if is_fixed { " repaired" } else { "" });
        trials.push(Trial::test(name, check).with_ignored_flag(true));
    }
    let check = || health::check(toolchain()?).map_err(|error| Failed::from(format!("{error:#}")));
    trials.push(Trial::test("health", check).with_ignored_flag(true));
    let check = || study::check().map_err(|error| Failed::from(format!("{error:#}")));
    trials.push(Trial::test("traffic/diffusion-study", check).with_ignored_flag(true));
    let guide = || guide::check(toolchain()?).map_err(|error| Failed::from(format!("{error:#}")));
    trials.push(Trial::test("guide", guide).with_ignored_flag(true));
    libtest_mimic::run(&args, trials).exit();
}

/// The same on the GPU device.
fn on_gpu(root: &Path) -> Result<Vec<Trial>> {
    let failed = |error: anyhow::Error| Failed::from(format!("{error:#}"));
    let mut trials = Vec::new();
    for (name, source) in find_programs(root)? {
        let text = std::fs::read_to_string(&source)?;
        let header = Header::parse(&text).with_context(|| format!("in the header of {}", source.display()))?;
        let is_for_gpu = header.run.is_empty() && header.seeds == 0 && gpu::reason(&name).is_none();
        for arguments in [&["run"][..], &["memcheck"], &["traffic"], &["repair", "--allow-unrepaired"]] {
            let (source, header, variant) = (source.clone(), header.clone(), header.variants[0]);
            let is_refused = gpu::not_checked(arguments[0], &name).is_some();
            if is_for_gpu && (header.is_right_under(arguments[0]) && !is_refused || arguments == ["run"]) {
                let trial = Trial::test(format!("gpu {} {name}", arguments[0]), move || {
                    test(&source, &header, variant, Command::OnGpu(arguments)).map_err(failed)
                });
                trials.push(trial.with_ignored_flag(true));
            }
        }
    }
    for tool in gpu::TOOLS {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(tool).canonicalize()?;
        for (name, source) in sources_in(&directory, &["cu"])? {
            if gpu::reason(&format!("{tool}/{name}")).is_none() {
                let check = move || report::on_gpu(toolchain()?, tool, &source).map_err(failed);
                trials.push(Trial::test(format!("gpu {tool}/{name}"), check).with_ignored_flag(true));
            }
        }
    }
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").canonicalize()?;
    for (name, source) in sources_in(&tests.join("repair"), &["cu"])? {
        if gpu::reason(&format!("repair/{name}")).is_none() {
            let check = move || report::repaired_on_gpu(toolchain()?, &source).map_err(failed);
            trials.push(Trial::test(format!("gpu repair/{name}"), check).with_ignored_flag(true));
        }
    }
    for (name, source) in sources_in(&tests.join("inject"), &["cu"])? {
        if faults::is_for_gpu(&source)? {
            let check = move || faults::on_gpu(toolchain()?, &source).map_err(failed);
            trials.push(Trial::test(format!("gpu inject/{name}"), check).with_ignored_flag(true));
        }
    }
    for (name, source) in sources_in(&tests.join("traffic/closed_forms"), &["cu"])? {
        let check = move || tables::on_gpu(toolchain()?, &source).map_err(failed);
        trials.push(Trial::test(format!("gpu traffic/closed_forms/{name}"), check).with_ignored_flag(true));
    }
    for (name, source) in sources_in(&tests.join("stm"), &["cu"])? {
        let check = move || transactions::on_gpu(toolchain()?, &source).map_err(failed);
        trials.push(Trial::test(format!("gpu marked/{name}"), check).with_ignored_flag(true));
    }
    let source = tests.join("inject/stored_value.cu");
    let check = move || gpu_failures::dies_in_a_trial(toolchain()?, &source).map_err(failed);
    trials.push(Trial::test("gpu fails: dies in a trial [inject]", check).with_ignored_flag(true));
    let source = tests.join("gpu/one_of_several.cu");
    let check = move || gpu_failures::one_of_several(toolchain()?, &source).map_err(failed);
    trials.push(Trial::test("gpu fails: one of several launches", check).with_ignored_flag(true));
    let source = tests.join("gpu/failures.cu");
    for ((way, check), command) in
        gpu_failures::WAYS.into_iter().flat_map(|way| gpu_failures::COMMANDS.map(|command| (way, command)))
    {
        let source = source.clone();
        let check = move || check(toolchain()?, &source, command).map_err(failed);
        trials.push(Trial::test(format!("gpu fails: {way} [{command}]"), check).with_ignored_flag(true));
    }
    Ok(trials)
}

/// Programs, with their names: `tests/cuda/GROUP/PROGRAM.cu`. What is deeper is a part of one.
fn find_programs(root: &Path) -> Result<Vec<(String, PathBuf)>> {
    let mut programs = Vec::new();
    for group in std::fs::read_dir(root)? {
        let group = group?.path();
        if !group.is_dir() {
            continue;
        }
        let group_name = group.strip_prefix(root)?.display().to_string();
        programs.extend(
            sources_in(&group, &["cu"])?.into_iter().map(|(name, source)| (format!("{group_name}/{name}"), source)),
        );
    }
    ensure!(!programs.is_empty(), "there are no programs below {}", root.display());
    programs.sort();
    Ok(programs)
}

/// The sources in a directory, with their names.
fn sources_in(directory: &Path, extensions: &[&str]) -> Result<Vec<(String, PathBuf)>> {
    let mut sources = Vec::new();
    for source in std::fs::read_dir(directory)? {
        let source = source?.path();
        if source.extension().is_some_and(|extension| extensions.iter().any(|wanted| extension == *wanted)) {
            let name = source.file_stem().context("a file has a name")?.to_string_lossy().into_owned();
            sources.push((name, source));
        }
    }
    sources.sort();
    Ok(sources)
}

fn toolchain() -> Result<&'static Toolchain> {
    static TOOLCHAIN: OnceLock<Result<Toolchain>> = OnceLock::new();
    TOOLCHAIN.get_or_init(Toolchain::find).as_ref().map_err(|error| anyhow::anyhow!("{error:#}"))
}

fn test(source: &Path, header: &Header, variant: Variant, command: Command) -> Result<()> {
    let built = toolchain()?.build(source, header, variant).context("building the program")?;
    run::run(&built, header, command)
}
