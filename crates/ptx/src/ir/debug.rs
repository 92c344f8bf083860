//! Debugging information: files, source locations, DWARF sections.

use crate::name::Name;
use crate::types::Type;

/// `.file 1 "kernel.cu", 1700000000, 4096`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileEntry {
    /// The number that `.loc` uses.
    pub index: u32,
    /// The path as written, with its escapes.
    pub path: Name,
    /// Time stamp and size, if given.
    pub stamp: Option<(u64, u64)>,
}

/// `.loc 1 12 5, function_name $L__info_string0, inlined_at 1 40 3`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourceLocation {
    /// Number of the file.
    pub file: u32,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 if unknown.
    pub column: u32,
    /// Where the code was inlined.
    pub inlined: Option<InlinedAt>,
}

/// The inlining of a source location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InlinedAt {
    /// Label in `.debug_str` of the function's name, and an offset from it.
    pub function_name: Name,
    /// Offset from the label.
    pub offset: u32,
    /// Number of the file of the call.
    pub file: u32,
    /// Line of the call.
    pub line: u32,
    /// Column of the call.
    pub column: u32,
}

/// `.section .debug_str { … }`
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Section {
    /// The content, in order.
    pub items: Vec<SectionItem>,
    /// The bytes of all [`SectionItem::Bytes`].
    pub bytes: Vec<u8>,
    /// The values of all [`SectionItem::Data`].
    pub data: Vec<SectionData>,
}

/// One line of a section. Lengths refer to the section's pools.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SectionItem {
    /// `$L__info_string0:`
    Label(Name),
    /// `.b8 1, 2, 3`: by far the most frequent, so it costs a byte a value.
    Bytes(u32),
    /// `.b32 1, label, .debug_abbrev, end-start`
    Data(Type, u32),
}

/// A value in a section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SectionData {
    /// A number.
    Int(i64),
    /// A label, function or variable, or a section (`.debug_abbrev`) with its dot; and an offset.
    Name(Name, i32),
    /// The distance of two labels.
    Difference(Name, Name),
}
