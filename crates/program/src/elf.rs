//! ELF files of 64 bits: sections, symbols, and what the dynamic section says.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// The first bytes.
pub const MAGIC: &[u8] = b"\x7fELF";
pub(crate) const CLASS: usize = 4;
pub(crate) const DATA: usize = 5;
pub(crate) const CLASS_32: u8 = 1;
pub(crate) const CLASS_64: u8 = 2;
pub(crate) const DATA_LITTLE: u8 = 1;
pub(crate) const PROCESSOR_386: u16 = 3;
pub(crate) const PROCESSOR_X86_64: u16 = 62;
const PROCESSOR_CUDA: u16 = 190;
pub(crate) const HEADER_BYTES: usize = 64;
pub(crate) const SEGMENT_BYTES: usize = 56;
pub(crate) const SECTION_BYTES: usize = 64;
const SYMBOL_BYTES: usize = 24;
const DYNAMIC_BYTES: usize = 16;
const SEGMENT_LOAD: u32 = 1;
pub(crate) const SEGMENT_INTERPRETER: u32 = 3;

const SECTION_SYMBOLS: u32 = 2;
const SECTION_DYNAMIC: u32 = 6;
const SECTION_NO_BITS: u32 = 8;
const SECTION_DYNAMIC_SYMBOLS: u32 = 11;

/// The section into which nvcc puts fatbins.
pub const SECTION_FATBIN: &str = ".nv_fatbin";
/// The same for code that is linked once more, by `nvcc -rdc=true`.
pub const SECTION_FATBIN_RELOCATABLE: &str = "__nv_relfatbin";
/// What nvcc links into a program without kernels: the head of a fatbin, and nothing after it.
pub const EMPTY_FATBIN_BYTES: u64 = 16;

/// The largest section that is read, 1 GiB.
pub const MAX_SECTION_BYTES: u64 = 1 << 30;
/// The largest number of sections and segments that is read.
const MAX_HEADERS: usize = 65536;

/// A file, taken apart.
#[derive(Debug)]
pub struct Elf<'f> {
    source: Source<'f>,
    /// How many bytes there are.
    size: u64,
    /// What is loaded into memory.
    pub segments: Vec<Segment>,
    /// Sections in their order.
    pub sections: Vec<Section>,
}

/// Where a file is.
#[derive(Debug)]
enum Source<'f> {
    File(&'f File),
    Bytes(&'f [u8]),
}

/// A part of the file that is loaded into memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Where it is loaded, relative to the start of the file in memory.
    pub address: u64,
    /// Where it is in the file.
    pub offset: u64,
    /// How long it is in the file.
    pub size: u64,
    /// How long it is in memory.
    pub memory_size: u64,
    /// Bits: 1 to execute, 2 to write, 4 to read.
    pub flags: u32,
}

/// A section.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Section {
    /// Its name; what is not UTF-8 is replaced.
    pub name: String,
    /// What it holds: a number that the ELF specification gives.
    kind: u32,
    /// Where it is in memory.
    pub address: u64,
    /// Where it is in the file.
    pub offset: u64,
    /// How long it is.
    pub size: u64,
    /// The section that belongs to it.
    link: u32,
}

/// The symbols of a file with their names.
#[derive(Debug)]
pub struct Symbols {
    entries: Vec<u8>,
    names: Vec<u8>,
}

/// A symbol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Symbol<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// Where it is in memory.
    pub address: u64,
    /// How many bytes it has.
    pub size: u64,
    /// Whether it is in this file, and not only used by it.
    pub is_defined: bool,
    /// Whether it is a function.
    pub is_function: bool,
    /// Whether it is a kernel, in machine code of a GPU (`STO_CUDA_ENTRY`).
    pub is_kernel: bool,
}

/// What the dynamic section says.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Dynamic {
    /// The libraries it needs.
    pub needed: Vec<String>,
    /// The name by which others need it.
    pub soname: Option<String>,
    /// Where they are looked for first, one directory after the other.
    pub run_paths: Vec<String>,
}

/// Why a file cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// It is not an ELF file of 64 bits for this processor.
    NotElf,
    /// A header points outside the file, or is too long to be true.
    Damaged(&'static str),
    /// The file system has an error.
    Io(String),
}

impl std::error::Error for Error {}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotElf => f.write_str("it is not a program or library of 64 bits for x86-64"),
            Self::Damaged(what) => write!(f, "it is damaged: {what}"),
            Self::Io(error) => f.write_str(error),
        }
    }
}

impl<'f> Elf<'f> {
    /// Reads the headers of a program or library.
    pub fn read(file: &'f File) -> Result<Self, Error> {
        let size = file.metadata().map_err(|error| Error::Io(error.to_string()))?.len();
        Self::of(Source::File(file), size, PROCESSOR_X86_64)
    }

    /// Reads the headers of a file that holds machine code of a GPU.
    pub fn read_cubin(bytes: &'f [u8]) -> Result<Self, Error> {
        Self::of(Source::Bytes(bytes), bytes.len() as u64, PROCESSOR_CUDA)
    }

    fn of(source: Source<'f>, size: u64, processor: u16) -> Result<Self, Error> {
        let mut elf = Self { source, size, segments: Vec::new(), sections: Vec::new() };
        if size < HEADER_BYTES as u64 {
            return Err(Error::NotElf);
        }
        let header = elf.bytes_at(0, HEADER_BYTES as u64)?;
        let is_ours = header.starts_with(MAGIC)
            && header[CLASS] == CLASS_64
            && header[DATA] == DATA_LITTLE
            && u16_at(&header, 18) == processor;
        if !is_ours {
            return Err(Error::NotElf);
        }
        elf.read_segments(&header)?;
        elf.read_sections(&header)?;
        Ok(elf)
    }

    fn read_segments(&mut self, header: &[u8]) -> Result<(), Error> {
        let (offset, size, count) = (u64_at(header, 32), u16_at(header, 54), u16_at(header, 56));
        if count == 0 {
            return Ok(());
        }
        if usize::from(size) != SEGMENT_BYTES {
            return Err(Error::Damaged("the size of its program headers"));
        }
        let table = self.bytes_at(offset, u64::from(count) * SEGMENT_BYTES as u64)?;
        let loaded = table.chunks_exact(SEGMENT_BYTES).filter(|entry| u32_at(entry, 0) == SEGMENT_LOAD);
        self.segments = loaded
            .map(|entry| Segment {
                flags: u32_at(entry, 4),
                offset: u64_at(entry, 8),
                address: u64_at(entry, 16),
                size: u64_at(entry, 32),
                memory_size: u64_at(entry, 40),
            })
            .collect();
        Ok(())
    }

    fn read_sections(&mut self, header: &[u8]) -> Result<(), Error> {
        let (offset, size) = (u64_at(header, 40), u16_at(header, 58));
        if offset == 0 {
            return Ok(());
        }
        if usize::from(size) != SECTION_BYTES {
            return Err(Error::Damaged("the size of its section headers"));
        }
        // Numbers that do not fit into the header are in the first section.
        let first = self.bytes_at(offset, SECTION_BYTES as u64)?;
        let count = match u16_at(header, 60) {
            0 => usize::try_from(u64_at(&first, 32)).unwrap_or(usize::MAX),
            count => count.into(),
        };
        let names = match u16_at(header, 62) {
            0xffff => u32_at(&first, 40) as usize,
            index => index.into(),
        };
        if count > MAX_HEADERS {
            return Err(Error::Damaged("the number of its sections"));
        }
        let table = self.bytes_at(offset, (count * SECTION_BYTES) as u64)?;
        let sections = table.chunks_exact(SECTION_BYTES).map(|entry| Section {
            name: String::new(),
            kind: u32_at(entry, 4),
            address: u64_at(entry, 16),
            offset: u64_at(entry, 24),
            size: u64_at(entry, 32),
            link: u32_at(entry, 40),
        });
        self.sections = sections.collect();
        let names = match self.sections.get(names) {
            Some(names) => self.bytes(names)?,
            None => Vec::new(),
        };
        for (section, entry) in self.sections.iter_mut().zip(table.chunks_exact(SECTION_BYTES)) {
            section.name = text_at(&names, u32_at(entry, 0).into());
        }
        Ok(())
    }

    /// A section by its name.
    pub fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// What is in a section; nothing if it takes no place in the file.
    pub fn bytes(&self, section: &Section) -> Result<Vec<u8>, Error> {
        if section.kind == SECTION_NO_BITS { Ok(Vec::new()) } else { self.bytes_at(section.offset, section.size) }
    }

    /// So many bytes of the file, which must have them.
    pub fn bytes_at(&self, offset: u64, size: u64) -> Result<Vec<u8>, Error> {
        let end = offset.checked_add(size).ok_or(Error::Damaged("a size"))?;
        if end > self.size || size > MAX_SECTION_BYTES {
            return Err(Error::Damaged("a part of it is not in the file"));
        }
        let length = usize::try_from(size).expect("the limit fits into 32 bits");
        match self.source {
            Source::Bytes(bytes) => Ok(bytes[offset as usize..][..length].to_vec()),
            Source::File(file) => {
                let mut bytes = vec![0; length];
                file.read_exact_at(&mut bytes, offset).map_err(|error| Error::Io(error.to_string()))?;
                Ok(bytes)
            }
        }
    }

    /// The symbols for linkers and debuggers, which `strip` removes.
    pub fn symbols(&self) -> Result<Option<Symbols>, Error> {
        self.symbols_of(SECTION_SYMBOLS)
    }

    /// The symbols for the loader.
    pub fn dynamic_symbols(&self) -> Result<Option<Symbols>, Error> {
        self.symbols_of(SECTION_DYNAMIC_SYMBOLS)
    }

    fn symbols_of(&self, kind: u32) -> Result<Option<Symbols>, Error> {
        let Some(section) = self.sections.iter().find(|section| section.kind == kind) else { return Ok(None) };
        let names = self.sections.get(section.link as usize).ok_or(Error::Damaged("the names of its symbols"))?;
        Ok(Some(Symbols { entries: self.bytes(section)?, names: self.bytes(names)? }))
    }

    /// What the dynamic section says; nothing if there is none.
    pub fn dynamic(&self) -> Result<Dynamic, Error> {
        let mut dynamic = Dynamic::default();
        let Some(section) = self.sections.iter().find(|section| section.kind == SECTION_DYNAMIC) else {
            return Ok(dynamic);
        };
        let names = self.sections.get(section.link as usize).ok_or(Error::Damaged("the names of its libraries"))?;
        let (entries, names) = (self.bytes(section)?, self.bytes(names)?);
        for entry in entries.chunks_exact(DYNAMIC_BYTES) {
            let text = || text_at(&names, u64_at(entry, 8));
            match u64_at(entry, 0) {
                0 => break,
                1 => dynamic.needed.push(text()),
                14 => dynamic.soname = Some(text()),
                15 | 29 => dynamic.run_paths.extend(text().split(':').map(str::to_owned)),
                _ => {}
            }
        }
        Ok(dynamic)
    }
}

impl Symbols {
    /// One after the other. Symbols whose names are damaged have none.
    pub fn iter(&self) -> impl Iterator<Item = Symbol<'_>> {
        self.entries.chunks_exact(SYMBOL_BYTES).map(|entry| Symbol {
            name: bytes_until_zero(&self.names, u32_at(entry, 0).into()),
            address: u64_at(entry, 8),
            size: u64_at(entry, 16),
            is_defined: u16_at(entry, 6) != 0,
            is_function: entry[4] & 0xf == 2,
            is_kernel: entry[5] & 0x10 != 0,
        })
    }
}

fn text_at(names: &[u8], at: u64) -> String {
    String::from_utf8_lossy(bytes_until_zero(names, at)).into_owned()
}

/// Names are shorter than this; a file with many symbols and one endless name must not cost the product of both.
const MAX_NAME_BYTES: usize = 4096;

fn bytes_until_zero(names: &[u8], at: u64) -> &[u8] {
    let rest = usize::try_from(at).ok().and_then(|at| names.get(at..)).unwrap_or_default();
    let rest = &rest[..rest.len().min(MAX_NAME_BYTES)];
    rest.iter().position(|&byte| byte == 0).map_or(&[], |end| &rest[..end])
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(field(bytes, at))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(field(bytes, at))
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(field(bytes, at))
}

/// A field of a header whose size was checked.
fn field<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    *bytes[at..].first_chunk().expect("the header is as long as its fields")
}
