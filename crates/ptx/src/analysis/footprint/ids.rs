//! Thread and block indices as sums of digits.
//!
//! An index is one symbol, unless the kernel divides it or takes bits of it: then it is cut into digits where it does,
//! so that quotients, remainders and bits are linear in digits.

use std::rc::Rc;

use super::arithmetic::Arithmetic;
use super::launch::Launch;
use super::linear::{Digit, Linear, SymbolKind, Symbols};
use super::path::{Fact, Path};
use super::value::Value;
use crate::special::Special;

/// The indices of a launch.
#[derive(Debug)]
pub(super) struct Ids {
    thread: [Rc<Linear>; 3],
    block: [Rc<Linear>; 3],
    lane: Option<Rc<Linear>>,
    /// Digits make no index that does not exist.
    pub facts: Vec<Fact>,
}

impl Ids {
    pub(super) fn new(
        arithmetic: &mut Arithmetic,
        launch: &Launch<'_>,
        cuts: &[(bool, u8, u32)],
        uses_lane: bool,
    ) -> Self {
        let mut facts = Vec::new();
        let mut index = |symbols: &mut Symbols, is_block: bool, dimension: usize| {
            let extent = if is_block { launch.grid } else { launch.block }[dimension];
            let cuts = cuts.iter().filter(|cut| (cut.0, usize::from(cut.1)) == (is_block, dimension));
            Rc::new(digits(symbols, is_block, dimension as u8, extent, cuts.map(|cut| cut.2), &mut facts))
        };
        let thread = [0, 1, 2].map(|dimension| index(&mut arithmetic.symbols, false, dimension));
        let block = [0, 1, 2].map(|dimension| index(&mut arithmetic.symbols, true, dimension));
        let lane = uses_lane.then(|| {
            let [width, height, _] = launch.block.map(i64::from);
            let linear = thread[0].plus(&thread[1], width)?.plus(&thread[2], width * height)?;
            Some(Rc::new(arithmetic.divide(&Path::default(), &linear, 32).1))
        });
        Self { thread, block, lane: lane.flatten(), facts }
    }

    /// The value of a special register.
    pub(super) fn special(&self, special: Special, launch: &Launch<'_>) -> Value {
        use Special::*;
        match special {
            TidX => Value::Number(Rc::clone(&self.thread[0])),
            TidY => Value::Number(Rc::clone(&self.thread[1])),
            TidZ => Value::Number(Rc::clone(&self.thread[2])),
            CtaidX => Value::Number(Rc::clone(&self.block[0])),
            CtaidY => Value::Number(Rc::clone(&self.block[1])),
            CtaidZ => Value::Number(Rc::clone(&self.block[2])),
            NtidX => Value::constant(launch.block[0].into()),
            NtidY => Value::constant(launch.block[1].into()),
            NtidZ => Value::constant(launch.block[2].into()),
            NctaidX => Value::constant(launch.grid[0].into()),
            NctaidY => Value::constant(launch.grid[1].into()),
            NctaidZ => Value::constant(launch.grid[2].into()),
            Laneid => self.lane.clone().map_or(Value::Unknown, Value::Number),
            _ => Value::Unknown,
        }
    }
}

/// An index below `extent`, cut at weights of which each must divide the next.
fn digits(
    symbols: &mut Symbols,
    is_block: bool,
    dimension: u8,
    extent: u32,
    cuts: impl Iterator<Item = u32>,
    facts: &mut Vec<Fact>,
) -> Linear {
    if extent <= 1 {
        return Linear::constant(0);
    }
    let mut wanted: Vec<u32> = cuts.filter(|&cut| cut > 1 && cut < extent).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut weights = vec![1];
    for cut in wanted {
        if cut % weights.last().expect("never empty") == 0 {
            weights.push(cut);
        }
    }
    let mut sum = Linear::constant(0);
    for (place, &weight) in weights.iter().enumerate() {
        let most = match weights.get(place + 1) {
            Some(next) => next / weight - 1,
            None => (extent - 1) / weight,
        };
        let digit = Digit { dimension, weight };
        let kind = if is_block { SymbolKind::Block(digit) } else { SymbolKind::Thread(digit) };
        let symbol = symbols.push(kind, (0, most.into()), is_block);
        sum.terms.push((symbol, weight.into()));
    }
    if !extent.is_multiple_of(*weights.last().expect("never empty")) {
        let rest = Linear::constant(i64::from(extent) - 1).plus(&sum, -1).expect("small numbers");
        facts.push(Fact::AtLeastZero(Rc::new(rest)));
    }
    sum
}
