//! The analyses on large and on contrived functions: time must grow with the size, and the stack must not.
//!
//! A recursion over blocks overflows the stack of a test thread (2 MiB) at a million blocks, and a quadratic algorithm
//! takes minutes, so both fail here. `--nocapture` shows how long each analysis took.

#![allow(clippy::print_stderr)]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use ptx::analysis::{BarrierRegions, Block, CallGraph, Cfg, Complexity, DefUse, DominatorTree, Frontiers, Graph};
use ptx::analysis::{BlockScope, BlockUniformity, LaunchFacts, functions_with_barriers};
use ptx::analysis::{Liveness, Loops, Reaching, RegionInputs};
use ptx::entity::Id;
use ptx::ir::Module;

/// What is large but could be real takes a fraction of a second, and may take two where code is optimised.
const REAL: Duration = Duration::from_secs(if cfg!(debug_assertions) { 30 } else { 2 });

/// What is contrived takes a few seconds, and would take minutes or hours if it took quadratic time.
const CONTRIVED: Duration = Duration::from_secs(if cfg!(debug_assertions) { 90 } else { 15 });

const MILLION: usize = 1_000_000;

fn graph(blocks: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Graph {
    let edges: Vec<_> = edges.into_iter().map(|(from, to)| (Block::new(from), Block::new(to))).collect();
    Graph::new(blocks, Block::new(0), &edges, [Block::new(blocks - 1)])
}

/// Runs all that only needs a graph.
fn analyse_graph(name: &str, graph: &Graph) -> (DominatorTree, DominatorTree, Loops) {
    let start = Instant::now();
    let dominators = DominatorTree::dominators(graph);
    let post_dominators = DominatorTree::post_dominators(graph);
    let loops = Loops::of(graph, &dominators);
    // May be refused, but not take long.
    let _ = Frontiers::dominance(graph, &dominators, 1 << 24);
    let _ = Frontiers::post_dominance(graph, &post_dominators, 1 << 24);
    eprintln!("{name}: {:?} for {} blocks", start.elapsed(), graph.len());
    assert!(start.elapsed() < CONTRIVED, "{name}: {:?}", start.elapsed());
    (dominators, post_dominators, loops)
}

#[test]
fn a_million_blocks_in_a_row() {
    let graph = graph(MILLION, (1..MILLION).map(|block| (block - 1, block)));
    let (dominators, post_dominators, loops) = analyse_graph("row", &graph);
    let (first, last) = (Block::new(0), Block::new(MILLION - 1));
    assert!(dominators.dominates(first, last) && post_dominators.dominates(last, first));
    assert!(loops.is_empty());
}

/// Where the iterative algorithm for dominators is quadratic.
#[test]
fn a_million_early_exits() {
    let last = MILLION - 1;
    let graph = graph(MILLION, (1..MILLION).flat_map(|block| [(block - 1, block), (block - 1, last)]));
    let (dominators, post_dominators, _) = analyse_graph("early exits", &graph);
    assert_eq!(dominators.immediate(Block::new(last)), Some(Block::new(0)));
    assert_eq!(post_dominators.children(Block::new(last)).len(), last);
}

/// Half the blocks are headers, the other half ends of loops: each loop is in the one before.
#[test]
fn half_a_million_nested_loops() {
    let depth = MILLION / 2;
    let back = (0..depth).map(|level| (MILLION - 1 - level, level));
    let graph = graph(MILLION, (1..MILLION).map(|block| (block - 1, block)).chain(back));
    let (_, _, loops) = analyse_graph("nested loops", &graph);
    assert_eq!(loops.len(), depth);
    assert_eq!(loops.depth(Block::new(depth)), depth as u32);
    let outermost = loops.iter().next().unwrap();
    assert_eq!(loops.members(outermost).len(), MILLION);
}

/// Every block leads to the one before too: what is written last travels back through a million retreating edges.
#[test]
fn a_million_blocks_with_edges_back() {
    let both = |block: usize| [(block - 1, block), (block, block - 1)];
    let graph = graph(MILLION, (1..MILLION).flat_map(both));
    analyse_graph("edges back", &graph);
}

/// Two entries to each of many cycles.
#[test]
fn many_irreducible_cycles() {
    let cycles = MILLION / 3;
    let edges = (0..cycles).flat_map(|cycle| {
        let [head, left, right] = [3 * cycle, 3 * cycle + 1, 3 * cycle + 2];
        [(head, left), (head, right), (left, right), (right, left), (right, right + 1)]
    });
    let graph = graph(3 * cycles + 1, edges);
    let (_, _, loops) = analyse_graph("irreducible", &graph);
    assert_eq!(loops.irreducible_regions().len(), cycles);
}

/// Parses a text, and runs all analyses of its kernel one after the other.
fn analyse_text(name: &str, limit: Duration, text: &str) -> usize {
    let start = Instant::now();
    let parsed = ptx::parse(text);
    assert!(parsed.diagnostics.is_empty(), "{name}: {:?}", parsed.diagnostics[0]);
    let module: Module = parsed.module;
    eprintln!("{name}: {:>9.1?} parse", start.elapsed());
    let start = Instant::now();
    let mut last = start;
    let mut step = |what: &str| {
        eprintln!("{name}: {:>9.1?} {what}", last.elapsed());
        last = Instant::now();
    };
    let id = module.function("kernel").unwrap();
    let function = &module.functions[id];
    let cfg = Cfg::of(&module.forms, function);
    step("control-flow graph");
    let def_use = DefUse::of(&module.forms, function);
    step("reads and writes");
    let dominators = DominatorTree::dominators(cfg.graph());
    let _post_dominators = DominatorTree::post_dominators(cfg.graph());
    step("dominators and post-dominators");
    let _loops = Loops::of(cfg.graph(), &dominators);
    let _complexity = Complexity::of(&module.forms, function, &cfg);
    step("loops and complexity");
    let liveness = Liveness::of(&cfg, &def_use);
    step("liveness");
    let reaching = Reaching::of(&cfg, &def_use, &dominators, &liveness);
    step("reaching definitions");
    let calls = CallGraph::of(&module);
    let with_barriers = functions_with_barriers(&module, &calls);
    step("call graph");
    let inputs = RegionInputs {
        cfg: &cfg,
        def_use: &def_use,
        liveness: &liveness,
        calls: &calls,
        with_barriers: &with_barriers,
    };
    let regions = BarrierRegions::of(&module, id, inputs);
    step("barrier regions");
    eprintln!(
        "{name}: {:>9.1?} all but parsing; {} blocks, exact: liveness {}, reaching {}, regions {}",
        start.elapsed(),
        cfg.len(),
        liveness.is_exact(),
        reaching.is_exact(),
        regions.is_exact()
    );
    assert!(start.elapsed() < limit, "{name}: {:?}", start.elapsed());
    // Walks that tools make over all instructions.
    let start = Instant::now();
    let mut walk = liveness.walk(&cfg, &def_use, cfg.entry());
    let mut most = 0;
    for block in cfg.blocks() {
        walk.restart(block);
        while let Some((statement, _)) = walk.previous() {
            for &reg in def_use.reads(statement) {
                most = most.max(reaching.definitions(&def_use, statement, reg).len());
            }
        }
    }
    eprintln!("{name}: {:>9.1?} walk over all uses; at most {most} definitions", start.elapsed());
    assert!(start.elapsed() < limit, "{name}: {:?}", start.elapsed());
    cfg.len()
}

fn kernel(registers: usize, body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry kernel() {{\n\
         .reg .b32 %r<{registers}>; .reg .pred %p<64>; .local .align 4 .b8 buffer[64];\n{body}ret;\n}}\n"
    )
}

/// Like compilers write it: loops up to four deep, conditions, values that live long and values that do not.
#[test]
fn a_hundred_thousand_instructions_in_twenty_thousand_blocks() {
    let mut body = String::new();
    let mut open = Vec::new();
    for reg in 0..50 {
        writeln!(body, "mov.b32 %r{reg}, {reg};").unwrap();
    }
    for block in 0..20_000_usize {
        // 50 registers live as long as the kernel, some for twenty blocks, most in one block. What lives longer is
        // written in even blocks, which no branch skips.
        let odd = block % 2;
        let value = |offset: usize| 50 + (block * 7 + 29_000 + offset) % 29_000;
        let earlier = |blocks: usize| 50 + (block * 7 + 29_000 - 7 * blocks) % 29_000;
        writeln!(body, "L{block}: add.u32 %r{}, %r{}, %r{};", value(0), earlier(20 + odd), earlier(2 - odd)).unwrap();
        writeln!(body, "mov.b32 %r{}, 0;\n@%p{} mov.b32 %r{}, {block};", value(1), block % 64, value(1)).unwrap();
        writeln!(body, "setp.lt.u32 %p{}, %r{}, %r{};", (block + 1) % 64, value(0), value(1)).unwrap();
        writeln!(body, "mad.lo.u32 %r{}, %r{}, %r{}, %r{};", value(2), value(0), value(0), block % 50).unwrap();
        if block % 16 == 2 {
            writeln!(body, "st.local.u32 [buffer], %r{};\nbar.sync 0;", value(2)).unwrap();
        }
        if block % 8 == 0 && open.len() < 4 {
            open.push(block);
        }
        let target = match block % 8 {
            4 | 7 => open.pop().unwrap_or(block),
            _ => (block + 2 - odd).min(19_999),
        };
        writeln!(body, "@%p{} bra L{target};", (block + 1) % 64).unwrap();
    }
    let blocks = analyse_text("compiled", REAL, &kernel(30_000, &body));
    assert!(blocks >= 20_000);
}

/// A block in a block in a block, to the same depth in dominators and post-dominators.
#[test]
fn a_million_blocks_of_text_nested() {
    let depth = MILLION / 2;
    let mut body = String::new();
    for level in 0..depth {
        writeln!(body, "@%p{} bra E{level};", level % 64).unwrap();
    }
    for level in (0..depth).rev() {
        writeln!(body, "E{level}: add.u32 %r{}, %r1, 1;", level % 100).unwrap();
    }
    assert_eq!(analyse_text("nested", CONTRIVED, &kernel(100, &body)), MILLION);
}

/// Every register lives everywhere: sets would have 10^10 bits.
#[test]
fn a_hundred_thousand_registers_live_in_as_many_blocks() {
    let count = 100_000;
    let mut body = String::new();
    for index in 0..count {
        writeln!(body, "L{index}: mov.b32 %r{index}, %r{}; @%p0 bra L{index};", (index + 1) % count).unwrap();
    }
    writeln!(body, "bra L0;").unwrap();
    analyse_text("all live", CONTRIVED, &kernel(count, &body));
}

/// Each barrier may be the next after all before it, and each use has the definitions of all guarded writes before it.
#[test]
fn a_hundred_thousand_guarded_barriers() {
    let mut body = String::new();
    for index in 0..100_000 {
        writeln!(body, "@%p{} bar.sync 0;", index % 64).unwrap();
    }
    for index in 0..3_000 {
        writeln!(body, "@%p{} mov.b32 %r0, {index};\nadd.u32 %r1, %r0, 1;", index % 64).unwrap();
    }
    analyse_text("guarded", CONTRIVED, &kernel(2, &body));
}

/// Each branch has a point of reconvergence of its own, and all others are in between.
#[test]
fn a_hundred_thousand_branches_in_one_another() {
    const BRANCHES: usize = 100_000;
    let mut text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {\n\
        .reg .pred %p; .reg .b32 %r; mov.u32 %r, %tid.x; setp.eq.u32 %p, %r, 0;\n"
        .to_owned();
    for branch in 0..BRANCHES {
        writeln!(text, "@%p bra end{branch};").unwrap();
    }
    for branch in (0..BRANCHES).rev() {
        writeln!(text, "end{branch}: add.u32 %r, %r, 1;").unwrap();
    }
    let module = ptx::parse(&(text + "ret; }")).module;
    let function = &module.functions[module.function("k").unwrap()];
    let (cfg, def_use) = (Cfg::of(&module.forms, function), DefUse::of(&module.forms, function));
    let start = Instant::now();
    let facts = LaunchFacts::default();
    let uniformity = BlockUniformity::of(&module, function, &cfg, &def_use, &facts, BlockScope::Threads);
    eprintln!("block uniformity: {:?} for {} blocks", start.elapsed(), cfg.len());
    assert!(start.elapsed() < REAL, "{:?}", start.elapsed());
    assert!(!uniformity.is_exact() && uniformity.is_divergent(cfg.entry()));
}
