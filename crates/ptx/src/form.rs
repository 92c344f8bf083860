//! Forms: an opcode with its modifiers, as written, is interned once per module.
//!
//! A module has millions of instructions but hundreds of forms, so whatever follows from opcode and modifiers alone
//! (row of the table, types, effect) is found once per form and not once per instruction.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use smallvec::SmallVec;

use crate::entity::{Id, Map, define_id};
use crate::ops::{self, Effect, Mod, Modifier, Op, Row};
use crate::types::{Space, Type};

define_id! {
    /// A form of a module.
    FormId "form"
}

/// An opcode with its modifiers.
#[derive(Clone, Debug)]
pub struct Form {
    spelling: Box<str>,
    modifiers: SmallVec<[Modifier; 6]>,
    types: SmallVec<[Type; 2]>,
    rows: SmallVec<[&'static Row; 1]>,
}

impl Form {
    fn new(spelling: &str) -> Self {
        let mut words = spelling.split('.');
        let opcode = words.next().unwrap_or_default();
        let words: SmallVec<[&str; 8]> = words.collect();
        let modifiers: SmallVec<[Modifier; 6]> = words.iter().map(|word| Modifier::parse(word)).collect();
        let types = modifiers
            .iter()
            .filter_map(|modifier| match modifier {
                Modifier::Type(ty) => Some(*ty),
                _ => None,
            })
            .collect();
        let rows = ops::rows_of(opcode).iter().copied().filter(|row| row.accepts_modifiers(&words)).collect();
        Self { spelling: spelling.into(), modifiers, types, rows }
    }

    /// Opcode and modifiers as written.
    pub fn spelling(&self) -> &str {
        &self.spelling
    }

    /// The instruction of the manual; nothing for an unknown one.
    pub fn op(&self) -> Option<Op> {
        self.rows.first().map(|row| row.op)
    }

    /// What the instruction does besides writing registers; nothing for an unknown one.
    pub fn effect(&self) -> Option<Effect> {
        self.rows.first().map(|row| row.effect)
    }

    /// The modifiers in the order written.
    pub fn modifiers(&self) -> &[Modifier] {
        &self.modifiers
    }

    /// Whether the modifier is there.
    pub fn has(&self, word: Mod) -> bool {
        self.modifiers.contains(&Modifier::Word(word))
    }

    /// The words among the modifiers.
    pub fn words(&self) -> impl Iterator<Item = Mod> {
        self.modifiers.iter().filter_map(|modifier| match modifier {
            Modifier::Word(word) => Some(*word),
            _ => None,
        })
    }

    /// The types among the modifiers, in the order written.
    pub fn types(&self) -> &[Type] {
        &self.types
    }

    /// The state spaces among the modifiers, in the order written.
    pub fn spaces(&self) -> impl Iterator<Item = Space> {
        self.words().filter_map(Mod::space)
    }

    /// The shape of a matrix operation: m, n and k, which is 0 if there is none.
    pub fn shape(&self) -> Option<[u16; 3]> {
        self.modifiers().iter().find_map(|modifier| match *modifier {
            Modifier::Shape { m, n, k } => Some([m, n, k]),
            _ => None,
        })
    }

    /// Elements per operand: 2, 4 or 8 for `.v2`, `.v4`, `.v8`, else 1.
    pub fn vector(&self) -> u32 {
        self.words().find_map(Mod::vector).unwrap_or(1)
    }

    /// The rows of the table that fit the modifiers: none for an unknown instruction, several where operands decide.
    pub fn rows(&self) -> &[&'static Row] {
        &self.rows
    }

    /// Whether the table has the instruction with these modifiers.
    pub fn is_known(&self) -> bool {
        !self.rows.is_empty()
    }
}

/// The forms of a module.
#[derive(Clone, Default)]
pub struct Forms {
    forms: Map<FormId, Form>,
    table: HashTable<FormId>,
}

impl Forms {
    /// The form that is spelled like this, made if there is none yet.
    pub fn intern(&mut self, spelling: &str) -> FormId {
        let hash = hash(spelling);
        if let Some(&id) = self.table.find(hash, |&id| self.forms[id].spelling() == spelling) {
            return id;
        }
        let id = self.forms.push(Form::new(spelling));
        let forms = &self.forms;
        self.table.insert_unique(hash, id, |&id| self::hash(forms[id].spelling()));
        id
    }

    /// All forms.
    pub fn iter(&self) -> impl Iterator<Item = (FormId, &Form)> {
        self.forms.iter()
    }

    /// How many forms there are.
    pub fn len(&self) -> usize {
        self.forms.len()
    }

    /// Whether there is no form.
    pub fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }
}

impl std::ops::Index<FormId> for Forms {
    type Output = Form;
    fn index(&self, id: FormId) -> &Form {
        &self.forms[id]
    }
}

impl std::fmt::Debug for Forms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.iter().map(|(id, form)| (id.index(), form.spelling()))).finish()
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text.as_bytes());
    hasher.finish()
}
