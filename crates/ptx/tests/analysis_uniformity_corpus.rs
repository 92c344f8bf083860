//! Uniformity of real kernels: how much is found, and how long it takes.

#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ptx::analysis::{AddressPattern, AddressShape, BranchUniformity, Cfg, Class, LaunchFacts, Uniformity};
use ptx::types::Space;
use ptx::view::{AccessKind, AccessSpace, View};

/// How often each class occurs.
#[derive(Default)]
struct Tally {
    counts: BTreeMap<&'static str, usize>,
}

impl Tally {
    fn add(&mut self, class: &'static str) {
        *self.counts.entry(class).or_default() += 1;
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sum: usize = self.counts.values().sum();
        write!(f, "{sum}:")?;
        for (class, &count) in &self.counts {
            write!(f, " {class} {:.1} %", 100.0 * count as f64 / sum.max(1) as f64)?;
        }
        Ok(())
    }
}

#[derive(Default)]
struct Report {
    files: usize,
    bytes: usize,
    functions: usize,
    instructions: usize,
    writes: Tally,
    branches: Tally,
    blocks: Tally,
    loads: Tally,
    stores: Tally,
    atomics: Tally,
    guards: usize,
    inexact: usize,
    time: Duration,
    slowest: Vec<(Duration, usize, String)>,
}

fn shape_name(pattern: &AddressPattern) -> &'static str {
    match (pattern.shape, pattern.is_certain()) {
        (AddressShape::Uniform, true) => "uniform",
        (AddressShape::Contiguous, true) => "contiguous",
        (AddressShape::Strided { .. }, true) => "strided",
        (AddressShape::Grouped { .. }, true) => "grouped",
        (AddressShape::Uniform, false) => "uniform?",
        (AddressShape::Contiguous, false) => "contiguous?",
        (AddressShape::Strided { .. }, false) => "strided?",
        (AddressShape::Grouped { .. }, false) => "grouped?",
        (AddressShape::Scattered, _) => "scattered",
    }
}

impl Report {
    fn file(&mut self, path: &Path, block: [u32; 3]) {
        let Ok(text) = std::fs::read_to_string(path) else { return };
        let module = ptx::parse(&text).module;
        self.files += 1;
        self.bytes += text.len();
        for function in module.functions.values() {
            let Some(body) = &function.body else { continue };
            let start = Instant::now();
            let cfg = Cfg::of(&module.forms, function);
            let before = start.elapsed();
            let mut facts = LaunchFacts::of(&module.names, function);
            if facts.block[0].is_none() {
                facts = facts.with_block(block);
            }
            let start = Instant::now();
            let uniformity = Uniformity::of(&module, function, &cfg, &facts);
            let time = before + start.elapsed();
            let instructions = body.insts().count();
            self.time += time;
            self.functions += 1;
            self.instructions += instructions;
            self.inexact += usize::from(!uniformity.is_exact());
            self.slowest.push((time, instructions, format!("{} {}", path.display(), module.text(function.name))));
            self.slowest.sort_by_key(|slow| std::cmp::Reverse(slow.0));
            self.slowest.truncate(5);
            self.guards += uniformity.guards().len();
            for block in cfg.blocks().filter(|&block| cfg.is_reachable(block)) {
                self.blocks.add(if uniformity.is_divergent(block) { "divergent" } else { "whole" });
                for (id, _) in cfg.insts(body, block) {
                    let view = View::of(&module.forms, body, id).expect("it is an instruction");
                    for reg in view.writes() {
                        let web = uniformity.written(id, reg).expect("it can be reached");
                        let value = uniformity.value(web);
                        self.writes.add(match (value.class(), value.needs_guard()) {
                            (Class::Uniform, false) => "uniform",
                            (Class::Affine { .. }, false) => "affine",
                            (Class::Grouped { .. }, false) => "grouped",
                            (Class::Uniform, true) => "uniform?",
                            (Class::Affine { .. }, true) => "affine?",
                            (Class::Grouped { .. }, true) => "grouped?",
                            (Class::Vector, _) => "vector",
                        });
                    }
                    for access in view.accesses() {
                        if matches!(access.space, AccessSpace::State(Space::Param | Space::Local)) {
                            continue;
                        }
                        let pattern = AddressPattern::of(&uniformity, id, &view, &access).expect("it can be reached");
                        let tally = match access.kind {
                            AccessKind::Read => &mut self.loads,
                            AccessKind::Write => &mut self.stores,
                            AccessKind::ReadWrite => &mut self.atomics,
                        };
                        tally.add(shape_name(&pattern));
                    }
                }
            }
            for (_, branch) in uniformity.branches() {
                self.branches.add(match branch.uniformity {
                    BranchUniformity::Uniform => "uniform",
                    BranchUniformity::Stated => "stated",
                    BranchUniformity::Divergent => "divergent",
                });
            }
        }
    }

    fn print(&self, title: &str) {
        println!(
            "{title}: {} files, {:.1} MB, {} functions, {} instructions",
            self.files,
            self.bytes as f64 / 1e6,
            self.functions,
            self.instructions
        );
        println!("  writes   {}", self.writes);
        println!("  branches {}", self.branches);
        println!("  blocks   {}", self.blocks);
        println!("  loads    {}", self.loads);
        println!("  stores   {}", self.stores);
        println!("  atomics  {}", self.atomics);
        let seconds = self.time.as_secs_f64();
        println!(
            "  {} guards, {} inexact, {seconds:.2} s: {:.0} ms per MB, {:.2} us per instruction",
            self.guards,
            self.inexact,
            seconds * 1e9 / self.bytes.max(1) as f64,
            seconds * 1e6 / self.instructions.max(1) as f64
        );
        for (time, instructions, name) in &self.slowest {
            println!("    {time:.1?} for {instructions} instructions of {name:.150}");
        }
    }
}

fn files_below(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let Ok(entries) = std::fs::read_dir(path) else { return };
        let mut entries: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        entries.sort();
        for entry in entries {
            files_below(&entry, files);
        }
    } else if path.extension().is_some_and(|extension| extension == "ptx") {
        files.push(path.to_owned());
    }
}

/// `PTX_CORPUS=corpus:more cargo test --release --test analysis_uniformity_corpus -- --ignored --nocapture`
///
/// Fails if a function of the corpus makes the analysis panic, or takes a second per 30,000 instructions.
#[test]
#[ignore = "needs a corpus in PTX_CORPUS"]
fn corpus() {
    let corpus = std::env::var("PTX_CORPUS").expect("PTX_CORPUS is a list of directories");
    for directory in corpus.split(':') {
        let mut files = Vec::new();
        files_below(Path::new(directory), &mut files);
        for block in [[256, 1, 1], [16, 16, 1]] {
            let mut report = Report::default();
            for file in &files {
                report.file(file, block);
            }
            report.print(&format!("{directory} with blocks of {block:?}"));
            for (time, instructions, name) in &report.slowest {
                let limit = Duration::from_millis(200) + Duration::from_secs(1) * *instructions as u32 / 30_000;
                assert!(*time < limit, "{time:?} for {instructions} instructions of {name}");
            }
        }
    }
}
