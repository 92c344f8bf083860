//! The opcode table: every instruction of PTX in the manual's notation, and what a row says about an instruction.
//!
//! A row has three columns. See `table.rs` for the rows themselves.
//!
//! **Modifiers.** `.word` is required, `{.word}` is optional, `<a|b|class>` is one of several (classes are listed in
//! `classes.rs`), `{.x.y}` are both there or neither. The order of the modifiers of an instruction does not matter
//! (ptxas accepts any), except that of several types.
//!
//! **Operands.** `d`, `d2`, `p` and `q` are written, `+d` is read and written, other names are read.
//! `{, x}` is optional, `{!}a` may be negated, `d{|p}` may be a pair and `d|p` must be one, `[a]` is an address,
//! `()` are arguments of a call and `(d)` its results.
//! A colon gives what the default does not say:
//! - of a value, its type: `a:b32` a fixed one, `a:t1` the second type among the modifiers, `d:wide` twice the width,
//!   `a:pack` a vector of any elements that together have the width, `a:imm` an immediate, `a:any` whatever it is,
//!   `a:label` and `a:func` names. By default the destination has the first type and sources have the last.
//! - of an address, how it is accessed (`r`, `w`, `rw`, or `no`), in which space (`global`, `shared`, `space1` for the
//!   second state space among the modifiers, `tensor`, `tmem`, `texture`), and how many bytes (`?` if the text does not say).
//!
//! **Effect.** What the instruction does besides writing registers.
//!
//! **Why a table, and not an enum per instruction.** PTX has over two hundred instructions and several thousand
//! spellings; 42 opcodes make up nine tenths of all kernels. One generic instruction plus a row per form gives parser,
//! printer, verifier, reads and writes, generator and documentation from one place, and keeps unknown instructions.
//! What a row cannot say (the meaning of rounding, of `.ftz`) belongs to those who execute.
//!
//! **Modifiers are a set, types are a sequence.** ptxas takes modifiers in any order, and compilers use several; only
//! the order of types (`cvt.f32.s32`) has a meaning. The written order is kept for printing.

mod classes;
mod modifier;
mod pattern;
mod table;

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

pub use modifier::{Mod, Modifier};
pub use pattern::{AccessMode, AddressSpec, ByteSpec, ModGroup, OperandShape, OperandSpec, OperandType, SpaceSpec};
pub use table::Op;

use crate::types::Type;

/// What an instruction does besides writing registers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Effect {
    /// Computes registers from registers.
    Pure,
    /// Reads memory.
    Load,
    /// Writes memory.
    Store,
    /// Reads and writes memory in one step.
    Atomic,
    /// Starts accesses to memory that complete later.
    AsyncCopy,
    /// Commits to, or waits for, earlier asynchronous operations.
    AsyncGroup,
    /// Operates on a barrier object in shared memory.
    Mbarrier,
    /// Waits for, or arrives at, a barrier of the block or cluster.
    Barrier,
    /// Exchanges values between, or synchronises, the lanes of a warp.
    Collective,
    /// Orders memory accesses.
    Fence,
    /// Goes on at a label.
    Branch,
    /// Calls a function.
    Call,
    /// Returns from a function, or ends the thread in a kernel.
    Return,
    /// Ends the thread.
    Exit,
    /// Ends the kernel with an error, or stops in the debugger.
    Trap,
    /// Reads a texture or surface.
    TextureLoad,
    /// Writes, or reduces into, a surface.
    SurfaceStore,
    /// Asks for properties of a texture, sampler or surface.
    TextureQuery,
    /// Computes on tensor cores asynchronously (`wgmma`, `tcgen05`).
    Tensor,
    /// Advises the caches; nothing is read or written as far as the program can tell.
    Hint,
    /// Changes the stack pointer.
    Stack,
    /// Acts on the execution of the thread or grid: sleeps, releases registers, triggers dependent grids.
    Control,
}

/// A compiled row of the table.
#[derive(Clone, Debug)]
pub struct Row {
    /// The instruction.
    pub op: Op,
    /// What it does besides writing registers.
    pub effect: Effect,
    /// Modifiers, the fixed ones in the name (`cp.async.bulk`) included.
    pub modifiers: Vec<ModGroup>,
    /// Operands.
    pub operands: Vec<OperandSpec>,
    /// The columns as written in the table.
    pub text: (&'static str, &'static str),
}

/// A row as written in the table.
struct RowText {
    op: Op,
    modifiers: &'static str,
    operands: &'static str,
    effect: Effect,
}

/// All rows, compiled.
pub fn rows() -> &'static [Row] {
    static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| table::ROWS.iter().map(RowText::compile).collect());
    &ROWS
}

/// The rows of all instructions whose name starts with `word`: `cp.async` and `cp.reduce.async.bulk` for `cp`.
pub fn rows_of(word: &str) -> &'static [&'static Row] {
    static BY_WORD: LazyLock<FxHashMap<&'static str, Vec<&'static Row>>> = LazyLock::new(|| {
        let mut map = FxHashMap::<_, Vec<_>>::default();
        for row in rows() {
            map.entry(row.op.first_word()).or_default().push(row);
        }
        map
    });
    BY_WORD.get(word).map_or(&[], Vec::as_slice)
}

impl Op {
    /// The part of the name before the first dot.
    pub fn first_word(self) -> &'static str {
        self.text().split('.').next().expect("split yields at least one part")
    }
}

impl RowText {
    fn compile(&self) -> Row {
        let mut modifiers: Vec<ModGroup> = self.op.text().split('.').skip(1).map(ModGroup::required_word).collect();
        let complain = |column, reason| -> ! { panic!("row of `{}`, column `{column}`: {reason}", self.op) };
        match pattern::parse_modifiers(self.modifiers) {
            Ok(groups) => modifiers.extend(groups),
            Err(reason) => complain(self.modifiers, reason),
        }
        let operands = match pattern::parse_operands(self.operands) {
            Ok(operands) => operands,
            Err(reason) => complain(self.operands, reason),
        };
        Row { op: self.op, effect: self.effect, modifiers, operands, text: (self.modifiers, self.operands) }
    }
}

impl Row {
    /// Whether the modifiers of an instruction fit this row: in any order, but for types.
    pub fn accepts_modifiers(&self, words: &[&str]) -> bool {
        // Which items of which group are taken; rows have at most a few dozen items.
        let mut taken = 0_u64;
        let mut index_of_group = Vec::with_capacity(self.modifiers.len());
        let mut items = 0;
        for group in &self.modifiers {
            index_of_group.push(items);
            items += group.items.len();
        }
        assert!(items <= 64, "row of `{}` has more than 64 modifiers", self.op);
        // Types come in the order of the row: `cvt.f32.s32` is not `cvt.s32.f32`.
        let mut next_type_item = 0;
        'words: for word in words {
            let is_type = Type::parse(word).is_some();
            for (group, &first) in self.modifiers.iter().zip(&index_of_group) {
                for (index, item) in group.items.iter().enumerate() {
                    let position = first + index;
                    let bit = 1 << position;
                    if taken & bit == 0 && !(is_type && position < next_type_item) && item.accepts(word) {
                        taken |= bit;
                        if is_type {
                            next_type_item = position + 1;
                        }
                        continue 'words;
                    }
                }
            }
            return false;
        }
        self.modifiers.iter().zip(&index_of_group).all(|(group, &first)| {
            let all = ((1_u128 << group.items.len()) - 1) as u64;
            let part = taken >> first & all;
            part == all || (group.optional && part == 0)
        })
    }

    /// Fewest and most operands.
    pub fn operand_counts(&self) -> (usize, usize) {
        let required = self.operands.iter().filter(|operand| !operand.optional).count();
        (required, self.operands.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_compiles_and_every_op_has_one() {
        for &op in Op::ALL {
            assert!(rows().iter().any(|row| row.op == op), "{op} has no row");
        }
    }

    #[test]
    fn every_word_of_every_row_is_a_modifier() {
        for row in rows() {
            for item in row.modifiers.iter().flat_map(|group| &group.items) {
                for word in item.words() {
                    assert!(!matches!(Modifier::parse(word), Modifier::Unknown), "{}: `{word}` is in no list", row.op);
                }
            }
        }
    }
}
