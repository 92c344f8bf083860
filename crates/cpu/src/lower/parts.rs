//! Loads and stores of several elements by each lane: `ld.v4`.
//!
//! What fits into one word is accessed as one word, of which the elements are parts. Of larger ones, neighbouring lanes
//! mostly access neighbouring elements: all are accessed together, and sorted in registers. Else it is one access for each
//! element.

use ptx::ir::Operand;
use ptx::types::Type;

use super::function::Lowering;
use super::memory::Address;
use crate::emit::Sign;
use crate::llvm::Value;

/// Bits of a word that a processor gathers.
const WORD: u32 = 64;

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

    /// Where all lanes together start, if each accesses so many bytes behind those of the lane before. Nothing for a single
    /// word.
    fn start_of_all(&self, address: &Address<'c>, bytes: u32) -> Option<Value<'c>> {
        match address {
            Address::Regular(spot, _) if bytes * 8 > WORD && address.is_contiguous(bytes) => {
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
