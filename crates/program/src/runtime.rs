//! The CUDA runtime in a program or library: how it is linked, which version it is, and where its functions are.

use crate::elf::{EMPTY_FATBIN_BYTES, Elf, Error, SECTION_FATBIN, SECTION_FATBIN_RELOCATABLE};

/// All functions of the CUDA runtime, sorted by name: the name, the major versions that have it, and its signature, which
/// is `-` where NVIDIA does not document it. A function whose signature has changed has several lines.
const TABLE: &str = include_str!("../../cuda/api/runtime.txt");

/// How many functions there are.
pub const COUNT: usize = count(TABLE.as_bytes());

/// All functions, sorted by name.
pub static FUNCTIONS: [Function; COUNT] = parse(TABLE.as_bytes());

/// A static runtime has hundreds of functions; a library that looks at a few of them is something else.
const MIN_STATIC_FUNCTIONS: usize = 32;

/// The function that nvcc's code calls first; each runtime has it.
const REGISTER: &str = "__cudaRegisterFatBinary";

/// A function of the runtime.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// Whether NVIDIA's headers declare it.
    pub is_documented: bool,
    /// The versions that have it, one bit each.
    versions: u8,
}

/// A major version of the runtime.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Major {
    /// CUDA 11.
    V11,
    /// CUDA 12.
    V12,
    /// CUDA 13.
    V13,
}

impl Major {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::V11, Self::V12, Self::V13];

    /// 11, 12 or 13.
    pub fn number(self) -> u8 {
        11 + self as u8
    }

    /// The name of the shared library, which is also the version of its symbols.
    pub fn library(self) -> &'static str {
        match self {
            Self::V11 => "libcudart.so.11.0",
            Self::V12 => "libcudart.so.12",
            Self::V13 => "libcudart.so.13",
        }
    }
}

impl Function {
    /// Whether a version has it.
    pub fn is_in(&self, major: Major) -> bool {
        self.versions & 1 << major as u8 != 0
    }
}

/// How the runtime is linked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Linkage {
    /// There is none.
    None,
    /// It is a shared library.
    Shared(Major),
    /// It is in the file itself.
    Static(StaticRuntime),
    /// There are kernels and nothing that registers them by name: it is in the file itself, without symbols.
    Stripped,
}

/// The runtime as a part of a program or library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StaticRuntime {
    /// Its version; nothing if its functions are those of no version that we know.
    pub major: Option<Major>,
    /// Where its functions are.
    pub functions: Vec<Place>,
}

/// Where a function is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Which one of [`FUNCTIONS`].
    pub function: usize,
    /// Its address, relative to the start of the file in memory.
    pub address: u64,
    /// How many bytes it has.
    pub size: u64,
}

impl Linkage {
    /// How the runtime is linked to this file.
    pub fn of(elf: &Elf<'_>) -> Result<Self, Error> {
        if let Some(runtime) = StaticRuntime::find(elf)? {
            return Ok(Self::Static(runtime));
        }
        let needed = elf.dynamic()?.needed;
        let shared = Major::ALL.into_iter().find(|major| needed.iter().any(|name| name == major.library()));
        if let Some(major) = shared {
            return Ok(Self::Shared(major));
        }
        // Where kernels are registered with a runtime in another file, a symbol for the loader says so.
        Ok(if has_kernels(elf) && !imports_registration(elf)? { Self::Stripped } else { Self::None })
    }
}

/// Whether there are fatbins in it.
pub fn has_kernels(elf: &Elf<'_>) -> bool {
    let is_filled = |name: &&str| elf.section(name).is_some_and(|section| section.size > EMPTY_FATBIN_BYTES);
    [SECTION_FATBIN, SECTION_FATBIN_RELOCATABLE].iter().any(is_filled)
}

impl StaticRuntime {
    /// The runtime in this file, if there is one that can be found by its symbols.
    pub fn find(elf: &Elf<'_>) -> Result<Option<Self>, Error> {
        let Some(symbols) = elf.symbols()? else { return Ok(None) };
        let defined = symbols.iter().filter(|symbol| symbol.is_defined && symbol.is_function);
        let places = defined.filter_map(|symbol| {
            let function = find(symbol.name)?;
            Some(Place { function, address: symbol.address, size: symbol.size })
        });
        Ok(Self::of(places.collect()))
    }

    fn of(mut functions: Vec<Place>) -> Option<Self> {
        functions.sort_by_key(|place| (place.function, place.address));
        functions.dedup_by_key(|place| place.function);
        let registers = functions.iter().any(|place| FUNCTIONS[place.function].name == REGISTER);
        if !registers || functions.len() < MIN_STATIC_FUNCTIONS {
            return None;
        }
        // All of a runtime is linked or nothing of it, so that the functions tell the version.
        let has_all = |major: &Major| functions.iter().all(|place| FUNCTIONS[place.function].is_in(*major));
        Some(Self { major: Major::ALL.into_iter().rfind(has_all), functions })
    }
}

fn imports_registration(elf: &Elf<'_>) -> Result<bool, Error> {
    let symbols = elf.dynamic_symbols()?;
    Ok(symbols.is_some_and(|symbols| symbols.iter().any(|symbol| symbol.name == REGISTER.as_bytes())))
}

/// Which one of [`FUNCTIONS`] has this name.
pub fn find(name: &[u8]) -> Option<usize> {
    // Of the symbols of a large program nearly all end here.
    if !name.starts_with(b"cuda") && !name.starts_with(b"__cuda") {
        return None;
    }
    FUNCTIONS.binary_search_by(|function| function.name.as_bytes().cmp(name)).ok()
}

const fn count(text: &'static [u8]) -> usize {
    let (mut functions, mut last, mut at) = (0, "", 0);
    while at < text.len() {
        let end = end_of_line(text, at);
        if text[at] != b'#' {
            let function = parse_line(text.split_at(end).0.split_at(at).1);
            if is_less(last, function.name) {
                functions += 1;
            }
            last = function.name;
        }
        at = end + 1;
    }
    functions
}

/// Takes `name | 11 12 13 | signature` apart, while the program is compiled.
const fn parse<const N: usize>(text: &'static [u8]) -> [Function; N] {
    let mut functions = [Function { name: "", is_documented: false, versions: 0 }; N];
    let (mut length, mut at) = (0, 0);
    while at < text.len() {
        let end = end_of_line(text, at);
        if text[at] != b'#' {
            let function = parse_line(text.split_at(end).0.split_at(at).1);
            if length == 0 || is_less(functions[length - 1].name, function.name) {
                functions[length] = function;
                length += 1;
            } else {
                assert!(!is_less(function.name, functions[length - 1].name), "the table is sorted");
                functions[length - 1].versions |= function.versions;
                functions[length - 1].is_documented |= function.is_documented;
            }
        }
        at = end + 1;
    }
    functions
}

const fn parse_line(line: &'static [u8]) -> Function {
    let mut end = 0;
    while line[end] != b' ' {
        end += 1;
    }
    let Ok(name) = std::str::from_utf8(line.split_at(end).0) else { panic!("names are ASCII") };
    let (mut versions, mut at) = (0, end + 3);
    while line[at] != b'|' {
        if line[at] == b'1' {
            versions |= 1 << (line[at + 1] - b'1');
            at += 1;
        }
        at += 1;
    }
    Function { name, is_documented: line[line.len() - 1] != b'-', versions }
}

const fn end_of_line(text: &[u8], mut at: usize) -> usize {
    while at < text.len() && text[at] != b'\n' {
        at += 1;
    }
    at
}

const fn is_less(first: &str, second: &str) -> bool {
    let (first, second) = (first.as_bytes(), second.as_bytes());
    let mut at = 0;
    while at < first.len() && at < second.len() {
        if first[at] != second[at] {
            return first[at] < second[at];
        }
        at += 1;
    }
    first.len() < second.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read() {
        let index = find(b"cudaMalloc").expect("every runtime has it");
        assert_eq!(FUNCTIONS[index].name, "cudaMalloc");
        assert!(FUNCTIONS[index].is_documented);
        assert!(Major::ALL.into_iter().all(|major| FUNCTIONS[index].is_in(major)));
        let texture = FUNCTIONS[find(b"__cudaRegisterTexture").expect("CUDA 11 has it")];
        assert_eq!(Major::ALL.map(|major| texture.is_in(major)), [true, false, false]);
        assert_eq!(find(b"cudaCheck"), None);
        assert_eq!(find(b"cudaMallo"), None);
        assert_eq!(FUNCTIONS.iter().filter(|function| function.versions == 0).count(), 0);
        assert!(FUNCTIONS.iter().all(|function| function.name.contains("cuda")));
    }

    #[test]
    fn versions_are_told_by_their_functions() {
        for major in Major::ALL {
            let all = (0..COUNT).filter(|&function| FUNCTIONS[function].is_in(major));
            let places = all.map(|function| Place { function, address: 16 * function as u64, size: 16 }).collect();
            assert_eq!(StaticRuntime::of(places).expect("it registers").major, Some(major));
        }
    }

    #[test]
    fn a_few_functions_are_no_runtime() {
        let names = ["__cudaRegisterFatBinary", "cudaMalloc", "cudaFree", "cudaLaunchKernel"];
        let places = names.map(|name| Place { function: find(name.as_bytes()).expect(name), address: 0, size: 16 });
        assert_eq!(StaticRuntime::of(places.to_vec()), None);
    }
}
