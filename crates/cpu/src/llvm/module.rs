//! Modules and functions.

use std::ffi::c_char;

use llvm_sys::analysis::{LLVMVerifierFailureAction, LLVMVerifyModule};
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMLinkage, LLVMOpcode};

use super::host::host;
use super::types::{BasicBlock, Context, Ty, Value};
use super::{c_name, take_message};
use crate::options::Processor;

/// A module under construction.
#[derive(Debug)]
pub(crate) struct Module<'c> {
    pub(super) raw: LLVMModuleRef,
    context: &'c Context,
    /// Whether the processor has AVX-512: it can round each result of an instruction differently, and scale floats.
    pub(crate) has_avx512: bool,
    /// Whether it multiplies and adds in one instruction.
    pub(crate) has_fma: bool,
}

/// A function and its type, which a call needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FunctionValue<'c> {
    pub(crate) value: Value<'c>,
    pub(crate) ty: Ty<'c>,
}

/// What LLVM is told of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Attribute {
    /// Nothing is thrown through it.
    NoUnwind,
    /// It stays a function of its own.
    NoInline,
    /// It does not come back.
    NoReturn,
    /// It is rarely called.
    Cold,
    /// Its floating-point operations depend on the rounding mode of the processor.
    StrictFp,
    /// Null is an address like any other.
    NullPointerIsValid,
}

impl<'c> Module<'c> {
    /// An empty module, for a processor or the one that we run on.
    pub(crate) fn new(context: &'c Context, name: &str, processor: Option<Processor>) -> Self {
        let has = |feature: &str, since: Processor| match processor {
            None => host().1.split(',').any(|other| other == feature),
            Some(processor) => processor >= since,
        };
        let (has_avx512, has_fma) = (has("+avx512f", Processor::V4), has("+fma", Processor::V3));
        // SAFETY: the context outlives the module, which borrows it.
        let raw = unsafe { LLVMModuleCreateWithNameInContext(c_name(name).as_ptr(), context.raw) };
        Self { raw, context, has_avx512, has_fma }
    }

    pub(crate) fn context(&self) -> &'c Context {
        self.context
    }

    /// The function of this name, declared if there is none yet.
    pub(crate) fn function(&self, name: &str, result: Ty<'c>, params: &[Ty<'c>]) -> FunctionValue<'c> {
        let ty = self.function_type(result, params);
        let name = c_name(name);
        // SAFETY: the module is alive; the name ends with zero.
        let raw = unsafe {
            let existing = LLVMGetNamedFunction(self.raw, name.as_ptr());
            if existing.is_null() { LLVMAddFunction(self.raw, name.as_ptr(), ty.raw) } else { existing }
        };
        FunctionValue { value: Value::new(raw), ty }
    }

    /// Something of this name that is defined elsewhere: its address.
    pub(crate) fn external(&self, name: &str) -> Value<'c> {
        let name = c_name(name);
        // SAFETY: the module is alive; the name ends with zero.
        Value::new(unsafe {
            let existing = LLVMGetNamedGlobal(self.raw, name.as_ptr());
            if existing.is_null() { LLVMAddGlobal(self.raw, self.context.int(8).raw, name.as_ptr()) } else { existing }
        })
    }

    /// The function of this name, if it is there.
    pub(crate) fn has_function(&self, name: &str) -> bool {
        // SAFETY: the module is alive; the name ends with zero.
        unsafe { !LLVMGetNamedFunction(self.raw, c_name(name).as_ptr()).is_null() }
    }

    /// An intrinsic function, for the types that its name leaves open.
    pub(crate) fn intrinsic(&self, name: &str, overloads: &[Ty<'c>]) -> FunctionValue<'c> {
        let mut raw: Vec<_> = overloads.iter().map(|ty| ty.raw).collect();
        // SAFETY: the name and the overloads are read before the calls return; an unknown name gives 0, refused below.
        unsafe {
            let id = LLVMLookupIntrinsicID(name.as_ptr().cast::<c_char>(), name.len());
            assert!(id != 0, "LLVM has no intrinsic {name}");
            let function = LLVMGetIntrinsicDeclaration(self.raw, id, raw.as_mut_ptr(), raw.len());
            let ty = LLVMIntrinsicGetType(self.context.raw, id, raw.as_mut_ptr(), raw.len());
            FunctionValue { value: Value::new(function), ty: Ty::new(ty) }
        }
    }

    pub(crate) fn function_type(&self, result: Ty<'c>, params: &[Ty<'c>]) -> Ty<'c> {
        let mut raw: Vec<_> = params.iter().map(|param| param.raw).collect();
        // SAFETY: pointer and length describe `raw`.
        Ty::new(unsafe { LLVMFunctionType(result.raw, raw.as_mut_ptr(), raw.len() as u32, 0) })
    }

    /// LLVM's own check; its complaint would be our bug.
    pub(crate) fn verify(&self) -> Result<(), String> {
        let mut message = std::ptr::null_mut();
        // SAFETY: the module is alive; the message is taken over below.
        let broken =
            unsafe { LLVMVerifyModule(self.raw, LLVMVerifierFailureAction::LLVMReturnStatusAction, &raw mut message) };
        let message = take_message(message);
        if broken == 0 { Ok(()) } else { Err(message) }
    }

    /// Takes away what keeps loaded values the same wherever they are used, when no pass is left that would not.
    ///
    /// Instructions are selected one by one, and a `freeze` between a load and its use hides the load from those that
    /// load and use at once. What is stored stays frozen: LLVM would take away both the load and the store of a value that
    /// goes back to where it came from, and the fault of a wrong address with them.
    pub(crate) fn thaw_loads(&self) {
        // SAFETY: walks through the lists of a module that is alive, and steps on before an instruction is erased.
        unsafe {
            let mut function = LLVMGetFirstFunction(self.raw);
            while !function.is_null() {
                let mut block = LLVMGetFirstBasicBlock(function);
                while !block.is_null() {
                    let mut instruction = LLVMGetFirstInstruction(block);
                    while !instruction.is_null() {
                        let next = LLVMGetNextInstruction(instruction);
                        if LLVMGetInstructionOpcode(instruction) == LLVMOpcode::LLVMFreeze {
                            let frozen = LLVMGetOperand(instruction, 0);
                            let is_load = !LLVMIsALoadInst(frozen).is_null() || !LLVMIsACallInst(frozen).is_null();
                            if is_load && !is_stored(instruction) {
                                LLVMReplaceAllUsesWith(instruction, frozen);
                                LLVMInstructionEraseFromParent(instruction);
                            }
                        }
                        instruction = next;
                    }
                    block = LLVMGetNextBasicBlock(block);
                }
                function = LLVMGetNextFunction(function);
            }
        }
    }

    /// The module as text.
    pub(crate) fn text(&self) -> String {
        // SAFETY: the module is alive; the message is taken over.
        take_message(unsafe { LLVMPrintModuleToString(self.raw) })
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // SAFETY: the module is ours, and its context is still alive.
        unsafe { LLVMDisposeModule(self.raw) };
    }
}

impl<'c> FunctionValue<'c> {
    pub(crate) fn param(self, index: u32) -> Value<'c> {
        // SAFETY: the callers know the signature that they declared.
        Value::new(unsafe { LLVMGetParam(self.value.raw, index) })
    }

    pub(crate) fn append_block(self, context: &'c Context, name: &str) -> BasicBlock<'c> {
        // SAFETY: the function is alive as long as its context.
        BasicBlock::new(unsafe { LLVMAppendBasicBlockInContext(context.raw, self.value.raw, c_name(name).as_ptr()) })
    }

    /// Only this module calls it.
    pub(crate) fn set_private(self) {
        // SAFETY: the function is alive.
        unsafe { LLVMSetLinkage(self.value.raw, LLVMLinkage::LLVMInternalLinkage) };
    }

    pub(crate) fn add_attribute(self, context: &'c Context, attribute: Attribute) {
        let name = match attribute {
            Attribute::NoUnwind => "nounwind",
            Attribute::NoInline => "noinline",
            Attribute::NoReturn => "noreturn",
            Attribute::Cold => "cold",
            Attribute::StrictFp => "strictfp",
            Attribute::NullPointerIsValid => "null_pointer_is_valid",
        };
        // SAFETY: the names are LLVM's; an unknown one would give 0.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast::<c_char>(), name.len());
            assert!(kind != 0, "LLVM has no attribute {name}");
            let attribute = LLVMCreateEnumAttribute(context.raw, kind, 0);
            LLVMAddAttributeAtIndex(self.value.raw, llvm_sys::LLVMAttributeFunctionIndex, attribute);
        }
    }

    /// An attribute that LLVM knows by text.
    pub(crate) fn add_text_attribute(self, context: &'c Context, name: &str, value: &str) {
        // SAFETY: name and value are copied.
        unsafe {
            let attribute = LLVMCreateStringAttribute(
                context.raw,
                name.as_ptr().cast::<c_char>(),
                name.len() as u32,
                value.as_ptr().cast::<c_char>(),
                value.len() as u32,
            );
            LLVMAddAttributeAtIndex(self.value.raw, llvm_sys::LLVMAttributeFunctionIndex, attribute);
        }
    }
}

/// Whether a value is stored as it is.
///
/// # Safety
/// It belongs to a module that is alive.
unsafe fn is_stored(value: LLVMValueRef) -> bool {
    // SAFETY: walks through the list of its uses.
    unsafe {
        let mut usage = LLVMGetFirstUse(value);
        while !usage.is_null() {
            if !LLVMIsAStoreInst(LLVMGetUser(usage)).is_null() {
                return true;
            }
            usage = LLVMGetNextUse(usage);
        }
    }
    false
}
