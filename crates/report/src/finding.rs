//! A finding.

use serde::{Deserialize, Serialize};

/// Something that a tool found, once for each place where it happens.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct Finding {
    /// The tool: `memcheck`.
    pub tool: String,
    /// What kind of thing it is, a word of the tool's own: `out-of-bounds`.
    pub code: String,
    /// How bad it is.
    pub severity: Severity,
    /// What happened, without names and numbers that differ between two runs: `out-of-bounds write of 4 bytes`.
    pub message: String,
    /// Where in the code of the device it happened; nothing for what the host did.
    pub place: Option<Place>,
    /// The first time that it happened; nothing for what the host did.
    pub first: Option<Occurrence>,
    /// How many times it happened.
    pub count: u64,
    /// Facts that belong to it, in the order of their importance.
    pub notes: Vec<Note>,
    /// The accesses that it is about, if these are several: in the order in which they happened.
    #[serde(default)]
    pub accesses: Vec<AccessOf>,
    /// The memory that it is about, and where in it or beside it the access is, if that is known.
    #[serde(default)]
    pub object: Option<AccessedObject>,
    /// What to do next.
    pub help: Option<String>,
    /// Where on the host it happened, or where the kernel was launched.
    pub stack: Option<Stack>,
}

impl Finding {
    /// Something that happened once, of which only this is known yet.
    pub fn new(tool: &str, code: &str, severity: Severity, message: impl Into<String>) -> Self {
        Self {
            tool: tool.to_owned(),
            code: code.to_owned(),
            severity,
            message: message.into(),
            place: None,
            first: None,
            count: 1,
            notes: Vec::new(),
            accesses: Vec::new(),
            object: None,
            help: None,
            stack: None,
        }
    }

    /// Whether it says what the program itself is told: a fault of the device, or a call that returned an error. Else a tool has
    /// noticed something.
    pub fn is_told_to_program(&self) -> bool {
        [Self::DEVICE_FAULT, Self::API_ERROR].contains(&self.code.as_str())
    }

    /// The code of faults of the device, whichever tool is at work.
    pub const DEVICE_FAULT: &str = "device-fault";
    /// The code of calls that returned an error, whichever tool is at work.
    pub const API_ERROR: &str = "api-error";
}

/// Memory that an access is in, or beside: the first time that something happened.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct AccessedObject {
    /// What it is: `an allocation`, ``the shared variable `tile` ``.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Where the access begins, in bytes from where the object does: negative if it is before it.
    pub offset: i64,
    /// How many bytes are accessed.
    pub accessed: u64,
    /// It was freed before.
    #[serde(default)]
    pub is_freed: bool,
}

/// One of several accesses that a finding is about.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct AccessOf {
    /// What it does: `write`.
    pub what: String,
    /// Who did it, in words: `block (0,0,0) thread (5,0,0)`, `several threads of block (0,0,0)`.
    pub by: String,
    /// Where it is in the code, if that is known.
    pub place: Option<Place>,
    /// The kernel, as the compiler names it.
    pub kernel: String,
    /// Which launch of the process it was in.
    pub launch: u64,
    /// The block; nothing if there were several.
    pub block: Option<Dim>,
    /// The thread; nothing if there were several.
    pub thread: Option<Dim>,
    /// At how many barriers of its block the threads had been, if that is known.
    #[serde(default)]
    pub barriers: Option<u64>,
}

/// How bad a finding is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth knowing. It does not change the exit code.
    Warning,
    /// A bug of the program.
    Error,
}

/// A place in the code of a kernel.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize, Debug)]
pub struct Place {
    /// The kernel, as the compiler names it.
    pub kernel: String,
    /// The instruction as text.
    pub instruction: String,
    /// The line of the instruction in the PTX of its module; 0 if it is not known.
    pub instruction_line: u32,
    /// The source lines: the first is the one of the instruction, the next are those that it was inlined into. Empty if
    /// the code has no line information.
    pub lines: Vec<SourceLine>,
}

impl Place {
    /// A place of which only the kernel is known.
    pub fn of_kernel(kernel: &str) -> Self {
        Self { kernel: kernel.to_owned(), instruction: String::new(), instruction_line: 0, lines: Vec::new() }
    }
}

/// A line of a source file.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize, Debug)]
pub struct SourceLine {
    /// The file.
    pub file: String,
    /// The line, from 1 on.
    pub line: u32,
    /// The column, from 1 on; 0 if it is not known.
    pub column: u32,
    /// The function that the line is in, if it was inlined or is known for another reason, as the compiler names it.
    pub function: Option<String>,
}

/// Three numbers, as CUDA counts blocks and threads.
pub type Dim = [u32; 3];

/// `(3,0,0)`.
pub fn dim([x, y, z]: Dim) -> String {
    format!("({x},{y},{z})")
}

/// `block (0,0,0) thread (3,0,0)`.
pub fn thread_name(block: Dim, thread: Dim) -> String {
    format!("block {} thread {}", dim(block), dim(thread))
}

/// One time that something happened in a kernel.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct Occurrence {
    /// The block.
    pub block: Dim,
    /// The thread.
    pub thread: Dim,
    /// Blocks of the launch.
    pub grid_size: Dim,
    /// Threads of its blocks.
    pub block_size: Dim,
    /// Which launch of the process it was, from 1 on.
    pub launch: u64,
    /// The address that was accessed, if that is what it is about.
    pub address: Option<u64>,
}

/// A fact that belongs to a finding.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct Note {
    /// The fact.
    pub message: String,
    /// Where on the host it came about.
    pub stack: Option<Stack>,
}

/// How the host came to a place, from the innermost call on.
#[derive(Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize, Debug)]
pub struct Stack {
    /// The calls.
    pub frames: Vec<Frame>,
}

/// A call on the host.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Frame {
    /// Machine code that is still to be looked up.
    Code {
        /// The program or library.
        object: String,
        /// The address of the call, or of any byte of it, as the file counts: without the one at which it was loaded.
        offset: u64,
    },
    /// A line of a program.
    Source {
        /// The function, as people read it.
        function: String,
        /// The file and line, if they are known.
        line: Option<SourceLine>,
    },
    /// A line of a program that an interpreter runs.
    Script {
        /// The function, as the interpreter names it.
        function: String,
        /// The file and line.
        line: SourceLine,
    },
}

impl Frame {
    /// The function and its line, if they are known.
    pub fn source(&self) -> Option<(&str, Option<&SourceLine>)> {
        match self {
            Self::Code { .. } => None,
            Self::Source { function, line } => Some((function, line.as_ref())),
            Self::Script { function, line } => Some((function, Some(line))),
        }
    }

    /// The package that it belongs to, if it is of one that is installed for Python, or of Python itself.
    pub fn package(&self) -> Option<&str> {
        let path = match self {
            Self::Code { object, .. } => object,
            Self::Script { line, .. } => &line.file,
            Self::Source { .. } => return None,
        };
        for directory in ["/site-packages/", "/dist-packages/"] {
            if let Some((_, inside)) = path.rsplit_once(directory) {
                let name = inside.split('/').next().unwrap_or_default();
                return Some(name.split('.').next().unwrap_or_default());
            }
        }
        (path.contains("/lib/python3") || path.starts_with("<frozen ")).then_some("python")
    }
}
