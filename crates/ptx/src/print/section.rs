//! Printing of DWARF sections.

use super::Printer;
use crate::ir::{Section, SectionData, SectionItem};
use crate::name::Name;

impl Printer<'_> {
    pub(super) fn section(&mut self, name: Name, section: &Section) {
        self.text(".section\t");
        self.name(name);
        self.text("\n{\n");
        let mut bytes = section.bytes.iter();
        let mut data = section.data.iter();
        for item in &section.items {
            match *item {
                SectionItem::Label(label) => {
                    self.name(label);
                    self.text(":\n");
                }
                SectionItem::Bytes(len) => {
                    for (index, &byte) in bytes.by_ref().take(len as usize).enumerate() {
                        self.text(if index == 0 { ".b8 " } else { "," });
                        self.number(byte.into());
                    }
                    self.text("\n");
                }
                SectionItem::Data(ty, len) => {
                    self.text(".");
                    self.text(ty.text());
                    for (index, data) in data.by_ref().take(len as usize).enumerate() {
                        self.text(if index == 0 { " " } else { "," });
                        self.section_data(data);
                    }
                    self.text("\n");
                }
            }
        }
        self.text("}\n");
    }

    fn section_data(&mut self, data: &SectionData) {
        match *data {
            SectionData::Int(value) => self.signed(value),
            SectionData::Name(name, offset) => {
                self.name(name);
                self.offset(offset);
            }
            SectionData::Difference(from, to) => {
                self.name(from);
                self.text("-");
                self.name(to);
            }
        }
    }
}
