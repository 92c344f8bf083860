//! The meaning of PTX operations in LLVM instructions.
//!
//! Everything here is written once for one lane and for many: an [`Emit`] has a shape, and its operands are scalars or
//! vectors of that shape. Nothing here knows of registers, masks or statements; those are the business of `lower`.
//!
//! Two rules hold throughout. **No result is poison or undefined**, whatever the operands: shifts past the width, division
//! by zero and conversions out of range have the results that PTX (or the hardware, where PTX leaves it open) gives
//! them. **Lanes do not depend on each other**, so that garbage in a lane that is not active stays there.

mod approx;
mod bits;
mod compare;
mod convert;
mod division;
mod float;
mod half;
mod integer;
mod rounding;
mod small_float;
mod video;

pub(crate) use approx::Approximation;
pub(crate) use compare::Comparison;
pub(crate) use convert::{FloatFormat, IntegerRounding};
pub(crate) use float::{FloatStyle, MinMax};
pub(crate) use rounding::{Arithmetic, Rounding};
pub(crate) use small_float::SmallFormat;
pub(crate) use video::VideoOp;

use crate::llvm::{Builder, Context, IntPredicate, Module, Ty, TyKind, Value};

/// Emits operations for one lane or for all lanes of a warp.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Emit<'a, 'c> {
    pub(crate) module: &'a Module<'c>,
    pub(crate) builder: &'a Builder<'c>,
    /// The number of lanes; nothing for scalars.
    pub(crate) lanes: Option<u32>,
}

/// How an integer is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sign {
    /// From 0.
    Unsigned,
    /// Two's complement.
    Signed,
}

impl<'c> std::ops::Deref for Emit<'_, 'c> {
    type Target = Builder<'c>;

    fn deref(&self) -> &Builder<'c> {
        self.builder
    }
}

impl<'a, 'c> Emit<'a, 'c> {
    pub(crate) fn context(&self) -> &'c Context {
        self.module.context()
    }

    /// The same for scalars.
    pub(crate) fn scalar(self) -> Self {
        Self { lanes: None, ..self }
    }

    /// A type in the shape.
    pub(crate) fn shaped(&self, ty: Ty<'c>) -> Ty<'c> {
        match self.lanes {
            Some(lanes) => ty.vector(lanes),
            None => ty,
        }
    }

    /// Integers of this many bits.
    pub(crate) fn int(&self, bits: u32) -> Ty<'c> {
        self.shaped(self.context().int(bits))
    }

    /// Predicates, and masks of lanes.
    pub(crate) fn bool(&self) -> Ty<'c> {
        self.int(1)
    }

    /// `float` in the shape.
    pub(crate) fn f32(&self) -> Ty<'c> {
        self.shaped(self.context().float())
    }

    /// `double` in the shape.
    pub(crate) fn f64(&self) -> Ty<'c> {
        self.shaped(self.context().double())
    }

    /// The same bits as an integer.
    #[allow(clippy::wrong_self_convention, reason = "it is the operand that is converted")]
    pub(crate) fn to_bits(&self, value: Value<'c>) -> Value<'c> {
        let ty = value.ty();
        match ty.kind() {
            TyKind::Int(_) => value,
            _ => self.bitcast(value, ty.with_element(self.context().int(ty.bits()))),
        }
    }

    /// A call of an intrinsic that is overloaded on one type.
    pub(crate) fn call1(&self, name: &str, ty: Ty<'c>, args: &[Value<'c>]) -> Value<'c> {
        self.builder.intrinsic(self.module, name, &[ty], args)
    }

    /// A scalar for all lanes; in scalar shape, itself.
    pub(crate) fn broadcast(&self, scalar: Value<'c>) -> Value<'c> {
        match self.lanes {
            // LLVM moves a mask of equal bits through vectors.
            Some(lanes) if scalar.ty().lanes().is_none() && scalar.ty().bits() == 1 => {
                let mask = scalar.ty().vector(lanes);
                self.builder.select(scalar, mask.all_ones(), mask.zero())
            }
            Some(lanes) if scalar.ty().lanes().is_none() => self.builder.splat(scalar, lanes),
            _ => scalar,
        }
    }

    pub(crate) fn equal(&self, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.icmp(IntPredicate::LLVMIntEQ, a, b)
    }

    pub(crate) fn not_equal(&self, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.icmp(IntPredicate::LLVMIntNE, a, b)
    }

    pub(crate) fn is_zero(&self, a: Value<'c>) -> Value<'c> {
        self.equal(a, a.ty().zero())
    }

    pub(crate) fn is_not_zero(&self, a: Value<'c>) -> Value<'c> {
        self.not_equal(a, a.ty().zero())
    }

    pub(crate) fn less(&self, sign: Sign, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        let predicate = match sign {
            Sign::Unsigned => IntPredicate::LLVMIntULT,
            Sign::Signed => IntPredicate::LLVMIntSLT,
        };
        self.icmp(predicate, a, b)
    }

    /// An integer in more or fewer bits.
    pub(crate) fn resize(&self, sign: Sign, value: Value<'c>, bits: u32) -> Value<'c> {
        let ty = value.ty().with_element(self.context().int(bits));
        match value.ty().bits().cmp(&bits) {
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Greater => self.trunc(value, ty),
            std::cmp::Ordering::Less if sign == Sign::Signed => self.sext(value, ty),
            std::cmp::Ordering::Less => self.zext(value, ty),
        }
    }

    /// The same, of which LLVM does not know how it was computed. Of vectors of words for registers of 512 bits; others stay
    /// as they are.
    pub(crate) fn opaque(&self, value: Value<'c>) -> Value<'c> {
        let (bits, lanes) = (value.ty().bits(), value.ty().lanes().unwrap_or(1));
        if !matches!(bits, 32 | 64) || !(bits * lanes).is_multiple_of(512) {
            return value;
        }
        let each = 512 / bits;
        let parts: Vec<_> = (0..lanes / each)
            .map(|part| {
                let part = self.lanes_from(value, part * each, each);
                self.builder.opaque(part)
            })
            .collect();
        self.beside_each_other(&parts)
    }

    /// Some lanes of a vector, from the first on.
    pub(crate) fn lanes_from(&self, vector: Value<'c>, first: u32, count: u32) -> Value<'c> {
        let order: Vec<u32> = (first..first + count).collect();
        self.shuffle(vector, vector, &order)
    }

    /// Vectors of as many lanes, beside each other; their number is a power of two.
    pub(crate) fn beside_each_other(&self, vectors: &[Value<'c>]) -> Value<'c> {
        let mut vectors = vectors.to_vec();
        while vectors.len() > 1 {
            let pair = |pair: &[Value<'c>]| {
                let lanes = pair[0].ty().lanes().unwrap_or(1);
                let order: Vec<u32> = (0..2 * lanes).collect();
                self.shuffle(pair[0], pair[1], &order)
            };
            vectors = vectors.chunks(2).map(pair).collect();
        }
        vectors[0]
    }

    /// `value & constant`
    pub(crate) fn and_constant(&self, value: Value<'c>, constant: u64) -> Value<'c> {
        self.and(value, value.ty().constant(constant))
    }
}
