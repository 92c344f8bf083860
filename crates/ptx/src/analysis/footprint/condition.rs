//! What would have to happen for two threads of a launch to conflict, where it is not proved that they cannot.
//!
//! In `if (a[k] < a[i]) a[i] = a[k]`, all threads read `a[k]`, and which of them write depends on data. No two threads conflict
//! unless thread `k` is one of those. So a tool need not follow all accesses: it looks whether such a write takes place.

use smallvec::SmallVec;

use super::execute::Execution;
use super::linear::{Digit, Linear, Symbol, SymbolKind};
use super::path::Fact;
use super::races::{MOST_UNPROVED, Unproved};
use super::reason::{Accessed, Cause};
use super::record::Record;
use super::site::Site;
use super::solve::{Row, Solution, System};
use super::work::Work;
use crate::entity::Id as _;
use crate::types::Space;
use crate::view::AccessKind;

/// No two threads of a launch conflict, unless one of [`Self::writes`] is to a place of which another thread is a
/// [reader](Self::reader). All are weak accesses of one object, and no barrier is between any two.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Condition {
    /// The object.
    pub object: Accessed,
    /// All instructions that write it. Whether and where they do depends on data.
    pub writes: Vec<Site>,
    /// Bytes of each of these accesses: a power of two. Each is at a multiple of that in the object.
    pub bytes: u32,
    /// Reads that some threads do, whatever memory holds.
    pub reads: Vec<CertainRead>,
    /// Threads of a block.
    shape: [u32; 3],
}

/// A read that all threads do of which some inequalities hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CertainRead {
    /// The instruction.
    pub site: Site,
    /// Its bytes.
    bytes: u32,
    /// How thread and block indices are composed.
    digits: Vec<(Index, Digit)>,
    /// Which threads read. Variables are the digits.
    threads: System,
    /// Where in the object a thread reads: a sum of multiples of digits, and a constant.
    offset: SmallVec<[(u32, i64); 6]>,
    constant: i64,
}

/// What an index counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Index {
    Thread,
    Block,
}

/// Who reads a place, besides one thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reader {
    /// Nobody.
    Nobody,
    /// This one, perhaps among others.
    Thread {
        /// Its block.
        block: [u32; 3],
        /// The thread in it.
        thread: [u32; 3],
        /// Which of [`Condition::reads`] it is.
        read: usize,
    },
    /// It takes too long to find out.
    NotSettled,
}

/// Certain reads that are looked at.
const MOST_READS: usize = 8;
/// Ranges of bytes that a read may be of.
const MOST_RANGES: u64 = 1 << 16;

impl Execution<'_> {
    /// What would have to happen for one of some pairs to conflict, if these are all.
    pub(super) fn condition(&self, unproved: &[Unproved<'_>]) -> Option<Condition> {
        // Else there may be more.
        let are_all = unproved.len() < MOST_UNPROVED && !self.arithmetic.symbols.work().is_over();
        let starts = |record: &Record| record.interval.as_constant() == Some(0);
        if unproved.is_empty() || !are_all || !self.records.iter().all(starts) {
            return None;
        }
        let (mut reads, mut writes): (Vec<&Record>, Vec<&Record>) = (Vec::new(), Vec::new());
        for &Unproved { one, other, ref cause } in unproved {
            let is_pair = matches!(cause, Cause::Conflict { .. } | Cause::NotSettled { .. });
            let other = other.filter(|_| is_pair)?;
            let (read, write) = if one.access.kind == AccessKind::Read { (one, other) } else { (other, one) };
            let kinds = (read.access.kind, write.access.kind) == (AccessKind::Read, AccessKind::Write);
            if !kinds || !self.is_certain(read) || self.is_certain(write) {
                return None;
            }
            if !reads.iter().any(|known| std::ptr::eq(*known, read)) {
                reads.push(read);
            }
            writes.push(write);
        }
        let (object, _) = writes.first()?.address.as_ref()?;
        let bytes = writes[0].access.bytes;
        let is_of_object = |record: &&Record| record.address.as_ref().is_some_and(|(of, _)| of == object);
        // Also those that were left out because others are like them.
        let sites: Vec<usize> = writes.iter().map(|record| record.site).collect();
        let is_one_of_writes = |record: &Record| {
            let access = &record.access;
            access.kind == AccessKind::Write
                && access.strong.is_none()
                && access.bytes == bytes
                && sites.contains(&record.site)
                && !self.is_certain(record)
        };
        let may_be_of_object = |record: &&Record| {
            record.address.as_ref().is_none_or(|(of, _)| of == object || self.objects.may_alias(*of, *object))
        };
        let changes = |record: &&Record| record.access.kind != AccessKind::Read;
        let data = &self.objects[*object];
        if data.space != Space::Global
            || !bytes.is_power_of_two()
            || !data.align.is_multiple_of(bytes.into())
            || !reads.iter().all(|read| is_of_object(read) && read.access.strong.is_none())
            || !self
                .records
                .iter()
                .filter(changes)
                .filter(may_be_of_object)
                .all(|record| is_of_object(&record) && is_one_of_writes(record))
            || self.records.iter().filter(changes).any(|record| self.out_of_bounds(record).is_some())
            || reads.len() > MOST_READS
        {
            return None;
        }
        let mut places: Vec<usize> = sites;
        places.sort_unstable();
        places.dedup();
        let writes = places.into_iter().map(|place| self.code.sites[place].clone()).collect();
        let reads = reads.into_iter().map(|read| self.certain_read(read)).collect::<Option<Vec<_>>>()?;
        Some(Condition { object: data.name.clone(), writes, bytes, reads, shape: self.launch.block })
    }

    /// Whether thread and block indices alone decide who makes an access.
    fn is_certain(&self, record: &Record) -> bool {
        record.is_certain && self.threads(record).is_some()
    }

    /// The digits of indices, and for which of them the path to an access holds, if it says nothing of anything else. Variables
    /// of the system are the digits: these are the first symbols.
    fn threads(&self, record: &Record) -> Option<(Vec<(Index, Digit)>, System)> {
        let symbols = &self.arithmetic.symbols;
        let (mut digits, mut threads) = (Vec::new(), System::default());
        for symbol in symbols.ids() {
            digits.push(match symbols[symbol].kind {
                SymbolKind::Thread(digit) => (Index::Thread, digit),
                SymbolKind::Block(digit) => (Index::Block, digit),
                SymbolKind::Other => break,
            });
            threads.ranges.push(record.path.range_of(symbols, symbol));
        }
        if record.path.is_cut || record.path.ranges.iter().any(|range| range.0.index() >= digits.len()) {
            return None;
        }
        for fact in &record.path.facts {
            let Fact::AtLeastZero(linear) = fact else { return None };
            let least = -i128::from(linear.constant);
            threads.rows.push(Row { terms: terms_of_digits(linear, digits.len())?, least, most: i128::MAX / 4 });
        }
        Some((digits, threads))
    }

    /// Who reads, and where, if thread and block indices alone decide that.
    fn certain_read(&self, record: &Record) -> Option<CertainRead> {
        let (digits, threads) = self.threads(record)?;
        let (_, linear) = record.address.as_ref()?;
        let (site, bytes) = (self.code.sites[record.site].clone(), record.access.bytes);
        let offset = terms_of_digits(linear, digits.len())?;
        Some(CertainRead { site, bytes, digits, threads, offset, constant: linear.constant })
    }
}

/// A sum without its constant, in which the number of a variable is that of its symbol; nothing if some are not among the first.
fn terms_of_digits(linear: &Linear, count: usize) -> Option<SmallVec<[(u32, i64); 6]>> {
    let is_digit = |symbol: Symbol| symbol.index() < count;
    linear
        .terms
        .iter()
        .map(|&(symbol, coefficient)| is_digit(symbol).then_some((symbol.index() as u32, coefficient)))
        .collect()
}

impl Condition {
    /// Where in the object something is read that may be one of these places: a bit for each `bytes` of it, from an offset on
    /// that is a multiple of that. Nothing if that takes more words than so many.
    pub fn marks(&self, most: usize) -> Option<(u64, Vec<u64>)> {
        let unit = u64::from(self.bytes);
        let reads: Vec<Ranges> = self.reads.iter().map(CertainRead::ranges).collect::<Option<_>>()?;
        let first = reads.iter().map(|ranges| ranges.first).min()? / unit;
        let end = reads.iter().map(Ranges::end).max()?.div_ceil(unit);
        let words = usize::try_from((end - first).div_ceil(64)).ok().filter(|&words| words <= most)?;
        let mut bits = vec![0; words];
        for ranges in reads {
            ranges.for_each(|start, end| {
                for bit in start / unit - first..end.div_ceil(unit) - first {
                    bits[(bit / 64) as usize] |= 1 << (bit % 64);
                }
            });
        }
        Some((first * unit, bits))
    }

    /// Who reads what one of the writes is to, at an offset in the object, besides the thread that writes: rather a thread of
    /// another block than one of another warp, and rather that than one of the same warp.
    pub fn reader(&self, offset: u64, block: [u32; 3], thread: [u32; 3]) -> Reader {
        let writer = Writer { offset, bytes: self.bytes, block, thread };
        let mut answer = Reader::Nobody;
        for others in [Others::Blocks, Others::Warps, Others::Threads] {
            for (number, read) in self.reads.iter().enumerate() {
                match read.other_than(&writer, others, self.shape) {
                    Solution::None => {}
                    Solution::Found(digits) => {
                        let [block, thread] = [Index::Block, Index::Thread].map(|index| read.indices(index, &digits));
                        return Reader::Thread { block, thread, read: number };
                    }
                    Solution::NotSettled => answer = Reader::NotSettled,
                }
            }
        }
        answer
    }
}

/// A write, and who makes it.
struct Writer {
    /// Where in the object.
    offset: u64,
    bytes: u32,
    block: [u32; 3],
    thread: [u32; 3],
}

/// Who is another thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Others {
    Blocks,
    Warps,
    Threads,
}

impl CertainRead {
    /// The digits of a thread that reads what another one writes; `shape` is that of blocks.
    fn other_than(&self, writer: &Writer, others: Others, shape: [u32; 3]) -> Solution {
        let place = i128::from(writer.offset) - i128::from(self.constant);
        let mut system = self.threads.clone();
        let (least, most) = (place + 1 - i128::from(self.bytes), place + i128::from(writer.bytes) - 1);
        system.rows.push(Row { terms: self.offset.clone(), least, most });
        // Of each system, a solution is another thread.
        let mut systems: Vec<System> = Vec::new();
        let mut with = |row: Row| systems.push(System { rows: [&system.rows[..], &[row]].concat(), ..system.clone() });
        if others == Others::Warps {
            let steps = [1, i64::from(shape[0]), i64::from(shape[0]) * i64::from(shape[1])];
            let warp =
                steps.iter().zip(writer.thread).map(|(step, index)| step * i64::from(index)).sum::<i64>() / 32 * 32;
            let of_threads = self.digits.iter().zip(0..).filter(|((index, _), _)| *index == Index::Thread);
            let terms: SmallVec<[(u32, i64); 6]> = of_threads
                .map(|((_, digit), place)| (place, i64::from(digit.weight) * steps[usize::from(digit.dimension)]))
                .collect();
            let (first, last) = (i128::from(warp), i128::from(warp) + 31);
            with(Row { terms: terms.clone(), least: 0, most: first - 1 });
            with(Row { terms, least: last + 1, most: i128::MAX / 4 });
        } else {
            let wanted = if others == Others::Blocks { Index::Block } else { Index::Thread };
            let own = self.digits_of(writer.block, writer.thread);
            let places = (0..).zip(&self.digits).filter(|(_, (index, _))| *index == wanted);
            for (place, _) in places {
                let (own, term) = (i128::from(own[place as usize]), SmallVec::from_slice(&[(place, 1)]));
                with(Row { terms: term.clone(), least: 0, most: own - 1 });
                with(Row { terms: term, least: own + 1, most: i128::MAX / 4 });
            }
        }
        let mut answer = Solution::None;
        for system in systems {
            match system.solve(&Work::default()) {
                Solution::None => {}
                Solution::Found(digits) => return Solution::Found(digits),
                Solution::NotSettled => answer = Solution::NotSettled,
            }
        }
        answer
    }

    /// The digits of a thread.
    fn digits_of(&self, block: [u32; 3], thread: [u32; 3]) -> Vec<i64> {
        let digit = |(place, (index, digit)): (usize, &(Index, Digit))| {
            let ids = if *index == Index::Block { block } else { thread };
            let quotient = ids[usize::from(digit.dimension)] / digit.weight;
            let is_of_same = |next: &&(Index, Digit)| next.0 == *index && next.1.dimension == digit.dimension;
            let above = self.digits.get(place + 1).filter(is_of_same);
            i64::from(above.map_or(quotient, |(_, next)| quotient % (next.weight / digit.weight)))
        };
        self.digits.iter().enumerate().map(digit).collect()
    }

    /// The index that digits are of, in its three dimensions.
    fn indices(&self, of: Index, digits: &[i64]) -> [u32; 3] {
        let mut indices = [0; 3];
        for ((index, digit), &value) in self.digits.iter().zip(digits) {
            if *index == of {
                indices[usize::from(digit.dimension)] += digit.weight * value as u32;
            }
        }
        indices
    }

    /// Where it reads in threads whose digits have their ranges: more than that of threads, if they are fewer.
    fn ranges(&self) -> Option<Ranges> {
        let mut first = i128::from(self.constant);
        let mut steps: Vec<(u64, u64)> = Vec::new();
        for &(variable, coefficient) in &self.offset {
            let (least, most) = self.threads.ranges[variable as usize];
            first += i128::from(coefficient) * i128::from(if coefficient > 0 { least } else { most });
            let count = u64::try_from(most - least).ok()? + 1;
            steps.push((coefficient.unsigned_abs(), count));
        }
        steps.sort_unstable();
        let mut length = u64::from(self.bytes);
        steps.retain(|&(step, count)| {
            // Ranges that touch each other are one.
            let is_apart = step > length;
            if !is_apart {
                length = length.saturating_add(step.saturating_mul(count - 1));
            }
            is_apart
        });
        let count = steps.iter().try_fold(1_u64, |count, step| count.checked_mul(step.1))?;
        let ranges = Ranges { first: u64::try_from(first).ok()?, length, steps };
        (count <= MOST_RANGES && ranges.checked_end().is_some()).then_some(ranges)
    }
}

/// Ranges of bytes of one length, at sums of multiples of steps.
struct Ranges {
    first: u64,
    length: u64,
    /// Each with how many multiples there are of it, from 0 on.
    steps: Vec<(u64, u64)>,
}

impl Ranges {
    fn checked_end(&self) -> Option<u64> {
        let last = self
            .steps
            .iter()
            .try_fold(self.first, |last, &(step, count)| last.checked_add(step.checked_mul(count - 1)?))?;
        last.checked_add(self.length)
    }

    fn end(&self) -> u64 {
        self.checked_end().expect("those that have none are not made")
    }

    /// Gives each range to a function: where it begins and ends.
    fn for_each(&self, mut give: impl FnMut(u64, u64)) {
        let mut multiples = vec![0; self.steps.len()];
        loop {
            let start =
                self.first + multiples.iter().zip(&self.steps).map(|(multiple, step)| multiple * step.0).sum::<u64>();
            give(start, start + self.length);
            let Some(place) = multiples.iter().zip(&self.steps).position(|(multiple, step)| multiple + 1 < step.1)
            else {
                return;
            };
            multiples[..place].fill(0);
            multiples[place] += 1;
        }
    }
}
