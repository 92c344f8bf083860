//! Where an instruction comes from: reports, fault-injection campaigns and paired runs all speak of the user's
//! instruction, so every instruction carries the id of its original through all edits, printing and reparsing.

use crate::entity::define_id;
use crate::name::Name;

define_id! {
    /// The ordinal of an instruction in the text that was first parsed, counted through the whole module.
    OriginId "@"
    /// A (tool, role, copy) in the module's table of insertions.
    TagId "tag"
}

/// The origin of one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Origin {
    /// The user's instruction: this one itself, or the one for whose sake it was inserted or cloned.
    pub id: OriginId,
    /// Who inserted or cloned it; nothing for the original itself.
    pub tag: Option<TagId>,
}

/// The role of an instruction that accesses memory of its tool only, which no instruction of the program accesses: loads and
/// stores of the program may be moved past it.
pub const SHADOW_ROLE: &str = "shadow";

/// Why an instruction is there that the user did not write.
///
/// Printed after the instruction as `//@ 17 memcheck.check#2`, from where the parser reads it back.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct InsertedBy {
    /// The tool, such as `memcheck`.
    pub tool: Name,
    /// What the instruction is for, such as `check`.
    pub role: Name,
    /// Which copy of its original this is; 0 if there is only one.
    pub copy: u32,
}
