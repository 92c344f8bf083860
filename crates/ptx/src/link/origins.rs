//! Where the instructions of a linked module come from.

use crate::diagnostic::Position;
use crate::entity::Id;
use crate::ir::OriginId;

/// The instructions of the inputs among those of the linked module. Every input has a range of ids, in which its
/// instructions keep their order, also if some of them were left out; and a range of places, as if the texts had been
/// written one after the other.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct InputOrigins {
    /// The first id of each input.
    pub(super) ids: Vec<u32>,
    /// The first place of each input.
    pub(super) positions: Vec<u32>,
}

impl InputOrigins {
    /// The input that an instruction comes from, and its id there.
    pub fn input_of(&self, id: OriginId) -> (usize, OriginId) {
        let (input, first) = find(&self.ids, id.index() as u32);
        (input, OriginId::new(id.index() - first as usize))
    }

    /// The input that a place is in, and the place there. Nothing for no place.
    pub fn place(&self, at: Position) -> Option<(usize, Position)> {
        if at == Position::NONE {
            return None;
        }
        let (input, first) = find(&self.positions, at.0);
        Some((input, Position(at.0 - first)))
    }

    /// The id of the first instruction of an input.
    pub fn first_of(&self, input: usize) -> OriginId {
        OriginId::new(self.ids[input] as usize)
    }
}

fn find(starts: &[u32], value: u32) -> (usize, u32) {
    let input = starts.partition_point(|&start| start <= value).saturating_sub(1);
    (input, starts.get(input).copied().unwrap_or(0))
}
