//! What is wrong with a text, where, and how it looks to the user.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

/// A place in the text: a byte offset.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Position(pub u32);

impl Position {
    /// No place: for what was not read from a text.
    pub const NONE: Self = Self(u32::MAX);
}

/// The starts of the lines of a text, to turn a [`Position`] into line and column long after the text is gone.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lines {
    starts: Vec<u32>,
    /// Length of the text.
    end: u32,
}

impl Lines {
    pub(crate) fn of(text: &[u8]) -> Self {
        let mut starts = Vec::with_capacity(text.len() / 24 + 1);
        starts.push(0);
        let mut rest = 0;
        while let Some(found) = memchr_newline(&text[rest..]) {
            rest += found + 1;
            starts.push(rest as u32);
        }
        Self { starts, end: text.len() as u32 }
    }

    /// Line and column, both from 1; columns count bytes. Nothing for [`Position::NONE`].
    pub fn locate(&self, at: Position) -> Option<(u32, u32)> {
        if at == Position::NONE || self.starts.is_empty() {
            return None;
        }
        let line = self.starts.partition_point(|&start| start <= at.0);
        let start = self.starts[line.checked_sub(1)?];
        Some((line as u32, at.0 - start + 1))
    }

    /// How long the text is, in bytes.
    pub(crate) fn text_bytes(&self) -> u32 {
        self.end
    }

    /// Continues with the lines of another text, which begins on a line of its own. Returns by how much positions in
    /// that text move.
    pub(crate) fn append(&mut self, other: &Self) -> u32 {
        let offset = if self.starts.is_empty() { 0 } else { self.end + 1 };
        self.starts.extend(other.starts.iter().map(|start| start + offset));
        self.end = offset + other.end;
        offset
    }

    /// Line from 1, or 0 where there is none.
    pub fn line(&self, at: Position) -> u32 {
        self.locate(at).map_or(0, |(line, _)| line)
    }
}

/// The offset of the first newline. Eight bytes at a time: line starts cost little beside parsing.
fn memchr_newline(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    const NEWLINES: u64 = u64::from_ne_bytes([b'\n'; 8]);
    let mut chunks = bytes.chunks_exact(8);
    let mut offset = 0;
    for chunk in &mut chunks {
        let word = u64::from_le_bytes(chunk.try_into().expect("chunks have eight bytes")) ^ NEWLINES;
        let found = word.wrapping_sub(ONES) & !word & HIGHS;
        if found != 0 {
            return Some(offset + found.trailing_zeros() as usize / 8);
        }
        offset += 8;
    }
    chunks.remainder().iter().position(|&byte| byte == b'\n').map(|found| offset + found)
}

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// The text is not PTX, or not consistent.
    Error,
    /// Worth knowing; nothing is refused for it.
    Warning,
}

/// A message about a place in the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Where it starts.
    pub at: Position,
    /// How many bytes it concerns; 0 for the whole statement that starts there.
    pub len: u32,
    /// The operand of the statement that it concerns, from 0.
    pub operand: Option<u32>,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// What to do about it, if there is something to say.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error.
    pub fn error(at: Position, len: u32, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, at, len, operand: None, message: message.into(), help: None }
    }

    /// Narrows it to an operand of the statement.
    pub fn about_operand(mut self, operand: Option<usize>) -> Self {
        self.operand = operand.and_then(|operand| u32::try_from(operand).ok());
        self
    }

    /// The bytes of `text`, from which the module was parsed, that it is about.
    pub fn span(&self, text: &str) -> std::ops::Range<usize> {
        let start = floor_char(text, (self.at.0 as usize).min(text.len()));
        match (self.operand, self.len) {
            (Some(operand), _) => operand_span(text, start, operand as usize),
            (None, 0) => start..statement_end(text, start),
            (None, len) => start..floor_char(text, (start + len as usize).min(text.len())),
        }
    }

    /// Adds what to do about it.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The message with the line it concerns, in rustc's look. `path` is shown as the place's file.
    ///
    /// Of long lines only the part around the place is shown, and control characters are replaced, because the text
    /// may be anything.
    pub fn render(&self, path: &str, text: &str, lines: &Lines, color: bool) -> String {
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let message = printable(&self.message);
        let path = printable(path);
        let mut report = Vec::new();
        let span = self.span(text);
        let at = if self.at == Position::NONE { Position::NONE } else { Position(span.start as u32) };
        let Some((line, column)) = lines.locate(at) else {
            report.push(level.primary_title(message.as_str()).element(annotate_snippets::Origin::path(path.as_str())));
            return renderer.render(&report);
        };
        let (excerpt, marked) = excerpt_of(text, span);
        // The snippet counts columns from where it starts.
        let message =
            if marked.start + 1 == column as usize { message } else { format!("{message} (column {column})") };
        let snippet = Snippet::source(excerpt.as_str())
            .line_start(line as usize)
            .path(path.as_str())
            .annotation(AnnotationKind::Primary.span(marked));
        let mut group = level.primary_title(message.as_str()).element(snippet);
        let help = self.help.as_deref().map(printable);
        if let Some(help) = &help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        report.push(group);
        renderer.render(&report)
    }
}

/// Where the statement that starts at `start` ends: before its semicolon or the end of its line.
fn statement_end(text: &str, start: usize) -> usize {
    text[start..].find([';', '\n']).map_or(text.len(), |found| start + found)
}

/// The n-th operand of the instruction that starts at `start`. Messages about operands are rare, so their places are
/// not kept but found again.
fn operand_span(text: &str, start: usize, operand: usize) -> std::ops::Range<usize> {
    let end = text[start..].find(';').map_or(text.len(), |found| start + found);
    let statement = &text[start..end];
    let blank = |c: char| c.is_whitespace();
    // After the guard and the opcode.
    let mut at = 0;
    if statement.starts_with('@') {
        at = statement.find(blank).unwrap_or(statement.len());
        at = statement[at..].find(|c| !blank(c)).map_or(statement.len(), |found| at + found);
    }
    at = statement[at..].find(blank).map_or(statement.len(), |found| at + found);
    let mut depth = 0;
    let mut found = 0;
    let mut from = at;
    let mut to = statement.len();
    for (index, c) in statement.char_indices().skip_while(|(index, _)| *index < at) {
        match c {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                if found == operand {
                    to = index;
                    break;
                }
                found += 1;
                from = index + 1;
            }
            _ => {}
        }
    }
    let part = &statement[from..to.max(from)];
    let lead = part.len() - part.trim_start().len();
    start + from + lead..start + from + lead + part.trim().len()
}

/// The line on which `span` starts, at most `WIDTH` bytes of it, and where `span` is in that.
fn excerpt_of(text: &str, span: std::ops::Range<usize>) -> (String, std::ops::Range<usize>) {
    const WIDTH: usize = 240;
    let at = span.start;
    let from = text.as_bytes()[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |found| found + 1);
    let to = memchr_newline(&text.as_bytes()[at..]).map_or(text.len(), |found| at + found);
    let from = if to - from <= WIDTH { from } else { floor_char(text, from.max(at.saturating_sub(WIDTH / 2))) };
    let to = floor_char(text, to.min(from + WIDTH)).max(at);
    let end = floor_char(text, span.end.clamp(at, to));
    let before = printable(&text[from..at]);
    let marked = printable(&text[at..end]);
    let after = printable(&text[end..to]);
    let range = before.len()..before.len() + marked.len();
    (before + &marked + &after, range)
}

fn floor_char(text: &str, mut index: usize) -> usize {
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

/// The text with everything replaced that could move the cursor, change colours or reorder characters.
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\t' => ' ',
            c if c.is_control() => '\u{fffd}',
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' => '\u{fffd}',
            c => c,
        })
        .collect()
}
