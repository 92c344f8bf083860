//! What the threads of a warp compute together when each runs on its own.
//!
//! This is another road to the results that vector code computes, so that the two can be compared.
//!
//! **A lane that is not in its own mask gets what the others have.** PTX leaves open what `vote.sync` and the like do
//! for a lane that they do not name, and programs do it (a prefix sum that asks the lanes below). NVIDIA's assembler
//! makes of it an operation over the lanes that are there, cut down to the mask; so do we, at both widths and in the
//! interpreter: the lane waits for whom it names, its own value does not count, it goes on with their result, and
//! observers are told. Nobody's reduction is 0. A shuffle takes the value of any lane that is there. Threads that run
//! on their own find each other because none of them goes on from a collective before all of its warp wait, or spin;
//! members are those that name the same lanes, because the same instruction may be in use for two rounds of a loop at
//! once.

use crate::abi::collective::Collective;

/// What one member brings.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Contribution {
    pub(crate) values: [u64; 3],
}

/// The lanes that stand at a collective, and what they bring.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrivals {
    /// Those that are here.
    pub(crate) here: u32,
    /// Whom each of them names.
    pub(crate) masks: [u32; 32],
    pub(crate) given: [Contribution; 32],
}

impl Arrivals {
    pub(crate) fn join(&mut self, lane: u32, mask: u32, values: [u64; 3]) {
        self.here |= 1 << lane;
        self.masks[lane as usize] = mask;
        self.given[lane as usize] = Contribution { values };
    }

    pub(crate) fn leave(&mut self, lane: u32) {
        self.here &= !(1 << lane);
        self.given[lane as usize] = Contribution::default();
    }

    /// The lanes that have met whom they name: all of those that have not ended are here, and name the same lanes. The
    /// same lanes can be here for another round already, with another mask.
    pub(crate) fn complete(&self, alive: u32) -> u32 {
        self.lanes(|_, mask| {
            let group = self.lanes(|_, other| other == mask);
            mask & alive != 0 && mask & alive & !group == 0
        })
    }

    /// The lanes that do not name themselves, and so have no right to wait.
    pub(crate) fn lanes_not_in_mask(&self) -> u32 {
        self.lanes(|lane, mask| mask >> lane & 1 == 0)
    }

    /// The lanes that have met whom they name, whomever these name.
    pub(crate) fn mixed(&self, alive: u32) -> u32 {
        self.lanes(|_, mask| mask & alive & !self.here == 0)
    }

    /// The lanes that are here of which something is true, given their masks.
    fn lanes(&self, holds: impl Fn(u32, u32) -> bool) -> u32 {
        let is_here = |lane: &u32| self.here >> lane & 1 != 0;
        (0..32)
            .filter(is_here)
            .filter(|&lane| holds(lane, self.masks[lane as usize]))
            .fold(0, |all, lane| all | 1 << lane)
    }

    /// What a lane gets, from those that it names: two numbers of 32 bits.
    pub(crate) fn result(&self, what: Collective, lane: u32) -> (u32, u32) {
        let members = self.masks[lane as usize] & self.here;
        result(what, lane, members, self)
    }
}

fn result(what: Collective, lane: u32, members: u32, arrivals: &Arrivals) -> (u32, u32) {
    let Arrivals { here, given, .. } = arrivals;
    let lanes = || (0..32_u32).filter(move |lane| members >> lane & 1 != 0);
    let value = |lane: u32| given[lane as usize].values[0];
    let ballot = lanes().filter(|&lane| value(lane) != 0).fold(0_u32, |mask, lane| mask | 1 << lane);
    let reduce =
        |combine: &dyn Fn(u32, u32) -> u32| lanes().map(|lane| value(lane) as u32).reduce(combine).unwrap_or(0);
    let own = value(lane);
    match what {
        Collective::Barrier => (0, 0),
        Collective::Operands => {
            let room = given[lane as usize].values[1] as *mut [u64; 32];
            if !room.is_null() {
                let all = std::array::from_fn(|lane| given[lane].values[0]);
                // SAFETY: the room is on the stack of a fibre that waits here.
                unsafe { *room = all };
            }
            (0, 0)
        }
        Collective::ActiveMask => (members, 0),
        Collective::Elect => {
            let leader = members.trailing_zeros();
            (leader, u32::from(leader == lane))
        }
        Collective::ShuffleUp | Collective::ShuffleDown | Collective::ShuffleXor | Collective::ShuffleIndex => {
            let (source, fits) = shuffle_source(what, lane, given[lane as usize]);
            // From a lane that is elsewhere, anything may come; its own value does.
            let source = if here >> source & 1 != 0 { source } else { lane };
            (value(source) as u32, u32::from(fits))
        }
        Collective::VoteAll => (u32::from(ballot == members), 0),
        Collective::VoteAny => (u32::from(ballot != 0), 0),
        Collective::VoteUniform => (u32::from(ballot == 0 || ballot == members), 0),
        Collective::VoteBallot => (ballot, 0),
        Collective::MatchAny => {
            (lanes().filter(|&other| value(other) == own).fold(0, |mask, other| mask | 1 << other), 0)
        }
        Collective::MatchAll if lanes().all(|other| value(other) == own) => (members, 1),
        Collective::MatchAll => (0, 0),
        Collective::ReduceAdd => (reduce(&u32::wrapping_add), 0),
        Collective::ReduceAnd => (reduce(&|a, b| a & b), 0),
        Collective::ReduceOr => (reduce(&|a, b| a | b), 0),
        Collective::ReduceXor => (reduce(&|a, b| a ^ b), 0),
        Collective::ReduceMin => (reduce(&u32::min), 0),
        Collective::ReduceMax => (reduce(&u32::max), 0),
        Collective::ReduceMinSigned => (reduce(&|a, b| (a as i32).min(b as i32) as u32), 0),
        Collective::ReduceMaxSigned => (reduce(&|a, b| (a as i32).max(b as i32) as u32), 0),
        _ => (reduce_floats(what, lanes().map(|lane| f32::from_bits(value(lane) as u32))), 0),
    }
}

fn shuffle_source(what: Collective, lane: u32, given: Contribution) -> (u32, bool) {
    let [_, b, c] = given.values.map(|value| value as u32);
    let (b, clamp, segment) = (b & 31, c & 31, c >> 8 & 31);
    let max = lane & segment | clamp & !segment;
    let (source, fits) = match what {
        Collective::ShuffleUp => {
            let source = lane.wrapping_sub(b);
            (source, source as i32 >= max as i32)
        }
        Collective::ShuffleDown => (lane + b, lane + b <= max),
        Collective::ShuffleXor => (lane ^ b, lane ^ b <= max),
        _ => {
            let source = lane & segment | b & !segment & 31;
            (source, source <= max)
        }
    };
    if fits { (source & 31, true) } else { (lane, false) }
}

fn reduce_floats(what: Collective, values: impl Iterator<Item = f32>) -> u32 {
    use Collective::*;
    let is_abs = matches!(what, ReduceFloatMinAbs | ReduceFloatMinAbsNan | ReduceFloatMaxAbs | ReduceFloatMaxAbsNan);
    let keeps_nan = matches!(what, ReduceFloatMinNan | ReduceFloatMinAbsNan | ReduceFloatMaxNan | ReduceFloatMaxAbsNan);
    let is_max = matches!(what, ReduceFloatMax | ReduceFloatMaxAbs | ReduceFloatMaxNan | ReduceFloatMaxAbsNan);
    let combine = |a: f32, b: f32| {
        if a.is_nan() || b.is_nan() {
            return if keeps_nan || a.is_nan() && b.is_nan() { f32::from_bits(0x7fff_ffff) } else { a.max(b) };
        }
        // The total order has -0 below +0.
        let takes_first = a.total_cmp(&b).is_ge() == is_max;
        if takes_first { a } else { b }
    };
    let result = values.map(|value| if is_abs { value.abs() } else { value }).reduce(combine).unwrap_or(0.0);
    if result.is_nan() { 0x7fff_ffff } else { result.to_bits() }
}
