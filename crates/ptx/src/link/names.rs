//! Other names for what several modules call alike and only they know.

use rustc_hash::{FxHashMap, FxHashSet};

use super::symbols::Symbols;
use super::{Input, LinkError};
use crate::import::unreadable_use;
use crate::name::Name;

/// The names that change.
pub(super) struct NewNames {
    /// The other names of local symbols, by input.
    pub(super) symbols: Vec<FxHashMap<Name, String>>,
    /// What no name of the inputs contains.
    marker: String,
}

const MARKER: &str = "$module";

/// Names that mean the same everywhere stay. A local name stays where it comes first, unless it is one of these.
pub(super) fn choose(inputs: &[Input<'_>], symbols: &Symbols<'_>) -> Result<NewNames, Vec<LinkError>> {
    let mut names = NewNames { symbols: Vec::new(), marker: unused_marker(inputs) };
    let mut taken: FxHashSet<&str> = symbols.shared.keys().copied().collect();
    for (index, (input, declared)) in inputs.iter().zip(&symbols.declared).enumerate() {
        let mut renamed = FxHashMap::default();
        for declared in declared.iter().filter(|declared| declared.strength.is_none()) {
            let text = input.module.text(declared.name);
            if !taken.insert(text) {
                renamed.insert(declared.name, names.symbol(text, index));
            }
        }
        if let Some((name, text)) = unreadable_use(input.module, &|name| renamed.contains_key(&name)) {
            let symbol = input.module.text(name).to_owned();
            return Err(vec![LinkError::Unreadable { symbol, text: text.to_owned(), input: input.name.to_owned() }]);
        }
        names.symbols.push(renamed);
    }
    Ok(names)
}

impl NewNames {
    /// The name of a symbol of an input that is not taken.
    fn symbol(&self, text: &str, input: usize) -> String {
        format!("{text}{}{}", self.marker, input + 1)
    }

    /// The name of a label of an input that is not taken.
    pub(super) fn label(&self, text: &str, input: usize) -> String {
        format!("{text}{}{}_label", self.marker, input + 1)
    }
}

/// `$module` with as many underscores as it needs to be in no name: what is linked may have been linked before.
fn unused_marker(inputs: &[Input<'_>]) -> String {
    let underscores = |text: &str| text.len() - text.trim_start_matches('_').len();
    let buffers = inputs.iter().map(|input| input.module.names.buffer());
    let longest = buffers.flat_map(|buffer| buffer.split(MARKER).skip(1)).map(|rest| underscores(rest) + 1).max();
    format!("{MARKER}{}", "_".repeat(longest.unwrap_or(0)))
}
