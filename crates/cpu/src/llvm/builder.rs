//! Instructions.

use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMAtomicOrdering, LLVMAtomicRMWBinOp, LLVMInlineAsmDialect, LLVMIntPredicate, LLVMRealPredicate};
use std::cell::Cell;

use super::module::{FunctionValue, Module};
use super::types::{BasicBlock, Context, Ty, Value};

/// Appends instructions to a block.
#[derive(Debug)]
pub(crate) struct Builder<'c> {
    raw: LLVMBuilderRef,
    context: &'c Context,
    /// Whether what is accessed now is memory that the program does not access.
    is_beside: Cell<bool>,
}

/// How integers are compared.
pub(crate) use llvm_sys::LLVMIntPredicate as IntPredicate;
/// How floating-point numbers are compared.
pub(crate) use llvm_sys::LLVMRealPredicate as FloatPredicate;

/// What an atomic read-modify-write does.
pub(crate) use llvm_sys::LLVMAtomicRMWBinOp as AtomicOp;

/// The order of an atomic access.
pub(crate) use llvm_sys::LLVMAtomicOrdering as Ordering;

/// An empty name: LLVM numbers the value itself.
const UNNAMED: *const std::ffi::c_char = c"".as_ptr();

/// Instructions with two operands of one type.
macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident $function:ident;)*) => {
        $($(#[$doc])*
        pub(crate) fn $name(&self, a: Value<'c>, b: Value<'c>) -> Value<'c> {
            // SAFETY: the builder stands in a block of a living module, and so do its operands.
            Value::new(unsafe { $function(self.raw, a.raw, b.raw, UNNAMED) })
        })*
    };
}

/// Instructions with one operand.
macro_rules! unary {
    ($($name:ident $function:ident;)*) => {
        $(pub(crate) fn $name(&self, a: Value<'c>) -> Value<'c> {
            // SAFETY: as for the binary ones.
            Value::new(unsafe { $function(self.raw, a.raw, UNNAMED) })
        })*
    };
}

/// Conversions to a type.
macro_rules! conversion {
    ($($name:ident $function:ident;)*) => {
        $(pub(crate) fn $name(&self, a: Value<'c>, ty: Ty<'c>) -> Value<'c> {
            if a.ty() == ty {
                return a;
            }
            // SAFETY: as for the binary ones.
            Value::new(unsafe { $function(self.raw, a.raw, ty.raw, UNNAMED) })
        })*
    };
}

impl<'c> Builder<'c> {
    pub(crate) fn new(context: &'c Context) -> Self {
        // SAFETY: the context outlives the builder.
        Self { raw: unsafe { LLVMCreateBuilderInContext(context.raw) }, context, is_beside: Cell::new(false) }
    }

    /// Goes on at the end of a block.
    pub(crate) fn position_at_end(&self, block: BasicBlock<'c>) {
        // SAFETY: the block is alive as long as its context.
        unsafe { LLVMPositionBuilderAtEnd(self.raw, block.raw) };
    }

    /// The block that instructions are appended to.
    pub(crate) fn block(&self) -> BasicBlock<'c> {
        // SAFETY: the lowering positions the builder before it emits anything.
        BasicBlock::new(unsafe { LLVMGetInsertBlock(self.raw) })
    }

    binary! {
        add LLVMBuildAdd;
        sub LLVMBuildSub;
        mul LLVMBuildMul;
        /// The divisor is neither zero nor -1 with the least dividend.
        sdiv LLVMBuildSDiv;
        /// The divisor is not zero.
        udiv LLVMBuildUDiv;
        /// The divisor is neither zero nor -1 with the least dividend.
        srem LLVMBuildSRem;
        /// The divisor is not zero.
        urem LLVMBuildURem;
        and LLVMBuildAnd;
        or LLVMBuildOr;
        xor LLVMBuildXor;
        /// The amount is less than the width.
        shl LLVMBuildShl;
        /// The amount is less than the width.
        lshr LLVMBuildLShr;
        /// The amount is less than the width.
        ashr LLVMBuildAShr;
        fadd LLVMBuildFAdd;
        fsub LLVMBuildFSub;
        fmul LLVMBuildFMul;
        fdiv LLVMBuildFDiv;
    }

    unary! {
        not LLVMBuildNot;
        neg LLVMBuildNeg;
        fneg LLVMBuildFNeg;
        freeze LLVMBuildFreeze;
    }

    conversion! {
        trunc LLVMBuildTrunc;
        zext LLVMBuildZExt;
        sext LLVMBuildSExt;
        fptrunc LLVMBuildFPTrunc;
        fpext LLVMBuildFPExt;
        fptosi LLVMBuildFPToSI;
        fptoui LLVMBuildFPToUI;
        sitofp LLVMBuildSIToFP;
        uitofp LLVMBuildUIToFP;
        bitcast LLVMBuildBitCast;
        ptr_to_int LLVMBuildPtrToInt;
        int_to_ptr LLVMBuildIntToPtr;
    }

    pub(crate) fn icmp(&self, predicate: LLVMIntPredicate, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        // SAFETY: as for the binary ones.
        Value::new(unsafe { LLVMBuildICmp(self.raw, predicate, a.raw, b.raw, UNNAMED) })
    }

    pub(crate) fn fcmp(&self, predicate: LLVMRealPredicate, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        // SAFETY: as for the binary ones.
        Value::new(unsafe { LLVMBuildFCmp(self.raw, predicate, a.raw, b.raw, UNNAMED) })
    }

    pub(crate) fn select(&self, condition: Value<'c>, yes: Value<'c>, no: Value<'c>) -> Value<'c> {
        // SAFETY: as for the binary ones.
        Value::new(unsafe { LLVMBuildSelect(self.raw, condition.raw, yes.raw, no.raw, UNNAMED) })
    }

    /// An element of a vector with a power of two of them. Where the index is none of theirs, it is any of them: LLVM may compute
    /// it where nobody asks for it, and takes an index that is known not to be needed from anywhere.
    pub(crate) fn extract_element(&self, vector: Value<'c>, index: Value<'c>) -> Value<'c> {
        let index = match vector.ty().lanes() {
            Some(lanes) if !index.is_constant() => {
                self.and(self.freeze(index), index.ty().constant(u64::from(lanes) - 1))
            }
            _ => index,
        };
        // SAFETY: as for the binary ones.
        Value::new(unsafe { LLVMBuildExtractElement(self.raw, vector.raw, index.raw, UNNAMED) })
    }

    pub(crate) fn insert_element(&self, vector: Value<'c>, element: Value<'c>, index: Value<'c>) -> Value<'c> {
        // SAFETY: as for the binary ones.
        Value::new(unsafe { LLVMBuildInsertElement(self.raw, vector.raw, element.raw, index.raw, UNNAMED) })
    }

    /// The elements of two vectors in a constant order.
    pub(crate) fn shuffle(&self, a: Value<'c>, b: Value<'c>, order: &[u32]) -> Value<'c> {
        let int = self.context.int(32);
        let order: Vec<_> = order.iter().map(|&index| int.constant(index.into())).collect();
        let order = Value::vector_constant(&order);
        // SAFETY: as for the binary ones; the order is constant.
        Value::new(unsafe { LLVMBuildShuffleVector(self.raw, a.raw, b.raw, order.raw, UNNAMED) })
    }

    /// The same value in all lanes.
    pub(crate) fn splat(&self, scalar: Value<'c>, lanes: u32) -> Value<'c> {
        let vector = scalar.ty().vector(lanes);
        let first = self.insert_element(vector.poison(), scalar, self.context.int(32).constant(0));
        self.shuffle(first, vector.poison(), &vec![0; lanes as usize])
    }

    pub(crate) fn extract_value(&self, aggregate: Value<'c>, index: u32) -> Value<'c> {
        // SAFETY: the callers know the structure.
        Value::new(unsafe { LLVMBuildExtractValue(self.raw, aggregate.raw, index, UNNAMED) })
    }

    /// Room on the stack. Only in the first block of a function.
    pub(crate) fn alloca(&self, ty: Ty<'c>, align: u32) -> Value<'c> {
        // SAFETY: all types of the lowering have a size.
        unsafe {
            let raw = LLVMBuildAlloca(self.raw, ty.raw, UNNAMED);
            LLVMSetAlignment(raw, align);
            Value::new(raw)
        }
    }

    pub(crate) fn load(&self, ty: Ty<'c>, pointer: Value<'c>, align: u32) -> Value<'c> {
        // SAFETY: as for the binary ones.
        unsafe {
            let raw = LLVMBuildLoad2(self.raw, ty.raw, pointer.raw, UNNAMED);
            LLVMSetAlignment(raw, align);
            Value::new(raw)
        }
    }

    pub(crate) fn store(&self, value: Value<'c>, pointer: Value<'c>, align: u32) {
        self.stored(Value::new(self.raw_store(value, pointer, align, false)));
    }

    fn raw_store(&self, value: Value<'c>, pointer: Value<'c>, align: u32, is_volatile: bool) -> LLVMValueRef {
        // SAFETY: as for the binary ones.
        unsafe {
            let raw = LLVMBuildStore(self.raw, value.raw, pointer.raw);
            LLVMSetAlignment(raw, align);
            LLVMSetVolatile(raw, is_volatile.into());
            raw
        }
    }

    /// Says whether what is loaded and stored from now on is memory that the program does not access.
    pub(crate) fn set_beside(&self, is_beside: bool) {
        self.is_beside.set(is_beside);
    }

    /// A store, or a call that stores, to the program's memory or to that beside it.
    pub(crate) fn stored(&self, store: Value<'c>) {
        if self.is_beside.get() {
            self.annotate(store.raw, "alias.scope", self.scopes());
        }
    }

    /// Loads what does not change while the function runs.
    pub(crate) fn invariant_load(&self, ty: Ty<'c>, pointer: Value<'c>, align: u32) -> Value<'c> {
        let value = self.load(ty, pointer, align);
        self.annotate(value.raw, "invariant.load", self.node(&mut []));
        value
    }

    /// A load of the program's memory, or a call that loads it: not what `store_beside` writes. Or of memory beside it.
    pub(crate) fn beside(&self, load: Value<'c>) -> Value<'c> {
        let kind = if self.is_beside.get() { "alias.scope" } else { "noalias" };
        self.annotate(load.raw, kind, self.scopes());
        load
    }

    /// Writes what loads of the program's memory do not read, nor any other instruction that LLVM knows of.
    pub(crate) fn store_beside(&self, value: Value<'c>, pointer: Value<'c>, align: u32) {
        let store = self.raw_store(value, pointer, align, true);
        self.annotate(store, "alias.scope", self.scopes());
    }

    /// A list of one scope of LLVM's aliases, which is the device's own memory.
    fn scopes(&self) -> LLVMMetadataRef {
        let domain = self.node(&mut [self.string("device")]);
        let scope = self.node(&mut [self.string("own"), domain]);
        self.node(&mut [scope])
    }

    fn string(&self, text: &str) -> LLVMMetadataRef {
        // SAFETY: pointer and length describe the text, which is copied.
        unsafe { LLVMMDStringInContext2(self.context.raw, text.as_ptr().cast(), text.len()) }
    }

    fn node(&self, elements: &mut [LLVMMetadataRef]) -> LLVMMetadataRef {
        // SAFETY: pointer and length describe the elements, which are of the context and are copied.
        unsafe { LLVMMDNodeInContext2(self.context.raw, elements.as_mut_ptr(), elements.len()) }
    }

    /// Says more of an instruction.
    fn annotate(&self, instruction: LLVMValueRef, kind: &str, node: LLVMMetadataRef) {
        // SAFETY: the instruction and the node are of the context; pointer and length describe the name.
        unsafe {
            let kind = LLVMGetMDKindIDInContext(self.context.raw, kind.as_ptr().cast(), kind.len() as u32);
            LLVMSetMetadata(instruction, kind, LLVMMetadataAsValue(self.context.raw, node));
        }
    }

    /// An access that is neither merged nor moved.
    pub(crate) fn volatile_load(&self, ty: Ty<'c>, pointer: Value<'c>, align: u32) -> Value<'c> {
        let value = self.load(ty, pointer, align);
        // SAFETY: it is a load.
        unsafe { LLVMSetVolatile(value.raw, 1) };
        value
    }

    /// An access that is neither merged nor moved.
    pub(crate) fn volatile_store(&self, value: Value<'c>, pointer: Value<'c>, align: u32) {
        self.raw_store(value, pointer, align, true);
    }

    /// `pointer + offset` in bytes; a vector of pointers if either is a vector.
    pub(crate) fn offset(&self, pointer: Value<'c>, offset: Value<'c>) -> Value<'c> {
        let mut indices = [offset.raw];
        let byte = self.context.int(8);
        // SAFETY: as for the binary ones; pointer and length describe `indices`.
        Value::new(unsafe { LLVMBuildGEP2(self.raw, byte.raw, pointer.raw, indices.as_mut_ptr(), 1, UNNAMED) })
    }

    pub(crate) fn call(&self, function: FunctionValue<'c>, args: &[Value<'c>]) -> Value<'c> {
        self.call_pointer(function.ty, function.value, args)
    }

    pub(crate) fn call_pointer(&self, ty: Ty<'c>, callee: Value<'c>, args: &[Value<'c>]) -> Value<'c> {
        let mut raw: Vec<_> = args.iter().map(|arg| arg.raw).collect();
        // SAFETY: the arguments fit the type, which LLVM's verifier checks.
        Value::new(unsafe { LLVMBuildCall2(self.raw, ty.raw, callee.raw, raw.as_mut_ptr(), raw.len() as u32, UNNAMED) })
    }

    /// Calls an intrinsic function, for the types that its name leaves open.
    pub(crate) fn intrinsic(
        &self,
        module: &Module<'c>,
        name: &str,
        overloads: &[Ty<'c>],
        args: &[Value<'c>],
    ) -> Value<'c> {
        self.call(module.intrinsic(name, overloads), args)
    }

    /// A text among the arguments of an intrinsic, such as a rounding mode.
    pub(crate) fn metadata_text(&self, text: &str) -> Value<'c> {
        // SAFETY: the text is copied.
        unsafe {
            let metadata = LLVMMDStringInContext2(self.context.raw, text.as_ptr().cast(), text.len());
            Value::new(LLVMMetadataAsValue(self.context.raw, metadata))
        }
    }

    /// Calls an intrinsic whose result depends on the rounding mode of the processor.
    pub(crate) fn strict_intrinsic(
        &self,
        module: &Module<'c>,
        name: &str,
        overloads: &[Ty<'c>],
        args: &[Value<'c>],
    ) -> Value<'c> {
        let call = self.intrinsic(module, name, overloads, args);
        let name = "strictfp";
        // SAFETY: the attribute exists and takes no value.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            let attribute = LLVMCreateEnumAttribute(self.context.raw, kind, 0);
            LLVMAddCallSiteAttribute(call.raw, llvm_sys::LLVMAttributeFunctionIndex, attribute);
        }
        call
    }

    /// A value that fits a vector register, of which LLVM does not know where it is from.
    pub(crate) fn opaque(&self, value: Value<'c>) -> Value<'c> {
        let mut params = [value.ty().raw];
        // SAFETY: a function type with one parameter, which is copied.
        let ty = Ty::new(unsafe { LLVMFunctionType(value.ty().raw, params.as_mut_ptr(), 1, 0) });
        self.call_asm(ty, "", "=v,0", &[value], false)
    }

    /// Assembler text that LLVM may neither remove nor move other side effects across.
    pub(crate) fn inline_asm(&self, ty: Ty<'c>, text: &str, constraints: &str, args: &[Value<'c>]) -> Value<'c> {
        self.call_asm(ty, text, constraints, args, true)
    }

    fn call_asm(&self, ty: Ty<'c>, text: &str, constraints: &str, args: &[Value<'c>], has_effects: bool) -> Value<'c> {
        // SAFETY: both texts are copied.
        let callee = Value::new(unsafe {
            LLVMGetInlineAsm(
                ty.raw,
                text.as_ptr().cast(),
                text.len(),
                constraints.as_ptr().cast(),
                constraints.len(),
                has_effects.into(),
                0,
                LLVMInlineAsmDialect::LLVMInlineAsmDialectATT,
                0,
            )
        });
        self.call_pointer(ty, callee, args)
    }

    /// Keeps the compiler, but not the processor, from moving memory accesses across.
    pub(crate) fn compiler_fence(&self) {
        // SAFETY: a function type without parameters.
        let ty = Ty::new(unsafe { LLVMFunctionType(self.context.void().raw, std::ptr::null_mut(), 0, 0) });
        self.inline_asm(ty, "", "~{memory}", &[]);
    }

    pub(crate) fn branch(&self, target: BasicBlock<'c>) {
        // SAFETY: the block belongs to the same function.
        unsafe { LLVMBuildBr(self.raw, target.raw) };
    }

    pub(crate) fn branch_if(&self, condition: Value<'c>, yes: BasicBlock<'c>, no: BasicBlock<'c>) {
        // SAFETY: the blocks belong to the same function.
        unsafe { LLVMBuildCondBr(self.raw, condition.raw, yes.raw, no.raw) };
    }

    pub(crate) fn switch(&self, value: Value<'c>, otherwise: BasicBlock<'c>, cases: &[(u64, BasicBlock<'c>)]) {
        // SAFETY: the blocks belong to the same function; the cases are constants of the value's type.
        unsafe {
            let switch = LLVMBuildSwitch(self.raw, value.raw, otherwise.raw, cases.len() as u32);
            for &(case, target) in cases {
                LLVMAddCase(switch, value.ty().constant(case).raw, target.raw);
            }
        }
    }

    /// The end of a block that is never reached.
    pub(crate) fn unreachable(&self) {
        // SAFETY: the builder stands at the end of a block.
        unsafe { LLVMBuildUnreachable(self.raw) };
    }

    pub(crate) fn ret(&self, value: Option<Value<'c>>) {
        // SAFETY: the value fits the result type, which LLVM's verifier checks.
        unsafe {
            match value {
                Some(value) => LLVMBuildRet(self.raw, value.raw),
                None => LLVMBuildRetVoid(self.raw),
            };
        }
    }

    pub(crate) fn phi(&self, ty: Ty<'c>, incoming: &[(Value<'c>, BasicBlock<'c>)]) -> Value<'c> {
        // SAFETY: as for `branch`.
        let phi = Value::new(unsafe { LLVMBuildPhi(self.raw, ty.raw, UNNAMED) });
        self.add_incoming(phi, incoming);
        phi
    }

    pub(crate) fn add_incoming(&self, phi: Value<'c>, incoming: &[(Value<'c>, BasicBlock<'c>)]) {
        let mut values: Vec<_> = incoming.iter().map(|(value, _)| value.raw).collect();
        let mut blocks: Vec<_> = incoming.iter().map(|(_, block)| block.raw).collect();
        // SAFETY: both arrays have the length given.
        unsafe { LLVMAddIncoming(phi.raw, values.as_mut_ptr(), blocks.as_mut_ptr(), values.len() as u32) };
    }

    pub(crate) fn atomic_rmw(
        &self,
        op: LLVMAtomicRMWBinOp,
        pointer: Value<'c>,
        value: Value<'c>,
        ordering: LLVMAtomicOrdering,
    ) -> Value<'c> {
        // SAFETY: as for the binary ones.
        Value::new(unsafe { LLVMBuildAtomicRMW(self.raw, op, pointer.raw, value.raw, ordering, 0) })
    }

    /// The old value, and whether it was as expected.
    pub(crate) fn compare_exchange(
        &self,
        pointer: Value<'c>,
        expected: Value<'c>,
        new: Value<'c>,
    ) -> (Value<'c>, Value<'c>) {
        let ordering = LLVMAtomicOrdering::LLVMAtomicOrderingSequentiallyConsistent;
        // SAFETY: as for the binary ones.
        let pair = Value::new(unsafe {
            LLVMBuildAtomicCmpXchg(self.raw, pointer.raw, expected.raw, new.raw, ordering, ordering, 0)
        });
        (self.extract_value(pair, 0), self.extract_value(pair, 1))
    }

    pub(crate) fn fence(&self, ordering: LLVMAtomicOrdering) {
        // SAFETY: as for the binary ones.
        unsafe { LLVMBuildFence(self.raw, ordering, 0, UNNAMED) };
    }
}

impl Drop for Builder<'_> {
    fn drop(&mut self) {
        // SAFETY: the builder is ours.
        unsafe { LLVMDisposeBuilder(self.raw) };
    }
}
