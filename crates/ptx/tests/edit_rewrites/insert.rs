use ptx::edit::{Editor, Point};
use ptx::ir::{Guard, Operand, Param, Variable};
use ptx::types::{Space, Type};

use crate::support::{assert_function, check, find, function, kernel, parse};

#[test]
fn before_and_after_an_instruction_in_the_order_of_the_calls() {
    let mut module = kernel("ld.param.u64 %rd1, [p]; ld.global.b32 %r1, [%rd1]; ret;");
    let k = function(&module, "k");
    let mut editor = Editor::new(&mut module, k).unwrap();
    let tag = editor.tag("memcheck", "check", 0);
    let load = find(&editor, "ld.global");
    let mut builder = editor.before(load, tag);
    let (shadow, is_bad) = (builder.reg(Type::B64), builder.reg(Type::Pred));
    let address = builder.editor().view(load).unwrap().operands()[1];
    let Operand::RegAddress(base, _) = address else { panic!("{address:?}") };
    builder.inst("shr.u64", &[shadow.into(), base.into(), 2.into()]);
    builder.inst("setp.eq.u64", &[is_bad.into(), shadow.into(), 0.into()]);
    builder.guarded(Guard::when(is_bad), "trap", &[]);
    editor.set_guard(load, Some(Guard::unless(is_bad)));
    let mut builder = editor.after(load, tag);
    builder.inst("mov.b64", &[shadow.into(), 1.into()]);
    builder.inst("mov.b64", &[shadow.into(), 2.into()]);
    assert_function(
        &module,
        "k",
        ".visible .entry k(
            .param .u64 p
        )
        {
        .reg .b64 %memcheck_check_b64_<1>;
        .reg .pred %memcheck_check_pred_<1>;
        .reg .pred %p<4>;
        .reg .b32 %r<9>;
        .reg .b64 %rd<9>;
        ld.param.u64 %rd1, [p];
        shr.u64 %memcheck_check_b64_0, %rd1, 2; //@ 1 memcheck.check
        setp.eq.u64 %memcheck_check_pred_0, %memcheck_check_b64_0, 0; //@ 1 memcheck.check
        @%memcheck_check_pred_0 trap; //@ 1 memcheck.check
        @!%memcheck_check_pred_0 ld.global.b32 %r1, [%rd1];
        mov.b64 %memcheck_check_b64_0, 1; //@ 1 memcheck.check
        mov.b64 %memcheck_check_b64_0, 2; //@ 1 memcheck.check
        ret;
        }",
    );
}

#[test]
fn entry_is_behind_the_declarations_and_before_a_loop_that_starts_the_function() {
    let mut module = parse(".visible .entry k() { .reg .b32 %r<2>; .shared .b32 s; LOOP: bra LOOP; }");
    let k = function(&module, "k");
    let mut editor = Editor::new(&mut module, k).unwrap();
    let tag = editor.tag("count", "start", 3);
    editor.at_entry(tag).inst("bar.sync", &[0.into()]);
    editor.at_end(tag).inst("exit", &[]);
    assert_function(
        &module,
        "k",
        ".visible .entry k()
        {
        .reg .b32 %r<2>;
        .shared .b32 s;
        bar.sync 0; //@ 0 count.start#3
        LOOP:
        bra LOOP;
        exit; //@ 0 count.start#3
        }",
    );
}

#[test]
fn what_is_inserted_at_the_end_belongs_to_the_last_instruction() {
    let mut module = parse(".func f() { ret; END: } .func g() { ret; }");
    let f = function(&module, "f");
    let mut editor = Editor::new(&mut module, f).unwrap();
    let tag = editor.tag("t", "r", 0);
    let end = editor.body().last().unwrap();
    editor.before(end, tag).inst("exit", &[]);
    assert_function(&module, "f", ".func f()\n{\nret;\nexit; //@ 0 t.r\nEND:\n}");
}

#[test]
fn empty_bodies_can_be_filled() {
    let mut module = parse(".func f() { }");
    let f = function(&module, "f");
    let mut editor = Editor::new(&mut module, f).unwrap();
    let tag = editor.tag("t", "r", 0);
    editor.at_entry(tag).inst("ret", &[]);
    let reg = editor.reg(tag, Type::B32);
    editor.at_entry(tag).inst("mov.b32", &[reg.into(), 0.into()]);
    assert_function(
        &module,
        "f",
        ".func f()\n{\n.reg .b32 %t_r_b32_<1>;\nmov.b32 %t_r_b32_0, 0; //@ 0 t.r\nret; //@ 0 t.r\n}",
    );
}

#[test]
fn fresh_names_are_used_in_no_scope() {
    // `%t_r_b32_` is a group in an inner scope, `%t_r_b64_7` a single register, `%t_r_pred_1_` the next best name.
    let mut module = kernel(
        "{ .reg .b32 %t_r_b32_<4>; .reg .b64 %t_r_b64_7; .reg .pred %t_r_pred_<2>, %t_r_pred_1_<2>; } $t_skip: ret;",
    );
    let k = function(&module, "k");
    let mut editor = Editor::new(&mut module, k).unwrap();
    let tag = editor.tag("t", "r", 0);
    let regs = [Type::B32, Type::B64, Type::Pred].map(|ty| editor.reg(tag, ty));
    let ret = find(&editor, "ret");
    let mut builder = editor.before(ret, tag);
    let label = builder.label("skip");
    builder.branch(Some(Guard::when(regs[2])), label);
    builder.inst("mov.b32", &[regs[0].into(), 0.into()]);
    builder.inst("mov.b64", &[regs[1].into(), 0.into()]);
    builder.place(label);
    let text = ptx::print(&module);
    check(&module);
    for expected in ["%t_r_b32_1_<1>", "%t_r_b64_1_<1>", "%t_r_pred_2_<1>", "bra \t$t_skip_1;"] {
        assert!(text.contains(expected), "{expected} is not in\n{text}");
    }
}

#[test]
fn groups_of_registers_grow_after_parsing_again() {
    let mut module = kernel("ret;");
    for round in 0..3 {
        let k = function(&module, "k");
        let mut editor = Editor::new(&mut module, k).unwrap();
        let tag = editor.tag("t", "r", round);
        let reg = editor.reg(tag, Type::B32);
        editor.at_entry(tag).inst("mov.b32", &[reg.into(), 0.into()]);
        check(&module);
        module = ptx::parse(&ptx::print(&module)).module;
    }
    assert_function(
        &module,
        "k",
        ".visible .entry k(
            .param .u64 p
        )
        {
        .reg .b32 %t_r_b32_<3>;
        .reg .pred %p<4>;
        .reg .b32 %r<9>;
        .reg .b64 %rd<9>;
        mov.b32 %t_r_b32_2, 0; //@ 0 t.r#2
        mov.b32 %t_r_b32_1, 0; //@ 0 t.r#1
        mov.b32 %t_r_b32_0, 0; //@ 0 t.r
        ret;
        }",
    );
}

#[test]
fn inserted_instructions_have_the_source_location_of_their_neighbour() {
    let mut module = parse(
        ".file 1 \"k.cu\"
        .visible .entry k() { .loc 1 1 1 bar.sync 0; .loc 1 2 1 bar.sync 1; ret; }",
    );
    let k = function(&module, "k");
    let mut editor = Editor::new(&mut module, k).unwrap();
    let tag = editor.tag("t", "r", 0);
    let second = find(&editor, "bar.sync 1");
    let inserted = editor.before(second, tag).inst("bar.sync", &[2.into()]);
    assert_eq!(editor.location(inserted).map(|location| location.line), Some(2));
    let first = find(&editor, "bar.sync 0");
    let inserted = editor.after(first, tag).inst("bar.sync", &[3.into()]);
    assert_eq!(editor.location(inserted).map(|location| location.line), Some(1));
    check(&module);
}

#[test]
fn variables_and_parameters_get_names_of_their_own() {
    let mut module = parse(
        ".func f(.param .b32 a);
        .func f(.param .b32 a) { .local .b32 buffer; ret; }",
    );
    let f = function(&module, "f");
    let mut editor = Editor::new(&mut module, f).unwrap();
    let tag = editor.tag("t", "r", 0);
    let local = editor.byte_array(Space::Local, "buffer", 16, 8);
    let shared = editor.byte_array(Space::Shared, "tile", 64, 16);
    let name = editor.module_mut().names.intern("a");
    let param = editor.append_param(Variable::scalar(name, Space::Param, Type::B64));
    let reg = editor.reg(tag, Type::B64);
    let address = Operand::SymbolAddress(ptx::ir::Symbol::Var(param), 0);
    let mut builder = editor.at_entry(tag);
    builder.inst("ld.param.b64", &[reg.into(), address]);
    builder.inst("mov.b64", &[reg.into(), local.into()]);
    builder.inst("mov.b64", &[reg.into(), shared.into()]);
    assert_function(
        &module,
        "f",
        ".func f(
            .param .b32 a,
            .param .b64 a_1
        )
        {
        .local .align 8 .b8 buffer_1[16];
        .shared .align 16 .b8 tile[64];
        .reg .b64 %t_r_b64_<1>;
        .local .b32 buffer;
        ld.param.b64 %t_r_b64_0, [a_1]; //@ 0 t.r
        mov.b64 %t_r_b64_0, buffer_1; //@ 0 t.r
        mov.b64 %t_r_b64_0, tile; //@ 0 t.r
        ret;
        }",
    );
    let declaration = module.functions.values().find(|function| function.body.is_none()).unwrap();
    assert!(matches!(declaration.params[..], [Param::Var(_), Param::Var(_)]));
}

#[test]
fn vectors_and_calls_are_built_from_operands() {
    let mut module = parse(
        ".func (.param .b32 r) f(.param .b32 a) { ret; }
        .visible .entry k(.param .u64 p) { .reg .b32 %r<3>; .reg .b64 %rd<2>; .reg .pred %p<2>; ret; }",
    );
    let (f, k) = (function(&module, "f"), function(&module, "k"));
    let mut editor = Editor::new(&mut module, k).unwrap();
    let tag = editor.tag("t", "r", 0);
    let [a, b] = [0, 1].map(|_| editor.reg(tag, Type::B32));
    let (pointer, condition) = (editor.reg(tag, Type::B64), editor.reg(tag, Type::Pred));
    let ret = find(&editor, "ret");
    let mut builder = editor.at(Point::Before(ret), tag);
    let vector = builder.vector(&[a.into(), b.into()]);
    builder.inst("ld.global.v2.b32", &[vector, Operand::RegAddress(pointer, 8)]);
    builder.call(Some(Guard::unless(condition)), f, &[a.into()], &[7.into()]);
    let text = ptx::print(&module).replace('\t', "");
    check(&module);
    assert!(text.contains("ld.global.v2.b32 {%t_r_b32_0, %t_r_b32_1}, [%t_r_b64_0+8];"), "{text}");
    assert!(text.contains("@!%t_r_pred_0 call (%t_r_b32_0), f, (7);"), "{text}");
}
