//! Arithmetic in all four rounding modes.
//!
//! Processors round to nearest. The instructions of AVX-512 for whole vectors have a rounding mode of their own; every `expf`
//! has an `fma.rm.f32`, so this is worth it.
//!
//! Elsewhere a register of the processor is switched, which costs tens of cycles and which LLVM cannot see: in a function of
//! its own, which LLVM neither inlines nor looks into. For the 32 lanes of a warp that is less than any other way.
//!
//! For one number of 32 bits, and for `fma` where the processor has none, another way is exact: compute in 64 bits, where the
//! result is exact or *rounded to odd* (cut off, with the last bit set if anything was lost), and round that once more
//! in the wanted mode. A number rounded to odd with two bits to spare rounds like the exact one (Boldo and Melquiond,
//! "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008).

use super::{Emit, Sign};
use crate::llvm::{Attribute, Builder, FloatPredicate, FunctionValue, Ty, Value};

/// How a result that is not representable is rounded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Rounding {
    /// `.rn`: to the nearest, to the even one of two that are as near.
    Nearest,
    /// `.rz`
    TowardZero,
    /// `.rm`
    Down,
    /// `.rp`
    Up,
}

/// An operation that IEEE 754 defines exactly.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Arithmetic {
    Add,
    Sub,
    Mul,
    Div,
    Sqrt,
    Fma,
}

impl<'c> Emit<'_, 'c> {
    /// An operation on numbers of 32 or 64 bits.
    pub(crate) fn arithmetic(&self, op: Arithmetic, rounding: Rounding, args: &[Value<'c>]) -> Value<'c> {
        let ty = args[0].ty();
        let has_instruction = op != Arithmetic::Fma || self.module.has_fma;
        match rounding {
            Rounding::Nearest => self.nearest(op, args),
            _ if self.lanes.is_some() && self.module.has_avx512 => self.in_own_mode(op, rounding, args),
            _ if ty.bits() == 64 || self.lanes.is_some() && has_instruction => {
                self.call(self.in_mode(op, rounding, ty), args)
            }
            _ => {
                let wide: Vec<_> = args.iter().map(|&arg| self.fpext(arg, self.f64())).collect();
                let exact = self.rounded_to_odd(op, &wide);
                let exact = if rounding == Rounding::Down { self.zero_when_down(op, &wide, exact) } else { exact };
                self.round_double(exact, rounding)
            }
        }
    }

    /// An operation on vectors by instructions of AVX-512.
    fn in_own_mode(&self, op: Arithmetic, rounding: Rounding, args: &[Value<'c>]) -> Value<'c> {
        let ty = args[0].ty();
        let name = match op {
            Arithmetic::Add => "add",
            Arithmetic::Sub => "sub",
            Arithmetic::Mul => "mul",
            Arithmetic::Div => "div",
            Arithmetic::Sqrt => "sqrt",
            Arithmetic::Fma => "vfmadd",
        };
        let (kind, lanes) = if ty.bits() == 32 { ("ps", 16) } else { ("pd", 8) };
        let name = format!("llvm.x86.avx512.{name}.{kind}.512");
        // As the instruction encodes them, with 8 for not raising exceptions.
        let mode = match rounding {
            Rounding::Nearest => 8,
            Rounding::Down => 9,
            Rounding::Up => 10,
            Rounding::TowardZero => 11,
        };
        self.in_parts(&name, lanes, args, |_| vec![self.context().int(32).constant(mode)])
    }

    /// An intrinsic of the processor, for so many lanes at a time, with arguments of its own after those that have lanes.
    pub(super) fn in_parts(
        &self,
        name: &str,
        lanes: u32,
        args: &[Value<'c>],
        own: impl Fn(Ty<'c>) -> Vec<Value<'c>>,
    ) -> Value<'c> {
        let all = args[0].ty().lanes().expect("there are vectors");
        let parts = (0..all).step_by(lanes as usize).map(|first| {
            let mut args: Vec<Value<'c>> = args.iter().map(|&arg| self.lanes_from(arg, first, lanes)).collect();
            args.extend(own(args[0].ty()));
            self.intrinsic(self.module, name, &[], &args)
        });
        self.beside_each_other(&parts.collect::<Vec<_>>())
    }

    /// An operation, rounded to nearest.
    fn nearest(&self, op: Arithmetic, args: &[Value<'c>]) -> Value<'c> {
        match op {
            Arithmetic::Add => self.fadd(args[0], args[1]),
            Arithmetic::Sub => self.fsub(args[0], args[1]),
            Arithmetic::Mul => self.fmul(args[0], args[1]),
            Arithmetic::Div => self.fdiv(args[0], args[1]),
            Arithmetic::Sqrt => self.call1("llvm.sqrt", args[0].ty(), args),
            Arithmetic::Fma => self.call1("llvm.fma", args[0].ty(), args),
        }
    }

    /// An operation on doubles that hold numbers of at most 32 bits, exact or rounded to odd.
    pub(crate) fn rounded_to_odd(&self, op: Arithmetic, args: &[Value<'c>]) -> Value<'c> {
        match op {
            Arithmetic::Add => self.add_to_odd(args[0], args[1]),
            Arithmetic::Sub => self.add_to_odd(args[0], self.fneg(args[1])),
            // 48 bits: exact.
            Arithmetic::Mul => self.fmul(args[0], args[1]),
            Arithmetic::Fma => self.add_to_odd(self.fmul(args[0], args[1]), args[2]),
            Arithmetic::Div => {
                let quotient = self.fdiv(args[0], args[1]);
                // a - q·b has the sign of the error times that of b.
                let rest = self.nearest(Arithmetic::Fma, &[self.fneg(quotient), args[1], args[0]]);
                let error = self.fmul(rest, self.copysign(self.f64().float_constant(1.0), args[1]));
                self.sticky(quotient, error)
            }
            Arithmetic::Sqrt => {
                let root = self.nearest(Arithmetic::Sqrt, args);
                let rest = self.nearest(Arithmetic::Fma, &[self.fneg(root), root, args[0]]);
                self.sticky(root, rest)
            }
        }
    }

    /// A sum of zero is negative when rounding down, unless both summands are positive.
    fn zero_when_down(&self, op: Arithmetic, args: &[Value<'c>], exact: Value<'c>) -> Value<'c> {
        let [a, b] = match op {
            Arithmetic::Add => [args[0], args[1]],
            Arithmetic::Sub => [args[0], self.fneg(args[1])],
            Arithmetic::Fma => [self.fmul(args[0], args[1]), args[2]],
            _ => return exact,
        };
        let signs = self.or(self.to_bits(a), self.to_bits(b));
        let zero = self.copysign(exact.ty().zero(), self.bitcast(signs, exact.ty()));
        let is_zero = self.fcmp(FloatPredicate::LLVMRealOEQ, exact, exact.ty().zero());
        self.select(is_zero, zero, exact)
    }

    /// The sum of two doubles, rounded to odd.
    pub(crate) fn add_to_odd(&self, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        let (sum, error) = self.two_sum(a, b);
        self.sticky(sum, error)
    }

    /// The sum of two doubles and its exact error (Knuth).
    pub(crate) fn two_sum(&self, a: Value<'c>, b: Value<'c>) -> (Value<'c>, Value<'c>) {
        let sum = self.fadd(a, b);
        let b_part = self.fsub(sum, a);
        let a_part = self.fsub(sum, b_part);
        (sum, self.fadd(self.fsub(a, a_part), self.fsub(b, b_part)))
    }

    /// `rounded + error`, rounded to odd, where `rounded` is the nearest. The error may be scaled; it is not a number where
    /// the result is infinite, and then nothing changes.
    fn sticky(&self, rounded: Value<'c>, error: Value<'c>) -> Value<'c> {
        let zero = error.ty().zero();
        let is_exact = self.fcmp(FloatPredicate::LLVMRealUEQ, error, zero);
        // Where error and result have different signs, the exact value is nearer to zero.
        let bits = self.to_bits(rounded);
        let signs = self.xor(bits, self.to_bits(error));
        let is_less = self.less(Sign::Signed, signs, signs.ty().zero());
        let cut = self.select(is_less, self.sub(bits, bits.ty().constant(1)), bits);
        let odd = self.bitcast(self.or(cut, cut.ty().constant(1)), rounded.ty());
        self.select(is_exact, rounded, odd)
    }

    /// A double as a number of 32 bits.
    pub(crate) fn round_double(&self, value: Value<'c>, rounding: Rounding) -> Value<'c> {
        let nearest = self.fptrunc(value, self.f32());
        let back = self.fpext(nearest, self.f64());
        let bits = self.step(self.to_bits(nearest), back, value, rounding);
        self.bitcast(bits, self.f32())
    }

    /// A double as a number of 32 bits, rounded to odd.
    pub(crate) fn round_double_to_odd(&self, value: Value<'c>) -> Value<'c> {
        let nearest = self.fptrunc(value, self.f32());
        let back = self.fpext(nearest, self.f64());
        let bits = self.to_bits(nearest);
        let is_exact = self.fcmp(FloatPredicate::LLVMRealUEQ, back, value);
        let is_more = self.fcmp(FloatPredicate::LLVMRealOGT, self.fabs(back), self.fabs(value));
        let cut = self.select(is_more, self.sub(bits, bits.ty().constant(1)), bits);
        let bits = self.select(is_exact, bits, self.or(cut, cut.ty().constant(1)));
        self.bitcast(bits, self.f32())
    }

    /// The bits of the number nearest to `exact`, which is worth `back`, moved to its neighbour where the mode says so.
    pub(crate) fn step(&self, bits: Value<'c>, back: Value<'c>, exact: Value<'c>, rounding: Rounding) -> Value<'c> {
        let one = bits.ty().constant(1);
        let is_negative = self.less(Sign::Signed, bits, bits.ty().zero());
        match rounding {
            Rounding::Nearest => bits,
            Rounding::TowardZero => {
                let is_more = self.fcmp(FloatPredicate::LLVMRealOGT, self.fabs(back), self.fabs(exact));
                self.select(is_more, self.sub(bits, one), bits)
            }
            Rounding::Down => {
                let is_above = self.fcmp(FloatPredicate::LLVMRealOGT, back, exact);
                let below = self.select(is_negative, self.add(bits, one), self.sub(bits, one));
                self.select(is_above, below, bits)
            }
            Rounding::Up => {
                let is_below = self.fcmp(FloatPredicate::LLVMRealOLT, back, exact);
                let above = self.select(is_negative, self.sub(bits, one), self.add(bits, one));
                self.select(is_below, above, bits)
            }
        }
    }

    /// `sum + error` of doubles as a double, where `sum` is the nearest.
    pub(crate) fn round_pair(&self, sum: Value<'c>, error: Value<'c>, rounding: Rounding) -> Value<'c> {
        let zero = error.ty().zero();
        let bits = self.to_bits(sum);
        let one = bits.ty().constant(1);
        let is_negative = self.less(Sign::Signed, bits, bits.ty().zero());
        let nearer = self.select(is_negative, self.add(bits, one), self.sub(bits, one));
        let farther = self.select(is_negative, self.sub(bits, one), self.add(bits, one));
        let below = self.fcmp(FloatPredicate::LLVMRealOLT, error, zero);
        let above = self.fcmp(FloatPredicate::LLVMRealOGT, error, zero);
        let rounded = match rounding {
            Rounding::Nearest => bits,
            Rounding::Down => self.select(below, nearer, bits),
            Rounding::Up => self.select(above, farther, bits),
            Rounding::TowardZero => {
                let inward = self.select(is_negative, above, below);
                self.select(inward, self.sub(bits, one), bits)
            }
        };
        self.bitcast(rounded, sum.ty())
    }

    /// A function that switches the rounding mode of the processor for one operation.
    fn in_mode(&self, op: Arithmetic, rounding: Rounding, ty: Ty<'c>) -> FunctionValue<'c> {
        let (name, params) = match op {
            Arithmetic::Add => ("fadd", 2),
            Arithmetic::Sub => ("fsub", 2),
            Arithmetic::Mul => ("fmul", 2),
            Arithmetic::Div => ("fdiv", 2),
            Arithmetic::Sqrt => ("sqrt", 1),
            Arithmetic::Fma => ("fma", 3),
        };
        let lanes = ty.lanes().unwrap_or(1);
        let full_name = format!("{name}.{rounding:?}.{lanes}x{}", ty.bits());
        let exists = self.module.has_function(&full_name);
        let function = self.module.function(&full_name, ty, &vec![ty; params]);
        if exists {
            return function;
        }
        let context = self.context();
        function.set_private();
        for attribute in [Attribute::NoInline, Attribute::NoUnwind, Attribute::StrictFp] {
            function.add_attribute(context, attribute);
        }
        function.add_text_attribute(context, "warn-stack-size", "0");
        let builder = Builder::new(context);
        builder.position_at_end(function.append_block(context, "entry"));
        let int = context.int(32);
        let [kept, switched] = [(); 2].map(|()| builder.alloca(int, 4));
        builder.intrinsic(self.module, "llvm.x86.sse.stmxcsr", &[], &[kept]);
        let mode = match rounding {
            Rounding::Nearest => 0,
            Rounding::Down => 1,
            Rounding::Up => 2,
            Rounding::TowardZero => 3,
        };
        let word = builder.and(builder.load(int, kept, 4), int.constant(!0x6000));
        builder.store(builder.or(word, int.constant(mode << 13)), switched, 4);
        builder.intrinsic(self.module, "llvm.x86.sse.ldmxcsr", &[], &[switched]);
        let mut args: Vec<_> = (0..params).map(|index| function.param(index as u32)).collect();
        args.push(builder.metadata_text("round.dynamic"));
        args.push(builder.metadata_text("fpexcept.strict"));
        let result =
            builder.strict_intrinsic(self.module, &format!("llvm.experimental.constrained.{name}"), &[ty], &args);
        builder.intrinsic(self.module, "llvm.x86.sse.ldmxcsr", &[], &[kept]);
        builder.ret(Some(result));
        function
    }

    pub(crate) fn fabs(&self, a: Value<'c>) -> Value<'c> {
        self.call1("llvm.fabs", a.ty(), &[a])
    }

    /// The magnitude of `a` with the sign of `b`.
    pub(crate) fn copysign(&self, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.call1("llvm.copysign", a.ty(), &[a, b])
    }

    /// Whether it is no number.
    pub(crate) fn is_nan(&self, a: Value<'c>) -> Value<'c> {
        self.fcmp(FloatPredicate::LLVMRealUNO, a, a)
    }
}
