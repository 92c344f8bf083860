//! The call graph of random modules, against searches.

use std::collections::BTreeSet;

use proptest::prelude::*;
use ptx::analysis::{CallGraph, CallKind};
use ptx::ir::{FuncId, Module};

/// How a function calls.
#[derive(Clone, Copy, Debug)]
enum Call {
    Direct(usize),
    /// Through a register, with a list of two.
    Listed(usize, usize),
    /// Through a register.
    Indirect,
    /// No call: takes the address of a function.
    TakeAddress(usize),
    /// A name that nobody declares.
    Undeclared,
}

/// What each function does. There is one more, which is only declared.
type Calls = Vec<Vec<Call>>;

fn modules() -> impl Strategy<Value = (Calls, Option<usize>)> {
    (2_usize..=7).prop_flat_map(|count| {
        let call = prop_oneof![
            4 => (0..count).prop_map(Call::Direct),
            1 => (0..count, 0..count).prop_map(|(one, other)| Call::Listed(one, other)),
            1 => Just(Call::Indirect),
            1 => (0..count).prop_map(Call::TakeAddress),
            1 => Just(Call::Undeclared),
        ];
        let functions = prop::collection::vec(prop::collection::vec(call, 0..3), count - 1);
        (functions, prop::option::of(0..count))
    })
}

/// All functions are declared first, and the last is defined nowhere. The address of one may be in a table.
fn text(calls: &Calls, in_table: Option<usize>) -> String {
    let mut text = String::from(".version 8.0\n.target sm_80\n.address_size 64\n");
    for index in 0..=calls.len() {
        text.push_str(&format!(".extern .func f{index}();\n"));
    }
    if let Some(index) = in_table {
        text.push_str(&format!(".global .u64 table[2] = {{0, f{index}}};\n"));
    }
    for (index, calls) in calls.iter().enumerate() {
        text.push_str(&format!(".func f{index}() {{ .reg .b64 %rd<1>;\n"));
        for (number, call) in calls.iter().enumerate() {
            text.push_str(&match call {
                Call::Direct(callee) => format!("call f{callee};\n"),
                Call::Listed(one, other) => {
                    format!("t{number}: .calltargets f{one}, f{other};\ncall %rd0, (), t{number};\n")
                }
                Call::Indirect => format!("t{number}: .callprototype _ ();\ncall %rd0, (), t{number};\n"),
                Call::TakeAddress(function) => format!("mov.u64 %rd0, f{function};\n"),
                Call::Undeclared => "call nobody_knows_me;\n".to_string(),
            });
        }
        text.push_str("ret; }\n");
    }
    text.push_str(".visible .entry kernel() { call f0; ret; }\n");
    text
}

fn parse(text: &str) -> Module {
    ptx::parse(text).module
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    /// Fails if a call is lost between declaration and definition, an indirect call has other targets than documented,
    /// or if the order is not callees first.
    #[test]
    fn calls_go_where_a_search_finds_them((calls, in_table) in modules()) {
        let text = text(&calls, in_table);
        let module = parse(&text);
        let graph = CallGraph::of(&module);
        let count = calls.len() + 1;
        let id = |index: usize| module.function(&format!("f{index}")).unwrap();
        let number = |function: FuncId| -> Option<usize> {
            module.text(module.functions[function].name).strip_prefix('f')?.parse().ok()
        };

        let mut taken: BTreeSet<usize> = in_table.into_iter().collect();
        for call in calls.iter().flatten() {
            match *call {
                Call::TakeAddress(function) => taken.extend([function]),
                Call::Listed(one, other) => taken.extend([one, other]),
                _ => {}
            }
        }
        prop_assert_eq!(graph.address_taken().filter_map(number).collect::<BTreeSet<_>>(), taken.clone());
        let mut edges = vec![BTreeSet::new(); count];
        let mut calls_unknown = BTreeSet::new();
        for (caller, calls) in calls.iter().enumerate() {
            for call in calls {
                match *call {
                    Call::Direct(callee) => edges[caller].extend([callee]),
                    Call::Listed(one, other) => edges[caller].extend([one, other]),
                    Call::Indirect if !taken.is_empty() => edges[caller].extend(&taken),
                    Call::Indirect | Call::Undeclared => {
                        calls_unknown.insert(caller);
                    }
                    Call::TakeAddress(_) => {}
                }
            }
        }
        // Functions that a call may lead to, the function itself only if it comes back.
        let reached = |from: usize| {
            let mut reached = BTreeSet::new();
            let mut stack: Vec<usize> = edges[from].iter().copied().collect();
            while let Some(function) = stack.pop() {
                if reached.insert(function) {
                    stack.extend(&edges[function]);
                }
            }
            reached
        };
        let mut position = vec![0; count];
        for (place, functions) in graph.bottom_up().enumerate() {
            functions.into_iter().filter_map(number).for_each(|function| position[function] = place);
        }
        for function in 0..count {
            let targets: BTreeSet<usize> =
                graph.sites(id(function)).iter().flat_map(|site| graph.targets(site)).copied().filter_map(number).collect();
            prop_assert_eq!(&targets, &edges[function], "targets of f{} in\n{}", function, text);
            let unknown = graph.sites(id(function)).iter().any(|site| site.kind == CallKind::Unknown);
            prop_assert_eq!(unknown, calls_unknown.contains(&function));
            let below = reached(function);
            prop_assert_eq!(graph.is_recursive(id(function)), below.contains(&function), "f{} in\n{}", function, text);
            let mut with_itself = below.clone();
            with_itself.insert(function);
            prop_assert_eq!(
                graph.reachable_from(id(function)).iter().filter_map(number).collect::<BTreeSet<_>>(),
                with_itself.clone()
            );
            prop_assert_eq!(graph.may_call_unknown(id(function)), !with_itself.is_disjoint(&calls_unknown));
            for &callee in &below {
                prop_assert!(position[callee] <= position[function]);
                prop_assert_eq!(position[callee] == position[function], reached(callee).contains(&function));
            }
            for wanted in 0..count {
                let callers = graph.callers_of(|id| id.and_then(number) == Some(wanted));
                prop_assert_eq!(callers.contains(id(function)), with_itself.contains(&wanted));
            }
        }
        let last = count - 1;
        let is_used = taken.contains(&last) || edges.iter().any(|targets| targets.contains(&last));
        let external: Vec<_> = graph.external().iter().copied().filter_map(number).collect();
        prop_assert_eq!(external, if is_used { vec![last] } else { vec![] });
        prop_assert!(graph.reachable_from(module.function("kernel").unwrap()).contains(id(0)));
    }
}

/// Fails if an alias is taken for a function of its own, or a kernel for something that can be called.
#[test]
fn aliases_stand_for_their_target_and_kernels_are_no_targets() {
    let module = parse(
        ".version 8.0\n.target sm_80\n.address_size 64\n\
         .visible .func target() { ret; }\n\
         .visible .func other();\n\
         .alias other, target;\n\
         .visible .entry child() { ret; }\n\
         .visible .entry kernel() { .reg .b64 %rd<1>;\n\
         mov.u64 %rd0, child;\n\
         call other;\n\
         p: .callprototype _ ();\n\
         call %rd0, (), p;\n\
         ret; }\n",
    );
    let graph = CallGraph::of(&module);
    let [target, other, child, kernel] =
        ["target", "other", "child", "kernel"].map(|name| module.function(name).unwrap());
    assert_eq!(graph.resolve(other), target);
    let [named, indirect] = graph.sites(kernel) else { panic!("two calls") };
    assert_eq!(named.kind, CallKind::Direct(target));
    assert_eq!(indirect.kind, CallKind::Unknown);
    assert!(graph.is_address_taken(child));
    assert!(graph.external().is_empty());
}
