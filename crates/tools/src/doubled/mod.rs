//! Launches blocks with twice as many threads. The second half of each does nothing, and the kernel does not notice.
//!
//! A tool for tests: of versions whose launches have another shape, and of ids that kernels see. It stands for tools that
//! compute something twice and compare.

use std::sync::Arc;

use ptx::ir::{Guard, Reg};
use ptx::special::Special;
use ptx::types::Type;
use rewrite::{Class, Cursor, Instrumentation, KernelView, LaunchShape, Refusal, ThreadId};
use toolkit::{Host, Instance, Options, Tool};

/// The tool, and its instance.
#[derive(Clone, Copy, Debug)]
pub struct Doubled;

/// Threads of the largest block that can be doubled.
const MOST_THREADS: u32 = 512;
/// Threads of the deepest.
const MOST_DEPTH: u32 = 32;

impl Instrumentation for Doubled {
    fn name(&self) -> &'static str {
        "doubled"
    }

    fn class(&self) -> Class {
        Class::Change
    }

    fn versions(&self, kernel: &KernelView<'_>) -> Result<Vec<&'static str>, Refusal> {
        if kernel.calls_through_pointers() {
            let reason = "it calls functions through pointers, whose ids cannot be changed for this kernel alone";
            return Err(Refusal::new("doubled", "indirect-call", reason));
        }
        Ok(vec![""])
    }

    /// Blocks are doubled in z, so that the warps of the program stay what they are, if it has whole ones.
    fn shape(&self, _version: usize, shape: LaunchShape) -> Result<LaunchShape, Refusal> {
        let [x, y, z] = shape.block;
        let threads = x.saturating_mul(y).saturating_mul(z);
        if threads > MOST_THREADS || z > MOST_DEPTH {
            let reason = format!("blocks of {x} × {y} × {z} threads cannot be doubled");
            return Err(Refusal::new("doubled", "block-too-large", reason));
        }
        if !threads.is_multiple_of(32) {
            let reason = format!("the last warp of blocks of {threads} threads is not whole");
            return Err(Refusal::new("doubled", "partial-warp", reason));
        }
        Ok(LaunchShape { block: [x, y, 2 * z], ..shape })
    }

    fn special(&self, at: &mut Cursor<'_, '_>, special: Special) -> Option<Reg> {
        match special {
            // The threads that go on are those of the program, so their own ids are, too.
            Special::NtidZ | Special::Nwarpid => {
                let physical = at.at_entry("mov.u32", Type::B32, &[special.into()]);
                Some(at.at_entry("shr.u32", Type::B32, &[physical.into(), 1.into()]))
            }
            // It would have to be refused, and it is: a vector has no register.
            Special::Ntid => Some(at.reg(Type::B32)),
            _ => None,
        }
    }

    fn program_thread(&self, _version: usize, shape: &LaunchShape, mut thread: ThreadId) -> ThreadId {
        thread.thread[2] %= shape.block[2].max(1);
        thread
    }

    fn entry(&self, at: &mut Cursor<'_, '_>) {
        if !at.is_kernel() {
            return;
        }
        let z = at.at_entry("mov.u32", Type::B32, &[Special::TidZ.into()]);
        let size = at.at_entry("mov.u32", Type::B32, &[Special::NtidZ.into()]);
        let half = at.at_entry("shr.u32", Type::B32, &[size.into(), 1.into()]);
        let is_copy = at.at_entry("setp.ge.u32", Type::Pred, &[z.into(), half.into()]);
        at.before().guarded(Guard::when(is_copy), "exit", &[]);
    }
}

impl Instance for Doubled {}

impl Tool for Doubled {
    fn instrumentation(&self) -> &'static dyn Instrumentation {
        &Doubled
    }

    fn about(&self) -> &'static str {
        "Runs a CUDA program with blocks of twice as many threads: for tests of tools"
    }

    fn is_hidden(&self) -> bool {
        true
    }

    fn start(&self, _: &Options, _: &Arc<dyn Host>) -> Result<Box<dyn Instance>, String> {
        Ok(Box::new(Doubled))
    }
}
