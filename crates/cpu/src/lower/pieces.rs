//! Accesses of neighbouring lanes to neighbouring words, although not of the whole warp.
//!
//! In a block that is 16 threads wide, a warp is two rows of it. What such a warp loads from a matrix is two pieces of 16
//! words each; or two words, one for each row. Gathering 32 words costs as much as 32 loads; a piece costs one.

use ptx::analysis::Class;
use ptx::ir::Reg;

use super::function::Lowering;
use super::memory::{Address, Spot};
use crate::llvm::{Ty, Value};

/// What is known of addresses that differ from lane to lane: in each aligned group of so many lanes, they rise by so many
/// bytes from one to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Groups {
    lanes: u32,
    stride: i64,
    /// Whether this holds for lanes that are not active, too.
    is_total: bool,
}

/// Lanes that are loaded or stored at once.
#[derive(Clone, Debug)]
pub(crate) struct Pieces<'c> {
    /// Lanes of a piece.
    lanes: u32,
    kind: PieceKind,
    bases: Bases<'c>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PieceKind {
    /// All lanes access one word.
    Uniform,
    /// Each lane accesses the word behind that of the lane before.
    Contiguous,
}

/// Where the pieces start.
#[derive(Clone, Debug)]
enum Bases<'c> {
    /// An address, and what is added to it for each piece.
    Offsets(Spot<'c>, Vec<i64>),
    /// Where the first lane of each piece says.
    FirstLanes {
        all: Value<'c>,
        /// Whether it says so also if it is not active.
        is_total: bool,
    },
}

/// Pieces of fewer lanes are not worth it.
const SMALLEST_PIECE: u32 = 4;

impl Pieces<'_> {
    pub(crate) fn are_uniform(&self) -> bool {
        self.kind == PieceKind::Uniform
    }
}

impl<'c> Lowering<'_, '_, 'c> {
    /// What is known of the addresses in a register that has one for each lane.
    pub(crate) fn groups(&mut self, reg: Reg) -> Option<Groups> {
        let Class::Grouped { lanes, stride } = self.known_value(reg)?.class() else { return None };
        let web = self.uniformity.as_ref()?.read(self.statement, reg)?;
        Some(Groups { lanes, stride, is_total: lanes >= SMALLEST_PIECE && self.is_total(web) })
    }

    /// The pieces that words of some bytes are accessed in.
    pub(crate) fn pieces(&self, address: &Address<'c>, bytes: u32) -> Option<Pieces<'c>> {
        let kind = |stride: i64| match stride {
            0 => Some(PieceKind::Uniform),
            stride if stride == i64::from(bytes) => Some(PieceKind::Contiguous),
            _ => None,
        };
        match address {
            Address::Uniform(_) => None,
            Address::Regular(base, offsets) => {
                let kind = kind(offsets[1] - offsets[0])?;
                let is_whole = |piece: &[i64]| {
                    piece.iter().enumerate().all(|(lane, offset)| {
                        let step = if kind == PieceKind::Uniform { 0 } else { i64::from(bytes) };
                        *offset == piece[0] + step * lane as i64
                    })
                };
                let lanes = [16, 8, 4].into_iter().find(|&lanes| offsets.chunks(lanes).all(is_whole))?;
                let starts = offsets.iter().copied().step_by(lanes).collect();
                Some(Pieces { lanes: lanes as u32, kind, bases: Bases::Offsets(*base, starts) })
            }
            Address::Vector(all, groups) => {
                let groups = groups.filter(|groups| groups.lanes >= SMALLEST_PIECE)?;
                let bases = Bases::FirstLanes { all: *all, is_total: groups.is_total };
                Some(Pieces { lanes: groups.lanes, kind: kind(groups.stride)?, bases })
            }
        }
    }

    /// Addresses that are aligned only if those of all lanes are, if all lanes are active and so few tell.
    pub(crate) fn known_bases(&self, address: &Address<'c>, bytes: u32, active: Value<'c>) -> Option<Vec<Value<'c>>> {
        let Address::Vector(all, Some(groups)) = address else { return None };
        let is_enough = groups.lanes >= SMALLEST_PIECE && groups.stride % i64::from(bytes) == 0;
        (is_enough && (active.is_all_ones() || groups.is_total)).then(|| self.first_lanes(*all, groups.lanes))
    }

    /// What the first lane of each piece has.
    fn first_lanes(&self, all: Value<'c>, lanes: u32) -> Vec<Value<'c>> {
        let index = self.unit.context().int(32);
        let starts = (0..self.lanes()).step_by(lanes as usize);
        starts.map(|lane| self.unit.builder.extract_element(all, index.constant(lane.into()))).collect()
    }

    /// Where each piece starts.
    fn starts(&self, pieces: &Pieces<'c>) -> Vec<Value<'c>> {
        match &pieces.bases {
            Bases::Offsets(spot, offsets) => {
                offsets.iter().map(|&offset| spot.offset(offset).pointer(self.scalar())).collect()
            }
            Bases::FirstLanes { all, .. } => {
                let numbers = self.first_lanes(*all, pieces.lanes).into_iter();
                numbers.map(|number| Spot::at(number).pointer(self.scalar())).collect()
            }
        }
    }

    /// Loads in pieces for the lanes of a mask; zero for the others.
    pub(crate) fn load_pieces(
        &mut self,
        ty: Ty<'c>,
        address: &Address<'c>,
        pieces: &Pieces<'c>,
        active: Value<'c>,
    ) -> Value<'c> {
        let vector = ty.vector(self.lanes());
        let Some(is_known) = self.first_lanes_are_active(pieces, active) else {
            return self.load_known_pieces(ty, pieces, active);
        };
        let builder = self.unit.builder;
        let (known, unknown, after) = (self.new_block("pieces"), self.new_block("lanes"), self.new_block("after"));
        builder.branch_if(is_known, known, unknown);
        builder.position_at_end(known);
        let in_pieces = (self.load_known_pieces(ty, pieces, active), builder.block());
        builder.branch(after);
        builder.position_at_end(unknown);
        let one_by_one = (self.gather(vector, address, active), builder.block());
        builder.branch(after);
        builder.position_at_end(after);
        builder.phi(vector, &[in_pieces, one_by_one])
    }

    /// Stores in pieces for the lanes of a mask.
    pub(crate) fn store_pieces(
        &mut self,
        address: &Address<'c>,
        pieces: &Pieces<'c>,
        value: Value<'c>,
        active: Value<'c>,
    ) {
        let Some(is_known) = self.first_lanes_are_active(pieces, active) else {
            return self.store_known_pieces(pieces, value, active);
        };
        let builder = self.unit.builder;
        let (known, unknown, after) = (self.new_block("pieces"), self.new_block("lanes"), self.new_block("after"));
        builder.branch_if(is_known, known, unknown);
        builder.position_at_end(known);
        self.store_known_pieces(pieces, value, active);
        builder.branch(after);
        builder.position_at_end(unknown);
        self.scatter(address, value, active);
        builder.branch(after);
        builder.position_at_end(after);
    }

    /// Whether it is known where all pieces start of which a lane is active; nothing if that is known beforehand.
    fn first_lanes_are_active(&self, pieces: &Pieces<'c>, active: Value<'c>) -> Option<Value<'c>> {
        if !matches!(pieces.bases, Bases::FirstLanes { is_total: false, .. }) || active.is_all_ones() {
            return None;
        }
        let emit = self.scalar();
        let bits = self.mask_bits(active);
        // The lowest bit of each piece becomes whether any of the piece is set.
        let mut any = bits;
        let mut distance = pieces.lanes / 2;
        while distance > 0 {
            any = emit.or(any, emit.lshr(any, any.ty().constant(distance.into())));
            distance /= 2;
        }
        let firsts = (0..self.lanes()).step_by(pieces.lanes as usize).fold(0, |firsts, lane| firsts | 1_u64 << lane);
        let missing = emit.and(any, emit.not(bits));
        Some(emit.is_zero(emit.and_constant(missing, firsts)))
    }

    fn load_known_pieces(&self, ty: Ty<'c>, pieces: &Pieces<'c>, active: Value<'c>) -> Value<'c> {
        let builder = self.unit.builder;
        let piece = ty.vector(pieces.lanes);
        let mut loaded: Vec<Value<'c>> = Vec::new();
        for (index, at) in self.starts(pieces).into_iter().enumerate() {
            if active.is_all_ones()
                && let Bases::Offsets(_, offsets) = &pieces.bases
                && let Some(same) = offsets[..index].iter().position(|&other| other == offsets[index])
            {
                // What several pieces share is loaded once.
                loaded.push(loaded[same]);
                continue;
            }
            let lanes = self.lanes_of_piece(active, pieces.lanes, index);
            loaded.push(match pieces.kind {
                PieceKind::Contiguous => self.load_words(piece, at, lanes),
                PieceKind::Uniform if active.is_all_ones() => {
                    builder.splat(builder.freeze(builder.load(ty, at, 1)), pieces.lanes)
                }
                PieceKind::Uniform => {
                    let one = self.load_if_any(ty, at, lanes);
                    builder.select(lanes, builder.splat(one, pieces.lanes), piece.zero())
                }
            });
        }
        self.scalar().beside_each_other(&loaded)
    }

    /// Loads one word if any lane is in a mask; else zero.
    fn load_if_any(&self, ty: Ty<'c>, pointer: Value<'c>, lanes: Value<'c>) -> Value<'c> {
        let builder = self.unit.builder;
        // As the first word of the smallest vector, because processors have masks for those.
        let count = (128 / ty.bits()).max(2);
        let vector = ty.vector(count);
        let bits = builder.bitcast(lanes, self.unit.context().int(lanes.ty().lanes().unwrap_or(1)));
        let any = self.scalar().is_not_zero(bits);
        let index = self.unit.context().int(32);
        let mask = builder.insert_element(any.ty().vector(count).zero(), any, index.zero());
        builder.extract_element(self.load_words(vector, pointer, mask), index.zero())
    }

    fn store_known_pieces(&self, pieces: &Pieces<'c>, value: Value<'c>, active: Value<'c>) {
        for (index, at) in self.starts(pieces).into_iter().enumerate() {
            let part = self.lanes_of_piece(value, pieces.lanes, index);
            self.store_words(at, part, self.lanes_of_piece(active, pieces.lanes, index));
        }
    }

    /// The lanes of one piece.
    fn lanes_of_piece(&self, value: Value<'c>, lanes: u32, piece: usize) -> Value<'c> {
        if value.is_all_ones() {
            return value.ty().element().vector(lanes).all_ones();
        }
        self.scalar().lanes_from(value, piece as u32 * lanes, lanes)
    }
}
