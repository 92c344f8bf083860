//! Reads fatbins: the containers in which nvcc keeps PTX and machine code for several architectures, in the section
//! `.nv_fatbin` of a host program and in files that end in `.fatbin`.
//!
//! [`read`] takes a container apart, [`Entry::text`] decompresses what is in it, and [`containers`] walks over a section
//! that holds many of them. [`size_of_container`] says how much to read where the length is only known from the header.
//!
//! ```
//! # fn main() -> Result<(), fatbin::Error> {
//! # let bytes = include_bytes!("../tests/data/zstd.fatbin");
//! for entry in fatbin::read(bytes)? {
//!     if entry.kind == fatbin::Kind::Ptx {
//!         assert!(entry.text()?.starts_with(b".version") || entry.text()?.starts_with(b"\n"));
//!         println!("PTX for {}", entry.target());
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The bytes may come from anywhere: whatever they are, reading ends in a result or an [`Error`], in time and memory
//! that are linear in their size, with the limits below. Machine code is handed out as it is.
//!
//! NVIDIA does not document the format. What is known comes from looking at what nvcc 13.4 writes in each of its
//! compression modes, and agrees with what ZLUDA reads (`cuda_types/src/dark_api.rs`). All numbers are little-endian.
//!
//! ```text
//! container  0 u32 magic 0xBA55ED50   4 u16 version 1   6 u16 size of this header   8 u64 size of the entries
//! entry      0 u16 kind               2 u16 0x101       4 u32 size of this header   8 u64 size of the payload, padded
//!           16 u32 compressed size   20 u32 where in the header the options are
//!           24 u16 minor version     26 u16 major version of PTX or of the machine code
//!           28 u32 architecture      32 u32 where in the header the name is         36 u32 length of the name
//!           40 u64 flags             48 u64 not known     56 u64 size before compression
//! options    0 u32 where in the header the text is        4 u32 length of the text
//! ```
//!
//! With `nvcc --concat`, an entry of kind 256 holds several texts that were compressed as one. In place of options
//! it has a list: `u32 number of texts, u32 size of the list with these eight bytes` and a header for each text, which
//! differs from that of an entry in one field: in place of its own size it says where in the decompressed payload the
//! text begins.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod compression;
mod entry;

pub use compression::Compression;
pub use entry::{Entry, Kind};

/// The first four bytes of a container, as a number.
pub const MAGIC: u32 = 0xBA55_ED50;

/// The size of the header that [`size_of_container`] takes.
pub const HEADER_BYTES: usize = 16;

/// The largest container that is read, 2 GiB: the linker cannot place larger ones.
pub const MAX_CONTAINER_BYTES: u64 = 2 << 30;

/// The largest text that is decompressed, 256 MiB.
pub const MAX_TEXT_BYTES: u64 = 256 << 20;

/// How many times larger than what is stored a text may be, beyond the first 64 KiB. PTX shrinks to a tenth or so.
pub const MAX_RATIO: u64 = 4096;

/// How many texts one entry may hold.
pub const MAX_TEXTS: u32 = 1024;

/// Why a container cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    /// It is not a container.
    #[error("this is not a fatbin: it begins with {found:#010x}, not {MAGIC:#010x}")]
    Magic {
        /// The first four bytes, as a number.
        found: u32,
    },
    /// It is a container of a kind that did not exist when this was written.
    #[error("fatbins of version {version} are not known, only version 1")]
    Version {
        /// The version it says it has.
        version: u16,
    },
    /// It ends too early.
    #[error("the fatbin ends within {what} at byte {at}: {needed} bytes are needed, {left} are left")]
    Truncated {
        /// What is incomplete.
        what: &'static str,
        /// Where that begins.
        at: usize,
        /// How long it is.
        needed: u64,
        /// How much of it there is.
        left: u64,
    },
    /// A field contradicts another one.
    #[error("the fatbin is damaged: {what} at byte {at} is {found}")]
    Damaged {
        /// The field.
        what: &'static str,
        /// Where its entry begins.
        at: usize,
        /// Its value.
        found: u64,
    },
    /// It is larger than we are willing to read.
    #[error("{what} of {bytes} bytes is larger than the limit of {limit}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// How large it is.
        bytes: u64,
        /// How large it may be.
        limit: u64,
    },
    /// What is compressed cannot be decompressed.
    #[error("what was compressed with {compression} cannot be decompressed: {reason}")]
    Decompression {
        /// How it was compressed.
        compression: Compression,
        /// What the decompressor says.
        reason: String,
    },
}

/// The size of a container with its header, from the header.
pub fn size_of_container(header: &[u8; HEADER_BYTES]) -> Result<usize, Error> {
    let magic = entry::u32_at(header, 0);
    if magic != MAGIC {
        return Err(Error::Magic { found: magic });
    }
    let version = entry::u16_at(header, 4);
    if version != 1 {
        return Err(Error::Version { version });
    }
    let header_bytes = entry::u16_at(header, 6);
    if usize::from(header_bytes) < HEADER_BYTES {
        return Err(Error::Damaged { what: "the size of the header", at: 0, found: header_bytes.into() });
    }
    let bytes = entry::u64_at(header, 8).saturating_add(header_bytes.into());
    if bytes > MAX_CONTAINER_BYTES {
        return Err(Error::TooLarge { what: "a fatbin", bytes, limit: MAX_CONTAINER_BYTES });
    }
    Ok(usize::try_from(bytes).expect("the limit fits into 32 bits"))
}

/// The entries of a container, which may be followed by other bytes.
pub fn read(bytes: &[u8]) -> Result<Vec<Entry<'_>>, Error> {
    let header = bytes.first_chunk().ok_or(Error::Truncated {
        what: "the header",
        at: 0,
        needed: HEADER_BYTES as u64,
        left: bytes.len() as u64,
    })?;
    let size = size_of_container(header)?;
    let bytes = bytes.get(..size).ok_or(Error::Truncated {
        what: "the container",
        at: 0,
        needed: size as u64,
        left: bytes.len() as u64,
    })?;
    let mut entries = Vec::new();
    let mut at = usize::from(entry::u16_at(header, 6));
    while at < bytes.len() {
        at = entry::read(bytes, at, &mut entries)?;
    }
    Ok(entries)
}

/// The containers in a section, one after the other with zeros between them. The first that is damaged is the last,
/// because it does not say where the next one begins.
pub fn containers(section: &[u8]) -> impl Iterator<Item = Result<&[u8], Error>> {
    let mut rest = section;
    std::iter::from_fn(move || {
        let zeros = rest.iter().position(|&byte| byte != 0)?;
        let here = std::mem::take(&mut rest).split_at(zeros).1;
        let Some(header) = here.first_chunk() else {
            let (needed, left) = (HEADER_BYTES as u64, here.len() as u64);
            return Some(Err(Error::Truncated { what: "the header", at: section.len() - here.len(), needed, left }));
        };
        let size = match size_of_container(header) {
            Ok(size) => size,
            Err(error) => return Some(Err(error)),
        };
        if size > here.len() {
            let (needed, left) = (size as u64, here.len() as u64);
            return Some(Err(Error::Truncated { what: "the container", at: section.len() - here.len(), needed, left }));
        }
        let (container, after) = here.split_at(size);
        rest = after;
        Some(Ok(container))
    })
}
