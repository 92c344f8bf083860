//! What comes before what, among the work that the program asks of its streams.

/// A piece of work: of a queue, which a stream is, the one with a number. Later work has a larger number, whatever its queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WorkId {
    /// The queue.
    pub queue: u64,
    /// The number.
    pub number: u64,
}

/// A set of work that is closed under "before": of each queue, all up to a number. A vector clock.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Clock {
    /// All work up to this number is in the set, whatever its queue.
    floor: u64,
    /// By queue, each with a number above the floor.
    ends: Vec<(u64, u64)>,
}

/// Programs that make streams without end and never wait for them must not make clocks without end: work of so many queues
/// ago is taken to be before everything. So an order may be seen where there is none, but none is ever missed.
const MOST_QUEUES: usize = 256;

impl Clock {
    /// Whether some work is in the set.
    pub fn contains(&self, work: WorkId) -> bool {
        let end = || self.ends.binary_search_by_key(&work.queue, |end| end.0).map_or(0, |at| self.ends[at].1);
        work.number <= self.floor || work.number <= end()
    }

    /// Adds some work, and all before it in its queue.
    pub fn add(&mut self, work: WorkId) {
        if work.number <= self.floor {
            return;
        }
        match self.ends.binary_search_by_key(&work.queue, |end| end.0) {
            Ok(at) => self.ends[at].1 = self.ends[at].1.max(work.number),
            Err(at) => self.ends.insert(at, (work.queue, work.number)),
        }
        if self.ends.len() > MOST_QUEUES {
            self.floor = self.ends.iter().map(|end| end.1).min().unwrap_or(0);
            self.ends.retain(|end| end.1 > self.floor);
        }
    }

    /// Adds all that another set has.
    pub fn join(&mut self, other: &Self) {
        if other.floor > self.floor {
            self.floor = other.floor;
            self.ends.retain(|end| end.1 > other.floor);
        }
        for &(queue, number) in &other.ends {
            self.add(WorkId { queue, number });
        }
    }
}

/// Some work and what comes before it: because streams, events or graphs say so, or because the program had waited for it when
/// it asked for the work.
#[derive(Clone, Debug)]
pub struct WorkOrder {
    /// The work.
    pub id: WorkId,
    /// What has ended when it begins.
    pub before: Clock,
    /// Whether the program has streams whose work may be unordered with it, so far.
    pub has_unordered_streams: bool,
}

impl WorkOrder {
    /// What has ended when it has ended.
    pub fn end(&self) -> Clock {
        let mut end = self.before.clone();
        end.add(self.id);
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn work(queue: u64, number: u64) -> WorkId {
        WorkId { queue, number }
    }

    #[test]
    fn what_is_before_one_of_two_is_before_both() {
        let (mut first, mut second) = (Clock::default(), Clock::default());
        first.add(work(1, 5));
        second.add(work(2, 7));
        second.add(work(1, 3));
        second.join(&first);
        assert!(second.contains(work(1, 5)) && second.contains(work(1, 2)) && second.contains(work(2, 7)));
        assert!(!second.contains(work(1, 6)) && !second.contains(work(3, 4)));
        assert!(!first.contains(work(2, 1)));
    }

    #[test]
    fn a_clock_of_many_queues_forgets_the_oldest() {
        let mut clock = Clock::default();
        for queue in 0..10_000 {
            clock.add(work(queue, queue + 1));
        }
        assert!(clock.ends.len() <= MOST_QUEUES);
        assert!((0..10_000).all(|queue| clock.contains(work(queue, queue + 1))), "no order is missed");
        assert!(!clock.contains(work(20_000, 10_001)));
        let mut other = Clock::default();
        other.join(&clock);
        assert_eq!(other, clock);
    }
}
