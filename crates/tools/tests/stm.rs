//! What `stm` makes of marks, and what it refuses: each by its name.

use ptx::ir::Module;
use rewrite::{Rewriter, Rewritten};

/// The functions of the header, without what they do.
const HEADER: &str = "
.func warpgrind_tx_open(.param .b64 t) { ret; }
.func warpgrind_tx_begin(.param .b64 t) { ret; }
.func (.param .b32 done) warpgrind_tx_read(.param .b64 t, .param .b64 address, .param .b32 bytes, .param .b64 value)
{ st.param.b32 [done], 1; ret; }
.func (.param .b32 done) warpgrind_tx_write(.param .b64 t, .param .b64 address, .param .b32 bytes, .param .b64 value)
{ st.param.b32 [done], 1; ret; }
.func (.param .b32 done) warpgrind_tx_commit(.param .b64 t) { st.param.b32 [done], 1; ret; }
";

/// Functions that kernels here call.
const FUNCTIONS: &str = "
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func elsewhere();
.func store(.param .b64 p) { .reg .b64 %a; ld.param.u64 %a, [p]; st.global.u32 [%a], 7; ret; }
.func itself(.param .b64 p) { .reg .b64 %a; ld.param.u64 %a, [p]; call itself, (%a); ret; }
.func marked() { BEGIN END ret; }
.global .align 4 .u32 counter;
.global .texref image;
";

const KERNEL: &str =
    ".visible .entry k(.param .u64 p) { .reg .b64 %a, %b; .reg .b32 %r<4>; .reg .f32 %f<8>; .reg .pred %p, %q;
.shared .align 4 .b32 s[4]; .local .align 4 .b32 l[4]; .reg .b32 %v<8>;
ld.param.u64 %a, [p]; setp.eq.u64 %p, %a, 0; mov.u32 %r0, 0; mov.u32 %r1, %tid.x;
BODY ret; }";

fn module(header: &str, body: &str) -> Module {
    let begin = "{ .reg .b32 warpgrind_transaction_begin; mov.b32 warpgrind_transaction_begin, 1280; }";
    let end = "{ .reg .b32 warpgrind_transaction_end; mov.b32 warpgrind_transaction_end, 0; }";
    let text =
        format!(".version 8.6\n.target sm_100\n.address_size 64\n{header}{FUNCTIONS}{}", KERNEL.replace("BODY", body));
    let parsed = ptx::parse(&text.replace("BEGIN", begin).replace("END", end));
    assert!(parsed.diagnostics.is_empty(), "{body}: {:?}", parsed.diagnostics);
    parsed.module
}

fn rewritten(header: &str, body: &str) -> Rewritten {
    let stm = tools::tool("stm").unwrap().instrumentation();
    Rewriter::new(&[stm]).unwrap().rewrite(module(header, body)).unwrap()
}

/// Why the kernel is refused.
fn code(header: &str, body: &str) -> Option<&'static str> {
    rewritten(header, body).kernels["k"].refusal.as_ref().map(|refusal| refusal.code)
}

/// The kernel as it was rewritten.
fn text(body: &str) -> String {
    let rewritten = rewritten(HEADER, body);
    assert_eq!(rewritten.kernels["k"].refusal, None, "{body}");
    assert_eq!(ptx::verify(&rewritten.module), [], "{body}");
    let text = ptx::print(&rewritten.module);
    text[text.find(".entry k$$stm").expect("there is a version")..].to_owned()
}

#[test]
fn what_cannot_be_in_a_transaction_is_refused_by_its_name() {
    for (code_of, inside) in [
        ("barrier", "bar.sync 0;"),
        ("atomic", "atom.global.add.u32 %r2, [%a], 1;"),
        ("atomic", "red.global.add.u32 [%a], 1;"),
        ("fence", "fence.acq_rel.gpu;"),
        ("collective", "vote.sync.any.pred %q, %p, -1;"),
        ("collective", "shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;"),
        ("async-copy", "cp.async.ca.shared.global [s], [%a], 4;"),
        ("async-copy", "cp.async.wait_all;"),
        ("texture", "tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [image, {%r1}];"),
        ("volatile", "st.volatile.global.u32 [%a], 1;"),
        ("ordered-access", "ld.acquire.gpu.global.u32 %r2, [%a];"),
        ("ordered-access", "st.relaxed.gpu.global.u32 [%a], 1;"),
        ("shared-memory", "ld.shared.u32 %r2, [s];"),
        ("shared-memory", "st.shared.u32 [s], 1;"),
        ("local-memory", "st.local.u32 [l], 1;"),
        ("wide-access", "ld.global.v8.b32 {%v0, %v1, %v2, %v3, %v4, %v5, %v6, %v7}, [%a];"),
        ("control", "nanosleep.u32 100;"),
        ("unknown-instruction", "frobnicate.u32 %r2, %r1;"),
        (
            "printf",
            "{ .param .b32 r; .param .b64 f, a; st.param.b64 [f], %a; st.param.b64 [a], %a; call (r), vprintf, (f, a); }",
        ),
        ("device-heap", "{ .param .b64 r, n; st.param.b64 [n], %a; call (r), malloc, (n); }"),
        ("unknown-function", "call elsewhere;"),
        ("call", "call itself, (%a);"),
        ("nested", "BEGIN"),
        ("nested", "call marked;"),
        ("no-end", "@%p ret;"),
        ("no-end", "@%p exit;"),
    ] {
        let body = format!("BEGIN {inside} END");
        assert_eq!(code(HEADER, &body), Some(code_of), "{inside}");
        // Outside of it, all of that may be.
        if !["nested", "unknown-instruction"].contains(&code_of) {
            assert_eq!(code(HEADER, &format!("BEGIN END {inside}")), None, "{inside}");
        }
    }
}

#[test]
fn marks_that_are_not_around_something_are_refused() {
    for (code_of, body) in [
        ("no-begin", "st.global.u32 [%a], 1; END"),
        ("no-end", "BEGIN st.global.u32 [%a], 1;"),
        ("two-entries", "@%p bra IN; BEGIN IN: st.global.u32 [%a], 1; END"),
        ("two-entries", "BEGIN @%p bra OUT; END OUT: st.global.u32 [%a], 1;"),
        (
            "conditional-mark",
            ".reg .b32 warpgrind_transaction_begin; @%p mov.b32 warpgrind_transaction_begin, 1280; END",
        ),
        ("no-header", ".reg .b32 warpgrind_transaction_begin; mov.b32 warpgrind_transaction_begin, 9; END"),
    ] {
        assert_eq!(code(HEADER, body), Some(code_of), "{body}");
    }
    assert_eq!(code(HEADER, &"BEGIN END ".repeat(600)), Some("too-many-marks"));
    assert_eq!(code(HEADER, &format!("BEGIN {} END", "call store, (%a); ".repeat(300))), Some("too-many-calls"));
    assert_eq!(code("", "BEGIN END"), Some("no-header"));
    let other = HEADER.replace(".func warpgrind_tx_begin(.param .b64 t)", ".func warpgrind_tx_begin(.param .b32 t)");
    assert_eq!(code(&other, "BEGIN END"), Some("no-header"));
    let indirect = "BEGIN END { .reg .b64 %f; mov.u64 %f, store; t: .callprototype _ (.param .b64 p); \
                    .param .b64 x; st.param.b64 [x], %a; call %f, (x), t; }";
    assert_eq!(code(HEADER, indirect), Some("indirect-call"));
}

#[test]
fn accesses_pass_through_the_transaction() {
    let text =
        text("BEGIN @%p ld.global.v2.f32 {%f0, %f1}, [%a+8]; ld.u8 %r2, [%a]; st.global.u32 [counter], %r2; END");
    assert_eq!(text.matches("warpgrind_tx_read").count(), 2, "{text}");
    assert_eq!(text.matches("warpgrind_tx_write").count(), 1);
    assert_eq!(text.matches("warpgrind_tx_commit").count(), 1);
    for local in ["ld.local.v2.f32", "ld.local.u8", "st.local.u32"] {
        assert_eq!(text.matches(local).count(), 1, "{text}");
    }
    assert!(!text.contains("ld.global.v2.f32") && !text.contains("st.global.u32"));
    // What is the thread's own, or constant, does not.
    let own = self::text("BEGIN ld.local.u32 %r2, [l]; ld.param.u64 %b, [p]; prefetch.global.L2 [%a]; trap; END");
    assert!(!own.contains("warpgrind_tx_read"));
}

#[test]
fn registers_that_an_attempt_changes_are_as_before_in_the_next() {
    // `%r0` is needed again, `%r2` is not, `%r1` is not changed.
    let text =
        text("BEGIN add.u32 %r0, %r0, %r1; mov.u32 %r2, 5; @%p add.u32 %r3, %r0, %r2; END st.global.u32 [%a], %r0;");
    let copies = text.lines().filter(|line| line.contains("mov.b32") && line.contains("%stm_transaction_b32_"));
    // One there, one back; `%r3` may keep what it was.
    let copies: Vec<&str> = copies.collect();
    assert_eq!(copies.iter().filter(|line| line.contains("%r0")).count(), 2, "{text}");
    assert!(!copies.iter().any(|line| line.contains("%r1") || line.contains("%r2")), "{text}");
}

#[test]
fn functions_that_are_called_become_a_part_of_it() {
    let text = text("BEGIN call store, (%a); END call store, (%a);");
    assert_eq!(text.matches("warpgrind_tx_write").count(), 1, "{text}");
    assert_eq!(text.matches("call \tstore$$stm").count() + text.matches("call store$$stm").count(), 1, "{text}");
}

#[test]
fn an_attempt_goes_back_to_where_it_began() {
    // Two beginnings with one end, as compilers merge them.
    let text =
        text("@%p bra TWO; BEGIN ld.global.u32 %r2, [%a]; bra LAST; TWO: BEGIN st.global.u32 [%a], 2; LAST: END");
    assert_eq!(text.matches("warpgrind_tx_begin").count(), 2, "{text}");
    assert_eq!(text.matches("warpgrind_tx_commit").count(), 1);
    // Each has a number, by which the attempt finds back.
    assert!(text.contains("$stm_failed:") && text.contains("$stm_retry:") && text.contains("$stm_retry_1:"), "{text}");
    let one = self::text("BEGIN ld.global.u32 %r2, [%a]; END");
    assert!(!one.contains("$stm_failed"));
}

#[test]
fn kernels_without_marks_stay_as_they_are() {
    let text = text("st.global.u32 [%a], 1;");
    assert!(!text.contains("warpgrind_tx_") && text.contains("st.global.u32"));
}
