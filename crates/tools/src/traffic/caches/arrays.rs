//! What shared arrays are for: communication between threads, or only a cache of global memory.
//!
//! Each word of shared memory has the thread that stored it, and where in global memory it was copied from (`copies.rs`). An array
//! whose words are all copies is a cache: threads could load what they read themselves. Then the trace is made anew without it:
//! loads that fill it are left out, and what is read from it is loaded from where it was copied from.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::counters::AccessType;
use super::replay::{TracedBlock, TracedSite, sectors_of};
use super::trace::{BARRIER, Request, Row, RowWriter, WarpTrace};

/// What is known of the sites of a launch.
#[derive(Clone, Default, Debug)]
pub(super) struct ArraySites {
    /// Accesses to shared memory, each with the number of its array.
    pub(super) shared: FxHashMap<u32, (TracedSite, u32)>,
    /// Loads of global memory.
    pub(super) loads: FxHashMap<u32, TracedSite>,
    /// The sites of the loads that a site of shared memory may store the value of.
    pub(super) copies: FxHashMap<u32, Vec<u32>>,
    /// Loads whose value is only stored in shared memory.
    pub(super) only_copied: FxHashSet<u32>,
}

/// What was done with an array, in words of four bytes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct ArrayUse {
    pub(super) stored: u64,
    /// Of these, those that copy global memory, or are constants beside such.
    pub(super) copied: u64,
    pub(super) read: u64,
    /// Of these, those that another thread has stored.
    pub(super) read_of_others: u64,
    /// How often a word was read at most before it was stored again.
    pub(super) most_reads: u64,
    /// Sectors of global memory that loads access to fill it, and those that they would access without it.
    pub(super) sectors_to_fill: u64,
    pub(super) sectors_without: u64,
    /// Words of constants are read without a load.
    pub(super) read_constants: u64,
}

/// What an array serves.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(in super::super) enum Serves {
    /// Threads read what others have computed.
    Communication,
    /// Threads read what is in global memory.
    Cache,
    /// Threads read what they have stored themselves.
    OneThread,
    /// Nothing is read.
    Nothing,
}

impl Serves {
    /// As tables say it.
    pub(in super::super) fn name(self) -> &'static str {
        match self {
            Self::Communication => "communication",
            Self::Cache => "cache of global memory",
            Self::OneThread => "memory of one thread",
            Self::Nothing => "nothing",
        }
    }
}

impl ArrayUse {
    /// What it serves.
    pub(super) fn serves(&self) -> Serves {
        if self.read == 0 {
            Serves::Nothing
        } else if self.stored > 0 && self.copied == self.stored {
            Serves::Cache
        } else if self.read_of_others == 0 {
            Serves::OneThread
        } else {
            Serves::Communication
        }
    }

    /// Adds what was done in another block.
    pub(super) fn add(&mut self, other: &Self) {
        self.stored += other.stored;
        self.copied += other.copied;
        self.read += other.read;
        self.read_of_others += other.read_of_others;
        self.most_reads = self.most_reads.max(other.most_reads);
        self.sectors_to_fill += other.sectors_to_fill;
        self.sectors_without += other.sectors_without;
        self.read_constants += other.read_constants;
    }
}

/// A word of shared memory.
#[derive(Clone, Copy, Debug)]
struct Word {
    thread: u32,
    origin: Origin,
    reads: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Origin {
    Global(u64),
    Constant,
    Computed,
}

/// What a block did with its arrays, by their numbers.
pub(super) fn used(block: &TracedBlock, sites: &ArraySites) -> BTreeMap<u32, ArrayUse> {
    let mut walk = Walk::new(sites);
    in_order(block, &mut |warp, request| walk.request(warp, request, None));
    for (&array, bytes) in &walk.filled {
        walk.used.entry(array).or_default().sectors_to_fill = *bytes;
    }
    walk.used
}

/// The block as it would be without some arrays, all of which are caches.
pub(super) fn without(block: &TracedBlock, sites: &ArraySites, arrays: &FxHashSet<u32>) -> TracedBlock {
    let mut walk = Walk::new(sites);
    let mut rows: Vec<RowWriter> = block.warps.iter().map(|_| RowWriter::default()).collect();
    // Loads that fill nothing else are left out.
    let fills_others = |load: &u32| {
        sites.copies.iter().any(|(store, loads)| loads.contains(load) && !arrays.contains(&sites.shared[store].1))
    };
    let left_out: FxHashSet<u32> = sites.only_copied.iter().filter(|load| !fills_others(load)).copied().collect();
    in_order(block, &mut |warp, request| {
        let array = sites.shared.get(&request.site).map(|(_, array)| *array);
        if array.is_some_and(|array| arrays.contains(&array)) {
            walk.request(warp, request, Some(&mut rows[warp as usize]));
            return;
        }
        walk.request(warp, request, None);
        if !left_out.contains(&request.site) {
            rows[warp as usize].copy(request);
        }
    });
    let finish = |(row, old): (RowWriter, &Row)| row.finish(old.is_cut);
    TracedBlock { warps: rows.into_iter().zip(&block.warps).map(finish).collect() }
}

/// Goes through a block, warp after warp, between barriers.
fn in_order<'t>(block: &'t TracedBlock, each: &mut dyn FnMut(u32, &Request<'t>)) {
    let mut warps: Vec<WarpTrace<'t>> = block.warps.iter().map(Row::trace).collect();
    let mut is_over = false;
    while !is_over {
        is_over = true;
        for (number, warp) in warps.iter_mut().enumerate() {
            for request in warp.by_ref() {
                is_over = false;
                each(number as u32, &request);
                if request.site == BARRIER {
                    break;
                }
            }
        }
    }
}

/// What a block has done so far.
struct Walk<'s> {
    sites: &'s ArraySites,
    /// By the address, in words.
    words: FxHashMap<u64, Word>,
    /// What a thread has loaded last by a site, and when.
    loaded: FxHashMap<(u32, u32), (u64, u64)>,
    /// When a thread has stored last by a site.
    stored: FxHashMap<(u32, u32), u64>,
    time: u64,
    used: BTreeMap<u32, ArrayUse>,
    filled: BTreeMap<u32, u64>,
    /// The arrays that a load fills.
    fills: FxHashMap<u32, Vec<u32>>,
    sectors: Vec<u64>,
}

impl<'s> Walk<'s> {
    fn new(sites: &'s ArraySites) -> Self {
        let mut fills = FxHashMap::<u32, Vec<u32>>::default();
        for (store, loads) in &sites.copies {
            let Some((_, array)) = sites.shared.get(store) else { continue };
            for load in loads {
                let arrays = fills.entry(*load).or_default();
                if !arrays.contains(array) {
                    arrays.push(*array);
                }
            }
        }
        Self {
            sites,
            words: FxHashMap::default(),
            loaded: FxHashMap::default(),
            stored: FxHashMap::default(),
            time: 0,
            used: BTreeMap::new(),
            filled: BTreeMap::new(),
            fills,
            sectors: Vec::new(),
        }
    }

    /// A warp does something. If its array is left out, what it reads from it is loaded instead.
    fn request(&mut self, warp: u32, request: &Request<'_>, instead: Option<&mut RowWriter>) {
        self.time += 1;
        if let Some(arrays) = self.fills.get(&request.site) {
            let bytes = self.sites.loads.get(&request.site).map_or(4, |site| site.bytes);
            sectors_of(request, bytes, 0, &mut self.sectors);
            for array in arrays {
                *self.filled.entry(*array).or_default() += self.sectors.len() as u64;
            }
            for (lane, address) in request.addresses() {
                self.loaded.insert((warp * 32 + lane, request.site), (self.time, address));
            }
        }
        let Some(&(site, array)) = self.sites.shared.get(&request.site) else { return };
        if site.access != AccessType::Load {
            self.store(warp, request, &site, array);
        }
        if site.access != AccessType::Store {
            let origins = self.load(warp, request, &site, array);
            if let Some(row) = instead {
                row.scattered(request.site, &origins);
            }
        }
    }

    fn store(&mut self, warp: u32, request: &Request<'_>, site: &TracedSite, array: u32) {
        let loads = self.sites.copies.get(&request.site).filter(|_| site.access == AccessType::Store);
        for (lane, address) in request.addresses() {
            let thread = warp * 32 + lane;
            let since = self.stored.insert((thread, request.site), self.time).unwrap_or(0);
            let last = loads.and_then(|loads| {
                let of_thread = loads.iter().filter_map(|&load| self.loaded.get(&(thread, load)));
                of_thread.max_by_key(|(time, _)| *time).copied()
            });
            for word in 0..u64::from(site.bytes.div_ceil(4)) {
                let origin = match (loads, last) {
                    (None, _) => Origin::Computed,
                    // What was loaded for an earlier store is not what is stored now.
                    (Some(_), Some((time, from))) if time > since => Origin::Global(from + word * 4),
                    (Some(_), _) => Origin::Constant,
                };
                self.words.insert(address / 4 + word, Word { thread, origin, reads: 0 });
                let used = self.used.entry(array).or_default();
                used.stored += 1;
                used.copied += u64::from(origin != Origin::Computed);
            }
        }
    }

    /// Gives for each lane the address in global memory of what it reads.
    fn load(&mut self, warp: u32, request: &Request<'_>, site: &TracedSite, array: u32) -> Vec<(u32, u64)> {
        let used = self.used.entry(array).or_default();
        let mut origins = Vec::with_capacity(32);
        for (lane, address) in request.addresses() {
            for number in 0..u64::from(site.bytes.div_ceil(4)) {
                used.read += 1;
                let Some(word) = self.words.get_mut(&(address / 4 + number)) else { continue };
                word.reads += 1;
                used.most_reads = used.most_reads.max(word.reads);
                used.read_of_others += u64::from(word.thread != warp * 32 + lane);
                match word.origin {
                    Origin::Global(from) if number == 0 => origins.push((lane, from)),
                    Origin::Constant => used.read_constants += 1,
                    _ => {}
                }
            }
        }
        self.sectors.clear();
        self.sectors.extend(origins.iter().map(|(_, from)| from >> super::super::SECTOR_BITS));
        self.sectors.sort_unstable();
        self.sectors.dedup();
        used.sectors_without += self.sectors.len() as u64;
        origins
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::counters::L1Use;
    use super::super::trace::tests::row;
    use super::*;

    const ALL: u32 = u32::MAX;
    const LOAD: u32 = 0;
    const STORE: u32 = 1;
    const READ: u32 = 2;

    fn site(access: AccessType) -> TracedSite {
        TracedSite { access, bytes: 4, l1: L1Use::Default, group: 0 }
    }

    /// A load whose value a store puts into array 7, from which it is read.
    fn sites(is_copy: bool) -> ArraySites {
        ArraySites {
            shared: [(STORE, (site(AccessType::Store), 7)), (READ, (site(AccessType::Load), 7))].into_iter().collect(),
            loads: [(LOAD, site(AccessType::Load))].into_iter().collect(),
            copies: is_copy.then(|| (STORE, vec![LOAD])).into_iter().collect(),
            only_copied: [LOAD].into_iter().collect(),
        }
    }

    /// A warp loads a line, stores it in shared memory and reads it again, from so many words further, so many times.
    fn block(shift: u64, times: usize) -> TracedBlock {
        let mut records = vec![(LOAD, ALL, 0x1000, 4), (STORE, ALL, 0, 4), (BARRIER, ALL, 0, 0)];
        records.extend(vec![(READ, ALL >> shift, shift * 4, 4); times]);
        TracedBlock { warps: vec![row(&records)] }
    }

    #[test]
    fn tiles_that_are_read_once_are_caches() {
        let used = used(&block(0, 1), &sites(true))[&7];
        assert_eq!(used.serves(), Serves::Cache);
        assert_eq!((used.stored, used.read, used.most_reads, used.read_of_others), (32, 32, 1, 0));
        assert_eq!((used.sectors_to_fill, used.sectors_without), (4, 4));
    }

    #[test]
    fn what_neighbours_read_again_is_a_cache_that_saves_loads() {
        let used = used(&block(1, 3), &sites(true))[&7];
        assert_eq!((used.serves(), used.most_reads, used.read_of_others), (Serves::Cache, 3, 93));
        assert_eq!((used.sectors_to_fill, used.sectors_without), (4, 12));
    }

    #[test]
    fn what_is_computed_is_communication_or_of_one_thread() {
        assert_eq!(used(&block(1, 1), &sites(false))[&7].serves(), Serves::Communication);
        assert_eq!(used(&block(0, 1), &sites(false))[&7].serves(), Serves::OneThread);
        assert_eq!(used(&block(0, 0), &sites(true))[&7].serves(), Serves::Nothing);
    }

    #[test]
    fn stores_without_a_load_since_the_last_one_are_constants() {
        let records = [(LOAD, 1, 0x1000, 4), (STORE, 1, 0, 4), (READ, 1, 0, 4), (STORE, 1, 0, 4), (READ, 1, 0, 4)];
        let used = used(&TracedBlock { warps: vec![row(&records)] }, &sites(true))[&7];
        assert_eq!((used.serves(), used.read_constants, used.sectors_without), (Serves::Cache, 1, 1));
    }

    #[test]
    fn without_an_array_its_words_are_loaded_where_they_are_read() {
        let without = without(&block(1, 2), &sites(true), &[7].into_iter().collect());
        let requests: Vec<_> = without.warps[0].trace().collect();
        assert_eq!(requests.iter().map(|request| request.site).collect::<Vec<_>>(), [BARRIER, READ, READ]);
        let addresses: Vec<_> = requests[1].addresses().collect();
        assert_eq!((addresses.len(), addresses[0], addresses[30]), (31, (0, 0x1004), (30, 0x107c)));
        // What is not left out stays.
        let all = super::without(&block(1, 2), &sites(true), &FxHashSet::default());
        assert_eq!(all.warps[0].trace().count(), 5);
    }
}
