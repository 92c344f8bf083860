use ptx::edit::{EditError, Editor, ParamType, SelfCalls, Signature};
use ptx::ir::{Item, Variable};
use ptx::types::{Linkage, Space, Type};

use crate::support::{check, function, parse};

const REPORT: Signature<'_> = Signature {
    name: "memcheck_report",
    linkage: Some(Linkage::Extern),
    returns: &[],
    params: &[ParamType::Scalar(Type::B64), ParamType::Bytes { len: 16, align: 8 }],
};

#[test]
fn a_function_is_declared_once_before_those_that_call_it() {
    let mut module = parse(".global .b32 g; .visible .entry k() { ret; }");
    let report = module.declare_function(&REPORT).unwrap();
    assert_eq!(module.declare_function(&REPORT), Ok(report));
    check(&module);
    let mut module = ptx::parse(&ptx::print(&module)).module;
    assert!(module.declare_function(&REPORT).is_ok());
    assert_eq!(module.functions.len(), 2);
    let other = Signature { params: &[ParamType::Scalar(Type::B32)], ..REPORT };
    assert_eq!(module.declare_function(&other), Err(EditError::NameTaken { name: "memcheck_report".to_owned() }));
    let text = ptx::print(&module).split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = ".extern .func memcheck_report( .param .b64 memcheck_report_param_0, \
                    .param .align 8 .b8 memcheck_report_param_1[16] ); .visible .entry k()";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_new_function_has_a_body_that_can_be_filled() {
    let mut module = parse(".visible .entry k() { ret; }");
    let signature =
        Signature { name: "add_one", linkage: None, returns: &[Type::B32.into()], params: &[Type::B32.into()] };
    let func = module.add_function(&signature).unwrap();
    assert_eq!(module.add_function(&signature), Err(EditError::NameTaken { name: "add_one".to_owned() }));
    let mut editor = Editor::new(&mut module, func).unwrap();
    let tag = editor.tag("t", "helper", 0);
    editor.at_end(tag).inst("ret", &[]);
    check(&module);
    assert_eq!(module.items[0], Item::Function(func));
}

#[test]
fn variables_of_the_module_get_names_that_no_function_uses() {
    let mut module =
        parse(".visible .entry k() { .reg .b32 table<4>; .reg .b32 table_2; mov.b32 table0, table_2; ret; }");
    let mut add = |base: &str| {
        let name = module.names.intern("_");
        let global = module.add_variable(base, Variable::scalar(name, Space::Global, Type::B64));
        module.text(module.globals[global].name).to_owned()
    };
    assert_eq!([add("table"), add("table"), add("table3")], ["table_1", "table_3", "table3_1"]);
    check(&module);
    let make = |name| Variable::scalar(name, Space::Global, Type::B64);
    let shadow = module.variable_named("shadow", make).unwrap();
    assert_eq!(module.variable_named("shadow", make), Ok(shadow));
    assert_eq!(module.variable_named("k", make), Err(EditError::NameTaken { name: "k".to_owned() }));
    check(&module);
}

#[test]
fn dynamic_shared_memory_is_declared_once() {
    let mut module = parse(".visible .entry k() { ret; }");
    let memory = module.dynamic_shared(4);
    assert_eq!(module.dynamic_shared(16), memory);
    check(&module);
    assert!(ptx::print(&module).contains(".extern .shared .align 16 .b8 dynamic_shared[];"));
}

#[test]
fn a_copy_of_a_function_shares_the_module_and_has_its_own_variables() {
    let mut module = parse(
        ".global .b32 g;
        .func f(.param .b32 a);
        .func h() { call f, (1); ret; }
        .func f(.param .b32 a) { .shared .b32 s; .reg .b32 %r<2>; ld.global.b32 %r1, [g]; st.shared.b32 [s], %r1; call f, (%r1); ret; }",
    );
    let f = function(&module, "f");
    let tag = module.tag_named("rmt", "twin", 1);
    let original = module.clone_function(f, "f_plain", SelfCalls::ToOriginal, None).unwrap();
    let copy = module.clone_function(f, "f_twin", SelfCalls::ToCopy, Some(tag)).unwrap();
    assert_eq!(
        module.clone_function(f, "h", SelfCalls::ToCopy, None),
        Err(EditError::NameTaken { name: "h".to_owned() })
    );
    check(&module);
    crate::support::assert_function(
        &module,
        "f_twin",
        ".func f_twin(
            .param .b32 a
        )
        {
        .shared .b32 s;
        .reg .b32 %r<2>;
        ld.global.b32 %r1, [g]; //@ 2 rmt.twin#1
        st.shared.b32 [s], %r1; //@ 3 rmt.twin#1
        call f_twin, (%r1); //@ 4 rmt.twin#1
        ret; //@ 5 rmt.twin#1
        }",
    );
    let declared = |func| module.functions.values().filter(|other| other.name == module.functions[func].name).count();
    assert_eq!((declared(original), declared(copy)), (2, 2));
}

#[test]
fn debugging_information_stays_about_the_original() {
    let mut module = parse(
        ".visible .entry k() { BEGIN: bar.sync 0; OTHER: ret; }
        .section .debug_info { .b64 BEGIN }",
    );
    let k = function(&module, "k");
    module.clone_function(k, "k_twin", SelfCalls::ToOriginal, None).unwrap();
    crate::support::assert_function(
        &module,
        "k_twin",
        ".visible .entry k_twin()\n{\nBEGIN_1:\nbar.sync 0;\nOTHER:\nret;\n}",
    );
}
