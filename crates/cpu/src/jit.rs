//! Machine code in memory that can be run.

use std::ffi::{CStr, CString, c_char};

use llvm_sys::core::LLVMCreateMemoryBufferWithMemoryRangeCopy;
use llvm_sys::error::{LLVMDisposeErrorMessage, LLVMErrorRef, LLVMGetErrorMessage};
use llvm_sys::orc2::lljit::*;
use llvm_sys::orc2::*;

use crate::abi::context::Entry;
use crate::llvm::Machine;

/// A compiled kernel that is linked into the process. Its memory is executable and not writable.
#[derive(Debug)]
pub(crate) struct Code {
    jit: LLVMOrcLLJITRef,
    entry: Entry,
}

/// Why an object file could not be linked.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the compiled kernel could not be linked: {0}")]
pub(crate) struct LinkError(String);

// SAFETY: nothing of the JIT is called after linking but its disposal, and code is only read.
unsafe impl Send for Code {}
// SAFETY: as above.
unsafe impl Sync for Code {}

impl Code {
    /// Links an object file. `symbols` are the addresses of all that it does not define.
    pub(crate) fn link(object: &[u8], symbols: &[(String, usize)], entry: &str) -> Result<Self, LinkError> {
        // Left to itself, LLVM finds out about the processor again each time.
        let machine = Machine::for_linking().map_err(|error| LinkError(error.to_string()))?;
        // SAFETY: the builders take over what they are given; `jit` is written on success.
        let jit = unsafe {
            let builder = LLVMOrcCreateLLJITBuilder();
            let machine = LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(machine.into_raw());
            LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(builder, machine);
            let mut jit = std::ptr::null_mut();
            check(LLVMOrcCreateLLJIT(&raw mut jit, builder))?;
            jit
        };
        let linked = Linking { jit };
        // SAFETY: the JIT is alive; names end with zero; the object is copied.
        unsafe {
            let dylib = LLVMOrcLLJITGetMainJITDylib(jit);
            let mut pairs: Vec<LLVMOrcCSymbolMapPair> = symbols
                .iter()
                .map(|(name, address)| {
                    let name = CString::new(name.as_str()).expect("our names hold no zero");
                    LLVMOrcCSymbolMapPair {
                        Name: LLVMOrcLLJITMangleAndIntern(jit, name.as_ptr()),
                        Sym: llvm_sys::orc2::LLVMJITEvaluatedSymbol {
                            Address: *address as u64,
                            Flags: LLVMJITSymbolFlags {
                                GenericFlags: LLVMJITSymbolGenericFlags::LLVMJITSymbolGenericFlagsExported as u8,
                                TargetFlags: 0,
                            },
                        },
                    }
                })
                .collect();
            let unit = LLVMOrcAbsoluteSymbols(pairs.as_mut_ptr(), pairs.len());
            check(LLVMOrcJITDylibDefine(dylib, unit))?;
            let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
                object.as_ptr().cast::<c_char>(),
                object.len(),
                c"kernel".as_ptr(),
            );
            check(LLVMOrcLLJITAddObjectFile(jit, dylib, buffer))?;
            let mut address = 0;
            let name = CString::new(entry).expect("our names hold no zero");
            check(LLVMOrcLLJITLookup(jit, &raw mut address, name.as_ptr()))?;
            let entry = std::mem::transmute::<usize, Entry>(address as usize);
            std::mem::forget(linked);
            Ok(Self { jit, entry })
        }
    }

    pub(crate) fn entry(&self) -> Entry {
        self.entry
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        drop(Linking { jit: self.jit });
    }
}

/// Disposes of the JIT if linking fails.
struct Linking {
    jit: LLVMOrcLLJITRef,
}

impl Drop for Linking {
    fn drop(&mut self) {
        // SAFETY: the JIT is alive and ours; no code of it runs.
        unsafe {
            let _ = check(LLVMOrcDisposeLLJIT(self.jit));
        }
    }
}

/// Takes over an error of LLVM.
fn check(error: LLVMErrorRef) -> Result<(), LinkError> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: the error is taken over once; the message is ours.
    unsafe {
        let message = LLVMGetErrorMessage(error);
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(message);
        Err(LinkError(text))
    }
}
