//! Comparisons.

use super::{Emit, Sign};
use crate::llvm::{FloatPredicate, IntPredicate, Value};

/// How two values are compared.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// True where either is no number, like those that follow.
    EqualOrNan,
    NotEqualOrNan,
    LessOrNan,
    LessOrEqualOrNan,
    GreaterOrNan,
    GreaterOrEqualOrNan,
    /// Both are numbers.
    BothNumbers,
    /// Either is no number.
    EitherNan,
}

impl Comparison {
    /// How integers are compared so; nothing for what only floating-point numbers have.
    pub(crate) fn of_ints(self, sign: Sign) -> Option<IntPredicate> {
        use IntPredicate::*;
        Some(match (self, sign) {
            (Self::Equal, _) => LLVMIntEQ,
            (Self::NotEqual, _) => LLVMIntNE,
            (Self::Less, Sign::Signed) => LLVMIntSLT,
            (Self::Less, Sign::Unsigned) => LLVMIntULT,
            (Self::LessOrEqual, Sign::Signed) => LLVMIntSLE,
            (Self::LessOrEqual, Sign::Unsigned) => LLVMIntULE,
            (Self::Greater, Sign::Signed) => LLVMIntSGT,
            (Self::Greater, Sign::Unsigned) => LLVMIntUGT,
            (Self::GreaterOrEqual, Sign::Signed) => LLVMIntSGE,
            (Self::GreaterOrEqual, Sign::Unsigned) => LLVMIntUGE,
            _ => return None,
        })
    }
}

impl<'c> Emit<'_, 'c> {
    pub(crate) fn compare_floats(&self, how: Comparison, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        use FloatPredicate::*;
        let predicate = match how {
            Comparison::Equal => LLVMRealOEQ,
            Comparison::NotEqual => LLVMRealONE,
            Comparison::Less => LLVMRealOLT,
            Comparison::LessOrEqual => LLVMRealOLE,
            Comparison::Greater => LLVMRealOGT,
            Comparison::GreaterOrEqual => LLVMRealOGE,
            Comparison::EqualOrNan => LLVMRealUEQ,
            Comparison::NotEqualOrNan => LLVMRealUNE,
            Comparison::LessOrNan => LLVMRealULT,
            Comparison::LessOrEqualOrNan => LLVMRealULE,
            Comparison::GreaterOrNan => LLVMRealUGT,
            Comparison::GreaterOrEqualOrNan => LLVMRealUGE,
            Comparison::BothNumbers => LLVMRealORD,
            Comparison::EitherNan => LLVMRealUNO,
        };
        self.fcmp(predicate, a, b)
    }
}
