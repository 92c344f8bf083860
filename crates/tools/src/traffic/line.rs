//! Lines of the program, as tables have them.

use report::{Place, SourceLine, demangled};

/// A line of a kernel; line 0 of no file for code without line information.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Line {
    pub(super) kernel: String,
    pub(super) file: String,
    pub(super) line: u32,
}

/// The line that a place counts for, in the kernel that it says.
pub(super) fn line_of(place: &Place) -> Line {
    let (file, line) = line_of_program(place).map_or_else(Default::default, |line| (line.file.clone(), line.line));
    Line { kernel: place.kernel.clone(), file, line }
}

/// A variable as the program calls it: those of functions have the name of the function before theirs.
pub(super) fn variable_name(name: &str) -> String {
    let name = demangled(name);
    name.rsplit("::").next().unwrap_or_default().to_owned()
}

/// The innermost line that is not one of the headers of CUDA: an atomic operation is what the program does where it calls it.
fn line_of_program(place: &Place) -> Option<&SourceLine> {
    // nvcc finds its own headers from where it is itself.
    let is_cuda = |file: &str| (file.contains("/bin/../") || file.contains("/cuda")) && file.contains("/include/");
    place.lines.iter().find(|line| !is_cuda(&line.file)).or(place.lines.first())
}
