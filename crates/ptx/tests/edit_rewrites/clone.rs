use ptx::edit::{EditError, Editor, Point, Registers};

use crate::support::{assert_function, check, find, function, kernel, nth};

#[test]
fn a_loop_is_copied_with_its_label() {
    let mut module = kernel("LOOP: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, %r2; @%p1 bra LOOP; ret;");
    let k = function(&module, "k");
    let mut editor = Editor::new(&mut module, k).unwrap();
    let tag = editor.tag("repair", "retry", 1);
    let region = editor.range(find(&editor, "LOOP:"), find(&editor, "bra"));
    let copied = editor.clone_region(&region, Point::End, Registers::Shared, tag).unwrap();
    assert_eq!((copied.statements.len(), copied.labels.len(), copied.regs.len()), (4, 1, 0));
    assert_function(
        &module,
        "k",
        ".visible .entry k(
            .param .u64 p
        )
        {
        .reg .pred %p<4>;
        .reg .b32 %r<9>;
        .reg .b64 %rd<9>;
        LOOP:
        add.u32 %r1, %r1, 1;
        setp.lt.u32 %p1, %r1, %r2;
        @%p1 bra LOOP;
        ret;
        LOOP_1:
        add.u32 %r1, %r1, 1; //@ 0 repair.retry#1
        setp.lt.u32 %p1, %r1, %r2; //@ 1 repair.retry#1
        @%p1 bra LOOP_1; //@ 2 repair.retry#1
        }",
    );
}

#[test]
fn fresh_registers_begin_with_the_values_that_the_region_needs() {
    // %r1 comes from before, %r3 is written first, %r4 is written only where the guard holds, %r2 is only read.
    let mut module = kernel("LOOP: mov.b32 %r3, %r2; add.u32 %r1, %r1, %r3; @%p1 mov.b32 %r4, 7; ret;");
    let k = function(&module, "k");
    let mut editor = Editor::new(&mut module, k).unwrap();
    let tag = editor.tag("rmt", "twin", 1);
    let region = editor.range(find(&editor, "LOOP:"), find(&editor, "mov.b32 %r4"));
    let ret = find(&editor, "ret");
    editor.clone_region(&region, Point::Before(ret), Registers::Fresh, tag).unwrap();
    assert_function(
        &module,
        "k",
        ".visible .entry k(
            .param .u64 p
        )
        {
        .reg .b32 %rmt_twin_b32_<3>;
        .reg .pred %p<4>;
        .reg .b32 %r<9>;
        .reg .b64 %rd<9>;
        LOOP:
        mov.b32 %r3, %r2;
        add.u32 %r1, %r1, %r3;
        @%p1 mov.b32 %r4, 7;
        mov.b32 %rmt_twin_b32_1, %r1; //@ 3 rmt.twin#1
        mov.b32 %rmt_twin_b32_2, %r4; //@ 3 rmt.twin#1
        LOOP_1:
        mov.b32 %rmt_twin_b32_0, %r2; //@ 0 rmt.twin#1
        add.u32 %rmt_twin_b32_1, %rmt_twin_b32_1, %rmt_twin_b32_0; //@ 1 rmt.twin#1
        @%p1 mov.b32 %rmt_twin_b32_2, 7; //@ 2 rmt.twin#1
        ret;
        }",
    );
}

#[test]
fn a_write_behind_a_branch_may_be_jumped_over() {
    let mut module = kernel("@%p1 bra L; mov.b32 %r1, 1; L: mov.b32 %r2, %r1; ret;");
    let k = function(&module, "k");
    let mut editor = Editor::new(&mut module, k).unwrap();
    let tag = editor.tag("rmt", "twin", 1);
    let region = editor.range(find(&editor, "bra L"), find(&editor, "mov.b32 %r2"));
    editor.clone_region(&region, Point::End, Registers::Fresh, tag).unwrap();
    check(&module);
    let text = ptx::print(&module).replace('\t', "");
    assert!(text.contains("mov.b32 %rmt_twin_b32_0, %r1; //@ 3 rmt.twin#1\n"), "{text}");
}

#[test]
fn separate_registers_replace_all_of_them() {
    let mut module = kernel("add.u32 %r1, %r2, %r3; ret;");
    let k = function(&module, "k");
    let mut editor = Editor::new(&mut module, k).unwrap();
    let tag = editor.tag("rmt", "twin", 1);
    let add = find(&editor, "add");
    let copied = editor.clone_region(&[add], Point::After(add), Registers::Separate, tag).unwrap();
    assert_eq!(copied.regs.len(), 3);
    check(&module);
    let text = ptx::print(&module).replace('\t', "");
    assert!(text.contains("add.u32 %rmt_twin_b32_2, %rmt_twin_b32_0, %rmt_twin_b32_1; //@ 0 rmt.twin#1"), "{text}");
}

#[test]
fn scopes_and_call_sequences_are_copied() {
    let mut module = crate::support::parse(
        ".func f(.param .b32 a) { ret; }
        .visible .entry k() { .reg .b32 %r<2>;
            { .reg .b32 t; .param .b32 param0; mov.b32 t, 1; st.param.b32 [param0], t; call f, (param0); } ret; }",
    );
    let k = function(&module, "k");
    let mut editor = Editor::new(&mut module, k).unwrap();
    let tag = editor.tag("repair", "retry", 2);
    let region = editor.range(find(&editor, "{"), find(&editor, "}"));
    let ret = find(&editor, "ret");
    editor.clone_region(&region, Point::Before(ret), Registers::Fresh, tag).unwrap();
    assert_function(
        &module,
        "k",
        ".visible .entry k()
        {
        .reg .b32 t;
        .param .b32 param0;
        .param .b32 param0_1;
        .reg .b32 %repair_retry_b32_<1>;
        .reg .b32 %r<2>;
        mov.b32 t, 1; //@ 1
        st.param.b32 [param0], t;
        call f, (param0);
        mov.b32 %repair_retry_b32_0, 1; //@ 1 repair.retry#2
        st.param.b32 [param0_1], %repair_retry_b32_0; //@ 2 repair.retry#2
        call f, (param0_1); //@ 3 repair.retry#2
        ret;
        }",
    );
}

#[test]
fn a_call_sequence_that_control_leaves_shares_its_variables() {
    let mut module = crate::support::parse(
        ".func f(.param .b32 a) { ret; }
        .visible .entry k() { { .param .b32 x; st.param.b32 [x], 1; bar.sync 0; call f, (x); } ret; }",
    );
    let k = function(&module, "k");
    let mut editor = Editor::new(&mut module, k).unwrap();
    let tag = editor.tag("t", "copy", 1);
    let region = [find(&editor, "st.param"), find(&editor, "call")];
    editor.clone_region(&region, Point::End, Registers::Shared, tag).unwrap();
    check(&module);
    // The copy goes on with the original's barrier, after which the original's call takes the argument.
    let text = ptx::print(&module).replace('\t', "");
    assert!(text.contains("st.param.b32 [x], 1; //@ 1 t.copy#1\nbra $t_split;"), "{text}");
}

#[test]
fn a_gap_in_the_region_becomes_a_branch() {
    let mut module = kernel("mov.b32 %r1, 1; mov.b32 %r2, 2; mov.b32 %r3, 3; ret;");
    let k = function(&module, "k");
    let mut editor = Editor::new(&mut module, k).unwrap();
    let tag = editor.tag("t", "copy", 1);
    let [first, third] = [1, 3].map(|n| find(&editor, &format!("mov.b32 %r{n}")));
    editor.clone_region(&[first, third], Point::End, Registers::Shared, tag).unwrap();
    assert_eq!(
        editor.clone_region(&[third, first], Point::End, Registers::Shared, tag).unwrap_err(),
        EditError::RegionOutOfOrder
    );
    let text = ptx::print(&module).replace('\t', "");
    check(&module);
    assert!(text.contains("$t_split:\nmov.b32 %r2, 2;"), "{text}");
    let tail = "ret;\nmov.b32 %r1, 1; //@ 0 t.copy#1\nbra $t_split; //@ 3 t.copy#1\nmov.b32 %r3, 3; //@ 2 t.copy#1\n}";
    assert!(text.contains(tail), "{text}");
}

#[test]
fn a_branch_table_outside_the_region_is_copied_for_it() {
    let mut module = kernel("table: .branchtargets A, B; A: mov.b32 %r1, 1; brx.idx %r1, table; B: ret;");
    let k = function(&module, "k");
    let mut editor = Editor::new(&mut module, k).unwrap();
    let tag = editor.tag("t", "copy", 1);
    let region = editor.range(find(&editor, "A:"), find(&editor, "brx"));
    editor.clone_region(&region, Point::End, Registers::Shared, tag).unwrap();
    check(&module);
    let text = ptx::print(&module).replace('\t', "");
    assert!(text.contains("table: .branchtargets A, B;\ntable_1: .branchtargets A_1, B;"), "{text}");
    assert!(text.contains("brx.idx %r1, table_1;"), "{text}");
}

#[test]
fn what_a_tool_inserted_stays_its_own_in_a_copy() {
    let mut module = kernel("bar.sync 0; ret;");
    let k = function(&module, "k");
    let mut editor = Editor::new(&mut module, k).unwrap();
    let check_tag = editor.tag("memcheck", "check", 0);
    let copy_tag = editor.tag("rmt", "twin", 3);
    let barrier = find(&editor, "bar.sync");
    editor.before(barrier, check_tag).inst("trap", &[]);
    let region = editor.range(find(&editor, "trap"), barrier);
    editor.clone_region(&region, Point::End, Registers::Shared, copy_tag).unwrap();
    check(&module);
    let text = ptx::print(&module).replace('\t', "");
    assert!(text.contains("trap; //@ 0 memcheck.check#3\nbar.sync 0; //@ 0 rmt.twin#3\n}"), "{text}");
}

#[test]
fn source_locations_are_kept_in_the_copy_and_behind_it() {
    let mut module = crate::support::parse(
        ".file 1 \"k.cu\"
        .visible .entry k() { .loc 1 1 1 bar.sync 0; bar.sync 1; .loc 1 2 1 bar.sync 2; bar.sync 3; ret; }",
    );
    let k = function(&module, "k");
    let mut editor = Editor::new(&mut module, k).unwrap();
    let tag = editor.tag("t", "copy", 1);
    let second = find(&editor, "bar.sync 1");
    let last = find(&editor, "bar.sync 3");
    editor.clone_region(&[second], Point::Before(last), Registers::Shared, tag).unwrap();
    assert_eq!(editor.location(nth(&editor, "bar.sync 1", 1)).map(|location| location.line), Some(1));
    assert_eq!(editor.location(last).map(|location| location.line), Some(2));
    check(&module);
}
