//! What is proved of launches, for people and programs.

use std::fmt::Write;

use ptx::diagnostic::printable;
use report::demangled;
use serde::Serialize;

/// What is proved of launches of one shape.
#[derive(Serialize, Debug)]
pub(super) struct Proof {
    pub(super) r#type: &'static str,
    /// As the compiler names it.
    pub(super) kernel: String,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub(super) shared: u32,
    /// Bytes of the objects that it may access.
    pub(super) objects: Vec<u64>,
    /// How many launches.
    pub(super) launches: u64,
    /// Whether all accesses are inside of their objects.
    pub(super) bounds: bool,
    /// Whether no two threads conflict.
    pub(super) races: bool,
    pub(super) reasons: Vec<ProofReason>,
}

/// Why something is not proved.
#[derive(Serialize, Debug)]
pub(super) struct ProofReason {
    /// `bounds` or `races`.
    pub(super) question: String,
    /// One sentence.
    pub(super) text: String,
    pub(super) instruction: String,
    /// Line of the PTX; 0 if it is no single instruction.
    pub(super) ptx_line: u32,
    pub(super) file: Option<String>,
    pub(super) line: Option<u32>,
}

impl Proof {
    /// For people.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let extents = |[x, y, z]: [u32; 3]| format!("{x}x{y}x{z}");
        let name = demangled(&self.kernel);
        let mut line = format!("{name}, grid {}, block {}", extents(self.grid), extents(self.block));
        if self.grid == [0; 3] {
            line = format!("{name}, in other shapes");
        }
        if self.shared > 0 {
            let _ = write!(line, ", {} bytes of dynamic shared memory", self.shared);
        }
        if !self.objects.is_empty() {
            let sizes: Vec<String> = self.objects.iter().map(u64::to_string).collect();
            let _ = write!(line, ", objects of {} bytes", sizes.join(", "));
        }
        if self.launches > 1 {
            let _ = write!(line, ": {} launches", self.launches);
        }
        let _ = writeln!(text, "{}", printable(&line));
        for (question, key, is_proved) in [("in bounds", "bounds", self.bounds), ("race-free", "races", self.races)] {
            let answer = if is_proved { "proved, whatever memory holds" } else { "not proved" };
            let _ = writeln!(text, "  {question}: {answer}");
            for reason in self.reasons.iter().filter(|reason| reason.question == key) {
                let _ = writeln!(text, "    {}", printable(&reason.text));
            }
        }
        text
    }
}
