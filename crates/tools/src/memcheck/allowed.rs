//! Where an access is allowed.

use ptx::ir::Reg;
use ptx::types::Type;
use rewrite::Cursor;

/// Where an access is allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AllowedLanes {
    /// Everywhere.
    Always,
    /// Where some bit of the mask is set in the register, and nowhere else. Such registers live longer than predicates
    /// do: NVIDIA's assembler has few of those.
    Where {
        /// The register, of 32 bits.
        answers: Reg,
        /// The bits.
        mask: u32,
    },
}

impl AllowedLanes {
    /// Lets the instruction happen only where it is allowed. That implies its guard; where its guard holds and it is not
    /// allowed, its results are zero.
    pub(super) fn apply(self, at: &mut Cursor<'_, '_>) {
        let Self::Where { answers, mask } = self else { return };
        let mut answer = answers;
        if mask != u32::MAX {
            answer = at.reg(Type::B32);
            at.before().inst("and.b32", &[answer.into(), answers.into(), i64::from(mask).into()]);
        }
        let allowed = at.reg(Type::Pred);
        at.before().inst("setp.ne.b32", &[allowed.into(), answer.into(), 0.into()]);
        at.only_where(allowed);
    }
}
