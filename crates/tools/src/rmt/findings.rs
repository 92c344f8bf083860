//! What is told of copies that differ.

use ptx::types::{Type, TypeKind};
use ptx::view::View;
use report::{Explanation, Finding, Note, Place, Severity};
use rewrite::context::Record;
use toolkit::{Evidence, HostStack};

use super::TOOL;

/// What of two threads differs: one of them does not do what the other does, because of a guard.
pub(super) const GUARD: u32 = 1;
/// They are at different instructions.
pub(super) const PLACE: u32 = 2;
/// They address different memory.
pub(super) const ADDRESS: u32 = 3;
/// They have different values: this, and the number of a pair of words.
pub(super) const VALUE: u32 = 4;

/// Twins differ.
pub(super) fn of_twins(record: &Record, evidence: &Evidence<'_>) -> Finding {
    let Record { address: mine, other, what, .. } = *record;
    let (message, note) = match what {
        GUARD => (
            "copies of a thread differ: only one of them executes an instruction",
            "the guard of the instruction holds in one of them".to_owned(),
        ),
        PLACE => (
            "copies of a thread differ: they are at different instructions",
            "one of them is here, and the other elsewhere in the kernel".to_owned(),
        ),
        ADDRESS => {
            ("copies of a thread differ in an address", format!("the first copy has {mine:#x}, the second {other:#x}"))
        }
        _ => ("copies of a thread differ in a value", values(evidence, [mine, other], what - VALUE)),
    };
    let mut first = evidence.occurrence.clone();
    first.address = (what == ADDRESS).then_some(mine);
    // Where warps are twins, the second half of a block is counted on.
    first.thread[2] %= evidence.shape.block[2].max(1);
    Finding {
        place: Some(evidence.place.clone()),
        first: Some(first),
        count: evidence.count,
        notes: vec![Note { message: note, stack: None }],
        help: Some(HELP.to_owned()),
        stack: Some(evidence.launched.clone()),
        ..Finding::new(TOOL, "copies-differ", Severity::Error, message)
    }
}

/// Two runs of a kernel differ.
pub(super) fn of_runs(kernel: &str, object: &str, offset: u64, bytes: [u8; 2], stack: &HostStack) -> Finding {
    let [first, second] = bytes;
    let message = format!("the first run left {first:#04x} at offset {offset} of {object}, the second {second:#04x}");
    Finding {
        place: Some(Place::of_kernel(kernel)),
        notes: vec![Note { message, stack: None }],
        help: Some(HELP.to_owned()),
        stack: Some(stack.frames()),
        ..Finding::new(TOOL, "copies-differ", Severity::Error, "two runs of a kernel left different results behind")
    }
}

/// A kernel ran as it is, which the user allows.
pub(super) fn unprotected(kernel: &str, reason: &str, stack: &HostStack) -> Finding {
    Finding {
        place: Some(Place::of_kernel(kernel)),
        notes: vec![Note { message: reason.to_owned(), stack: None }],
        stack: Some(stack.frames()),
        ..Finding::new(TOOL, "unprotected", Severity::Warning, "a kernel ran without protection")
    }
}

const HELP: &str =
    "a fault of the hardware, or a program whose copies may differ: see `warpgrind explain rmt::copies-differ`";

/// Two values in words; a pair of words if the instruction stores more.
fn values(evidence: &Evidence<'_>, [mine, other]: [u64; 2], pair: u32) -> String {
    let body = evidence.module.functions[evidence.site.func].body.as_ref();
    let view = body.and_then(|body| View::of(&evidence.module.forms, body, evidence.site.stmt));
    let ty = view.and_then(|view| view.form.types().last().copied());
    let is_one = view.is_some_and(|view| view.form.vector() == 1);
    let part = match pair {
        0 if is_one => String::new(),
        pair => format!(" in bytes {} to {} of the value", 8 * pair, 8 * pair + 7),
    };
    let [mine, other] = [mine, other].map(|value| in_type(value, ty.filter(|_| is_one)));
    format!("the first copy has {mine}, the second {other}{part}")
}

/// A value as the type has it, and its bits.
fn in_type(bits: u64, ty: Option<Type>) -> String {
    match ty.map(|ty| (ty.kind(), ty.bits())) {
        Some((TypeKind::Float, 32)) => format!("{:?} ({bits:#010x})", f32::from_bits(bits as u32)),
        Some((TypeKind::Float, 64)) => format!("{:?} ({bits:#018x})", f64::from_bits(bits)),
        _ => format!("{bits:#x}"),
    }
}

pub(super) const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        tool: Some(TOOL),
        code: "copies-differ",
        title: "two copies of a computation gave different results",
        text: include_str!("explain/copies-differ.md"),
    },
    Explanation {
        tool: Some(TOOL),
        code: "recovered",
        title: "copies that differed, and agreed when they ran again",
        text: include_str!("explain/recovered.md"),
    },
    Explanation {
        tool: Some(TOOL),
        code: "unprotected",
        title: "a kernel that ran once, because it cannot be protected",
        text: include_str!("explain/unprotected.md"),
    },
];
