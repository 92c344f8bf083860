//! Random kernels without races, whose results do not depend on who runs when: what one way of running them leaves in
//! memory, every other must leave too, bit for bit.
//!
//! That holds by construction. Threads write only memory of their own; they read memory of others after barriers; on
//! counters that all change, the order does not matter, and what an operation returns is not used. Lanes meet with the masks
//! of those who come (`sync`), loops end (`shape`), divisions by zero are avoided, and of a float that may be a NaN nobody
//! sees the bits (`arithmetic`).
//!
//! | file | holds |
//! |---|---|
//! | `choose` | where choices come from |
//! | `facts` | what is the same all over a function |
//! | `body` | the text of a function, its registers |
//! | `arithmetic` | instructions that compute registers |
//! | `memory` | loads, stores, atomic operations |
//! | `sync` | barriers, and what lanes do together |
//! | `shape` | branches, loops, jumps |
//! | `calls` | functions |
//! | `print` | what the kernel prints |
//! | `addresses` | other kernels, which compute addresses in many ways, and may race and leave their buffers |
//! | `comparisons` | others, whose threads replace numbers if data says so, and race if it says so to some |

mod addresses;
mod arithmetic;
mod body;
mod calls;
mod choose;
mod comparisons;
mod facts;
mod memory;
mod print;
mod shape;
mod sync;

use std::fmt::Write;

pub use self::addresses::generate_addresses;
use self::body::{Body, Class};
use self::choose::Choose;
pub use self::comparisons::generate_comparisons;
use self::facts::{Counter, Facts};
use self::memory::{CONSTANTS, FLOATS, INPUT, SLICE};
use self::shape::Place;

/// A kernel with its launch, as a test file.
#[derive(Clone, Debug)]
pub struct RandomKernel {
    /// The test file, without an expectation.
    pub text: String,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of shared memory that the launch adds.
    pub dynamic_shared: u32,
    /// Names and bytes of the buffers.
    pub buffers: Vec<(&'static str, u32)>,
    /// Instructions of the kernel, without those of functions.
    pub instructions: usize,
}

/// Shapes of blocks: single threads, parts of warps, whole warps, and a bit more.
const BLOCKS: [(u32, [u32; 3]); 22] = [
    (2, [1, 1, 1]),
    (2, [3, 1, 1]),
    (3, [16, 1, 1]),
    (3, [31, 1, 1]),
    (14, [32, 1, 1]),
    (4, [33, 1, 1]),
    (2, [40, 1, 1]),
    (2, [48, 1, 1]),
    (8, [64, 1, 1]),
    (2, [65, 1, 1]),
    (2, [96, 1, 1]),
    (1, [100, 1, 1]),
    (1, [128, 1, 1]),
    (4, [8, 4, 1]),
    (4, [16, 2, 1]),
    (2, [4, 4, 2]),
    (2, [5, 7, 1]),
    (1, [3, 3, 3]),
    (3, [16, 3, 1]),
    (1, [2, 2, 2]),
    (1, [33, 2, 1]),
    (1, [1, 1, 64]),
];

/// Shapes of blocks of whole warps, for warps that keep in step.
const BLOCKS_IN_STEP: [[u32; 3]; 6] = [[64, 1, 1], [96, 1, 1], [128, 1, 1], [16, 4, 1], [8, 4, 2], [32, 1, 1]];

const GRIDS: [(u32, [u32; 3]); 6] =
    [(10, [1, 1, 1]), (4, [2, 1, 1]), (1, [3, 1, 1]), (1, [4, 1, 1]), (1, [2, 2, 1]), (1, [1, 1, 2])];

/// The kernel of a seed.
pub fn generate(seed: u64) -> RandomKernel {
    let mut choose = Choose::new(seed);
    let in_step = choose.percent(30);
    let block = if in_step { choose.pick(&BLOCKS_IN_STEP) } else { choose.weighted(&BLOCKS) };
    let grid = choose.weighted(&GRIDS);
    let threads: u32 = block.iter().product();
    let blocks: u32 = grid.iter().product();
    let has_masks = choose.percent(65);
    let (functions, callees) = calls::functions(&mut choose, has_masks, in_step);
    let is_dynamic = choose.percent(30);
    let mut body = Body::new(Choose::new(choose.word()), "L");
    body.facts = Facts {
        threads,
        has_shared: choose.percent(65),
        has_local: choose.percent(40),
        has_generic: choose.percent(40),
        may_exit: !in_step && choose.percent(25),
        in_step,
        callees,
        // Those up to it are for all threads.
        next_barrier: 3,
        ..Facts::default()
    };
    // Most that goes wrong shows in few registers and instructions, some only among many.
    let is_small = choose.percent(70);
    choose_pools(&mut body, is_small);
    // Slots for the block, slots for warps, slices, counters.
    let shared_counters = threads.next_multiple_of(2) * 8 + threads * SLICE + threads.next_multiple_of(4) * 4;
    let shared_bytes = if body.facts.has_shared { shared_counters + 16 } else { 0 };
    if !in_step {
        choose_counters(&mut body, shared_counters);
    }
    let stride = DUMP + SLICE;

    prologue(&mut body, grid, block, stride, has_masks);
    let size = if is_small { choose.pick(&[5, 10, 15, 25]) } else { choose.pick(&[10, 20, 40, 80]) };
    body.facts.limit = body.instructions + size;
    let place =
        Place { is_block: true, mask: has_masks.then(|| "%lanes".to_owned()), depth: 0, loops: 0, may_exit: true };
    let count = choose.between(2, 11);
    for _ in 0..count {
        body.statements(&place, 1);
        if body.instructions > body.facts.limit + size / 2 {
            break;
        }
    }
    let prints = choose.percent(8);
    if prints {
        body.print();
    }
    epilogue(&mut body);

    let buffers =
        vec![("input", INPUT * 4), ("floats", FLOATS * 4), ("counters", 32), ("out", stride * threads * blocks)];
    let dynamic_shared = if is_dynamic { shared_bytes } else { 0 };
    let text = file(&body, &functions, seed, grid, block, dynamic_shared, shared_bytes, &buffers, prints);
    RandomKernel { text, grid, block, dynamic_shared, buffers, instructions: body.instructions }
}

fn choose_pools(body: &mut Body, is_small: bool) {
    for (class, low, high) in [(Class::Pred, 3, 5), (Class::B16, 2, 3), (Class::B32, 4, 8), (Class::B64, 2, 4)] {
        let count = if is_small { low } else { body.choose.between(low, high) };
        body.set_pool(class, count);
    }
    if body.choose.percent(if is_small { 25 } else { 50 }) {
        // Halves are made from `.f32`, and `.f64` becomes it.
        body.set_pool(Class::F32, 3);
        if body.choose.percent(50) {
            body.set_pool(Class::F64, 2);
        }
        if body.choose.percent(40) {
            body.set_pool(Class::F16, 2);
            body.set_pool(Class::F16x2, 2);
        }
        if body.choose.percent(30) {
            body.set_pool(Class::Bf16, 2);
            body.set_pool(Class::Bf16x2, 2);
        }
    }
}

fn choose_counters(body: &mut Body, shared_at: u32) {
    let mut counters = Vec::new();
    for nth in 0..body.choose.below(3) {
        counters.push(Counter::new(&mut body.choose, nth * 8, false));
    }
    if body.facts.has_shared {
        for nth in 0..body.choose.below(3) {
            counters.push(Counter::new(&mut body.choose, shared_at + nth * 8, true));
        }
    }
    body.facts.counters = counters;
}

/// Bytes after which a thread's slice begins: what becomes of its registers, and a word for those who end early.
const DUMP: u32 = 32;

/// Addresses, and values for all registers.
fn prologue(body: &mut Body, grid: [u32; 3], block: [u32; 3], stride: u32, has_masks: bool) {
    for name in ["%thread", "%lane", "%warp", "%uniform", "%block"] {
        body.named(".b32", name);
    }
    for name in ["%own", "%input", "%floats", "%counters"] {
        body.named(".b64", name);
    }
    let threads = body.facts.threads;
    body.put("mov.u32 %thread, %tid.x");
    if block[1] * block[2] > 1 {
        let (y, z) = (body.temp(Class::B32), body.temp(Class::B32));
        body.put(format!("mov.u32 {y}, %tid.y"));
        body.put(format!("mov.u32 {z}, %tid.z"));
        body.put(format!("mad.lo.u32 {y}, {z}, {}, {y}", block[1]));
        body.put(format!("mad.lo.u32 %thread, {y}, {}, %thread", block[0]));
    }
    body.put("mov.u32 %lane, %laneid");
    body.put("shr.u32 %warp, %thread, 5");
    body.put("mov.u32 %block, %ctaid.x");
    if grid[1] * grid[2] > 1 {
        let (y, z) = (body.temp(Class::B32), body.temp(Class::B32));
        body.put(format!("mov.u32 {y}, %ctaid.y"));
        body.put(format!("mov.u32 {z}, %ctaid.z"));
        body.put(format!("mad.lo.u32 {y}, {z}, {}, {y}", grid[1]));
        body.put(format!("mad.lo.u32 %block, {y}, {}, %block", grid[0]));
    }
    let global = body.temp(Class::B32);
    body.put(format!("mad.lo.u32 {global}, %block, {threads}, %thread"));
    for name in ["input", "floats", "counters"] {
        body.put(format!("ld.param.u64 %{name}, [{name}]"));
    }
    body.put("ld.param.u64 %own, [out]");
    body.put(format!("mad.wide.u32 %own, {global}, {stride}, %own"));
    body.put(format!("add.u64 %own, %own, {}", stride - SLICE));
    let at = body.choose.below(INPUT) * 4;
    if body.facts.in_step {
        // Loaded, it could be another number for each warp.
        body.put(format!("mad.lo.u32 %uniform, %block, 7, {at}"));
    } else {
        body.put(format!("ld.global.b32 %uniform, [%input+{at}]"));
    }
    let offset = body.choose.below(INPUT - threads + 1) * 4;
    let address = body.temp(Class::B64);
    body.put(format!("mad.wide.u32 {address}, %thread, 4, %input"));
    body.put(format!("ld.global.b32 %r1, [{address}+{offset}]"));
    body.put(format!("mov.b32 %r2, {global}"));
    start_registers(body, &address);
    if has_masks {
        body.named(".b32", "%lanes");
        body.named(".pred", "%true");
        body.put("setp.eq.u32 %true, %lane, %lane");
        body.put("vote.sync.ballot.b32 %lanes, %true, -1");
    }
    start_memory(body);
}

fn start_registers(body: &mut Body, address: &str) {
    for nth in 3..=body.pool(Class::B32) {
        match body.choose.below(5) {
            0 => body.put(format!("mov.b32 %r{nth}, %lane")),
            3 => body.put(format!("mov.u32 %r{nth}, %tid.y")),
            1 => {
                let factor = body.choose.word() as u32;
                body.put(format!("mul.lo.u32 %r{nth}, %r1, {factor:#x}"));
            }
            2 => {
                let number = body.choose.below(100);
                body.put(format!("mov.u32 %r{nth}, {number}"));
            }
            _ => body.put(format!("xor.b32 %r{nth}, %r{}, %thread", nth - 1)),
        }
    }
    for nth in 1..=body.pool(Class::B64) {
        body.put(format!("mul.wide.s32 %d{nth}, %r{nth}, %r1"));
    }
    for nth in 1..=body.pool(Class::B16) {
        body.put(format!("cvt.u16.u32 %h{nth}, %r{nth}"));
    }
    for nth in 1..=body.pool(Class::Pred) {
        let bit = body.choose.below(5);
        let part = body.temp(Class::B32);
        body.put(format!("bfe.u32 {part}, %r{}, {bit}, 1", 1 + nth % 3));
        body.put(format!("setp.ne.u32 %p{nth}, {part}, 0"));
    }
    for nth in 1..=body.pool(Class::F32) {
        match nth {
            1 => {
                let index = body.temp(Class::B32);
                body.put(format!("and.b32 {index}, %r1, {}", FLOATS - 1));
                body.put(format!("mad.wide.u32 {address}, {index}, 4, %floats"));
                body.put(format!("ld.global.f32 %f1, [{address}]"));
            }
            2 => body.put("mov.b32 %f2, %r1"),
            _ => body.put(format!("cvt.rn.f32.s32 %f{nth}, %r{nth}")),
        }
    }
    for nth in 1..=body.pool(Class::F64) {
        body.put(format!("cvt.f64.f32 %g{nth}, %f{nth}"));
    }
    for nth in 1..=body.pool(Class::F16) {
        body.put(format!("mov.b16 %x{nth}, %h{nth}"));
        body.put(format!("cvt.rn.f16x2.f32 %u{nth}, %f1, %f3"));
    }
    for nth in 1..=body.pool(Class::Bf16) {
        body.put(format!("mov.b16 %y{nth}, %h{nth}"));
        body.put(format!("cvt.rn.bf16x2.f32 %v{nth}, %f1, %f3"));
    }
}

/// Slots and slices hold something before anybody reads them.
fn start_memory(body: &mut Body) {
    let facts = body.facts.clone();
    let threads = facts.threads;
    if facts.has_shared {
        for name in ["%slot", "%warp_slot", "%slice"] {
            body.named(".b32", name);
        }
        let base = body.temp(Class::B32);
        body.put(format!("mov.u32 {base}, memory"));
        body.put(format!("mad.lo.u32 %slot, %thread, 8, {base}"));
        body.put(format!("mad.lo.u32 %slice, %thread, {SLICE}, {base}"));
        body.put(format!("add.u32 %slice, %slice, {}", threads.next_multiple_of(2) * 8));
        body.put(format!("mad.lo.u32 %warp_slot, %thread, 4, {base}"));
        body.put(format!("add.u32 %warp_slot, %warp_slot, {}", threads.next_multiple_of(2) * 8 + threads * SLICE));
        body.put("st.shared.b64 [%slot], %d1");
        body.put("st.shared.v4.b32 [%slice], {%r1, %r2, %r3, %r4}");
        body.put("st.shared.v2.b64 [%slice+16], {%d1, %d2}");
        let shared: Vec<&Counter> = facts.counters.iter().filter(|counter| counter.is_shared).collect();
        if !shared.is_empty() {
            let is_first = body.temp(Class::Pred);
            body.put(format!("setp.eq.u32 {is_first}, %thread, 0"));
            for counter in shared {
                body.put(format!("@{is_first} st.shared.b64 [memory+{}], {:#x}", counter.offset, counter.start()));
            }
            body.put("bar.sync 0");
        }
    }
    if facts.has_local {
        body.named(".b64", "%frame");
        body.put("mov.u64 %frame, frame");
        body.put("st.local.v4.b32 [frame], {%r1, %r2, %r3, %r4}");
        body.put("st.local.v2.b64 [frame+16], {%d1, %d2}");
    }
    if facts.has_generic {
        body.named(".b64", "%generic_own");
        body.put("cvta.global.u64 %generic_own, %own");
        if facts.has_shared {
            body.named(".b64", "%generic_slice");
            body.put("cvt.u64.u32 %generic_slice, %slice");
            body.put("cvta.shared.u64 %generic_slice, %generic_slice");
        }
        if facts.has_local {
            body.named(".b64", "%generic_frame");
            body.put("cvta.local.u64 %generic_frame, %frame");
        }
    }
}

/// All registers, to memory: each kind is folded into one word, because stores of 32 lanes make much code.
fn epilogue(body: &mut Body) {
    let kinds: [&[Class]; 4] = [
        &[Class::B32],
        &[Class::B64, Class::F64],
        &[Class::B16, Class::Pred],
        &[Class::F32, Class::F16, Class::Bf16, Class::F16x2, Class::Bf16x2],
    ];
    let words = kinds.map(|kind| folded(body, kind));
    body.put(format!("st.global.v4.b32 [%own+-{DUMP}], {{{}}}", words.join(", ")));
    let shared: Vec<u32> =
        body.facts.counters.iter().filter(|counter| counter.is_shared).map(|counter| counter.offset).collect();
    if !shared.is_empty() {
        body.put("bar.sync 0");
        for (nth, offset) in shared.into_iter().enumerate() {
            let value = body.temp(Class::B64);
            body.put(format!("ld.shared.b64 {value}, [memory+{offset}]"));
            body.put(format!("st.global.b64 [%own+{}], {value}", nth * 8));
        }
    }
    body.put("ret");
}

/// A word that differs if one register of some classes does: the factor is odd.
fn folded(body: &mut Body, classes: &[Class]) -> String {
    let is_wide = classes.contains(&Class::B64);
    let (class, ty) = if is_wide { (Class::B64, "u64") } else { (Class::B32, "u32") };
    let sum = body.temp(class);
    body.put(format!("mov.{ty} {sum}, 0"));
    for &class in classes {
        for nth in 1..=body.pool(class) {
            let register = body.nth(class, nth);
            let mut bits = body.bits_of(class, &register);
            if matches!(class, Class::B16 | Class::F16 | Class::Bf16) {
                let narrow = std::mem::replace(&mut bits, body.temp(Class::B32));
                body.put(format!("cvt.u32.u16 {bits}, {narrow}"));
            }
            body.put(format!("mad.lo.{ty} {sum}, {sum}, 31, {bits}"));
        }
    }
    if !is_wide {
        return sum;
    }
    let (low, high) = (body.temp(Class::B32), body.temp(Class::B32));
    body.put(format!("mov.b64 {{{low}, {high}}}, {sum}"));
    body.put(format!("xor.b32 {low}, {low}, {high}"));
    low
}

#[expect(clippy::too_many_arguments, reason = "it only puts the parts one after the other")]
fn file(
    body: &Body,
    functions: &str,
    seed: u64,
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_shared: u32,
    shared_bytes: u32,
    buffers: &[(&str, u32)],
    prints: bool,
) -> String {
    let extent = |extent: [u32; 3]| extent.map(|size| size.to_string()).join("x");
    let out_words = buffers[3].1 / 4;
    let mut starts = [0_u64; 4];
    for counter in body.facts.counters.iter().filter(|counter| !counter.is_shared) {
        starts[counter.offset as usize / 8] = counter.start();
    }
    let starts: Vec<String> = starts.iter().map(|start| format!("{start:x}")).collect();
    let mut text = format!("//@ test: run\n//@ run k: grid={} block={}", extent(grid), extent(block));
    let mut write = |part: String| text.push_str(&part);
    if dynamic_shared > 0 {
        write(format!(" shared={dynamic_shared}"));
    }
    write(format!(
        " args=input:b32[{INPUT}]=random({seed}),floats:f32[{FLOATS}]=edges(1),counters:b64[4]={{{}}},out:b32[{out_words}]\n",
        starts.join(" ")
    ));
    write("// Random kernel ".to_owned());
    write(format!("{seed}.\n.version 9.1\n.target sm_90\n.address_size 64\n\n"));
    let constants: Vec<String> = (0..CONSTANTS).map(|nth| nth.wrapping_mul(0x9e37_79b9).to_string()).collect();
    write(format!(".const .align 8 .b32 constants[{CONSTANTS}] = {{{}}};\n", constants.join(", ")));
    if prints {
        write(print::DECLARATIONS.to_owned());
    }
    write(functions.to_owned());
    if dynamic_shared > 0 {
        write(".extern .shared .align 16 .b8 memory[];\n".to_owned());
    }
    write(
        ".visible .entry k(.param .u64 input, .param .u64 floats, .param .u64 counters, .param .u64 out)\n{\n"
            .to_owned(),
    );
    if dynamic_shared == 0 && shared_bytes > 0 {
        write(format!("\t.shared .align 16 .b8 memory[{shared_bytes}];\n"));
    }
    if body.facts.has_local {
        write(format!("\t.local .align 16 .b8 frame[{SLICE}];\n"));
    }
    write(body.declarations());
    writeln!(text, "{}\n}}", body.lines.join("\n")).expect("writing to a string");
    text
}
