//! Accesses of neighbouring lanes to neighbouring words, although not of the whole warp.
//!
//! In a block that is 16 threads wide, a warp is two rows of it. What such a warp loads from a matrix is two pieces of 16
//! words each; or two words, one for each row. Gathering 32 words costs as much as 32 loads; a piece costs one.
//!
//! Where nothing is known of addresses but that they are computed from numbers of threads and parameters, as in a transform
//! whose distance is a parameter, code looks whether they are those of one piece.

use ptx::analysis::Class;
use ptx::ir::Reg;

use super::address::{Address, Firsts, Groups, Spot};
use super::function::Lowering;
use crate::llvm::{Ty, Value};
use crate::options::Tier;

/// Lanes that are loaded or stored at once.
#[derive(Clone, Debug)]
pub(crate) struct ContiguousRuns<'c> {
    /// Lanes of a piece.
    lanes: u32,
    kind: PieceKind,
    bases: Bases<'c>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PieceKind {
    /// All lanes access one word.
    Uniform,
    /// Each lane accesses the word after that of the lane before.
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
        firsts: Option<Firsts<'c>>,
        /// Whether it says so also if it is not active, but another one of the piece is.
        is_known: bool,
    },
}

/// ContiguousRuns of fewer lanes are not worth it.
const SHORTEST_RUN: u32 = 4;

impl ContiguousRuns<'_> {
    pub(crate) fn are_uniform(&self) -> bool {
        self.kind == PieceKind::Uniform
    }
}

impl<'c> Lowering<'_, '_, 'c> {
    /// What is known of the addresses in a register that has one for each lane.
    pub(crate) fn groups(&mut self, reg: Reg) -> Option<Groups<'c>> {
        let is_computed = self.analyses.computed.contains(&reg);
        // Of one lane everything is true.
        let alone = Groups { lanes: 1, stride: 0, is_valid_in_inactive_lanes: false, is_computed, firsts: None };
        let Class::Grouped { lanes, stride } = self.known_value(reg)?.class() else { return Some(alone) };
        let web = self.analyses.uniformity.as_ref()?.read(self.statement, reg)?;
        let groups = self.analyses.subwarp_affine.get(&web).copied().filter(|groups| groups * lanes == self.lanes());
        let firsts = groups.map(|groups| Firsts { numbers: self.read_reg(reg, self.group_shape(groups)), plus: 0 });
        let is_valid_in_inactive_lanes = lanes >= SHORTEST_RUN
            && self.masks.entered.is_all_ones()
            && self.inactive_lanes.are_valid(self.analyses, web);
        Some(Groups { lanes, stride, is_valid_in_inactive_lanes, is_computed, firsts })
    }

    /// Whether addresses of words, of which nothing is known, are those of one piece; nothing if that is not likely.
    pub(crate) fn is_one_piece(
        &self,
        address: &Address<'c>,
        bytes: u32,
        active: Value<'c>,
    ) -> Option<(Value<'c>, Value<'c>)> {
        let Address::Vector(all, Some(Groups { is_computed: true, .. })) = address else { return None };
        if self.unit.options.tier == Tier::Baseline || !(4..=8).contains(&bytes) {
            return None;
        }
        let emit = self.vector();
        let first = emit.extract_element(*all, self.unit.context().int(32).constant(0));
        let offsets: Vec<_> = (0..self.lanes()).map(|lane| first.ty().constant((lane * bytes).into())).collect();
        let expected = emit.add(emit.broadcast(first), Value::vector_constant(&offsets));
        let others = emit.and(emit.not_equal(*all, expected), active);
        Some((self.scalar().not(self.masks.any(others)), Spot::at(first).pointer(self.scalar())))
    }

    /// The pieces that words of some bytes are accessed in.
    pub(crate) fn pieces(&self, address: &Address<'c>, bytes: u32) -> Option<ContiguousRuns<'c>> {
        let kind = |stride: i64| match stride {
            0 => Some(PieceKind::Uniform),
            stride if stride == i64::from(bytes) => Some(PieceKind::Contiguous),
            _ => None,
        };
        match address {
            Address::Uniform(_) => None,
            Address::Affine(base, offsets) => {
                let kind = kind(offsets[1] - offsets[0])?;
                let is_whole = |piece: &[i64]| {
                    piece.iter().enumerate().all(|(lane, offset)| {
                        let step = if kind == PieceKind::Uniform { 0 } else { i64::from(bytes) };
                        *offset == piece[0] + step * lane as i64
                    })
                };
                let lanes = [16, 8, 4].into_iter().find(|&lanes| offsets.chunks(lanes).all(is_whole))?;
                let starts = offsets.iter().copied().step_by(lanes).collect();
                Some(ContiguousRuns { lanes: lanes as u32, kind, bases: Bases::Offsets(*base, starts) })
            }
            Address::Vector(all, groups) => {
                let groups = groups.filter(|groups| groups.lanes >= SHORTEST_RUN)?;
                // What is kept for a group is right if any lane of it is active.
                let is_known = groups.is_valid_in_inactive_lanes || groups.firsts.is_some();
                let bases = Bases::FirstLanes { all: *all, firsts: groups.firsts, is_known };
                Some(ContiguousRuns { lanes: groups.lanes, kind: kind(groups.stride)?, bases })
            }
        }
    }

    /// Addresses that are aligned only if those of all lanes are, if all lanes are active and so few tell.
    pub(crate) fn known_bases(&self, address: &Address<'c>, bytes: u32, active: Value<'c>) -> Option<Vec<Value<'c>>> {
        let Address::Vector(all, Some(groups)) = address else { return None };
        let is_enough = groups.lanes >= SHORTEST_RUN && groups.stride % i64::from(bytes) == 0;
        (is_enough && (active.is_all_ones() || groups.is_valid_in_inactive_lanes)).then(|| {
            let spots = self.first_lanes(*all, groups.firsts, groups.lanes);
            spots.into_iter().map(|spot| spot.alignment(self.scalar(), bytes)).collect()
        })
    }

    /// What the first lane of each piece has.
    fn first_lanes(&self, all: Value<'c>, firsts: Option<Firsts<'c>>, lanes: u32) -> Vec<Spot<'c>> {
        let index = self.unit.context().int(32);
        let spot = |all, place: u32, plus| {
            let number = self.unit.builder.extract_element(all, index.constant(place.into()));
            Spot::at(number).offset(plus)
        };
        match firsts {
            Some(Firsts { numbers, plus }) => {
                (0..self.lanes() / lanes).map(|group| spot(numbers, group, plus)).collect()
            }
            None => (0..self.lanes()).step_by(lanes as usize).map(|lane| spot(all, lane, 0)).collect(),
        }
    }

    /// Where each piece starts.
    fn starts(&self, pieces: &ContiguousRuns<'c>) -> Vec<Value<'c>> {
        match &pieces.bases {
            Bases::Offsets(spot, offsets) => {
                offsets.iter().map(|&offset| spot.offset(offset).pointer(self.scalar())).collect()
            }
            Bases::FirstLanes { all, firsts, .. } => {
                let spots = self.first_lanes(*all, *firsts, pieces.lanes).into_iter();
                spots.map(|spot| spot.pointer(self.scalar())).collect()
            }
        }
    }

    /// Loads in pieces for the lanes of a mask; zero for the others.
    pub(crate) fn load_pieces(
        &mut self,
        ty: Ty<'c>,
        address: &Address<'c>,
        pieces: &ContiguousRuns<'c>,
        active: Value<'c>,
    ) -> Value<'c> {
        let vector = ty.vector(self.lanes());
        let Some(is_known) = self.first_lanes_are_active(pieces, active) else {
            return self.load_known_pieces(ty, pieces, active);
        };
        self.either(
            is_known,
            |this| this.load_known_pieces(ty, pieces, active),
            |this| this.gather(vector, address, active),
        )
    }

    /// Loads at once if the addresses turn out to be those of one piece.
    pub(crate) fn load_irregular(&mut self, vector: Ty<'c>, address: &Address<'c>, active: Value<'c>) -> Value<'c> {
        match self.is_one_piece(address, vector.bits() / 8, active) {
            None => self.gather(vector, address, active),
            Some((is_one_piece, pointer)) => self.either(
                is_one_piece,
                |this| this.load_words(vector, pointer, active),
                |this| this.gather(vector, address, active),
            ),
        }
    }

    /// Stores at once if the addresses turn out to be those of one piece.
    pub(crate) fn store_irregular(&mut self, address: &Address<'c>, value: Value<'c>, active: Value<'c>) {
        match self.is_one_piece(address, value.ty().bits() / 8, active) {
            None => self.scatter(address, value, active),
            Some((is_one_piece, pointer)) => self.either_of(
                is_one_piece,
                |this| this.store_words(pointer, value, active),
                |this| this.scatter(address, value, active),
            ),
        }
    }

    /// One of two ways to get a value.
    fn either(
        &mut self,
        condition: Value<'c>,
        yes: impl FnOnce(&mut Self) -> Value<'c>,
        no: impl FnOnce(&mut Self) -> Value<'c>,
    ) -> Value<'c> {
        let builder = self.unit.builder;
        let (mut one, mut other) = (None, None);
        self.either_of(
            condition,
            |this| one = Some((yes(this), builder.block())),
            |this| other = Some((no(this), builder.block())),
        );
        let values = [one, other].map(|value| value.expect("both ways were taken"));
        builder.phi(values[0].0.ty(), &values)
    }

    /// One of two things to do.
    fn either_of(&mut self, condition: Value<'c>, yes: impl FnOnce(&mut Self), no: impl FnOnce(&mut Self)) {
        let builder = self.unit.builder;
        let (then, otherwise, after) = (self.new_block("one"), self.new_block("other"), self.new_block("after"));
        builder.branch_if(condition, then, otherwise);
        builder.position_at_end(then);
        yes(self);
        builder.branch(after);
        builder.position_at_end(otherwise);
        no(self);
        builder.branch(after);
        builder.position_at_end(after);
    }

    /// Stores in pieces for the lanes of a mask.
    pub(crate) fn store_pieces(
        &mut self,
        address: &Address<'c>,
        pieces: &ContiguousRuns<'c>,
        value: Value<'c>,
        active: Value<'c>,
    ) {
        let Some(is_known) = self.first_lanes_are_active(pieces, active) else {
            return self.store_known_pieces(pieces, value, active);
        };
        self.either_of(
            is_known,
            |this| this.store_known_pieces(pieces, value, active),
            |this| this.scatter(address, value, active),
        );
    }

    /// Whether it is known where all pieces start of which a lane is active; nothing if that is known beforehand.
    fn first_lanes_are_active(&self, pieces: &ContiguousRuns<'c>, active: Value<'c>) -> Option<Value<'c>> {
        if !matches!(pieces.bases, Bases::FirstLanes { is_known: false, .. }) || active.is_all_ones() {
            return None;
        }
        let emit = self.scalar();
        let bits = self.masks.bits(active);
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

    fn load_known_pieces(&self, ty: Ty<'c>, pieces: &ContiguousRuns<'c>, active: Value<'c>) -> Value<'c> {
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
                    builder.splat(builder.freeze(builder.beside(builder.load(ty, at, 1))), pieces.lanes)
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

    fn store_known_pieces(&self, pieces: &ContiguousRuns<'c>, value: Value<'c>, active: Value<'c>) {
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
