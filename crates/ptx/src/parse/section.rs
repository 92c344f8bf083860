//! DWARF sections: `.section .debug_str { label: .b8 1, 2 … }`.

use super::{Error, Parser};
use crate::ir::{Item, Section, SectionData, SectionItem};
use crate::types::Type;

impl Parser<'_> {
    pub(super) fn section(&mut self) -> Result<(), Error> {
        let at = self.cursor.position();
        if self.cursor.peek() == b'.' {
            self.cursor.advance();
        }
        self.ident("the name of a section")?;
        let name = self.cursor.text_since(at);
        let name = self.module.names.intern(name);
        self.cursor.skip_space();
        self.expect(b'{', "`{`")?;
        let mut section = Section::default();
        while !self.cursor.eat(b'}') {
            if self.cursor.is_at_end() {
                return Err(self.error_since(at, "this section is never closed"));
            }
            if self.cursor.at_ident() {
                let label = self.ident("a label")?;
                let label = self.module.names.intern(label.text);
                self.cursor.skip_space();
                self.expect(b':', "`:`")?;
                section.items.push(SectionItem::Label(label));
                continue;
            }
            let word = self.directive_word("`.b8`, `.b16`, `.b32`, `.b64`, a label, or `}`")?;
            let Some(ty @ (Type::B8 | Type::B16 | Type::B32 | Type::B64)) = Type::parse(word.text) else {
                return Err(self.error_at(word, format!("`.{}` is not a type of data in a section", word.text)));
            };
            self.section_data(ty, &mut section)?;
        }
        self.module.items.push(Item::Section(name, Box::new(section)));
        Ok(())
    }

    fn section_data(&mut self, ty: Type, section: &mut Section) -> Result<(), Error> {
        let first_byte = section.bytes.len();
        let first = section.data.len();
        loop {
            let data = self.section_value()?;
            match data {
                SectionData::Int(value @ 0..=255) if ty == Type::B8 && section.data.len() == first => {
                    section.bytes.push(value as u8);
                }
                data => {
                    // Not all are plain bytes: take those back.
                    let bytes = section.bytes.drain(first_byte..);
                    section.data.splice(first..first, bytes.map(|byte| SectionData::Int(byte.into())));
                    section.data.push(data);
                }
            }
            self.cursor.skip_space();
            if !self.cursor.eat(b',') {
                break;
            }
        }
        section.items.push(if section.data.len() == first {
            SectionItem::Bytes((section.bytes.len() - first_byte) as u32)
        } else {
            SectionItem::Data(ty, (section.data.len() - first) as u32)
        });
        Ok(())
    }

    fn section_value(&mut self) -> Result<SectionData, Error> {
        let at = self.cursor.position();
        let is_section = self.cursor.peek() == b'.';
        if is_section {
            self.cursor.advance();
        } else if !self.cursor.at_ident() {
            return Ok(SectionData::Int(self.integer()?));
        }
        self.ident("a label or a section")?;
        let name = self.cursor.text_since(at);
        let name = self.module.names.intern(name);
        self.cursor.skip_space();
        let is_negative = self.cursor.peek() == b'-';
        if !is_negative && self.cursor.peek() != b'+' {
            return Ok(SectionData::Name(name, 0));
        }
        self.cursor.advance();
        self.cursor.skip_space();
        if is_negative && self.cursor.at_ident() {
            let other = self.ident("a label")?;
            return Ok(SectionData::Difference(name, self.module.names.intern(other.text)));
        }
        Ok(SectionData::Name(name, self.offset(is_negative)?))
    }
}
