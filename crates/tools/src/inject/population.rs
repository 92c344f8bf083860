//! Where faults can strike: so many places in each launch, and in it so many of each thread.

use super::random::Numbers;

/// How many places each launch of a program has, as the command tells: `COUNT` or `COUNTxLAUNCHES` for one launch after another,
/// with commas between them. The first launch is number 1.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Population {
    /// Places of the launches with these numbers, from the first on, and all places before them.
    runs: Vec<Launches>,
    total: u64,
}

/// Launches one after another with as many places each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Launches {
    first: u64,
    launches: u64,
    places: u64,
    before: u64,
}

impl Population {
    /// Reads what the command tells.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut population = Self::default();
        let mut next = 1;
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (places, launches) = part.split_once('x').unwrap_or((part, "1"));
            let number = |text: &str| text.parse::<u64>().map_err(|_| format!("`{part}` is not COUNTxLAUNCHES"));
            let (places, launches) = (number(places)?, number(launches)?);
            population.runs.push(Launches { first: next, launches, places, before: population.total });
            let overflow = || "there are too many places".to_owned();
            let of_run = places.checked_mul(launches).ok_or_else(overflow)?;
            population.total = population.total.checked_add(of_run).ok_or_else(overflow)?;
            next += launches;
        }
        Ok(population)
    }

    /// The launch that a place is in, and its number there.
    fn find(&self, place: u64) -> Option<(u64, u64)> {
        let after = self.runs.partition_point(|run| run.before <= place);
        // Launches without places come before the one that has it.
        let run = self.runs[..after].iter().rev().find(|run| run.places > 0)?;
        let within = place - run.before;
        (within / run.places < run.launches).then(|| (run.first + within / run.places, within % run.places))
    }

    /// Where a trial strikes: the launch, and the number of the place there. Nothing if there are no places.
    pub(super) fn draw(&self, numbers: &mut Numbers) -> Option<(u64, u64)> {
        if self.total == 0 {
            return None;
        }
        self.find(numbers.below(self.total))
    }
}

/// How many places each thread of a launch has. There are millions of threads, and each copy of the process takes time for what this
/// takes in memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Threads {
    counts: Vec<u32>,
    /// How many all threads have up to the end of each group, that of the group included.
    until: Vec<u64>,
}

/// Threads of a group, whose places are added up.
const GROUP: usize = 256;

impl Threads {
    pub(super) fn new(counts: impl IntoIterator<Item = u32>) -> Self {
        let counts: Vec<u32> = counts.into_iter().collect();
        let mut sum = 0;
        let until = counts.chunks(GROUP).map(|group| {
            sum += group.iter().map(|&count| u64::from(count)).sum::<u64>();
            sum
        });
        Self { until: until.collect(), counts }
    }

    /// How many places a thread has.
    pub(super) fn of(&self, thread: u64) -> u64 {
        self.counts.get(thread as usize).map_or(0, |&count| count.into())
    }

    /// The thread that a place is in, and its number there.
    pub(super) fn find(&self, place: u64) -> Option<(u64, u64)> {
        let group = self.until.partition_point(|&until| until <= place);
        let mut before = group.checked_sub(1).map_or(0, |before| self.until[before]);
        for (thread, &count) in self.counts.iter().enumerate().skip(group * GROUP) {
            if place - before < count.into() {
                return Some((thread as u64, place - before));
            }
            before += u64::from(count);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found() {
        let population = Population::parse("0x2,10x3,0,5").unwrap();
        assert_eq!(population.total, 35);
        let found: Vec<_> = [0, 9, 10, 29, 30, 34, 35].map(|place| population.find(place)).into();
        assert_eq!(found, [Some((3, 0)), Some((3, 9)), Some((4, 0)), Some((5, 9)), Some((7, 0)), Some((7, 4)), None]);
        assert_eq!(Population::parse("").unwrap().draw(&mut Numbers::new(0, 0, 0)), None);
        assert!(Population::parse("3y").is_err() && Population::parse("99999999999999999x9999").is_err());
    }

    #[test]
    fn threads_without_places_are_not_found() {
        let threads = Threads::new([0, 3, 0, 2]);
        let found: Vec<_> = [0, 2, 3, 4, 5].map(|place| threads.find(place)).into();
        assert_eq!(found, [Some((1, 0)), Some((1, 2)), Some((3, 0)), Some((3, 1)), None]);
        assert_eq!([0, 1, 2, 3, 4].map(|thread| threads.of(thread)), [0, 3, 0, 2, 0]);
    }
}
