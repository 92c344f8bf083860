//! Uniformity of functions that are large in one way or another: the time must not grow with the square of the length.
//!
//! The limits are generous, because tests run without optimisation and beside others; with the square of the length, each
//! of these would take minutes. Run with `--nocapture` to see the times.

#![allow(clippy::print_stdout)]

use std::fmt::Write;
use std::time::{Duration, Instant};

use ptx::analysis::{BranchUniformity, Cfg, Class, LaunchFacts, Uniformity};

const LIMIT: Duration = Duration::from_secs(30);

/// Analyses a kernel with this body, and says what the time was.
fn analyse(title: &str, body: &str) -> (Uniformity, Cfg) {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u32 n, .param .u64 a) {{\n\
         .reg .pred %p<4>; .reg .b32 %r<200000>; .reg .b64 %rd<200000>;\n\
         mov.u32 %r0, %tid.x; ld.param.u32 %r1, [n]; ld.param.u64 %rd0, [a]; ld.param.u32 %r2, [n]; setp.lt.s32 %p0, %r0, %r1;\n\
         setp.lt.s32 %p1, %r1, 7;\n{body}\n}}\n"
    );
    let parsed = ptx::parse(&text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let module = parsed.module;
    let function = &module.functions[module.function("k").expect("the kernel is called k")];
    let cfg = Cfg::of(&module.forms, function);
    let start = Instant::now();
    let uniformity = Uniformity::of(&module, function, &cfg, &LaunchFacts::default().with_block([256, 1, 1]));
    let time = start.elapsed();
    let instructions = function.body.as_ref().expect("the kernel has a body").insts().count();
    println!("{title}: {time:.1?} for {instructions} instructions in {} blocks", cfg.len());
    assert!(time < LIMIT, "{title}: {time:.1?}");
    (uniformity, cfg)
}

/// Fails if a change of a value makes everything after it be looked at again.
#[test]
fn long_straight_code() {
    let mut body = String::new();
    for i in 0..30_000 {
        writeln!(body, "add.s32 %r{}, %r{}, {};", i + 3, if i % 100 == 0 { 0 } else { i + 2 }, i % 7).unwrap();
    }
    let (uniformity, _) = analyse("straight", &format!("{body} ret;"));
    let is_affine = |&web: &_| uniformity.value(web).class() == Class::Affine { stride: 1 };
    assert!(uniformity.webs().filter(is_affine).count() >= 30_000);
}

/// Fails if the region of every early return, which is all the rest of the function, is walked through.
#[test]
fn many_early_returns() {
    let mut body = String::new();
    for i in 0..20_000 {
        let (last, next) = (i + 2, i + 3);
        writeln!(body, "add.s32 %r{next}, %r{last}, 1; setp.lt.s32 %p2, %r{next}, %r0; @%p2 bra DONE;").unwrap();
    }
    let (uniformity, cfg) = analyse("early returns", &format!("{body} st.global.u32 [%rd0], %r20002; DONE: ret;"));
    assert!(uniformity.is_exact());
    assert!(uniformity.branches().all(|(_, branch)| branch.uniformity == BranchUniformity::Divergent));
    assert_eq!(uniformity.divergent_blocks().count(), cfg.len() - 2);
    let is_uniform = |&web: &_| uniformity.value(web).is_uniform();
    assert!(uniformity.webs().filter(is_uniform).count() > 20_000);
}

/// Fails if nested regions are walked through once for each branch without an end.
#[test]
fn deep_nesting() {
    let mut body = String::new();
    for i in 0..5_000 {
        writeln!(body, "add.s32 %r{}, %r0, {i}; setp.lt.s32 %p2, %r{}, %r1; @%p2 bra END{i};", i + 3, i + 3).unwrap();
    }
    for i in (0..5_000).rev() {
        writeln!(body, "add.s32 %r2, %r2, 1; END{i}: add.s32 %r2, %r2, %r{};", i + 3).unwrap();
    }
    let (uniformity, _) = analyse("deep nesting", &format!("{body} st.global.u32 [%rd0], %r2; ret;"));
    assert!(uniformity.branches().all(|(_, branch)| branch.uniformity == BranchUniformity::Divergent));
}

/// Fails if each of many live registers is asked for at each of many joins.
#[test]
fn many_registers_live_across_many_branches() {
    let mut body = String::new();
    for i in 0..3_000 {
        writeln!(body, "add.s32 %r{}, %r1, {i};", i + 10).unwrap();
    }
    for i in 0..3_000 {
        writeln!(body, "@%p0 bra SKIP{i}; add.s32 %r{}, %r1, 1; SKIP{i}:", i + 10).unwrap();
    }
    for i in 0..3_000 {
        writeln!(body, "add.s32 %r2, %r2, %r{};", i + 10).unwrap();
    }
    let (uniformity, _) = analyse("many registers", &format!("{body} st.global.u32 [%rd0], %r2; ret;"));
    let is_vector = |&web: &_| uniformity.value(web).class() == Class::Vector;
    assert!(uniformity.webs().filter(is_vector).count() > 3_000);
}

/// Fails if loops around a branch are gone through again for each of them.
#[test]
fn deeply_nested_loops_that_lanes_leave() {
    let mut body = String::new();
    for i in 0..1_000 {
        writeln!(body, "mov.u32 %r{}, 0; HEAD{i}: add.s32 %r{}, %r{}, 1;", i + 3, i + 3, i + 3).unwrap();
    }
    for i in (0..1_000).rev() {
        writeln!(body, "setp.lt.s32 %p2, %r{}, %r0; @%p2 bra HEAD{i};", i + 3).unwrap();
    }
    let (uniformity, _) = analyse("nested loops", &format!("{body} ret;"));
    assert_eq!(uniformity.branches().count(), 1_000);
}

/// Fails if loops with several entries make every branch say the same of everything.
#[test]
fn a_jungle_of_branches() {
    let mut body = String::new();
    for i in 0..10_000_u64 {
        let target = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 10_000;
        writeln!(
            body,
            "L{i}: add.s32 %r{}, %r{}, 1; setp.lt.s32 %p2, %r{}, %r0; @%p2 bra L{target};",
            i + 10,
            (i * 7) % 10_000 + 10,
            i + 10
        )
        .unwrap();
    }
    let (uniformity, _) = analyse("jungle", &format!("{body} ret;"));
    assert!(uniformity.branches().count() == 10_000);
}

/// Fails if switches with many cases take the square of their number.
#[test]
fn a_large_switch() {
    let mut body = String::from("table: .branchtargets ");
    for i in 0..3_000 {
        write!(body, "{}CASE{i}", if i == 0 { "" } else { ", " }).unwrap();
    }
    body.push_str(";\nbrx.idx %r0, table;\n");
    for i in 0..3_000 {
        writeln!(body, "CASE{i}: mov.u32 %r2, {i}; mov.u32 %r{}, {i}; bra DONE;", i + 10).unwrap();
    }
    let (uniformity, _) = analyse("switch", &format!("{body} DONE: st.global.u32 [%rd0], %r2; ret;"));
    assert_eq!(uniformity.branches().count(), 1);
}
