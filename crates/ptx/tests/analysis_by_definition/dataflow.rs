//! Control-flow graph, liveness and reaching definitions of random programs, against walks from line to line.

use std::collections::BTreeSet;

use proptest::prelude::*;
use ptx::analysis::{Block, Complexity, Definition};

use crate::programs::{Analysed, Name, Program, all_names, programs};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    /// Fails if a block is cut in the wrong place, if an edge is missing or too many, or if a statement is in no block.
    #[test]
    fn control_goes_where_the_instructions_say(program in programs()) {
        let analysed = Analysed::of(&program);
        let cfg = &analysed.cfg;
        prop_assert_eq!(cfg.unknown_targets(), 0);
        prop_assert!(cfg.predecessors(cfg.entry()).is_empty());
        prop_assert_eq!(first_lines(&analysed, &program, cfg.entry()), BTreeSet::from([0]));
        let mut seen = Vec::new();
        for block in cfg.blocks() {
            let lines: Vec<usize> = cfg.insts(analysed.body(), block).filter_map(|(id, _)| analysed.line(id)).collect();
            for pair in lines.windows(2) {
                prop_assert_eq!(program.successors(pair[0]), BTreeSet::from([pair[1]]));
            }
            if let Some(&last) = lines.last() {
                let mut next: BTreeSet<usize> =
                    cfg.successors(block).iter().flat_map(|&next| first_lines(&analysed, &program, next)).collect();
                if cfg.is_exit(block) {
                    next.insert(program.lines.len());
                }
                prop_assert_eq!(next, program.successors(last), "after line {} of\n{}", last, program.text());
            }
            seen.extend_from_slice(cfg.statements(block));
            for (place, &statement) in cfg.statements(block).iter().enumerate() {
                prop_assert_eq!(cfg.place_of(statement), Some((block, place)));
            }
            let targets: BTreeSet<Block> = cfg.edges(block).iter().map(|edge| edge.target).collect();
            prop_assert_eq!(targets, cfg.successors(block).iter().copied().collect::<BTreeSet<_>>());
        }
        prop_assert_eq!(seen, analysed.body().ids());
        let reachable = program.reached([0], |_| true);
        for (line, &statement) in analysed.statements.iter().enumerate() {
            prop_assert_eq!(cfg.is_reachable(cfg.block_of(statement).unwrap()), reachable.contains(&line));
        }
    }

    /// Fails if an edge counts twice or an exit not at all: the same number comes from lines as from blocks.
    #[test]
    fn complexity_is_edges_minus_nodes_plus_two(program in programs()) {
        let program = program.with_ret();
        let analysed = Analysed::of(&program);
        let complexity = Complexity::of(&analysed.module.forms, analysed.function(), &analysed.cfg);
        let nodes = program.reached([0], |_| true);
        let leaving = program.lines.len();
        let edges: usize = nodes.iter().map(|&line| program.successors(line).len()).sum();
        let is_predicated = |&line: &&usize| {
            let line = program.lines.get(*line);
            line.is_some_and(|line| line.text.starts_with('@') && line.targets.is_empty() && !line.may_leave)
        };
        prop_assert_eq!(complexity.predicated, nodes.iter().filter(is_predicated).count());
        let is_select = |&line: &&usize| program.lines.get(*line).is_some_and(|line| line.text.contains("selp"));
        prop_assert_eq!(complexity.selects, nodes.iter().filter(is_select).count());
        // Leaving is a node even if it is never reached.
        let nodes = nodes.len() + usize::from(!nodes.contains(&leaving));
        prop_assert_eq!(complexity.cyclomatic() + nodes, edges + 2, "of\n{}", program.text());
    }

    /// Fails if a guarded write ends the life of a register, an unguarded one does not, or a use is overlooked.
    #[test]
    fn live_registers_are_those_that_some_path_reads(program in programs()) {
        let analysed = Analysed::of(&program);
        let (cfg, liveness) = (&analysed.cfg, &analysed.liveness);
        prop_assert!(liveness.is_exact());
        for block in cfg.blocks() {
            let mut walk = liveness.walk(cfg, &analysed.def_use, block);
            while let Some((statement, live)) = walk.previous() {
                let Some(line) = analysed.line(statement) else { continue };
                let mut found: BTreeSet<Name> = live.iter().map(|reg| analysed.name(reg)).collect();
                if live.contains_carry() {
                    found.insert("carry");
                }
                let expected: BTreeSet<Name> = all_names().filter(|name| program.is_live_after(line, name)).collect();
                prop_assert_eq!(found, expected, "after line {} of\n{}", line, program.text());
            }
            let at_start: BTreeSet<_> = walk.live_before().iter().collect();
            prop_assert_eq!(walk.live_before().contains_carry(), liveness.is_carry_live_in(block));
            prop_assert_eq!(&at_start, &liveness.live_in(block).collect::<BTreeSet<_>>());
            prop_assert!(at_start.iter().all(|&reg| liveness.is_live_in(block, reg)));
            // The same memory, used again.
            walk.restart(block);
            while walk.previous().is_some() {}
            prop_assert_eq!(at_start, walk.live_before().iter().collect::<BTreeSet<_>>());
        }
    }

    /// Fails if a join has no version of its own where it needs one, or a guarded write hides what was before.
    #[test]
    fn reaching_definitions_are_those_with_a_path_to_the_use(program in programs()) {
        let analysed = Analysed::of(&program);
        prop_assert!(analysed.reaching.is_exact());
        let reachable = program.reached([0], |_| true);
        for (line, &statement) in analysed.statements.iter().enumerate() {
            for &reg in analysed.def_use.reads(statement) {
                let found = analysed.reaching.definitions(&analysed.def_use, statement, reg);
                let found: BTreeSet<Option<usize>> = found
                    .iter()
                    .map(|definition| match definition {
                        Definition::Statement(statement) => analysed.line(*statement),
                        Definition::Uninitialised => None,
                        Definition::Parameter => panic!("a kernel has no parameters in registers"),
                    })
                    .collect();
                let expected = definitions(&program, &reachable, line, analysed.name(reg));
                prop_assert_eq!(found, expected, "at line {} of\n{}", line, program.text());
            }
            let names: BTreeSet<Name> =
                analysed.def_use.reads(statement).iter().map(|&reg| analysed.name(reg)).collect();
            prop_assert_eq!(&names, &program.lines[line].reads);
        }
    }
}

/// The lines from which a path leads to `line` without another sure write of the register; nothing stands for the start.
fn definitions(program: &Program, reachable: &BTreeSet<usize>, line: usize, name: Name) -> BTreeSet<Option<usize>> {
    let passes = |index: usize| !program.kills(index, name);
    let mut found = BTreeSet::new();
    if reachable.contains(&line) && program.reached([0], passes).contains(&line) {
        found.insert(None);
    }
    for &writer in reachable.iter().filter(|&&index| index < program.lines.len()) {
        if program.lines[writer].writes.contains(name)
            && program.reached(program.successors(writer), passes).contains(&line)
        {
            found.insert(Some(writer));
        }
    }
    found
}

/// The lines that control comes to first when it comes to a block, which may be empty.
fn first_lines(analysed: &Analysed, program: &Program, block: Block) -> BTreeSet<usize> {
    if let Some((first, _)) = analysed.cfg.insts(analysed.body(), block).next() {
        return analysed.line(first).into_iter().collect();
    }
    let mut lines: BTreeSet<usize> = BTreeSet::new();
    for &next in analysed.cfg.successors(block) {
        assert!(next > block, "an empty block falls through");
        lines.extend(first_lines(analysed, program, next));
    }
    if analysed.cfg.is_exit(block) {
        lines.insert(program.lines.len());
    }
    lines
}
