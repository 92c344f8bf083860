//! Whether a comparison suits the type that it compares: only numbers can be unordered, and bits have no order.

use super::Verifier;
use crate::ir::StmtId;
use crate::ops::{Mod, Op};
use crate::types::{Type, TypeKind};
use crate::view::View;

impl Verifier<'_> {
    pub(super) fn check_comparison(&mut self, id: StmtId, view: View<'_>) {
        if !matches!(view.op(), Some(Op::Set | Op::Setp)) {
            return;
        }
        let Some(&ty) = view.form.types().last() else { return };
        if let Some(wrong) = view.form.words().find(|&word| !suits(word, ty)) {
            self.error(id, None, format!("values of type `.{ty}` cannot be compared by `.{wrong}`"));
        }
    }
}

/// Whether a modifier is no comparison, or one that the type has.
fn suits(word: Mod, ty: Type) -> bool {
    let is_signed = ty.kind() == TypeKind::Signed || matches!(ty, Type::S16x2 | Type::S8x4);
    let is_unsigned = ty.kind() == TypeKind::Unsigned || matches!(ty, Type::U16x2 | Type::U8x4);
    let is_float = ty.kind() == TypeKind::Float || matches!(ty, Type::F16 | Type::Bf16 | Type::F16x2 | Type::Bf16x2);
    match word {
        Mod::Lt | Mod::Le | Mod::Gt | Mod::Ge => is_float || is_signed || is_unsigned,
        Mod::Lo | Mod::Ls | Mod::Hi | Mod::Hs => is_unsigned,
        Mod::Equ | Mod::Neu | Mod::Ltu | Mod::Leu | Mod::Gtu | Mod::Geu | Mod::Num | Mod::Nan => is_float,
        _ => true,
    }
}
