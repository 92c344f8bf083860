//! Lines of source around the one that matters.

use std::fmt::Write;

use super::markup::{code, text};
use crate::finding::SourceLine;
use crate::source::{Sources, expression_at};

/// So many lines before and after it are shown.
const AROUND: u32 = 2;

/// A figure with the source around a line, and what it is of. Without the file, only its name.
pub(super) fn figure(line: &SourceLine, caption: &str, sources: &mut Sources) -> String {
    let at = text(&format!("{}:{}", sources.shown(&line.file), line.line));
    let caption = format!("<figcaption><b>{at}</b> {}</figcaption>", text(caption));
    if sources.line(&line.file, line.line).is_none() {
        return format!("<figure>{caption}</figure>\n");
    }
    let mut listing = String::new();
    for number in line.line.saturating_sub(AROUND).max(1)..=line.line.saturating_add(AROUND) {
        let Some(source) = sources.line(&line.file, number) else { continue };
        if number == line.line {
            let span = expression_at(source, line.column);
            let [before, marked, after] = [&source[..span.start], &source[span.clone()], &source[span.end..]].map(code);
            let _ =
                write!(listing, "<span class=\"here\"><i>{number}</i>{before}<mark>{marked}</mark>{after}\n</span>");
        } else {
            let _ = write!(listing, "<span><i>{number}</i>{}\n</span>", code(source));
        }
    }
    format!("<figure>{caption}<pre class=\"source\">{listing}</pre></figure>\n")
}
