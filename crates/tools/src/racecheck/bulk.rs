//! What is inserted at accesses to as many bytes as an operand says: copies of many bytes (`cp.async.bulk`), which are agents of
//! their own (`device/bulk.ptx`), and `st.bulk`.

use ptx::ir::Operand;
use ptx::ops::{Mod, Op};
use ptx::types::Type;
use ptx::view::{AccessKind, View};
use rewrite::{Access, Cursor};

use super::check::ThreadRecords;
use super::{BULK, WRITES, clocks};

/// Of the warps that a block can have, the one that stands for copies that complete on an mbarrier object.
pub(super) const ON_OBJECT: u32 = 31;
/// And those for what copies read that complete on none, and for what they write.
pub(super) const READS: u32 = 30;
pub(super) const WRITES_OF_GROUPS: u32 = 29;
/// The first of these warps.
pub(super) const FIRST_AGENT: u32 = WRITES_OF_GROUPS;

/// An instruction that accesses as many bytes as an operand says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Bulk {
    /// It copies, and somebody waits for that.
    Copy { is_on_object: bool },
    /// It writes.
    Store,
}

impl Bulk {
    pub(super) fn of(view: &View<'_>) -> Option<Self> {
        match view.op()? {
            Op::CpAsyncBulk => Some(Self::Copy { is_on_object: view.place_of_operand("mbar").is_some() }),
            Op::StBulk => Some(Self::Store),
            _ => None,
        }
    }

    /// Why it cannot be followed, if it cannot.
    pub(super) fn refusal(view: &View<'_>) -> Option<&'static str> {
        match view.op()? {
            Op::CpReduceAsyncBulk => Some("it has asynchronous reductions of many bytes, which are not followed yet"),
            Op::CpAsyncBulk if view.form.has(Mod::CpMask) || view.form.has(Mod::IgnoreOob) => {
                Some("it has asynchronous copies of some of many bytes, which are not followed yet")
            }
            _ => None,
        }
    }

    /// Follows one of its accesses.
    pub(super) fn access(self, at: &mut Cursor<'_, '_>, access: &Access, thread: &ThreadRecords) {
        let Some(view) = at.editor().view(access.stmt) else { return };
        let is_object = view.place_of_operand("mbar") == Some(access.access.address);
        let size = view.place_of_operand("size").map(|place| view.operands()[place]);
        let is_written = access.access.kind != AccessKind::Read;
        let ThreadRecords { mine, first, .. } = *thread;
        let (own, piece, flags) = match self {
            Self::Store => (mine, 8, 0),
            Self::Copy { is_on_object } => {
                let agent = match (is_on_object, is_written) {
                    (true, _) => ON_OBJECT,
                    (false, false) => READS,
                    (false, true) => WRITES_OF_GROUPS,
                };
                let own = at.reg(Type::B64);
                let arguments = [mine.into(), first.into(), number(agent)];
                // It has a value also where no copy is begun.
                at.before().inst("mov.b64", &[own.into(), 0.into()]);
                at.call(at.guard(), "warpgrind_race_bulk_begins", &[own.into()], &arguments);
                (own, 16, BULK)
            }
        };
        let guard = at.guard();
        if is_object {
            let address = at.generic_address(access);
            clocks::arrive(at, own, first, address);
            return;
        }
        // One for errors, and the next for warnings.
        let site = at.site(access);
        at.site(access);
        let Some(size) = size.filter(|_| !access.is_unchecked) else { return };
        let address = at.generic_address(access);
        let what = piece | flags | if is_written { WRITES } else { 0 };
        let arguments =
            [address.into(), at.widened_operand(size), own.into(), first.into(), number(site.0), number(what)];
        at.call(guard, "warpgrind_race_range", &[], &arguments);
    }
}

fn number(number: u32) -> Operand {
    Operand::Int(number.into())
}
