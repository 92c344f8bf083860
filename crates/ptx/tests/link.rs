//! What linked and imported modules are, beyond their text: see `tests/ptx/link` for that.

use ptx::entity::Id;
use ptx::import::{Difference, ImportError};
use ptx::ir::{Module, OriginId, Stmt};
use ptx::link::{Input, Linked, is_provided, link};

const HEADER: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

fn parse(text: &str) -> Module {
    let parsed = ptx::parse(&format!("{HEADER}{text}"));
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    parsed.module
}

fn link_all(modules: &[Module]) -> Linked {
    let names: Vec<String> = (0..modules.len()).map(|number| format!("module {number}")).collect();
    let inputs: Vec<_> = names.iter().zip(modules).map(|(name, module)| Input { name, module }).collect();
    link(&inputs, is_provided).unwrap()
}

/// The instructions of a function, with their origins and lines.
fn instructions<'a>(module: &'a Module, name: &str) -> Vec<(&'a str, OriginId, ptx::diagnostic::Position)> {
    let body = module.functions[module.function(name).unwrap()].body.as_ref().unwrap();
    body.insts().map(|(id, inst)| (module.forms[inst.form].spelling(), body.origin(id).id, body.position(id))).collect()
}

#[test]
fn every_instruction_says_which_module_it_comes_from() {
    let texts = [
        ".weak .func f() { nanosleep.u32 1; ret; }\n.visible .entry a() { call.uni f; ret; }\n",
        ".weak .func f() { nanosleep.u32 1; ret; }\n\n.visible .entry b() {\n call.uni f;\n exit; }\n",
        ".visible .entry c() { ret; }",
    ];
    let modules = texts.map(parse);
    let linked = link_all(&modules);
    let reparsed = ptx::parse(&ptx::print(&linked.module)).module;
    for (input, name) in ["a", "b", "c"].into_iter().enumerate() {
        let expected = instructions(&modules[input], name);
        let found = instructions(&linked.module, name);
        assert_eq!(expected.len(), found.len());
        for ((spelling, id, at), (found_spelling, found_id, found_at)) in expected.into_iter().zip(found) {
            assert_eq!(found_spelling, spelling);
            assert_eq!(linked.origins.input_of(found_id), (input, id));
            assert_eq!(linked.origins.place(found_at), Some((input, at)));
        }
        let ids = |module| instructions(module, name).iter().map(|found| found.1).collect::<Vec<_>>();
        assert_eq!(ids(&reparsed), ids(&linked.module));
    }
    let all = ptx::edit::origins(&linked.module);
    let distinct: std::collections::BTreeSet<_> = all.iter().map(|origin| origin.id.index()).collect();
    assert_eq!(distinct.len(), all.len());
    // `exit` is on the fourth line after the header of the second text, which begins after the first.
    let (_, _, exit) = instructions(&linked.module, "b")[1];
    assert_eq!(linked.module.lines.line(exit), 3 + 2 + 1 + 3 + 5);
}

#[test]
fn tags_of_tools_survive() {
    let module = parse(".visible .entry a() { nanosleep.u32 1; //@ 0 memcheck.check#2\n ret; //@ 0\n }");
    let other = parse(".visible .entry b() { ret; }");
    let linked = link_all(&[other, module]);
    let tags: Vec<_> =
        ptx::edit::origins(&linked.module).into_iter().map(|origin| (origin.id.index(), origin.tag)).collect();
    assert_eq!(tags, [(0, None), (2, Some("memcheck.check#2".to_owned())), (2, None)]);
}

#[test]
fn what_was_linked_can_be_linked_again() {
    let local = ".global .u32 state;\n.visible .entry NAME() { .reg .b32 %r<2>; ld.global.u32 %r1, [state]; ret; }";
    let module = |name: &str| parse(&local.replace("NAME", name));
    let first = link_all(&[module("a"), module("b")]).module;
    let second = link_all(&[module("c"), module("d")]).module;
    let all = link_all(&[first, second]).module;
    let names: Vec<_> = all.globals.values().map(|variable| all.text(variable.name)).collect();
    assert_eq!(names, ["state", "state$module2", "state$module_2", "state$module2$module_2"]);
}

/// A thousand modules with the same local names and a table that names all: not quadratic.
#[test]
fn many_modules() {
    let count = 1000;
    let mut table = String::new();
    for number in 0..count {
        table += &format!(".extern .func f{number}();\n");
    }
    let names: Vec<String> = (0..count).map(|number| format!("f{number}")).collect();
    table += &format!(".visible .global .u64 table[{count}] = {{{}}};", names.join(", "));
    let mut modules = vec![parse(&table)];
    for number in 0..count {
        let next = (number + 1) % count;
        modules.push(parse(&format!(
            ".extern .func f{next}();\n.global .u32 state;\n.extern .shared .b8 memory[];\n\
             .weak .func same() {{ ret; }}\n.func helper() {{ .reg .b64 %d<2>; mov.u64 %d1, state; ret; }}\n\
             .visible .func f{number}() {{ call.uni helper; call.uni same; call.uni f{next}; ret; }}"
        )));
    }
    let started = std::time::Instant::now();
    let linked = link_all(&modules);
    assert!(started.elapsed().as_secs() < 20, "took {:?}", started.elapsed());
    assert_eq!(linked.module.globals.len(), count + 2);
    assert!(ptx::verify(&linked.module).is_empty());
}

#[test]
fn helpers_of_a_tool_are_imported() {
    let helpers = parse(
        ".extern .func users();\n.extern .shared .align 16 .b8 memory[];\n\
         .func second();\n\
         .global .u64 count;\n.global .u64 pointer = second;\n\
         .weak .func once() { ret; }\n\
         .func count_it() {\n.reg .b64 %d<2>;\n.loc 1 2 3\nld.global.u64 %d1, [count];\nbra kernel;\nkernel:\ncall.uni users;\ncall.uni second;\nret; }\n\
         .func second() { .reg .b64 %d<2>; mov.u64 %d1, memory; ret; }\n.file 1 \"tool.cu\"\n",
    );
    let mut module = parse(
        ".extern .shared .align 4 .b8 memory[];\n\
         .visible .global .u64 count;\n\
         .visible .func users() { ret; }\n\
         .visible .entry kernel() { .reg .b32 count_1; mov.u32 count_1, 1; ret; }",
    );
    let tag = module.tag_named("tool", "helper", 0);
    let imported = module.import(&helpers, tag).unwrap();
    assert!(ptx::verify(&module).is_empty());
    let printed = ptx::print(&module);
    let parsed = ptx::parse(&printed);
    assert!(parsed.diagnostics.is_empty() && ptx::verify(&parsed.module).is_empty(), "{printed}");
    assert_eq!(ptx::print(&parsed.module), printed);

    let name = |func: &str| {
        let func = imported.function(helpers.function(func).unwrap());
        module.text(module.functions[func].name).to_owned()
    };
    assert_eq!([name("users"), name("count_it"), name("second")], ["users", "count_it", "second"]);
    let count = helpers.globals.ids().find(|&global| helpers.text(helpers.globals[global].name) == "count").unwrap();
    // `count_1` is a register of the kernel.
    assert_eq!(module.text(module.globals[imported.global(count)].name), "count_2");
    assert!(printed.contains(".extern .shared .align 16 .b8 memory[];"));
    let body = module.functions[imported.function(helpers.function("count_it").unwrap())].body.as_ref().unwrap();
    assert!(body.iter().all(|id| !matches!(body.stmt(id), Stmt::Loc(_))));
    assert!(body.insts().all(|(id, _)| body.origin(id).tag == Some(tag)));

    // What is weak is not imported again, all else is.
    let again = module.import(&helpers, tag).unwrap();
    let [once, second] = ["once", "second"].map(|name| helpers.function(name).unwrap());
    assert_eq!(again.function(once), imported.function(once));
    assert_ne!(again.function(second), imported.function(second));
    assert!(ptx::verify(&ptx::parse(&ptx::print(&module)).module).is_empty());
}

#[test]
fn helpers_that_disagree_with_the_module_are_refused() {
    let mut module = parse(".visible .func f(.param .b32 x) { ret; }");
    let tag = module.tag_named("tool", "helper", 0);
    let before = ptx::print(&module);
    let wrong = parse(".extern .func f(.param .b64 x);");
    let error = module.import(&wrong, tag).unwrap_err();
    assert_eq!(error, ImportError::Disagreement { symbol: "f".to_owned(), difference: Difference::Parameter(1) });
    let unreadable = parse(".func f() { ret; }\n.func g() { frobnicate <f>; ret; }");
    assert!(matches!(module.import(&unreadable, tag), Err(ImportError::Unreadable { .. })));
    assert_eq!(ptx::print(&module), before);
    assert!(module.import(&parse(".extern .func f(.param .b32 x);"), tag).is_ok());
}
