//! How the host came to a call.

use std::hash::BuildHasher;
use std::sync::Arc;

use report::{Frame, SourceLine, Stack};
use rustc_hash::FxBuildHasher;
use toolkit::{Calls, HostStack};

use crate::process::objects::{self, LoadedObject};
use crate::process::python::{self, PythonFrame};
use crate::process::unwind;
use crate::queue;

/// Addresses of calls, from the innermost on, and those of a Python program. What addresses belong to is looked up when
/// somebody asks.
#[derive(Hash, Debug)]
struct Captured {
    addresses: Arc<[usize]>,
    python: Box<[PythonFrame]>,
}

/// The calls of this thread. No lock may be held: see [`python`].
pub(super) fn capture(most: usize) -> HostStack {
    HostStack::new(Captured::here(most))
}

/// Calls of another thread, by where they return to, from the innermost on.
pub(super) fn from_calls(calls: &[usize]) -> HostStack {
    HostStack::new(Captured { addresses: calls.into(), python: Box::default() })
}

/// The same, with a number that calls of the same place share.
pub(super) fn capture_with_number(most: usize) -> (HostStack, u64) {
    let calls = Captured::here(most);
    let number = FxBuildHasher.hash_one(&calls);
    (HostStack::new(calls), number)
}

impl Captured {
    fn here(most: usize) -> Self {
        // While a kernel runs, this may be the stack of one of its threads, which no interpreter expects.
        let python = if queue::is_at_work() { Vec::new() } else { python::frames(most.max(LEAST_OF_PYTHON)) };
        // Our own calls come first, and are left out when the stack is shown; so are those of an interpreter.
        let more = 12 + if python.is_empty() { 0 } else { MOST_OF_INTERPRETER };
        Self { addresses: unwind::calls(most + more), python: python.into() }
    }
}

impl Calls for Captured {
    /// The calls by program or library and address in it. Where the interpreter runs a Python program, the calls of that.
    fn frames(&self) -> Stack {
        let objects = objects::loaded();
        let containing = |address: usize| objects.iter().find(|object| object.contains(address));
        let own = containing(capture as *const () as usize).map(|own| own.bias);
        let interpreter = python::address().filter(|_| !self.python.is_empty()).and_then(containing);
        let mut python = self.python.iter();
        let mut frames = Vec::new();
        for &address in self.addresses.iter() {
            // The address is where the call returns to, which may be after the function.
            let address = address.saturating_sub(1);
            let Some(object) = containing(address).filter(|object| Some(object.bias) != own) else { continue };
            if interpreter.is_some_and(|interpreter| interpreter.bias == object.bias) {
                frames.extend(python.by_ref().map(source));
            } else if interpreter.is_none() || !calls_for_python(object) {
                frames.push(Frame::Code { object: object.path.clone(), offset: (address - object.bias) as u64 });
            }
        }
        frames.extend(python.map(source));
        // What started the interpreter's thread or program is no more the user's than the interpreter is.
        if let Some(last) = frames.iter().rposition(|frame| matches!(frame, Frame::Script { .. }))
            && frames.get(last + 1).is_some_and(is_of_libc)
        {
            frames.truncate(last + 1);
        }
        // Nor is what starts threads.
        let ends_in_program = frames.iter().rposition(|frame| !is_of_libc(frame));
        frames.truncate(ends_in_program.map_or(frames.len(), |last| last + 1));
        Stack { frames }
    }
}

/// Calls of a Python program that are kept in any case: those of packages come first, and are folded.
const LEAST_OF_PYTHON: usize = 64;
/// Calls of the interpreter between one of the program's own and the next.
const MOST_OF_INTERPRETER: usize = 100;

fn source(frame: &PythonFrame) -> Frame {
    let line = SourceLine { file: frame.file.to_string(), line: frame.line, column: 0, function: None };
    Frame::Script { function: frame.function.to_string(), line }
}

fn is_of_libc(frame: &Frame) -> bool {
    matches!(frame, Frame::Code { object, .. } if object.rsplit('/').next().is_some_and(|name| name.starts_with("libc.so")))
}

/// Libraries by which Python calls functions of C.
fn calls_for_python(object: &LoadedObject) -> bool {
    let name = object.path.rsplit('/').next().unwrap_or_default();
    name.starts_with("_ctypes.") || name.starts_with("libffi.so") || name.starts_with("libffi-")
}
