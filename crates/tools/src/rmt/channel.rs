//! How twins give each other words: by shuffles, through slots in shared memory, or by a log (`log.rs`).
//!
//! A slot has room for four words, so that a comparison of an address and a value takes one turn: each writes its own, waits for
//! the other, reads what that has written, and waits again before it writes anew. The seed's Figures 2 and 4 show slots that only
//! one twin writes, and rely on the lanes of a warp being in step, which CUDA does not promise.

use ptx::edit::Builder;
use ptx::ir::{Guard, Operand, Reg, Symbol};
use ptx::special::Special;
use ptx::types::{Type, TypeKind};
use rewrite::Cursor;

use super::SLOTS;
use super::layout::TWINS;
use super::log::{Log, Publish};
use super::slots::{SLOT, SLOT_WORDS};
use super::values::{compute, number, physical, size};
use super::version::{Exchange, Layout, Pair};

/// The way between twins of a function.
#[derive(Clone, Copy, Debug)]
pub(super) enum Channel {
    Shuffle {
        mask: Reg,
        distance: u32,
    },
    /// The addresses of slots in shared memory.
    Slots {
        mask: Reg,
        own: Reg,
        other: Reg,
    },
    Log(Log),
}

/// The mask of the pair.
pub(super) fn mask(at: &mut Cursor<'_, '_>, pair: Pair) -> Reg {
    let lane = physical(at, Special::Laneid);
    let (lanes, first) = match pair.layout {
        Layout::Neighbours => (0b11, compute(at, "and.b32", &[lane.into(), 30.into()])),
        _ => (1 | 1 << TWINS, compute(at, "and.b32", &[lane.into(), i64::from(TWINS - 1).into()])),
    };
    compute(at, "shl.b32", &[Operand::Int(lanes), first.into()])
}

impl Channel {
    pub(super) fn of(at: &mut Cursor<'_, '_>, pair: Pair) -> Self {
        if pair.has_log() {
            return Self::Log(Log::of(at, pair));
        }
        let (mask, distance) = (mask(at, pair), pair.layout.distance());
        match pair.exchange {
            Exchange::Shuffle | Exchange::Log => Self::Shuffle { mask, distance },
            Exchange::Slots => {
                let memory = Symbol::Global(at.editor().module_mut().dynamic_shared(SLOT));
                let [start, offset] = [compute(at, "mov.u32", &[Operand::Symbol(memory, 0)]), size(at, SLOTS)];
                let slots = compute(at, "add.u32", &[start.into(), offset.into()]);
                let number = number(at);
                let twin = compute(at, "xor.b32", &[number.into(), i64::from(distance).into()]);
                let [own, other] = [number, twin]
                    .map(|number| compute(at, "mad.lo.u32", &[number.into(), i64::from(SLOT).into(), slots.into()]));
                Self::Slots { mask, own, other }
            }
        }
    }

    /// So many words go this way once, wherever the thread is.
    pub(super) fn take_places(self, at: &mut Cursor<'_, '_>, words: usize) {
        if let Self::Log(log) = self {
            log.take_places(at, words);
        }
    }

    /// Gives words to the twin, and gets those that it gives. In a log, the first copy gets its own.
    pub(super) fn swap(self, builder: &mut Builder<'_, '_>, words: &[Reg], publish: Publish) -> Vec<Reg> {
        match self {
            Self::Log(log) => log.swap(builder, words, publish),
            Self::Shuffle { mask, distance } => {
                let shuffled = words.iter().map(|&word| {
                    let other = builder.reg(Type::B32);
                    let lane = [i64::from(distance).into(), 31.into(), mask.into()];
                    let operands: Vec<Operand> = [other.into(), word.into()].into_iter().chain(lane).collect();
                    builder.inst("shfl.sync.bfly.b32", &operands);
                    other
                });
                shuffled.collect()
            }
            Self::Slots { mask, own, other } => {
                let by_slot = words.chunks(SLOT_WORDS).map(|words| {
                    let received: Vec<Reg> = words.iter().map(|_| builder.reg(Type::B32)).collect();
                    move_words(builder, "st.shared", words, Operand::RegAddress(own, 0));
                    builder.inst("bar.warp.sync", &[mask.into()]);
                    move_words(builder, "ld.shared", &received, Operand::RegAddress(other, 0));
                    builder.inst("bar.warp.sync", &[mask.into()]);
                    received
                });
                by_slot.collect::<Vec<_>>().concat()
            }
        }
    }
}

/// Loads or stores at most four words of a slot, by one instruction.
fn move_words(builder: &mut Builder<'_, '_>, spelling: &str, words: &[Reg], slot: Operand) {
    let mut words = words.to_vec();
    if words.len() == 3 {
        // A vector has two or four.
        words.push(if spelling.starts_with("ld") { builder.reg(Type::B32) } else { words[0] });
    }
    let (vector, value) = match words[..] {
        [word] => (String::new(), word.into()),
        _ => {
            let parts: Vec<Operand> = words.iter().map(|&word| word.into()).collect();
            (format!(".v{}", words.len()), builder.vector(&parts))
        }
    };
    let operands = if spelling.starts_with("ld") { [value, slot] } else { [slot, value] };
    builder.inst(&format!("{spelling}{vector}.b32"), &operands);
}

/// The bits of a register in words.
pub(super) fn words(builder: &mut Builder<'_, '_>, reg: Reg) -> Vec<Reg> {
    let ty = builder.editor().function().reg_type(reg);
    match ty.bits() {
        1 => {
            let word = builder.reg(Type::B32);
            builder.inst("selp.b32", &[word.into(), 1.into(), 0.into(), reg.into()]);
            vec![word]
        }
        8 => {
            let word = builder.reg(Type::B32);
            builder.inst("cvt.u32.u8", &[word.into(), reg.into()]);
            vec![word]
        }
        16 => {
            let word = builder.reg(Type::B32);
            let halves = builder.vector(&[reg.into(), reg.into()]);
            builder.inst("mov.b32", &[word.into(), halves]);
            vec![word]
        }
        32 if ty.kind() == TypeKind::Float => {
            let word = builder.reg(Type::B32);
            builder.inst("mov.b32", &[word.into(), reg.into()]);
            vec![word]
        }
        32 => vec![reg],
        64 => {
            let parts = [builder.reg(Type::B32), builder.reg(Type::B32)];
            let list = builder.vector(&parts.map(Operand::from));
            builder.inst("mov.b64", &[list, reg.into()]);
            parts.to_vec()
        }
        _ => {
            let halves = [builder.reg(Type::B64), builder.reg(Type::B64)];
            let list = builder.vector(&halves.map(Operand::from));
            builder.inst("mov.b128", &[list, reg.into()]);
            halves.into_iter().flat_map(|half| words(builder, half)).collect()
        }
    }
}

/// Sets a register to words of its bits, where a guard holds.
pub(super) fn set(builder: &mut Builder<'_, '_>, guard: Guard, reg: Reg, words: &[Reg]) {
    match (builder.editor().function().reg_type(reg).bits(), words) {
        (1, &[word]) => builder.guarded(guard, "setp.ne.b32", &[reg.into(), word.into(), 0.into()]),
        (8, &[word]) => builder.guarded(guard, "cvt.u8.u32", &[reg.into(), word.into()]),
        (16, &[word]) => {
            let [low, unused] = [builder.reg(Type::B16), builder.reg(Type::B16)];
            let halves = builder.vector(&[low.into(), unused.into()]);
            builder.inst("mov.b32", &[halves, word.into()]);
            builder.guarded(guard, "mov.b16", &[reg.into(), low.into()])
        }
        (32, &[word]) => builder.guarded(guard, "mov.b32", &[reg.into(), word.into()]),
        (64, &[low, high]) => {
            let long = long(builder, [low, high]);
            builder.guarded(guard, "mov.b64", &[reg.into(), long.into()])
        }
        (128, &[a, b, c, d]) => {
            let halves = [long(builder, [a, b]), long(builder, [c, d])];
            let list = builder.vector(&halves.map(Operand::from));
            builder.guarded(guard, "mov.b128", &[reg.into(), list])
        }
        (bits, words) => panic!("{} words are not {bits} bits", words.len()),
    };
}

/// A register of 64 bits with two words.
fn long(builder: &mut Builder<'_, '_>, words: [Reg; 2]) -> Reg {
    let long = builder.reg(Type::B64);
    let list = builder.vector(&words.map(Operand::from));
    builder.inst("mov.b64", &[long.into(), list]);
    long
}
