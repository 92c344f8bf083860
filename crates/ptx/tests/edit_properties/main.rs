//! Random edits of random programs: they keep what the program computes, and the ids of its instructions.

mod edits;
mod interpreter;
mod programs;

use proptest::prelude::*;
use ptx::edit::origins;
use ptx::ir::Module;

use crate::edits::Edits;
use crate::interpreter::run;
use crate::programs::{Choices, program};

const INPUTS: [u64; 3] = [0, 7, 0x8123_4567_89ab_cdef];

fn parse(text: &str) -> Module {
    let parsed = ptx::parse(text);
    assert!(parsed.diagnostics.is_empty(), "{:?}\n{text}", parsed.diagnostics);
    assert_eq!(ptx::verify(&parsed.module), [], "{text}");
    parsed.module
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn edits_keep_results_and_ids(
        shape in proptest::collection::vec(any::<u32>(), 0..200),
        edits in proptest::collection::vec(any::<[u32; 4]>(), 1..12),
    ) {
        let text = program(&mut Choices::new(&shape));
        let mut module = parse(&text);
        let expected = INPUTS.map(|input| run(&module, input));
        for edit in edits {
            let what = Edits { module: &mut module }.apply(edit);
            let edited = ptx::print(&module);
            let again = parse(&edited);
            prop_assert_eq!(ptx::print(&again), edited.as_str(), "{}", what);
            prop_assert_eq!(origins(&again), origins(&module), "{}", what);
            let results = INPUTS.map(|input| run(&module, input));
            prop_assert_eq!(&results, &expected, "after {}:\n{}\nbefore:\n{}", what, edited, text);
            prop_assert_eq!(INPUTS.map(|input| run(&again, input)), results);
            // An instruction of the user is there once, if it is there.
            let mut own: Vec<_> = origins(&module).into_iter().filter(|origin| origin.tag.is_none()).collect();
            own.sort_by_key(|origin| origin.id);
            prop_assert!(own.windows(2).all(|pair| pair[0].id != pair[1].id), "{}\n{}", what, edited);
        }
    }
}
