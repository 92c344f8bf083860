//! Files, and sections of debugging information.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Input;
use super::names::NewNames;
use crate::import::Translation;
use crate::ir::{FileEntry, Item, Module, Section, SectionItem};
use crate::name::Name;

/// The section with the strings that `.loc` names.
const STRINGS: &str = ".debug_str";

/// Files and sections while modules are put together.
#[derive(Default)]
pub(super) struct Sections {
    /// The numbers of files by path and stamp.
    files: FxHashMap<(Name, Option<(u64, u64)>), u32>,
    /// The labels of sections that are taken.
    labels: FxHashSet<Name>,
    items: Vec<Item>,
    strings: Section,
}

impl Sections {
    /// Takes the files of an input. A single input keeps its numbers.
    pub(super) fn add_files(
        &mut self,
        into: &mut Module,
        input: &Input<'_>,
        translation: &mut Translation<'_>,
        is_only: bool,
    ) {
        for file in &input.module.files {
            let path = translation.name(into, file.path);
            let known = if is_only { None } else { self.files.get(&(path, file.stamp)).copied() };
            let index = known.unwrap_or_else(|| {
                let index = if is_only { file.index } else { into.files.len() as u32 + 1 };
                self.files.insert((path, file.stamp), index);
                self.items.push(Item::File(into.files.len()));
                into.files.push(FileEntry { index, path, stamp: file.stamp });
                index
            });
            translation.files.insert(file.index, index);
        }
    }

    /// Gives other names to labels of sections that are taken.
    pub(super) fn choose_labels(
        &mut self,
        into: &mut Module,
        input: (usize, &Input<'_>),
        translation: &mut Translation<'_>,
        names: &NewNames,
    ) {
        let module = input.1.module;
        for item in &module.items {
            let Item::Section(_, section) = item else { continue };
            for item in &section.items {
                let SectionItem::Label(label) = *item else { continue };
                let same = translation.name(into, label);
                if !self.labels.insert(same) {
                    let other = into.names.intern(&names.label(module.text(label), input.0));
                    translation.section_labels.insert(label, other);
                }
            }
        }
    }

    /// Takes the sections of an input: all of a single one, else the strings.
    pub(super) fn add_sections(
        &mut self,
        into: &mut Module,
        input: &Input<'_>,
        translation: &mut Translation<'_>,
        is_only: bool,
    ) {
        for item in &input.module.items {
            let Item::Section(name, section) = item else { continue };
            let section = if is_only || input.module.text(*name) == STRINGS {
                translation.section(into, section)
            } else {
                continue;
            };
            if is_only {
                let name = translation.name(into, *name);
                self.items.push(Item::Section(name, Box::new(section)));
            } else {
                self.strings.items.extend(section.items);
                self.strings.bytes.extend(section.bytes);
                self.strings.data.extend(section.data);
            }
        }
    }

    /// Everything, for the end of the text.
    pub(super) fn items(mut self, into: &mut Module) -> Vec<Item> {
        if !self.strings.items.is_empty() {
            let name = into.names.intern(STRINGS);
            self.items.push(Item::Section(name, Box::new(self.strings)));
        }
        self.items
    }
}
