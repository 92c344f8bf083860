//! Copies of `cp.async` that are done as late as PTX allows: where their thread waits for them, or ends.
//!
//! Hardware does them at any moment between. Programs that forget to wait work when copies are early, which is how they
//! are done otherwise; here they read what was there before.

use std::collections::BTreeMap;

/// The copies of the threads of a block that were issued and not waited for.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    threads: BTreeMap<u32, OfThread>,
}

#[derive(Debug, Default)]
struct OfThread {
    /// Groups that were committed so far.
    committed: u32,
    pending: Vec<Copy>,
}

/// A copy that has been issued.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Copy {
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// Bytes that are written.
    pub(crate) bytes: u8,
    /// Bytes that are read; the rest is zero.
    pub(crate) valid: u8,
    /// The group that it belongs to, once that is committed.
    group: u32,
}

impl Copies {
    /// Whether no thread has issued any.
    pub(crate) fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }

    /// A thread issues a copy.
    pub(crate) fn issue(&mut self, thread: u32, from: u64, to: u64, bytes: u8, valid: u8) {
        let of_thread = self.threads.entry(thread).or_default();
        let group = of_thread.committed;
        of_thread.pending.push(Copy { from, to, bytes, valid: valid.min(bytes), group });
    }

    /// A thread makes a group of what it issued since the last one.
    pub(crate) fn commit(&mut self, thread: u32) {
        self.threads.entry(thread).or_default().committed += 1;
    }

    /// A thread waits until at most so many of its latest groups are pending; without a number, for all that it issued.
    /// The copies that are to be done, in their order.
    pub(crate) fn take(&mut self, thread: u32, pending_groups: Option<u32>) -> Vec<Copy> {
        let Some(of_thread) = self.threads.get_mut(&thread) else { return Vec::new() };
        let Some(left) = pending_groups else { return std::mem::take(&mut of_thread.pending) };
        let done_below = of_thread.committed.saturating_sub(left);
        let done = of_thread.pending.iter().filter(|copy| copy.group < done_below).copied().collect();
        of_thread.pending.retain(|copy| copy.group >= done_below);
        done
    }
}

impl Copy {
    /// Does it.
    ///
    /// # Safety
    /// The kernel may access what it copies; where nothing is mapped, a fault ends the launch.
    pub(crate) unsafe fn run(&self) {
        let mut buffer = [0_u8; 16];
        // SAFETY: at most 16 bytes, as many as the buffer has; the rest is the caller's promise.
        unsafe {
            std::ptr::copy_nonoverlapping(self.from as *const u8, buffer.as_mut_ptr(), self.valid.min(16).into());
            std::ptr::copy_nonoverlapping(buffer.as_ptr(), self.to as *mut u8, self.bytes.min(16).into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Copies;

    #[test]
    fn groups_are_done_in_order() {
        let mut copies = Copies::default();
        copies.issue(5, 1, 100, 4, 4);
        copies.commit(5);
        copies.issue(5, 2, 200, 8, 3);
        copies.commit(5);
        copies.issue(5, 3, 300, 16, 16);
        let sources = |copies: Vec<super::Copy>| copies.iter().map(|copy| copy.from).collect::<Vec<_>>();
        assert_eq!(sources(copies.take(5, Some(2))), Vec::<u64>::new());
        assert_eq!(sources(copies.take(5, Some(1))), [1]);
        assert_eq!(sources(copies.take(5, Some(0))), [2]);
        assert_eq!(sources(copies.take(6, None)), Vec::<u64>::new());
        assert_eq!(sources(copies.take(5, None)), [3]);
    }
}
