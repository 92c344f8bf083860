//! The calls that a thread is in.
//!
//! Unwinding takes microseconds, and a loop of launches and copies has the same calls each time. So a thread remembers the
//! last calls that it saw, and where on its stack each return address was: while all of them are still there, from the
//! innermost on, unwinding would read the same. Only the frame of a function that moves its stack pointer (`alloca`) could
//! have another size and leave its old return address behind; what is then shown are the callers of the time before.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;

/// Places in a loop that a thread remembers.
const MOST_REMEMBERED: usize = 8;

thread_local! {
    static REMEMBERED: RefCell<VecDeque<Unwound>> = const { RefCell::new(VecDeque::new()) };
}

/// Calls of a thread, as they were when it unwound its stack.
#[derive(Debug)]
struct Unwound {
    /// The stack pointer and the frame pointer in [`calls`].
    here: [usize; 2],
    most: usize,
    /// Where return addresses were on the stack, from the innermost on, and what they were.
    slots: Vec<(usize, usize)>,
    calls: Arc<[usize]>,
}

/// Where the calls of this thread return to, from the innermost on, at most so many; our own come first.
#[inline(never)]
pub(crate) fn calls(most: usize) -> Arc<[usize]> {
    let here = stack_registers();
    if let Some(calls) = here.and_then(|here| remembered(here, most)) {
        return calls;
    }
    let (mut calls, mut slots) = (Vec::with_capacity(most), Vec::with_capacity(most));
    backtrace::trace(|frame| {
        let address = frame.ip() as usize;
        // What began the thread returns nowhere.
        if address == 0 {
            return false;
        }
        calls.push(address);
        slots.push(((frame.sp() as usize).wrapping_sub(size_of::<usize>()), address));
        calls.len() < most
    });
    let calls: Arc<[usize]> = calls.into();
    if let Some(here) = here {
        // Calls of this function are over when somebody looks.
        slots.retain(|&(slot, _)| slot > here[0]);
        let is_ascending = slots.is_sorted_by(|(slot, _), (next, _)| slot < next);
        let unwound = Unwound { here, most, slots, calls: Arc::clone(&calls) };
        // What a signal has interrupted has not left a return address.
        if is_ascending && unwound.calls_at(here, most).is_some() {
            remember(unwound);
        }
    }
    calls
}

/// The calls, if this thread was in them before.
fn remembered(here: [usize; 2], most: usize) -> Option<Arc<[usize]>> {
    // A thread that ends has nothing to remember them in, and a signal may come while they are looked at.
    let look = |known: &RefCell<VecDeque<Unwound>>| {
        known.try_borrow().ok()?.iter().find_map(|unwound| unwound.calls_at(here, most))
    };
    REMEMBERED.try_with(look).ok().flatten()
}

fn remember(unwound: Unwound) {
    let _ = REMEMBERED.try_with(|known| {
        if let Ok(mut known) = known.try_borrow_mut() {
            known.truncate(MOST_REMEMBERED - 1);
            known.push_front(unwound);
        }
    });
}

impl Unwound {
    /// The calls, if the thread is still in them.
    fn calls_at(&self, here: [usize; 2], most: usize) -> Option<Arc<[usize]>> {
        // SAFETY: calls further in are the same, so this frame is where it was, and unwinding would read it there.
        let is_there = |&(slot, address): &(usize, usize)| unsafe { (slot as *const usize).read_volatile() } == address;
        let is_same = self.here == here && self.most == most && self.slots.iter().all(is_there);
        is_same.then(|| Arc::clone(&self.calls))
    }
}

/// The stack pointer and the frame pointer.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn stack_registers() -> Option<[usize; 2]> {
    let (stack, frame): (usize, usize);
    // SAFETY: registers are read.
    unsafe {
        std::arch::asm!("mov {}, rsp", "mov {}, rbp", out(reg) stack, out(reg) frame, options(nomem, nostack));
    }
    Some([stack, frame])
}

/// Where return addresses are is known for x86-64 only.
#[cfg(not(target_arch = "x86_64"))]
fn stack_registers() -> Option<[usize; 2]> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn leaf() -> Arc<[usize]> {
        std::hint::black_box(calls(400))
    }

    #[inline(never)]
    fn one_way() -> Arc<[usize]> {
        std::hint::black_box(leaf())
    }

    #[inline(never)]
    fn other_way() -> Arc<[usize]> {
        std::hint::black_box(leaf())
    }

    /// The return addresses that two lists of calls do not share at their outer end.
    fn difference(left: &[usize], right: &[usize]) -> usize {
        let shared = left.iter().rev().zip(right.iter().rev()).take_while(|(left, right)| left == right).count();
        left.len().max(right.len()) - shared
    }

    #[test]
    fn the_same_calls_are_remembered_and_others_are_not() {
        let ways: [fn() -> Arc<[usize]>; 2] = [one_way, other_way];
        let seen: Vec<_> = (0..4).map(|round| std::hint::black_box(ways[round % 2])()).collect();
        assert!(Arc::ptr_eq(&seen[0], &seen[2]) && Arc::ptr_eq(&seen[1], &seen[3]));
        assert_eq!(seen[0].len(), seen[1].len());
        assert!(difference(&seen[0], &seen[1]) > 0, "the one or the other function calls");
        let mut unwound = Vec::new();
        backtrace::trace(|frame| {
            unwound.push(frame.ip() as usize);
            true
        });
        unwound.retain(|address| *address != 0);
        assert!(difference(&seen[0], &unwound) < unwound.len(), "both end where the thread began");
    }

    #[test]
    fn calls_at_other_depths_are_not_taken_for_each_other() {
        #[inline(never)]
        fn deep(levels: usize, seen: &mut Vec<Arc<[usize]>>) {
            seen.push(leaf());
            if levels > 0 {
                deep(levels - 1, seen);
            }
            std::hint::black_box(seen);
        }
        let mut seen = Vec::new();
        deep(20, &mut seen);
        for pair in seen.windows(2) {
            assert_eq!(pair[0].len() + 1, pair[1].len());
        }
    }

    #[test]
    fn what_was_long_ago_is_forgotten() {
        #[inline(never)]
        fn deep(levels: usize) -> Arc<[usize]> {
            std::hint::black_box(if levels > 0 { deep(levels - 1) } else { leaf() })
        }
        // Twice a few depths, then others, then the few once more.
        let few = [0, 0, MOST_REMEMBERED, 0];
        let depths: Vec<_> = few.iter().flat_map(|first| *first..*first + MOST_REMEMBERED).collect();
        let mut seen = Vec::new();
        for depth in std::hint::black_box(depths) {
            seen.push(deep(depth));
        }
        let rounds: Vec<_> = seen.chunks(MOST_REMEMBERED).collect();
        let are_same = |left: &[Arc<[usize]>], right: &[Arc<[usize]>]| {
            left.iter().zip(right).map(|(left, right)| Arc::ptr_eq(left, right)).collect::<Vec<_>>()
        };
        assert_eq!(are_same(rounds[0], rounds[1]), [true; MOST_REMEMBERED]);
        assert_eq!(are_same(rounds[0], rounds[3]), [false; MOST_REMEMBERED]);
        assert_eq!(rounds[0], rounds[3]);
    }
}
