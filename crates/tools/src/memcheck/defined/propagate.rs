//! From the shadows of what an instruction reads to the shadows of what it writes.
//!
//! The rules are those of Valgrind's Memcheck. Bits that are moved, masked, shifted and selected are followed exactly;
//! sums and differences exactly, too, by their smallest and largest values; comparisons for equality by the bits that are
//! defined. Products are undefined from the lowest undefined bit on. Of everything else, floating-point numbers among it, all
//! of the result is undefined if anything of what it is computed from is.

use ptx::ir::{Operand, Reg};
use ptx::ops::{Effect, Mod, Op};
use ptx::types::{Type, TypeKind};
use rewrite::Definition;

use crate::memcheck::shadows::{Compute, DEFINED, bits_type, is_defined};

/// An instruction, apart from its function.
struct Inst {
    op: Option<Op>,
    effect: Option<Effect>,
    spelling: String,
    types: Vec<Type>,
    operands: Vec<Operand>,
    words: Vec<Mod>,
}

impl Inst {
    fn has(&self, word: Mod) -> bool {
        self.words.contains(&word)
    }

    /// The type that most operands have.
    fn ty(&self) -> Option<Type> {
        self.types.last().copied()
    }

    fn is_integer(&self) -> bool {
        self.types
            .iter()
            .all(|ty| matches!(ty.kind(), TypeKind::Bits | TypeKind::Signed | TypeKind::Unsigned) && ty.bits() <= 64)
            && !self.types.is_empty()
    }
}

impl Compute<'_, '_, '_> {
    /// Computes the shadows of what an instruction writes, which loads nothing.
    pub(super) fn propagate(&mut self, definition: &Definition) {
        let Some(view) = self.at.editor().view(definition.stmt) else { return };
        let inst = Inst {
            op: view.op(),
            effect: view.effect(),
            spelling: view.form.spelling().to_owned(),
            types: view.form.types().to_vec(),
            operands: view.operands().to_vec(),
            words: view.form.words().collect(),
        };
        let (reads, writes_carry) = (view.reads(), view.writes_carry());
        let is_followed = definition.regs.iter().any(|reg| self.shadows.of.contains_key(reg));
        if !(is_followed || writes_carry && self.shadows.carry.is_some()) {
            return;
        }
        let guard = definition.guard;
        let is_computed =
            matches!(inst.effect, Some(Effect::Pure | Effect::Collective | Effect::Barrier | Effect::TextureLoad));
        let sources = reads.iter().filter(|reg| guard.is_none_or(|guard| guard.reg != **reg));
        let may_be_undefined = sources.clone().any(|reg| self.shadows.of.contains_key(reg))
            || self.shadows.carry.is_some() && (inst.op.is_some_and(reads_carry) || writes_carry);
        if !is_computed || !may_be_undefined {
            for &reg in &definition.regs {
                self.set(reg, DEFINED, guard);
            }
            return;
        }
        let mut sources: Vec<Reg> = sources.copied().collect();
        sources.dedup();
        let shadows = match self.by_rule(&inst, definition) {
            Some(shadows) => shadows,
            None => self.pessimistic(&sources, definition),
        };
        for (reg, shadow) in shadows {
            self.set(reg, shadow, guard);
        }
    }

    /// Everything is undefined if anything is.
    fn pessimistic(&mut self, sources: &[Reg], definition: &Definition) -> Vec<(Reg, Operand)> {
        let any = self.any_of(sources.iter().copied());
        self.for_all(definition, any)
    }

    /// The same for all that is written: all bits where any bit of 32 is one.
    fn for_all(&mut self, definition: &Definition, any: Operand) -> Vec<(Reg, Operand)> {
        let mut shadows = Vec::new();
        for &reg in &definition.regs {
            let is_pred = self.at.editor().function().reg_type(reg).kind() == TypeKind::Pred;
            let bits = self.bits(reg);
            shadows.push((reg, if is_pred { any } else { self.all_if_any(32, any, bits) }));
        }
        shadows
    }

    /// What the rule of an instruction says, if it has one.
    fn by_rule(&mut self, inst: &Inst, definition: &Definition) -> Option<Vec<(Reg, Operand)>> {
        let first = definition.regs[0];
        let one = |shadow: Operand| Some(vec![(first, shadow)]);
        let bits = inst.ty().map_or(32, Type::bits);
        let operands = &inst.operands;
        let is_single = definition.regs.len() == 1 && matches!(operands.first(), Some(Operand::Reg(_)));
        match inst.op? {
            Op::Mov => self.moved(inst),
            Op::Cvta if is_single => one(self.of(operands[1])),
            Op::Not if is_single => one(self.of(operands[1])),
            Op::Neg | Op::Copysign if is_single && inst.ty()?.kind() == TypeKind::Float => {
                self.sign(inst).map(|shadow| vec![(first, shadow)])
            }
            Op::Abs if is_single && inst.ty()?.kind() == TypeKind::Float => {
                self.sign(inst).map(|shadow| vec![(first, shadow)])
            }
            Op::Neg if is_single && inst.is_integer() => {
                let shadow = self.of(operands[1]);
                one(self.spread_up(bits, shadow))
            }
            Op::And | Op::Or if is_single => one(self.and_or(inst, bits)),
            Op::Xor if is_single => {
                let [a, b] = [operands[1], operands[2]].map(|operand| self.of(operand));
                one(self.or(if bits == 1 { 32 } else { bits }, a, b))
            }
            Op::Lop3 if is_single => one(self.lop3(inst)),
            Op::Shl | Op::Shr if is_single => one(self.mirrored(inst, &[1], bits)),
            Op::Shf if is_single => one(self.mirrored(inst, &[1, 2], bits)),
            Op::Bfe if is_single => one(self.mirrored(inst, &[1], bits)),
            Op::Bfi if is_single => one(self.mirrored(inst, &[1, 2], bits)),
            Op::Prmt if is_single => one(self.mirrored(inst, &[1, 2], bits)),
            Op::Brev if is_single => one(self.mirrored(inst, &[1], bits)),
            Op::Cvt if is_single && inst.is_integer() && !inst.has(Mod::Sat) && inst.types.len() == 2 => {
                let to = self.bits(first);
                one(self.mirrored(inst, &[1], to))
            }
            Op::Add | Op::Sub if is_single && inst.is_integer() && !inst.has(Mod::Sat) && !inst.has(Mod::Cc) => {
                one(self.sum(inst, bits))
            }
            Op::Add | Op::Addc | Op::Sub | Op::Subc | Op::Mad | Op::Madc
                if is_single && (inst.has(Mod::Cc) || inst.op.is_some_and(reads_carry)) =>
            {
                Some(vec![(first, self.with_carry(inst, bits))])
            }
            Op::Mul | Op::Mad if is_single && inst.is_integer() && !inst.has(Mod::Hi) => {
                one(self.product(inst, bits, first))
            }
            Op::Setp if inst.is_integer() || inst.ty().is_some_and(|ty| ty.kind() == TypeKind::Float) => {
                let shadow = self.comparison(inst, bits);
                Some(definition.regs.iter().map(|reg| (*reg, shadow)).collect())
            }
            Op::Selp if is_single => one(self.selected(inst, bits)),
            Op::Popc | Op::Clz if is_single => {
                let shadow = self.of(operands[1]);
                let all = self.all_if_any(bits, shadow, 32);
                one(self.and(32, all, Operand::Int(if bits == 64 { 0x7f } else { 0x3f })))
            }
            Op::Shfl => self.shuffled(inst, definition),
            Op::Vote => self.voted(inst, definition),
            Op::BarRed | Op::BarrierRed => self.reduced_at_barrier(inst, definition),
            Op::Mma => Some(self.multiplied(&inst.spelling, operands, definition)),
            Op::WmmaMma => Some(self.wmma_product(&inst.spelling, &inst.types, operands, definition)),
            Op::Movmatrix => Some(definition.regs.iter().map(|reg| (*reg, DEFINED)).collect()),
            Op::Redux | Op::Match => self.together(inst, definition),
            Op::Activemask | Op::Elect => Some(definition.regs.iter().map(|reg| (*reg, DEFINED)).collect()),
            _ => None,
        }
    }

    /// The instruction itself, on shadows: it moves bits, as operands say that are no values.
    fn mirrored(&mut self, inst: &Inst, values: &[usize], to: u32) -> Operand {
        let mut operands = inst.operands[1..].to_vec();
        let mut by = DEFINED;
        for (index, operand) in operands.iter_mut().enumerate() {
            let shadow = self.of(*operand);
            if values.contains(&(index + 1)) {
                *operand = shadow;
            } else if let Operand::Reg(reg) = *operand {
                let bits = self.bits(reg);
                let part = self.any32(bits, shadow);
                by = self.or(32, by, part);
            }
        }
        let moved = if operands
            .iter()
            .enumerate()
            .any(|(index, operand)| values.contains(&(index + 1)) && !is_defined(*operand))
        {
            self.inst(&inst.spelling, to, &operands)
        } else {
            DEFINED
        };
        let all = self.all_if_any(32, by, to);
        self.or(to, moved, all)
    }

    /// Operations on the sign of a floating-point number.
    fn sign(&mut self, inst: &Inst) -> Option<Operand> {
        let bits = inst.ty()?.bits();
        let sign = match bits {
            32 => 0x8000_0000_u64,
            64 => 1 << 63,
            _ => return None,
        };
        if inst.has(Mod::Ftz) {
            return None;
        }
        let shadow = self.of(inst.operands[1]);
        Some(match inst.op? {
            Op::Neg => shadow,
            Op::Abs => self.and(bits, shadow, Operand::Hex(!sign & (u64::MAX >> (64 - bits)))),
            _ => {
                // The sign of the first, and the magnitude of the second.
                let magnitude = self.of(inst.operands[2]);
                let sign_part = if is_defined(shadow) { DEFINED } else { self.and(bits, shadow, Operand::Hex(sign)) };
                let magnitude = match is_defined(magnitude) {
                    true => DEFINED,
                    false => self.and(bits, magnitude, Operand::Hex(!sign & (u64::MAX >> (64 - bits)))),
                };
                self.or(bits, sign_part, magnitude)
            }
        })
    }

    /// A value as bits to compute with: predicates become all ones or zeros, and their shadows, too.
    fn as_bits(&mut self, operand: Operand, bits: u32) -> (Operand, Operand) {
        let shadow = self.of(operand);
        if bits > 1 {
            return (operand, shadow);
        }
        let (reg, values) = match operand {
            Operand::Not(reg) => (reg, [0, -1]),
            Operand::Reg(reg) => (reg, [-1, 0]),
            _ => return (operand, DEFINED),
        };
        let value = self.inst("selp.b32", 32, &[values[0].into(), values[1].into(), reg.into()]);
        let shadow = self.all_if_any(32, shadow, 32);
        (value, shadow)
    }

    /// `and` is defined where one side is a defined zero, `or` where one side is a defined one.
    fn and_or(&mut self, inst: &Inst, bits: u32) -> Operand {
        let wide = if bits == 1 { 32 } else { bits };
        let mut shadow = DEFINED;
        let mut sides = Vec::new();
        for operand in [inst.operands[1], inst.operands[2]] {
            let (value, of_value) = self.as_bits(operand, bits);
            shadow = self.or(wide, shadow, of_value);
            sides.push((value, of_value));
        }
        for (value, of_value) in sides {
            let value = if inst.op == Some(Op::Or) { self.not(wide, value) } else { value };
            let decides_not = match is_defined(of_value) {
                true => value,
                false => self.inst(&format!("or.b{wide}"), wide, &[value, of_value]),
            };
            shadow = self.and(wide, shadow, decides_not);
        }
        shadow
    }

    /// Bits that change when undefined bits do.
    fn lop3(&mut self, inst: &Inst) -> Operand {
        let values = [inst.operands[1], inst.operands[2], inst.operands[3]];
        let shadows = values.map(|value| self.of(value));
        let table = inst.operands[4];
        let mut flipped = values;
        for (flipped, shadow) in flipped.iter_mut().zip(shadows) {
            *flipped = if is_defined(shadow) { *flipped } else { self.inst("xor.b32", 32, &[*flipped, shadow]) };
        }
        let plain = self.inst("lop3.b32", 32, &[values[0], values[1], values[2], table]);
        let mut shadow = DEFINED;
        for which in 1_usize..8 {
            if (0..3).any(|index| which >> index & 1 == 1 && is_defined(shadows[index])) {
                continue;
            }
            let chosen: Vec<Operand> =
                (0..3).map(|index| if which >> index & 1 == 1 { flipped[index] } else { values[index] }).collect();
            let other = self.inst("lop3.b32", 32, &[chosen[0], chosen[1], chosen[2], table]);
            let changed = self.inst("xor.b32", 32, &[plain, other]);
            shadow = self.or(32, shadow, changed);
        }
        let any = shadows.into_iter().fold(DEFINED, |any, part| self.or(32, any, part));
        self.only_if_any(32, shadow, any)
    }

    /// The smallest and the largest number that a value can be, as unsigned numbers.
    fn range(&mut self, bits: u32, value: Operand, shadow: Operand) -> [Operand; 2] {
        if is_defined(shadow) {
            return [value, value];
        }
        let largest = self.inst(&format!("or.b{bits}"), bits, &[value, shadow]);
        [self.inst(&format!("xor.b{bits}"), bits, &[largest, shadow]), largest]
    }

    /// Sums and differences: bits are undefined that are not the same for the smallest and the largest values.
    fn sum(&mut self, inst: &Inst, bits: u32) -> Operand {
        let [a, b] = [inst.operands[1], inst.operands[2]];
        let [of_a, of_b] = [self.of(a), self.of(b)];
        let [a_least, a_most] = self.range(bits, a, of_a);
        let [mut b_least, mut b_most] = self.range(bits, b, of_b);
        let spelling = match inst.op {
            Some(Op::Sub) => {
                (b_least, b_most) = (b_most, b_least);
                format!("sub.s{bits}")
            }
            _ => format!("add.s{bits}"),
        };
        let least = self.inst(&spelling, bits, &[a_least, b_least]);
        let most = self.inst(&spelling, bits, &[a_most, b_most]);
        let changed = self.inst(&format!("xor.b{bits}"), bits, &[least, most]);
        let either = self.or(bits, of_a, of_b);
        let shadow = self.or(bits, either, changed);
        self.only_if_any(bits, shadow, either)
    }

    /// A shadow that is zero where another one is. This is so already, but now it can be seen without computing with values:
    /// also around loops and barriers, where nothing is known of these.
    fn only_if_any(&mut self, bits: u32, shadow: Operand, other: Operand) -> Operand {
        let any = self.is_any(bits, other);
        self.inst(&format!("selp.b{bits}"), bits, &[shadow, 0.into(), any.into()])
    }

    /// Parts of longer sums.
    fn with_carry(&mut self, inst: &Inst, bits: u32) -> Operand {
        let carry = self.shadows.carry;
        let mut shadow = DEFINED;
        for &operand in &inst.operands[1..] {
            let part = self.of(operand);
            shadow = self.or(bits, shadow, part);
        }
        let is_reader = inst.op.is_some_and(reads_carry);
        if let (true, Some(carry)) = (is_reader, carry) {
            let all = self.all_if_any(32, carry.into(), bits);
            shadow = self.or(bits, shadow, all);
        }
        // The upper half of a product depends on all of its factors.
        let result = match inst.has(Mod::Hi) {
            true => self.all_if_any(bits, shadow, bits),
            false => self.spread_up(bits, shadow),
        };
        if let (true, Some(carry)) = (inst.has(Mod::Cc), carry) {
            let any = self.any32(bits, shadow);
            self.at.before().inst("mov.b32", &[carry.into(), any]);
        }
        result
    }

    /// Products, and products that are added to something.
    fn product(&mut self, inst: &Inst, bits: u32, to: Reg) -> Operand {
        let wide = self.bits(to);
        let mut shadow = DEFINED;
        for (index, &operand) in inst.operands[1..].iter().enumerate() {
            let of_operand = self.of(operand);
            let part = if index < 2 { self.resized(bits, of_operand, wide) } else { of_operand };
            shadow = self.or(wide, shadow, part);
        }
        self.spread_up(wide, shadow)
    }

    /// Comparisons. Those for equality are decided by a bit that is defined and differs.
    fn comparison(&mut self, inst: &Inst, bits: u32) -> Operand {
        let [a, b] = [inst.operands[1], inst.operands[2]];
        let [of_a, of_b] = [self.of(a), self.of(b)];
        let either = self.or(bits, of_a, of_b);
        let mut shadow = self.any32(bits, either);
        if inst.is_integer() && (inst.has(Mod::Eq) || inst.has(Mod::Ne)) && !is_defined(either) {
            let differs = self.inst(&format!("xor.b{bits}"), bits, &[a, b]);
            let known = self.not(bits, either);
            let decisive = self.and(bits, differs, known);
            let is_decided = self.is_any(bits, decisive);
            shadow = self.inst("selp.b32", 32, &[0.into(), shadow, is_decided.into()]);
        }
        // A predicate that is combined with the comparison may decide alone.
        let Some(&combined) = inst.operands.get(3) else { return shadow };
        let of_combined = self.of(combined);
        let (reg, is_negated) = match combined {
            Operand::Not(reg) => (reg, true),
            Operand::Reg(reg) => (reg, false),
            _ => return shadow,
        };
        let shadow = if inst.has(Mod::Xor) || !is_defined(of_combined) {
            shadow
        } else {
            let decides_when = inst.has(Mod::Or) != is_negated;
            let (held, not_held) = if decides_when { (DEFINED, shadow) } else { (shadow, DEFINED) };
            self.inst("selp.b32", 32, &[held, not_held, reg.into()])
        };
        self.or(32, shadow, of_combined)
    }

    /// One of two values.
    fn selected(&mut self, inst: &Inst, bits: u32) -> Operand {
        let [a, b] = [inst.operands[1], inst.operands[2]].map(|operand| self.of(operand));
        let by = inst.operands[3];
        let chosen = match (is_defined(a) && is_defined(b), by) {
            (true, _) => DEFINED,
            (_, by) => self.inst(&format!("selp.b{bits}"), bits, &[a, b, by]),
        };
        let of_predicate = self.of(by);
        let all = self.all_if_any(32, of_predicate, bits);
        self.or(bits, chosen, all)
    }

    /// Copies, and registers that are taken apart and put together.
    fn moved(&mut self, inst: &Inst) -> Option<Vec<(Reg, Operand)>> {
        let [to, from] = inst.operands[..] else { return None };
        match (to, from) {
            (Operand::Reg(reg), Operand::Reg(_) | Operand::Not(_)) => Some(vec![(reg, self.of(from))]),
            (Operand::Reg(reg), Operand::Vector(list)) => {
                let bits = self.bits(reg);
                let elements = self.at.editor().body().operands(list).to_vec();
                let each = bits / elements.len() as u32;
                if !matches!(each, 16 | 32) {
                    return None;
                }
                let mut shadows = Vec::new();
                for element in elements {
                    let shadow = self.of(element);
                    shadows.push(self.in_register(each, shadow));
                }
                let packed = self.at.reg(bits_type(bits));
                let mut builder = self.at.before();
                let vector = builder.vector(&shadows);
                builder.inst(&format!("mov.b{bits}"), &[packed.into(), vector]);
                Some(vec![(reg, packed.into())])
            }
            (Operand::Vector(list), Operand::Reg(reg)) => {
                let (bits, shadow) = (self.bits(reg), self.of(from));
                let elements = self.at.editor().body().operands(list).to_vec();
                let each = bits / elements.len() as u32;
                if !matches!(each, 16 | 32) {
                    return None;
                }
                let parts: Vec<Reg> = elements.iter().map(|_| self.at.reg(bits_type(each))).collect();
                let operands: Vec<Operand> = parts.iter().map(|part| (*part).into()).collect();
                let mut builder = self.at.before();
                let vector = builder.vector(&operands);
                builder.inst(&format!("mov.b{bits}"), &[vector, shadow]);
                let pairs = elements.iter().zip(operands).filter_map(|(element, part)| match element {
                    Operand::Reg(reg) => Some((*reg, part)),
                    _ => None,
                });
                Some(pairs.collect())
            }
            _ => None,
        }
    }

    /// A value of another lane: its shadow comes by the same way.
    fn shuffled(&mut self, inst: &Inst, definition: &Definition) -> Option<Vec<(Reg, Operand)>> {
        let value = match inst.operands[0] {
            Operand::Reg(reg) => reg,
            Operand::Pair(first, _) => first.reg()?,
            _ => return None,
        };
        let shadow = self.of(inst.operands[1]);
        let guard = definition.guard;
        let came = if is_defined(shadow) {
            DEFINED
        } else {
            let came = self.at.reg(Type::B32);
            let mut operands = vec![came.into(), shadow];
            operands.extend_from_slice(&inst.operands[2..]);
            self.at.before().inst_if(guard, &inst.spelling, &operands);
            came.into()
        };
        // From which lane it comes.
        let mut by = DEFINED;
        for &operand in &inst.operands[2..4] {
            let part = self.of(operand);
            by = self.or(32, by, part);
        }
        let all = self.all_if_any(32, by, 32);
        let result = self.or(32, came, all);
        let shadow_of = |reg: &Reg| (*reg, if *reg == value { result } else { by });
        Some(definition.regs.iter().map(shadow_of).collect())
    }

    /// A vote of lanes about a predicate.
    fn voted(&mut self, inst: &Inst, definition: &Definition) -> Option<Vec<(Reg, Operand)>> {
        let shadow = self.of(inst.operands[1]);
        let any = self.is_any(32, shadow);
        let guard = definition.guard;
        let mask = inst.operands.get(2).copied();
        let with_mask = |operands: &[Operand]| -> Vec<Operand> { operands.iter().copied().chain(mask).collect() };
        let sync = if mask.is_some() { ".sync" } else { "" };
        if inst.has(Mod::Ballot) {
            let bits = self.at.reg(Type::B32);
            self.at.before().inst_if(guard, &format!("vote{sync}.ballot.b32"), &with_mask(&[bits.into(), any.into()]));
            return Some(vec![(definition.regs[0], bits.into())]);
        }
        let vote = |voter: &mut Self, predicate: Reg| {
            let is_some = voter.at.reg(Type::Pred);
            let operands = with_mask(&[is_some.into(), predicate.into()]);
            voter.at.before().inst_if(guard, &format!("vote{sync}.any.pred"), &operands);
            is_some
        };
        let is_some = vote(self, any);
        if inst.has(Mod::Uni) {
            return Some(vec![(definition.regs[0], self.inst("selp.b32", 32, &[1.into(), 0.into(), is_some.into()]))]);
        }
        let decides = self.decides_alone(inst.operands[1], any, inst.has(Mod::Any))?;
        let is_decided = vote(self, decides);
        Some(vec![(definition.regs[0], self.unless_decided(is_some, is_decided, 1))])
    }

    /// Whether a thread decides what a predicate is of all threads: if its own is defined, and not what all would need.
    fn decides_alone(&mut self, value: Operand, is_undefined: Reg, by_one: bool) -> Option<Reg> {
        let decides = self.at.reg(Type::Pred);
        let (reg, is_negated) = match value {
            Operand::Not(reg) => (reg, true),
            Operand::Reg(reg) => (reg, false),
            _ => return None,
        };
        let decides_when = by_one != is_negated;
        let own = self.inst(
            "selp.b32",
            32,
            &if decides_when { [1.into(), 0.into(), reg.into()] } else { [0.into(), 1.into(), reg.into()] },
        );
        let own = self.inst("selp.b32", 32, &[0.into(), own, is_undefined.into()]);
        self.at.before().inst("setp.ne.b32", &[decides.into(), own, 0.into()]);
        Some(decides)
    }

    /// The shadow of what threads decide together, some of which do not know their part.
    fn unless_decided(&mut self, is_some: Reg, is_decided: Reg, undefined: i64) -> Operand {
        let undecided = self.inst("selp.b32", 32, &[undefined.into(), 0.into(), is_some.into()]);
        self.inst("selp.b32", 32, &[0.into(), undecided, is_decided.into()])
    }

    /// A count, or a decision, of all threads that wait at a barrier: they wait there once more for what is undefined.
    fn reduced_at_barrier(&mut self, inst: &Inst, definition: &Definition) -> Option<Vec<(Reg, Operand)>> {
        let (&value, rest) = inst.operands.split_last()?;
        let (barrier, result) = (rest.get(1..)?.to_vec(), *definition.regs.first()?);
        let op = if inst.op == Some(Op::BarrierRed) { "barrier.red" } else { "bar.red" };
        let aligned = if inst.has(Mod::Aligned) { ".aligned" } else { "" };
        let wait = |waiting: &mut Self, predicate: Reg| {
            let is_some = waiting.at.reg(Type::Pred);
            let operands: Vec<Operand> =
                [is_some.into()].into_iter().chain(barrier.iter().copied()).chain([predicate.into()]).collect();
            waiting.at.before().inst_if(definition.guard, &format!("{op}{aligned}.or.pred"), &operands);
            is_some
        };
        let shadow = self.of(value);
        let any = self.is_any(32, shadow);
        let is_some = wait(self, any);
        if inst.has(Mod::Popc) {
            return Some(vec![(result, self.inst("selp.b32", 32, &[Operand::Int(-1), 0.into(), is_some.into()]))]);
        }
        let decides = self.decides_alone(value, any, inst.has(Mod::Or))?;
        let is_decided = wait(self, decides);
        Some(vec![(result, self.unless_decided(is_some, is_decided, 1))])
    }

    /// What lanes compute together is undefined for all if it is undefined for one.
    fn together(&mut self, inst: &Inst, definition: &Definition) -> Option<Vec<(Reg, Operand)>> {
        let Operand::Reg(reg) = inst.operands[1] else { return None };
        let (bits, shadow) = (self.bits(reg), self.of(inst.operands[1]));
        if is_defined(shadow) {
            return Some(definition.regs.iter().map(|reg| (*reg, DEFINED)).collect());
        }
        let (any, is_some) = (self.is_any(bits, shadow), self.at.reg(Type::Pred));
        let mask = inst.operands[2];
        self.at.before().inst_if(definition.guard, "vote.sync.any.pred", &[is_some.into(), any.into(), mask]);
        let all = self.inst("selp.b32", 32, &[Operand::Int(-1), 0.into(), is_some.into()]);
        Some(definition.regs.iter().map(|reg| (*reg, all)).collect())
    }
}

fn reads_carry(op: Op) -> bool {
    matches!(op, Op::Addc | Op::Subc | Op::Madc)
}
