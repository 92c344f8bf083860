//! Loads and stores of several elements by each lane: `ld.v4`.
//!
//! What fits into one word is accessed as one word, of which the elements are parts. Of larger ones, neighbouring lanes
//! mostly access neighbouring elements: all are accessed together, and sorted in registers. Else it is one access for each
//! element. But what is ordered is one access for each lane: other blocks must not see the half of it, because programs
//! hand on values together with the word that says that they are there, as the scans of CUB do.

use ptx::ir::Operand;
use ptx::types::Type;

use super::address::Address;
use super::function::Lowering;
use crate::emit::Sign;
use crate::llvm::{Ty, Value};

/// Bits of a word that a processor gathers.
const WORD: u32 = 64;
/// Bits that a processor accesses at once, if they are aligned.
const AT_ONCE: u32 = 128;

impl<'c> Lowering<'_, '_, 'c> {
    /// Loads the elements of a type that operands stand for; nothing for those that nobody wants.
    pub(crate) fn load_parts(
        &mut self,
        address: &Address<'c>,
        parts: &[Operand],
        ty: Type,
        is_ordered: bool,
    ) -> Vec<Option<Value<'c>>> {
        let (bits, count) = (ty.bits(), parts.len() as u32);
        let int = self.unit.context().int(bits);
        let is_wanted = |part: &Operand| !matches!(part, Operand::Sink);
        if count > 1 && bits * count <= WORD {
            let word = self.load(self.unit.context().int(bits * count), address, is_ordered);
            let emit = self.emit_like(word);
            let part = |(index, part): (usize, &Operand)| {
                let moved = || emit.lshr(word, word.ty().constant(u64::from(bits) * index as u64));
                is_wanted(part).then(|| emit.resize(Sign::Unsigned, moved(), bits))
            };
            return parts.iter().enumerate().map(part).collect();
        }
        if is_ordered && bits * count == AT_ONCE {
            let values = self.load_at_once(address, int, count);
            return parts.iter().zip(values).map(|(part, value)| is_wanted(part).then_some(value)).collect();
        }
        if let Some(start) = self.start_of_all(address, bits / 8 * count) {
            let active = self.active();
            let lanes = self.interleaved(&vec![active; parts.len()]);
            let all = self.load_words(int.vector(self.lanes() * count), start, lanes);
            let part = |(index, part): (usize, &Operand)| {
                let order: Vec<u32> = (0..self.lanes()).map(|lane| lane * count + index as u32).collect();
                is_wanted(part).then(|| self.unit.builder.shuffle(all, all, &order))
            };
            return parts.iter().enumerate().map(part).collect();
        }
        let one = |(index, part): (usize, &Operand)| {
            let at = address.offset(self.scalar(), i64::from(ty.bytes()) * index as i64);
            is_wanted(part).then(|| self.load(int, &at, is_ordered))
        };
        parts.iter().enumerate().map(one).collect()
    }

    /// Stores the elements of a type that operands stand for.
    pub(crate) fn store_parts(&mut self, address: &Address<'c>, parts: &[Operand], ty: Type, is_ordered: bool) {
        let (bits, count) = (ty.bits(), parts.len() as u32);
        let is_uniform = matches!(address, Address::Uniform(_)) && parts.iter().all(|part| self.is_uniform(part));
        let emit = if is_uniform { self.scalar() } else { self.vector() };
        let values: Vec<Value<'c>> = parts.iter().map(|part| self.read(part, bits, emit)).collect();
        if count > 1 && bits * count <= WORD {
            let mut word = emit.int(bits * count).zero();
            for (index, value) in values.into_iter().enumerate() {
                let value = emit.resize(Sign::Unsigned, value, bits * count);
                let place = word.ty().constant(u64::from(bits) * index as u64);
                word = emit.or(word, emit.shl(value, place));
            }
            return self.store(address, word, is_ordered);
        }
        if is_ordered && bits * count == AT_ONCE {
            return self.store_at_once(address, &values);
        }
        if let Some(start) = self.start_of_all(address, bits / 8 * count) {
            let active = self.active();
            let lanes = self.interleaved(&vec![active; parts.len()]);
            let all = self.interleaved(&values);
            return self.store_words(start, all, lanes);
        }
        for (index, value) in values.into_iter().enumerate() {
            let at = address.offset(self.scalar(), i64::from(ty.bytes()) * index as i64);
            self.store(&at, value, is_ordered);
        }
    }

    /// Loads elements of a type that follow each other, those of a lane at once.
    fn load_at_once(&mut self, address: &Address<'c>, int: Ty<'c>, count: u32) -> Vec<Value<'c>> {
        let builder = self.unit.builder;
        if matches!(address, Address::Uniform(_)) {
            let all = self.load(int.vector(count), address, true);
            let index = self.unit.context().int(32);
            let element = |element| builder.extract_element(all, index.constant(u64::from(element)));
            return (0..count).map(element).collect();
        }
        let (bytes, ty) = (int.bits() / 8, self.vector().int(int.bits()));
        let rooms: Vec<Value<'c>> = (0..count).map(|_| self.alloca(ty, 16)).collect();
        for &room in &rooms {
            builder.store(ty.zero(), room, 16);
        }
        let active = self.active();
        let addresses = self.addresses(address);
        self.for_each_lane(active, |this, lane| {
            let (scalar, pointer) = (this.scalar(), this.unit.context().pointer());
            let from = scalar.int_to_ptr(this.lane_value(addresses, lane), pointer);
            let all = scalar.volatile_load(int.vector(count), from, AT_ONCE / 8);
            let lane = scalar.zext(lane, this.unit.context().int(64));
            for (element, &room) in rooms.iter().enumerate() {
                let element = this.unit.context().int(32).constant(element as u64);
                let place = scalar.offset(room, scalar.mul(lane, lane.ty().constant(u64::from(bytes))));
                scalar.store(scalar.extract_element(all, element), place, bytes);
            }
        });
        rooms.iter().map(|&room| builder.load(ty, room, 16)).collect()
    }

    /// Stores values that follow each other, those of a lane at once.
    fn store_at_once(&mut self, address: &Address<'c>, values: &[Value<'c>]) {
        let active = self.active();
        let addresses = self.addresses(address);
        let ty = values[0].ty().element().vector(values.len() as u32);
        self.for_each_lane(active, |this, lane| {
            let scalar = this.scalar();
            let mut all = ty.zero();
            for (element, &value) in values.iter().enumerate() {
                let index = this.unit.context().int(32).constant(element as u64);
                all = scalar.insert_element(all, this.lane_value(value, lane), index);
            }
            let to = scalar.int_to_ptr(this.lane_value(addresses, lane), this.unit.context().pointer());
            scalar.volatile_store(all, to, AT_ONCE / 8);
        });
    }

    /// Where all lanes together start, if each accesses so many bytes after those of the lane before. Nothing for a single
    /// word.
    fn start_of_all(&self, address: &Address<'c>, bytes: u32) -> Option<Value<'c>> {
        match address {
            Address::Affine(spot, _) if bytes * 8 > WORD && address.is_contiguous(bytes) => {
                Some(spot.pointer(self.scalar()))
            }
            _ => None,
        }
    }

    /// What the first lane has of each value, then the second, and so on.
    fn interleaved(&self, values: &[Value<'c>]) -> Value<'c> {
        let builder = self.unit.builder;
        if values.iter().all(|value| value.is_all_ones()) {
            let count = self.lanes() * values.len() as u32;
            return values[0].ty().element().vector(count).all_ones();
        }
        let joined = self.scalar().beside_each_other(values);
        let count = values.len() as u32;
        let order: Vec<u32> =
            (0..self.lanes() * count).map(|index| index % count * self.lanes() + index / count).collect();
        builder.shuffle(joined, joined, &order)
    }
}
