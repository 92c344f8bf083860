//! What tools are told of a function, and what is done to versions that are launched in another shape.

use std::sync::Mutex;

use ptx::ir::Reg;
use ptx::special::Special;
use ptx::synchronisation::Synchronisation;
use ptx::types::Type;
use rewrite::{
    Access, Branch, Call, Class, Cursor, Definition, Exit, Instrumentation, KernelView, LaunchShape, Refusal, Rewriter,
    Sync,
};

/// Writes down what it is told.
#[derive(Debug)]
struct Diary {
    class: Class,
    lines: Mutex<Vec<String>>,
}

impl Diary {
    const fn new(class: Class) -> Self {
        Self { class, lines: Mutex::new(Vec::new()) }
    }

    fn note(&self, line: impl Into<String>) {
        self.lines.lock().unwrap().push(line.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.lines.lock().unwrap())
    }
}

impl Instrumentation for Diary {
    fn name(&self) -> &'static str {
        "diary"
    }

    fn class(&self) -> Class {
        self.class
    }

    fn entry(&self, at: &mut Cursor<'_, '_>) {
        self.note(if at.is_kernel() { "kernel begins" } else { "function begins" });
    }

    fn exit(&self, _: &mut Cursor<'_, '_>, exit: &Exit) {
        self.note(if exit.ends_thread { "thread ends" } else { "returns" });
    }

    fn call(&self, _: &mut Cursor<'_, '_>, _: &Call) {
        self.note("call");
    }

    fn branch(&self, at: &mut Cursor<'_, '_>, branch: &Branch) {
        assert_eq!(at.guard(), Some(branch.guard));
        self.note(if branch.guard.negated { "branch unless" } else { "branch if" });
    }

    fn access(&self, _: &mut Cursor<'_, '_>, access: &Access) {
        self.note(format!("{:?}", access.access.kind));
    }

    fn sync(&self, _: &mut Cursor<'_, '_>, sync: &Sync) {
        self.note(match sync.kind {
            Synchronisation::Barrier { count, waits, .. } => format!("barrier {waits} {}", count.is_some()),
            other => format!("{other:?}"),
        });
    }

    fn definition(&self, _: &mut Cursor<'_, '_>, definition: &Definition) {
        self.note(format!("{} defined", definition.regs.len()));
    }
}

/// Adds an instruction to each access.
#[derive(Debug)]
struct Adder;

impl Instrumentation for Adder {
    fn name(&self) -> &'static str {
        "adder"
    }

    fn access(&self, at: &mut Cursor<'_, '_>, _: &Access) {
        let reg = at.reg(Type::B32);
        at.before().inst("mov.b32", &[reg.into(), 0.into()]);
    }
}

/// Launches two threads for each thread of x.
#[derive(Debug)]
struct Pairs;

impl Instrumentation for Pairs {
    fn name(&self) -> &'static str {
        "pairs"
    }

    fn class(&self) -> Class {
        Class::Change
    }

    fn versions(&self, kernel: &KernelView<'_>) -> Result<Vec<&'static str>, Refusal> {
        match kernel.name() {
            "refused" => Err(Refusal::new("pairs", "name", "its name is not liked")),
            _ => Ok(vec!["with-shuffle", "with-slots"]),
        }
    }

    fn shape(&self, _: usize, shape: LaunchShape) -> Result<LaunchShape, Refusal> {
        let [x, y, z] = shape.block;
        Ok(LaunchShape { block: [2 * x, y, z], ..shape })
    }

    fn copies(&self, _: usize) -> u32 {
        2
    }

    fn special(&self, at: &mut Cursor<'_, '_>, special: Special) -> Option<Reg> {
        (special == Special::TidX).then(|| {
            let physical = at.at_entry("mov.u32", Type::B32, &[special.into()]);
            at.at_entry("shr.u32", Type::B32, &[physical.into(), 1.into()])
        })
    }
}

const PROGRAM: &str = "
.version 8.0
.target sm_80
.address_size 64
.func helper(.reg .b64 %a) { st.global.u32 [%a], 1; ret; }
.visible .entry k(.param .u64 p)
.maxntid 64, 2, 1
{
	.reg .b64 %d<3>; .reg .b32 %r<5>; .reg .pred %p;
	ld.param.u64 %d1, [p];
	mov.u32 %r1, %tid.x;
	ld.global.u32 %r2, [%d1];
	bar.sync 1, 64;
	bar.sync 2, %r2;
	setp.ne.u32 %p, %r2, 0;
	bar.red.popc.u32 %r3, 0, %p;
	call helper, (%d1);
	@!%p bra over;
	@%p exit;
over:
	ret;
}
";

fn rewritten(tools: &[&dyn Instrumentation]) -> rewrite::Rewritten {
    let rewritten = Rewriter::new(tools).unwrap().rewrite(ptx::parse(PROGRAM).module).unwrap();
    assert_eq!(ptx::verify(&rewritten.module), [], "{}", ptx::print(&rewritten.module));
    rewritten
}

#[test]
fn tools_are_told_all_that_functions_do() {
    let diary = Diary::new(Class::Check);
    rewritten(&[&diary]);
    let told = diary.take();
    assert_eq!(
        told,
        [
            // Functions come first.
            "function begins",
            "Write",
            "returns",
            "kernel begins",
            "1 defined",
            "1 defined",
            "Read",
            "1 defined",
            "barrier true true",
            "barrier true true",
            "1 defined",
            "barrier true false",
            "1 defined",
            "call",
            "branch unless",
            "thread ends",
            "thread ends",
        ]
    );
}

#[test]
fn the_last_tool_sees_what_others_inserted() {
    let definitions = |diary: &Diary| diary.take().iter().filter(|line| line.ends_with("defined")).count();
    let (among, last) = (Diary::new(Class::Check), Diary::new(Class::Last));
    rewritten(&[&among, &Adder]);
    rewritten(&[&last, &Adder]);
    // One for each of two accesses.
    assert_eq!(definitions(&last), definitions(&among) + 2);
}

#[test]
fn versions_have_the_ids_and_barriers_of_the_program() {
    let rewritten = rewritten(&[&Pairs]);
    let versions: Vec<&str> = rewritten.kernels["k"].versions.iter().map(|version| version.symbol.as_str()).collect();
    assert_eq!(versions, ["k$$pairs_with_shuffle", "k$$pairs_with_slots"]);
    let text = ptx::print(&rewritten.module);
    let function = |name: &str| {
        let text = &text[text.find(name).unwrap_or_else(|| panic!("there is no {name} in\n{text}"))..];
        text[..text.find("\n}").unwrap()].split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let version = function(".entry k$$pairs_with_slots(");
    for wanted in [
        "bar.sync 1, 128;",
        "mul.lo.u32 %pairs_barrier_b32_0, %r2, 2;",
        "bar.sync 2, %pairs_barrier_b32_0;",
        "div.u32 %r3, %r3, 2;",
        "mov.u32 %r1, %pairs_ids_b32_1;",
        "call helper$$pairs_with_slots, (%d1);",
        ".maxntid 256",
    ] {
        assert!(version.contains(wanted), "there is no `{wanted}` in\n{version}");
    }
    let original = function(".entry k(");
    for wanted in ["bar.sync 1, 64;", "mov.u32 %r1, %tid.x;", "call helper, (%d1);", ".maxntid 64, 2, 1"] {
        assert!(original.contains(wanted), "there is no `{wanted}` in\n{original}");
    }
}
