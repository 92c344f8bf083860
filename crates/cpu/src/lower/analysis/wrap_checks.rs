//! Numbers that are speculated not to wrap.
//!
//! PTX computes indices in 32 bits and addresses in 64. A thread's index rises by one from lane to lane; whether its address
//! rises by four depends on whether the index passes the largest number of 32 bits on the way, which almost no program
//! lets happen and few can be proven not to. So vector code speculates that it does not, keeps one number for the warp instead
//! of 32, and checks that number where it is extended. Where the check fails, the warp is deoptimized: threads compute
//! with numbers of their own.
//!
//! A kernel that misspeculates often is compiled again without. Contiguous loads instead of gathers were worth a factor
//! of two to four; the code that saves registers is never run, and costs some compile time.

use ptx::analysis::{Cfg, Liveness, Uniformity, WrapCheck};
use ptx::ir::{Reg, StmtId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::resume_points::is_worth_speculating;

/// The checks of a function, by the statement before which they are made.
#[derive(Debug, Default)]
pub(crate) struct WrapChecks {
    before: FxHashMap<StmtId, SmallVec<[(Reg, WrapCheck); 1]>>,
}

impl WrapChecks {
    /// The checks that all speculation of the analysis rest on; none if they would cost too much.
    pub(crate) fn of(uniformity: &Uniformity, cfg: &Cfg, liveness: &Liveness) -> Self {
        let mut checks = Self::default();
        if is_worth_speculating(cfg, liveness, uniformity.guards().iter().map(|guard| guard.statement)) {
            for guard in uniformity.guards() {
                checks.before.entry(guard.statement).or_default().push((guard.reg, guard.check));
            }
        }
        checks
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.before.is_empty()
    }

    /// The registers that are checked before a statement.
    pub(crate) fn before(&self, statement: StmtId) -> &[(Reg, WrapCheck)] {
        self.before.get(&statement).map_or(&[], |checks| checks)
    }
}
