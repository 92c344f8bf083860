//! Small kernels with one property each, and what is said where an exact answer would be too large. What the analyses
//! say in general is tested in `tests/analysis_by_definition`.

use std::collections::BTreeSet;

use super::*;
use crate::entity::Id;
use crate::ir::{FuncId, Function, Module, StmtId};

struct Sample {
    module: Module,
    id: FuncId,
    cfg: Cfg,
    def_use: DefUse,
}

impl Sample {
    /// The last function of a text.
    fn new(functions: &str) -> Self {
        let parsed = crate::parse(&format!(".version 8.0\n.target sm_90\n.address_size 64\n{functions}"));
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
        let module = parsed.module;
        let id = module.functions.ids().next_back().expect("the text has a function");
        let function = &module.functions[id];
        let (cfg, def_use) = (Cfg::of(&module.forms, function), DefUse::of(&module.forms, function));
        Self { module, id, cfg, def_use }
    }

    fn function(&self) -> &Function {
        &self.module.functions[self.id]
    }

    fn insts(&self) -> Vec<StmtId> {
        self.function().body.iter().flat_map(|body| body.insts()).map(|(id, _)| id).collect()
    }

    /// The places of the instructions of each block in the order of the text.
    fn blocks(&self) -> Vec<Vec<usize>> {
        let insts = self.insts();
        let places = |block| -> Vec<usize> {
            let statements = self.cfg.statements(block).iter();
            statements.filter_map(|id| insts.iter().position(|inst| inst == id)).collect()
        };
        self.cfg.blocks().map(places).collect()
    }

    fn edges(&self, block: usize) -> Vec<(usize, EdgeKind)> {
        self.cfg.edges(Block::new(block)).iter().map(|edge| (edge.target.index(), edge.kind)).collect()
    }
}

#[test]
fn labels_that_nobody_jumps_to_do_not_cut_blocks() {
    let sample =
        Sample::new(".entry k() { .reg .pred %p; bar.sync 0; debug: bar.sync 1; used: @%p bra used; ret; end: }");
    assert_eq!(sample.blocks(), [vec![0, 1], vec![2], vec![3]]);
    assert_eq!(sample.edges(1), [(2, EdgeKind::FallThrough), (1, EdgeKind::Taken)]);
    // What is after the last `ret` is no block of its own.
    let end = sample.function().labels.ids().last().unwrap();
    assert_eq!(sample.cfg.block_of_label(end), Some(Block::new(2)));
}

#[test]
fn an_entry_that_is_jumped_to_gets_an_empty_block_before_it() {
    let sample = Sample::new(".entry k() { again: bra again; }");
    assert_eq!(sample.blocks(), [vec![], vec![0]]);
    assert_eq!(sample.edges(0), [(1, EdgeKind::FallThrough)]);
    assert!(sample.cfg.graph().exits().next().is_none());
}

#[test]
fn tables_have_an_edge_for_each_index() {
    let sample = Sample::new(
        ".entry k() { .reg .b32 %r; table: .branchtargets A, B, A; brx.idx %r, table; A: bar.sync 0; B: ret; }",
    );
    assert_eq!(sample.edges(0), [(1, EdgeKind::Table(0)), (2, EdgeKind::Table(1)), (1, EdgeKind::Table(2))]);
    assert_eq!(sample.cfg.successors(Block::new(0)).len(), 2);
}

#[test]
fn a_branch_to_nowhere_is_counted_and_may_leave() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n.entry k() { .reg .pred %p; @%p bra missing; ret; }";
    let module = crate::parse(text).module;
    let cfg = Cfg::of(&module.forms, &module.functions[FuncId::new(0)]);
    assert_eq!(cfg.unknown_targets(), 1);
    assert!(cfg.is_exit(cfg.entry()));
    assert_eq!(cfg.edges(cfg.entry()), [Edge { target: Block::new(1), kind: EdgeKind::FallThrough }]);
}

#[test]
fn functions_without_statements_or_body_have_one_block() {
    for text in [".entry k() { }", ".extern .func f();"] {
        let sample = Sample::new(text);
        assert_eq!(sample.blocks(), [Vec::<usize>::new()]);
        assert_eq!(sample.cfg.falls_off_end(), Some(sample.cfg.entry()));
        let liveness = Liveness::of(&sample.cfg, &sample.def_use);
        assert_eq!(liveness.live_in(sample.cfg.entry()).count(), 0);
    }
}

#[test]
fn traps_end_blocks_and_breakpoints_do_not() {
    let sample = Sample::new(".entry k() { .reg .pred %p; brkpt; @%p trap; @%p exit; trap; ret; }");
    assert_eq!(sample.blocks(), [vec![0, 1], vec![2], vec![3], vec![4]]);
    assert!(sample.cfg.is_exit(Block::new(0)));
    assert!(!sample.cfg.is_reachable(Block::new(3)));
    let complexity = Complexity::of(&sample.module.forms, sample.function(), &sample.cfg);
    assert_eq!((complexity.decisions, complexity.selects, complexity.predicated), (2, 0, 0));
    assert_eq!(complexity.edges + 2 - complexity.nodes, complexity.cyclomatic());
}

#[test]
fn result_registers_are_read_by_ret_and_at_the_end() {
    for end in ["ret;", ""] {
        let text = format!(".func (.reg .b32 %out) f(.reg .b32 %in) {{ .reg .pred %p; @%p mov.b32 %out, %in; {end} }}");
        let sample = Sample::new(&text);
        let liveness = Liveness::of(&sample.cfg, &sample.def_use);
        // The guarded write keeps the former value alive.
        assert_eq!(liveness.live_in(sample.cfg.entry()).count(), 3);
    }
    let sample = Sample::new(".func (.reg .b32 %out) f(.reg .b32 %in) { mov.b32 %out, %in; exit; }");
    let liveness = Liveness::of(&sample.cfg, &sample.def_use);
    let dominators = DominatorTree::dominators(sample.cfg.graph());
    let reaching = Reaching::of(&sample.cfg, &sample.def_use, &dominators, &liveness);
    let mov = sample.insts()[0];
    let [input] = *sample.def_use.reads(mov) else { panic!("one register is read") };
    assert_eq!(reaching.definitions(&sample.def_use, mov, input).as_slice(), [Definition::Parameter]);
    assert_eq!(liveness.live_out(&sample.cfg, &sample.def_use, sample.cfg.entry()).iter().count(), 0);
}

const TWO_LOOPS: &str = ".entry k() { .reg .pred %p<3>; .reg .b32 %r<9>; .local .b8 a[4]; .local .b8 b[4];\n\
    mov.b32 %r0, 1; st.local.u32 [a], %r0;\n\
    first: add.u32 %r1, %r0, %r2; setp.eq.u32 %p0, %r1, 0; bar.sync 0; @%p0 bra first;\n\
    @%p1 mov.b32 %r2, %r1; ld.local.u32 %r3, [a]; st.local.u32 [b], %r3;\n\
    second: add.u32 %r2, %r2, %r1; bar.sync 0; @%p1 bra second;\n\
    ret; }";

/// Fails if a register that is live is left out where the sets would be too large.
#[test]
fn without_memory_more_registers_are_said_to_be_live_and_none_less() {
    let sample = Sample::new(TWO_LOOPS);
    let exact = Liveness::of(&sample.cfg, &sample.def_use);
    let rough = Liveness::with_limit(&sample.cfg, &sample.def_use, 64);
    assert!(exact.is_exact() && !rough.is_exact());
    let mut differs = false;
    for block in sample.cfg.blocks() {
        let exact: BTreeSet<_> = exact.live_in(block).collect();
        let rough: BTreeSet<_> = rough.live_in(block).collect();
        assert!(exact.is_subset(&rough));
        differs |= exact != rough;
    }
    assert!(differs);
}

/// Fails if a definition that reaches is left out where there would be too many versions.
#[test]
fn without_memory_more_definitions_are_said_to_reach_and_none_less() {
    let sample = Sample::new(TWO_LOOPS);
    let dominators = DominatorTree::dominators(sample.cfg.graph());
    let liveness = Liveness::of(&sample.cfg, &sample.def_use);
    let [exact, rough] =
        [usize::MAX, 1].map(|limit| Reaching::with_limit(&sample.cfg, &sample.def_use, &dominators, &liveness, limit));
    assert!(exact.is_exact() && !rough.is_exact());
    let mut differs = false;
    for statement in sample.insts() {
        for &reg in sample.def_use.reads(statement) {
            let [exact, rough] = [&exact, &rough].map(|one| one.definitions(&sample.def_use, statement, reg));
            assert!(exact.iter().all(|definition| rough.contains(definition)));
            differs |= exact != rough;
        }
    }
    assert!(differs);
}

/// Fails if a region has a fact that the rough answer, which is one for all regions, does not have.
#[test]
fn without_time_regions_are_said_to_hold_everything() {
    let sample = Sample::new(TWO_LOOPS);
    let liveness = Liveness::of(&sample.cfg, &sample.def_use);
    let calls = CallGraph::of(&sample.module);
    let with_barriers = functions_with_barriers(&sample.module, &calls);
    let inputs = RegionInputs {
        cfg: &sample.cfg,
        def_use: &sample.def_use,
        liveness: &liveness,
        calls: &calls,
        with_barriers: &with_barriers,
    };
    let exact = BarrierRegions::of(&sample.module, sample.id, inputs);
    assert_eq!(exact.len(), 3);
    for limit in [0, 5, 9] {
        let rough = BarrierRegions::with_limit(&sample.module, sample.id, inputs, limit);
        assert!(exact.is_exact() && !rough.is_exact());
        for region in exact.iter() {
            let (exact, rough) = (exact.facts(region), rough.facts(region));
            assert!(exact.next.iter().all(|next| rough.next.contains(next)));
            assert!(exact.live.iter().all(|reg| rough.live.contains(reg)));
            assert!(exact.predicates.iter().all(|reg| rough.predicates.contains(reg)));
            assert!(exact.locals.iter().all(|local| rough.locals.contains(local)));
            assert!(rough.may_leave && rough.carry);
        }
    }
}
