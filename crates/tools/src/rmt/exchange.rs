//! What twins tell each other: comparison of what leaves a thread, and results that one of them hands to the other.
//!
//! Both give what they have and receive what the other has, by shuffles whose mask names the two lanes alone: twins take the
//! same branches, whatever the others of the warp do. The first word says where the twins are, so that two that are not at
//! the same instruction differ. A twin that has ended is not waited for; before a thread ends it says so in the same way.

use ptx::ir::{Guard, Operand, Reg};
use ptx::special::Special;
use ptx::types::{Type, TypeKind};
use rewrite::{Cursor, SiteId};

use super::layout::{TWINS, physical};
use super::version::Work;

/// Both lanes of a pair, in the mask of the first.
const PAIR: i64 = 1 | 1 << TWINS;
/// Where in the first word the site is: addresses have no bits there.
const SITE: u32 = 16;
/// The bits of a site that are in the first word.
const SITES: u32 = 0x7fff;
/// Set in the first word of an instruction that is not executed, because of its guard.
const LEFT_OUT: u32 = 1 << 31;

/// What a thread is about to do, which its twin must do as well.
#[derive(Debug, Default)]
pub(super) struct Intent {
    /// The address, if it is in a register.
    pub(super) address: Option<Reg>,
    /// Registers with values.
    pub(super) values: Vec<Reg>,
    /// Where it is done at all.
    pub(super) guard: Option<Guard>,
}

/// A word of this thread, and that of its twin.
type Words = [Reg; 2];

/// Whether the thread is the first of its pair, which does what is done once.
pub(super) fn is_first(at: &mut Cursor<'_, '_>) -> Reg {
    let lane = physical(at, Special::Laneid);
    at.at_entry("setp.lt.u32", Type::Pred, &[lane.into(), i64::from(TWINS).into()])
}

/// Whether it is the second.
pub(super) fn is_second(at: &mut Cursor<'_, '_>) -> Reg {
    let lane = physical(at, Special::Laneid);
    at.at_entry("setp.ge.u32", Type::Pred, &[lane.into(), i64::from(TWINS).into()])
}

/// The number of the copy, as a number: 0 or 1.
pub(super) fn copy(at: &mut Cursor<'_, '_>) -> Reg {
    let lane = physical(at, Special::Laneid);
    at.at_entry("shr.u32", Type::B32, &[lane.into(), i64::from(TWINS.trailing_zeros()).into()])
}

/// The mask of the pair.
fn mask(at: &mut Cursor<'_, '_>) -> Reg {
    let lane = physical(at, Special::Laneid);
    let first = at.at_entry("and.b32", Type::B32, &[lane.into(), i64::from(TWINS - 1).into()]);
    at.at_entry("shl.b32", Type::B32, &[PAIR.into(), first.into()])
}

/// Compares what twins are about to do, before they do it. Differences are reported. Gives the predicate of those that agree,
/// which is all of them if nothing is to be compared.
pub(super) fn compare(at: &mut Cursor<'_, '_>, site: SiteId, intent: &Intent, work: Work) -> Reg {
    if work != Work::All {
        return at.at_entry("setp.eq.u32", Type::Pred, &[0.into(), 0.into()]);
    }
    let guard = intent.guard;
    let mut address = intent.address.map_or_else(Vec::new, |reg| words(at, reg));
    let high = (address.len() == 2).then(|| address.pop()).flatten();
    let control = control(at, site, high, guard);
    let mut data: Vec<Words> = Vec::new();
    for word in address.iter().copied().chain(intent.values.iter().flat_map(|&reg| words(at, reg)).collect::<Vec<_>>())
    {
        data.push([word, shuffled(at, word)]);
    }
    let (address, values) = data.split_at(address.len());
    // What is reported of a value has two words.
    let mut groups: Vec<&[Words]> = values.chunks(2).collect();
    if groups.is_empty() {
        groups.push(&[]);
    }
    let mut agree: Option<Reg> = None;
    for (index, group) in groups.into_iter().enumerate() {
        let mut difference = differences(at, address.iter().chain(group).copied());
        if let (Some(of_data), Some(guard)) = (difference, guard) {
            let [yes, no] = if guard.negated { [0.into(), of_data.into()] } else { [of_data.into(), 0.into()] };
            let masked = at.reg(Type::B32);
            at.before().inst("selp.b32", &[masked.into(), yes, no, guard.reg.into()]);
            difference = Some(masked);
        }
        let of_control = differences(at, [control].into_iter()).expect("there is one word");
        let all = difference.map_or(of_control, |of_data| or(at, of_control, of_data));
        let [differ, same] = [at.reg(Type::Pred), at.reg(Type::Pred)];
        at.before().inst("setp.ne.b32", &[Operand::Pair(differ.into(), same.into()), all.into(), 0.into()]);
        let pair = |words: Option<&Words>| words.map_or([0.into(), 0.into()], |words| words.map(Operand::from));
        let arguments: Vec<Operand> = [i64::from(site.0).into(), (index as i64).into()]
            .into_iter()
            .chain(pair(Some(&control)))
            .chain(pair(address.first()))
            .chain(pair(group.first()))
            .chain(pair(group.get(1)))
            .collect();
        at.call(Some(Guard::when(differ)), "warpgrind_rmt_differ", &[], &arguments);
        agree = Some(match agree {
            None => same,
            Some(before) => {
                let both = at.reg(Type::Pred);
                at.before().inst("and.pred", &[both.into(), before.into(), same.into()]);
                both
            }
        });
    }
    agree.expect("there is a group")
}

/// The first word: where the thread is, whether it does what is there, and the upper half of an address.
fn control(at: &mut Cursor<'_, '_>, site: SiteId, high: Option<Reg>, guard: Option<Guard>) -> Words {
    let place = (site.0 & SITES) << SITE;
    let mixed = |at: &mut Cursor<'_, '_>, word: Reg, bits: u32| {
        let mixed = at.reg(Type::B32);
        at.before().inst("xor.b32", &[mixed.into(), word.into(), Operand::Hex(bits.into())]);
        mixed
    };
    // Without an address, the mask stands there, which twins have in common: the exchange of a constant says nothing to an
    // assembler, and ptxas takes the comparison away where it sees that.
    let word = high.unwrap_or_else(|| mask(at));
    let done = mixed(at, word, place);
    let mine = match guard {
        None => done,
        Some(guard) => {
            let left_out = match high {
                None => mixed(at, word, place | LEFT_OUT).into(),
                Some(_) => Operand::Hex((place | LEFT_OUT).into()),
            };
            let [yes, no] = if guard.negated { [left_out, done.into()] } else { [done.into(), left_out] };
            let mine = at.reg(Type::B32);
            at.before().inst("selp.b32", &[mine.into(), yes, no, guard.reg.into()]);
            mine
        }
    };
    [mine, shuffled(at, mine)]
}

/// The bits in which words differ, of all of them together.
fn differences(at: &mut Cursor<'_, '_>, words: impl Iterator<Item = Words>) -> Option<Reg> {
    let mut all: Option<Reg> = None;
    for [mine, other] in words {
        let bits = at.reg(Type::B32);
        at.before().inst("xor.b32", &[bits.into(), mine.into(), other.into()]);
        all = Some(all.map_or(bits, |all| or(at, all, bits)));
    }
    all
}

fn or(at: &mut Cursor<'_, '_>, a: Reg, b: Reg) -> Reg {
    let both = at.reg(Type::B32);
    at.before().inst("or.b32", &[both.into(), a.into(), b.into()]);
    both
}

/// A word of the twin.
fn shuffled(at: &mut Cursor<'_, '_>, word: Reg) -> Reg {
    let mask = mask(at);
    let other = at.reg(Type::B32);
    at.before().inst("shfl.sync.bfly.b32", &shuffle(other, word, mask));
    other
}

fn shuffle(to: Reg, from: Reg, mask: Reg) -> [Operand; 5] {
    [to.into(), from.into(), i64::from(TWINS).into(), 31.into(), mask.into()]
}

/// The bits of a register in words.
fn words(at: &mut Cursor<'_, '_>, reg: Reg) -> Vec<Reg> {
    let ty = at.editor().function().reg_type(reg);
    let fresh = |at: &mut Cursor<'_, '_>| at.reg(Type::B32);
    match ty.bits() {
        1 => {
            let word = fresh(at);
            at.before().inst("selp.b32", &[word.into(), 1.into(), 0.into(), reg.into()]);
            vec![word]
        }
        8 => {
            let word = fresh(at);
            at.before().inst("cvt.u32.u8", &[word.into(), reg.into()]);
            vec![word]
        }
        16 => {
            let word = fresh(at);
            let mut builder = at.before();
            let halves = builder.vector(&[reg.into(), reg.into()]);
            builder.inst("mov.b32", &[word.into(), halves]);
            vec![word]
        }
        32 if ty.kind() == TypeKind::Float => {
            let word = fresh(at);
            at.before().inst("mov.b32", &[word.into(), reg.into()]);
            vec![word]
        }
        32 => vec![reg],
        64 => {
            let parts = [fresh(at), fresh(at)];
            let mut builder = at.before();
            let list = builder.vector(&parts.map(Operand::from));
            builder.inst("mov.b64", &[list, reg.into()]);
            parts.to_vec()
        }
        _ => {
            let halves = [at.reg(Type::B64), at.reg(Type::B64)];
            let mut builder = at.before();
            let list = builder.vector(&halves.map(Operand::from));
            builder.inst("mov.b128", &[list, reg.into()]);
            halves.into_iter().flat_map(|half| words(at, half)).collect()
        }
    }
}

/// Gives registers that the first of a pair has written, after the instruction, to the second, where a condition holds for
/// both. What is inserted first is executed last.
pub(super) fn hand_over(at: &mut Cursor<'_, '_>, regs: &[Reg], is_receiver: Reg) {
    let mask = mask(at);
    for &reg in regs {
        let ty = at.editor().function().reg_type(reg);
        let guard = Guard::when(is_receiver);
        let mut builder = at.after();
        match ty.bits() {
            1 => {
                let [word, other] = [builder.reg(Type::B32), builder.reg(Type::B32)];
                builder.inst("selp.b32", &[word.into(), 1.into(), 0.into(), reg.into()]);
                builder.inst("shfl.sync.bfly.b32", &shuffle(other, word, mask));
                builder.guarded(guard, "setp.ne.b32", &[reg.into(), other.into(), 0.into()]);
            }
            8 => {
                let [word, other] = [builder.reg(Type::B32), builder.reg(Type::B32)];
                builder.inst("cvt.u32.u8", &[word.into(), reg.into()]);
                builder.inst("shfl.sync.bfly.b32", &shuffle(other, word, mask));
                builder.guarded(guard, "cvt.u8.u32", &[reg.into(), other.into()]);
            }
            16 => {
                let [word, other] = [builder.reg(Type::B32), builder.reg(Type::B32)];
                let low = builder.reg(Type::B16);
                let unused = builder.reg(Type::B16);
                let halves = builder.vector(&[reg.into(), reg.into()]);
                builder.inst("mov.b32", &[word.into(), halves]);
                builder.inst("shfl.sync.bfly.b32", &shuffle(other, word, mask));
                let halves = builder.vector(&[low.into(), unused.into()]);
                builder.inst("mov.b32", &[halves, other.into()]);
                builder.guarded(guard, "mov.b16", &[reg.into(), low.into()]);
            }
            32 => {
                let [word, other] = [builder.reg(Type::B32), builder.reg(Type::B32)];
                builder.inst("mov.b32", &[word.into(), reg.into()]);
                builder.inst("shfl.sync.bfly.b32", &shuffle(other, word, mask));
                builder.guarded(guard, "mov.b32", &[reg.into(), other.into()]);
            }
            bits => {
                // Halves of 128 bits first.
                let longs: Vec<Reg> = if bits == 64 {
                    vec![reg]
                } else {
                    let halves = [builder.reg(Type::B64), builder.reg(Type::B64)];
                    let list = builder.vector(&halves.map(Operand::from));
                    builder.inst("mov.b128", &[list, reg.into()]);
                    halves.to_vec()
                };
                let mut received = Vec::new();
                for long in longs {
                    let parts = [builder.reg(Type::B32), builder.reg(Type::B32)];
                    let list = builder.vector(&parts.map(Operand::from));
                    builder.inst("mov.b64", &[list, long.into()]);
                    let others = parts.map(|part| {
                        let other = builder.reg(Type::B32);
                        builder.inst("shfl.sync.bfly.b32", &shuffle(other, part, mask));
                        other
                    });
                    let list = builder.vector(&others.map(Operand::from));
                    let whole = builder.reg(Type::B64);
                    builder.inst("mov.b64", &[whole.into(), list]);
                    received.push(whole);
                }
                if let [whole] = received[..] {
                    builder.guarded(guard, "mov.b64", &[reg.into(), whole.into()]);
                } else {
                    let halves: Vec<Operand> = received.into_iter().map(Operand::from).collect();
                    let list = builder.vector(&halves);
                    builder.guarded(guard, "mov.b128", &[reg.into(), list]);
                }
            }
        }
    }
}

/// Twins wait for each other, and what each has done to memory is seen by the other: before the instruction.
pub(super) fn meet_before(at: &mut Cursor<'_, '_>) {
    let mask = mask(at);
    at.before().inst("bar.warp.sync", &[mask.into()]);
}

/// The same after it.
pub(super) fn meet_after(at: &mut Cursor<'_, '_>) {
    let mask = mask(at);
    at.after().inst("bar.warp.sync", &[mask.into()]);
}
