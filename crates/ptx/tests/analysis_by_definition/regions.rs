//! Barrier regions of random programs, against walks from line to line.

use std::collections::BTreeSet;

use proptest::prelude::*;
use ptx::analysis::{RegionFacts, RegionStart};
use ptx::ir::{Reg, StmtId, Symbol};

use crate::programs::{Analysed, LOCALS, Mark, Name, PREDICATES, Program, Use, all_names, programs};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Fails if a region ends too early (at a guarded barrier) or too late, or forgets something that must be saved.
    #[test]
    fn regions_end_at_the_next_barrier_on_every_path(program in programs()) {
        let analysed = Analysed::of(&program);
        let regions = &analysed.regions;
        prop_assert!(regions.is_exact());
        let reachable = program.reached([0], |_| true);
        let waits = |line: &usize| program.lines.get(*line).is_some_and(|line| line.mark == Some(Mark::Wait));
        let barriers: BTreeSet<usize> = reachable.iter().copied().filter(waits).collect();
        prop_assert_eq!(regions.len(), barriers.len() + 1);
        let mut starts = BTreeSet::new();
        for region in regions.iter() {
            let barrier = match regions.start(region) {
                RegionStart::Entry => None,
                RegionStart::Barrier(statement) => analysed.line(statement),
            };
            starts.extend(barrier);
            check_region(&analysed, &program, barrier, regions.facts(region))?;

            let mut covered = Vec::new();
            for piece in regions.pieces(&analysed.cfg, region) {
                let statements = &analysed.cfg.statements(piece.block)[piece.start..piece.end];
                covered.extend(statements.iter().filter_map(|&statement| analysed.line(statement)));
            }
            let unique: BTreeSet<usize> = covered.iter().copied().collect();
            prop_assert_eq!(covered.len(), unique.len(), "a line is in two pieces of one region");
            let mut walked = walk(&program, barrier);
            walked.remove(&program.lines.len());
            prop_assert_eq!(unique, walked, "from {:?} in\n{}", barrier, program.text());
        }
        prop_assert_eq!(starts, barriers);
    }
}

/// The lines that run in the region after a barrier, or at the start, up to and including barriers.
fn walk(program: &Program, barrier: Option<usize>) -> BTreeSet<usize> {
    let first = barrier.map_or(BTreeSet::from([0]), |barrier| program.successors(barrier));
    program.reached(first, |line| program.lines[line].mark != Some(Mark::Wait) || program.lines[line].is_uncertain)
}

fn check_region(
    analysed: &Analysed,
    program: &Program,
    barrier: Option<usize>,
    facts: &RegionFacts,
) -> Result<(), TestCaseError> {
    let walked = walk(program, barrier);
    let marked = |mark| -> BTreeSet<usize> {
        let is_marked = |&&line: &&usize| program.lines.get(line).is_some_and(|line| line.mark == Some(mark));
        walked.iter().filter(is_marked).copied().collect()
    };
    let lines = |statements: &[StmtId]| -> BTreeSet<usize> {
        statements.iter().filter_map(|&statement| analysed.line(statement)).collect()
    };
    let next = facts.next.iter().filter_map(|&next| match analysed.regions.start(next) {
        RegionStart::Barrier(statement) => analysed.line(statement),
        RegionStart::Entry => None,
    });
    let context = || format!("region from {barrier:?} of\n{}", program.text());
    prop_assert_eq!(next.collect::<BTreeSet<_>>(), marked(Mark::Wait), "next barriers, {}", context());
    prop_assert_eq!(facts.may_leave, walked.contains(&program.lines.len()), "may leave, {}", context());
    prop_assert_eq!(facts.calls_barrier, !marked(Mark::WaitingCall).is_empty(), "calls, {}", context());
    prop_assert_eq!(lines(&facts.arrivals), marked(Mark::Arrival), "arrivals, {}", context());
    prop_assert_eq!(lines(&facts.cluster_barriers), marked(Mark::Cluster), "cluster barriers, {}", context());

    let is_live = |name: &Name| match barrier {
        Some(barrier) => program.is_live_after(barrier, name),
        None => program.is_live_before(0, name),
    };
    let live: BTreeSet<Name> = all_names().filter(is_live).collect();
    let is_predicate = |name: &Name| PREDICATES.contains(name);
    let named = |regs: &[Reg]| -> BTreeSet<Name> { regs.iter().map(|&reg| analysed.name(reg)).collect() };
    let found = named(&facts.live).into_iter().chain(named(&facts.predicates)).chain(facts.carry.then_some("carry"));
    prop_assert_eq!(found.collect::<BTreeSet<_>>(), live, "live, {}", context());
    prop_assert!(named(&facts.predicates).iter().all(is_predicate));
    prop_assert!(!named(&facts.live).iter().any(is_predicate));

    let local_name = |symbol: &Symbol| match symbol {
        Symbol::Var(var) => analysed.module.text(analysed.function().vars[*var].name).to_string(),
        other => panic!("{other:?} is no local variable"),
    };
    let found: BTreeSet<String> = facts.locals.iter().map(local_name).collect();
    let is_alive = |local: &&Name| barrier.is_some_and(|barrier| is_alive(program, barrier, local));
    let expected: BTreeSet<String> = LOCALS.iter().filter(is_alive).map(|local| local.to_string()).collect();
    prop_assert_eq!(found, expected, "local variables, {}", context());
    Ok(())
}

/// Whether a local variable may have been written before a barrier and may be read after it: it is named after, or it
/// is named before by something else than a read or write of it, and read through some pointer after.
fn is_alive(program: &Program, barrier: usize, local: Name) -> bool {
    let uses = |line: &usize| {
        let named = program.lines.get(*line)?.local?;
        (named.0 == local).then_some(named.1)
    };
    let reachable = program.reached([0], |_| true);
    let leads_here = |line: &usize| program.reached(program.successors(*line), |_| true).contains(&barrier);
    let before: Vec<Use> = reachable.iter().filter(|line| leads_here(line)).filter_map(uses).collect();
    let after = program.reached(program.successors(barrier), |_| true);
    let is_named_after = after.iter().any(|line| uses(line).is_some());
    let is_read_behind =
        after.iter().any(|&line| program.lines.get(line).is_some_and(|line| line.reads_local_indirectly));
    let may_be_written = before.iter().any(|&usage| usage != Use::Read);
    may_be_written && (is_named_after || before.contains(&Use::TakeAddress) && is_read_behind)
}
