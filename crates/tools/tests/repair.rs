//! What `repair` refuses, what it can only run serially, and what its versions look like.

mod common;

use common::kernel;
use rewrite::Rewritten;

fn rewritten(text: &str) -> Rewritten {
    common::rewritten("repair", text)
}

const SHARED: &str = ".shared .align 16 .b8 tile[64];";

/// Kernels that have no serial order: what is before them, what they have, and the code.
const REFUSED: &[(&str, &str, &str)] = &[
    ("", "bar.sync 1;", "named-barrier"),
    ("", "bar.sync 0, 64;", "named-barrier"),
    ("", "bar.arrive 0, 64;", "named-barrier"),
    ("", "membar.gl;", "fence"),
    ("", "fence.acq_rel.gpu;", "fence"),
    (SHARED, "mbarrier.init.shared.b64 [tile], 1;", "mbarrier"),
    ("", "barrier.cluster.arrive;", "cluster"),
    ("", "wgmma.fence.sync.aligned;", "tensor"),
    ("", "ld.volatile.global.u32 %r1, [%d1];", "strong-access"),
    (SHARED, "st.volatile.shared.u32 [tile], %r1;", "strong-access"),
    ("", "ld.acquire.gpu.global.u32 %r1, [%d1];", "strong-access"),
    ("", "st.release.gpu.global.u32 [%d1], %r1;", "strong-access"),
    ("", "atom.acq_rel.gpu.global.add.u32 %r1, [%d1], 1;", "strong-access"),
    ("", "mov.u32 %r1, %clock;", "clock"),
    ("", "mov.u64 %d2, %globaltimer;", "clock"),
    ("", "again: atom.global.cas.b32 %r2, [%d1], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra again;", "spin"),
    ("", "again: atom.global.exch.b32 %r2, [%d1], 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra again;", "spin"),
    ("", "again: atom.global.add.u32 %r2, [%d1], 0; setp.ne.u32 %p1, %r2, 7; @%p1 bra again;", "spin"),
    (
        ".extern .func (.param .b32 r) cudaLaunchDeviceV2(.param .b64 b, .param .b64 s);",
        "{ .param .b64 b; .param .b64 s; .param .b32 r; st.param.b64 [b], 0; st.param.b64 [s], 0;\n\
         call (r), cudaLaunchDeviceV2, (b, s); }",
        "device-launch",
    ),
    ("", "frobnicate.u32 %r1, %r1;", "unknown-instruction"),
];

/// Kernels that have a serial order, and cannot be checked or undone.
const SERIAL: &[(&str, &str, &str)] = &[
    ("", "ld.param.u64 %d2, [surface]; sust.b.1d.b32.trap [%d2, {%r1}], {%r1};", "surface"),
    (SHARED, "cp.async.ca.shared.global [tile], [%d1], 4;", "async-copy"),
    ("", "activemask.b32 %r2; bar.warp.sync %r2;", "partial-warp"),
    ("", "shfl.sync.bfly.b32 %r1, %r1, 1, 31, 0xffff;", "partial-warp"),
    ("", "mov.b32 %r2, -1; @%p1 mov.b32 %r2, 3; shfl.sync.bfly.b32 %r1, %r1, 1, 31, %r2;", "partial-warp"),
    (
        ".extern .func (.param .b64 r) malloc(.param .b64 n);",
        "{ .param .b64 n; .param .b64 r; st.param.b64 [n], 8; call (r), malloc, (n); ld.param.b64 %d2, [r]; }",
        "device-heap",
    ),
    (
        ".visible .func store() { ret; }\n.global .align 8 .u64 table[1] = {store};",
        "ld.global.u64 %d2, [table]; prototype_0 : .callprototype _ (); call %d2, prototype_0;",
        "indirect-call",
    ),
    (
        SHARED,
        "wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, [tile], 16;",
        "matrix-access",
    ),
];

/// Kernels that have a serial order, and whose threads cannot keep it by themselves.
const NOT_ONE_BY_ONE: &[(&str, &str, &str)] = &[
    ("", "shfl.bfly.b32 %r1, %r1, 1, 31;", "partial-warp"),
    ("", "mov.v4.u32 {%r1, %r2, %r3, %r4}, %ctaid;", "vector-id"),
    (
        ".visible .func store() { ret; }\n.global .align 8 .u64 table[1] = {store};",
        "ld.global.u64 %d2, [table]; prototype_0 : .callprototype _ (); call %d2, prototype_0;",
        "indirect-call",
    ),
];

/// Kernels that are checked: barriers, collectives of whole warps, atomic operations, what is printed.
const CHECKED: &[(&str, &str)] = &[
    (SHARED, "st.shared.u32 [tile], %r1; bar.sync 0; ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [tile];"),
    ("", "shfl.sync.bfly.b32 %r1, %r1, 1, 31, -1; bar.warp.sync 0xffffffff;"),
    ("", "mov.b32 %r2, -1; shfl.sync.bfly.b32 %r1, %r1, 1, 31, %r2;"),
    ("", "atom.global.add.u32 %r1, [%d1], 1; red.global.add.f32 [%d1+4], %f1; atom.global.exch.b32 %r2, [%d1], 1;"),
    ("", "@%p1 bar.sync 0; @%p1 st.global.u32 [%d1], %r1; @!%p1 shfl.sync.bfly.b32 %r1|%p1, %r1, 1, 31, -1;"),
    (
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);",
        "{ .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], 0; st.param.b64 [a], 0;\n\
         call (r), vprintf, (f, a); ld.param.b32 %r1, [r]; }",
    ),
];

#[test]
fn kernels_without_a_serial_order_are_refused_by_name() {
    for (before, body, code) in REFUSED {
        let rewritten = rewritten(&kernel(before, body));
        let kernel = &rewritten.kernels["k"];
        for version in [1, 2, 4, 5] {
            assert_eq!(kernel.refusal_of(&[version]).map(|refusal| refusal.code), Some(*code), "{body}");
        }
        assert!(kernel.version(&[0]).is_some_and(|version| version.is_plain), "{body}");
    }
}

#[test]
fn kernels_that_cannot_be_checked_have_only_the_original() {
    for (before, body, code) in SERIAL {
        let rewritten = rewritten(&kernel(before, body));
        let kernel = &rewritten.kernels["k"];
        assert_eq!(kernel.refusal, None, "{body}");
        for version in [1, 2] {
            assert_eq!(kernel.refusal_of(&[version]).map(|refusal| refusal.code), Some(*code), "{body}");
        }
        for version in [0, 3, 4] {
            assert!(kernel.version(&[version]).is_some_and(|version| version.is_plain), "{body}");
        }
    }
}

#[test]
fn kernels_whose_threads_cannot_keep_the_order_are_refused_by_name() {
    for (before, body, code) in NOT_ONE_BY_ONE {
        let rewritten = rewritten(&kernel(before, body));
        assert_eq!(rewritten.kernels["k"].refusal_of(&[5]).map(|refusal| refusal.code), Some(*code), "{body}");
    }
    let old = kernel("", "st.global.u32 [%d1], 1;").replace("sm_90a", "sm_60");
    assert_eq!(rewritten(&old).kernels["k"].refusal_of(&[5]).map(|refusal| refusal.code), Some("old-target"));
}

/// The turn is handed on before each synchronisation, and waited for after it; a copy is made while the thread has it.
#[test]
fn threads_hand_on_their_turn_where_they_synchronise() {
    let text =
        kernel(SHARED, "bar.sync 0; @%p1 bar.sync 0; cp.async.ca.shared.global [tile], [%d1], 4; bar.warp.sync 3;");
    let rewritten = rewritten(&text);
    let symbol = &rewritten.kernels["k"].version(&[5]).unwrap().symbol;
    let printed = ptx::print(&rewritten.module);
    let body = printed.split(&format!(".entry {symbol}(")).nth(1).unwrap();
    let body = &body[..body.find("\n}").unwrap()];
    let steps = |line: &str| {
        let known = ["enter", "stop", "meet", "end_for_all", "await"];
        let helper = known.into_iter().find(|name| line.contains(&format!("warpgrind_repair_{name}$")));
        helper
            .or_else(|| ["bar.sync", "bar.warp.sync", "cp.async.wait_all"].into_iter().find(|name| line.contains(name)))
    };
    let found: Vec<&str> = body.lines().filter_map(steps).collect();
    let barrier = ["stop", "bar.sync", "await"];
    let wanted = [
        &["bar.sync", "enter"][..],
        &barrier,
        &barrier,
        &["cp.async.wait_all", "meet", "bar.warp.sync", "await", "end_for_all"],
    ];
    assert_eq!(found, wanted.concat(), "{body}");
}

#[test]
fn others_are_checked() {
    for (before, body) in CHECKED {
        let rewritten = rewritten(&kernel(before, body));
        let kernel = &rewritten.kernels["k"];
        assert_eq!((&kernel.refusal, kernel.refused.len()), (&None, 0), "{body}");
        assert!(kernel.version(&[1]).is_some_and(|version| version.sites > 0), "{body}");
    }
}

/// What is only read is left out where that is known, and what is read and written is not.
#[test]
fn accesses_whose_order_does_not_matter_are_left_out() {
    let text = kernel(
        SHARED,
        "ld.param.u64 %d2, [surface]; ld.global.u32 %r2, [%d2]; ld.global.u32 %r3, [%d1];\n\
         st.shared.u32 [tile], %r2; bar.sync 0; ld.shared.u32 %r1, [tile]; bar.sync 0; red.shared.add.u32 [tile+4], 1;",
    );
    let rewritten = rewritten(&text);
    let sites = |version| rewritten.kernels["k"].version(&[version]).unwrap().sites;
    // Not the load of what only is read, the load between two barriers, and reductions among themselves.
    assert_eq!((sites(1), sites(2)), (6, 3));
}
