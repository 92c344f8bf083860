//! What a container holds: PTX, machine code and others, one text for each architecture.

use std::borrow::Cow;
use std::ops::Range;

use crate::compression::{Compression, decompress};
use crate::{Error, MAX_RATIO, MAX_TEXT_BYTES, MAX_TEXTS};

const HEADER_BYTES: usize = 64;
/// An entry that holds several texts which were compressed as one.
const KIND_CONCATENATED: u16 = 256;

const FLAG_DEBUG: u64 = 0x2;
const FLAG_LZ4: u64 = 0x2000;
const FLAG_ZSTD: u64 = 0x8000;
const FLAG_ARCHITECTURE_SPECIFIC: u64 = 0x10_0000;
const FLAG_FAMILY_SPECIFIC: u64 = 0x20_0000;

/// A text for one architecture.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Entry<'a> {
    /// What the text is.
    pub kind: Kind,
    /// The architecture it is for: 75 for `compute_75` and `sm_75`.
    pub arch: u32,
    /// The version of PTX or of the machine code, such as (9, 4).
    pub version: (u16, u16),
    /// What nvcc noted; those that are understood have methods.
    pub flags: u64,
    /// How the text is stored.
    pub compression: Compression,
    /// The source file, where it is known: with debug information.
    pub name: Option<&'a [u8]>,
    /// Options for the assembler, such as `--compile-only`.
    pub options: &'a [u8],
    /// What is stored, without padding if it is compressed.
    stored: &'a [u8],
    /// The size of what is stored after decompression.
    stored_text_bytes: usize,
    /// Where the text is in that.
    range: Range<usize>,
}

/// What an entry is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// PTX.
    Ptx,
    /// Machine code in an ELF file.
    Elf,
    /// Something else: 8 is code for optimisation at link time.
    Other(u16),
}

impl<'a> Entry<'a> {
    /// The text; for PTX without the zeros at its end.
    pub fn text(&self) -> Result<Cow<'a, [u8]>, Error> {
        let text = match self.compression {
            Compression::None => Cow::Borrowed(&self.stored[self.range.clone()]),
            compression => {
                let mut text = decompress(compression, self.stored, self.stored_text_bytes)?;
                text.truncate(self.range.end);
                text.drain(..self.range.start);
                Cow::Owned(text)
            }
        };
        Ok(if self.kind == Kind::Ptx { without_zeros(text) } else { text })
    }

    /// The size of the text as the container gives it.
    pub fn text_bytes(&self) -> usize {
        self.range.len()
    }

    /// The target in nvcc's words, such as `compute_90a` for PTX and `sm_90a` for machine code.
    pub fn target(&self) -> String {
        let word = if self.kind == Kind::Elf { "sm" } else { "compute" };
        let suffix = match () {
            () if self.flags & FLAG_ARCHITECTURE_SPECIFIC != 0 => "a",
            () if self.flags & FLAG_FAMILY_SPECIFIC != 0 => "f",
            () => "",
        };
        format!("{word}_{}{suffix}", self.arch)
    }

    /// Whether it was compiled for debugging (`-G`).
    pub fn is_debug(&self) -> bool {
        self.flags & FLAG_DEBUG != 0
    }
}

/// PTX is padded with zeros, and ends with one.
fn without_zeros(text: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    let end = text.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[..end]),
        Cow::Owned(mut text) => {
            text.truncate(end);
            Cow::Owned(text)
        }
    }
}

/// Reads the entry at `at`, and returns where the next one begins: always after this one.
pub(crate) fn read<'a>(container: &'a [u8], at: usize, entries: &mut Vec<Entry<'a>>) -> Result<usize, Error> {
    let rest = &container[at..];
    let truncated = |what, needed| Error::Truncated { what, at, needed, left: rest.len() as u64 };
    if rest.len() < HEADER_BYTES {
        return Err(truncated("the header of an entry", HEADER_BYTES as u64));
    }
    let header_bytes = u32_at(rest, 4) as usize;
    if header_bytes < HEADER_BYTES {
        return Err(Error::Damaged { what: "the size of an entry's header", at, found: header_bytes as u64 });
    }
    let header = rest.get(..header_bytes).ok_or_else(|| truncated("the header of an entry", header_bytes as u64))?;
    let payload_bytes = u64_at(header, 8);
    let payload = usize::try_from(payload_bytes)
        .ok()
        .and_then(|bytes| rest[header_bytes..].get(..bytes))
        .ok_or_else(|| truncated("an entry", payload_bytes.saturating_add(header_bytes as u64)))?;
    let stored = Stored::of(header, at, payload)?;
    if u16_at(header, 0) == KIND_CONCATENATED {
        read_concatenated(header, at, &stored, entries)?;
    } else {
        entries.push(stored.entry(header, 0..stored.text_bytes));
    }
    Ok(at + header_bytes + payload.len())
}

/// Reads an entry that holds several texts.
fn read_concatenated<'a>(
    header: &'a [u8],
    at: usize,
    stored: &Stored<'a>,
    entries: &mut Vec<Entry<'a>>,
) -> Result<(), Error> {
    let damaged = |what, found: u64| Err(Error::Damaged { what, at, found });
    let Some(list) = header.get(HEADER_BYTES..).filter(|list| list.len() >= 8) else {
        return damaged("the size of an entry's header", header.len() as u64);
    };
    let (texts, list_bytes) = (u32_at(list, 0), u32_at(list, 4));
    if texts > MAX_TEXTS {
        return Err(Error::TooLarge { what: "an entry", bytes: texts.into(), limit: MAX_TEXTS.into() });
    }
    let Some(mut headers) = list.get(8..list_bytes as usize) else {
        return damaged("the size of the list of texts", list_bytes.into());
    };
    let mut end_of_last = 0;
    for _ in 0..texts {
        let header_bytes = if headers.len() < HEADER_BYTES { HEADER_BYTES } else { size_of_text_header(headers) };
        let Some((header, rest)) = headers.split_at_checked(header_bytes) else {
            return damaged("the size of the list of texts", list_bytes.into());
        };
        headers = rest;
        let start = u32_at(header, 4) as usize;
        let end = usize::try_from(u64_at(header, 8)).ok().and_then(|bytes| start.checked_add(bytes));
        // Texts that overlap would make the sum of all texts larger than what is stored can become.
        match end {
            Some(end) if start >= end_of_last && end <= stored.text_bytes => {
                end_of_last = end;
                entries.push(stored.entry(header, start..end));
            }
            _ => return damaged("the place of a text", start as u64),
        }
    }
    Ok(())
}

/// The size of a header in the list of texts, which does not say it: what it holds, a zero, and padding to eight bytes.
fn size_of_text_header(header: &[u8]) -> usize {
    let end_of = |start: u32, length: u32| if start == 0 { 0 } else { start as usize + length as usize + 1 };
    let name = end_of(u32_at(header, 32), u32_at(header, 36));
    let options = match u32_at(header, 20) as usize {
        0 => 0,
        at => match header.get(at..).filter(|options| options.len() >= 8) {
            Some(options) => end_of(u32_at(options, 0), u32_at(options, 4)).max(at + 8),
            None => usize::MAX / 2,
        },
    };
    name.max(options).max(HEADER_BYTES).next_multiple_of(8)
}

/// The payload of an entry: one text, or several.
struct Stored<'a> {
    bytes: &'a [u8],
    compression: Compression,
    text_bytes: usize,
}

impl<'a> Stored<'a> {
    fn of(header: &[u8], at: usize, payload: &'a [u8]) -> Result<Self, Error> {
        let flags = u64_at(header, 40);
        let compression = match (flags & FLAG_LZ4 != 0, flags & FLAG_ZSTD != 0) {
            (false, false) => {
                return Ok(Self { bytes: payload, compression: Compression::None, text_bytes: payload.len() });
            }
            (true, false) => Compression::Lz4,
            (false, true) => Compression::Zstd,
            (true, true) => return Err(Error::Damaged { what: "the compression", at, found: flags }),
        };
        let compressed = u32_at(header, 16);
        let bytes = payload.get(..compressed as usize).ok_or(Error::Damaged {
            what: "the compressed size of an entry",
            at,
            found: compressed.into(),
        })?;
        let text_bytes = u64_at(header, 56);
        let limit = (bytes.len() as u64 * MAX_RATIO).saturating_add(64 << 10).min(MAX_TEXT_BYTES);
        if text_bytes > limit {
            return Err(Error::TooLarge { what: "a text", bytes: text_bytes, limit });
        }
        let text_bytes = usize::try_from(text_bytes).expect("the limit fits into 32 bits");
        Ok(Self { bytes, compression, text_bytes })
    }

    fn entry(&self, header: &'a [u8], range: Range<usize>) -> Entry<'a> {
        let kind = match u16_at(header, 0) {
            1 => Kind::Ptx,
            2 => Kind::Elf,
            other => Kind::Other(other),
        };
        Entry {
            kind,
            arch: u32_at(header, 28),
            version: (u16_at(header, 26), u16_at(header, 24)),
            flags: u64_at(header, 40),
            compression: self.compression,
            name: part_of(header, u32_at(header, 32), u32_at(header, 36)).filter(|name| !name.is_empty()),
            options: options(header),
            stored: self.bytes,
            stored_text_bytes: self.text_bytes,
            range,
        }
    }
}

/// Options are of use to messages only: what is damaged in them is left out.
fn options(header: &[u8]) -> &[u8] {
    let list = part_of(header, u32_at(header, 20), 8);
    list.and_then(|list| part_of(header, u32_at(list, 0), u32_at(list, 4))).unwrap_or_default()
}

fn part_of(header: &[u8], start: u32, length: u32) -> Option<&[u8]> {
    if start == 0 {
        return None;
    }
    header.get(start as usize..)?.get(..length as usize)
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
