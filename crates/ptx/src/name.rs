//! Interned names: identifiers, part selectors and unknown words of one module.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::entity::{Id, define_id};

define_id! {
    /// An interned string of one module.
    Name "name"
}

/// All names of a module, in one buffer. Equal strings have equal [`Name`]s.
#[derive(Clone, Default)]
pub struct Names {
    text: String,
    ends: Vec<u32>,
    table: HashTable<u32>,
}

impl Names {
    /// The name for `text`, made if there is none yet.
    pub fn intern(&mut self, text: &str) -> Name {
        let hash = hash(text.as_bytes());
        if let Some(&index) = self.table.find(hash, |&index| slice(&self.text, &self.ends, index) == text) {
            return Name::new(index as usize);
        }
        let index = self.ends.len() as u32;
        self.text.push_str(text);
        self.ends.push(u32::try_from(self.text.len()).expect("the parser refuses texts of 4 GiB and more"));
        let Self { text, ends, table } = self;
        table.insert_unique(hash, index, |&index| self::hash(slice(text, ends, index).as_bytes()));
        Name::new(index as usize)
    }

    /// The name for `text`, if it was interned before.
    pub fn find(&self, text: &str) -> Option<Name> {
        let hash = hash(text.as_bytes());
        let index = self.table.find(hash, |&index| slice(&self.text, &self.ends, index) == text)?;
        Some(Name::new(*index as usize))
    }

    /// The string after a name.
    pub fn text(&self, name: Name) -> &str {
        slice(&self.text, &self.ends, name.index() as u32)
    }

    /// All strings, one after the other.
    pub(crate) fn buffer(&self) -> &str {
        &self.text
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether nothing was interned yet.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

impl std::fmt::Debug for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries((0..self.ends.len()).map(|index| self.text(Name::new(index)))).finish()
    }
}

fn slice<'a>(text: &'a str, ends: &[u32], index: u32) -> &'a str {
    let index = index as usize;
    let start = if index == 0 { 0 } else { ends[index - 1] as usize };
    &text[start..ends[index] as usize]
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}
