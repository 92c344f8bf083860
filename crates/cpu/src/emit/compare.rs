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

impl<'c> Emit<'_, 'c> {
    pub(crate) fn compare_ints(&self, how: Comparison, sign: Sign, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        use IntPredicate::*;
        let predicate = match (how, sign) {
            (Comparison::Equal, _) => LLVMIntEQ,
            (Comparison::NotEqual, _) => LLVMIntNE,
            (Comparison::Less, Sign::Signed) => LLVMIntSLT,
            (Comparison::Less, Sign::Unsigned) => LLVMIntULT,
            (Comparison::LessOrEqual, Sign::Signed) => LLVMIntSLE,
            (Comparison::LessOrEqual, Sign::Unsigned) => LLVMIntULE,
            (Comparison::Greater, Sign::Signed) => LLVMIntSGT,
            (Comparison::Greater, Sign::Unsigned) => LLVMIntUGT,
            (Comparison::GreaterOrEqual, Sign::Signed) => LLVMIntSGE,
            (Comparison::GreaterOrEqual, Sign::Unsigned) => LLVMIntUGE,
            _ => panic!("integers are always numbers"),
        };
        self.icmp(predicate, a, b)
    }

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
