//! Accesses to memory, and to the shadow of it.
//!
//! Every byte of memory has a byte of shadow, at a fixed distance, and every access of the program has one of the same size to
//! it. So neighbours never share anything that they do not share in the program, and shadows are as exact as what they are
//! shadows of, whoever runs when.

use ptx::analysis::{PointerValue, Root};
use ptx::edit::Editor;
use ptx::ir::{Guard, Operand, Reg, Stmt, StmtId};
use ptx::ops::{Effect, Mod, Op};
use ptx::types::{Space, Type, TypeKind};
use ptx::view::{AccessBytes, AccessKind, AccessSpace};
use rewrite::Access;
use rustc_hash::FxHashMap;

use super::{matrix, may_be_undefined, origin};
use crate::memcheck::allowed::AllowedLanes;
use crate::memcheck::check::compare;
use crate::memcheck::shadows::{Compute, DEFINED, SharedShadow, bits_type, is_defined};
use crate::memcheck::version::Follows;
use crate::memcheck::{ARENA, ARENA_BYTES, DEFINED_DISTANCE};
use crate::memcheck::{rows, slots};

/// Where the shadow of an access is.
pub(super) struct Place {
    /// Its address.
    pub(super) address: Reg,
    /// Where there is one and the access takes place; everywhere if nothing is said.
    pub(super) within: Option<Guard>,
    /// How it is accessed: `.global`, `.local`, or nothing for a generic address.
    pub(super) space: &'static str,
}

/// How atomics change the shadow of what they access: `device.ptx` has the same numbers.
const EXCHANGE: i64 = 0;
const COMPARE: i64 = 1;
const UNITE: i64 = 2;
const CARRY: i64 = 3;
const SPREAD: i64 = 4;
/// The shadow has 64 bits.
const LONG: i64 = 8;

impl Compute<'_, '_, '_> {
    /// Follows an access of the program, after its guard says where it takes place.
    pub(super) fn access(&mut self, access: &Access) {
        let Some(op) = self.at.editor().view(access.stmt).and_then(|view| view.op()) else { return };
        match op {
            Op::Ld | Op::Ldu => self.load(access),
            Op::St => self.store(access),
            Op::Atom | Op::Red => self.atomic(access),
            Op::CpAsync if access.access.kind == AccessKind::Read => self.asynchronous_copy(access),
            Op::CpAsyncBulk if access.access.kind == AccessKind::Read => self.bulk_copy(access),
            Op::StBulk => self.bulk_store(access),
            Op::Ldmatrix => self.fragments_load(access),
            Op::WmmaLoadA | Op::WmmaLoadB | Op::WmmaLoadC => self.wmma_load(access),
            Op::WmmaStoreD if self.wmma_store(access) => {}
            Op::WmmaStoreD | Op::Stmatrix if access.access.kind == AccessKind::Write => {
                match self.moves_matrices(access) {
                    Some(transposed) => self.fragments_store(access, transposed),
                    None => self.matrix_store(access),
                }
            }
            _ => {}
        }
    }

    /// Where the shadow of an address is that a load looks at.
    pub(super) fn loaded_place(&mut self, space: AccessSpace, address: Reg) -> Option<Place> {
        let is_global_left_out = self.shadows.follows == Follows::Shared;
        match (space, self.shadows.shared) {
            (AccessSpace::Generic, SharedShadow::No) if is_global_left_out => None,
            (AccessSpace::Generic, _) if is_global_left_out => {
                let (within, distance) = (self.is_in_shared(address), self.shared_distance());
                Some(self.place_at(address, distance, Some(within), self.space_of_shadow()))
            }
            _ => self.place(space, address),
        }
    }

    /// Where the shadow of an address is.
    pub(super) fn place(&mut self, space: AccessSpace, address: Reg) -> Option<Place> {
        let shared = self.shadows.shared;
        let of_arena = |compute: &mut Self| {
            let [start, bytes] = [compute.at.word(ARENA), compute.at.word(ARENA_BYTES)];
            compute.is_within(address, start, bytes)
        };
        let (distance, within, of_shadow) = match (space, shared) {
            (AccessSpace::State(Space::Shared), SharedShadow::No) => return None,
            (AccessSpace::State(Space::Shared), SharedShadow::Yes) => {
                (self.shared_distance(), None, self.space_of_shadow())
            }
            (AccessSpace::State(Space::Shared), SharedShadow::Unknown) => {
                (self.shared_distance(), Some(self.is_in_shared(address)), self.space_of_shadow())
            }
            (AccessSpace::State(Space::Global), _) => {
                // Nearly all memory of kernels is that of the device: that is speculated on, too.
                let [start, bytes] = [self.at.word(ARENA), self.at.word(ARENA_BYTES)];
                let distance = self.at.word(DEFINED_DISTANCE);
                let (guard, [offset, shadow]) = (self.at.guard(), [(); 2].map(|()| self.at.reg(Type::B64)));
                self.at.before().inst("sub.u64", &[offset.into(), address.into(), start.into()]);
                let [outside, within] = compare(self.at, "ge", "u64", offset, bytes.into(), None, guard);
                self.at.call(Some(Guard::when(outside)), "warpgrind_undefined_nowhere", &[], &[]);
                self.at.before().inst("add.u64", &[shadow.into(), address.into(), distance.into()]);
                return Some(Place { address: shadow, within: Some(Guard::when(within)), space: ".global" });
            }
            (AccessSpace::Generic, SharedShadow::No) => {
                (self.at.word(DEFINED_DISTANCE), Some(of_arena(self)), ".global")
            }
            (AccessSpace::Generic, _) => {
                let (arena, windows) = (of_arena(self), self.is_in_shared(address));
                let distances = [self.at.word(DEFINED_DISTANCE), self.shared_distance()];
                let distance = self.at.reg(Type::B64);
                let operands = [distance.into(), distances[0].into(), distances[1].into(), arena.into()];
                self.at.before().inst("selp.b64", &operands);
                let either = self.at.reg(Type::Pred);
                self.at.before().inst("or.pred", &[either.into(), arena.into(), windows.into()]);
                (distance, Some(either), self.space_of_shadow())
            }
            _ => return None,
        };
        Some(self.place_at(address, distance, within, of_shadow))
    }

    /// The shadow of an address is so far from it, where there is one.
    fn place_at(&mut self, address: Reg, distance: Reg, within: Option<Reg>, space: &'static str) -> Place {
        let (shadow, guard) = (self.at.reg(Type::B64), self.at.guard());
        self.at.before().inst("add.u64", &[shadow.into(), address.into(), distance.into()]);
        let within = match (within, guard) {
            (None, guard) => guard,
            (Some(within), guard) => {
                if guard.is_some() {
                    self.at.and_guard(within, within, guard);
                }
                Some(Guard::when(within))
            }
        };
        Place { address: shadow, within, space }
    }

    /// Where the shadow of an access to local memory is, if it is to a variable that is followed.
    fn local_place(&mut self, access: &Access) -> Option<Place> {
        let PointerValue::Pointer { root: Root::Var(var), .. } = access.pointer else { return None };
        let distance = *self.shadows.locals.get(&var)?;
        let address = self.at.address(access);
        let address = self.at.widened_address(address);
        let space = if access.access.space == AccessSpace::Generic { "" } else { ".local" };
        Some(self.place_at(address, distance, None, space))
    }

    pub(super) fn is_within(&mut self, address: Reg, start: Reg, bytes: Reg) -> Reg {
        let (offset, within) = (self.at.reg(Type::B64), self.at.reg(Type::Pred));
        self.at.before().inst("sub.u64", &[offset.into(), address.into(), start.into()]);
        self.at.before().inst("setp.lt.u64", &[within.into(), offset.into(), bytes.into()]);
        within
    }

    /// The type of an instruction that accesses memory, and its elements.
    pub(super) fn elements(&mut self, stmt: StmtId, operand: usize) -> Option<(Type, Vec<Operand>)> {
        let view = self.at.editor().view(stmt)?;
        let ty = *view.form.types().last()?;
        let elements = match *view.operands().get(operand)? {
            Operand::Vector(list) => view.body.operands(list).to_vec(),
            element => vec![element],
        };
        Some((ty, elements))
    }

    /// Loads the shadow of what is loaded. Most of what correct programs load is defined, so that it is all zeros is speculated
    /// on: what is not comes from a function that is rarely called. Loads through one pointer that follow one another are
    /// looked at together.
    fn load(&mut self, access: &Access) {
        if let Some(shadows) = self.shadows.loaded.remove(&access.stmt) {
            return shadows.into_iter().for_each(|(reg, shadow)| self.set(reg, shadow, access.guard));
        }
        let Some((_, elements)) = self.elements(access.stmt, 0) else { return };
        let is_followed = |element: &Operand| element.as_reg().is_some_and(|reg| self.shadows.of.contains_key(&reg));
        let is_local = self.shadows.local_loads.contains(&access.stmt);
        if !elements.iter().any(is_followed)
            || !is_local && !may_be_undefined::is_followed(access.access.space, self.shadows.follows)
        {
            return;
        }
        let address = self.at.generic_address(access);
        let place = match is_local {
            true => self.local_place(access),
            false => self.loaded_place(access.access.space, address),
        };
        let Some(place) = place else {
            return elements
                .iter()
                .filter_map(|element| element.as_reg())
                .for_each(|reg| self.set(reg, DEFINED, access.guard));
        };
        let mut loads = vec![(*access, self.load_shadow(access, &place, 0, place.within))];
        for (member, distance) in self.together_with(access) {
            let within = self.allowed(&member, place.within);
            loads.push((member, self.load_shadow(&member, &place, distance, within)));
        }
        let mut any = DEFINED;
        for &(_, bits, part) in loads.iter().flat_map(|(_, parts)| parts) {
            let of_part = self.any32(bits, part.into());
            any = self.or(32, any, of_part);
        }
        let bad = self.at.reg(Type::Pred);
        self.at.before().inst("setp.ne.b32", &[bad.into(), any, 0.into()]);
        match is_local {
            true => self.came_from(access, Operand::Hex(origin::LOCAL), bad),
            false => self.came_from(access, address.into(), bad),
        }
        for (member, parts) in loads {
            let mut shadows = Vec::new();
            for (reg, bits, part) in parts {
                if let Some(reg) = reg {
                    shadows.push((reg, self.if_bad(bits, part, bad)));
                }
            }
            if member.stmt == access.stmt {
                shadows.into_iter().for_each(|(reg, shadow)| self.set(reg, shadow, access.guard));
            } else {
                self.shadows.loaded.insert(member.stmt, shadows);
            }
        }
    }

    /// The later loads of the group of a load that read memory as it is now, and how far they are from it.
    fn together_with(&mut self, access: &Access) -> Vec<(Access, i32)> {
        let Some(group) = self.at.access_group(access) else { return Vec::new() };
        let Some(first) = group.members.iter().position(|member| member.access.stmt == access.stmt) else {
            return Vec::new();
        };
        let epoch = self.shadows.epochs.get(&access.stmt).copied();
        let mut later = Vec::new();
        for member in &group.members[first + 1..] {
            let of_member = self.shadows.epochs.get(&member.access.stmt).copied();
            let distance = member.offset.checked_sub(group.members[first].offset);
            if epoch.is_some()
                && of_member == epoch
                && let Some(distance) = distance
                && slots::found_before(self.at, &member.access).is_some()
                && later.len() < MOST_TOGETHER
            {
                later.push((member.access, distance));
            }
        }
        later
    }

    /// Where a later load of a group takes place: where the first does, and it is allowed.
    fn allowed(&mut self, member: &Access, within: Option<Guard>) -> Option<Guard> {
        let Some(AllowedLanes::Where { answers, mask }) = slots::found_before(self.at, member) else { return within };
        let (answer, allowed) = (self.and(32, answers.into(), i64::from(mask).into()), self.at.reg(Type::Pred));
        self.at.before().inst("setp.ne.b32", &[allowed.into(), answer, 0.into()]);
        if within.is_some() {
            self.at.and_guard(allowed, allowed, within);
        }
        Some(Guard::when(allowed))
    }

    /// Loads the shadow of what an access loads: for each element its register, and how many bits of shadow are where.
    fn load_shadow(
        &mut self,
        access: &Access,
        place: &Place,
        distance: i32,
        within: Option<Guard>,
    ) -> Vec<(Option<Reg>, u32, Reg)> {
        self.load_parts(access.stmt, place.space, Operand::RegAddress(place.address, distance), within)
    }

    /// The same, from an address.
    pub(super) fn load_parts(
        &mut self,
        stmt: StmtId,
        space: &str,
        from: Operand,
        within: Option<Guard>,
    ) -> Vec<(Option<Reg>, u32, Reg)> {
        let Some((ty, elements)) = self.elements(stmt, 0) else { return Vec::new() };
        let mut parts = Vec::new();
        for element in &elements {
            let reg = element.as_reg();
            let bits = reg.map_or(ty.bits().max(16), |reg| self.bits(reg));
            let part = self.at.reg(bits_type(bits));
            self.at.before().inst(&format!("mov.b{bits}"), &[part.into(), 0.into()]);
            parts.push((reg, bits, part));
        }
        let spelling = format!("ld{space}{}.{}", vector(parts.len()), loaded_type(ty, parts[0].1));
        let operands: Vec<Operand> = parts.iter().map(|(_, _, part)| (*part).into()).collect();
        let mut builder = self.at.before();
        let to = if operands.len() == 1 { operands[0] } else { builder.vector(&operands) };
        builder.inst_if(within, &spelling, &[to, from]);
        parts
    }

    /// A shadow that is zero unless a predicate holds.
    pub(super) fn if_bad(&mut self, bits: u32, shadow: Reg, bad: Reg) -> Operand {
        let wide = if bits == 16 { 32 } else { bits };
        let argument = self.resized(bits, shadow.into(), wide);
        let result = self.at.reg(bits_type(wide));
        self.at.before().inst(&format!("mov.b{wide}"), &[result.into(), 0.into()]);
        let helper = format!("warpgrind_undefined{wide}");
        self.at.call(Some(Guard::when(bad)), &helper, &[result.into()], &[argument]);
        self.resized(wide, result.into(), bits)
    }

    /// Notes where something undefined came from, where a predicate holds.
    pub(super) fn came_from(&mut self, access: &Access, address: Operand, bad: Reg) {
        let Some(origin) = self.shadows.origin else { return };
        let site = Operand::Hex(origin::of_site(self.at.site(access)));
        self.at.before().guarded(Guard::when(bad), "or.b64", &[origin.into(), address, site]);
    }

    /// Stores the shadow of what is stored.
    fn store(&mut self, access: &Access) {
        let Some((ty, elements)) = self.elements(access.stmt, 1) else { return };
        let local = self.local_place(access);
        let is_local = local.is_some();
        let place = match local {
            Some(place) => Some(place),
            None => {
                let address = self.at.generic_address(access);
                self.place(access.access.space, address)
            }
        };
        let Some(place) = place else { return };
        if ty.bits() == 128 {
            return self.define(&place, 16);
        }
        let mut stored = Vec::new();
        let mut any = DEFINED;
        for element in elements {
            let shadow = self.of(element);
            let bits = element.as_reg().map_or(ty.bits().max(16), |reg| self.bits(reg));
            let of_element = self.any32(bits, shadow);
            any = self.or(32, any, of_element);
            stored.push(if is_defined(shadow) { self.zero(bits) } else { shadow });
        }
        let spelling = format!("st{}{}.u{}", place.space, vector(stored.len()), ty.bits().max(8));
        let mut builder = self.at.before();
        let from = if stored.len() == 1 { stored[0] } else { builder.vector(&stored) };
        builder.inst_if(place.within, &spelling, &[Operand::RegAddress(place.address, 0), from]);
        if !is_defined(any) && !is_local && access.access.space != AccessSpace::State(Space::Shared) {
            self.became_undefined(access, any, &place);
        }
    }

    /// Says that there is undefined memory, where a shadow is not zero.
    pub(super) fn became_undefined(&mut self, access: &Access, any: Operand, place: &Place) {
        let bad = self.at.reg(Type::Pred);
        self.at.before().setp(bad.into(), "ne", "b32", [any, 0.into()], place.within);
        let [origin, site] = self.written_by(access);
        self.at.call(Some(Guard::when(bad)), "warpgrind_undefined_memory", &[], &[place.address.into(), origin, site]);
    }

    /// What is noted of who writes something undefined: the origin of the thread, and the site, counted from 1.
    fn written_by(&mut self, access: &Access) -> [Operand; 2] {
        let origin = self.shadows.origin.map_or(Operand::Int(0), Operand::Reg);
        let site = i64::from(self.at.site(access).0) + 1;
        [origin, if site < 1 << origin::SITE_BITS { site.into() } else { 0.into() }]
    }

    pub(super) fn zero(&mut self, bits: u32) -> Operand {
        self.at.at_entry(&format!("mov.b{bits}"), bits_type(bits), &[0.into()]).into()
    }

    /// Says of some bytes that they are defined.
    fn define(&mut self, place: &Place, bytes: u32) {
        let (bits, count) = match bytes {
            0..=8 => (bytes.max(1) * 8, 1),
            _ => (64, bytes / 8),
        };
        let zero = self.zero(if bits == 8 { 16 } else { bits });
        for nth in 0..count {
            let to = Operand::RegAddress(place.address, nth as i32 * 8);
            self.at.before().inst_if(place.within, &format!("st{}.u{bits}", place.space), &[to, zero]);
        }
    }

    /// Whether an instruction moves matrices whose layout is known, and transposes them.
    fn moves_matrices(&mut self, access: &Access) -> Option<bool> {
        let view = self.at.editor().view(access.stmt)?;
        matrix::moves(view.form.spelling())
    }

    /// The lanes of a warp load matrices whose rows are where some of them say.
    fn fragments_load(&mut self, access: &Access) {
        let (Some(transposed), Some((_, elements))) = (self.moves_matrices(access), self.elements(access.stmt, 0))
        else {
            return;
        };
        let own_row = self.at.generic_address(access);
        let fragments = self.fragments(own_row, transposed, access.guard);
        let mut parts = Vec::new();
        for (nth, element) in elements.iter().enumerate() {
            let mut word = DEFINED;
            for (half, address) in self.fragment(&fragments, nth as u32).into_iter().enumerate() {
                let Some(place) = self.loaded_place(access.access.space, address) else { continue };
                let part = self.at.reg(Type::B32);
                let spelling = format!("ld{}.{}", place.space, if transposed { "u16" } else { "b32" });
                self.at.before().inst("mov.b32", &[part.into(), 0.into()]);
                let from = Operand::RegAddress(place.address, 0);
                self.at.before().inst_if(place.within, &spelling, &[part.into(), from]);
                let part = match half {
                    0 => part.into(),
                    _ => self.inst("shl.b32", 32, &[part.into(), 16.into()]),
                };
                word = self.or(32, word, part);
            }
            parts.extend(element.as_reg().map(|reg| (reg, word)));
        }
        self.set_loaded(access, own_row, &parts);
    }

    /// Registers have the shadows that were loaded with them, if anything is undefined there.
    pub(super) fn set_loaded(&mut self, access: &Access, address: Reg, loaded: &[(Reg, Operand)]) {
        let mut any = DEFINED;
        for &(reg, shadow) in loaded {
            let bits = self.bits(reg);
            let of_reg = self.any32(bits, shadow);
            any = self.or(32, any, of_reg);
        }
        if is_defined(any) {
            return loaded.iter().for_each(|&(reg, _)| self.set(reg, DEFINED, access.guard));
        }
        let bad = self.is_any(32, any);
        self.came_from(access, address.into(), bad);
        for &(reg, shadow) in loaded {
            let bits = self.bits(reg);
            let shadow = shadow.as_reg().map_or(DEFINED, |shadow| self.if_bad(bits, shadow, bad));
            self.set(reg, shadow, access.guard);
        }
    }

    /// The lanes of a warp store matrices whose rows are where some of them say.
    fn fragments_store(&mut self, access: &Access, transposed: bool) {
        let Some((_, elements)) = self.elements(access.stmt, 1) else { return };
        let own_row = self.at.generic_address(access);
        let fragments = self.fragments(own_row, transposed, access.guard);
        for (nth, element) in elements.into_iter().enumerate() {
            let shadow = self.of(element);
            let shadow = if is_defined(shadow) { self.zero(32) } else { shadow };
            for (half, address) in self.fragment(&fragments, nth as u32).into_iter().enumerate() {
                let Some(place) = self.place(access.access.space, address) else { continue };
                let part = match half {
                    0 => shadow,
                    _ => self.inst("shr.u32", 32, &[shadow, 16.into()]),
                };
                let spelling = format!("st{}.{}", place.space, if transposed { "u16" } else { "b32" });
                self.at.before().inst_if(place.within, &spelling, &[Operand::RegAddress(place.address, 0), part]);
            }
        }
    }

    /// The lanes of a warp store a matrix together, all of whose elements are defined, or count as such.
    fn matrix_store(&mut self, access: &Access) {
        let first = self.at.generic_address(access);
        let space = access.access.space;
        let (address, bytes, lanes) = match access.access.bytes {
            // Each lane says so of a row; there are 8, 16 or 32 of them.
            AccessBytes::Rows(rows) => (rows::of_lane(self.at, access, first, rows), rows.bytes, 32),
            AccessBytes::Fixed(bytes) => (first, bytes, access.access.lanes),
            AccessBytes::Operand(_) | AccessBytes::Unknown => return,
        };
        let Some(place) = self.place(space, address) else { return };
        // Rows that are not aligned are none that a device can store.
        let (low, is_stored) = (self.at.reg(Type::B64), self.at.reg(Type::Pred));
        self.at.before().inst("and.b64", &[low.into(), address.into(), 7.into()]);
        self.at.before().inst("setp.eq.b64", &[is_stored.into(), low.into(), 0.into()]);
        if lanes < 32 {
            let of_first = rows::of_first_lanes(self.at, access, lanes);
            self.at.and_guard(is_stored, is_stored, of_first.guard);
        }
        if place.within.is_some() {
            self.at.and_guard(is_stored, is_stored, place.within);
        }
        self.define(&Place { within: Some(Guard::when(is_stored)), ..place }, bytes);
    }

    /// Atomics. Where nothing is undefined, nothing becomes undefined.
    fn atomic(&mut self, access: &Access) {
        let Some(view) = self.at.editor().view(access.stmt) else { return };
        let is_atom = view.op() == Some(Op::Atom);
        let operands = view.operands().to_vec();
        let words: Vec<Mod> = view.form.words().collect();
        let Some(&ty) = view.form.types().last() else { return };
        let address = self.at.generic_address(access);
        let result = is_atom.then(|| operands[0].as_reg()).flatten();
        let Some(place) = self.place(access.access.space, address) else {
            result.into_iter().for_each(|reg| self.set(reg, DEFINED, access.guard));
            return;
        };
        let bits = ty.bits();
        let values = &operands[1 + usize::from(is_atom)..];
        if access.access.vector > 1 || !matches!(bits, 32 | 64) {
            // Followed by nobody: what is written counts as defined.
            if let AccessBytes::Fixed(bytes) = access.access.bytes {
                self.define(&place, bytes);
            }
            result.into_iter().for_each(|reg| self.set(reg, DEFINED, access.guard));
            return;
        }
        let has = |word: Mod| words.contains(&word);
        let how = match () {
            () if has(Mod::Exch) => EXCHANGE,
            () if has(Mod::Cas) => COMPARE,
            () if has(Mod::And) || has(Mod::Or) || has(Mod::Xor) => UNITE,
            () if has(Mod::Add) && ty.kind() != TypeKind::Float && ty.kind() != TypeKind::Packed => CARRY,
            () => SPREAD,
        };
        let how = how | if bits == 64 { LONG } else { 0 };
        let stored = self.of(values[if how & 7 == COMPARE { 1 } else { 0 }]);
        let memory = self.at.reg(bits_type(bits));
        self.at.before().inst(&format!("mov.b{bits}"), &[memory.into(), 0.into()]);
        let from = Operand::RegAddress(place.address, 0);
        self.at.before().inst_if(place.within, &format!("ld{}.b{bits}", place.space), &[memory.into(), from]);
        let either = self.or(bits, memory.into(), stored);
        let any = self.any32(bits, either);
        let bad = self.at.reg(Type::Pred);
        self.at.before().setp(bad.into(), "ne", "b32", [any, 0.into()], place.within);
        self.came_from(access, address.into(), bad);
        let argument = match is_defined(stored) {
            true => DEFINED,
            false => self.resized(bits, stored, 64),
        };
        let keep = match () {
            () if how & 7 == UNITE && !has(Mod::Xor) => {
                let value = if has(Mod::Or) { self.not(bits, values[0]) } else { values[0] };
                let kept = self.inst(&format!("or.b{bits}"), bits, &[value, stored]);
                self.resized(bits, kept, 64)
            }
            () => Operand::Int(-1),
        };
        let old = self.at.reg(Type::B64);
        self.at.before().inst("mov.b64", &[old.into(), 0.into()]);
        let [origin, site] = self.written_by(access);
        let arguments = [place.address.into(), argument, keep, how.into(), origin, site];
        self.at.call(Some(Guard::when(bad)), "warpgrind_undefined_atomic", &[old.into()], &arguments);
        if let Some(reg) = result {
            let to = self.bits(reg);
            let shadow = self.resized(64, old.into(), to);
            self.set(reg, shadow, access.guard);
        }
    }

    /// A copy from global to shared memory that completes later: its shadow is copied now.
    fn asynchronous_copy(&mut self, read: &Access) {
        let Some(view) = self.at.editor().view(read.stmt) else { return };
        let Some(&written) = view.accesses().first() else { return };
        // What is not copied of a source that ends early becomes zero.
        let AccessBytes::Fixed(bytes) = written.bytes else { return };
        let is_whole = view.operands().get(3).is_none_or(|size| size.as_int() == Some(bytes.into()));
        let write = Access { index: 0, access: written, ..*read };
        let to = self.at.generic_address(&write);
        let Some(to) = self.place(written.space, to) else { return };
        if !is_whole {
            return self.define(&to, bytes);
        }
        let from = self.at.generic_address(read);
        let Some(from) = self.place(read.access.space, from) else { return };
        for first in (0..bytes).step_by(4) {
            let word = self.at.reg(Type::B32);
            self.at.before().inst("mov.b32", &[word.into(), 0.into()]);
            let source = Operand::RegAddress(from.address, first as i32);
            self.at.before().inst_if(from.within, &format!("ld{}.b32", from.space), &[word.into(), source]);
            let target = Operand::RegAddress(to.address, first as i32);
            self.at.before().inst_if(to.within, &format!("st{}.b32", to.space), &[target, word.into()]);
        }
    }

    /// A copy of as many bytes as an operand says, which completes later: its shadow is copied now.
    fn bulk_copy(&mut self, read: &Access) {
        let written = self.at.editor().view(read.stmt).and_then(|view| view.accesses().first().copied());
        let Some(written) = written else { return };
        let write = Access { index: 0, access: written, ..*read };
        let source = self.at.reg(Type::B64);
        // Where there is no shadow, all is defined.
        self.at.before().inst("mov.b64", &[source.into(), 0.into()]);
        let address = self.at.generic_address(read);
        if let Some(from) = self.place(read.access.space, address) {
            self.at.before().inst_if(from.within, "mov.b64", &[source.into(), from.address.into()]);
        }
        self.copy_shadow(&write, source.into());
    }

    /// Zeros are stored, as many bytes as an operand says.
    fn bulk_store(&mut self, access: &Access) {
        self.copy_shadow(access, 0.into());
    }

    /// Copies the shadow at an address to that of what an instruction writes, as many bytes as it says; zeros if that is 0.
    fn copy_shadow(&mut self, write: &Access, source: Operand) {
        let Some(view) = self.at.editor().view(write.stmt) else { return };
        let Some(size) = view.place_of_operand("size").map(|place| view.operands()[place]) else { return };
        let address = self.at.generic_address(write);
        let Some(to) = self.place(write.access.space, address) else { return };
        let bytes = self.at.widened_operand(size);
        let any = self.at.reg(Type::B32);
        self.at.before().inst("mov.b32", &[any.into(), 0.into()]);
        self.at.call(to.within, "warpgrind_copy_shadow", &[any.into()], &[to.address.into(), source, bytes]);
        if write.access.space != AccessSpace::State(Space::Shared) {
            self.became_undefined(write, any.into(), &to);
        }
    }
}

/// More loads than this are not looked at together: their shadows live from the first to the last.
const MOST_TOGETHER: usize = 31;

/// Numbers the loads of a function: those with the same number have nothing between them that changes memory.
pub(super) fn epochs(editor: &Editor<'_>) -> FxHashMap<StmtId, u32> {
    let mut epochs = FxHashMap::default();
    let mut epoch = 0;
    for stmt in editor.body().iter() {
        let Some(view) = editor.view(stmt) else {
            epoch += u32::from(matches!(editor.body().stmt(stmt), Stmt::Label(_)));
            continue;
        };
        match view.effect() {
            Some(Effect::Load) if view.op() == Some(Op::Ld) => _ = epochs.insert(stmt, epoch),
            Some(Effect::Pure | Effect::Load | Effect::Hint | Effect::TextureLoad) => {}
            _ => epoch += 1,
        }
    }
    epochs
}

pub(super) fn vector(elements: usize) -> String {
    if elements == 1 { String::new() } else { format!(".v{elements}") }
}

/// The type by which the shadow of a type is loaded into a register: the sign of a number is as undefined as the bits above it.
fn loaded_type(ty: Type, register: u32) -> String {
    let bits = ty.bits().max(8);
    match ty.kind() {
        TypeKind::Signed if bits < register => format!("s{bits}"),
        _ if bits < register => format!("u{bits}"),
        _ => format!("b{bits}"),
    }
}
