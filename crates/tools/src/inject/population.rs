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

/// How many places each thread of a launch has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Threads {
    /// How many all threads until this one have, itself included.
    until: Vec<u64>,
}

impl Threads {
    pub(super) fn new(counts: impl IntoIterator<Item = u32>) -> Self {
        let (mut until, mut sum) = (Vec::new(), 0);
        for count in counts {
            sum += u64::from(count);
            until.push(sum);
        }
        Self { until }
    }

    /// How many places a thread has.
    pub(super) fn of(&self, thread: u64) -> u64 {
        let before = thread.checked_sub(1).and_then(|before| self.until.get(before as usize)).copied().unwrap_or(0);
        self.until.get(thread as usize).map_or(0, |until| until - before)
    }

    /// The thread that a place is in, and its number there.
    pub(super) fn find(&self, place: u64) -> Option<(u64, u64)> {
        let thread = self.until.partition_point(|&until| until <= place);
        let before = thread.checked_sub(1).map_or(0, |before| self.until[before]);
        (thread < self.until.len()).then(|| (thread as u64, place - before))
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
