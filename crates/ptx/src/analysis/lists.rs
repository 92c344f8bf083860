//! A list for each id, all in two vectors: a graph of a million blocks costs two allocations and not a million.

use std::marker::PhantomData;
use std::ops::{Index, Range};

use crate::entity::Id;

/// A list of `T` for each id.
#[derive(Clone, PartialEq, Eq)]
pub struct Lists<I, T> {
    /// Where the list of each id ends; it begins where the list before it ends.
    ends: Vec<u32>,
    items: Vec<T>,
    id: PhantomData<fn(I)>,
}

impl<I: Id, T: Copy> Lists<I, T> {
    /// No lists yet.
    pub fn new() -> Self {
        Self { ends: Vec::new(), items: Vec::new(), id: PhantomData }
    }

    /// Lists for `len` ids, from pairs in any order. The items of one id keep the order of their pairs.
    pub fn from_pairs(len: usize, pairs: &[(I, T)]) -> Self {
        // A counting sort: `ends` first holds how many items an id has, then where its next item goes.
        let mut ends = vec![0_u32; len];
        for (id, _) in pairs {
            ends[id.index()] += 1;
        }
        let mut start = 0_u32;
        for end in &mut ends {
            let count = *end;
            *end = start;
            start = start.checked_add(count).expect("the parser refuses texts of 4 GiB and more");
        }
        let mut items: Vec<T> = pairs.iter().map(|&(_, item)| item).collect();
        for &(id, item) in pairs {
            let next = &mut ends[id.index()];
            items[*next as usize] = item;
            *next += 1;
        }
        Self { ends, items, id: PhantomData }
    }

    /// Appends the list of the next id.
    pub fn push(&mut self, list: impl IntoIterator<Item = T>) -> I {
        self.items.extend(list);
        let id = I::new(self.ends.len());
        self.ends.push(u32::try_from(self.items.len()).expect("the parser refuses texts of 4 GiB and more"));
        id
    }

    /// Number of lists.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no list.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The ids that have a list, which may be empty.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, T> {
        (0..self.ends.len()).map(I::new)
    }

    /// All items of all lists, in the order of the ids.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// Where the list of an id is in [`Lists::items`], for facts about single items.
    pub fn range(&self, id: I) -> Range<usize> {
        let index = id.index();
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        start..self.ends[index] as usize
    }
}

impl<I: Id, T: Copy> Default for Lists<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Id, T: Copy> Index<I> for Lists<I, T> {
    type Output = [T];
    fn index(&self, id: I) -> &[T] {
        &self.items[self.range(id)]
    }
}

impl<I: Id, T: Copy + std::fmt::Debug> std::fmt::Debug for Lists<I, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.ids().map(|id| (id, &self[id]))).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Label;

    #[test]
    fn pairs_in_any_order_become_lists_that_keep_it() {
        let label = Label::new;
        let pairs = [(label(2), 'a'), (label(0), 'b'), (label(2), 'c'), (label(0), 'd'), (label(2), 'e')];
        let lists = Lists::from_pairs(4, &pairs);
        assert_eq!(lists[label(0)], ['b', 'd']);
        assert_eq!(lists[label(1)], []);
        assert_eq!(lists[label(2)], ['a', 'c', 'e']);
        assert_eq!(lists[label(3)], []);
    }
}
