//! Launches of small kernels: what is proved of them, and what is not.

use std::sync::Arc;

use super::{Cause, Condition, Footprint, Footprints, Kernel, Launch, Object, Reader};

const A: u64 = 0x10_0000;
const B: u64 = 0x20_0000;

/// The registers of all kernels here; parameters are two pointers, a number and a float.
fn kernel(body: &str) -> Kernel {
    kernel_with("", body)
}

/// A kernel with functions before it.
fn kernel_with(functions: &str, body: &str) -> Kernel {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n{functions}\n\
         .visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .f32 f)\n{{\n\
         .reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %rd<19>; .reg .f32 %f<9>;\n\
         .shared .align 4 .b8 s[1024];\n\
         ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u32 %r1, [n]; ld.param.f32 %f1, [f];\n\
         mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mad.lo.s32 %r5, %r3, %r4, %r2;\n\
         {body}\nret;\n}}"
    );
    let parsed = crate::parse(&text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    Kernel::of(&parsed.module, parsed.module.function("k").unwrap()).unwrap()
}

fn params(a: u64, b: u64, n: u32, f: f32) -> Vec<u8> {
    [&a.to_le_bytes()[..], &b.to_le_bytes(), &n.to_le_bytes(), &f.to_le_bytes()].concat()
}

/// A launch with two buffers of so many bytes.
fn launch(kernel: &Kernel, grid: u32, block: u32, sizes: [u64; 2], n: u32) -> Footprint {
    let objects = [(A, sizes[0]), (B, sizes[1])].map(|(start, size)| Object { start, size, variable: None });
    let (grid, block) = ([grid, 1, 1], [block, 1, 1]);
    let params = params(A, B, n, 1.0);
    kernel.footprint(&Launch { grid, block, dynamic_shared: 0, params: &params, objects: &objects })
}

#[track_caller]
fn assert_proved(footprint: &Footprint, bounds: bool, races: bool) {
    let found = (footprint.bounds.is_proved(), footprint.races.is_proved());
    assert_eq!(found, (bounds, races), "{footprint:#?}");
}

const GUARDED: &str = "setp.ge.s32 %p1, %r5, %r1; @%p1 bra END;
    mul.wide.s32 %rd3, %r5, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
    ld.global.f32 %f2, [%rd4]; st.global.f32 [%rd5], %f2; END:";

#[test]
fn a_guard_keeps_accesses_in_bounds() {
    let kernel = kernel(GUARDED);
    assert_proved(&launch(&kernel, 4, 256, [4000, 4000], 1000), true, true);
    assert_proved(&launch(&kernel, 4, 256, [4000, 3996], 1000), false, true);
    assert_proved(&launch(&kernel, 4, 256, [4000, 4000], 1001), false, true);
}

#[test]
fn overlapping_buffers_conflict() {
    let kernel = kernel(GUARDED);
    for (distance, is_proved) in [(4000, true), (0, true), (4, false), (3996, false)] {
        let objects = [A, A + distance].map(|start| Object { start, size: 4000, variable: None });
        let params = params(A, A + distance, 1000, 1.0);
        let (grid, block) = ([4, 1, 1], [256, 1, 1]);
        let footprint =
            kernel.footprint(&Launch { grid, block, dynamic_shared: 0, params: &params, objects: &objects });
        // At the distance of nothing, each thread writes what it reads.
        assert_proved(&footprint, true, is_proved);
    }
}

/// Halves the number of threads that add, down to one.
fn reduction(barrier: &str) -> Kernel {
    kernel(&format!(
        "shl.b32 %r6, %r2, 2; mov.u32 %r7, s; add.s32 %r8, %r7, %r6; st.shared.u32 [%r8], %r5; bar.sync 0;
         shr.u32 %r9, %r4, 1;
         AGAIN: setp.ge.u32 %p1, %r2, %r9; @%p1 bra NEXT;
         shl.b32 %r10, %r9, 2; add.s32 %r11, %r8, %r10;
         ld.shared.u32 %r12, [%r11]; ld.shared.u32 %r13, [%r8]; add.s32 %r13, %r13, %r12; st.shared.u32 [%r8], %r13;
         NEXT: {barrier}
         shr.u32 %r9, %r9, 1; setp.ne.u32 %p2, %r9, 0; @%p2 bra AGAIN;"
    ))
}

#[test]
fn barriers_order_what_is_between_them() {
    assert_proved(&launch(&reduction("bar.sync 0;"), 2, 256, [4, 4], 0), true, true);
    assert_proved(&launch(&reduction(""), 2, 256, [4, 4], 0), true, false);
}

#[test]
fn a_barrier_that_not_all_threads_reach_orders_nothing() {
    let kernel = kernel("setp.lt.u32 %p1, %r2, 32; @!%p1 bra END; bar.sync 0; mov.u32 %r6, 1; END: mov.u32 %r7, %r6;");
    let footprint = launch(&kernel, 1, 64, [4, 4], 0);
    assert!(matches!(footprint.races.reasons(), [reason] if reason.cause == Cause::Barrier), "{footprint:#?}");
}

#[test]
fn bits_of_indices_are_linear() {
    // The index with one bit flipped, in pairs: (i / 8) * 16 + i % 8, and 8 more.
    let pairs = kernel(
        "and.b32 %r6, %r5, 7; shr.u32 %r7, %r5, 3; shl.b32 %r8, %r7, 4; or.b32 %r9, %r8, %r6; xor.b32 %r10, %r9, 8;
         mul.wide.u32 %rd3, %r9, 4; add.s64 %rd4, %rd1, %rd3; mul.wide.u32 %rd5, %r10, 4; add.s64 %rd6, %rd1, %rd5;
         ld.global.u32 %r11, [%rd4]; st.global.u32 [%rd6], %r11; st.global.u32 [%rd4], %r11;",
    );
    assert_proved(&launch(&pairs, 2, 64, [1024, 4], 0), true, true);
    assert_proved(&launch(&pairs, 2, 64, [1020, 4], 0), false, true);
    let colliding = kernel(
        "xor.b32 %r6, %r5, 8; mul.wide.u32 %rd3, %r5, 4; add.s64 %rd4, %rd1, %rd3; mul.wide.u32 %rd5, %r6, 4;
         add.s64 %rd6, %rd1, %rd5; ld.global.u32 %r11, [%rd4]; st.global.u32 [%rd6], %r11;",
    );
    assert_proved(&launch(&colliding, 2, 64, [512, 4], 0), true, false);
}

#[test]
fn an_unsigned_comparison_excludes_negative_indices() {
    let kernel = kernel(
        "sub.s32 %r6, %r5, 3; setp.lt.u32 %p1, %r6, %r1; @!%p1 bra END;
         mul.wide.s32 %rd3, %r6, 4; add.s64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r5; END:",
    );
    assert_proved(&launch(&kernel, 2, 64, [400, 4], 100), true, true);
    assert_proved(&launch(&kernel, 2, 64, [396, 4], 100), false, true);
}

/// Elements at a distance of the whole grid from each other.
const STRIDED: &str = "mov.u32 %r6, %nctaid.x; mul.lo.s32 %r7, %r6, %r4; mov.u32 %r8, %r5;
    setp.ge.s32 %p1, %r8, %r1; @%p1 bra END;
    AGAIN: mul.wide.s32 %rd3, %r8, 4; add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r9, [%rd4]; st.global.u32 [%rd4], %r9;
    add.s32 %r8, %r8, %r7; setp.lt.s32 %p2, %r8, %r1; @%p2 bra AGAIN; END:";

#[test]
fn a_summarised_loop_costs_the_same_however_often_it_goes_around() {
    let kernel = kernel(STRIDED);
    let short = launch(&kernel, 8, 64, [1 << 20, 4], 1 << 18);
    let long = launch(&kernel, 8, 64, [1 << 26, 4], 1 << 24);
    assert_proved(&short, true, true);
    assert_proved(&long, true, true);
    assert_eq!(short.steps, long.steps);
    assert_proved(&launch(&kernel, 8, 64, [(1 << 26) - 4, 4], 1 << 24), false, true);
}

#[test]
fn data_is_unknown_within_the_range_of_its_type() {
    let load = |ty: &str| {
        kernel(&format!(
            "mul.wide.u32 %rd3, %r5, 4; add.s64 %rd4, %rd1, %rd3; ld.global.{ty} %r6, [%rd4];
             mul.wide.s32 %rd5, %r6, 4; add.s64 %rd6, %rd2, %rd5; ld.global.u32 %r7, [%rd6];"
        ))
    };
    assert_proved(&launch(&load("u8"), 1, 32, [128, 1024], 0), true, true);
    assert_proved(&launch(&load("u8"), 1, 32, [128, 1020], 0), false, true);
    let unknown = launch(&load("u32"), 1, 32, [128, 1024], 0);
    assert_proved(&unknown, false, true);
    let reason = &unknown.bounds.reasons()[0];
    assert_eq!(reason.site.instruction, "ld.global.u32 %r7, [%rd6]");
    assert!(reason.to_string().contains("depends on data"), "{reason}");
}

#[test]
fn atomic_operations_conflict_beyond_their_scope() {
    let atomic = |scope: &str| kernel(&format!("red{scope}.global.add.u32 [%rd1], 1;"));
    assert_proved(&launch(&atomic(".gpu"), 2, 32, [4, 4], 0), true, true);
    assert_proved(&launch(&atomic(".cta"), 2, 32, [4, 4], 0), true, false);
    assert_proved(&launch(&atomic(".cta"), 1, 32, [4, 4], 0), true, true);
    // What is stored besides is not atomic.
    let mixed = kernel("red.global.add.u32 [%rd1], 1; ld.global.u32 %r6, [%rd1];");
    assert_proved(&launch(&mixed, 1, 32, [4, 4], 0), true, false);
}

#[test]
fn bytes_and_vectors_are_compared_to_the_byte() {
    let bytes = kernel("cvt.u64.u32 %rd3, %r5; add.s64 %rd4, %rd1, %rd3; st.global.u8 [%rd4], %r5;");
    assert_proved(&launch(&bytes, 2, 32, [64, 4], 0), true, true);
    let vectors = |stride: u32| {
        kernel(&format!(
            "mul.wide.u32 %rd3, %r5, {stride}; add.s64 %rd4, %rd1, %rd3; st.global.v4.u32 [%rd4], {{%r1, %r1, %r1, %r1}};"
        ))
    };
    assert_proved(&launch(&vectors(16), 2, 32, [1024, 4], 0), true, true);
    // Four bytes overlap, and addresses are not aligned.
    assert_proved(&launch(&vectors(12), 2, 32, [1024, 4], 0), false, false);
}

#[test]
fn what_is_not_understood_is_not_proved() {
    let odd = kernel("cp.async.wait_all; st.global.u32 [%rd1], 1;");
    let footprint = launch(&odd, 1, 1, [4, 4], 0);
    assert_proved(&footprint, false, false);
    assert!(matches!(footprint.bounds.reasons()[0].cause, Cause::NotUnderstood(_)));
    let forged = kernel("mov.u64 %rd3, 4096; st.global.u32 [%rd3], 1;");
    assert_proved(&launch(&forged, 1, 32, [4, 4], 0), false, false);
}

#[test]
fn a_sink_in_a_pair_of_predicates_is_no_predicate() {
    // %p2 is the complement: it is the threads from 16 on that store, past the end.
    let kernel = kernel(
        "setp.lt.u32 _|%p2, %r2, 16; mul.wide.u32 %rd3, %r2, 4; add.s64 %rd4, %rd1, %rd3;
         @%p2 st.global.u32 [%rd4], 1;",
    );
    assert_proved(&launch(&kernel, 1, 32, [64, 4], 0), false, true);
}

#[test]
fn launches_that_differ_in_nothing_that_matters_have_one_answer() {
    let mut footprints = Footprints::new(kernel(GUARDED), 16);
    let mut ask = |start: u64, n: u32, f: f32| {
        let objects = [start, start + 0x8000].map(|start| Object { start, size: 4000, variable: None });
        let params = params(start, start + 0x8000, n, f);
        let (grid, block) = ([4, 1, 1], [256, 1, 1]);
        footprints.footprint(&Launch { grid, block, dynamic_shared: 0, params: &params, objects: &objects })
    };
    let first = ask(A, 1000, 1.0);
    assert!(Arc::ptr_eq(&first, &ask(A, 1000, 2.0)));
    assert!(Arc::ptr_eq(&first, &ask(B, 1000, 1.0)));
    let other = ask(A, 1001, 1.0);
    assert!(first.bounds.is_proved() && !other.bounds.is_proved());
}

/// Calls a function with the index of the thread, and stores where it says.
const STORES_BY_CALL: &str = "{ .param .b32 index; .param .b32 result; st.param.b32 [index], %r5;
    call.uni (result), place, (index); ld.param.b32 %r6, [result]; }
    mul.wide.u32 %rd3, %r6, 4; add.s64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r5;";

#[test]
fn functions_are_looked_into() {
    let reversed = kernel_with(
        ".func (.param .b32 result) place(.param .b32 index) { .reg .b32 %r<4>;
         ld.param.b32 %r1, [index]; sub.s32 %r2, 127, %r1; st.param.b32 [result], %r2; ret; }",
        STORES_BY_CALL,
    );
    assert_proved(&launch(&reversed, 2, 64, [512, 4], 0), true, true);
    assert_proved(&launch(&reversed, 2, 64, [508, 4], 0), false, true);
    let halves = kernel_with(
        ".func (.param .b32 half) half_of(.param .b32 number) { .reg .b32 %r<4>;
         ld.param.b32 %r1, [number]; shr.u32 %r2, %r1, 1; st.param.b32 [half], %r2; ret; }
         .func (.param .b32 result) place(.param .b32 index) { .reg .b32 %r<4>;
         ld.param.b32 %r1, [index];
         { .param .b32 given; .param .b32 half; st.param.b32 [given], %r1;
         call.uni (half), half_of, (given); ld.param.b32 %r2, [half]; }
         st.param.b32 [result], %r2; ret; }",
        STORES_BY_CALL,
    );
    // Two threads store to one place.
    assert_proved(&launch(&halves, 2, 64, [256, 4], 0), true, false);
}

#[test]
fn a_function_that_waits_at_a_barrier_orders_its_callers() {
    let waits = |barrier: &str| {
        kernel_with(
            &format!(".func waits() {{ {barrier} ret; }}"),
            "shl.b32 %r6, %r2, 2; mov.u32 %r7, s; add.s32 %r8, %r7, %r6; xor.b32 %r9, %r6, 4; add.s32 %r10, %r7, %r9;
             st.shared.u32 [%r8], %r5; call.uni waits, (); ld.shared.u32 %r11, [%r10];",
        )
    };
    assert_proved(&launch(&waits("bar.sync 0;"), 1, 64, [4, 4], 0), true, true);
    assert_proved(&launch(&waits(""), 1, 64, [4, 4], 0), true, false);
}

#[test]
fn functions_without_a_body_are_refused_except_those_that_print() {
    let body = |name: &str| {
        format!(
            "{{ .param .b64 format; .param .b64 arguments; .param .b32 result; st.param.b64 [format], %rd1;
             st.param.b64 [arguments], %rd2; call.uni (result), {name}, (format, arguments); ld.param.b32 %r6, [result]; }}"
        )
    };
    let declared = |name: &str| format!(".extern .func (.param .b32 r) {name} (.param .b64 f, .param .b64 a);");
    let prints = kernel_with(&declared("vprintf"), &body("vprintf"));
    assert_proved(&launch(&prints, 1, 64, [4, 4], 0), true, true);
    let unknown = kernel_with(&declared("unknown"), &body("unknown"));
    assert_proved(&launch(&unknown, 1, 64, [4, 4], 0), false, false);
    let endless = kernel_with(
        ".func (.param .b32 result) place(.param .b32 index) { .reg .b32 %r<4>; ld.param.b32 %r1, [index];
         { .param .b32 given; .param .b32 again; st.param.b32 [given], %r1;
         call.uni (again), place, (given); ld.param.b32 %r1, [again]; } st.param.b32 [result], %r1; ret; }",
        STORES_BY_CALL,
    );
    let footprint = launch(&endless, 1, 64, [4, 4], 0);
    assert!(matches!(footprint.bounds.reasons(), [reason, ..] if matches!(reason.cause, Cause::NotUnderstood(_))));
}

/// Threads compare a number with one of row `n` and one of column `n`, and may replace it.
const RELAX: &str =
    "mov.u32 %r6, %ctaid.y; mov.u32 %r7, %nctaid.x; mul.lo.u32 %r8, %r7, %r4; mad.lo.u32 %r9, %r6, %r8, %r5;
    mad.lo.u32 %r10, %r6, %r8, %r1; mad.lo.u32 %r11, %r1, %r8, %r5;
    mul.wide.u32 %rd3, %r9, 4; add.s64 %rd4, %rd1, %rd3; mul.wide.u32 %rd5, %r10, 4; add.s64 %rd6, %rd1, %rd5;
    mul.wide.u32 %rd7, %r11, 4; add.s64 %rd8, %rd1, %rd7;
    ld.global.u32 %r12, [%rd6]; ld.global.u32 %r13, [%rd8]; add.u32 %r12, %r12, %r13; ld.global.u32 %r14, [%rd4];";

/// What a launch of 8 rows of 64 numbers depends on.
fn condition(body: &str) -> Option<Condition> {
    let kernel = kernel(&format!("{RELAX} setp.ge.u32 %p1, %r12, %r14; {body} END:"));
    let objects = [(A, 4096), (B, 4096)].map(|(start, size)| Object { start, size, variable: None });
    let params = params(A, B, 3, 1.0);
    let (grid, block) = ([2, 8, 1], [32, 1, 1]);
    let footprint = kernel.footprint(&Launch { grid, block, dynamic_shared: 0, params: &params, objects: &objects });
    assert_proved(&footprint, true, false);
    footprint.condition
}

#[test]
fn a_write_that_depends_on_data_races_only_with_certain_reads() {
    let found = condition("@%p1 bra END; st.global.u32 [%rd4], %r12;").expect("there is a condition");
    assert_eq!((found.writes.len(), found.reads.len(), found.bytes), (1, 2, 4));
    let thread = |row: u32, column: u32| ([column / 32, row, 0], [column % 32, 0, 0]);
    let reader = |row: u32, column: u32| {
        let (block, thread) = thread(row, column);
        found.reader(u64::from(row * 64 + column) * 4, block, thread)
    };
    let (first, bits) = found.marks(64).expect("they are few");
    let is_marked = |at: u64| at.checked_sub(first).is_some_and(|at| bits[at as usize / 256] >> (at / 4 % 64) & 1 != 0);
    for (row, column) in (0..8).flat_map(|row| (0..64).map(move |column| (row, column))) {
        let is_read = row == 3 || column == 3;
        assert_eq!(is_marked(u64::from(row * 64 + column) * 4), is_read, "row {row}, column {column}");
        match reader(row, column) {
            Reader::Thread { block, thread: [x, ..], .. } => {
                let (other_row, other_column) = (block[1], block[0] * 32 + x);
                assert!(is_read && (other_row, other_column) != (row, column));
                assert!(column == 3 && other_row == row || row == 3 && other_column == column);
            }
            other => assert!(other == Reader::Nobody && !is_read, "row {row}, column {column}: {other:?}"),
        }
    }
    assert_eq!(found.marks(1), None);
    // A guard is a branch.
    assert!(condition("@!%p1 st.global.u32 [%rd4], %r12;").is_some());
}

#[test]
fn nothing_is_said_of_what_more_than_one_write_decides() {
    // All threads write one place; a thread writes its neighbour's; what is read before it depends on data, too.
    assert_eq!(condition("@%p1 bra END; st.global.u32 [%rd1], %r12;"), None);
    assert_eq!(condition("@!%p1 st.global.u32 [%rd6], %r12;"), None);
    assert_eq!(condition("@%p1 ld.global.u32 %r15, [%rd4+64]; @!%p1 st.global.u32 [%rd4], %r12;"), None);
    // An atomic operation, a strong one, one of another size, and one that takes place in any case.
    assert_eq!(condition("@!%p1 red.global.add.u32 [%rd4], %r12;"), None);
    assert_eq!(condition("@!%p1 st.relaxed.gpu.global.u32 [%rd4], %r12;"), None);
    assert_eq!(condition("@!%p1 st.global.u8 [%rd4], %r12; @!%p1 st.global.u32 [%rd4], %r12;"), None);
    assert_eq!(condition("st.global.u32 [%rd4], %r12;"), None);
    // A barrier.
    assert_eq!(condition("bar.sync 0; ld.global.u32 %r15, [%rd4]; @!%p1 st.global.u32 [%rd4], %r12;"), None);
}

#[test]
fn reads_that_only_some_threads_do_are_certain_if_indices_decide() {
    // Column 5 is read by rows below 4; whether column 6 is, depends on data; column 7 is read by who is left after an exit.
    let kernel =
        |reads: &str| condition(&format!("{reads} setp.ge.u32 %p4, %r12, %r14; @!%p4 st.global.u32 [%rd4], %r12;"));
    let found = kernel("setp.lt.u32 %p2, %r6, 4; @%p2 ld.global.u32 %r15, [%rd6+8];").expect("there is a condition");
    assert_eq!(found.reads.len(), 3);
    let at = |row: u32| found.reader(u64::from(row * 64 + 5) * 4, [0, row, 0], [5, 0, 0]);
    assert!(matches!(at(2), Reader::Thread { block: [_, 2, 0], .. }));
    assert_eq!(at(5), Reader::Nobody);
    assert_eq!(kernel("setp.lt.u32 %p2, %r14, 4; @%p2 ld.global.u32 %r15, [%rd6+12];"), None);
    let after = |exit: &str| kernel(&format!("{exit} ld.global.u32 %r15, [%rd6+16];"));
    assert!(after("setp.lt.u32 %p2, %r6, 4; @%p2 exit;").is_some());
    assert_eq!(after("setp.lt.u32 %p2, %r14, 4; @%p2 exit;"), None);
    // Where both ways of a branch meet again, all are there.
    let branch =
        |what: &str| after(&format!("setp.lt.u32 %p2, %r14, 4; @%p2 bra ELSE; mov.u32 %r16, %r6; ELSE: {what}"));
    assert!(branch("").is_some());
    let exit = "setp.lt.u32 %p2, %r14, 4; @%p2 bra ELSE; setp.lt.u32 %p3, %r14, 9; @%p3 exit; ELSE:";
    assert_eq!(after(exit), None);
}
