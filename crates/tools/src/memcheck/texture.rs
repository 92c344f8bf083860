//! Elements of memory that is bound to a texture, fetched by their number: `tex1Dfetch`.
//!
//! The hardware gives zeros for elements that there are not, so a wrong index goes unnoticed. Coordinates of arrays are clamped,
//! repeated or mirrored because the program asks for it: these are not looked at.

use ptx::ir::{Guard, Operand};
use ptx::ops::{Mod, Op};
use ptx::types::Type;
use report::{Finding, Note, Severity};
use rewrite::context::Record;
use rewrite::{Cursor, Definition};
use toolkit::Evidence;

use super::SPACE;

/// What `what` of a record has as its space.
const TEXTURE: u32 = 5 << SPACE;

/// Whether a record is of a fetch.
pub(super) fn is_fetch(record: &Record) -> bool {
    record.what == TEXTURE
}

/// Records fetches of elements that there are not.
pub(super) fn check(at: &mut Cursor<'_, '_>, definition: &Definition) {
    let Some((handle, element)) = fetched(at, definition) else { return };
    let width = at.reg(Type::B32);
    let guard = at.guard();
    at.before().inst_if(guard, "txq.width.b32", &[width.into(), handle]);
    let bad = at.reg(Type::Pred);
    at.before().setp(bad.into(), "ge", "u32", [element, width.into()], guard);
    let [wide_element, wide_width] = [at.reg(Type::B64), at.reg(Type::B64)];
    at.before().inst("cvt.s64.s32", &[wide_element.into(), element]);
    at.before().inst("cvt.u64.u32", &[wide_width.into(), width.into()]);
    let site = at.instruction_site(0);
    let arguments = [wide_element.into(), wide_width.into(), i64::from(site.0).into(), i64::from(TEXTURE).into()];
    at.call(Some(Guard { reg: bad, negated: false }), "warpgrind_record", &[], &arguments);
}

/// The handle of the texture and the number of the element, if the instruction fetches one.
fn fetched(at: &mut Cursor<'_, '_>, definition: &Definition) -> Option<(Operand, Operand)> {
    let view = at.editor().view(definition.stmt)?;
    let is_fetch =
        view.op() == Some(Op::Tex) && view.form.has(Mod::Dim1) && view.form.types().last() == Some(&Type::S32);
    let tuple = view.operands().iter().find_map(|operand| match *operand {
        Operand::TupleAddress(list) if is_fetch => Some(view.body.operands(list)),
        _ => None,
    })?;
    let [handle, coordinates] = *tuple else { return None };
    let handle = match handle {
        Operand::Reg(reg) => Operand::RegAddress(reg, 0),
        Operand::Symbol(symbol, 0) => Operand::SymbolAddress(symbol, 0),
        other => other,
    };
    match coordinates {
        Operand::Vector(list) => Some((handle, *view.body.operands(list).first()?)),
        Operand::Reg(_) => Some((handle, coordinates)),
        _ => None,
    }
}

/// What is reported of a fetch.
pub(super) fn finding(record: &Record, evidence: &Evidence<'_>) -> Finding {
    let element = record.address.cast_signed();
    let note = format!("it is element {element} of memory with {} elements that is bound to the texture", record.other);
    Finding {
        place: Some(evidence.place.clone()),
        first: Some(evidence.occurrence.clone()),
        count: evidence.count,
        notes: vec![Note { message: note, stack: None }],
        help: Some("compare the index with the number of elements before the fetch".to_owned()),
        stack: Some(evidence.launched.clone()),
        ..Finding::new("memcheck", "texture-out-of-bounds", Severity::Error, "out-of-bounds fetch from a texture")
    }
}
