//! `rmt` in the interpreter: kernels leave behind what they leave behind without it, and a bit that is flipped in one copy of a
//! thread is found.

use interp::{Config, Launch, LaunchError, Machine, Schedule};
use ptx::analysis::CallGraph;
use ptx::edit::Editor;
use ptx::ir::{FuncId, Guard, Module, Operand, Reg, StmtId, Symbol};
use ptx::ops::Effect;
use ptx::special::Special;
use ptx::types::{Type, TypeKind};
use ptx::view::{Callee, View};
use rewrite::context::{COUNTERS, RECORD_BUFFER, RecordBuffer, Word};
use rewrite::{LaunchShape, Rewriter, Rewritten};

const KERNELS: &str = include_str!("kernels.ptx");
const NAMES: [&str; 7] = ["stores", "branches", "tiles", "counted", "atomics", "in_place", "collectives"];
/// Blocks for each of the layouts: one that is as wide as twins are apart, one of eight, and one of neither.
const BLOCKS: [[u32; 3]; 3] = [[32, 1, 1], [8, 4, 1], [5, 3, 1]];
const BYTES: u64 = 2048;
const RECORDS: usize = 64;

fn module() -> Module {
    let parsed = ptx::parse(KERNELS);
    assert!(parsed.diagnostics.is_empty(), "{:#?}", parsed.diagnostics);
    parsed.module
}

fn rewriter() -> Rewriter<'static> {
    Rewriter::new(&[tools::tool("rmt").unwrap().instrumentation()]).unwrap()
}

/// The versions of a kernel that can be launched in a shape, by their numbers.
fn versions(rewritten: &Rewritten, kernel: &str, shape: LaunchShape) -> Vec<usize> {
    let rmt = tools::tool("rmt").unwrap().instrumentation();
    // Some versions are there to measure what comparison and computation cost.
    let versions = rewritten.kernels[kernel]
        .versions
        .iter()
        .filter(|version| !version.is_plain && !version.symbol.contains("_not_"));
    versions.map(|version| version.choice[0]).filter(|&version| rmt.shape(version, shape).is_ok()).collect()
}

fn shape(block: [u32; 3]) -> LaunchShape {
    LaunchShape { grid: [1; 3], block, dynamic_shared: 400, is_cooperative: false }
}

/// What came of a run.
#[derive(PartialEq, Debug)]
enum Ran {
    /// What it left behind, and how much was recorded.
    Ended { memory: Vec<u8>, records: u64 },
    /// Threads wait for others that do not come, or it does not end.
    Hung,
}

/// Runs a version of a kernel, or the original.
fn run(
    module: &Module,
    sites: usize,
    kernel: &str,
    version: Option<(usize, &str)>,
    block: [u32; 3],
    order: Schedule,
) -> Ran {
    let config = Config { schedule: order, seed: 7, instruction_budget: 1_000_000, ..Config::default() };
    let mut machine = Machine::new(module, config).unwrap();
    let [input, output] = [(); 2].map(|()| machine.allocate(BYTES, 256));
    let numbers: Vec<u8> = (0..BYTES / 4).flat_map(|number| (number as u32 % 50).to_le_bytes()).collect();
    machine.write(input, &numbers).unwrap();
    let mut params: Vec<u8> = [input, output].iter().flat_map(|address| address.to_le_bytes()).collect();
    let rmt = tools::tool("rmt").unwrap().instrumentation();
    let records = machine.allocate(RecordBuffer::bytes(RECORDS) as u64, 64);
    let (mut physical, mut symbol) = (shape(block), kernel);
    if let Some((number, name)) = version {
        let rewriter = rewriter();
        let mut table = vec![0_u64; 64];
        let counters = machine.allocate(8 * sites.max(1) as u64, 8);
        table[RECORD_BUFFER as usize / 8] = records;
        table[COUNTERS as usize / 8] = counters;
        let [x, y, z] = block.map(u64::from);
        physical = rmt.shape(number, physical).unwrap();
        let threads: u32 = physical.block.iter().product();
        // Slots, or a log, are the last of dynamic shared memory.
        let bytes = if name.contains("warp_pair") { threads / 2 * (8 + 4 * 16) } else { threads * 16 };
        let slots = physical.dynamic_shared.saturating_sub(bytes);
        // One pair of blocks has a log at a time.
        let counters = 64 + 12 * u64::from(threads).next_multiple_of(16);
        let log = machine.allocate(counters + 16 * 16 * u64::from(threads), 64);
        for (word, value) in [
            ("BLOCK_X", x),
            ("BLOCK_Y", y),
            ("BLOCK_Z", z),
            ("THREADS", x * y * z),
            ("DYNAMIC_SHARED", 400),
            ("SHARED_DISTANCE", 512),
            ("SLOTS", slots.into()),
            ("LOG", log),
            ("LOG_ENTRIES", log + counters),
            ("REGIONS", 1),
        ] {
            table[rewriter.layout().offset("rmt", Word(word)).unwrap() as usize / 8] = value;
        }
        let context = machine.allocate(8 * table.len() as u64, 8);
        let bytes: Vec<u8> = table.iter().flat_map(|word| word.to_le_bytes()).collect();
        machine.write(context, &bytes).unwrap();
        machine.write(records + RecordBuffer::CAPACITY as u64, &(RECORDS as u64).to_le_bytes()).unwrap();
        params.extend(context.to_le_bytes());
        symbol = name;
    }
    let launch = Launch {
        kernel: symbol,
        grid: physical.grid,
        block: physical.block,
        dynamic_shared: physical.dynamic_shared,
        params: &params,
    };
    match machine.launch(&launch) {
        Ok(_) => {}
        Err(LaunchError::Deadlock { .. } | LaunchError::OutOfBudget { .. }) => return Ran::Hung,
        Err(error) => panic!("{symbol} of {block:?}: {error}"),
    }
    let head = machine.read(records + RecordBuffer::HEAD as u64, 8).unwrap();
    let records = u64::from_le_bytes(head.try_into().unwrap());
    Ran::Ended { memory: machine.read(output, BYTES).unwrap().to_vec(), records }
}

/// All versions of all kernels, in all layouts; each in a module of its own.
fn for_each_version(mut each: impl FnMut(&Rewritten, &str, [u32; 3], usize, &str)) {
    let (plain, rewritten) = (module(), rewriter().rewrite(module()).unwrap());
    let calls = CallGraph::of(&plain);
    let mut seen = 0;
    for kernel in NAMES {
        let func = plain.function(kernel).unwrap();
        for block in BLOCKS {
            // A barrier of 32 threads, or a shuffle among them, is for whole warps.
            if ["counted", "collectives"].contains(&kernel) && block == BLOCKS[2] {
                continue;
            }
            for version in versions(&rewritten, kernel, shape(block)) {
                let symbol = &rewritten.kernels[kernel].version(&[version]).unwrap().symbol;
                // It reads what it writes.
                if kernel == "in_place" && !symbol.ends_with("_in_place") {
                    continue;
                }
                let alone = rewriter().rewrite_kernel(&plain, &calls, func, |choice| choice == [version]).unwrap();
                each(&alone, kernel, block, version, symbol);
                seen += 1;
            }
        }
    }
    // Two orders of memory, two kinds of shared memory, and two exchanges; blocks of any size can be linear, and have neighbours
    // as twins.
    let of_block = [3, 3, 2].map(|layouts| 8 * layouts);
    let of_kernel: usize = of_block.iter().sum();
    let in_warps = 6 * of_kernel - of_block[2] - of_kernel / 2;
    // Two orders, of warps if they are whole, and of blocks.
    let with_log = 4 * (4 + 4 + 2) + 5 + 2 * (4 + 4);
    assert_eq!(seen, in_warps + with_log);
}

/// What kernels leave behind is what they leave behind without, in two schedules; and nothing is found.
#[test]
fn kernels_do_what_they_do_without() {
    let plain = module();
    let rewritten = rewriter().rewrite(module()).unwrap();
    assert_eq!(ptx::verify(&rewritten.module), []);
    for_each_version(|rewritten, kernel, block, version, symbol| {
        for order in [Schedule::UntilBlocked { share: 256 }, Schedule::Random { longest: 1 }] {
            let expected = run(&plain, 0, kernel, None, block, order);
            let ran = run(&rewritten.module, rewritten.sites.len(), kernel, Some((version, symbol)), block, order);
            assert!(ran == expected, "{symbol} in blocks of {block:?}, {order:?}: {ran:?} instead of {expected:?}");
        }
    });
}

/// A kernel that reads what it writes needs the version in which twins meet around stores.
#[test]
fn twins_meet_where_a_kernel_reads_what_it_writes() {
    let rewritten = rewriter().rewrite(module()).unwrap();
    let ran = |name: &str| {
        let version = rewritten.kernels["in_place"].versions.iter().find(|version| version.symbol == name).unwrap();
        let order = Schedule::Random { longest: 1 };
        let version = Some((version.choice[0], name));
        run(&rewritten.module, rewritten.sites.len(), "in_place", version, BLOCKS[0], order)
    };
    assert!(!is_found(&ran("in_place$$rmt_pair_in_place")));
    assert!(is_found(&ran("in_place$$rmt_pair")), "it is not needed");
}

/// Where a bit is flipped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum When {
    /// Before twins compare.
    Before,
    /// After they have compared, and before the instruction.
    After,
}

/// An instruction of the program that twins compare something for, and the registers that it reads.
fn compared(module: &Module, func: FuncId) -> Vec<(StmtId, StmtId, Vec<Reg>)> {
    let function = &module.functions[func];
    let body = function.body.as_ref().unwrap();
    let mut found = Vec::new();
    let mut inserted: Vec<StmtId> = Vec::new();
    for stmt in body.iter() {
        let origin = body.origin(stmt);
        if origin.tag.is_some() {
            inserted.push(stmt);
            continue;
        }
        let Some(view) = View::of(&module.forms, body, stmt) else {
            inserted.clear();
            continue;
        };
        // What is there for the sake of the instruction before comes first.
        let own = inserted.iter().copied().filter(|&stmt| body.origin(stmt).id == origin.id);
        let callee = |stmt| match View::of(&module.forms, body, stmt)?.callee()? {
            Callee::Direct(func) => Some(module.text(module.functions[func].name)),
            _ => None,
        };
        let is_call = |stmt| callee(stmt).is_some_and(|name| name.starts_with("warpgrind_rmt_differ"));
        if let (Some(first), true) = (own.clone().next(), own.clone().any(is_call)) {
            let of_tool = |reg: &Reg| module.text(function.groups[function.regs[*reg].group].name).contains("rmt");
            let regs = view.reads().into_iter().filter(|reg| !of_tool(reg)).collect();
            found.push((first, stmt, regs));
        }
        inserted.clear();
    }
    found
}

/// Inserts the flip of a bit of a register, in all threads of one copy, before a statement of a version.
fn flip(editor: &mut Editor<'_>, symbol: &str, before: StmtId, reg: Reg, copy: Copy) {
    let ty = editor.function().reg_type(reg);
    let tag = editor.tag("test", "flip", 0);
    let ticket = {
        let module = editor.module();
        let is_it = |name| module.text(name) == "warpgrind_ticket";
        module.globals.iter().find(|(_, variable)| is_it(variable.name)).map(|(global, _)| Symbol::Global(global))
    };
    let mut builder = editor.before(before, tag);
    let [lane, is_it] = [builder.reg(Type::B32), builder.reg(Type::Pred)];
    let comparison = if copy == Copy::First { "setp.eq.u32" } else { "setp.ne.u32" };
    match () {
        () if symbol.contains("_inter") => {
            builder.inst("ld.shared.b32", &[lane.into(), Operand::SymbolAddress(ticket.expect("blocks draw one"), 0)]);
            builder.inst("and.b32", &[lane.into(), lane.into(), 1.into()]);
        }
        () if symbol.contains("_warp_pair") => {
            let depth = builder.reg(Type::B32);
            builder.inst("mov.u32", &[lane.into(), Operand::Special(Special::TidZ)]);
            builder.inst("mov.u32", &[depth.into(), Operand::Special(Special::NtidZ)]);
            builder.inst("shr.u32", &[depth.into(), depth.into(), 1.into()]);
            builder.inst("div.u32", &[lane.into(), lane.into(), depth.into()]);
        }
        () => {
            let bit = if symbol.contains("_neighbours") { 1 } else { 16 };
            builder.inst("mov.u32", &[lane.into(), Operand::Special(Special::Laneid)]);
            builder.inst("and.b32", &[lane.into(), lane.into(), bit.into()]);
        }
    }
    builder.inst(comparison, &[is_it.into(), lane.into(), 0.into()]);
    let guard = Guard::when(is_it);
    match (ty.kind(), ty.bits()) {
        (_, 1) => _ = builder.guarded(guard, "not.pred", &[reg.into(), reg.into()]),
        (TypeKind::Float, 32) => {
            let bits = builder.reg(Type::B32);
            builder.inst("mov.b32", &[bits.into(), reg.into()]);
            builder.inst("xor.b32", &[bits.into(), bits.into(), 8.into()]);
            builder.guarded(guard, "mov.b32", &[reg.into(), bits.into()]);
        }
        (_, bits) => _ = builder.guarded(guard, &format!("xor.b{bits}"), &[reg.into(), reg.into(), 8.into()]),
    }
}

/// Which copy of the threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Copy {
    First,
    Second,
}

/// Flips a bit in every register of every instruction that twins compare something for, once in each copy.
fn for_each_flip(when: When, mut each: impl FnMut(&str, [u32; 3], Copy, &str, &Ran)) {
    for_each_version(|rewritten, kernel, block, version, symbol| {
        let func = rewritten.module.function(symbol).unwrap();
        for (first, stmt, mut regs) in compared(&rewritten.module, func) {
            let mut sites = rewritten.sites.numbered().map(|(_, site)| site);
            let site = sites.find(|site| (site.func, site.stmt) == (func, stmt)).expect("what is compared has a site");
            // Of a guard, twins agree before.
            regs.extend(site.guard.filter(|_| when == When::Before).map(|guard| guard.reg));
            for reg in regs {
                for copy in [Copy::First, Copy::Second] {
                    let mut flipped = rewritten.module.clone();
                    let before = if when == When::Before { first } else { stmt };
                    let text = {
                        let mut editor = Editor::new(&mut flipped, func).unwrap();
                        let text = editor.view(stmt).unwrap().form.spelling().to_owned();
                        flip(&mut editor, symbol, before, reg, copy);
                        text
                    };
                    let order = Schedule::UntilBlocked { share: 256 };
                    let sites = rewritten.sites.len();
                    let ran = run(&flipped, sites, kernel, Some((version, symbol)), block, order);
                    each(kernel, block, copy, &format!("`{text}` of {symbol}, blocks of {block:?}"), &ran);
                }
            }
        }
    });
}

/// Whether something was recorded, or nobody could go on.
fn is_found(ran: &Ran) -> bool {
    match ran {
        Ran::Ended { records, .. } => *records > 0,
        Ran::Hung => true,
    }
}

/// A flip before a comparison is found, in either copy.
#[test]
fn flips_before_a_comparison_are_found() {
    let mut flips = 0;
    for_each_flip(When::Before, |_, _, copy, place, ran| {
        flips += 1;
        assert!(is_found(ran), "a flip in the {copy:?} copy before {place}");
    });
    assert!(flips > 1000, "only {flips} flips");
}

/// A flip after a comparison, and before what is compared happens, is the window that remains: in the copy that does it. In the
/// other copy it changes nothing that leaves the thread.
#[test]
fn flips_after_a_comparison_matter_in_one_copy_only() {
    let plain = module();
    let mut in_window = 0;
    for_each_flip(When::After, |kernel, block, copy, place, ran| {
        let is_right = *ran == run(&plain, 0, kernel, None, block, Schedule::UntilBlocked { share: 256 });
        // With a log, the second copy does what is compared, but for loads, which the first makes.
        let has_log = place.contains("_inter") || place.contains("_warp_pair");
        let is_doer = (copy == Copy::Second) == (has_log && !place.contains("ld."));
        match is_doer {
            true => in_window += usize::from(!is_found(ran) && !is_right),
            // Both copies vote.
            false if place.contains("bar.red") => {}
            false => assert!(is_found(ran) || is_right, "a flip in the {copy:?} copy after the comparison of {place}"),
        }
    });
    assert!(in_window > 100, "only {in_window} flips between comparison and store were missed: is there no window?");
}

/// A branch of the program that one copy takes and the other does not is found where they would next do something, or both wait for
/// ever.
#[test]
fn branches_that_differ_are_found() {
    let mut branches = 0;
    for_each_version(|rewritten, kernel, block, version, symbol| {
        let func = rewritten.module.function(symbol).unwrap();
        let body = rewritten.module.functions[func].body.as_ref().unwrap();
        let guarded = body.iter().filter_map(|stmt| {
            let view = View::of(&rewritten.module.forms, body, stmt)?;
            let guard = view.inst.guard?;
            let is_own = body.origin(stmt).tag.is_none();
            (is_own && view.effect() == Some(Effect::Branch)).then_some((stmt, guard.reg))
        });
        for (stmt, reg) in guarded.collect::<Vec<_>>() {
            for copy in [Copy::First, Copy::Second] {
                let mut flipped = rewritten.module.clone();
                flip(&mut Editor::new(&mut flipped, func).unwrap(), symbol, stmt, reg, copy);
                let order = Schedule::UntilBlocked { share: 256 };
                let ran = run(&flipped, rewritten.sites.len(), kernel, Some((version, symbol)), block, order);
                assert!(is_found(&ran), "a branch of {symbol}, blocks of {block:?}, in the {copy:?} copy");
                branches += 1;
            }
        }
    });
    assert!(branches > 20, "only {branches} branches");
}
