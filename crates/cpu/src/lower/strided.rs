//! Accesses of lanes to words at a constant distance of a few words: the real parts of complex numbers, one component of an
//! array of points, an array that is read backwards.
//!
//! A gather costs as much as 32 loads. The words from that of the first lane to that of the last, with those between them,
//! are a few vectors; a permutation of these has what the lanes want. Nothing is touched that is not between two words of
//! the program: the last vector ends with the last word, and overlaps with the one before it.

use super::address::{Address, Spot};
use super::function::Lowering;
use crate::llvm::{Ty, Value};

/// The largest distance, in words, for which this is less work than a gather.
const MOST_STEPS: i64 = 4;

/// Words at a constant distance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strided<'c> {
    /// The lowest word.
    first: Spot<'c>,
    bytes: u32,
    steps: Steps,
}

/// How far the words of lanes are from each other.
#[derive(Clone, Copy, Debug)]
struct Steps {
    /// In words.
    distance: u32,
    /// Whether the last lane has the lowest word.
    is_backwards: bool,
    lanes: u32,
}

impl<'c> Strided<'c> {
    /// What is known of addresses, for words of some bytes; nothing if they are not such.
    pub(crate) fn of(address: &Address<'c>, bytes: u32) -> Option<Self> {
        let Address::Affine(spot, offsets) = address else { return None };
        let stride = offsets.get(1)?.wrapping_sub(offsets[0]);
        let is_constant = offsets.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == stride);
        let distance = stride / i64::from(bytes);
        let is_near = is_constant && stride % i64::from(bytes) == 0 && (1..=MOST_STEPS).contains(&distance.abs());
        let first = spot.offset(*offsets.iter().min()?);
        let (is_backwards, lanes) = (distance < 0, offsets.len() as u32);
        let steps = Steps { distance: distance.unsigned_abs() as u32, is_backwards, lanes };
        is_near.then_some(Self { first, bytes, steps })
    }

    /// Where vectors start.
    fn vectors(self) -> impl Iterator<Item = Spot<'c>> {
        self.steps.starts().map(move |start| self.first.offset(i64::from(start * self.bytes)))
    }
}

impl Steps {
    /// Where vectors start that have all words of lanes, in words.
    fn starts(self) -> impl Iterator<Item = u32> {
        let last = (self.lanes - 1) * self.distance + 1 - self.lanes;
        (0..self.distance).map(move |vector| (vector * self.lanes).min(last))
    }

    /// The word of a lane: in which vector it is, and where there.
    fn place(self, lane: u32) -> (usize, u32) {
        let lane = if self.is_backwards { self.lanes - 1 - lane } else { lane };
        let word = lane * self.distance;
        let vector = (word / self.lanes) as usize;
        let start = self.starts().nth(vector).expect("the last word is in the last vector");
        (vector, word - start)
    }
}

impl<'c> Lowering<'_, '_, 'c> {
    /// Loads words at a constant distance, for all lanes.
    pub(crate) fn load_strided(&self, vector: Ty<'c>, words: Strided<'c>) -> Value<'c> {
        let lanes = self.lanes();
        let all = self.unit.context().int(1).vector(lanes).all_ones();
        let loaded: Vec<_> =
            words.vectors().map(|spot| self.load_words(vector, spot.pointer(self.scalar()), all)).collect();
        let places: Vec<_> = (0..lanes).map(|lane| words.steps.place(lane)).collect();
        let order = |pick: &dyn Fn(u32, (usize, u32)) -> u32| -> Vec<u32> {
            (0..lanes).zip(&places).map(|(lane, &place)| pick(lane, place)).collect()
        };
        let builder = self.unit.builder;
        let last = loaded.get(1).copied().unwrap_or(loaded[0]);
        let of_two = order(&|_, (vector, place)| if vector == 0 { place } else { lanes + place });
        let first = builder.shuffle(loaded[0], last, &of_two);
        loaded.iter().enumerate().skip(2).fold(first, |before, (index, &next)| {
            let of_next = order(&|lane, (vector, place)| if vector == index { lanes + place } else { lane });
            builder.shuffle(before, next, &of_next)
        })
    }

    /// Stores to words at a constant distance, for all lanes. What is between them is not touched.
    pub(crate) fn store_strided(&self, words: Strided<'c>, value: Value<'c>) {
        let lanes = self.lanes() as usize;
        let (builder, bit) = (self.unit.builder, self.unit.context().int(1));
        for (index, spot) in words.vectors().enumerate() {
            let (mut order, mut is_written) = (vec![0; lanes], vec![bit.constant(0); lanes]);
            for lane in 0..self.lanes() {
                let (vector, place) = words.steps.place(lane);
                if vector == index {
                    (order[place as usize], is_written[place as usize]) = (lane, bit.constant(1));
                }
            }
            let moved = builder.shuffle(value, value, &order);
            self.store_words(spot.pointer(self.scalar()), moved, Value::vector_constant(&is_written));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Steps;

    #[test]
    fn vectors_have_the_words_of_lanes_and_nothing_behind_them() {
        for (distance, is_backwards) in [(1, true), (2, false), (2, true), (3, false), (4, false), (4, true)] {
            let steps = Steps { distance, is_backwards, lanes: 32 };
            let starts: Vec<u32> = steps.starts().collect();
            assert_eq!(starts.last().map(|start| start + 32), Some(31 * distance + 1), "{steps:?}");
            for lane in 0..32 {
                let (vector, place) = steps.place(lane);
                assert!(place < 32, "{steps:?}");
                let from_first = if is_backwards { 31 - lane } else { lane };
                assert_eq!(starts[vector] + place, from_first * distance, "{steps:?}");
            }
        }
    }
}
