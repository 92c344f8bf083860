//! What the lanes of a warp compute together, from the values of all.

use crate::arith::float::min_max;
use crate::arith::format::F32;
use crate::arith::int::mask;
use crate::code::{CollectiveOp, IntLimit, Redux, Shuffle, Vote};

/// The values that the lanes bring: `None` for those that are elsewhere.
pub(crate) type Values = [Option<[u128; 3]>; 32];

/// The results of a lane, in the order of its destinations.
pub(crate) type Results = [u128; 2];

/// The results of one lane, which may not be a member itself, for operations that only exchange registers; nothing for
/// those on matrices.
pub(crate) fn result(op: &CollectiveOp, values: &Values, members: u32, lane: u32) -> Option<Results> {
    let own = values[lane as usize].unwrap_or_default();
    let is_member = move |lane: u32| members >> lane & 1 == 1;
    let each =
        || (0..32).filter(move |&lane| is_member(lane)).filter_map(|lane| Some((lane, values[lane as usize]?[0])));
    let ballot = || each().filter(|(_, value)| value & 1 == 1).fold(0_u32, |mask, (lane, _)| mask | 1 << lane);
    let one = |value: u128| Some([value, 0]);
    match *op {
        CollectiveOp::Shuffle(how) => Some(shuffle(how, values, lane, own)),
        CollectiveOp::Ballot => one(ballot().into()),
        CollectiveOp::Vote(how) => {
            let ballot = ballot();
            one(u128::from(match how {
                Vote::All => ballot == members,
                Vote::Any => ballot != 0,
                Vote::Uniform => ballot == members || ballot == 0,
            }))
        }
        CollectiveOp::MatchAny(bits) => {
            let same = |value: u128| value & mask(bits) == own[0] & mask(bits);
            one(each().filter(|(_, value)| same(*value)).fold(0_u32, |mask, (lane, _)| mask | 1 << lane).into())
        }
        CollectiveOp::MatchAll(bits) => {
            let is_same = each().all(|(_, value)| value & mask(bits) == own[0] & mask(bits));
            Some([if is_same { members.into() } else { 0 }, is_same.into()])
        }
        CollectiveOp::ActiveMask => one(members.into()),
        CollectiveOp::Redux(how) => one(each().map(|(_, value)| value).reduce(|a, b| redux(how, a, b)).unwrap_or(0)),
        CollectiveOp::Sync => one(0),
        CollectiveOp::Elect => {
            let leader = members.trailing_zeros();
            Some([leader.into(), (leader == lane).into()])
        }
        _ => None,
    }
}

/// The value of another lane, and whether that lane is in range. A lane in range that is elsewhere leaves the result
/// open by the manual; here it is the own value. Whether the other lane is a member does not matter, as on processors.
fn shuffle(how: Shuffle, values: &Values, lane: u32, own: [u128; 3]) -> Results {
    let (b, c) = (own[1] as u32 & 31, own[2] as u32);
    let (clamp, segment) = (c & 31, c >> 8 & 31);
    let max = (lane & segment) | (clamp & !segment);
    let min = lane & segment;
    let (source, in_range) = match how {
        Shuffle::Up => {
            let source = lane as i32 - b as i32;
            (source, source >= max as i32)
        }
        Shuffle::Down => {
            let source = lane + b;
            (source as i32, source <= max)
        }
        Shuffle::Butterfly => {
            let source = lane ^ b;
            (source as i32, source <= max)
        }
        Shuffle::Index => {
            let source = min | (b & !segment);
            (source as i32, source <= max)
        }
    };
    let source = if in_range { source as usize } else { lane as usize };
    let value = values.get(source).copied().flatten().unwrap_or(own);
    [value[0], in_range.into()]
}

fn redux(how: Redux, a: u128, b: u128) -> u128 {
    match how {
        Redux::Int(op, ty) => super::pure::int_op(op, ty, IntLimit::Wrap, a, b, 0) & mask(ty.bits),
        Redux::Logic(op) => super::pure::logic(op, a, b) & mask(32),
        Redux::Float(how) => min_max(F32, how, a as u64 & 0xffff_ffff, b as u64 & 0xffff_ffff).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shuffled(how: Shuffle, lane: u32, b: u32, c: u32) -> (u128, bool) {
        let mut values: Values = [None; 32];
        for (lane, value) in values.iter_mut().enumerate() {
            *value = Some([100 + lane as u128, b.into(), c.into()]);
        }
        let own = values[lane as usize].unwrap();
        let [value, in_range] = shuffle(how, &values, lane, own);
        (value, in_range == 1)
    }

    /// What `__shfl_up_sync` and the like make of a width: the upper bits of `c` are `32 - width`.
    #[test]
    fn shuffles_within_segments() {
        assert_eq!(shuffled(Shuffle::Up, 5, 2, 0), (103, true));
        assert_eq!(shuffled(Shuffle::Up, 1, 2, 0), (101, false));
        assert_eq!(shuffled(Shuffle::Down, 30, 2, 31), (130, false));
        assert_eq!(shuffled(Shuffle::Down, 29, 2, 31), (131, true));
        assert_eq!(shuffled(Shuffle::Butterfly, 5, 1, 31), (104, true));
        assert_eq!(shuffled(Shuffle::Index, 5, 37, 31), (105, true));
        let width8 = 24 << 8;
        assert_eq!(shuffled(Shuffle::Up, 8, 1, width8), (108, false));
        assert_eq!(shuffled(Shuffle::Up, 9, 1, width8), (108, true));
        assert_eq!(shuffled(Shuffle::Down, 15, 1, width8 | 31), (115, false));
        assert_eq!(shuffled(Shuffle::Index, 13, 2, width8 | 31), (110, true));
        assert_eq!(shuffled(Shuffle::Index, 13, 10, width8 | 31), (110, true));
    }

    #[test]
    fn reductions_and_votes() {
        let mut values: Values = [None; 32];
        values[3] = Some([5, 0, 0]);
        values[7] = Some([2, 0, 0]);
        let add = Redux::Int(crate::code::IntOp::Add, crate::arith::int::Int { bits: 32, signed: true });
        assert_eq!(result(&CollectiveOp::Redux(add), &values, 0x88, 3), Some([7, 0]));
        assert_eq!(result(&CollectiveOp::Ballot, &values, 0x88, 3), Some([8, 0]));
        assert_eq!(result(&CollectiveOp::MatchAny(32), &values, 0x88, 7), Some([0x80, 0]));
        assert_eq!(result(&CollectiveOp::Elect, &values, 0x88, 7), Some([3, 0]));
        assert_eq!(result(&CollectiveOp::Vote(Vote::All), &values, 0x88, 7), Some([0, 0]));
    }
}
