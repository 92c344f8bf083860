//! Contexts, types, values and blocks.

use std::marker::PhantomData;

use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

/// Owns all types and values. Nothing of it is shared between threads.
#[derive(Debug)]
pub(crate) struct Context {
    pub(super) raw: LLVMContextRef,
}

/// A type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ty<'c> {
    pub(super) raw: LLVMTypeRef,
    context: PhantomData<&'c Context>,
}

/// A value: an instruction, a constant, a parameter or a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Value<'c> {
    pub(super) raw: LLVMValueRef,
    context: PhantomData<&'c Context>,
}

/// A basic block of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BasicBlock<'c> {
    pub(super) raw: LLVMBasicBlockRef,
    pub(super) context: PhantomData<&'c Context>,
}

/// What a type is, as far as the lowering asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TyKind {
    /// An integer of this many bits.
    Int(u32),
    /// `half`
    Half,
    /// `bfloat`
    Bfloat,
    /// `float`
    Float,
    /// `double`
    Double,
    /// `ptr`
    Pointer,
    /// Anything else.
    Other,
}

impl Context {
    pub(crate) fn new() -> Self {
        // SAFETY: creating a context has no preconditions.
        Self { raw: unsafe { LLVMContextCreate() } }
    }

    pub(crate) fn int(&self, bits: u32) -> Ty<'_> {
        // SAFETY: the context is alive; the type lives as long.
        Ty::new(unsafe { LLVMIntTypeInContext(self.raw, bits) })
    }

    pub(crate) fn half(&self) -> Ty<'_> {
        // SAFETY: as for `int`.
        Ty::new(unsafe { LLVMHalfTypeInContext(self.raw) })
    }

    pub(crate) fn float(&self) -> Ty<'_> {
        // SAFETY: as for `int`.
        Ty::new(unsafe { LLVMFloatTypeInContext(self.raw) })
    }

    pub(crate) fn double(&self) -> Ty<'_> {
        // SAFETY: as for `int`.
        Ty::new(unsafe { LLVMDoubleTypeInContext(self.raw) })
    }

    pub(crate) fn pointer(&self) -> Ty<'_> {
        // SAFETY: as for `int`.
        Ty::new(unsafe { LLVMPointerTypeInContext(self.raw, 0) })
    }

    pub(crate) fn void(&self) -> Ty<'_> {
        // SAFETY: as for `int`.
        Ty::new(unsafe { LLVMVoidTypeInContext(self.raw) })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: everything made in the context borrows it, so nothing of it is left.
        unsafe { LLVMContextDispose(self.raw) };
    }
}

impl<'c> Ty<'c> {
    pub(super) fn new(raw: LLVMTypeRef) -> Self {
        Self { raw, context: PhantomData }
    }

    /// `<lanes x self>`
    pub(crate) fn vector(self, lanes: u32) -> Self {
        // SAFETY: element types of vectors are integers, floats and pointers, which is all that the lowering has.
        Self::new(unsafe { LLVMVectorType(self.raw, lanes) })
    }

    /// `[len x self]`
    pub(crate) fn array(self, len: u64) -> Self {
        // SAFETY: all types of the lowering have a size.
        Self::new(unsafe { LLVMArrayType2(self.raw, len) })
    }

    /// The type of an element of a vector; the type itself if it is none.
    pub(crate) fn element(self) -> Self {
        if self.lanes().is_some() {
            // SAFETY: it is a vector.
            Self::new(unsafe { LLVMGetElementType(self.raw) })
        } else {
            self
        }
    }

    /// The number of elements of a vector.
    pub(crate) fn lanes(self) -> Option<u32> {
        // SAFETY: the kind is asked before the size.
        unsafe {
            matches!(LLVMGetTypeKind(self.raw), LLVMTypeKind::LLVMVectorTypeKind).then(|| LLVMGetVectorSize(self.raw))
        }
    }

    /// The same number of elements, of another type.
    pub(crate) fn with_element(self, element: Ty<'c>) -> Self {
        match self.lanes() {
            Some(lanes) => element.vector(lanes),
            None => element,
        }
    }

    /// What the type, or the element of the vector, is.
    pub(crate) fn kind(self) -> TyKind {
        let element = self.element();
        // SAFETY: the width is asked of integers only.
        unsafe {
            match LLVMGetTypeKind(element.raw) {
                LLVMTypeKind::LLVMIntegerTypeKind => TyKind::Int(LLVMGetIntTypeWidth(element.raw)),
                LLVMTypeKind::LLVMHalfTypeKind => TyKind::Half,
                LLVMTypeKind::LLVMBFloatTypeKind => TyKind::Bfloat,
                LLVMTypeKind::LLVMFloatTypeKind => TyKind::Float,
                LLVMTypeKind::LLVMDoubleTypeKind => TyKind::Double,
                LLVMTypeKind::LLVMPointerTypeKind => TyKind::Pointer,
                _ => TyKind::Other,
            }
        }
    }

    /// Bits of a number, or of each element.
    pub(crate) fn bits(self) -> u32 {
        match self.kind() {
            TyKind::Int(bits) => bits,
            TyKind::Half | TyKind::Bfloat => 16,
            TyKind::Float => 32,
            TyKind::Double | TyKind::Pointer => 64,
            TyKind::Other => panic!("only numbers have a width"),
        }
    }

    /// A constant; of a vector type, the same in all lanes.
    pub(crate) fn constant(self, value: u64) -> Value<'c> {
        // SAFETY: the element is an integer, which the width proves.
        let scalar = Value::new(unsafe { LLVMConstInt(self.element().raw, value, 0) });
        self.splat_constant(scalar)
    }

    /// A constant of more than 64 bits.
    pub(crate) fn wide_constant(self, value: u128) -> Value<'c> {
        let words = [value as u64, (value >> 64) as u64];
        // SAFETY: the words are read before the call returns.
        let scalar = Value::new(unsafe { LLVMConstIntOfArbitraryPrecision(self.element().raw, 2, words.as_ptr()) });
        self.splat_constant(scalar)
    }

    /// A floating-point constant; of a vector type, the same in all lanes.
    pub(crate) fn float_constant(self, value: f64) -> Value<'c> {
        // SAFETY: the element is a floating-point type, which the callers choose.
        let scalar = Value::new(unsafe { LLVMConstReal(self.element().raw, value) });
        self.splat_constant(scalar)
    }

    fn splat_constant(self, scalar: Value<'c>) -> Value<'c> {
        match self.lanes() {
            Some(lanes) => Value::vector_constant(&vec![scalar; lanes as usize]),
            None => scalar,
        }
    }

    /// All bits zero.
    pub(crate) fn zero(self) -> Value<'c> {
        // SAFETY: every first-class type has a null value.
        Value::new(unsafe { LLVMConstNull(self.raw) })
    }

    /// All bits one.
    pub(crate) fn all_ones(self) -> Value<'c> {
        // SAFETY: only asked of integers and vectors of them.
        Value::new(unsafe { LLVMConstAllOnes(self.raw) })
    }

    /// A value that does not matter. Used only as the start of `insertelement` chains that fill every lane, and for
    /// lanes that a mask hides.
    pub(crate) fn poison(self) -> Value<'c> {
        // SAFETY: every first-class type has one.
        Value::new(unsafe { LLVMGetPoison(self.raw) })
    }
}

impl<'c> Value<'c> {
    pub(super) fn new(raw: LLVMValueRef) -> Self {
        Self { raw, context: PhantomData }
    }

    pub(crate) fn ty(self) -> Ty<'c> {
        // SAFETY: the value is alive as long as its context.
        Ty::new(unsafe { LLVMTypeOf(self.raw) })
    }

    /// A vector of constants.
    pub(crate) fn vector_constant(elements: &[Value<'c>]) -> Self {
        let mut raw: Vec<_> = elements.iter().map(|element| element.raw).collect();
        // SAFETY: the elements are constants of one type.
        Self::new(unsafe { LLVMConstVector(raw.as_mut_ptr(), raw.len() as u32) })
    }

    /// Whether all bits are known to be one.
    pub(crate) fn is_all_ones(self) -> bool {
        self == self.ty().all_ones()
    }

    /// Whether it is known.
    pub(crate) fn is_constant(self) -> bool {
        // SAFETY: the value is valid.
        unsafe { LLVMIsConstant(self.raw) != 0 }
    }

    /// The elements of a vector of constant integers.
    pub(crate) fn constant_elements(self) -> Option<Vec<u32>> {
        let lanes = self.ty().lanes()?;
        // SAFETY: the kind is asked first; elements of constant vectors are constants.
        unsafe {
            if LLVMIsConstant(self.raw) == 0 || LLVMIsAConstantDataVector(self.raw).is_null() {
                return None;
            }
            (0..lanes)
                .map(|lane| {
                    let element = LLVMGetAggregateElement(self.raw, lane);
                    Value::new(element).as_constant().map(|number| number as u32)
                })
                .collect()
        }
    }

    /// The number, if it is a constant that fits.
    pub(crate) fn as_constant(self) -> Option<u64> {
        // SAFETY: the kind is asked first.
        unsafe {
            let constant = LLVMIsAConstantInt(self.raw);
            (!constant.is_null() && LLVMGetIntTypeWidth(LLVMTypeOf(constant)) <= 64)
                .then(|| LLVMConstIntGetZExtValue(constant))
        }
    }
}

impl BasicBlock<'_> {
    pub(super) fn new(raw: LLVMBasicBlockRef) -> Self {
        Self { raw, context: PhantomData }
    }
}
