//! Traces, replayed through caches.
//!
//! The CPU device runs one warp after another, a GPU many at once; in which order these access memory depends on times that are not
//! known. So traces are replayed in two orders that are far from each other, and what comes of them is a range: all warps of a
//! multiprocessor take turns, request by request, or the oldest one goes on until it waits at a barrier or ends.
//!
//! A multiprocessor has as many blocks at once as fit, and takes the next one of its list when one has ended. Multiprocessors take
//! turns. L2 is modelled twice: as the share of the multiprocessors that are replayed, and as all of it.

use gpu::{CacheShape, Caches, Fill, Keeps, Stores};
use rustc_hash::FxHashMap;

use super::super::SECTOR_BITS;
use super::super::counters::{AccessType, L1Use};
use super::cache::{Cache, SECTORS_OF_LINE};
use super::trace::{BARRIER, Request, Row, WarpTrace};

/// What there is of an access, for caches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TracedSite {
    pub(super) access: AccessType,
    /// Of each lane.
    pub(super) bytes: u32,
    pub(super) l1: L1Use,
    /// What it is counted with.
    pub(super) group: u32,
}

/// A block that was traced: the rows of its warps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct TracedBlock {
    pub(super) warps: Vec<Row>,
}

/// A GPU, or a part of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Machine {
    pub(super) caches: &'static Caches,
    /// Of each multiprocessor.
    pub(super) l1: CacheShape,
    /// How many blocks a multiprocessor has at once.
    pub(super) resident: usize,
    /// Where the memory of the device begins. It is elsewhere in each process, and sets of caches are not to depend on that.
    pub(super) origin: u64,
}

/// What comes of the accesses of a site to an object.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Hits {
    pub(super) requests: u64,
    pub(super) sectors: u64,
    pub(super) l1: Range,
    pub(super) l2: Range,
    /// Sectors that come from memory, or go there.
    pub(super) memory: Range,
}

/// A number that depends on the order: the least and the most.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(in super::super) struct Range {
    pub(in super::super) low: u64,
    pub(in super::super) high: u64,
}

impl Range {
    fn of(values: impl IntoIterator<Item = u64>) -> Self {
        values
            .into_iter()
            .map(|value| Self { low: value, high: value })
            .reduce(|range, other| Self { low: range.low.min(other.low), high: range.high.max(other.high) })
            .unwrap_or_default()
    }

    /// Adds what another launch or site has.
    pub(in super::super) fn add(&mut self, other: Self) {
        self.low += other.low;
        self.high += other.high;
    }
}

impl Hits {
    /// Adds those of another launch or site.
    pub(super) fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.sectors += other.sectors;
        self.l1.add(other.l1);
        self.l2.add(other.l2);
        self.memory.add(other.memory);
    }
}

/// By the number of the group, and that of the object.
pub(super) type HitsByGroup = FxHashMap<(u32, u32), Hits>;

/// Replays the blocks of some multiprocessors, in both orders. Gives what comes of each group of sites, and of all of them;
/// the range of all is closer than the sum of those of groups.
pub(super) fn replayed(
    machine: &Machine,
    multiprocessors: &[Vec<&TracedBlock>],
    sites: &FxHashMap<u32, TracedSite>,
    object_at: &dyn Fn(u64) -> u32,
) -> (HitsByGroup, Hits) {
    let [turns, greedy] = [Order::Turns, Order::Oldest].map(|order| {
        let mut run = Run::new(machine, multiprocessors, order);
        run.run(machine, sites, object_at);
        run.counted
    });
    let range = |of: &[Counts; 2]| Hits {
        requests: of[0].requests,
        sectors: of[0].sectors,
        l1: Range::of(of.iter().map(|counts| counts.l1)),
        l2: Range::of(of.iter().flat_map(|counts| counts.l2)),
        memory: Range::of(of.iter().flat_map(|counts| counts.memory)),
    };
    let total = range(&[&turns, &greedy].map(|all| all.values().fold(Counts::default(), Counts::plus)));
    let by_group = turns.iter().map(|(key, counts)| (*key, range(&[*counts, greedy[key]]))).collect();
    (by_group, total)
}

/// What was counted in one order; of L2, for both of its sizes.
#[derive(Clone, Copy, Default, Debug)]
struct Counts {
    requests: u64,
    sectors: u64,
    l1: u64,
    l2: [u64; 2],
    memory: [u64; 2],
}

impl Counts {
    fn plus(mut self, other: &Self) -> Self {
        self.requests += other.requests;
        self.sectors += other.sectors;
        self.l1 += other.l1;
        for size in 0..2 {
            self.l2[size] += other.l2[size];
            self.memory[size] += other.memory[size];
        }
        self
    }
}

/// Which warp of a multiprocessor is next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Order {
    /// All take turns.
    Turns,
    /// The one that is at work, or else the oldest.
    Oldest,
}

struct Run<'t> {
    multiprocessors: Vec<Multiprocessor<'t>>,
    /// The share of these multiprocessors, and all.
    l2: [Cache; 2],
    counted: FxHashMap<(u32, u32), Counts>,
    sectors: Vec<u64>,
}

struct Multiprocessor<'t> {
    order: Order,
    l1: Cache,
    warps: Vec<Warp<'t>>,
    /// Blocks that have not begun, the next one last.
    waiting: Vec<&'t TracedBlock>,
    /// How many have begun.
    begun: usize,
    /// The warp that was at work last.
    last: usize,
}

struct Warp<'t> {
    trace: WarpTrace<'t>,
    /// The number of its block, in the order in which they began.
    block: usize,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Ready,
    AtBarrier,
    Ended,
}

impl<'t> Run<'t> {
    fn new(machine: &Machine, multiprocessors: &[Vec<&'t TracedBlock>], order: Order) -> Self {
        let caches = machine.caches;
        let share = caches.l2(multiprocessors.len() as u32);
        let multiprocessors = multiprocessors.iter().map(|blocks| {
            let waiting = blocks.iter().rev().copied().collect();
            let l1 = Cache::new(machine.l1);
            let mut new = Multiprocessor { order, l1, warps: Vec::new(), waiting, begun: 0, last: 0 };
            for _ in 0..machine.resident.max(1) {
                new.begin_block();
            }
            new
        });
        let l2 = [share, caches.l2(caches.multiprocessors)].map(Cache::new);
        Self { multiprocessors: multiprocessors.collect(), l2, counted: FxHashMap::default(), sectors: Vec::new() }
    }

    fn run(&mut self, machine: &Machine, sites: &FxHashMap<u32, TracedSite>, object_at: &dyn Fn(u64) -> u32) {
        let mut is_over = false;
        while !is_over {
            is_over = true;
            for number in 0..self.multiprocessors.len() {
                let Some(request) = self.multiprocessors[number].next() else { continue };
                is_over = false;
                if let Some(site) = sites.get(&request.site) {
                    self.access(machine, number, &request, site, object_at);
                }
            }
        }
    }

    fn access(
        &mut self,
        machine: &Machine,
        number: usize,
        request: &Request<'_>,
        site: &TracedSite,
        object_at: &dyn Fn(u64) -> u32,
    ) {
        let mut sectors = std::mem::take(&mut self.sectors);
        let Machine { caches, origin, .. } = *machine;
        sectors_of(request, site.bytes, origin, &mut sectors);
        let object = sectors.first().map_or(0, |sector| object_at((sector << SECTOR_BITS).wrapping_add(origin)));
        let mut counts = Counts { requests: 1, ..Counts::default() };
        let l1 = &mut self.multiprocessors[number].l1;
        // A request asks for a line once, whichever of its sectors it wants.
        let lines = sectors.chunk_by(|one, other| one / SECTORS_OF_LINE == other / SECTORS_OF_LINE);
        for line in lines {
            counts.sectors += line.len() as u64;
            match site.access {
                AccessType::Load => load(caches, l1, &mut self.l2, line, site.l1, &mut counts),
                AccessType::Store => store(caches, l1, &mut self.l2, line, &mut counts),
                AccessType::Atomic => atomic(l1, &mut self.l2, line, &mut counts),
            }
        }
        self.sectors = sectors;
        let counted = self.counted.entry((site.group, object)).or_default();
        *counted = counted.plus(&counts);
    }
}

/// The sectors that lanes access, each once, in rising order, counted from some address on.
pub(super) fn sectors_of(request: &Request<'_>, bytes: u32, origin: u64, sectors: &mut Vec<u64>) {
    sectors.clear();
    for (_, address) in request.addresses() {
        let address = address.wrapping_sub(origin);
        let last = address.saturating_add(u64::from(bytes.max(1)) - 1) >> SECTOR_BITS;
        sectors.extend(address >> SECTOR_BITS..=last);
    }
    sectors.sort_unstable();
    sectors.dedup();
}

fn load(caches: &Caches, l1: &mut Cache, l2: &mut [Cache; 2], line: &[u64], l1_use: L1Use, counts: &mut Counts) {
    let is_kept = match l1_use {
        L1Use::Bypassed => false,
        L1Use::ReadOnly => true,
        L1Use::Default => caches.keeps == Keeps::All,
    };
    let is_whole_line = is_kept && caches.fill == Fill::Line;
    // What comes as a line is there as a line.
    let has_line = is_whole_line && line.iter().all(|&sector| l1.read(sector));
    if has_line {
        counts.l1 += line.len() as u64;
        return;
    }
    let first = line[0] / SECTORS_OF_LINE * SECTORS_OF_LINE;
    for sector in first..first + SECTORS_OF_LINE {
        let is_wanted = line.contains(&sector);
        if !is_wanted && !is_whole_line {
            continue;
        }
        if is_kept && !is_whole_line && l1.read(sector) {
            counts.l1 += 1;
            continue;
        }
        for (size, l2) in l2.iter_mut().enumerate() {
            if l2.read(sector) {
                counts.l2[size] += u64::from(is_wanted);
            } else {
                l2.fill(sector, false);
                counts.memory[size] += 1;
            }
        }
        if is_kept {
            l1.fill(sector, false);
        }
    }
}

fn store(caches: &Caches, l1: &mut Cache, l2: &mut [Cache; 2], line: &[u64], counts: &mut Counts) {
    for &sector in line {
        match caches.stores {
            Stores::Evict => l1.evict(sector),
            Stores::Update => counts.l1 += u64::from(l1.read(sector)),
        }
        for (size, l2) in l2.iter_mut().enumerate() {
            // What was written before goes to memory once.
            let is_merged = l2.write(sector);
            counts.l2[size] += u64::from(is_merged);
            counts.memory[size] += u64::from(!is_merged);
        }
    }
}

/// L2 does it.
fn atomic(l1: &mut Cache, l2: &mut [Cache; 2], line: &[u64], counts: &mut Counts) {
    for &sector in line {
        l1.evict(sector);
        for (size, l2) in l2.iter_mut().enumerate() {
            let is_hit = l2.read(sector);
            l2.write(sector);
            counts.l2[size] += u64::from(is_hit);
            counts.memory[size] += u64::from(!is_hit);
        }
    }
}

impl<'t> Multiprocessor<'t> {
    /// The next request of the warp whose turn it is; nothing if all have ended.
    fn next(&mut self) -> Option<Request<'t>> {
        loop {
            let at = self.whose_turn()?;
            self.last = at;
            match self.warps[at].trace.next() {
                Some(request) if request.site == BARRIER => self.stop(at, State::AtBarrier),
                Some(request) => return Some(request),
                None => self.stop(at, State::Ended),
            }
        }
    }

    fn whose_turn(&self) -> Option<usize> {
        let is_ready = |at: &usize| self.warps[*at].state == State::Ready;
        match self.order {
            Order::Turns => {
                (self.last + 1..self.warps.len()).chain(0..=self.last).find(|at| *at < self.warps.len() && is_ready(at))
            }
            Order::Oldest => Some(self.last)
                .filter(|at| *at < self.warps.len() && is_ready(at))
                .or_else(|| (0..self.warps.len()).filter(is_ready).min_by_key(|&at| (self.warps[at].block, at))),
        }
    }

    /// A warp waits, or has ended. The last one of its block sets the others free, or makes room for the next block.
    fn stop(&mut self, at: usize, state: State) {
        self.warps[at].state = state;
        let block = self.warps[at].block;
        let of_block = || self.warps.iter().filter(|warp| warp.block == block);
        if of_block().any(|warp| warp.state == State::Ready) {
            return;
        }
        if of_block().all(|warp| warp.state == State::Ended) {
            self.warps.retain(|warp| warp.block != block);
            self.last = 0;
            self.begin_block();
            return;
        }
        for warp in self.warps.iter_mut().filter(|warp| warp.block == block && warp.state == State::AtBarrier) {
            warp.state = State::Ready;
        }
    }

    fn begin_block(&mut self) {
        let Some(block) = self.waiting.pop() else { return };
        let number = self.begun;
        self.begun += 1;
        let new = |row: &'t Row| Warp { trace: row.trace(), block: number, state: State::Ready };
        self.warps.extend(block.warps.iter().map(new));
    }
}

#[cfg(test)]
mod tests {
    use gpu::Architecture;

    use super::super::trace::tests::row;
    use super::*;

    const ALL: u32 = u32::MAX;

    fn site(access: AccessType) -> TracedSite {
        TracedSite { access, bytes: 4, l1: L1Use::Default, group: 3 }
    }

    fn machine(name: &str, shared: u32, resident: usize) -> Machine {
        let caches = Architecture::named(name).unwrap().caches();
        Machine { caches, l1: caches.l1(shared << 10), resident, origin: 0 }
    }

    /// What blocks of one warp each come to on one multiprocessor, by whether they load or store.
    fn hits(machine: &Machine, blocks: &[Vec<(u32, u32, u64, i32)>]) -> Hits {
        let blocks: Vec<TracedBlock> = blocks.iter().map(|records| TracedBlock { warps: vec![row(records)] }).collect();
        of_blocks(machine, &blocks)
    }

    fn of_blocks(machine: &Machine, blocks: &[TracedBlock]) -> Hits {
        let sites = [
            (0, site(AccessType::Load)),
            (1, site(AccessType::Store)),
            (2, site(AccessType::Atomic)),
            (3, TracedSite { l1: L1Use::ReadOnly, ..site(AccessType::Load) }),
            (4, TracedSite { l1: L1Use::Bypassed, ..site(AccessType::Load) }),
        ];
        let (_, all) = replayed(machine, &[blocks.iter().collect()], &sites.into_iter().collect(), &|_| 0);
        all
    }

    /// A warp that loads lines, as often as said.
    fn loads(lines: u64, times: usize) -> Vec<(u32, u32, u64, i32)> {
        (0..times).flat_map(|_| (0..lines).map(|line| (0, ALL, line * 128, 4))).collect()
    }

    fn exactly(number: u64) -> Range {
        Range { low: number, high: number }
    }

    #[test]
    fn streams_miss_everywhere() {
        for name in ["sm_21", "sm_61", "sm_80", "sm_90"] {
            let hits = hits(&machine(name, 0, 1), &[loads(1000, 1)]);
            assert_eq!((hits.requests, hits.sectors), (1000, 4000));
            assert_eq!((hits.l1, hits.l2, hits.memory), (exactly(0), exactly(0), exactly(4000)), "{name}");
        }
    }

    #[test]
    fn what_fits_into_l1_is_loaded_once() {
        // 192 KB are 1536 lines; beside 164 KB of shared memory there are 224.
        assert_eq!(hits(&machine("sm_80", 0, 1), &[loads(1536, 2)]).l1, exactly(1536 * 4));
        assert_eq!(hits(&machine("sm_80", 0, 1), &[loads(1540, 2)]).l1, exactly(0));
        assert_eq!(hits(&machine("sm_80", 164, 1), &[loads(224, 2)]).l1, exactly(224 * 4));
        assert_eq!(hits(&machine("sm_80", 164, 1), &[loads(228, 2)]).l1, exactly(0));
        // The share of one of 108 multiprocessors in L2 is 3,034 lines, all of it are 327,680.
        let all = hits(&machine("sm_80", 164, 1), &[loads(2000, 2)]);
        assert_eq!(all.l2.high, 2000 * 4);
        let all = hits(&machine("sm_80", 164, 1), &[loads(20_000, 2)]);
        assert_eq!((all.l1, all.l2.high, all.memory.high), (exactly(0), 20_000 * 4, 40_000 * 4));
    }

    #[test]
    fn fermi_divides_its_memory_in_two_ways() {
        // 48 KB of L1 are 384 lines, 16 KB are 128.
        assert_eq!(hits(&machine("sm_21", 16, 1), &[loads(384, 2)]).l1, exactly(384 * 4));
        assert_eq!(hits(&machine("sm_21", 48, 1), &[loads(128, 2)]).l1, exactly(128 * 4));
        assert_eq!(hits(&machine("sm_21", 48, 1), &[loads(384, 2)]).l1, exactly(0));
        // 4 KB apart, all lines are in one set of four.
        let conflict =
            |lines: u64| -> Vec<_> { (0..2).flat_map(|_| (0..lines).map(|line| (0, 1, line * 4096, 4))).collect() };
        assert_eq!(hits(&machine("sm_21", 48, 1), &[conflict(4)]).l1, exactly(4));
        assert_eq!(hits(&machine("sm_21", 48, 1), &[conflict(5)]).l1, exactly(0));
    }

    #[test]
    fn fermi_loads_lines_and_others_sectors() {
        // One word of each sector of a line, one after the other.
        let words: Vec<_> = (0..4).map(|sector| (0, 1, sector * 32, 4)).collect();
        let fermi = hits(&machine("sm_21", 48, 1), std::slice::from_ref(&words));
        assert_eq!((fermi.l1, fermi.memory), (exactly(3), exactly(4)));
        let later = hits(&machine("sm_80", 0, 1), &[words]);
        assert_eq!((later.l1, later.memory), (exactly(0), exactly(4)));
        // A word of a line: a sector comes, or all of it.
        assert_eq!(hits(&machine("sm_21", 48, 1), &[vec![(0, 1, 0, 4)]]).memory, exactly(4));
        assert_eq!(hits(&machine("sm_80", 0, 1), &[vec![(0, 1, 0, 4)]]).memory, exactly(1));
    }

    #[test]
    fn stores_go_on_to_l2() {
        let stored = |name: &str| hits(&machine(name, 0, 1), &[vec![(0, ALL, 0, 4), (1, ALL, 0, 4), (0, ALL, 0, 4)]]);
        // Fermi throws the line away that is stored to; later ones change it.
        assert_eq!((stored("sm_21").l1, stored("sm_21").l2), (exactly(0), exactly(4)));
        assert_eq!((stored("sm_80").l1, stored("sm_80").memory), (exactly(8), exactly(8)));
        // Two stores to the same are merged.
        let twice = hits(&machine("sm_80", 0, 1), &[vec![(1, ALL, 0, 4), (1, ALL, 0, 4)]]);
        assert_eq!((twice.l1, twice.l2, twice.memory), (exactly(0), exactly(4), exactly(4)));
        // Atomic operations take place in L2.
        let atomic = hits(&machine("sm_80", 0, 1), &[vec![(0, 1, 0, 4), (2, 1, 0, 4), (0, 1, 0, 4)]]);
        assert_eq!((atomic.l1, atomic.l2, atomic.memory), (exactly(0), exactly(2), exactly(1)));
    }

    #[test]
    fn loads_may_go_past_l1() {
        let twice = |site: u32, name: &str| hits(&machine(name, 0, 1), &[vec![(site, ALL, 0, 4), (site, ALL, 0, 4)]]);
        assert_eq!((twice(0, "sm_61").l1, twice(3, "sm_61").l1), (exactly(0), exactly(4)));
        assert_eq!((twice(4, "sm_80").l1, twice(4, "sm_80").l2), (exactly(0), exactly(4)));
    }

    #[test]
    fn orders_make_a_range() {
        // Two warps that each go twice over what just fits: one after the other they hit, in turns they do not.
        let over = |first: u64| -> Vec<_> {
            (0..2).flat_map(|_| (0..128).map(move |line| (0, ALL, first + line * 128, 4))).collect()
        };
        let warps = vec![row(&over(0)), row(&over(1 << 20))];
        let range = of_blocks(&machine("sm_21", 48, 1), &[TracedBlock { warps }]).l1;
        assert_eq!(range, Range { low: 0, high: 2 * 128 * 4 });
    }

    #[test]
    fn warps_wait_at_barriers() {
        // After the barrier each warp reads what the other has loaded before it, whatever the order.
        let warp = |first: u64, second: u64| row(&[(0, ALL, first, 4), (BARRIER, ALL, 0, 0), (0, ALL, second, 4)]);
        let blocks = [TracedBlock { warps: vec![warp(0, 128), warp(128, 0)] }];
        assert_eq!(of_blocks(&machine("sm_80", 0, 1), &blocks).l1, exactly(8));
    }

    #[test]
    fn blocks_take_the_place_of_those_that_end() {
        // Three blocks that load the same lines, of which two are there at once.
        let all = hits(&machine("sm_80", 0, 2), &[loads(8, 1), loads(8, 1), loads(8, 1)]);
        assert_eq!((all.requests, all.l1), (24, exactly(2 * 8 * 4)));
    }

    #[test]
    fn multiprocessors_share_l2() {
        let blocks = [TracedBlock { warps: vec![row(&loads(8, 1))] }, TracedBlock { warps: vec![row(&loads(8, 1))] }];
        let sites = [(0, site(AccessType::Load))].into_iter().collect();
        let two: Vec<Vec<&TracedBlock>> = blocks.iter().map(|block| vec![block]).collect();
        let (by_group, all) = replayed(&machine("sm_80", 0, 1), &two, &sites, &|_| 5);
        assert_eq!((all.l1, all.l2, all.memory), (exactly(0), exactly(8 * 4), exactly(8 * 4)));
        assert_eq!(by_group.keys().collect::<Vec<_>>(), [&(3, 5)]);
    }
}
