//! Changing the modifiers of an instruction.

use smallvec::SmallVec;

use crate::form::{FormId, Forms};
use crate::ops::{self, Modifier, Row};

type Words<'a> = SmallVec<[&'a str; 8]>;

impl Forms {
    /// The form with one more modifier, at the place where the manual has it: `volatile` makes `ld.volatile.global.b32`
    /// of `ld.global.b32`. The same form if the modifier is already there.
    pub fn with_modifier(&mut self, form: FormId, word: &str) -> FormId {
        let spelling = self[form].spelling().to_owned();
        let mut words: Words<'_> = spelling.split('.').collect();
        if words[1..].contains(&word) {
            return form;
        }
        let place = place_in_row(&words, word).unwrap_or_else(|| {
            // No row of the table has it: before the type, which comes last in all of PTX.
            let is_type = |word: &&str| matches!(Modifier::parse(word), Modifier::Type(_));
            words.iter().skip(1).position(is_type).map_or(words.len(), |found| found + 1)
        });
        words.insert(place, word);
        self.intern(&words.join("."))
    }

    /// The form without a modifier; the order of the others stays.
    pub fn without_modifier(&mut self, form: FormId, word: &str) -> FormId {
        let spelling = self[form].spelling().to_owned();
        let mut index = 0;
        let mut words: Words<'_> = spelling.split('.').collect();
        words.retain(|other| {
            index += 1;
            index == 1 || *other != word
        });
        self.intern(&words.join("."))
    }

    /// The form with one modifier exchanged for another at the same place: `local` for `param`.
    pub fn replace_modifier(&mut self, form: FormId, old: &str, new: &str) -> FormId {
        let spelling = self[form].spelling().to_owned();
        let mut words: Words<'_> = spelling.split('.').collect();
        for word in words.iter_mut().skip(1).filter(|word| **word == old) {
            *word = new;
        }
        self.intern(&words.join("."))
    }
}

/// Where a new modifier goes among the words of an instruction, by the first row of the table that has them all.
fn place_in_row(words: &[&str], word: &str) -> Option<usize> {
    let mut all: Words<'_> = words[1..].into();
    all.push(word);
    let row = ops::rows_of(words[0]).iter().find(|row| row.accepts_modifiers(&all))?;
    let rank = rank_in_row(row, word)?;
    // After the last word that the row has before it.
    let is_before = |other: &&str| rank_in_row(row, other).is_some_and(|other| other <= rank);
    Some(words.iter().skip(1).rposition(is_before).map_or(1, |found| found + 2))
}

fn rank_in_row(row: &Row, word: &str) -> Option<usize> {
    let mut items = row.modifiers.iter().flat_map(|group| &group.items);
    items.position(|item| item.words().any(|accepted| accepted == word))
}
