//! What is needed to run a file, found without allocating memory.

use std::ffi::CStr;
use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::FileExt;

use crate::elf::{self, u16_at, u32_at, u64_at};

/// How many scripts may interpret each other; Linux follows four.
const MAX_SCRIPTS: usize = 4;
/// As much of the first line of a script as Linux looks at.
const SCRIPT_BYTES: usize = 256;
/// More program headers or sections are taken for damage.
const MAX_HEADERS: u64 = 4096;

/// What a file is to the one who wants to run it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::large_enum_variant, reason = "a box would have to be allocated")]
pub enum Kind {
    /// A program of 64 bits that glibc's loader loads: preloading and auditing work.
    Dynamic,
    /// A program of 64 bits without a loader: it takes no notice of preloading and auditing.
    Static {
        /// Whether it has CUDA kernels.
        has_kernels: bool,
    },
    /// A program that musl's loader loads, into which a library for glibc cannot be loaded.
    Musl,
    /// A program of 32 bits, into which a library of 64 bits cannot be loaded.
    Bits32,
    /// A program for another processor: its number in ELF files.
    OtherProcessor(u16),
    /// A script, to be run by another program.
    Script(Interpreter),
    /// Neither an ELF file nor a script.
    Unknown,
}

/// The path of the program that runs a script.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interpreter {
    /// The path, ended by a zero.
    path: [u8; SCRIPT_BYTES],
}

impl Interpreter {
    /// The path.
    pub fn path(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.path).expect("a zero ends the path")
    }
}

impl Kind {
    /// What the file itself is.
    pub fn of(file: &File) -> Result<Self> {
        let mut start = [0; SCRIPT_BYTES];
        let length = read_at_most(file, &mut start, 0)?;
        let start = &start[..length];
        if start.starts_with(b"#!") {
            return Ok(interpreter(&start[2..]).map_or(Self::Unknown, Self::Script));
        }
        if start.len() < 20 || !start.starts_with(elf::MAGIC) {
            return Ok(Self::Unknown);
        }
        let processor = u16_at(start, 18);
        match (start[elf::CLASS], start[elf::DATA], processor) {
            (elf::CLASS_32, elf::DATA_LITTLE, elf::PROCESSOR_386 | elf::PROCESSOR_X86_64) => Ok(Self::Bits32),
            (elf::CLASS_64, elf::DATA_LITTLE, elf::PROCESSOR_X86_64) if start.len() >= elf::HEADER_BYTES => {
                linkage(file, start)
            }
            _ => Ok(Self::OtherProcessor(processor)),
        }
    }

    /// What runs in the end: scripts are followed to the program that interprets them, which `open` opens.
    pub fn following_scripts(file: &File, open: impl Fn(&CStr) -> Result<File>) -> Result<Self> {
        let mut kind = Self::of(file)?;
        for _ in 0..MAX_SCRIPTS {
            match kind {
                Self::Script(interpreter) => kind = Self::of(&open(interpreter.path())?)?,
                other => return Ok(other),
            }
        }
        Ok(Self::Unknown)
    }
}

/// `#!` and spaces come before the path, a space or the end of the line after it.
fn interpreter(line: &[u8]) -> Option<Interpreter> {
    let line = line.split(|&byte| byte == b'\n' || byte == 0).next()?.trim_ascii_start();
    let name = line.split(|byte| byte.is_ascii_whitespace()).next().filter(|name| !name.is_empty())?;
    let mut path = [0; SCRIPT_BYTES];
    path.get_mut(..name.len())?.copy_from_slice(name);
    // The two bytes of `#!` were taken away, so that there is room for a zero at the end.
    Some(Interpreter { path })
}

/// Whether a program of 64 bits has a loader, and whose.
fn linkage(file: &File, header: &[u8]) -> Result<Kind> {
    let (offset, size, count) = (u64_at(header, 32), u16_at(header, 54), u16_at(header, 56));
    if usize::from(size) != elf::SEGMENT_BYTES || u64::from(count) > MAX_HEADERS {
        return Ok(Kind::Unknown);
    }
    for index in 0..u64::from(count) {
        let mut segment = [0; elf::SEGMENT_BYTES];
        let Some(at) = offset.checked_add(index * elf::SEGMENT_BYTES as u64) else { return Ok(Kind::Unknown) };
        if read_at_most(file, &mut segment, at)? < segment.len() {
            return Ok(Kind::Unknown);
        }
        if u32_at(&segment, 0) == elf::SEGMENT_INTERPRETER {
            let mut path = [0; 256];
            let length = (u64_at(&segment, 32)).min(path.len() as u64) as usize;
            let length = read_at_most(file, &mut path[..length], u64_at(&segment, 8))?;
            let path = path[..length].split(|&byte| byte == 0).next().unwrap_or_default();
            let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
            return Ok(if name.starts_with(b"ld-musl-") { Kind::Musl } else { Kind::Dynamic });
        }
    }
    Ok(Kind::Static { has_kernels: has_kernels(file, header)? })
}

/// Whether there is a section of fatbins, with something in it.
fn has_kernels(file: &File, header: &[u8]) -> Result<bool> {
    let (offset, size, count, names) = (u64_at(header, 40), u16_at(header, 58), u16_at(header, 60), u16_at(header, 62));
    if usize::from(size) != elf::SECTION_BYTES || u64::from(count) > MAX_HEADERS {
        return Ok(false);
    }
    let section = |index: u16| -> Result<[u8; elf::SECTION_BYTES]> {
        let mut section = [0; elf::SECTION_BYTES];
        let at = offset.checked_add(u64::from(index) * elf::SECTION_BYTES as u64).ok_or(ErrorKind::InvalidData)?;
        read_at_most(file, &mut section, at)?;
        Ok(section)
    };
    let names_offset = u64_at(&section(names)?, 24);
    for index in 0..count {
        let mut name = [0; elf::SECTION_FATBIN.len() + 1];
        let section = section(index)?;
        let Some(at) = names_offset.checked_add(u32_at(&section, 0).into()) else { continue };
        read_at_most(file, &mut name, at)?;
        let is_filled = u64_at(&section, 32) > elf::EMPTY_FATBIN_BYTES;
        if is_filled && name.strip_suffix(b"\0") == Some(elf::SECTION_FATBIN.as_bytes()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Reads until the buffer is full or the file ends.
fn read_at_most(file: &File, buffer: &mut [u8], offset: u64) -> Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        let Some(at) = offset.checked_add(length as u64).filter(|&at| i64::try_from(at).is_ok()) else { break };
        match file.read_at(&mut buffer[length..], at) {
            Ok(0) => break,
            Ok(bytes) => length += bytes,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // An error of the file system has a number, and needs no memory.
            Err(error) => return Err(error.raw_os_error().map_or(ErrorKind::Other.into(), Error::from_raw_os_error)),
        }
    }
    Ok(length)
}
