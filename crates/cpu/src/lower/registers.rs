//! The registers of a function: where they are, and in which shape.
//!
//! At width 1 each register has a place. In a warp each web has one: with a number for each lane, or for each group of
//! lanes, or with one number from which those of all lanes follow.

use ptx::analysis::{LaneValue, Web};
use ptx::entity::Map;
use ptx::ir::{Reg, StmtId};

use super::analysis::Analyses;
use crate::emit::Emit;
use crate::llvm::{BasicBlock, Builder, Ty, Value};

/// The registers of a function while it is lowered.
pub(crate) struct Registers<'u, 'a, 'c> {
    analyses: &'u Analyses<'a>,
    /// Emits a value for each lane.
    vector: Emit<'a, 'c>,
    /// Appends allocations to the first block of the function.
    allocas: Builder<'c>,
    places: Places<'c>,
    /// The carry flag, in memory.
    pub(crate) carry: Value<'c>,
}

/// Where the values of registers are.
enum Places<'c> {
    /// One place for each register.
    Registers(Map<Reg, Option<Room<'c>>>),
    /// One for each web.
    Webs(Map<Web, Option<Room<'c>>>),
}

/// Room for a register.
#[derive(Clone, Copy, Debug)]
struct Room<'c> {
    address: Value<'c>,
    ty: Ty<'c>,
    /// Whether it starts as zero.
    is_zeroed: bool,
}

/// A place of a register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'c> {
    pub(crate) address: Value<'c>,
    /// What each lane adds to the one number that is there, if it has not one for each lane.
    pub(crate) affine: Option<LaneValue>,
    /// What each lane adds to the number of its group, if it has one for each group of lanes.
    pub(crate) subwarp_affine: Option<LaneValue>,
    /// How many groups those are.
    groups: Option<u32>,
    /// What it holds whenever it is read, if that is known.
    constant: Option<u64>,
}

impl Place<'_> {
    /// How many numbers it has, of a warp of so many lanes.
    pub(crate) fn lanes(&self, all: u32) -> u32 {
        match (self.affine, self.groups) {
            (Some(_), _) => 1,
            (None, Some(groups)) => groups,
            (None, None) => all,
        }
    }

    /// Whether it holds the same whenever it is read.
    pub(crate) fn is_constant(&self) -> bool {
        self.constant.is_some()
    }
}

impl<'u, 'a, 'c> Registers<'u, 'a, 'c> {
    /// `allocas` stands in the first block of the function.
    pub(crate) fn new(analyses: &'u Analyses<'a>, vector: Emit<'a, 'c>, allocas: Builder<'c>) -> Self {
        let places = match &analyses.uniformity {
            None => Places::Registers(Map::filled(analyses.function.regs.len(), None)),
            Some(uniformity) => Places::Webs(Map::filled(uniformity.webs().len(), None)),
        };
        let mask = vector.bool();
        let carry = allocas.alloca(mask, 4);
        allocas.store(mask.zero(), carry, 4);
        Self { analyses, vector, allocas, places, carry }
    }

    /// Ends the first block of the function.
    pub(crate) fn end_allocas(&self, start: BasicBlock<'c>) {
        self.allocas.branch(start);
    }

    /// Room on the stack of the function.
    pub(crate) fn alloca(&self, ty: Ty<'c>, align: u32) -> Value<'c> {
        self.allocas.alloca(ty, align)
    }

    /// Room on the stack of the function that starts as zero.
    pub(crate) fn alloca_zeroed(&self, ty: Ty<'c>, align: u32) -> Value<'c> {
        let room = self.allocas.alloca(ty, align);
        self.allocas.store(ty.zero(), room, align);
        room
    }

    /// The number of lanes.
    fn lanes(&self) -> u32 {
        self.vector.lanes.unwrap_or(1)
    }

    /// The place of a register that a statement reads or writes.
    pub(crate) fn place(&mut self, statement: StmtId, reg: Reg, is_written: bool) -> Option<Place<'c>> {
        let bits = self.analyses.register_bits(reg);
        let scalar = self.vector.context().int(bits);
        let starts_as_zero = self.analyses.starts_as_zero(reg);
        match &mut self.places {
            Places::Registers(places) => {
                let room = places[reg].get_or_insert_with(|| new_room(&self.allocas, scalar, starts_as_zero));
                Some(Place { address: room.address, affine: None, subwarp_affine: None, groups: None, constant: None })
            }
            Places::Webs(_) => {
                let uniformity = self.analyses.uniformity.as_ref().expect("webs come from the analysis");
                let web =
                    if is_written { uniformity.written(statement, reg) } else { uniformity.read(statement, reg) }?;
                Some(self.place_of_web(web, bits))
            }
        }
    }

    /// The place of a web.
    pub(crate) fn place_of_web(&mut self, web: Web, bits: u32) -> Place<'c> {
        let scalar = self.vector.context().int(bits);
        let uniformity = self.analyses.uniformity.as_ref().expect("webs come from the analysis");
        let value = uniformity.value(web);
        let affine = self.analyses.is_affine(value, bits).then_some(*value);
        let groups = self.analyses.subwarp_affine.get(&web).copied();
        let subwarp_affine = groups.map(|_| *value);
        let ty = match (affine, groups) {
            (Some(_), _) => scalar,
            (None, Some(groups)) => scalar.vector(groups),
            (None, None) => scalar.vector(self.lanes()),
        };
        let starts_as_zero = self.analyses.starts_as_zero(uniformity.reg_of(web));
        let Places::Webs(places) = &mut self.places else {
            unreachable!("threads that run on their own have registers, not webs")
        };
        let room = places[web].get_or_insert_with(|| new_room(&self.allocas, ty, starts_as_zero));
        let constant = affine.and_then(|value| value.constant()).filter(|_| !starts_as_zero);
        Place { address: room.address, affine, subwarp_affine, groups, constant }
    }

    /// Where a web is, and its type.
    pub(crate) fn room_of_web(&mut self, web: Web, bits: u32) -> (Value<'c>, Ty<'c>) {
        self.place_of_web(web, bits);
        let Places::Webs(places) = &self.places else { unreachable!("threads that run on their own have no webs") };
        let room = places[web].as_ref().expect("it was just made");
        (room.address, room.ty)
    }

    /// Makes all registers zero that are zero at the start of the function.
    pub(crate) fn zero_all(&self) {
        let Places::Webs(places) = &self.places else { unreachable!("threads that run on their own have no webs") };
        let builder = self.vector.builder;
        for room in places.values().flatten().filter(|room| room.is_zeroed) {
            builder.store(room.ty.zero(), room.address, register_align(room.ty));
        }
        builder.store(self.vector.bool().zero(), self.carry, 4);
    }

    /// Makes the place of a register that a statement writes start as zero: lanes that have not written it keep what is
    /// there, and compute with it, although nobody looks at the result.
    pub(crate) fn zero_written(&mut self, statement: StmtId, reg: Reg) {
        let uniformity = self.analyses.uniformity.as_ref().expect("nobody else needs the registers of a thread");
        let Some(web) = uniformity.written(statement, reg) else { return };
        let Places::Webs(places) = &mut self.places else {
            unreachable!("threads that run on their own have registers, not webs")
        };
        let room = places[web].as_mut().expect("the web has a place");
        if !room.is_zeroed {
            self.allocas.store(room.ty.zero(), room.address, register_align(room.ty));
            room.is_zeroed = true;
        }
    }

    /// Writes the place of a register at width 1.
    pub(crate) fn store(&mut self, reg: Reg, value: Value<'c>) {
        let ty = self.vector.context().int(self.analyses.register_bits(reg));
        let starts_as_zero = self.analyses.starts_as_zero(reg);
        let Places::Registers(places) = &mut self.places else { unreachable!("the lanes of a warp have webs") };
        let room = places[reg].get_or_insert_with(|| new_room(&self.allocas, ty, starts_as_zero));
        self.vector.builder.store(value, room.address, register_align(ty));
    }

    /// What a place holds, in a shape that has as many lanes or more.
    pub(crate) fn load(&self, place: Place<'c>, bits: u32, emit: Emit<'a, 'c>) -> Value<'c> {
        if let Some(constant) = place.constant {
            return emit.int(bits).constant(constant);
        }
        let scalar = self.vector.context().int(bits);
        let align = self.align(place, bits);
        if let Some(subwarp_affine) = place.subwarp_affine {
            let bases = emit.load(scalar.vector(place.lanes(self.lanes())), place.address, align);
            return self.spread(bases, &subwarp_affine, emit);
        }
        let Some(affine) = place.affine else {
            let ty = self.vector.shaped(scalar);
            return emit.load(ty, place.address, align);
        };
        let base = emit.load(scalar, place.address, align);
        match emit.lanes {
            None => base,
            Some(_) => self.add_offsets(emit.broadcast(base), &affine, emit),
        }
    }

    /// The alignment of a place that holds so many bits for each of its lanes.
    pub(crate) fn align(&self, place: Place<'c>, bits: u32) -> u32 {
        let bytes = bits.div_ceil(8).next_power_of_two();
        let lanes = place.lanes(self.lanes());
        (bytes * lanes).clamp(1, 64)
    }

    /// A register that is kept for groups of lanes, in a shape that has as many lanes or more.
    fn spread(&self, bases: Value<'c>, value: &LaneValue, emit: Emit<'a, 'c>) -> Value<'c> {
        let (groups, lanes) = (bases.ty().lanes().unwrap_or(1), emit.lanes.unwrap_or(1));
        if groups == lanes {
            return bases;
        }
        debug_assert!(groups < lanes, "a register is not read for fewer groups than it has");
        let order: Vec<u32> = (0..lanes).map(|lane| lane * groups / lanes).collect();
        let spread = emit.shuffle(bases, bases, &order);
        self.add_offsets(spread, value, emit)
    }

    /// Adds to a number what lanes add to that of the first of their group.
    fn add_offsets(&self, bases: Value<'c>, value: &LaneValue, emit: Emit<'a, 'c>) -> Value<'c> {
        let element = bases.ty().element();
        let numbers = self.first_lanes_in(emit);
        if numbers.iter().all(|&lane| value.offset(lane) == 0) {
            return bases;
        }
        let offsets: Vec<_> = numbers.into_iter().map(|lane| element.constant(value.offset(lane) as u64)).collect();
        emit.add(bases, Value::vector_constant(&offsets))
    }

    /// The numbers of the lanes that a shape computes for.
    pub(crate) fn first_lanes_in(&self, emit: Emit<'a, 'c>) -> Vec<u32> {
        let lanes = emit.lanes.unwrap_or(1);
        (0..lanes).map(|lane| lane * self.lanes() / lanes).collect()
    }
}

fn new_room<'c>(allocas: &Builder<'c>, ty: Ty<'c>, is_zeroed: bool) -> Room<'c> {
    let address = allocas.alloca(ty, register_align(ty));
    if is_zeroed {
        allocas.store(ty.zero(), address, register_align(ty));
    }
    Room { address, ty, is_zeroed }
}

/// The alignment of the place of a register.
pub(crate) fn register_align(ty: Ty<'_>) -> u32 {
    let bytes = ty.bits().div_ceil(8).next_power_of_two();
    (bytes * ty.lanes().unwrap_or(1)).clamp(1, 64)
}
