use ptx::edit::{Editor, RegUse};
use ptx::form::Forms;
use ptx::types::Type;

use crate::support::{check, find, function, kernel};

fn spelling(
    forms: &mut Forms,
    from: &str,
    change: impl FnOnce(&mut Forms, ptx::form::FormId) -> ptx::form::FormId,
) -> String {
    let form = forms.intern(from);
    let changed = change(forms, form);
    forms[changed].spelling().to_owned()
}

#[test]
fn modifiers_are_added_where_the_manual_has_them() {
    let forms = &mut Forms::default();
    for (from, word, expected) in [
        ("ld.global.v4.f32", "volatile", "ld.volatile.global.v4.f32"),
        ("add.f32", "rn", "add.rn.f32"),
        ("add.rn.f32", "ftz", "add.rn.ftz.f32"),
        ("ret", "uni", "ret.uni"),
        ("bar.sync", "unheard_of", "bar.sync.unheard_of"),
        ("unheard.of.b32", "x", "unheard.of.x.b32"),
        ("ret.uni", "uni", "ret.uni"),
    ] {
        assert_eq!(spelling(forms, from, |forms, form| forms.with_modifier(form, word)), expected);
    }
}

#[test]
fn modifiers_are_removed_and_exchanged_in_place() {
    let forms = &mut Forms::default();
    let removed = spelling(forms, "ld.global.nc.v4.f32", |forms, form| forms.without_modifier(form, "nc"));
    assert_eq!(removed, "ld.global.v4.f32");
    let exchanged = spelling(forms, "ld.param.v2.b32", |forms, form| forms.replace_modifier(form, "param", "local"));
    assert_eq!(exchanged, "ld.local.v2.b32");
    let opcode = spelling(forms, "add.add", |forms, form| forms.without_modifier(form, "add"));
    assert_eq!(opcode, "add");
}

#[test]
fn reads_and_writes_are_renamed_apart() {
    let mut module = kernel("@%p1 mad.lo.u32 %r1, %r1, %r2, 3; ret;");
    let k = function(&module, "k");
    let mut editor = Editor::new(&mut module, k).unwrap();
    let tag = editor.tag("rmt", "copy", 1);
    let mad = find(&editor, "mad");
    let fresh = editor.reg(tag, Type::B32);
    let mut seen = Vec::new();
    editor.rename_regs(mad, |reg, reg_use| {
        seen.push(reg_use);
        if reg_use == RegUse::Write { fresh } else { reg }
    });
    assert_eq!(seen, [RegUse::Write, RegUse::Read, RegUse::Read, RegUse::Read]);
    check(&module);
    let text = ptx::print(&module).replace('\t', "");
    assert!(text.contains("@%p1 mad.lo.u32 %rmt_copy_b32_0, %r1, %r2, 3;"), "{text}");
}

#[test]
fn renaming_reaches_vectors_pairs_and_addresses() {
    let mut module = kernel(
        "ld.global.v2.b32 {%r1, %r2}, [%rd1+4]; setp.eq.and.u32 %p1|%p2, %r1, %r2, !%p3;
        shfl.sync.bfly.b32 %r3|%p1, %r1, 1, 31, -1; ret;",
    );
    let k = function(&module, "k");
    let mut editor = Editor::new(&mut module, k).unwrap();
    let tag = editor.tag("t", "r", 0);
    let mut uses = Vec::new();
    for id in editor.body().ids() {
        if editor.body().inst(id).is_none() {
            continue;
        }
        let function = editor.function().clone();
        let fresh = [Type::B32, Type::B64, Type::Pred].map(|ty| editor.reg(tag, ty));
        editor.rename_regs(id, |reg, reg_use| {
            uses.push(reg_use);
            match function.reg_type(reg) {
                Type::B32 => fresh[0],
                Type::B64 => fresh[1],
                _ => fresh[2],
            }
        });
    }
    use RegUse::{Read, Write};
    assert_eq!(uses, [Write, Write, Read, Write, Write, Read, Read, Read, Write, Write, Read]);
    check(&module);
    let text = ptx::print(&module).replace('\t', "");
    assert!(text.contains("{%t_r_b32_0, %t_r_b32_0}, [%t_r_b64_0+4]"), "{text}");
    assert!(text.contains("%t_r_pred_1|%t_r_pred_1, %t_r_b32_1, %t_r_b32_1, !%t_r_pred_1"), "{text}");
}

#[test]
fn a_replaced_instruction_stands_for_the_same_instruction_of_the_user() {
    let mut module = kernel("add.u32 %r1, %r2, %r3; ret;");
    let k = function(&module, "k");
    let mut editor = Editor::new(&mut module, k).unwrap();
    let tag = editor.tag("inject", "flip", 0);
    let add = find(&editor, "add");
    let operands = editor.view(add).unwrap().operands().to_vec();
    editor.replace(add, None, "xor.b32", &[operands[0], operands[1], 16.into()]);
    editor.set_tag(add, tag);
    editor.set_operand(add, 2, 32.into());
    check(&module);
    let text = ptx::print(&module).replace('\t', "");
    assert!(text.contains("xor.b32 %r1, %r2, 32; //@ 0 inject.flip\nret; //@ 1\n"), "{text}");
}
