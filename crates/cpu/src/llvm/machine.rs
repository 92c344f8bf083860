//! From a module to machine code.

use std::ffi::{CStr, c_void};
use std::sync::{Mutex, Once, PoisonError};

use llvm_sys::core::*;
use llvm_sys::error::{LLVMDisposeErrorMessage, LLVMGetErrorMessage};
use llvm_sys::prelude::*;
use llvm_sys::support::LLVMParseCommandLineOptions;
use llvm_sys::target::*;
use llvm_sys::target_machine::*;
use llvm_sys::transforms::pass_builder::*;

use super::host::host;
use super::module::Module;
use super::{c_name, take_message};

/// How much time instruction selection may take.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum CodeLevel {
    /// As little as possible.
    Quick,
    /// What code is worth that runs long.
    Optimised,
}

/// Why no machine code came out. All of them are our bugs or LLVM's.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum CompileError {
    #[error("LLVM does not know the processor `{cpu}`: {message}")]
    Target { cpu: String, message: String },
    #[error("LLVM could not compile the kernel: {0}")]
    Emit(String),
}

/// Machine code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Emitted {
    /// An object file.
    pub(crate) object: Vec<u8>,
    /// The bytes of stack that each function takes.
    pub(crate) frames: Vec<(String, u64)>,
}

/// A processor to compile for.
#[derive(Debug)]
pub(crate) struct Machine {
    raw: LLVMTargetMachineRef,
}

// SAFETY: it belongs to no thread and to no context of LLVM; only one thread has it at a time.
unsafe impl Send for Machine {}

/// Machines for the processor that we run on, which are not in use. What LLVM finds out about its features takes longer
/// than to compile a small kernel.
#[derive(Debug)]
pub(crate) struct HostMachines {
    idle: Mutex<Vec<(CodeLevel, Machine)>>,
}

impl HostMachines {
    pub(crate) const fn new() -> Self {
        Self { idle: Mutex::new(Vec::new()) }
    }

    /// Takes a machine out, or makes one.
    pub(crate) fn take(&self, level: CodeLevel) -> Result<Machine, CompileError> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        match idle.iter().position(|(other, _)| *other == level) {
            Some(index) => Ok(idle.swap_remove(index).1),
            None => {
                drop(idle);
                let (cpu, features) = host();
                Machine::new(cpu, &format!("{features},{GATHERS}"), level)
            }
        }
    }

    /// Keeps a machine for the next one who needs it.
    pub(crate) fn give_back(&self, level: CodeLevel, machine: Machine) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push((level, machine));
    }
}

/// LLVM takes gathers of some processors with AVX2 to be slow, and has a branch for each lane instead.
pub(crate) const GATHERS: &str = "+fast-gather";

fn initialise() {
    static ONCE: Once = Once::new();
    // SAFETY: called once, before any other use of the target.
    ONCE.call_once(|| unsafe {
        LLVMInitializeX86TargetInfo();
        LLVMInitializeX86Target();
        LLVMInitializeX86TargetMC();
        LLVMInitializeX86AsmPrinter();
        LLVMInitializeX86AsmParser();
        // LLVM 22 follows copies between integer and vector registers round a loop for ever (llvm/llvm-project#216271).
        let options = [c"warpgrind".as_ptr(), c"-disable-adv-copy-opt".as_ptr()];
        LLVMParseCommandLineOptions(options.len() as i32, options.as_ptr(), std::ptr::null());
    });
}

impl Machine {
    /// A processor by name, with features such as `+avx512f`.
    pub(crate) fn new(cpu: &str, features: &str, level: CodeLevel) -> Result<Self, CompileError> {
        initialise();
        let mut target = std::ptr::null_mut();
        let mut message = std::ptr::null_mut();
        // SAFETY: all strings end with zero and outlive the calls; `target` and `message` are written to.
        unsafe {
            let triple = LLVMGetDefaultTargetTriple();
            let failed = LLVMGetTargetFromTriple(triple, &raw mut target, &raw mut message);
            if failed != 0 {
                LLVMDisposeMessage(triple);
                return Err(CompileError::Target { cpu: cpu.to_owned(), message: take_message(message) });
            }
            let options = LLVMCreateTargetMachineOptions();
            let (cpu, features) = (c_name(cpu), c_name(features));
            LLVMTargetMachineOptionsSetCPU(options, cpu.as_ptr());
            LLVMTargetMachineOptionsSetFeatures(options, features.as_ptr());
            LLVMTargetMachineOptionsSetCodeGenOptLevel(
                options,
                match level {
                    CodeLevel::Quick => LLVMCodeGenOptLevel::LLVMCodeGenLevelNone,
                    CodeLevel::Optimised => LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault,
                },
            );
            LLVMTargetMachineOptionsSetRelocMode(options, LLVMRelocMode::LLVMRelocPIC);
            LLVMTargetMachineOptionsSetCodeModel(options, LLVMCodeModel::LLVMCodeModelSmall);
            let raw = LLVMCreateTargetMachineWithOptions(target, triple, options);
            LLVMDisposeTargetMachineOptions(options);
            LLVMDisposeMessage(triple);
            Ok(Self { raw })
        }
    }

    /// A processor for which nothing is compiled: it only says what an object file is like.
    pub(crate) fn for_linking() -> Result<Self, CompileError> {
        Self::new("x86-64", "", CodeLevel::Quick)
    }

    /// Hands the machine over to LLVM.
    pub(crate) fn into_raw(self) -> LLVMTargetMachineRef {
        let raw = self.raw;
        std::mem::forget(self);
        raw
    }

    /// Says in the module for which processor it is.
    pub(crate) fn prepare(&self, module: &Module<'_>) {
        // SAFETY: module and machine are alive; the triple and the layout are ours to dispose of.
        unsafe {
            let triple = LLVMGetTargetMachineTriple(self.raw);
            LLVMSetTarget(module.raw, triple);
            LLVMDisposeMessage(triple);
            let layout = LLVMCreateTargetDataLayout(self.raw);
            LLVMSetModuleDataLayout(module.raw, layout);
            LLVMDisposeTargetData(layout);
        }
    }

    /// Runs passes, given in the notation of `opt -passes`.
    pub(crate) fn run_passes(&self, module: &Module<'_>, passes: &str) -> Result<(), CompileError> {
        // SAFETY: module and machine are alive; an error is taken over once.
        unsafe {
            let options = LLVMCreatePassBuilderOptions();
            // The code is in vectors already.
            LLVMPassBuilderOptionsSetLoopVectorization(options, 0);
            LLVMPassBuilderOptionsSetSLPVectorization(options, 0);
            let error = LLVMRunPasses(module.raw, c_name(passes).as_ptr(), self.raw, options);
            LLVMDisposePassBuilderOptions(options);
            if error.is_null() {
                return Ok(());
            }
            let message = LLVMGetErrorMessage(error);
            let text = CStr::from_ptr(message).to_string_lossy().into_owned();
            LLVMDisposeErrorMessage(message);
            Err(CompileError::Emit(text))
        }
    }

    /// Compiles a module.
    pub(crate) fn emit(&self, module: &Module<'_>) -> Result<Emitted, CompileError> {
        let mut diagnostics = Diagnostics::default();
        let mut message = std::ptr::null_mut();
        let mut buffer: LLVMMemoryBufferRef = std::ptr::null_mut();
        // SAFETY: the handler is called only during the call below, on this thread, while `diagnostics` is alive; it is
        // taken away afterwards. The buffer is copied and disposed of.
        let object = unsafe {
            let context = module.context().raw;
            LLVMContextSetDiagnosticHandler(context, Some(note_diagnostic), (&raw mut diagnostics).cast());
            let failed = LLVMTargetMachineEmitToMemoryBuffer(
                self.raw,
                module.raw,
                LLVMCodeGenFileType::LLVMObjectFile,
                &raw mut message,
                &raw mut buffer,
            );
            LLVMContextSetDiagnosticHandler(context, None, std::ptr::null_mut());
            if failed != 0 {
                return Err(CompileError::Emit(take_message(message)));
            }
            let bytes =
                std::slice::from_raw_parts(LLVMGetBufferStart(buffer).cast::<u8>(), LLVMGetBufferSize(buffer)).to_vec();
            LLVMDisposeMemoryBuffer(buffer);
            bytes
        };
        if let Some(error) = diagnostics.errors.pop() {
            return Err(CompileError::Emit(error));
        }
        Ok(Emitted { object, frames: diagnostics.frames })
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // SAFETY: the machine is ours.
        unsafe { LLVMDisposeTargetMachine(self.raw) };
    }
}

/// What LLVM said while it emitted code.
#[derive(Default)]
struct Diagnostics {
    errors: Vec<String>,
    frames: Vec<(String, u64)>,
}

/// Takes down errors, and the sizes of stack frames: functions carry the attribute `warn-stack-size` with a limit of zero,
/// which is the only way by which LLVM's C interface tells them.
extern "C" fn note_diagnostic(info: LLVMDiagnosticInfoRef, diagnostics: *mut c_void) {
    // SAFETY: `emit` passes a pointer to its `Diagnostics`, and waits for the call to end.
    let diagnostics = unsafe { &mut *diagnostics.cast::<Diagnostics>() };
    // SAFETY: `info` is alive during the call; the text is ours.
    let (text, severity) = unsafe { (take_message(LLVMGetDiagInfoDescription(info)), LLVMGetDiagInfoSeverity(info)) };
    if let Some(frame) = parse_frame(&text) {
        diagnostics.frames.push(frame);
    } else if matches!(severity, llvm_sys::LLVMDiagnosticSeverity::LLVMDSError) {
        diagnostics.errors.push(text);
    }
}

/// `stack frame size (136) exceeds limit (0) in function 'k'`
fn parse_frame(text: &str) -> Option<(String, u64)> {
    let rest = &text[text.find("stack frame size (")? + "stack frame size (".len()..];
    let size = rest[..rest.find(')')?].parse().ok()?;
    let rest = &rest[rest.find("in function '")? + "in function '".len()..];
    Some((rest[..rest.rfind('\'')?].to_owned(), size))
}
