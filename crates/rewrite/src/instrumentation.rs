//! What a tool is to kernels: the half of it that knows only PTX.

use std::fmt::Debug;

use ptx::edit::Editor;
use ptx::ir::{FuncId, Module, Reg};
use ptx::special::Special;

use crate::context::Word;
use crate::cursor::{Cursor, State};
use crate::device_code::DeviceCode;
use crate::error::Refusal;
use crate::event::{Access, Branch, Call, Definition, Exit, Sync};
use crate::kernel_view::KernelView;
use crate::program_view::ProgramView;
use crate::request::Request;
use crate::shape::{LaunchShape, ThreadId};

/// What a tool inserts into kernels. It has no state, and every hook does nothing unless a tool says otherwise.
///
/// For each version of each kernel, and each function that it calls, [`Instrumentation::entry`] comes first, and then the
/// events in the order of the text, for the instructions that the module had before any tool changed it. Tools of
/// [`Class::Last`] see what the others inserted, too.
pub trait Instrumentation: Debug + Send + std::marker::Sync {
    /// The name of the tool, a word: `memcheck`.
    fn name(&self) -> &'static str;

    /// With which tools it can work.
    fn class(&self) -> Class {
        Class::Check
    }

    /// The words that its code finds in every launch context: by [`Cursor::word`], and in its device code by `$NAME`.
    fn words(&self) -> &'static [Word] {
        &[]
    }

    /// Whether its code counts in the tallies of workers ([`Tallies`](crate::context::Tallies)).
    fn has_tallies(&self) -> bool {
        false
    }

    /// Functions and variables that it needs on the device.
    fn device_code(&self) -> Option<DeviceCode> {
        None
    }

    /// The versions that it makes of a kernel, by their names; a launch chooses one of them. The original stays in any
    /// case, and runs where this is refused.
    fn versions(&self, _kernel: &KernelView<'_>) -> Result<Vec<&'static str>, Refusal> {
        Ok(vec![""])
    }

    /// Why one of these versions cannot be made of a kernel, if it cannot: the others are made all the same.
    fn refuses(&self, _version: usize, _kernel: &KernelView<'_>) -> Option<Refusal> {
        None
    }

    /// Whether it leaves kernels as they are in a version. Where all tools do, the version is the original.
    fn is_plain(&self, _version: usize) -> bool {
        false
    }

    /// How a version has to be launched that the program launches in this way.
    fn shape(&self, _version: usize, shape: LaunchShape) -> Result<LaunchShape, Refusal> {
        Ok(shape)
    }

    /// Whether a version is launched with twice the shared memory: the tool has as much, at a
    /// [distance](crate::context::DoubledShared) from what the program has. The program must not ask how much there is.
    fn doubles_shared(&self, _version: usize) -> bool {
        false
    }

    /// Which thread of the program a thread of a version is, if the program launched it in this way. What is told to
    /// people has the program's ids.
    fn program_thread(&self, _version: usize, _shape: &LaunchShape, thread: ThreadId) -> ThreadId {
        thread
    }

    /// The register that stands for a special one, so that the kernel sees what the program launched; nothing to keep it.
    /// The cursor stands where the function begins. It is also asked for functions of other tools, whose records so have
    /// the program's ids.
    fn special(&self, _at: &mut Cursor<'_, '_>, _special: Special) -> Option<Reg> {
        None
    }

    /// How many threads of a version come to a barrier for each thread of the program.
    fn copies(&self, _version: usize) -> u32 {
        1
    }

    /// Functions of the program that what it inserts into one of them may call, whether the program does or not.
    fn callees(&self, _module: &Module, _func: FuncId) -> Vec<FuncId> {
        Vec::new()
    }

    /// Changes a function as a whole, before anything is said of it: all that is told later is of what it becomes. Only a tool
    /// that changes the program does.
    fn transform(&self, _editor: &mut Editor<'_>, _version: usize) -> Result<(), Refusal> {
        Ok(())
    }

    /// What the tool finds of a module as the program has it, before any of it is rewritten; [`Cursor::survey`] gives it. Nobody
    /// is asked if a tool changes the program: what is found would not be of what it becomes.
    fn survey(&self, _program: &ProgramView<'_>) -> Option<Box<dyn State>> {
        None
    }

    /// A kernel or function begins.
    fn entry(&self, _at: &mut Cursor<'_, '_>) {}

    /// The thread is about to return, or to end.
    fn exit(&self, _at: &mut Cursor<'_, '_>, _exit: &Exit) {}

    /// A call is about to happen.
    fn call(&self, _at: &mut Cursor<'_, '_>, _call: &Call) {}

    /// A branch is about to happen that only some threads may take.
    fn branch(&self, _at: &mut Cursor<'_, '_>, _branch: &Branch) {}

    /// An access to memory is about to happen.
    fn access(&self, _at: &mut Cursor<'_, '_>, _access: &Access) {}

    /// A barrier, a fence, or a synchronisation of lanes is about to happen.
    fn sync(&self, _at: &mut Cursor<'_, '_>, _sync: &Sync) {}

    /// An instruction has written registers: what is inserted after it sees them.
    fn definition(&self, _at: &mut Cursor<'_, '_>, _definition: &Definition) {}

    /// The program asks something of tools.
    fn request(&self, _at: &mut Cursor<'_, '_>, _request: &Request) {}
}

/// With which tools a tool can work. Those that change the program come first, so that the others see what it becomes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Class {
    /// It changes what kernels do, or how they are launched: at most one of these runs.
    Change,
    /// It only looks: any number of these run together.
    Check,
    /// It looks at everything, also at what the others inserted.
    Last,
}
