//! What twins tell each other: comparison of what leaves a thread, and results that one of them hands to the other.
//!
//! Both give what they have and receive what the other has (`channel.rs`), and wait for just the other: twins take the same
//! branches, whatever the others of the warp do. The first word says where the twins are, so that two that are not at the same
//! instruction differ. A twin that has ended is not waited for; before a thread ends it says so in the same way.

use ptx::edit::Builder;
use ptx::ir::{Guard, Operand, Reg};
use ptx::types::Type;
use rewrite::{Cursor, SiteId};

use super::channel::{self, Channel, mask};
use super::log::Publish;
use super::values::number;
use super::version::{Layout, Pair, Work};

/// Where in the first word the site is: addresses have no bits there.
const SITE: u32 = 16;
/// The bits of a site that are in the first word.
const SITES: u32 = 0x7fff;
/// Where the distance of twins is beside the number of a pair of words, for the helper.
pub(super) const DISTANCE: u32 = 8;
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
    /// What is said in a log of it.
    pub(super) publish: Publish,
}

/// A word of this thread, and that of its twin.
type Words = [Reg; 2];

/// Compares what twins are about to do, before they do it. Differences are reported. Gives the predicate of those that agree,
/// which is all of them if nothing is to be compared.
pub(super) fn compare(at: &mut Cursor<'_, '_>, site: SiteId, intent: &Intent, pair: Pair) -> Reg {
    if pair.work != Work::All {
        return at.at_entry("setp.eq.u32", Type::Pred, &[0.into(), 0.into()]);
    }
    let guard = intent.guard;
    let mut address = intent.address.map_or_else(Vec::new, |reg| channel::words(&mut at.before(), reg));
    let high = (address.len() == 2).then(|| address.pop()).flatten();
    let mut mine = vec![control(at, site, high, guard, pair)];
    mine.extend(&address);
    for &reg in &intent.values {
        mine.extend(channel::words(&mut at.before(), reg));
    }
    let channel = Channel::of(at, pair);
    channel.take_places(at, mine.len());
    let others = channel.swap(&mut at.before(), &mine, intent.publish);
    let both: Vec<Words> = mine.into_iter().zip(others).map(|(mine, other)| [mine, other]).collect();
    let (control, data) = (both[0], &both[1..]);
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
        // Of a log, the second copy says what differs.
        let in_order = |[mine, other]: Words| if pair.has_log() { [other, mine] } else { [mine, other] };
        let words = |words: Option<&Words>| words.map_or([0.into(); 2], |words| in_order(*words).map(Operand::from));
        let which = index as i64 | i64::from(pair.layout.distance()) << DISTANCE;
        let arguments: Vec<Operand> = [i64::from(site.0).into(), which.into()]
            .into_iter()
            .chain(words(Some(&control)))
            .chain(words(address.first()))
            .chain(words(group.first()))
            .chain(words(group.get(1)))
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
fn control(at: &mut Cursor<'_, '_>, site: SiteId, high: Option<Reg>, guard: Option<Guard>, pair: Pair) -> Reg {
    let place = (site.0 & SITES) << SITE;
    let mixed = |at: &mut Cursor<'_, '_>, word: Reg, bits: u32| {
        let mixed = at.reg(Type::B32);
        at.before().inst("xor.b32", &[mixed.into(), word.into(), Operand::Hex(bits.into())]);
        mixed
    };
    // Without an address, a number of the twins stands there, which they have in common: the exchange of a constant says nothing to an
    // assembler, and ptxas takes the comparison away where it sees that.
    let word = high.unwrap_or_else(|| number_of_twins(at, pair));
    let done = mixed(at, word, place);
    match guard {
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
    }
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

/// A number that twins have in common, in bits that sites do not have.
fn number_of_twins(at: &mut Cursor<'_, '_>, pair: Pair) -> Reg {
    match pair.layout {
        Layout::Warps => pair.thread_of_copy(at),
        Layout::Blocks => number(at),
        _ => mask(at, pair),
    }
}

/// Gives registers that the first of a pair has written, after the instruction, to the second, where a condition holds for
/// both. What is inserted first is executed last.
pub(super) fn hand_over(at: &mut Cursor<'_, '_>, regs: &[Reg], is_receiver: Reg, pair: Pair) {
    let channel = Channel::of(at, pair);
    give(at, regs, is_receiver, channel, |builder, words| channel.swap(builder, words, Publish::Now));
}

/// Gives the results of what only one copy has done to the other, in the same way.
pub(super) fn hand_results(at: &mut Cursor<'_, '_>, regs: &[Reg], is_receiver: Reg, pair: Pair) {
    match Channel::of(at, pair) {
        channel @ Channel::Log(log) => {
            give(at, regs, is_receiver, channel, |builder, words| log.give_back(builder, words));
        }
        _ => hand_over(at, regs, is_receiver, pair),
    }
}

fn give(
    at: &mut Cursor<'_, '_>,
    regs: &[Reg],
    is_receiver: Reg,
    channel: Channel,
    swap: impl Fn(&mut Builder<'_, '_>, &[Reg]) -> Vec<Reg>,
) {
    let mut builder = at.after();
    let words: Vec<Vec<Reg>> = regs.iter().map(|&reg| channel::words(&mut builder, reg)).collect();
    let mut received = &swap(&mut builder, &words.concat())[..];
    for (&reg, words) in regs.iter().zip(&words) {
        let (own, others) = received.split_at(words.len());
        channel::set(&mut builder, Guard::when(is_receiver), reg, own);
        received = others;
    }
    channel.take_places(at, words.concat().len());
}

/// Twins wait for each other, and what each has done to memory is seen by the other: before the instruction. With a log, the
/// first copy has read what it reads before the second can do anything.
pub(super) fn meet_before(at: &mut Cursor<'_, '_>, pair: Pair) {
    if !pair.has_log() {
        let mask = mask(at, pair);
        at.before().inst("bar.warp.sync", &[mask.into()]);
    }
}

/// The same after it. With a log, the second copy says that it has done it, and the first waits where it matters:
/// [`wait_for_commit`].
pub(super) fn meet_after(at: &mut Cursor<'_, '_>, pair: Pair) {
    match Channel::of(at, pair) {
        Channel::Log(log) => log.commit(&mut at.after()),
        Channel::Shuffle { mask, .. } | Channel::Slots { mask, .. } => {
            at.after().inst("bar.warp.sync", &[mask.into()]);
        }
    }
}

/// With a log, the first copy waits until all that was compared is done: before it reads what it may have written, or tells others
/// that it has.
pub(super) fn wait_for_commit(at: &mut Cursor<'_, '_>, pair: Pair) {
    if let Channel::Log(log) = Channel::of(at, pair) {
        log.wait_for_commit(&mut at.before());
    }
}
