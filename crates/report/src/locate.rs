//! The one line that a finding is shown at, for readers that take only one.

use crate::demangle::short_name;
use crate::finding::{Finding, Frame, Place, SourceLine};
use crate::source::Sources;

/// Where a finding is.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    /// The line.
    pub(crate) line: SourceLine,
    /// The function that it is in, as people read it: the kernel, or the function of the host.
    pub(crate) function: String,
}

/// Where a finding is; nothing if no line is known.
pub(crate) fn of_finding(finding: &Finding, sources: &mut Sources) -> Option<Location> {
    match (&finding.place, &finding.stack) {
        (Some(place), _) => {
            let line = of_place(place, sources)?.clone();
            Some(Location { line, function: short_name(&place.kernel) })
        }
        (None, Some(stack)) => {
            let (function, line) = stack.frames.get(of_calls(&stack.frames)?)?.source()?;
            Some(Location { line: line?.clone(), function: function.to_owned() })
        }
        (None, None) => None,
    }
}

/// The first line that can be shown: what is farther inside is a library's. If none can, the first.
pub(crate) fn of_place<'a>(place: &'a Place, sources: &mut Sources) -> Option<&'a SourceLine> {
    place.lines.get(index_in_place(place, sources))
}

/// Which of the lines that is.
pub(crate) fn index_in_place(place: &Place, sources: &mut Sources) -> usize {
    place.lines.iter().position(|line| sources.line(&line.file, line.line).is_some()).unwrap_or(0)
}

/// The first call that has a line, and is the program's own if there is one.
pub(crate) fn of_calls(calls: &[Frame]) -> Option<usize> {
    let has_line = |frame: &Frame| matches!(frame.source(), Some((_, Some(_))));
    let own = calls.iter().position(|frame| has_line(frame) && frame.package().is_none());
    own.or_else(|| calls.iter().position(has_line))
}

/// The line of the first of these calls that has one.
pub(crate) fn line_of_calls(calls: &[Frame]) -> Option<&SourceLine> {
    calls.get(of_calls(calls)?)?.source()?.1
}
