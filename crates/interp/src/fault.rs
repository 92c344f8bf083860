//! What can go wrong: a module or kernel that is refused, and a kernel that ends with a fault.

use ptx::diagnostic::Position;
use ptx::ir::{Module, Variable};

use crate::memory::AccessError;

/// Something that the interpreter cannot do, found before anything runs.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: `{what}` {reason}")]
pub struct Refusal {
    /// Line of the PTX text, from 1; 0 if unknown.
    pub line: u32,
    /// The instruction or the name.
    pub what: String,
    /// The rest of the sentence.
    pub reason: String,
}

impl Refusal {
    pub(crate) fn new(module: &Module, at: Position, what: &str, reason: &str) -> Self {
        Self { line: module.lines.line(at), what: what.to_owned(), reason: reason.to_owned() }
    }

    pub(crate) fn variable(module: &Module, variable: &Variable, reason: &str) -> Self {
        Self::new(module, variable.at, module.text(variable.name), &format!("is {reason}"))
    }
}

/// Why a launch did not end well.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum LaunchError {
    /// There is no such kernel.
    #[error("there is no kernel `{0}`")]
    NoSuchKernel(String),
    /// The kernel holds something that cannot be run.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The configuration is impossible.
    #[error("kernel `{kernel}` cannot be launched: {reason}")]
    Configuration {
        /// The kernel.
        kernel: String,
        /// What is wrong.
        reason: String,
    },
    /// A thread did something that ends the kernel.
    #[error(transparent)]
    Fault(#[from] Box<Fault>),
    /// Nobody can go on.
    #[error("{}", deadlock(kernel, waits))]
    Deadlock {
        /// The kernel.
        kernel: String,
        /// Who waits where, threads of one block at one place together.
        waits: Vec<Wait>,
    },
    /// More instructions than the configuration allows.
    #[error("kernel `{kernel}` did not end within {budget} instructions")]
    OutOfBudget {
        /// The kernel.
        kernel: String,
        /// The limit.
        budget: u64,
    },
}

/// A fault of one thread.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{kind}: block ({},{},{}) thread ({},{},{}) of `{kernel}` at line {line}, `{instruction}`",
    block[0], block[1], block[2], thread[0], thread[1], thread[2])]
pub struct Fault {
    /// The kernel.
    pub kernel: String,
    /// The block.
    pub block: [u32; 3],
    /// The thread in its block.
    pub thread: [u32; 3],
    /// Line of the PTX text.
    pub line: u32,
    /// The statement.
    pub instruction: String,
    /// What happened.
    pub kind: FaultKind,
}

/// What a thread did.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum FaultKind {
    /// Memory that cannot be accessed.
    #[error("{} of {size} bytes at {address:#x}, which {error}", if *.write { "write" } else { "read" })]
    Access {
        /// Written, or read and written.
        write: bool,
        /// The address in the window that the instruction names.
        address: u64,
        /// The bytes.
        size: u32,
        /// What is wrong.
        error: AccessError,
    },
    /// `trap`
    #[error("trap")]
    Trap,
    /// `__assertfail`
    #[error("{file}:{line}: {function}: assertion `{message}` failed")]
    Assertion {
        /// The condition.
        message: String,
        /// File of the program.
        file: String,
        /// Line of the program.
        line: u32,
        /// Function of the program.
        function: String,
    },
    /// Recursion, or frames larger than local memory.
    #[error("stack overflow")]
    StackOverflow,
    /// An indirect call of something that is no function.
    #[error("call of {0:#x}, which is no function")]
    NoFunction(u64),
    /// A call with other parameters than the function has.
    #[error("call with other parameters than the function has")]
    Signature,
    /// An index past the end of a list of branch targets.
    #[error("index {index} into {len} branch targets")]
    BranchIndex {
        /// The index.
        index: u64,
        /// The length of the list.
        len: usize,
    },
    /// A barrier that does not exist, or a count that cannot be.
    #[error("barrier {id} with {count} threads does not exist")]
    NoSuchBarrier {
        /// The barrier.
        id: u32,
        /// The number of threads.
        count: u32,
    },
    /// `free` of something that `malloc` did not return.
    #[error("free of {0:#x}, which is no allocation")]
    Free(u64),
    /// A barrier object with impossible contents or counts.
    #[error("the barrier object at {0:#x} cannot do this")]
    Mbarrier(u64),
}

/// Threads that wait.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wait {
    /// The block.
    pub block: [u32; 3],
    /// Linear indices of the threads in the block.
    pub threads: Vec<u32>,
    /// Line of the PTX text.
    pub line: u32,
    /// The statement.
    pub instruction: String,
}

fn deadlock(kernel: &str, waits: &[Wait]) -> String {
    use std::fmt::Write;
    let mut text = format!("kernel `{kernel}` cannot go on");
    for wait in waits {
        let [x, y, z] = wait.block;
        let threads = ranges(&wait.threads);
        write!(text, "; block ({x},{y},{z}) threads {threads} wait at line {}, `{}`", wait.line, wait.instruction)
            .expect("writing to a string");
    }
    text
}

/// `0-3,7`
fn ranges(numbers: &[u32]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut rest = numbers;
    while let [first, ..] = rest {
        let len = rest.iter().zip(*first..).take_while(|(number, expected)| *number == expected).count();
        parts.push(if len == 1 { first.to_string() } else { format!("{first}-{}", rest[len - 1]) });
        rest = &rest[len..];
    }
    parts.join(",")
}

#[cfg(test)]
mod tests {
    #[test]
    fn runs_of_numbers() {
        assert_eq!(super::ranges(&[0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
        assert_eq!(super::ranges(&[]), "");
    }
}
