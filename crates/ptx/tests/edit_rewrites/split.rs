use ptx::edit::{EditError, Editor, Point, Registers};

use crate::support::{assert_function, find, function, kernel, parse};

#[test]
fn a_block_is_cut_inside_a_scope() {
    let mut module = kernel("{ .reg .b32 t; mov.b32 t, 1; mov.b32 %r1, t; } { .reg .b32 t; mov.b32 t, 2; } ret;");
    let k = function(&module, "k");
    let mut editor = Editor::new(&mut module, k).unwrap();
    let tag = editor.tag("t", "r", 0);
    let inside = find(&editor, "mov.b32 %r1");
    let label = editor.split_with_branch(inside, tag).unwrap();
    let ret = find(&editor, "ret");
    editor.before(ret, tag).branch(None, label);
    assert_function(
        &module,
        "k",
        ".visible .entry k(
            .param .u64 p
        )
        {
        .reg .b32 t;
        .reg .b32 t_1;
        .reg .pred %p<4>;
        .reg .b32 %r<9>;
        .reg .b64 %rd<9>;
        mov.b32 t, 1;
        bra $t_split; //@ 1 t.r
        $t_split:
        mov.b32 %r1, t;
        mov.b32 t_1, 2;
        bra $t_split; //@ 3 t.r
        ret;
        }",
    );
}

#[test]
fn a_brace_stands_for_the_instruction_behind_it() {
    let mut module = parse(".visible .entry k() { .reg .b32 %r<2>; { .reg .b32 t; mov.b32 t, 1; } { } ret; }");
    let k = function(&module, "k");
    let mut editor = Editor::new(&mut module, k).unwrap();
    let tag = editor.tag("t", "r", 0);
    let open = find(&editor, "{");
    let close = crate::support::nth(&editor, "}", 1);
    let region = editor.range(open, find(&editor, "mov"));
    editor.clone_region(&region, Point::After(close), Registers::Shared, tag).unwrap();
    assert_function(
        &module,
        "k",
        ".visible .entry k()
        {
        .reg .b32 t;
        .reg .b32 %r<2>;
        mov.b32 t, 1;
        mov.b32 t, 1; //@ 0 t.r
        ret;
        }",
    );
}

#[test]
fn branches_and_tables_are_redirected() {
    let mut module = kernel("A: @%p1 bra B; brx.idx %r1, table; table: .branchtargets A, B, A; B: bra A;");
    let k = function(&module, "k");
    let mut editor = Editor::new(&mut module, k).unwrap();
    let tag = editor.tag("t", "r", 0);
    let a = editor.function().labels.ids().next().unwrap();
    let mut builder = editor.at_end(tag);
    let other = builder.label("other");
    builder.place(other);
    builder.inst("ret", &[]);
    assert_eq!(editor.redirect(a, other), 3);
    let text = ptx::print(&module).replace('\t', "");
    crate::support::check(&module);
    assert!(text.contains("table: .branchtargets $t_other, B, $t_other;"), "{text}");
    assert!(text.contains("B:\n\nbra $t_other;") || text.contains("B:\nbra $t_other;"), "{text}");
}

#[test]
fn labels_of_a_scope_do_not_clash_when_the_scope_goes() {
    let mut module = parse(".visible .entry k() { { L: bra L; } { L: bra L; } L: bra L; M: ret; }");
    let k = function(&module, "k");
    let mut editor = Editor::new(&mut module, k).unwrap();
    editor.flatten().unwrap();
    assert_function(
        &module,
        "k",
        ".visible .entry k()
        {
        L_1:
        bra L_1;
        L_2:
        bra L_2;
        L:
        bra L;
        M:
        ret;
        }",
    );
}

#[test]
fn a_scope_with_an_unreadable_statement_stays() {
    let text = ".version 8.5\n.target sm_80\n.address_size 64\n.visible .entry k() { { frobnicate <<x>>; } ret; }";
    let mut module = ptx::parse(text).module;
    let k = function(&module, "k");
    let mut editor = Editor::new(&mut module, k).unwrap();
    let refused = editor.flatten().unwrap_err();
    assert_eq!(refused, EditError::Unreadable { text: "frobnicate <<x>>".to_owned() });
}
