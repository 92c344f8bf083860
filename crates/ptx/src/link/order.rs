//! An order of variables in which each comes after those that its initial value names.

use rustc_hash::FxHashMap;

use super::reach::{Reached, initial_symbols};
use super::symbols::{Entity, Symbols};
use super::{Input, LinkError};
use crate::ir::{Item, Symbol};

/// Whether a variable has its place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// What it names is being placed.
    Open,
    Placed,
}

/// The variables that are kept: in the order of the inputs, except where one has to come before another one.
pub(super) fn of_variables(
    inputs: &[Input<'_>],
    symbols: &Symbols<'_>,
    reached: &Reached,
) -> Result<Vec<Entity>, Vec<LinkError>> {
    let mut order = Vec::new();
    let mut states: FxHashMap<Entity, State> = FxHashMap::default();
    for (input, item) in
        inputs.iter().enumerate().flat_map(|(index, input)| input.module.items.iter().map(move |item| (index, item)))
    {
        let Item::Variable(global) = *item else { continue };
        let Some(entity) = symbols.meaning(input, Symbol::Global(global)) else { continue };
        let is_own = entity == Entity { input, symbol: Symbol::Global(global) };
        if !is_own || !is_kept(inputs, reached, entity) || states.contains_key(&entity) {
            continue;
        }
        // The variables whose place is being looked for, and what each of them names that was not looked at yet.
        let mut open = vec![(entity, named_variables(inputs, symbols, entity))];
        states.insert(entity, State::Open);
        while let Some((entity, named)) = open.last_mut() {
            let entity = *entity;
            match named.pop() {
                None => {
                    states.insert(entity, State::Placed);
                    order.push(entity);
                    open.pop();
                }
                Some(next) => match states.get(&next) {
                    Some(State::Placed) => {}
                    Some(State::Open) => return Err(vec![circular(inputs, next)]),
                    None => {
                        states.insert(next, State::Open);
                        open.push((next, named_variables(inputs, symbols, next)));
                    }
                },
            }
        }
    }
    Ok(order)
}

/// Shared memory of a size given at launch stays, whether or not somebody names it.
fn is_kept(inputs: &[Input<'_>], reached: &Reached, entity: Entity) -> bool {
    let is_shared = |global| inputs[entity.input].module.globals[global].space == crate::types::Space::Shared;
    reached.kept.contains(&entity) || matches!(entity.symbol, Symbol::Global(global) if is_shared(global))
}

fn named_variables(inputs: &[Input<'_>], symbols: &Symbols<'_>, entity: Entity) -> Vec<Entity> {
    let Symbol::Global(global) = entity.symbol else { return Vec::new() };
    let named = initial_symbols(&inputs[entity.input].module.globals[global]);
    let mut named: Vec<Entity> = named
        .filter_map(|symbol| symbols.meaning(entity.input, symbol))
        // A variable may hold its own address: its name is known in its own initial value.
        .filter(|named| matches!(named.symbol, Symbol::Global(_)) && *named != entity)
        .collect();
    named.reverse();
    named
}

fn circular(inputs: &[Input<'_>], entity: Entity) -> LinkError {
    let input = &inputs[entity.input];
    let variable = input.module.text(input.module.name_of(entity.symbol)).to_owned();
    LinkError::Circular { variable, input: input.name.to_owned() }
}
