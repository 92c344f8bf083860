use ptx::edit::{EditError, Editor, Inlined};
use ptx::ir::Module;

use crate::support::{assert_function, check, find, function, parse};

/// Inlines the first call of `k`.
fn inline(module: &mut Module) -> Result<Inlined, EditError> {
    let k = function(module, "k");
    let mut editor = Editor::new(module, k).unwrap();
    let tag = editor.tag("inline", "body", 1);
    let is_call = |id: &_| editor.view(*id).is_some_and(|view| view.callee().is_some());
    let call = editor.body().iter().find(is_call).expect("there is a call");
    let inlined = editor.inline(call, tag);
    check(module);
    inlined
}

#[test]
fn parameters_become_registers() {
    let mut module = parse(
        ".func (.param .b32 f_result) f(.param .b32 f_param_0, .param .align 8 .b8 f_param_1[16])
        {
            .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<2>;
            ld.param.b32 %r1, [f_param_0];
            ld.param.v2.b32 {%r2, _}, [f_param_1];
            ld.param.b64 %rd1, [f_param_1+8];
            setp.eq.u32 %p1, %r1, 0;
            @%p1 bra $L;
            add.u32 %r1, %r1, %r2;
        $L:
            st.param.b32 [f_result], %r1;
            ret;
        }
        .visible .entry k(.param .u64 p)
        {
            .reg .b32 %r<4>; .reg .b64 %rd<2>;
        $L:
            {
            .param .b32 param0; st.param.b32 [param0], %r1;
            .param .align 8 .b8 param1[16]; st.param.v2.b32 [param1], {%r2, 3}; st.param.b64 [param1+8], %rd1;
            .param .b32 retval0;
            call.uni (retval0), f, (param0, param1);
            ld.param.b32 %r3, [retval0];
            }
            bra $L;
        }",
    );
    inline(&mut module).unwrap();
    assert_function(
        &module,
        "k",
        ".visible .entry k(
            .param .u64 p
        )
        {
        .reg .b32 %inline_body_b32_<4>;
        .reg .b64 %inline_body_b64_<1>;
        .reg .b32 %r_1_<4>;
        .reg .b64 %rd_1_<2>;
        .reg .pred %p<2>;
        .reg .b32 %r<4>;
        .reg .b64 %rd<2>;
        $L:
        {
        mov.b32 %inline_body_b32_1, %r1; //@ 8
        mov.b32 %inline_body_b32_2, %r2;
        mov.b32 %inline_body_b32_3, 3; //@ 9 inline.body#1
        mov.b64 %inline_body_b64_0, %rd1;
        mov.b32 %r_1_1, %inline_body_b32_1; //@ 0 inline.body#1
        mov.b32 %r_1_2, %inline_body_b32_2; //@ 1 inline.body#1
        mov.b64 %rd_1_1, %inline_body_b64_0; //@ 2 inline.body#1
        setp.eq.u32 %p1, %r_1_1, 0; //@ 3 inline.body#1
        @%p1 bra $L_1; //@ 4 inline.body#1
        add.u32 %r_1_1, %r_1_1, %r_1_2; //@ 5 inline.body#1
        $L_1:
        mov.b32 %inline_body_b32_0, %r_1_1; //@ 6 inline.body#1
        bra $inline_return; //@ 7 inline.body#1
        $inline_return:
        mov.b32 %r3, %inline_body_b32_0; //@ 12
        }
        bra $L;
        }",
    );
}

#[test]
fn narrow_parameters_are_extended_as_loads_do() {
    let mut module = parse(
        ".func (.param .b8 r) f(.param .b8 a, .param .b16 b)
        {
            .reg .b16 %rs<3>; .reg .b32 %r<3>; .reg .b64 %rd<2>;
            ld.param.s8 %rs1, [a]; ld.param.u8 %r1, [a]; ld.param.s16 %rd1, [b]; ld.param.b16 %rs2, [b];
            st.param.b8 [r], %r1; ret;
        }
        .visible .entry k() { .reg .b16 %rs<3>; .reg .b32 %r<3>;
            { .param .b8 x; st.param.b8 [x], %r1; .param .b16 y; st.param.b16 [y], %r2; .param .b8 z;
            call (z), f, (x, y); ld.param.s8 %rs1, [z]; } ret; }",
    );
    inline(&mut module).unwrap();
    let text = ptx::print(&module).replace('\t', "");
    for expected in [
        "cvt.u16.u32 %inline_body_b16_1, %r1;",
        "cvt.u16.u32 %inline_body_b16_2, %r2;",
        "cvt.s16.s8 %rs_1_1, %inline_body_b16_1;",
        "cvt.u32.u8 %r_1_1, %inline_body_b16_1;",
        "cvt.s64.s16 %rd1, %inline_body_b16_2;",
        "mov.b16 %rs_1_2, %inline_body_b16_2;",
        "cvt.u16.u32 %inline_body_b16_0, %r_1_1;",
        "cvt.s16.s8 %rs1, %inline_body_b16_0;",
    ] {
        assert!(text.contains(expected), "{expected} is not in\n{text}");
    }
}

#[test]
fn a_parameter_whose_address_is_taken_is_in_local_memory() {
    let mut module = parse(
        ".func f(.param .align 4 .b8 a[8])
        {
            .reg .b32 %r<3>; .reg .b64 %rd<2>;
            mov.b64 %rd1, a; ld.local.b32 %r1, [%rd1+4]; ld.param.b32 %r2, [a]; ld.param.b32 %r2, [%rd1]; ret;
        }
        .visible .entry k() { { .param .align 4 .b8 x[8]; st.param.b32 [x], 1; st.param.b32 [x+4], 2; call f, (x); } ret; }",
    );
    inline(&mut module).unwrap();
    assert_function(
        &module,
        "k",
        ".visible .entry k()
        {
        .local .align 4 .b8 inlined_param[8];
        .reg .b64 %rd<2>;
        .reg .b32 %r<3>;
        {
        st.local.b32 [inlined_param], 1; //@ 5
        st.local.b32 [inlined_param+4], 2;
        mov.b64 %rd1, inlined_param; //@ 0 inline.body#1
        ld.local.b32 %r1, [%rd1+4]; //@ 1 inline.body#1
        ld.local.b32 %r2, [inlined_param]; //@ 2 inline.body#1
        ld.local.b32 %r2, [%rd1]; //@ 3 inline.body#1
        bra $inline_return; //@ 4 inline.body#1
        $inline_return:
        }
        ret; //@ 8
        }",
    );
}

#[test]
fn pieces_that_overlap_are_in_local_memory() {
    let mut module = parse(
        ".func f(.param .align 8 .b8 a[8]) { .reg .b64 %rd<2>; ld.param.b64 %rd1, [a]; ret; }
        .visible .entry k() { { .param .align 8 .b8 x[8]; st.param.b32 [x], 1; st.param.b32 [x+4], 2; call f, (x); } ret; }",
    );
    inline(&mut module).unwrap();
    let text = ptx::print(&module).replace('\t', "");
    assert!(text.contains("ld.local.b64 %rd1, [inlined_param]; //@ 0 inline.body#1"), "{text}");
}

#[test]
fn registers_are_passed_as_registers_and_a_guard_jumps_around() {
    let mut module = parse(
        ".func (.reg .b32 r) f(.reg .b32 a, .param .b32 b)
        { .reg .b32 %r<2>; ld.param.b32 %r1, [b]; add.u32 r, a, %r1; ret.uni; }
        .visible .entry k() { .reg .b32 %r<2>; .reg .pred %p<2>; @!%p1 call (%r1), f, (%r1, 5); ret; }",
    );
    inline(&mut module).unwrap();
    assert_function(
        &module,
        "k",
        ".visible .entry k()
        {
        .reg .b32 %inline_body_b32_<3>;
        .reg .b32 %r_1_<2>;
        .reg .b32 r;
        .reg .b32 a;
        .reg .b32 %r<2>;
        .reg .pred %p<2>;
        @%p1 bra $inline_not_called; //@ 3 inline.body#1
        mov.b32 %inline_body_b32_1, %r1; //@ 3 inline.body#1
        mov.b32 a, %inline_body_b32_1; //@ 3 inline.body#1
        mov.b32 %inline_body_b32_2, 5; //@ 3 inline.body#1
        mov.b32 %r_1_1, %inline_body_b32_2; //@ 0 inline.body#1
        add.u32 r, a, %r_1_1; //@ 1 inline.body#1
        bra.uni $inline_return; //@ 2 inline.body#1
        $inline_return:
        mov.b32 %inline_body_b32_0, r; //@ 3 inline.body#1
        mov.b32 %r1, %inline_body_b32_0; //@ 3 inline.body#1
        $inline_not_called:
        ret; //@ 4
        }",
    );
}

#[test]
fn static_variables_exist_once() {
    let mut module = parse(
        ".func f() { .shared .b32 tile; .local .b32 own; .reg .b64 %rd<2>; st.shared.b32 [tile], 1; mov.b64 %rd1, own; ret; }
        .visible .entry k() { call f; call f; ret; }",
    );
    inline(&mut module).unwrap();
    inline(&mut module).unwrap();
    assert_function(
        &module,
        "f",
        ".func f()\n{\n.local .b32 own;\n.reg .b64 %rd<2>;\nst.shared.b32 [f_tile], 1;\nmov.b64 %rd1, own;\nret;\n}",
    );
    let text = ptx::print(&module).replace('\t', "");
    assert_eq!(text.matches(".shared .b32 f_tile;").count(), 1, "{text}");
    assert_eq!(text.matches("st.shared.b32 [f_tile], 1;").count(), 3, "{text}");
    assert_eq!(
        (text.matches(".local .b32 own;").count(), text.matches(".local .b32 own_1;").count()),
        (2, 1),
        "{text}"
    );
}

#[test]
fn a_caller_before_its_callee_is_moved_behind_it() {
    let mut module = parse(
        ".func f();
        .func k() { call f; ret; }
        .func g() { call k; ret; }
        .global .b32 late;
        .func f() { .reg .b32 %r<2>; ld.global.b32 %r1, [late]; ret; }",
    );
    inline(&mut module).unwrap();
    let text = ptx::print(&module);
    let order: Vec<usize> = [".func k();", ".func g()", ".global .b32 late", ".func f()\n{", ".func k()\n{"]
        .map(|part| text.find(part).unwrap_or_else(|| panic!("{part} is not in\n{text}")))
        .to_vec();
    assert!(order.is_sorted(), "{order:?}\n{text}");
}

#[test]
fn calls_in_the_callee_stay_calls() {
    let mut module = parse(
        ".func g(.param .b32 a) { ret; }
        .func f() { { .param .b32 param0; st.param.b32 [param0], 1; call g, (param0); } ret; }
        .visible .entry k() { { .param .b32 param0; st.param.b32 [param0], 2; call g, (param0); } call f; ret; }",
    );
    let k = function(&module, "k");
    let mut editor = Editor::new(&mut module, k).unwrap();
    let tag = editor.tag("inline", "body", 1);
    let call = find(&editor, "call f");
    editor.inline(call, tag).unwrap();
    check(&module);
    let text = ptx::print(&module).replace('\t', "");
    assert!(
        text.contains("st.param.b32 [param0_1], 1; //@ 1 inline.body#1\ncall g, (param0_1); //@ 2 inline.body#1"),
        "{text}"
    );
}

#[test]
fn names_of_the_caller_do_not_hide_those_that_the_callee_uses() {
    let mut module = parse(
        ".global .b32 g; .global .b32 h1;
        .func f() { .reg .b32 %r<2>; ld.global.b32 %r1, [g]; ld.global.b32 %r1, [h1]; ret; }
        .func k() { .shared .b32 g; { .reg .b32 h<4>; mov.b32 h2, 1; } st.shared.b32 [g], 1; call f; ret; }",
    );
    inline(&mut module).unwrap();
    let text = ptx::print(&module).replace('\t', "");
    for expected in [".shared .b32 g_1;", "st.shared.b32 [g_1], 1;", "mov.b32 h_1_2, 1;", "[g]; //@ 0", "[h1]; //@ 1"] {
        assert!(text.contains(expected), "{expected} is not in\n{text}");
    }
}

#[test]
fn what_cannot_be_inlined_is_named() {
    let f = |error: fn(String) -> EditError| error("f".to_owned());
    let cases = [
        (".func f(); .func k() { call f; ret; }", f(|function| EditError::NoBody { function })),
        (".func f() { call f; ret; } .func k() { call f; ret; }", f(|function| EditError::Recursive { function })),
        (
            ".func f(); .func g() { call f; ret; } .func f() { call g; ret; } .func k() { call f; ret; }",
            f(|function| EditError::Recursive { function }),
        ),
        (".func f() .noreturn { trap; } .func k() { call f; }", f(|function| EditError::NoReturn { function })),
        (
            ".func f(.param .align 8 .b8 list[]) { ret; } .func k() { .param .align 8 .b8 a[8]; call f, (a); ret; }",
            f(|function| EditError::Variadic { function }),
        ),
        (
            ".func f() { .reg .b64 %rd<2>; stacksave.u64 %rd1; ret; } .func k() { call f; ret; }",
            f(|function| EditError::StackAllocation { function }),
        ),
        (
            ".func f(.param .b64 a) { ret; } .func k() { .reg .b32 %r<2>; call f, (%r1); ret; }",
            EditError::ArgumentSize { function: "f".to_owned(), parameter: "a".to_owned() },
        ),
        (
            ".func f(.param .b32 a) { ret; } .func k() { .param .b32 x; call f, (x); call f, (x); ret; }",
            EditError::SharedArgument { argument: "x".to_owned() },
        ),
        (
            ".func f(.param .b32 a) { ret; } .func k() { .reg .b32 %r<2>; .param .b32 x; mov.b32 %r1, x; call f, (x); ret; }",
            EditError::ParameterUse { parameter: "x".to_owned(), instruction: "mov.b32 %r1, x;".to_owned() },
        ),
        (".func k() { .reg .b64 %rd<2>; P: .callprototype _ (); call %rd1, (), P; ret; }", EditError::IndirectCall),
    ];
    for (text, expected) in cases {
        let mut module = parse(text);
        let before = ptx::print(&module);
        assert_eq!(inline(&mut module).unwrap_err(), expected, "{text}");
        assert_eq!(ptx::print(&module), before);
    }
}
