//! Texts that are made to hurt: each ends in a result or a message, in little time and memory.

use std::time::{Duration, Instant};

const HEADER: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// Parses, verifies, prints and analyses; returns the number of messages of the parser.
fn parse(bytes: &[u8]) -> usize {
    let started = Instant::now();
    filetest::oracle::check_text(bytes);
    // Generous, because tests run without optimisation on busy machines: what is meant is "not quadratic".
    assert!(started.elapsed() < Duration::from_secs(60), "took {:?}", started.elapsed());
    ptx::parse_bytes(bytes).1.diagnostics.len()
}

fn kernel(body: &str) -> Vec<u8> {
    format!("{HEADER}.visible .entry k()\n{{\n.reg .b32 %r<4>;\n{body}\nret;\n}}\n").into_bytes()
}

#[test]
fn deep_nesting_of_scopes() {
    let deep = 200_000;
    assert!(parse(&kernel(&("{".repeat(deep) + &"}".repeat(deep)))) > 0);
    assert!(parse(&kernel(&"{".repeat(deep))) > 0);
    assert_eq!(parse(&kernel(&("{".repeat(400) + &"}".repeat(400)))), 0);
}

#[test]
fn deep_nesting_of_expressions_and_initial_values() {
    let deep = 100_000;
    assert!(parse(&kernel(&format!("mov.u32 %r1, {}1{};", "(".repeat(deep), ")".repeat(deep)))) > 0);
    assert!(parse(&kernel(&format!("mov.u32 %r1, {}1;", "-".repeat(deep)))) > 0);
    assert!(parse(&kernel(&format!("mov.u32 %r1, 1{};", "?1:1".repeat(deep)))) > 0);
    let braces = format!("{HEADER}.global .b32 x[1] = {}1{};", "{".repeat(deep), "}".repeat(deep));
    assert!(parse(braces.as_bytes()) > 0);
}

#[test]
fn huge_numbers_and_counts() {
    let digits = "9".repeat(1_000_000);
    assert!(parse(&kernel(&format!("mov.u32 %r1, {digits};"))) > 0);
    assert!(parse(&kernel(&format!("mov.u32 %r1, 0x{digits};"))) > 0);
    assert!(parse(&kernel(&format!("mov.f64 %r1, {digits}.0e{digits};"))) <= 1);
    assert!(parse(&kernel(&format!(".reg .b32 %big<{digits}>;"))) > 0);
    // A count that fits is fine, whatever it is, and costs nothing by itself.
    assert_eq!(parse(&kernel(".reg .b32 %big<4294967295>; mov.u32 %big999999999, %big0;")), 0);
    let groups: String =
        (0..20_000).map(|n| format!(".reg .b32 %g{n}_<99999999>;\nmov.u32 %g{n}_99999998, 0;\n")).collect();
    assert_eq!(parse(&kernel(&groups)), 0);
    assert_eq!(parse(format!("{HEADER}.shared .b8 x[18446744073709551615][4];").as_bytes()), 1);
}

#[test]
fn lines_of_a_megabyte() {
    let long = "a".repeat(1 << 20);
    parse(&kernel(&format!("{long}.s32 %r1, %r2;")));
    parse(&kernel(&format!("mov.u32 %r1, {long};")));
    parse(&kernel(&format!("@{long} ret;")));
    parse(&kernel(&format!("mov.u32 %r1 {} %r2;", " ".repeat(1 << 20))));
    parse(format!("{HEADER}.{long} 3").as_bytes());
    parse(format!("{HEADER}.file 1 \"{long}\n").as_bytes());
    parse(format!("{HEADER}/*{long}").as_bytes());
    let modifiers = ".ftz".repeat(1 << 18);
    parse(&kernel(&format!("add{modifiers}.f32 %r1, %r1, %r1;")));
    let operands = ", %r1".repeat(1 << 18);
    parse(&kernel(&format!("add.f32 %r1{operands};")));
    parse(&kernel(&format!("add.f32 {{%r1{operands}}};")));
}

#[test]
fn bytes_that_are_no_text() {
    assert_eq!(parse(b"\xff\xfe\x00"), 1);
    assert_eq!(parse(b"\x7fELF\x02\x01\x01\xff"), 1);
    assert_eq!(parse(b""), 0);
    assert_eq!(parse(b"\0\0\0"), 0);
    parse("é.visible ünï".as_bytes());
    parse(&kernel("mov.u32 %r1, é;"));
    parse(&kernel("\u{202e}mov.u32 %r1, \x1b[31m;"));
}

/// Wherever a text is cut off, or a byte of it is changed, there is an answer.
#[test]
fn truncated_and_damaged_files() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ptx/cat");
    let text = std::fs::read(root.join("everything_a_module_declares.ptx")).expect("the test file is there");
    for end in 0..text.len() {
        let (_, parsed) = ptx::parse_bytes(&text[..end]);
        filetest::oracle::check_printing(&parsed.module);
    }
    for at in (0..text.len()).step_by(3) {
        for byte in [b'{', b'}', b';', b'.', b'"', b'%', b'9', 0, 0xff] {
            let mut damaged = text.clone();
            damaged[at] = byte;
            filetest::oracle::check_text(&damaged);
        }
    }
}

/// Ten times the text takes about ten times as long: a quadratic step would take a hundred times.
#[test]
fn time_grows_in_proportion_to_the_text() {
    let lines = |count: usize| -> Vec<u8> {
        let mut body = String::new();
        for n in 0..count {
            body += &format!("L{n}: add.s32 %r1, %r2, {n};\n@%p bra L{};\n", (n * 7919) % count);
        }
        kernel(&format!(".reg .pred %p;\n{body}"))
    };
    let time = |text: &[u8]| {
        let started = Instant::now();
        assert!(ptx::parse_bytes(text).1.diagnostics.is_empty());
        started.elapsed().as_secs_f64()
    };
    let (small, large) = (lines(20_000), lines(200_000));
    let best = |text: &[u8]| (0..3).map(|_| time(text)).fold(f64::INFINITY, f64::min);
    let ratio = best(&large) / best(&small);
    assert!(ratio < 40.0, "ten times the text takes {ratio:.0} times as long");
}
