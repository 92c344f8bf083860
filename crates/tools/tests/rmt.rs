//! What `rmt` refuses, and in which variants; and what its versions look like.

mod common;

use std::collections::BTreeSet;

use common::kernel;
use rewrite::{LaunchShape, Rewritten};

fn rewritten(text: &str) -> Rewritten {
    common::rewritten("rmt", text)
}

/// Why versions whose names end so are refused; nothing if they are made.
fn refusals(text: &str, version: &str) -> BTreeSet<&'static str> {
    let rewritten = rewritten(text);
    let kernel = &rewritten.kernels["k"];
    assert_eq!(kernel.refusal, None, "{text}");
    let (_, number) = VERSIONS.iter().find(|(name, _)| *name == version).unwrap();
    kernel.refusal_of(&[*number]).map(|refusal| refusal.code).into_iter().collect()
}

/// Versions of which refusals are asked for, and their numbers.
const VERSIONS: [(&str, usize); 9] = [
    ("kernel", 1),
    ("pair", 2),
    ("pair-in-place", 3),
    ("pair-no-shared", 4),
    ("pair-no-shared-in-place", 5),
    ("warp-pair", 66),
    ("warp-pair-in-place", 67),
    ("inter", 72),
    ("inter-in-place", 73),
];

const SHARED: &str = ".shared .align 4 .b8 tile[64];";

/// What refusals are for: what is before a kernel, what it has, and by which code `kernel`, `pair`,
/// `pair-no-shared`, `warp-pair` and `inter` refuse it.
const REFUSED: &[(&str, &str, [&str; 5])] = &[
    ("", "shfl.sync.bfly.b32 %r1, %r1, 1, 31, -1;", ["", "collective", "collective", "", ""]),
    ("", "bar.warp.sync -1;", ["", "collective", "collective", "", ""]),
    (
        SHARED,
        "atom.shared.exch.b32 %r1, [tile], 1;",
        ["order-dependent", "shared-atomic", "", "shared-atomic", "shared-atomic"],
    ),
    (
        SHARED,
        "red.shared.add.f32 [tile], %f1;",
        ["order-dependent", "shared-atomic", "", "shared-atomic", "shared-atomic"],
    ),
    (
        SHARED,
        "red.shared.add.u32 [tile], 1; red.shared.max.u32 [tile], 3;",
        ["order-dependent", "shared-atomic", "", "shared-atomic", "shared-atomic"],
    ),
    (
        SHARED,
        "ld.global.u64 %d2, [%d1]; red.add.u32 [%d2], 1; st.shared.u32 [tile], %r1;",
        ["", "generic-atomic", "", "generic-atomic", "generic-atomic"],
    ),
    (SHARED, "cp.async.ca.shared.global [tile], [%d1], 4;", ["", "", "async-copy", "", ""]),
    (
        SHARED,
        "cp.async.bulk.global.shared::cta.bulk_group [%d1], [tile], 16;",
        ["", "async-copy", "async-copy", "async-copy", "async-copy"],
    ),
    ("", "wgmma.fence.sync.aligned;", ["", "tensor", "tensor", "tensor", "tensor"]),
    ("", "barrier.cluster.arrive;", ["", "cluster", "cluster", "cluster", "cluster"]),
    ("", "mov.u32 %r1, %cluster_ctarank;", ["", "cluster", "cluster", "cluster", "cluster"]),
    (
        "",
        "ld.param.u64 %d2, [surface]; sust.b.1d.b32.trap [%d2, {%r1}], {%r1};",
        ["surface", "surface", "surface", "surface", "surface"],
    ),
    (
        ".extern .func (.param .b64 r) malloc(.param .b64 n);",
        "{ .param .b64 n; .param .b64 r; st.param.b64 [n], 8; call (r), malloc, (n); ld.param.b64 %d2, [r]; }",
        ["device-heap", "device-heap", "device-heap", "device-heap", "device-heap"],
    ),
    (
        ".extern .func (.param .b32 r) cudaLaunchDeviceV2(.param .b64 b, .param .b64 s);",
        "{ .param .b64 b; .param .b64 s; .param .b32 r; st.param.b64 [b], 0; st.param.b64 [s], 0;\n\
         call (r), cudaLaunchDeviceV2, (b, s); }",
        ["device-launch", "device-launch", "device-launch", "device-launch", "device-launch"],
    ),
    (
        ".extern .func other();",
        "call other;",
        ["unknown-function", "unknown-function", "unknown-function", "unknown-function", "unknown-function"],
    ),
    (
        "",
        "frobnicate.u32 %r1, %r1;",
        [
            "unknown-instruction",
            "unknown-instruction",
            "unknown-instruction",
            "unknown-instruction",
            "unknown-instruction",
        ],
    ),
    (
        ".visible .func store() { ret; }\n.global .align 8 .u64 table[1] = {store};",
        "ld.global.u64 %d2, [table]; prototype_0 : .callprototype _ (); call %d2, prototype_0;",
        ["", "indirect-call", "indirect-call", "indirect-call", "indirect-call"],
    ),
    ("", "mov.v4.u16 {%h0, %h1, %h2, %h3}, %tid;", ["", "vector-id", "vector-id", "vector-id", "vector-id"]),
    (
        "",
        "st.global.u32 [%d1], %v.x;",
        ["", "vector-register", "vector-register", "vector-register", "vector-register"],
    ),
    ("", "mov.u32 %r1, %total_smem_size;", ["", "shared-size", "shared-size", "shared-size", "shared-size"]),
    ("", "mov.u32 %r1, %reserved_smem_offset_1;", ["", "reserved-shared", "reserved-shared", "reserved-shared", ""]),
    (
        ".shared .align 4 .b8 tile[30000];",
        "st.shared.u32 [tile], %r1;",
        ["", "shared-too-large", "", "shared-too-large", ""],
    ),
    ("", "atom.global.add.u32 %r1, [%d1], 1;", ["order-dependent", "", "", "", ""]),
    ("", "red.global.add.f32 [%d1], %f1;", ["order-dependent", "", "", "", ""]),
    ("", "atom.global.add.u32 %r2, [%d1], 1;", ["", "", "", "", ""]),
    ("", "ld.volatile.global.u32 %r1, [%d1];", ["order-dependent", "", "", "", ""]),
    ("", "mov.u32 %r1, %clock;", ["order-dependent", "", "", "", ""]),
    (
        ".visible .func store(.reg .b64 %a) { st.global.u32 [%a], 1; ret; }",
        "call store, (%d1);",
        ["", "", "", "function-call", "function-call"],
    ),
    (
        "",
        "wmma.store.d.sync.aligned.row.m16n16k16.global.s32 [%d1], {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7};",
        ["", "collective", "collective", "collective-store", "collective-store"],
    ),
    // Nothing of that: shared memory, a barrier, an atomic operation without a result, and what is printed.
    (SHARED, "st.shared.u32 [tile], %r1; bar.sync 0; red.shared.add.u32 [tile], 1;", ["", "", "", "", ""]),
    ("", "red.global.add.u32 [%d1], 1; membar.gl;", ["", "", "", "", ""]),
    (
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);",
        "{ .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], 0; st.param.b64 [a], 0;\n\
         call (r), vprintf, (f, a); ld.param.b32 %r1, [r]; }",
        ["", "", "", "", ""],
    ),
];

#[test]
fn kernels_are_refused_by_name() {
    for (before, body, expected) in REFUSED {
        let text = kernel(before, body);
        for (version, code) in ["kernel", "pair", "pair-no-shared", "warp-pair", "inter"].into_iter().zip(expected) {
            let wanted: BTreeSet<&str> = Some(*code).filter(|code| !code.is_empty()).into_iter().collect();
            assert_eq!(refusals(&text, version), wanted, "{version}: {body}");
            if version != "kernel" {
                assert_eq!(refusals(&text, &format!("{version}-in-place")), wanted, "{version}-in-place: {body}");
            }
        }
    }
}

/// Which lanes are there is for nobody to rely on.
#[test]
fn the_mask_of_active_lanes_is_handed_over_or_refused() {
    let text = kernel("", "activemask.b32 %r1;");
    for (version, code) in [("kernel", "order-dependent"), ("pair", "collective"), ("pair-no-shared", "collective")] {
        assert_eq!(refusals(&text, version), BTreeSet::from([code]));
    }
    // One copy hands it to the other.
    assert_eq!([refusals(&text, "warp-pair"), refusals(&text, "inter")], [BTreeSet::new(), BTreeSet::new()]);
}

/// A log needs acquiring and releasing accesses, which older architectures do not have.
#[test]
fn a_log_is_refused_for_old_architectures() {
    let text = kernel("", "").replace("sm_90a", "sm_61");
    for (version, code) in [("pair", None), ("warp-pair", Some("old-target")), ("inter", Some("old-target"))] {
        assert_eq!(refusals(&text, version), code.into_iter().collect());
    }
}

/// Which blocks and grids can be doubled where warps, or blocks, are twins.
#[test]
fn shapes_of_versions_with_a_log() {
    let rmt = tools::tool("rmt").unwrap().instrumentation();
    let shape = LaunchShape { grid: [5, 2, 1], block: [32, 2, 1], dynamic_shared: 100, is_cooperative: false };
    let warps = rmt.shape(66, shape).unwrap();
    // Two copies of what the program has, and then for each thread two counters and four entries.
    assert_eq!((warps.grid, warps.block, warps.dynamic_shared), ([5, 2, 1], [32, 2, 2], 240 + 64 * (8 + 4 * 16)));
    let blocks = rmt.shape(72, shape).unwrap();
    assert_eq!(blocks, LaunchShape { grid: [10, 2, 1], ..shape });
    let code = |version, shape| rmt.shape(version, shape).unwrap_err().code;
    assert_eq!(code(66, LaunchShape { block: [33, 1, 1], ..shape }), "partial-warp");
    assert_eq!(code(66, LaunchShape { block: [1024, 1, 1], ..shape }), "block-too-large");
    assert_eq!(code(66, LaunchShape { block: [8, 1, 64], ..shape }), "block-too-large");
    assert_eq!(code(72, LaunchShape { is_cooperative: true, ..shape }), "cooperative");
    assert_eq!(code(72, LaunchShape { grid: [1 << 30, 1, 1], ..shape }), "grid-too-large");
    assert_eq!(rmt.shape(72, LaunchShape { block: [1024, 1, 1], ..shape }).unwrap().block, [1024, 1, 1]);
}

/// The original is there whatever is refused, so that a kernel can run without protection.
#[test]
fn the_original_is_never_refused() {
    for (before, body, _) in REFUSED {
        let rewritten = rewritten(&kernel(before, body));
        assert!(rewritten.kernels["k"].version(&[0]).is_some_and(|version| version.is_plain), "{body}");
    }
}

/// Sizes of blocks that the text demands are doubled, those that it allows are as many as there can be, and those that cannot be
/// doubled are refused when they come.
#[test]
fn sizes_of_blocks() {
    let with = |directive: &str| kernel("", "").replace("surface)\n{", &format!("surface)\n{directive}\n{{"));
    let text = ptx::print(&rewritten(&with(".reqntid 64, 2, 1")).module);
    assert!(text.contains(".reqntid 128, 2, 1"), "{text}");
    let text = ptx::print(&rewritten(&with(".maxntid 1024, 1, 1")).module);
    assert!(text.contains("k$$rmt_pair(") && text.contains(".maxntid 1024"), "{text}");
    assert_eq!(refusals(&with(".reqntid 1024, 1, 1"), "pair"), BTreeSet::from(["block-too-large"]));
    let rmt = tools::tool("rmt").unwrap().instrumentation();
    let shape = LaunchShape { grid: [1; 3], block: [513, 1, 1], dynamic_shared: 0, is_cooperative: false };
    // The last of the versions that do all of the work takes any block that is small enough.
    assert_eq!(rmt.shape(13, shape).unwrap_err().code, "block-too-large");
    assert_eq!(rmt.shape(13, LaunchShape { block: [511, 1, 1], ..shape }).unwrap().block, [32, 32, 1]);
}

/// Every comparison has its call, which nothing else stands in the way of.
#[test]
fn every_store_is_compared() {
    let text = kernel("", "st.global.u32 [%d1+4], %r2; st.global.v4.f32 [%d1+16], {%f1, %f2, %f3, %f4};");
    let text = ptx::print(&rewritten(&text).module);
    let version = &text[text.find(".entry k$$rmt_pair(").unwrap()..];
    let version = &version[..version.find("\n}").unwrap()];
    // Three stores, of which one has two pairs of words, and the end of the thread.
    assert_eq!(version.matches("call \twarpgrind_rmt_differ").count(), 5, "{version}");
}
