//! Matrices whose fragments only the device knows (`wmma`).
//!
//! The manual does not say which lane has which element of such a fragment, and devices differ. So the device is asked: the
//! instruction that loads or stores a matrix loads or stores its shadow, too; and which elements of a product depend on
//! something undefined is a product itself, of matrices that have ones where an element is undefined with matrices of ones.

use ptx::ir::{Guard, Operand, Reg};
use ptx::types::{Space, Type};
use ptx::view::AccessSpace;
use rewrite::{Access, Definition};

use super::matrix::WARP;
use super::may_be_undefined;
use crate::memcheck::shadows::{Compute, DEFINED, is_defined};

/// A register full of ones, as numbers of a type; nothing for types that are not followed.
fn ones(ty: Type) -> Option<u64> {
    Some(match ty {
        Type::F16 => 0x3c00_3c00,
        Type::Bf16 => 0x3f80_3f80,
        Type::F32 | Type::Tf32 => 0x3f80_0000,
        Type::F64 => 0x3ff0_0000_0000_0000,
        Type::S32 => 1,
        Type::S8 | Type::U8 => 0x0101_0101,
        Type::S4 | Type::U4 => 0x1111_1111,
        Type::B1 => 0xffff_ffff,
        _ => return None,
    })
}

/// How many bits an element has in a register.
fn element_bits(ty: Type) -> u32 {
    if ty == Type::Tf32 { 32 } else { ty.bits() }
}

/// The same pattern in the lowest bits of each element of a register of 32 bits.
fn in_each(element: u32, pattern: u64) -> u64 {
    (0..32 / element).fold(0, |all, nth| all | pattern << (nth * element))
}

/// The types of the matrices d, a, b and c of a product.
fn types_of(types: &[Type]) -> Option<[Type; 4]> {
    match *types {
        [d, c] => Some([d, Type::F16, Type::F16, c]),
        [d, a, b, c] => Some([d, a, b, c]),
        _ => None,
    }
}

impl Compute<'_, '_, '_> {
    /// The spelling of a load or store, with its addresses in another space: `.global`, or nothing for generic ones.
    fn wmma_in(&mut self, access: &Access, space: &str) -> Option<String> {
        let view = self.at.editor().view(access.stmt)?;
        let (head, ty) = view.form.spelling().rsplit_once('.')?;
        let spaces = [".global", ".shared::cta", ".shared"];
        let head = spaces.iter().find_map(|space| head.strip_suffix(space)).unwrap_or(head);
        Some(format!("{head}{space}.{ty}"))
    }

    /// The stride of a load or store, if it says one.
    fn wmma_stride(&mut self, access: &Access) -> Option<Operand> {
        self.at.editor().view(access.stmt)?.operands().get(2).copied()
    }

    /// Registers of the types of others, which hold some bits.
    fn like(&mut self, operands: &[Operand], bits: &[Operand]) -> Vec<Reg> {
        let mut copies = Vec::new();
        for (operand, &bits) in operands.iter().filter_map(|element| element.as_reg()).zip(bits) {
            let ty = self.at.editor().function().reg_type(operand);
            let copy = self.at.reg(ty);
            self.at.before().inst(&format!("mov.b{}", ty.bits()), &[copy.into(), bits]);
            copies.push(copy);
        }
        copies
    }

    /// Fragments of one register are vectors, too.
    fn vector_of(&mut self, regs: &[Reg]) -> Operand {
        let operands: Vec<Operand> = regs.iter().copied().map(Operand::Reg).collect();
        self.at.before().vector(&operands)
    }

    /// A guard for what all lanes do together, which they do where it holds for all.
    fn where_all(&mut self, guard: Option<Guard>) -> Option<Guard> {
        let guard = guard?;
        let holds = if guard.negated { Operand::Not(guard.reg) } else { guard.reg.into() };
        let all = self.at.reg(Type::Pred);
        self.at.before().inst("vote.sync.all.pred", &[all.into(), holds, WARP]);
        Some(Guard::when(all))
    }

    /// The lanes of a warp load a matrix together.
    pub(super) fn wmma_load(&mut self, access: &Access) {
        let Some((_, elements)) = self.elements(access.stmt, 0) else { return };
        let is_shadowed = |reg: &Reg| self.shadows.of.contains_key(reg);
        if !elements.iter().filter_map(|element| element.as_reg()).any(|reg| is_shadowed(&reg))
            || !may_be_undefined::is_followed(access.access.space, self.shadows.follows)
        {
            return;
        }
        let address = self.at.generic_address(access);
        let place = self.loaded_place(access.access.space, address);
        let spelling = place.as_ref().and_then(|place| self.wmma_in(access, place.space));
        let (Some(place), Some(spelling)) = (place, spelling) else {
            return elements
                .iter()
                .filter_map(|element| element.as_reg())
                .for_each(|reg| self.set(reg, DEFINED, access.guard));
        };
        let loaded = self.like(&elements, &vec![DEFINED; elements.len()]);
        let mut operands = vec![self.vector_of(&loaded), Operand::RegAddress(place.address, 0)];
        operands.extend(self.wmma_stride(access));
        let guard = self.where_all(place.within);
        self.at.before().inst_if(guard, &spelling, &operands);
        let mut parts = Vec::new();
        for (reg, loaded) in elements.iter().filter_map(|element| element.as_reg()).zip(loaded) {
            let bits = self.bits(reg);
            parts.push((reg, self.inst(&format!("mov.b{bits}"), bits, &[loaded.into()])));
        }
        self.set_loaded(access, address, &parts);
    }

    /// The lanes of a warp store a matrix together; whether something in it may be undefined, and is followed.
    pub(super) fn wmma_store(&mut self, access: &Access) -> bool {
        let Some((_, elements)) = self.elements(access.stmt, 1) else { return false };
        let shadows: Vec<Operand> = elements.iter().map(|element| self.of(*element)).collect();
        if shadows.iter().all(|shadow| is_defined(*shadow)) {
            return false;
        }
        let address = self.at.generic_address(access);
        let Some(place) = self.place(access.access.space, address) else { return true };
        let Some(spelling) = self.wmma_in(access, place.space) else { return false };
        let any = self.any_of(elements.iter().filter_map(|element| element.as_reg()));
        let stored = self.like(&elements, &shadows);
        let mut operands = vec![Operand::RegAddress(place.address, 0), self.vector_of(&stored)];
        operands.extend(self.wmma_stride(access));
        let guard = self.where_all(place.within);
        self.at.before().inst_if(guard, &spelling, &operands);
        if access.access.space != AccessSpace::State(Space::Shared) {
            self.became_undefined(access, any, &place);
        }
        true
    }

    /// A pattern in each element of a register in which some bit is one.
    fn in_each_undefined(&mut self, ty: Type, bits: u32, shadow: Operand, pattern: u64) -> Operand {
        if is_defined(shadow) {
            return DEFINED;
        }
        let element = element_bits(ty);
        if element >= 32 {
            let any = self.is_any(bits, shadow);
            let pattern = Operand::Hex(pattern);
            return self.inst(&format!("selp.b{bits}"), bits, &[pattern, 0.into(), any.into()]);
        }
        let mut found = shadow;
        let mut step = element / 2;
        while step > 0 {
            let shifted = self.inst("shr.u32", 32, &[found, i64::from(step).into()]);
            found = self.or(32, found, shifted);
            found = self.and(32, found, Operand::Hex(in_each(element, (1 << step) - 1)));
            step /= 2;
        }
        match pattern {
            1 => found,
            pattern => self.inst("mul.lo.u32", 32, &[found, Operand::Hex(pattern)]),
        }
    }

    /// A matrix that has ones where elements of another are undefined.
    fn marks(&mut self, elements: &[Operand], ty: Type, ones: u64) -> Vec<Reg> {
        let one = ones & u64::MAX >> (64 - element_bits(ty));
        let mut marks = Vec::new();
        for element in elements {
            let bits = element.as_reg().map_or(32, |reg| self.bits(reg));
            let shadow = self.of(*element);
            marks.push(self.in_each_undefined(ty, bits, shadow, one));
        }
        self.like(elements, &marks)
    }

    /// A product of fragments: an element is undefined where its row of the first factor, its column of the second, or what is
    /// added to it has something undefined.
    pub(super) fn wmma_product(
        &mut self,
        spelling: &str,
        types: &[Type],
        operands: &[Operand],
        definition: &Definition,
    ) -> Vec<(Reg, Operand)> {
        let defined = || definition.regs.iter().map(|reg| (*reg, DEFINED)).collect();
        let (Some(types), &[d, a, b, c, ..]) = (types_of(types), operands) else { return defined() };
        let [Some(_), Some(of_first), Some(of_second), Some(of_added)] = types.map(ones) else { return defined() };
        let [results, first, second, added] = [d, a, b, c].map(|operand| self.elements_of(operand));
        let any = self.any_of(first.iter().chain(&second).chain(&added).filter_map(|element| element.as_reg()));
        if is_defined(any) {
            return defined();
        }
        // Where all is defined, nothing is multiplied.
        let (is_any, in_warp) = (self.is_any(32, any), self.at.reg(Type::Pred));
        self.at.before().inst("vote.sync.any.pred", &[in_warp.into(), is_any.into(), WARP]);
        if definition.guard.is_some() {
            self.at.and_guard(in_warp, in_warp, definition.guard);
        }
        // Bits that differ are counted of ones and zeros, bits that are ones both of ones and ones.
        let differ = spelling.contains(".xor.");
        let neutral = |ones: u64| if differ { 0 } else { ones };
        let full = |compute: &mut Self, elements: &[Operand], ones: u64| {
            compute.like(elements, &vec![Operand::Hex(ones); elements.len()])
        };
        let rows = {
            let marked = self.marks(&first, types[1], of_first);
            let [all, sums] = [full(self, &second, neutral(of_second)), self.marks(&added, types[3], of_added)];
            self.multiplied_if(spelling, in_warp, &results, [&marked, &all, &sums])
        };
        let columns = {
            let all = full(self, &first, neutral(of_first));
            let [marked, sums] = [self.marks(&second, types[2], of_second), full(self, &added, 0)];
            self.multiplied_if(spelling, in_warp, &results, [&all, &marked, &sums])
        };
        let mut shadows = Vec::new();
        let all_bits = u64::MAX >> (64 - element_bits(types[0]));
        for ((&result, row), column) in results.iter().zip(rows).zip(columns) {
            let Some(reg) = result.as_reg() else { continue };
            let bits = self.bits(reg);
            let [row, column] = [row, column].map(|part| self.inst(&format!("mov.b{bits}"), bits, &[part.into()]));
            let either = self.or(bits, row, column);
            shadows.push((reg, self.in_each_undefined(types[0], bits, either, all_bits)));
        }
        shadows
    }

    /// The product of matrices where a predicate holds, else zeros.
    fn multiplied_if(&mut self, spelling: &str, holds: Reg, results: &[Operand], factors: [&[Reg]; 3]) -> Vec<Reg> {
        let product = self.like(results, &vec![DEFINED; results.len()]);
        let mut operands = vec![self.vector_of(&product)];
        operands.extend(factors.map(|factor| self.vector_of(factor)));
        self.at.before().guarded(Guard::when(holds), spelling, &operands);
        product
    }
}
