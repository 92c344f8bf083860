//! Random kernels: made, printed as PTX, and run one thread at a time.

use std::cell::Cell;
use std::fmt::Write;

/// A small generator of random numbers (S. Vigna, xorshift64*).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 33) as usize % limit
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

/// Width of a register; 1 is a predicate.
pub(crate) type Bits = u32;

/// A register: its width and its number.
pub(crate) type Register = (Bits, usize);

#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    Reg(Register),
    Number(u64),
    /// `%tid.x` and the like, 32 bits wide.
    Special(&'static str),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Min,
    Max,
    Div,
    Rem,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

#[derive(Clone, Debug)]
pub(crate) enum Action {
    Mov(Register, Source),
    Binary(Binary, bool, Register, Source, Source),
    /// `mad.lo`
    Mad(Register, Source, Source, Source),
    /// `mul.wide` or `mad.wide`: the sources have half the width.
    Wide(bool, Register, Source, Source, Option<Source>),
    Neg(Register, Source),
    Not(Register, Source),
    /// `cvt.dst.src`: widths and signs of both types, then registers.
    Cvt((Bits, bool), (Bits, bool), Register, Source),
    Setp(Compare, bool, Bits, Register, Source, Source, Option<(&'static str, Register)>),
    Selp(Register, Source, Source, Register),
    Bfe(Register, Source, Source, Source),
    Bfi(Register, Source, Source, Source, Source),
    /// `and.pred` and the like.
    Logic(&'static str, Register, Register, Register),
    Pack(Register, Register, Register),
    Unpack(Register, Register, Register),
    /// `ld.param`: the n-th parameter.
    Param(Register, usize),
    /// `ld.global` of what is at an address; memory holds some function of the address.
    Load(Register, Register, i32),
    /// `add.cc`
    AddCarry(Register, Source, Source),
    /// `addc`
    AddWithCarry(Register, Source, Source),
    Bra(usize),
    Ret,
}

#[derive(Clone, Debug)]
pub(crate) struct Instruction {
    pub(crate) guard: Option<(Register, bool)>,
    pub(crate) action: Action,
}

#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    pub(crate) blocks: Vec<Vec<Instruction>>,
}

pub(crate) const PARAMS: usize = 4;
const REGISTERS: usize = 7;
const PREDICATES: usize = 4;
/// Widths of integers.
const WIDTHS: [Bits; 3] = [16, 32, 64];

/// The state of one thread. A register without a value was not written yet, or was computed from such a one: nothing
/// may be claimed of it.
#[derive(Clone)]
pub(crate) struct Thread {
    regs: [[Option<u64>; REGISTERS]; 4],
    pub(crate) carry: Option<bool>,
    pub(crate) tid: [u32; 3],
    pub(crate) lane: u32,
}

/// What all threads of a launch share.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    pub(crate) block: [u32; 3],
    pub(crate) ctaid: [u32; 3],
    pub(crate) params: [u64; PARAMS],
}

pub(crate) fn mask(bits: Bits) -> u64 {
    if bits == 64 { u64::MAX } else { (1 << bits) - 1 }
}

fn signed(bits: Bits, value: u64) -> i64 {
    (value << (64 - bits)) as i64 >> (64 - bits)
}

impl Thread {
    pub(crate) fn new(launch: &Launch, linear: u32) -> Self {
        let [x, y, _] = launch.block;
        let tid = [linear % x, linear / x % y, linear / (x * y)];
        Self { regs: [[None; REGISTERS]; 4], carry: None, tid, lane: linear % 32 }
    }

    fn slot(bits: Bits) -> usize {
        match bits {
            1 => 0,
            16 => 1,
            32 => 2,
            _ => 3,
        }
    }

    pub(crate) fn get(&self, (bits, number): Register) -> Option<u64> {
        self.regs[Self::slot(bits)][number]
    }

    fn set(&mut self, (bits, number): Register, value: u64) {
        self.regs[Self::slot(bits)][number] = Some(value & mask(bits));
    }

    fn source(&self, launch: &Launch, source: Source, bits: Bits, is_undefined: &Cell<bool>) -> u64 {
        let value = match source {
            Source::Reg(reg) => self.get(reg).unwrap_or_else(|| {
                is_undefined.set(true);
                0
            }),
            Source::Number(number) => number,
            Source::Special(name) => u64::from(match name {
                "%tid.x" => self.tid[0],
                "%tid.y" => self.tid[1],
                "%tid.z" => self.tid[2],
                "%laneid" => self.lane,
                "%ntid.x" => launch.block[0],
                "%ntid.y" => launch.block[1],
                "%ctaid.x" => launch.ctaid[0],
                _ => launch.ctaid[1],
            }),
        };
        value & mask(bits)
    }

    /// Executes an instruction whose guard holds, other than branches.
    pub(crate) fn execute(&mut self, launch: &Launch, action: &Action) {
        let is_undefined = Cell::new(false);
        self.compute(launch, action, &is_undefined);
        if is_undefined.get() {
            self.undefine(action);
        }
    }

    /// Takes the values from the registers that an instruction writes.
    pub(crate) fn undefine(&mut self, action: &Action) {
        for (bits, number) in action.writes() {
            self.regs[Self::slot(bits)][number] = None;
        }
        if matches!(action, Action::AddCarry(..)) {
            self.carry = None;
        }
    }

    fn compute(&mut self, launch: &Launch, action: &Action, is_undefined: &Cell<bool>) {
        let this = self.clone();
        let source = |source, bits| this.source(launch, source, bits, is_undefined);
        match *action {
            Action::Mov(to, a) => self.set(to, source(a, to.0)),
            Action::Binary(op, is_signed, to, a, b) => {
                let bits = to.0;
                let (x, y) =
                    (source(a, bits), source(b, if matches!(op, Binary::Shl | Binary::Shr) { 32 } else { bits }));
                let (sx, sy) = (signed(bits, x), signed(bits, y));
                let result = match op {
                    Binary::Add => x.wrapping_add(y),
                    Binary::Sub => x.wrapping_sub(y),
                    Binary::Mul => x.wrapping_mul(y),
                    Binary::And => x & y,
                    Binary::Or => x | y,
                    Binary::Xor => x ^ y,
                    Binary::Shl if y >= bits.into() => 0,
                    Binary::Shl => x << y,
                    Binary::Shr if is_signed => (sx >> y.min(u64::from(bits) - 1)) as u64,
                    Binary::Shr if y >= bits.into() => 0,
                    Binary::Shr => x >> y,
                    Binary::Min if is_signed => sx.min(sy) as u64,
                    Binary::Min => x.min(y),
                    Binary::Max if is_signed => sx.max(sy) as u64,
                    Binary::Max => x.max(y),
                    Binary::Div => x.checked_div(y).unwrap_or(u64::MAX),
                    Binary::Rem => x.checked_rem(y).unwrap_or(x),
                };
                self.set(to, result);
            }
            Action::Mad(to, a, b, c) => {
                self.set(to, source(a, to.0).wrapping_mul(source(b, to.0)).wrapping_add(source(c, to.0)));
            }
            Action::Wide(is_signed, to, a, b, c) => {
                let half = to.0 / 2;
                let (x, y) = (source(a, half), source(b, half));
                let product =
                    if is_signed { signed(half, x).wrapping_mul(signed(half, y)) as u64 } else { x.wrapping_mul(y) };
                self.set(to, product.wrapping_add(c.map_or(0, |c| source(c, to.0))));
            }
            Action::Neg(to, a) => self.set(to, source(a, to.0).wrapping_neg()),
            Action::Not(to, a) => self.set(to, !source(a, to.0)),
            Action::Cvt((to_bits, to_signed), (from_bits, from_signed), to, a) => {
                let value = source(a, from_bits);
                let value = if from_signed { signed(from_bits, value) as u64 } else { value };
                let value = value & mask(to_bits);
                self.set(to, if to_signed { signed(to_bits, value) as u64 } else { value });
            }
            Action::Setp(compare, is_signed, bits, to, a, b, and) => {
                let (x, y) = (source(a, bits), source(b, bits));
                let order = if is_signed { signed(bits, x).cmp(&signed(bits, y)) } else { x.cmp(&y) };
                let mut result = match compare {
                    Compare::Eq => order.is_eq(),
                    Compare::Ne => order.is_ne(),
                    Compare::Lt => order.is_lt(),
                    Compare::Le => order.is_le(),
                    Compare::Gt => order.is_gt(),
                    Compare::Ge => order.is_ge(),
                };
                if let Some((op, other)) = and {
                    let other = source(Source::Reg(other), 1) != 0;
                    result = if op == "and" { result & other } else { result | other };
                }
                self.set(to, result.into());
            }
            Action::Selp(to, a, b, p) => {
                let chosen = if source(Source::Reg(p), 1) != 0 { a } else { b };
                self.set(to, source(chosen, to.0));
            }
            Action::Bfe(to, a, start, len) => {
                let (start, len) = (source(start, 32) & 0xff, source(len, 32) & 0xff);
                let value = source(a, to.0);
                let value = if start >= 64 { 0 } else { value >> start };
                self.set(to, if len >= 64 { value } else { value & mask_of(len) });
            }
            Action::Bfi(to, a, b, start, len) => {
                let (start, len) = (source(start, 32) & 0xff, source(len, 32) & 0xff);
                let (a, b) = (source(a, to.0), source(b, to.0));
                let field = if start >= to.0.into() { 0 } else { mask_of(len) << start };
                self.set(to, (b & !field) | (if start >= 64 { 0 } else { a << start } & field));
            }
            Action::Logic(op, to, a, b) => {
                let (a, b) = (source(Source::Reg(a), 1), source(Source::Reg(b), 1));
                self.set(
                    to,
                    if op == "and" {
                        a & b
                    } else if op == "or" {
                        a | b
                    } else {
                        a ^ b
                    },
                );
            }
            Action::Pack(to, a, b) => {
                self.set(to, source(Source::Reg(a), 32) | source(Source::Reg(b), 32) << 32);
            }
            Action::Unpack(low, high, a) => {
                let value = source(Source::Reg(a), 64);
                self.set(low, value & mask(32));
                self.set(high, value >> 32);
            }
            Action::Param(to, index) => self.set(to, launch.params[index]),
            Action::Load(to, address, offset) => {
                let address = source(Source::Reg(address), 64).wrapping_add(offset as u64);
                self.set(to, address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20);
            }
            Action::AddCarry(to, a, b) => {
                let sum = source(a, 32) + source(b, 32);
                self.set(to, sum);
                self.carry = Some(sum >> 32 != 0);
            }
            Action::AddWithCarry(to, a, b) => {
                let carry = self.carry.unwrap_or_else(|| {
                    is_undefined.set(true);
                    false
                });
                self.set(to, source(a, 32) + source(b, 32) + u64::from(carry));
            }
            Action::Bra(_) | Action::Ret => {}
        }
    }

    /// Whether the guard of an instruction holds; nothing if that depends on a register without a value.
    pub(crate) fn guard_holds(&self, instruction: &Instruction) -> Option<bool> {
        match instruction.guard {
            None => Some(true),
            Some((reg, negated)) => self.get(reg).map(|value| (value != 0) != negated),
        }
    }
}

fn mask_of(len: u64) -> u64 {
    if len >= 64 { u64::MAX } else { (1 << len) - 1 }
}

impl Action {
    /// The registers that are written.
    pub(crate) fn writes(&self) -> Vec<Register> {
        match *self {
            Self::Mov(to, _)
            | Self::Binary(_, _, to, _, _)
            | Self::Mad(to, ..)
            | Self::Wide(_, to, ..)
            | Self::Neg(to, _)
            | Self::Not(to, _)
            | Self::Cvt(_, _, to, _)
            | Self::Setp(_, _, _, to, ..)
            | Self::Selp(to, ..)
            | Self::Bfe(to, ..)
            | Self::Bfi(to, ..)
            | Self::Logic(_, to, ..)
            | Self::Pack(to, ..)
            | Self::Param(to, _)
            | Self::Load(to, ..)
            | Self::AddCarry(to, ..)
            | Self::AddWithCarry(to, ..) => vec![to],
            Self::Unpack(low, high, _) => vec![low, high],
            Self::Bra(_) | Self::Ret => vec![],
        }
    }
}

/// What kernels should be like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taste {
    /// Fewest and most blocks.
    pub(crate) blocks: (usize, usize),
    /// Percent of branches that go back.
    pub(crate) back: usize,
    /// Percent of branches that go anywhere, so that loops may have several entries.
    pub(crate) anywhere: usize,
    /// Percent of instructions with a guard.
    pub(crate) guarded: usize,
    /// Percent of instructions that go on with what was computed last, as the computation of an address does.
    pub(crate) chained: usize,
}

/// Makes random kernels.
pub(crate) struct Generator<'a> {
    random: &'a mut Random,
    taste: Taste,
    /// The registers that were written last: programs use what they computed.
    recent: Vec<Register>,
}

const NUMBERS: [u64; 30] = [
    0,
    1,
    1,
    2,
    3,
    4,
    4,
    5,
    7,
    8,
    12,
    15,
    16,
    31,
    31,
    32,
    33,
    63,
    64,
    100,
    127,
    128,
    255,
    256,
    1000,
    0xffff,
    0x8000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
];

impl<'a> Generator<'a> {
    pub(crate) fn new(random: &'a mut Random, taste: Taste) -> Self {
        Self { random, taste, recent: Vec::new() }
    }

    pub(crate) fn kernel(&mut self) -> Kernel {
        let (least, most) = self.taste.blocks;
        let count = least + self.random.below(most - least + 1);
        let mut blocks = vec![self.prologue()];
        for index in 1..count {
            let mut block: Vec<_> = (0..self.random.below(7)).map(|_| self.instruction()).collect();
            block.extend(self.terminator(index, count));
            blocks.push(block);
        }
        blocks.push(vec![Instruction { guard: None, action: Action::Ret }]);
        Kernel { blocks }
    }

    /// Gives most registers a value: from threads, numbers, parameters.
    fn prologue(&mut self) -> Vec<Instruction> {
        let mut actions = Vec::new();
        let specials = ["%tid.x", "%tid.x", "%tid.x", "%tid.y", "%tid.z", "%laneid", "%ctaid.x", "%ntid.x"];
        for bits in WIDTHS {
            for number in 0..REGISTERS {
                let to = (bits, number);
                match self.random.below(20) {
                    0..=7 => {
                        let special = Source::Special(self.random.pick(&specials));
                        actions.push(match bits {
                            32 => Action::Mov(to, special),
                            _ => Action::Cvt((bits, false), (32, self.random.chance(50)), to, special),
                        });
                    }
                    8..=12 => actions.push(Action::Param(to, self.random.below(PARAMS))),
                    13..=17 => actions.push(Action::Mov(to, Source::Number(self.number(bits)))),
                    _ => {}
                }
            }
        }
        // The index that most kernels begin with.
        if self.random.chance(50) {
            let tid = Source::Special("%tid.x");
            actions.push(Action::Mad((32, 0), Source::Special("%ctaid.x"), Source::Special("%ntid.x"), tid));
            self.recent.push((32, 0));
        }
        for _ in 0..8 {
            actions.push(self.action());
        }
        for number in 0..PREDICATES {
            if self.random.chance(70) {
                let action = self.setp((1, number));
                actions.push(action);
            }
        }
        actions.into_iter().map(|action| Instruction { guard: None, action }).collect()
    }

    fn terminator(&mut self, index: usize, count: usize) -> Option<Instruction> {
        if self.random.chance(25) {
            return None;
        }
        let is_guarded = self.random.chance(80);
        let guard = is_guarded.then(|| ((1, self.random.below(PREDICATES)), self.random.chance(50)));
        if self.random.chance(8) {
            return Some(Instruction { guard, action: Action::Ret });
        }
        let target = if self.random.chance(self.taste.anywhere) {
            1 + self.random.below(count)
        } else if self.random.chance(self.taste.back) {
            1 + self.random.below(index)
        } else {
            index + 1 + self.random.below((count - index).min(4))
        };
        Some(Instruction { guard, action: Action::Bra(target) })
    }

    fn instruction(&mut self) -> Instruction {
        let is_guarded = self.random.chance(self.taste.guarded);
        let guard = is_guarded.then(|| ((1, self.random.below(PREDICATES)), self.random.chance(50)));
        Instruction { guard, action: self.action() }
    }

    fn action(&mut self) -> Action {
        let last = self.recent.last().copied().filter(|last| last.0 != 1);
        let action = match last {
            Some(last) if self.random.chance(self.taste.chained) => self.next_of_chain(last),
            _ => self.any_action(),
        };
        self.recent.extend(action.writes());
        self.recent.drain(..self.recent.len().saturating_sub(8));
        action
    }

    fn bits(&mut self) -> Bits {
        self.random.pick(&[16, 32, 32, 32, 64, 64])
    }

    fn reg(&mut self, bits: Bits) -> Register {
        (bits, self.random.below(if bits == 1 { PREDICATES } else { REGISTERS }))
    }

    fn number(&mut self, bits: Bits) -> u64 {
        let number = self.random.pick(&NUMBERS);
        let number = match self.random.below(10) {
            0 => number.wrapping_neg(),
            1 => !number,
            2 => mask_of(number & 63),
            3 => !mask_of(number & 63),
            4 => self.random.next(),
            _ => number,
        };
        number & mask(bits)
    }

    /// A register that is read.
    fn used(&mut self, bits: Bits) -> Register {
        let recent: Vec<_> = self.recent.iter().copied().filter(|reg| reg.0 == bits).collect();
        if recent.is_empty() || self.random.chance(40) { self.reg(bits) } else { self.random.pick(&recent) }
    }

    fn source(&mut self, bits: Bits) -> Source {
        if self.random.chance(50) {
            Source::Reg(self.used(bits))
        } else if bits == 32 && self.random.chance(12) {
            Source::Special(self.random.pick(&["%tid.x", "%tid.y", "%laneid", "%ctaid.x", "%ntid.y"]))
        } else {
            Source::Number(self.number(bits))
        }
    }

    fn setp(&mut self, to: Register) -> Action {
        use Compare::*;
        let bits = self.bits();
        let compare = self.random.pick(&[Eq, Ne, Lt, Le, Gt, Ge, Lt, Ge]);
        let and = self.random.chance(10).then(|| (self.random.pick(&["and", "or"]), self.reg(1)));
        Action::Setp(compare, self.random.chance(50), bits, to, Source::Reg(self.used(bits)), self.source(bits), and)
    }

    /// A step from an index to an address: a sum, a multiple, a mask, a shift or an extension.
    fn next_of_chain(&mut self, last: Register) -> Action {
        use Binary::*;
        let bits = last.0;
        let to = self.reg(bits);
        let a = Source::Reg(last);
        let is_signed = self.random.chance(50);
        let small = Source::Number(self.random.pick(&[1, 2, 3, 4, 5, 6, 7, 8]));
        match self.random.below(12) {
            0 | 1 => Action::Binary(self.random.pick(&[Add, Sub]), is_signed, to, a, Source::Reg(self.reg(bits))),
            2 => Action::Binary(self.random.pick(&[Add, Sub]), is_signed, to, a, Source::Number(self.number(bits))),
            3 => Action::Binary(Mul, is_signed, to, a, Source::Number(self.number(bits))),
            4 => Action::Binary(Shl, is_signed, to, a, small),
            5 => Action::Binary(Shr, is_signed, to, a, small),
            6 => {
                let op = self.random.pick(&[And, And, Or, Xor]);
                Action::Binary(op, is_signed, to, a, Source::Number(self.number(bits)))
            }
            7 | 8 if bits < 64 => {
                let c = self.random.chance(40).then(|| Source::Reg(self.reg(bits * 2)));
                let b = Source::Number(self.random.pick(&[1, 2, 4, 8, 12, mask(bits)]));
                Action::Wide(is_signed, self.reg(bits * 2), a, b, c)
            }
            9 => {
                let to_bits = self.bits();
                Action::Cvt((to_bits, self.random.chance(50)), (bits, is_signed), self.reg(to_bits), a)
            }
            10 if bits == 64 => Action::Load(self.reg(32), last, self.random.pick(&[0, 4, -8])),
            10 => Action::Mad(to, a, Source::Number(self.number(bits)), Source::Reg(self.reg(bits))),
            _ => self.setp((1, 0)),
        }
    }

    fn any_action(&mut self) -> Action {
        use Binary::*;
        let bits = self.bits();
        let to = self.reg(bits);
        match self.random.below(24) {
            0 => Action::Mov(to, self.source(bits)),
            1..=7 => {
                let op = self
                    .random
                    .pick(&[Add, Add, Add, Sub, Sub, Mul, And, And, Or, Xor, Shl, Shr, Shr, Min, Max, Div, Rem]);
                let is_signed = self.random.chance(50) && !matches!(op, Div | Rem);
                let a = Source::Reg(self.used(bits));
                let b = match op {
                    Shl | Shr if self.random.chance(90) => Source::Number(self.random.below(bits as usize + 2) as u64),
                    Shl | Shr => self.source(32),
                    And | Or | Xor | Mul if self.random.chance(70) => Source::Number(self.number(bits)),
                    _ => self.source(bits),
                };
                Action::Binary(op, is_signed, to, a, b)
            }
            8 => Action::Mad(to, self.source(bits), self.source(bits), self.source(bits)),
            9 | 10 => {
                let wide = self.random.pick(&[32, 64]);
                let half = wide / 2;
                let number = Source::Number(self.random.pick(&[1, 2, 4, 8, 4, 12]));
                let b = if self.random.chance(70) { number } else { self.source(half) };
                let c = self.random.chance(40).then(|| self.source(wide));
                Action::Wide(self.random.chance(50), self.reg(wide), Source::Reg(self.used(half)), b, c)
            }
            11 => Action::Neg(to, Source::Reg(self.used(bits))),
            12 => Action::Not(to, Source::Reg(self.used(bits))),
            13 | 14 => {
                let from_reg = self.bits();
                let from = if self.random.chance(10) { 8 } else { from_reg };
                let to_bits = if self.random.chance(10) { 8 } else { bits };
                let (to_signed, from_signed) = (self.random.chance(50), self.random.chance(50));
                Action::Cvt((to_bits, to_signed), (from, from_signed), to, Source::Reg(self.used(from_reg)))
            }
            15 | 16 => {
                let to = self.reg(1);
                self.setp(to)
            }
            17 => Action::Selp(to, self.source(bits), self.source(bits), self.used(1)),
            18 => {
                let bits = self.random.pick(&[32, 64]);
                let (start, len) = (self.random.below(70) as u64, self.random.below(70) as u64);
                let (to, a) = (self.reg(bits), Source::Reg(self.used(bits)));
                if self.random.chance(50) {
                    Action::Bfe(to, a, Source::Number(start), Source::Number(len))
                } else {
                    let b = self.source(bits);
                    Action::Bfi(to, a, b, Source::Number(start / 3), Source::Number(len / 3))
                }
            }
            19 => Action::Logic(self.random.pick(&["and", "or", "xor"]), self.reg(1), self.used(1), self.used(1)),
            20 => match self.random.chance(50) {
                true => Action::Pack(self.reg(64), self.used(32), self.used(32)),
                false => {
                    let low = self.random.below(REGISTERS);
                    Action::Unpack((32, low), (32, (low + 1) % REGISTERS), self.used(64))
                }
            },
            21 => Action::Load(self.reg(32), self.used(64), self.random.pick(&[0, 4, -8])),
            22 => match self.random.chance(50) {
                true => Action::AddCarry(self.reg(32), self.source(32), self.source(32)),
                false => Action::AddWithCarry(self.reg(32), self.source(32), self.source(32)),
            },
            _ => Action::Param(to, self.random.below(PARAMS)),
        }
    }
}

impl Kernel {
    /// The kernel as PTX. Instructions come in the order of the blocks.
    pub(crate) fn text(&self) -> String {
        let mut text = String::from(".version 8.0\n.target sm_80\n.address_size 64\n\n.visible .entry k(");
        for index in 0..PARAMS {
            let comma = if index == 0 { "" } else { ", " };
            write!(text, "{comma}.param .u64 k_param_{index}").unwrap();
        }
        text.push_str(")\n{\n");
        for (bits, ty) in [(1, "pred"), (16, "b16"), (32, "b32"), (64, "b64")] {
            writeln!(text, "\t.reg .{ty} {}<{REGISTERS}>;", prefix(bits)).unwrap();
        }
        for (index, block) in self.blocks.iter().enumerate() {
            writeln!(text, "L{index}:").unwrap();
            for instruction in block {
                text.push('\t');
                if let Some((reg, negated)) = instruction.guard {
                    write!(text, "@{}{} ", if negated { "!" } else { "" }, reg_name(reg)).unwrap();
                }
                writeln!(text, "{};", action_text(&instruction.action)).unwrap();
            }
        }
        text.push_str("}\n");
        text
    }
}

fn prefix(bits: Bits) -> &'static str {
    match bits {
        1 => "%p",
        16 => "%h",
        32 => "%r",
        _ => "%d",
    }
}

pub(crate) fn reg_name((bits, number): Register) -> String {
    format!("{}{number}", prefix(bits))
}

fn source_text(source: Source) -> String {
    match source {
        Source::Reg(reg) => reg_name(reg),
        Source::Number(number) => format!("{}", number as i64),
        Source::Special(name) => name.to_owned(),
    }
}

fn action_text(action: &Action) -> String {
    let s = source_text;
    let sign = |is_signed| if is_signed { 's' } else { 'u' };
    match action.clone() {
        Action::Mov(to, a) => format!("mov.b{} {}, {}", to.0, reg_name(to), s(a)),
        Action::Binary(op, is_signed, to, a, b) => {
            let name = format!("{op:?}").to_lowercase();
            let ty = match op {
                Binary::And | Binary::Or | Binary::Xor | Binary::Shl => format!("b{}", to.0),
                Binary::Mul => format!("lo.{}{}", sign(is_signed), to.0),
                _ => format!("{}{}", sign(is_signed), to.0),
            };
            format!("{name}.{ty} {}, {}, {}", reg_name(to), s(a), s(b))
        }
        Action::Mad(to, a, b, c) => format!("mad.lo.u{} {}, {}, {}, {}", to.0, reg_name(to), s(a), s(b), s(c)),
        Action::Wide(is_signed, to, a, b, c) => {
            let name = if c.is_some() { "mad" } else { "mul" };
            let c = c.map_or(String::new(), |c| format!(", {}", s(c)));
            format!("{name}.wide.{}{} {}, {}, {}{c}", sign(is_signed), to.0 / 2, reg_name(to), s(a), s(b))
        }
        Action::Neg(to, a) => format!("neg.s{} {}, {}", to.0, reg_name(to), s(a)),
        Action::Not(to, a) => format!("not.b{} {}, {}", to.0, reg_name(to), s(a)),
        Action::Cvt(to_type, from_type, to, a) => {
            let ty = |(bits, is_signed)| format!("{}{bits}", sign(is_signed));
            format!("cvt.{}.{} {}, {}", ty(to_type), ty(from_type), reg_name(to), s(a))
        }
        Action::Setp(compare, is_signed, bits, to, a, b, and) => {
            let name = format!("{compare:?}").to_lowercase();
            let (op, other) = match and {
                Some((op, other)) => (format!(".{op}"), format!(", {}", reg_name(other))),
                None => Default::default(),
            };
            format!("setp.{name}{op}.{}{bits} {}, {}, {}{other}", sign(is_signed), reg_name(to), s(a), s(b))
        }
        Action::Selp(to, a, b, p) => format!("selp.b{} {}, {}, {}, {}", to.0, reg_name(to), s(a), s(b), reg_name(p)),
        Action::Bfe(to, a, b, c) => format!("bfe.u{} {}, {}, {}, {}", to.0, reg_name(to), s(a), s(b), s(c)),
        Action::Bfi(to, a, b, c, d) => {
            format!("bfi.b{} {}, {}, {}, {}, {}", to.0, reg_name(to), s(a), s(b), s(c), s(d))
        }
        Action::Logic(op, to, a, b) => format!("{op}.pred {}, {}, {}", reg_name(to), reg_name(a), reg_name(b)),
        Action::Pack(to, a, b) => format!("mov.b64 {}, {{{}, {}}}", reg_name(to), reg_name(a), reg_name(b)),
        Action::Unpack(low, high, a) => format!("mov.b64 {{{}, {}}}, {}", reg_name(low), reg_name(high), reg_name(a)),
        Action::Param(to, index) => format!("ld.param.b{} {}, [k_param_{index}]", to.0, reg_name(to)),
        Action::Load(to, address, offset) => {
            format!("ld.global.b32 {}, [{}+{offset}]", reg_name(to), reg_name(address))
        }
        Action::AddCarry(to, a, b) => format!("add.cc.u32 {}, {}, {}", reg_name(to), s(a), s(b)),
        Action::AddWithCarry(to, a, b) => format!("addc.u32 {}, {}, {}", reg_name(to), s(a), s(b)),
        Action::Bra(target) => format!("bra L{target}"),
        Action::Ret => "ret".to_owned(),
    }
}
