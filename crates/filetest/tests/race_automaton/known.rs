//! Where racecheck is known to say something else than the definition: two records do not hold all that happened to a place.
//!
//! Nothing is reported that does not race, and no error is missed.

use std::collections::BTreeMap;

use crate::definition::{Access, Gap, Space, Verdict, verdict};
use crate::walk::Execution;

/// Whether it is known of a program that what is found is not what is wanted.
pub(crate) fn is_known(space: Space, execution: &Execution<'_>) -> bool {
    match (execution.wanted, execution.found) {
        (Verdict::Warning, Verdict::Nothing) => space == Space::Global && hides_atomic_operation(execution),
        (Verdict::Warning, Verdict::Error) | (Verdict::Error, Verdict::Warning) => mixes_kinds(execution),
        _ => false,
    }
}

/// How many executions of so many accesses there are, with all kinds of barriers together, in which that is so.
pub(crate) fn executions(space: Space, accesses: usize) -> BTreeMap<(Verdict, Verdict), u64> {
    use Verdict::{Error, Nothing, Warning};
    let counts = match (space, accesses) {
        (Space::Global, 3) => vec![((Warning, Nothing), 256), ((Warning, Error), 6304), ((Error, Warning), 9336)],
        (Space::Shared, 3) => vec![((Warning, Error), 3888)],
        (Space::Global, 4) => {
            vec![((Warning, Nothing), 21_120), ((Warning, Error), 1_028_262), ((Error, Warning), 1_969_178)]
        }
        (Space::Shared, 4) => vec![((Warning, Error), 1_065_424)],
        _ => Vec::new(),
    };
    counts.into_iter().collect()
}

/// The races are found, with another severity. One record stands for several accesses, as one of the weakest of them; and other
/// blocks take what stands for something weaker for a weak access. So whether a race is one of volatile accesses, which
/// is a warning, is not known if reads of two kinds came together, or writes.
fn mixes_kinds(execution: &Execution<'_>) -> bool {
    let operations = || execution.made.iter().map(|(_, access)| access.operation());
    let has_two_kinds = |writes: bool| {
        let mut kinds = operations().filter(|operation| operation.writes() == writes);
        let first = kinds.next();
        kinds.any(|kind| Some(kind) != first)
    };
    operations().any(|operation| operation.is_volatile()) && [true, false].into_iter().any(has_two_kinds)
}

/// A lane writes to global memory, and after a barrier of the warp one makes an atomic operation. Other warps are not ordered with
/// the write, so its record stays, and says nothing of another lane that comes after the same barrier. What is missed are
/// warnings: in all races one side is such an atomic operation, and the other one a lane of its warp.
fn hides_atomic_operation(execution: &Execution<'_>) -> bool {
    let mut program = execution.made.to_vec();
    program.sort_unstable();
    let between = |one: usize, other: usize| &execution.gaps[one..other];
    let is_hidden = |&(at, access): &(usize, Access)| {
        access.operation().is_atomic()
            && program[..at].iter().any(|&(before, write)| {
                let (operation, gaps) = (write.operation(), between(before, at));
                write.place().warp() == access.place().warp()
                    && operation.writes()
                    && !operation.is_atomic()
                    && gaps.contains(&Gap::WarpBarrier)
                    && !gaps.contains(&Gap::BlockBarrier)
            })
    };
    program.iter().enumerate().all(|(at, one)| {
        program[at + 1..].iter().all(|other| {
            verdict(Space::Global, one.1, other.1, between(one.0, other.0)) == Verdict::Nothing
                || one.1.place().warp() == other.1.place().warp() && (is_hidden(one) || is_hidden(other))
        })
    })
}
