//! Which function and line of the host's program an address is.
//!
//! Programs and libraries are read from disk by the process that watches, never by the one that is checked. They may be
//! anything: sizes, counts and time are bounded, and what cannot be looked up stays an address in a file.
//!
//! The program that is checked may be broken, and debug information may be anything; files are read piece by piece and
//! never mapped.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gimli::{EndianArcSlice, RunTimeEndian};
use object::read::{ReadCache, ReadRef};
use object::{CompressionFormat, Object, ObjectSection, ObjectSymbol, SymbolKind};

use crate::demangle::short_name;
use crate::finding::{Frame, SourceLine, Stack};
use crate::report::Report;

/// Debug information that is larger is left alone; functions are still named.
const LARGEST_DEBUG_INFORMATION: u64 = 1 << 30;
/// More symbols of a file are not read.
const MOST_SYMBOLS: usize = 4 << 20;
/// Longer names are not symbols of anybody.
const LONGEST_NAME: usize = 64 << 10;
/// More files are not opened.
const MOST_OBJECTS: usize = 1000;
/// More functions that were inlined at one place are not named.
const MOST_INLINED: usize = 32;
/// After this time, what is left stays as it is.
const TIME: Duration = Duration::from_secs(30);

/// Looks up addresses, and keeps what it has read.
pub struct Symbols {
    objects: HashMap<String, Option<Loaded>>,
    frames: HashMap<(String, u64), Vec<Frame>>,
    deadline: Instant,
}

impl std::fmt::Debug for Symbols {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Symbols").field("objects", &self.objects.len()).finish_non_exhaustive()
    }
}

impl Default for Symbols {
    fn default() -> Self {
        Self { objects: HashMap::new(), frames: HashMap::new(), deadline: Instant::now() + TIME }
    }
}

impl Symbols {
    /// Looks up all stacks of a report.
    pub fn resolve(&mut self, report: &mut Report) {
        for found in &mut report.findings {
            let finding = &mut found.finding;
            let kernel = finding.place.as_ref().map(|place| short_name(&place.kernel));
            let notes = finding.notes.iter_mut().filter_map(|note| note.stack.as_mut());
            for stack in finding.stack.iter_mut().chain(notes) {
                self.resolve_stack(stack, kernel.as_deref());
            }
        }
    }

    /// Looks up a stack, and leaves out what is not the user's: our own libraries, what nvcc puts around the launch of
    /// `kernel`, and what comes before `main`.
    pub fn resolve_stack(&mut self, stack: &mut Stack, kernel: Option<&str>) {
        let mut frames = Vec::new();
        for frame in std::mem::take(&mut stack.frames) {
            match frame {
                Frame::Code { object, offset } if !is_ours(&object) => frames.extend(self.look_up(&object, offset)),
                Frame::Code { .. } => {}
                Frame::Source { .. } | Frame::Script { .. } => frames.push(frame),
            }
        }
        let is = |frame: &Frame, wanted: fn(&str) -> bool| matches!(frame, Frame::Source { function, .. } if wanted(function));
        if let Some(main) = frames.iter().position(|frame| is(frame, |function| function == "main")) {
            frames.truncate(main + 1);
        }
        // What is left of the start of the program or of a thread is all that there is, or nothing.
        let users = frames.iter().rposition(|frame| !is(frame, starts_threads)).map_or(0, |last| last + 1);
        frames.truncate(users);
        let of_nvcc = |frame: &&Frame| match frame {
            Frame::Source { function, line } => {
                launches_for_nvcc(function)
                    || Some(function.as_str()) == kernel
                    || line.as_ref().is_some_and(|line| is_header_of_cuda(&line.file))
            }
            Frame::Code { .. } | Frame::Script { .. } => false,
        };
        let stubs = frames.iter().take_while(of_nvcc).count();
        if stubs < frames.len() {
            frames.drain(..stubs);
        }
        stack.frames = frames;
    }

    fn look_up(&mut self, object: &str, offset: u64) -> Vec<Frame> {
        let unknown = || vec![Frame::Code { object: object.to_owned(), offset }];
        let key = (object.to_owned(), offset);
        if let Some(frames) = self.frames.get(&key) {
            return frames.clone();
        }
        if Instant::now() > self.deadline || (self.objects.len() == MOST_OBJECTS && !self.objects.contains_key(object))
        {
            return unknown();
        }
        let loaded = self.objects.entry(object.to_owned()).or_insert_with(|| Loaded::open(Path::new(object)));
        let frames = loaded.as_ref().and_then(|loaded| loaded.look_up(offset));
        let frames = frames.unwrap_or_else(unknown);
        self.frames.insert(key, frames.clone());
        frames
    }
}

/// Whether an object is one of our libraries.
fn is_ours(object: &str) -> bool {
    object.rsplit('/').next().is_some_and(|name| name.starts_with("libwarpgrind_"))
}

/// Functions that nvcc makes and that call the runtime for `<<<…>>>`.
fn launches_for_nvcc(function: &str) -> bool {
    function.starts_with("__device_stub__")
        || function.starts_with("__wrapper__device_stub")
        || function == "cudaLaunchKernel"
        || function == "__cudaLaunchKernel_helper"
        || function.starts_with("cudaLaunchKernel<")
}

/// Headers of CUDA and NVTX with functions that only pass on what they are given, such as `cudaMalloc<float>`.
fn is_header_of_cuda(file: &str) -> bool {
    ["/nvtxDetail/", "/nvtxExtDetail/"].iter().any(|directory| file.contains(directory))
        || matches!(file.rsplit('/').next(), Some("cuda_runtime.h" | "cuda_runtime_api.h" | "device_functions.h"))
}

/// Functions in which programs and threads begin.
fn starts_threads(function: &str) -> bool {
    matches!(
        function,
        "_start"
            | "__libc_start_main"
            | "__libc_start_call_main"
            | "__libc_start_main_impl"
            | "start_thread"
            | "clone"
            | "clone3"
            | "__clone3"
            | "execute_native_thread_routine"
    )
}

type Bytes = EndianArcSlice<RunTimeEndian>;

/// What was read of a file.
struct Loaded {
    lines: Option<addr2line::Context<Bytes>>,
    /// By address; none overlaps the next.
    symbols: Vec<Symbol>,
}

struct Symbol {
    address: u64,
    size: u64,
    name: String,
}

impl Loaded {
    fn open(path: &Path) -> Option<Self> {
        // A relative path, a pipe or a device is nothing that the loader has loaded.
        let path = path.is_absolute().then(|| path.canonicalize().ok()).flatten()?;
        let file = crate::regular_file::open_regular(&path).ok()?;
        let cache = ReadCache::new(file);
        let object = object::File::parse(&cache).ok()?;
        Some(Self { lines: debug_information(&object), symbols: symbols(&object) })
    }

    fn look_up(&self, address: u64) -> Option<Vec<Frame>> {
        let by_symbol = || Some(vec![Frame::Source { function: self.symbol(address)?, line: None }]);
        self.by_lines(address).or_else(by_symbol)
    }

    /// The function at an address with those that it was inlined into, as debug information has it.
    fn by_lines(&self, address: u64) -> Option<Vec<Frame>> {
        let mut found = self.lines.as_ref()?.find_frames(address).skip_all_loads().ok()?;
        let mut frames = Vec::new();
        while let Ok(Some(frame)) = found.next() {
            if frames.len() == MOST_INLINED {
                break;
            }
            let name = frame.function.and_then(|function| function.raw_name().ok().map(|name| short_name(&name)));
            let line = frame.location.and_then(|location| {
                let file = location.file?.to_owned();
                Some(SourceLine { file, line: location.line?, column: location.column.unwrap_or(0), function: None })
            });
            let Some(function) = name.or_else(|| self.symbol(address)) else { break };
            frames.push(Frame::Source { function, line });
        }
        // Without a line, the table of symbols knows as much.
        let says_something = frames.iter().any(|frame| matches!(frame, Frame::Source { line: Some(_), .. }));
        says_something.then_some(frames)
    }

    fn symbol(&self, address: u64) -> Option<String> {
        let after = self.symbols.partition_point(|symbol| symbol.address <= address);
        let symbol = &self.symbols[after.checked_sub(1)?];
        // Functions in assembly may have no size.
        (symbol.size == 0 || address - symbol.address < symbol.size).then(|| short_name(&symbol.name))
    }
}

fn debug_information<'data, R: ReadRef<'data>>(object: &object::File<'data, R>) -> Option<addr2line::Context<Bytes>> {
    let endian = if object.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let mut left = LARGEST_DEBUG_INFORMATION;
    object.section_by_name(".debug_info")?;
    let mut load = |id: gimli::SectionId| -> Result<Bytes, ()> {
        let nothing = || Bytes::new(Arc::from([]), endian);
        let Some(section) = object.section_by_name(id.name()) else { return Ok(nothing()) };
        let plain = section.compressed_file_range().is_ok_and(|range| range.format == CompressionFormat::None);
        left = left.checked_sub(section.size()).ok_or(())?;
        if !plain {
            return Err(());
        }
        Ok(Bytes::new(Arc::from(section.data().map_err(drop)?), endian))
    };
    let sections = gimli::DwarfSections::load(&mut load).ok()?;
    let dwarf = sections.borrow(Clone::clone);
    addr2line::Context::from_dwarf(dwarf).ok()
}

fn symbols<'data, R: ReadRef<'data>>(object: &object::File<'data, R>) -> Vec<Symbol> {
    let all = object.symbols().chain(object.dynamic_symbols());
    let functions = all.filter(|symbol| symbol.is_definition() && symbol.kind() == SymbolKind::Text);
    let mut symbols: Vec<Symbol> = functions
        .take(MOST_SYMBOLS)
        .filter_map(|symbol| {
            let name = symbol.name().ok().filter(|name| !name.is_empty() && name.len() <= LONGEST_NAME)?;
            Some(Symbol { address: symbol.address(), size: symbol.size(), name: name.to_owned() })
        })
        .collect();
    symbols.sort_by(|left, right| (left.address, &left.name).cmp(&(right.address, &right.name)));
    symbols.dedup_by_key(|symbol| symbol.address);
    symbols
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(function: &str) -> Frame {
        Frame::Source { function: function.to_owned(), line: None }
    }

    fn code(object: &str, offset: u64) -> Frame {
        Frame::Code { object: object.to_owned(), offset }
    }

    #[test]
    fn only_the_users_part_of_a_stack_is_kept() {
        let mut stack = Stack {
            frames: vec![
                code("/opt/lib/libwarpgrind_cuda.so", 4),
                source("cudaLaunchKernel<char>"),
                source("__device_stub__Z6vecaddPf"),
                source("vecadd"),
                source("solve"),
                source("main"),
                code("/no/such/libc.so.6", 0x2724a),
                source("_start"),
            ],
        };
        Symbols::default().resolve_stack(&mut stack, Some("vecadd"));
        assert_eq!(stack.frames, [source("solve"), source("main")]);
    }

    #[test]
    fn what_cannot_be_looked_up_stays() {
        for object in ["/no/such/file", "relative", "/dev/zero", "/proc/self/status", "", "/etc"] {
            let mut stack = Stack { frames: vec![code(object, 5), source("start_thread")] };
            Symbols::default().resolve_stack(&mut stack, None);
            assert_eq!(stack.frames, [code(object, 5)]);
        }
    }

    #[test]
    fn a_program_without_debug_information_has_names() {
        let directory = std::env::temp_dir().join(format!("warpgrind-symbols-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("the temporary directory is writable");
        let source_file = directory.join("app.cc");
        let text = "namespace app { template <typename T> int solve(T x) { return x; } }\nint main() { return app::solve(1); }\n";
        std::fs::write(&source_file, text).expect("writable");
        for (flags, lines) in [(&["-g0"][..], [None, None]), (&["-g"], [Some(1), Some(2)]), (&["-s"], [None, None])] {
            let program = directory.join("app");
            let status =
                std::process::Command::new("c++").args(flags).arg(&source_file).arg("-o").arg(&program).status();
            assert!(status.expect("there is a C++ compiler").success());
            let cache = ReadCache::new(std::fs::File::open(&program).expect("it was made"));
            let object = object::File::parse(&cache).expect("it is a program");
            let at = |wanted: &str| {
                object.symbols().find(|symbol| symbol.name() == Ok(wanted)).map(|symbol| symbol.address())
            };
            let (Some(solve), Some(main)) = (at("_ZN3app5solveIiEEiT_"), at("main")) else {
                assert_eq!(flags, ["-s"]);
                continue;
            };
            let name = program.to_str().expect("UTF-8").to_owned();
            let mut stack = Stack { frames: vec![code(&name, solve + 5), code(&name, main + 5), code(&name, 1)] };
            Symbols::default().resolve_stack(&mut stack, None);
            let named: Vec<_> = stack
                .frames
                .iter()
                .map(|frame| match frame {
                    Frame::Source { function, line } => (function.as_str(), line.as_ref().map(|line| line.line)),
                    Frame::Code { .. } | Frame::Script { .. } => ("?", None),
                })
                .collect();
            assert_eq!(named, [("app::solve<int>", lines[0]), ("main", lines[1])]);
        }
        let _ = std::fs::remove_dir_all(&directory);
    }
}
