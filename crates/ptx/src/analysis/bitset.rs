//! Sets of ids, one bit each.

use std::marker::PhantomData;

use crate::entity::Id;

/// A set of ids below a bound that is fixed when it is made.
#[derive(Clone, PartialEq, Eq)]
pub struct BitSet<I> {
    words: Vec<u64>,
    id: PhantomData<fn(I)>,
}

impl<I: Id> BitSet<I> {
    /// An empty set for the ids with an index below `len`.
    pub fn new(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(64)], id: PhantomData }
    }

    /// Puts an id in; says whether it was not there before.
    pub fn insert(&mut self, id: I) -> bool {
        let (word, bit) = place(id);
        let is_new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        is_new
    }

    /// Takes an id out; says whether it was there.
    pub fn remove(&mut self, id: I) -> bool {
        let (word, bit) = place(id);
        let was_there = self.words[word] & bit != 0;
        self.words[word] &= !bit;
        was_there
    }

    /// Whether the id is in the set. An id beyond the bound is not.
    pub fn contains(&self, id: I) -> bool {
        let (word, bit) = place(id);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Takes everything out.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Puts everything in that is in `other`, which has the same bound.
    pub fn union_with(&mut self, other: &Self) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word |= other;
        }
    }

    /// How many ids are in the set.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether no id is in the set.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// The ids in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = I> {
        self.words.iter().enumerate().flat_map(|(index, &word)| bits(word).map(move |bit| I::new(index * 64 + bit)))
    }
}

impl<I: Id> Extend<I> for BitSet<I> {
    fn extend<T: IntoIterator<Item = I>>(&mut self, ids: T) {
        for id in ids {
            self.insert(id);
        }
    }
}

impl<I: Id> std::fmt::Debug for BitSet<I> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// The positions of the ones in a word, lowest first.
pub(super) fn bits(word: u64) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(word), |rest| Some(rest & rest.wrapping_sub(1)))
        .take_while(|&rest| rest != 0)
        .map(|rest| rest.trailing_zeros() as usize)
}

fn place<I: Id>(id: I) -> (usize, u64) {
    (id.index() / 64, 1 << (id.index() % 64))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::ir::Reg;

    proptest! {
        /// Fails if a bit lands in the wrong word, is lost by `remove`, or is seen twice or out of order by `iter`.
        #[test]
        fn behaves_like_an_ordered_set(steps in prop::collection::vec((any::<bool>(), 0_usize..200), 0..100)) {
            let mut ours = BitSet::<Reg>::new(200);
            let mut model = BTreeSet::new();
            for (insert, index) in steps {
                let reg = Reg::new(index);
                if insert {
                    prop_assert_eq!(ours.insert(reg), model.insert(reg));
                } else {
                    prop_assert_eq!(ours.remove(reg), model.remove(&reg));
                }
                prop_assert_eq!(ours.contains(reg), insert);
            }
            prop_assert_eq!(ours.len(), model.len());
            prop_assert_eq!(ours.is_empty(), model.is_empty());
            prop_assert_eq!(ours.iter().collect::<Vec<_>>(), model.into_iter().collect::<Vec<_>>());
        }
    }
}
