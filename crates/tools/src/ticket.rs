//! The ticket that a block draws when it begins.
//!
//! A device starts the blocks of a grid in whatever order, and may not start one before others have ended. So a block that
//! waits for the one before it may wait in vain if blocks are numbered by their ids, and never if they are numbered by their
//! tickets: whoever drew the one before has begun.

use ptx::ir::{Guard, Operand, Reg, Symbol, Variable};
use ptx::special::Special;
use ptx::types::{Space, Type};
use rewrite::Cursor;
use rewrite::context::Word;

/// The variable with the ticket of a block.
const VARIABLE: &str = "warpgrind_ticket";

/// The ticket of the block. Where the kernel begins it is drawn, once, from the counter of 32 bits whose address is in a word.
pub(crate) fn ticket(at: &mut Cursor<'_, '_>, counter: Word, is_drawn: bool) -> Reg {
    let module = at.editor().module_mut();
    let make = |name| Variable::scalar(name, Space::Shared, Type::B32);
    let variable = module.variable_named(VARIABLE, make).expect("no function has such a name");
    let address = Operand::SymbolAddress(Symbol::Global(variable), 0);
    if at.is_kernel() && !is_drawn {
        let [x, y, z] = [Special::TidX, Special::TidY, Special::TidZ]
            .map(|special| at.at_entry("mov.u32", Type::B32, &[special.into()]));
        let any = at.at_entry("or.b32", Type::B32, &[x.into(), y.into()]);
        let any = at.at_entry("or.b32", Type::B32, &[any.into(), z.into()]);
        let is_leader = at.at_entry("setp.eq.b32", Type::Pred, &[any.into(), 0.into()]);
        let (counter, drawn) = (at.word(counter), at.reg(Type::B32));
        let leader = Some(Guard::when(is_leader));
        at.insert_at_entry(leader, "atom.global.add.u32", &[drawn.into(), Operand::RegAddress(counter, 0), 1.into()]);
        at.insert_at_entry(leader, "st.shared.b32", &[address, drawn.into()]);
        at.insert_at_entry(None, "bar.sync", &[0.into()]);
    }
    at.at_entry("ld.shared.b32", Type::B32, &[address])
}
