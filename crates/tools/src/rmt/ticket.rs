//! The ticket that a block draws when it begins: it says which copy the block is, and of which block of the program.

use ptx::ir::{Guard, Operand, Reg, Symbol, Variable};
use ptx::special::Special;
use ptx::types::{Space, Type};
use rewrite::Cursor;

use super::LOG;
use super::kept::Kept;
use super::values::{compute, physical};

/// The variable with the ticket of a block.
const TICKET_VARIABLE: &str = "warpgrind_rmt_ticket";

/// The ticket of a block, which draws it if the function is the kernel.
pub(super) fn ticket(at: &mut Cursor<'_, '_>) -> Reg {
    let module = at.editor().module_mut();
    let make = |name| Variable::scalar(name, Space::Shared, Type::B32);
    let variable = module.variable_named(TICKET_VARIABLE, make).expect("no function has such a name");
    let address = Operand::SymbolAddress(Symbol::Global(variable), 0);
    if at.is_kernel() && !std::mem::replace(&mut at.state::<Kept>().has_ticket, true) {
        let [x, y, z] = [Special::TidX, Special::TidY, Special::TidZ].map(|special| physical(at, special));
        let any = compute(at, "or.b32", &[x.into(), y.into()]);
        let any = compute(at, "or.b32", &[any.into(), z.into()]);
        let is_leader = at.at_entry("setp.eq.b32", Type::Pred, &[any.into(), 0.into()]);
        let (log, drawn) = (at.word(LOG), at.reg(Type::B32));
        let leader = Some(Guard::when(is_leader));
        at.insert_at_entry(leader, "atom.global.add.u32", &[drawn.into(), Operand::RegAddress(log, 0), 1.into()]);
        at.insert_at_entry(leader, "st.shared.b32", &[address, drawn.into()]);
        at.insert_at_entry(None, "bar.sync", &[0.into()]);
    }
    compute(at, "ld.shared.b32", &[address])
}

/// The number of a pair of blocks, which is that of the program's block.
pub(super) fn pair_of_blocks(at: &mut Cursor<'_, '_>) -> Reg {
    let ticket = ticket(at);
    compute(at, "shr.u32", &[ticket.into(), 1.into()])
}
