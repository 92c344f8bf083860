//! The kernel whose threads make accesses as a table says, and what racecheck makes of it.

use ptx::analysis::CallGraph;
use ptx::ir::Module;
use rewrite::{Rewriter, Rewritten};

use crate::definition::{Gap, OPERATIONS, Operation, PLACES, Space};

/// Its name.
pub(crate) const NAME: &str = "k";
/// Threads of its blocks, and how many there are.
pub(crate) const BLOCK: u32 = 64;
pub(crate) const GRID: u32 = 2;
/// Times that it goes through a barrier of a kind, if it has it: once more than there are gaps in a program.
pub(crate) const ROUNDS: usize = 4;
/// Lists of places at each time: of a place, and of all threads that are none.
pub(crate) const ROW: usize = PLACES.len() + 1;

/// How instructions name the memory: by its space, or by generic addresses, for which racecheck has no straight-line code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Addressing {
    Direct,
    Generic,
}

/// What is the same for all programs that one kernel executes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub(crate) space: Space,
    pub(crate) addressing: Addressing,
    pub(crate) barriers: Barriers,
}

/// Which barriers a kernel has: racecheck looks at accesses of kernels without them in other ways.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Barriers {
    pub(crate) of_block: bool,
    pub(crate) of_warps: bool,
}

impl Barriers {
    pub(crate) const ALL: [Self; 4] = [
        Self { of_block: false, of_warps: false },
        Self { of_block: true, of_warps: false },
        Self { of_block: false, of_warps: true },
        Self { of_block: true, of_warps: true },
    ];

    /// What there may be between two accesses.
    pub(crate) fn gaps(self) -> Vec<Gap> {
        let of_block = self.of_block.then_some(Gap::BlockBarrier);
        let of_warps = self.of_warps.then_some(Gap::WarpBarrier);
        [Some(Gap::Nothing), of_block, of_warps].into_iter().flatten().collect()
    }

    /// How often the kernel goes through barriers of the block, and of the warps between two of these.
    fn rounds(self) -> [usize; 2] {
        [self.of_block, self.of_warps].map(|has| if has { ROUNDS } else { 1 })
    }

    /// In how many parts barriers divide the kernel.
    pub(crate) fn parts(self) -> usize {
        self.rounds().iter().product()
    }

    /// The part after some barriers, by its number.
    pub(crate) fn part(self, before: &[Gap]) -> usize {
        let (mut of_block, mut of_warps) = (0, 0);
        for gap in before {
            match gap {
                Gap::Nothing => {}
                Gap::BlockBarrier => (of_block, of_warps) = (of_block + 1, 0),
                Gap::WarpBarrier => of_warps += 1,
            }
        }
        of_block * self.rounds()[1] + of_warps
    }

    /// Of each part, the barrier at its end that is the next one.
    fn after(self, code: &mut String) {
        let [of_block, of_warps] = self.rounds();
        if self.of_warps {
            *code +=
                &format!("bar.warp.sync -1;\nadd.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, {of_warps}; @%p1 bra part;\n");
        }
        if self.of_block {
            *code +=
                &format!("bar.sync 0;\nadd.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, {of_block}; @%p1 bra interval;\n");
        }
    }
}

/// The number of a list of granules: those to which the thread of a place makes an access in a part of the kernel.
pub(crate) fn list(part: usize, operation: usize, place: usize) -> usize {
    (part * OPERATIONS.len() + operation) * ROW + place
}

/// How many lists there are.
pub(crate) fn lists(barriers: Barriers) -> usize {
    list(barriers.parts(), 0, 0)
}

fn instruction(operation: Operation, space: &str) -> String {
    let name = match operation {
        Operation::WeakRead | Operation::VolatileRead => "ld",
        Operation::WeakWrite | Operation::VolatileWrite => "st",
        Operation::AtomicOfBlock => "atom.cta",
        Operation::AtomicOfDevice => "atom.gpu",
    };
    match operation {
        Operation::WeakRead => format!("{name}{space}.u32 %r10, [%d10];"),
        Operation::VolatileRead => format!("{name}.volatile{space}.u32 %r10, [%d10];"),
        Operation::WeakWrite => format!("{name}{space}.u32 [%d10], %r9;"),
        Operation::VolatileWrite => format!("{name}.volatile{space}.u32 [%d10], %r9;"),
        Operation::AtomicOfBlock | Operation::AtomicOfDevice => format!("{name}{space}.add.u32 %r10, [%d10], %r9;"),
    }
}

/// The kernel. `lists` has the first entry and the length of each list, and after all of them the entries: numbers of granules,
/// which are at `data` or in shared memory. Where that is, each block writes to `tiles`.
fn text(Setting { space, addressing, barriers }: Setting) -> String {
    let mut code = String::from(
        ".version 8.0\n.target sm_80\n.address_size 64\n.extern .shared .align 16 .b8 tile[];\n\
         .visible .entry k(.param .u64 lists, .param .u64 data, .param .u64 tiles)\n{\n\
         .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %d<16>;\n\
         ld.param.u64 %d1, [lists]; ld.param.u64 %d2, [data]; ld.param.u64 %d3, [tiles];\n\
         mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mov.u64 %d4, tile; cvta.shared.u64 %d5, %d4;\n\
         mad.wide.u32 %d6, %r1, 8, %d3; setp.eq.u32 %p1, %r2, 0; @%p1 st.global.u64 [%d6], %d5;\n",
    );
    code += &format!("mov.u32 %r3, {};\n", PLACES.len());
    for (number, place) in PLACES.iter().enumerate() {
        code += &format!(
            "setp.eq.u32 %p1, %r1, {}; setp.eq.and.u32 %p1, %r2, {}, %p1; @%p1 mov.u32 %r3, {number};\n",
            place.block, place.thread
        );
    }
    // The list of the thread, which goes on from one to the next, and where the entries are.
    code += "mad.wide.u32 %d7, %r3, 8, %d1;\n";
    code += &format!(
        "add.u64 %d8, %d1, {}; mov.u32 %r9, 77; mov.u32 %r4, 0;\ninterval: mov.u32 %r5, 0;\npart:\n",
        8 * lists(barriers)
    );
    let (in_space, start) = match (space, addressing) {
        (Space::Global, Addressing::Direct) => (".global", "%d2"),
        (Space::Global, Addressing::Generic) => ("", "%d2"),
        (Space::Shared, Addressing::Direct) => (".shared", "%d4"),
        (Space::Shared, Addressing::Generic) => ("", "%d5"),
    };
    for (number, &operation) in OPERATIONS.iter().enumerate() {
        code += &format!(
            "ld.global.v2.u32 {{%r6, %r7}}, [%d7]; add.u64 %d7, %d7, {};\n\
             again{number}: setp.eq.u32 %p1, %r7, 0; @%p1 bra done{number};\n\
             mad.wide.u32 %d9, %r6, 4, %d8; ld.global.u32 %r8, [%d9]; mad.wide.u32 %d10, %r8, 4, {start};\n\
             {}\nadd.u32 %r6, %r6, 1; sub.u32 %r7, %r7, 1; bra again{number};\ndone{number}:\n",
            8 * ROW,
            instruction(operation, in_space)
        );
    }
    barriers.after(&mut code);
    code + "ret;\n}\n"
}

/// What the runtime records of 16 accesses of a site, this records of every granule: two words for each, for what conflicts with
/// the last write and with the last read. The record buffer begins with where granules begin, in any window.
const RECORD: &str = "{
	.pragma \"nosync\";
	.reg .pred %p;
	.reg .b32 %reads;
	.reg .b64 %context, %buffer, %at, %start, %word, %high;
	ld.shared.b64 %context, [warpgrind_context];
	ld.global.b64 %buffer, [%context];
	ld.global.b64 %start, [%buffer];
	sub.u64 %at, %address, %start;
	and.b64 %at, %at, LAST_OF_WINDOW;
	shl.b64 %at, %at, 2;
	add.u64 %at, %at, %buffer;
	and.b32 %reads, %what, OTHER_READS;
	setp.ne.b32 %p, %reads, 0;
	@%p add.u64 %at, %at, 8;
	cvt.u64.u32 %word, %site;
	cvt.u64.u32 %high, %what;
	shl.b64 %high, %high, 32;
	or.b64 %word, %word, %high;
	st.global.b64 [%at+RECORDS], %word;
	ret;
}";

/// From one window of shared memory to the next: granules are at the same places in all of them.
pub(crate) const WINDOW: u64 = 1 << 20;
/// Where in the record buffer the words of granules begin.
pub(crate) const RECORDS: u64 = 64;
/// The bit of `what` that says that the access conflicts with a read.
const OTHER_READS: u64 = 1 << 14;

/// The kernel as it is, with the version of racecheck that looks at all accesses.
pub(crate) struct Checked {
    pub(crate) rewritten: Rewritten,
    /// The same with [`RECORD`].
    pub(crate) module: Module,
}

pub(crate) fn rewriter() -> Rewriter<'static> {
    Rewriter::new(&[tools::tool("racecheck").unwrap().instrumentation()]).unwrap()
}

impl Checked {
    pub(crate) fn new(setting: Setting) -> Self {
        let text = text(setting);
        let parsed = ptx::parse(&text);
        assert!(parsed.diagnostics.is_empty(), "{:?}\n{text}", parsed.diagnostics);
        let plain = parsed.module;
        let (calls, kernel) = (CallGraph::of(&plain), plain.function(NAME).unwrap());
        let rewritten = rewriter().rewrite_kernel(&plain, &calls, kernel, |choice| choice == [0]).unwrap();
        let text = ptx::print(&rewritten.module);
        let start = text.rfind(".func warpgrind_record(").expect("the runtime is there");
        let body = start + text[start..].find('{').expect("the last one is the definition");
        let end = body + text[body..].find("\n}").expect("it ends") + "\n}".len();
        let constants = [("LAST_OF_WINDOW", WINDOW - 1), ("OTHER_READS", OTHER_READS), ("RECORDS", RECORDS)];
        let with = |text: String, (name, value): (&str, u64)| text.replace(name, &value.to_string());
        let record = constants.into_iter().fold(RECORD.to_owned(), with);
        let text = [&text[..body], &record, &text[end..]].concat();
        let parsed = ptx::parse(&text);
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
        Self { rewritten, module: parsed.module }
    }

    /// The name of the version.
    pub(crate) fn symbol(&self) -> &str {
        &self.version().symbol
    }

    pub(crate) fn version(&self) -> &rewrite::KernelVersion {
        self.rewritten.kernels[NAME].version(&[0]).expect("racecheck takes the kernel")
    }
}
