//! A small safe layer over LLVM's C interface: what the lowering emits, one method per instruction.
//!
//! Values, types and blocks carry the lifetime of their [`Context`]. What this layer does not check is that operands have
//! the types that an instruction wants: LLVM's verifier does that for a whole module, and every module is verified
//! before it is compiled ([`Module::verify`]).
//!
//! No instruction is given `nsw`, `nuw`, `inbounds`, `exact` or fast-math flags: kernels that overflow, race or read what
//! nobody wrote are daily input, and LLVM may turn such flags into anything.

mod builder;
mod host;
pub(crate) mod machine;
mod module;
mod random;
mod types;

pub(crate) use builder::{AtomicOp, Builder, FloatPredicate, IntPredicate, Ordering};
pub(crate) use host::host;
pub(crate) use machine::{CodeLevel, Machine};
pub(crate) use module::{Attribute, FunctionValue, Module};
pub(crate) use types::{BasicBlock, Context, Ty, TyKind, Value};

/// LLVM's own text, copied and given back.
fn take_message(message: *mut std::ffi::c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: LLVM hands out a string that ends with zero and belongs to us until it is disposed of, once, here.
    unsafe {
        let text = std::ffi::CStr::from_ptr(message).to_string_lossy().into_owned();
        llvm_sys::core::LLVMDisposeMessage(message);
        text
    }
}

/// LLVM's names end with zero; ours never hold one.
fn c_name(name: &str) -> std::ffi::CString {
    std::ffi::CString::new(name.replace('\0', "")).expect("there is no zero left")
}
