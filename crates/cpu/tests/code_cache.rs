//! Compiled code on disk, used by other processes and spoiled by enemies.
#![allow(clippy::print_stdout, reason = "a process that a test starts answers so")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use cache::{Cache, DEFAULT_LIMIT};
use cpu::{CodeCache, Device, Mode, Program, Tier, Width};
use device::{LaunchRequest, Order};

/// Has all that needs addresses: a variable, a constant, shared memory, functions that are called through a pointer, what
/// lanes do together, a table of constants that LLVM makes, and output.
const TEXT: &str = r#".version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .u32 counter = 5;
.const .u32 factor = 3;
.global .align 1 .b8 words[4] = {104, 105, 10, 0};
.func (.param .b32 r) twice(.param .b32 a) { .reg .b32 %a; ld.param.b32 %a, [a]; add.s32 %a, %a, %a;
    st.param.b32 [r], %a; ret; }
.func (.param .b32 r) next(.param .b32 a) { .reg .b32 %a; ld.param.b32 %a, [a]; add.s32 %a, %a, 1;
    st.param.b32 [r], %a; ret; }
.global .u64 functions[2] = {twice, next};
.visible .entry k(.param .u64 p) {
    .reg .pred %q; .reg .b32 %r<12>; .reg .b64 %d<12>; .reg .f32 %f<4>;
    .shared .u32 s[64];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, s;
    add.u32 %r3, %r3, %r2;
    st.shared.u32 [%r3], %r1;
    bar.sync 0;
    xor.b32 %r4, %r2, 4;
    mov.u32 %r5, s;
    add.u32 %r4, %r4, %r5;
    ld.shared.u32 %r6, [%r4];
    ld.const.u32 %r7, [factor];
    mul.lo.u32 %r6, %r6, %r7;
    and.b32 %r8, %r1, 1;
    mul.wide.u32 %d1, %r8, 8;
    mov.u64 %d2, functions;
    add.u64 %d2, %d2, %d1;
    ld.global.u64 %d3, [%d2];
    { .param .b32 a; .param .b32 r; st.param.b32 [a], %r6;
      proto: .callprototype (.param .b32 _) _ (.param .b32 _);
      call (r), %d3, (a), proto; ld.param.b32 %r9, [r]; }
    cvt.rn.f32.u32 %f1, %r9;
    ex2.approx.f32 %f2, %f1;
    sin.approx.f32 %f3, %f1;
    atom.global.add.u32 %r10, [counter], 1;
    ld.param.u64 %d4, [p];
    mul.wide.u32 %d5, %r1, 4;
    add.u64 %d4, %d4, %d5;
    st.global.u32 [%d4], %r9;
    setp.ne.u32 %q, %r1, 0;
    @%q bra end;
    { .param .b64 f; .param .b64 a; .param .b32 r; mov.u64 %d6, words; st.param.b64 [f], %d6; st.param.b64 [a], 0;
      call (r), vprintf, (f, a); }
end: ret;
}
"#;

/// A directory for one test, which removes itself.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("warpgrind code {name} {}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn code(&self) -> PathBuf {
        self.0.join("warpgrind/code")
    }

    fn entries(&self) -> u64 {
        cache::usage(&self.code()).unwrap().entries
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn device(cache: &Path) -> Arc<Device> {
    let device = Device::new(64 << 20).unwrap();
    device.keep_code(CodeCache::of(Cache::open(cache, DEFAULT_LIMIT).unwrap()));
    device
}

fn load(device: &Arc<Device>, text: &str) -> Program {
    let parsed = ptx::parse(text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    Program::load(device, parsed.module).unwrap()
}

/// Runs the kernel in all ways, checks what it does, and returns how many times code came from the disk, and an address.
fn run(cache: &Path) -> (u64, u64) {
    let device = device(cache);
    let program = load(&device, TEXT);
    for width in [Width::Thread, Width::Warp] {
        for tier in [Tier::Baseline, Tier::Optimised] {
            program.reset_variables();
            let buffer = device.memory.allocate(256, 16).unwrap();
            let params = buffer.to_le_bytes();
            let request = LaunchRequest { block: [64, 1, 1], ..LaunchRequest::of("k", &params) };
            // SAFETY: the kernel only accesses the allocation that it is given.
            unsafe { program.launch(&request, &Mode { width, tier, ..Mode::default() }) }.unwrap();
            let word = |address: u64| {
                let mut bytes = [0; 4];
                device.memory.read(address, &mut bytes);
                u32::from_le_bytes(bytes)
            };
            for thread in 0..64_u32 {
                let of_neighbour = (thread ^ 1) * 3;
                let expected = if thread % 2 == 0 { 2 * of_neighbour } else { of_neighbour + 1 };
                assert_eq!(word(buffer + 4 * u64::from(thread)), expected, "thread {thread}, {width:?}, {tier:?}");
            }
            assert_eq!(word(program.variable("counter").unwrap().0), 5 + 64);
            assert_eq!(device.output().take(), b"hi\n");
        }
    }
    (device.kept_kernels_used(), program.variable("counter").unwrap().0)
}

/// Does nothing by itself: `another_process_uses_what_one_has_compiled` starts it.
#[test]
fn another_process() {
    let Some(path) = std::env::var_os("CODE_OF_ANOTHER_PROCESS") else { return };
    // A device that is there already has the addresses that are asked for first.
    let _other = std::env::var_os("ANOTHER_DEVICE").map(|_| device(Path::new(&path)));
    let (hits, address) = run(Path::new(&path));
    println!("hits {hits} address {address}");
}

#[test]
fn another_process_uses_what_one_has_compiled() {
    let scratch = Scratch::new("processes");
    let mut addresses = Vec::new();
    for round in 0..4 {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "another_process", "--nocapture"]).env("CODE_OF_ANOTHER_PROCESS", scratch.code());
        if round % 2 == 1 {
            command.env("ANOTHER_DEVICE", "1");
        }
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        let hits = if round == 0 { 0 } else { 4 };
        assert!(text.contains(&format!("hits {hits} address")), "{text}");
        addresses
            .push(text.split("address ").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap().to_owned());
    }
    assert_eq!(scratch.entries(), 4);
    addresses.sort();
    addresses.dedup();
    // Without this, nothing would be shown: code that holds addresses works where they are the same.
    assert!(addresses.len() > 1, "memory is at other addresses in other processes: {addresses:?}");
}

#[test]
fn whatever_decides_the_code_decides_the_entry() {
    let scratch = Scratch::new("keys");
    let device = device(&scratch.code());
    let mut expected = 0;
    let mut compile = |text: &str, block: u32, mode: &Mode, is_new: bool, what: &str| {
        let request = LaunchRequest { block: [block, 1, 1], ..LaunchRequest::of("k", &[]) };
        load(&device, text).compile(&request, mode).unwrap();
        expected += u64::from(is_new);
        assert_eq!(scratch.entries(), expected, "{what}");
    };
    let mode = Mode { tier: Tier::Baseline, width: Width::Thread, ..Mode::default() };
    compile(TEXT, 64, &mode, true, "the first");
    compile(TEXT, 64, &mode, false, "the same");
    compile(&TEXT.replace("\n.target", "\n\n.target"), 64, &mode, true, "other lines");
    compile(&TEXT.replace("%r2, 4;", "%r2, 8;"), 64, &mode, true, "another constant");
    compile(&TEXT.replace("%a, %a, 1;", "%a, %a, 2;"), 64, &mode, true, "another function that is called");
    compile(&TEXT.replace("counter = 5;", "counter = 5; .global .u32 more;"), 64, &mode, true, "another variable");
    compile(&TEXT.replace(".u32 s[64]", ".u32 s[65]"), 64, &mode, true, "more shared memory");
    compile(&format!("{TEXT}.visible .entry other() {{ ret; }}"), 64, &mode, true, "another function");
    compile(TEXT, 96, &mode, true, "other blocks");
    compile(TEXT, 64, &Mode { tier: Tier::Optimised, ..mode.clone() }, true, "another tier");
    compile(TEXT, 64, &Mode { width: Width::Warp, ..mode.clone() }, true, "another width");
    compile(TEXT, 64, &Mode { count: true, ..mode.clone() }, true, "with instructions counted");
    compile(TEXT, 64, &Mode { preempt: true, ..mode.clone() }, true, "with preemption");
    compile(TEXT, 64, &Mode { late_copies: true, ..mode.clone() }, true, "with late copies");
    compile(TEXT, 64, &Mode { confine: true, ..mode.clone() }, true, "confined");
    let inserted = TEXT.replace("st.shared.u32 [%r3], %r1;", "st.shared.u32 [%r3], %r1; //@ 7 racecheck.log");
    compile(&inserted, 64, &mode, true, "with an instruction of a tool");
    compile(TEXT, 64, &mode, false, "the same again");
}

/// Calls a helper for one thread of each warp.
const CAUGHT: &str = ".version 8.0
.target sm_80
.address_size 64
.func helper(.reg .u64 p) { .pragma \"nosync\"; .pragma \"cold\"; MORE red.global.add.u32 [p], 1; ret; }
.visible .entry k(.param .u64 p) {
    .reg .pred %q; .reg .b32 %r<4>; .reg .b64 %d<2>;
    ld.param.u64 %d1, [p];
    mov.u32 %r1, %laneid;
    setp.eq.u32 %q, %r1, 3;
    @%q call helper, (%d1);
    ret;
}
";

#[test]
fn a_helper_that_is_called_on_purpose_does_not_end_speculation() {
    // Vector code and what its warps are deoptimized to; and, after misspeculations, vector code that does not speculate.
    for (more, codes) in [("", 3), (".pragma \"intended\";", 2)] {
        let scratch = Scratch::new(&format!("speculation {codes}"));
        let device = device(&scratch.code());
        let out = device.memory.allocate(256, 256).unwrap();
        device.memory.write(out, &[0; 256]);
        let program = load(&device, &CAUGHT.replace("MORE", more));
        let params = out.to_le_bytes();
        let request = LaunchRequest { grid: [16, 1, 1], block: [64, 1, 1], ..LaunchRequest::of("k", &params) };
        let mode = Mode { tier: Tier::Baseline, ..Mode::default() };
        for _ in 0..3 {
            // SAFETY: the kernel only accesses the word that it is given.
            unsafe { program.launch(&request, &mode) }.unwrap();
        }
        let mut word = [0; 4];
        assert!(device.memory.read(out, &mut word));
        assert_eq!(u32::from_le_bytes(word), 3 * 16 * 2);
        assert_eq!(scratch.entries(), codes, "{more}");
    }
}

#[test]
fn what_is_compiled_ahead_is_what_a_launch_in_that_order_runs() {
    let scratch = Scratch::new("orders");
    let device = device(&scratch.code());
    let out = device.memory.allocate(256, 256).unwrap().to_le_bytes();
    let mode = Mode { tier: Tier::Baseline, ..Mode::default() };
    let orders = [Order::Ascending, Order::Serial, Order::Random { seed: 1, preempt: true }];
    for (before, order) in orders.into_iter().enumerate() {
        let program = load(&device, TEXT);
        let request = LaunchRequest { block: [64, 1, 1], order, ..LaunchRequest::of("k", &out) };
        program.compile(&request, &mode).unwrap();
        assert_eq!(scratch.entries(), before as u64 + 1, "{order:?} has code of its own");
        // SAFETY: the kernel only writes 64 words from the address that it is given.
        unsafe { program.launch(&request, &mode) }.unwrap();
        assert_eq!(scratch.entries(), before as u64 + 1, "{order:?}");
    }
}

#[test]
fn spoiled_code_is_compiled_again() {
    let scratch = Scratch::new("spoiled");
    run(&scratch.code());
    for step in [1_usize, 40, 4000] {
        for file in fs::read_dir(scratch.code()).unwrap() {
            let path = file.unwrap().path();
            if path.ends_with("key") {
                continue;
            }
            let mut bytes = fs::read(&path).unwrap();
            let at = bytes.len() - 1 - step.min(bytes.len() - 1);
            bytes[at] ^= 0x10;
            fs::write(&path, bytes).unwrap();
        }
        assert_eq!(run(&scratch.code()).0, 0);
        assert_eq!(run(&scratch.code()).0, 4);
    }
}

#[test]
fn an_entry_that_is_no_object_file_is_compiled_again() {
    let scratch = Scratch::new("no object");
    run(&scratch.code());
    // Authenticated, and still of no use: as if we had made a mistake.
    let cache = Cache::open(&scratch.code(), DEFAULT_LIMIT).unwrap();
    let names: Vec<String> = fs::read_dir(scratch.code())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.len() == 64)
        .collect();
    for (index, name) in names.iter().enumerate() {
        let contents: &[u8] = [&b""[..], &[0; 39], &[0; 40], &[0xff; 400]][index];
        cache.put(&cache::Id::from_hex(name).unwrap(), contents);
    }
    run(&scratch.code());
    assert_eq!(run(&scratch.code()).0, 4);
}
