//! Block uniformity of small kernels, each with the one thing that it is about.

use ptx::analysis::{BlockScope, BlockUniformity, Cfg, DefUse, LaunchFacts};
use ptx::ir::Module;

/// The registers of the function `f` that are block-uniform, and how many of its blocks are divergent.
fn analyse(module: &Module, block: Option<[u32; 3]>, scope: BlockScope) -> (String, usize) {
    let function = &module.functions[module.function("f").unwrap()];
    let cfg = Cfg::of(&module.forms, function);
    let def_use = DefUse::of(&module.forms, function);
    let mut facts = LaunchFacts::default();
    if let Some(block) = block {
        facts = facts.with_block(block);
    }
    let uniformity = BlockUniformity::of(module, function, &cfg, &def_use, &facts, scope);
    assert!(uniformity.is_exact());
    let regs = function.regs.ids().filter(|&reg| uniformity.is_block_uniform(reg));
    let names: Vec<String> = regs.map(|reg| ptx::describe::reg_name(module, function, reg)).collect();
    (names.join(" "), cfg.blocks().filter(|&block| uniformity.is_divergent(block)).count())
}

fn parse(function: &str) -> Module {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.const .u32 table[4];\n.func (.reg .b32 %x) get() {{ ret; }}\n\
         {function}"
    );
    let parsed = ptx::parse(&text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    assert_eq!(ptx::verify(&parsed.module), []);
    parsed.module
}

/// A kernel with the parameters `n` and `a`, predicates `%p`, 32 bits `%r` and 64 bits `%d`.
fn kernel(body: &str) -> Module {
    let registers = ".reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %d<9>;";
    parse(&format!(".visible .entry f(.param .u32 n, .param .u64 a) {{ {registers}\n{body}\nret; }}"))
}

#[track_caller]
fn uniform_in_threads(body: &str, wanted: &str, divergent_blocks: usize) {
    assert_eq!(analyse(&kernel(body), None, BlockScope::Threads), (wanted.to_owned(), divergent_blocks), "{body}");
}

#[test]
fn what_the_launch_says_is_the_same() {
    let body = "ld.param.u32 %r1, [n]; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r1, %r2, 5; mov.u32 %r4, %ntid.y;";
    uniform_in_threads(body, "%r1 %r2 %r3 %r4", 0);
}

#[test]
fn what_the_thread_says_is_not() {
    uniform_in_threads("mov.u32 %r1, %tid.x; add.u32 %r2, %r1, 1; mov.u32 %r3, %warpid;", "", 0);
    uniform_in_threads("mov.u32 %r1, %laneid; mov.u32 %r2, %clock;", "", 0);
}

/// Another warp may write between two loads.
#[test]
fn memory_that_can_be_written_is_not() {
    let body = "ld.param.u64 %d1, [a]; ld.global.u32 %r1, [%d1]; ld.const.u32 %r2, [table+4];";
    uniform_in_threads(body, "%d1 %r2", 0);
    uniform_in_threads("mov.u32 %r1, %laneid; ld.const.u32 %r2, [%r1];", "", 0);
}

/// Each warp has an answer of its own.
#[test]
fn answers_of_a_warp_and_of_functions_are_not() {
    uniform_in_threads("setp.eq.u32 %p1, 0, 0; vote.sync.any.pred %p2, %p1, -1;", "%p1", 0);
    uniform_in_threads("call (%r1), get; mov.u32 %r2, 1;", "%r2", 0);
}

#[test]
fn special_registers_in_braces_count() {
    let body = "ld.param.u32 %r1, [n]; mov.b64 %d1, {%tid.x, %r1}; mov.b64 %d2, {%r1, %ctaid.x};";
    uniform_in_threads(body, "%r1 %d2", 0);
}

#[test]
fn what_is_written_on_different_ways_is_not() {
    let body = "mov.u32 %r1, %tid.x; mov.u32 %r2, 1; mov.u32 %r3, 1; setp.lt.u32 %p1, %r1, 5;
        @%p1 bra join;
        mov.u32 %r2, 2;
        join: mov.u32 %r4, %r2; mov.u32 %r5, %r3;";
    uniform_in_threads(body, "%r3 %r5", 1);
    // All go the same way.
    uniform_in_threads(&body.replace("%tid.x", "%ctaid.x"), "%r1 %r2 %r3 %p1 %r4 %r5", 0);
}

#[test]
fn loops_that_threads_leave_at_different_times_count_differently() {
    let body = "mov.u32 %r1, %ctaid.x; mov.u32 %r2, 0;
        next: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r1;
        @%p1 bra next;
        mov.u32 %r3, %r2;";
    uniform_in_threads(body, "%r1 %r2 %p1 %r3", 0);
    uniform_in_threads(&body.replace("%ctaid.x", "%tid.x"), "", 1);
}

/// Threads that end early are missing from there on.
#[test]
fn what_follows_an_early_end_is_divergent() {
    let body = "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 5;
        @%p1 exit;
        mov.u32 %r2, 1;";
    uniform_in_threads(body, "", 1);
}

#[test]
fn carries_are_followed() {
    let body = "mov.u32 %r1, %tid.x; add.cc.u32 %r2, %r1, 1; addc.u32 %r3, 0, 0;";
    uniform_in_threads(body, "", 0);
}

#[test]
fn one_thread_in_a_dimension_has_one_number() {
    let module = kernel("mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z;");
    let uniform = |block, scope| analyse(&module, block, scope).0;
    assert_eq!(uniform(None, BlockScope::Threads), "");
    assert_eq!(uniform(Some([64, 1, 1]), BlockScope::Threads), "%r2 %r3");
    assert_eq!(uniform(Some([1, 64, 1]), BlockScope::Threads), "%r1 %r3");
}

#[test]
fn lanes_of_all_warps_have_the_same_numbers_if_warps_have_whole_rows() {
    let module = kernel("mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z; mov.u32 %r4, %laneid;");
    let uniform = |block| analyse(&module, block, BlockScope::Lanes).0;
    assert_eq!(uniform(None), "%r4");
    assert_eq!(uniform(Some([64, 2, 1])), "%r4");
    assert_eq!(uniform(Some([24, 4, 1])), "%r4");
    assert_eq!(uniform(Some([16, 16, 1])), "%r1 %r4");
    assert_eq!(uniform(Some([8, 4, 2])), "%r1 %r2 %r4");
    assert_eq!(uniform(Some([8, 2, 2])), "%r1 %r2 %r3 %r4");
}

/// Callers pass what they like.
#[test]
fn arguments_of_functions_are_not() {
    let module = parse(
        ".func f(.reg .b32 %x, .param .b32 y) { .reg .b32 %r<3>; mov.u32 %r1, %x; ld.param.u32 %r2, [y]; \
         mov.u32 %r0, %ctaid.x; ret; }",
    );
    assert_eq!(analyse(&module, None, BlockScope::Threads), ("%r0".to_owned(), 0));
}
