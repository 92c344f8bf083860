//! Where the records are that a tool keeps of the granules of memory, in planes at a fixed distance from each other.

use ptx::ir::{Guard, Operand, Reg};
use ptx::types::Type;
use rewrite::Cursor;
use rewrite::context::Word;

/// The words that say where the records of some memory are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Planes {
    /// Where the memory begins.
    pub(crate) start: Word,
    /// How many bytes it has.
    pub(crate) bytes: Word,
    /// Where its first plane begins.
    pub(crate) first: Reg,
    /// How far the next one is from that.
    pub(crate) distance: Word,
}

/// The addresses of the first records of an access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Records {
    /// Whether there are any, and the access takes place.
    pub(crate) within: Reg,
    /// In the first plane.
    pub(crate) first: Reg,
    /// In the second.
    pub(crate) second: Reg,
    /// How far the next plane is.
    pub(crate) distance: Reg,
}

impl Planes {
    /// The records of an access, of granules whose size is a power of two.
    pub(crate) fn records(self, at: &mut Cursor<'_, '_>, address: Reg, granule: u32, guard: Option<Guard>) -> Records {
        let [start, bytes, distance] = [self.start, self.bytes, self.distance].map(|word| at.word(word));
        // A record has eight bytes.
        let shift = Operand::Int((3 - granule).into());
        let scaled_start = at.at_entry("shl.b64", Type::B64, &[start.into(), shift]);
        let base = at.at_entry("sub.u64", Type::B64, &[self.first.into(), scaled_start.into()]);
        let (offset, within) = (at.reg(Type::B64), at.reg(Type::Pred));
        at.before().inst("sub.u64", &[offset.into(), address.into(), start.into()]);
        at.before().inst("setp.lt.u64", &[within.into(), offset.into(), bytes.into()]);
        if guard.is_some() {
            let inside = within;
            at.and_guard(within, inside, guard);
        }
        let [scaled, first, second] = [(); 3].map(|()| at.reg(Type::B64));
        at.before().inst("shl.b64", &[scaled.into(), address.into(), shift]);
        at.before().inst("add.u64", &[first.into(), scaled.into(), base.into()]);
        at.before().inst("add.u64", &[second.into(), first.into(), distance.into()]);
        Records { within, first, second, distance }
    }
}
