//! Warps of a block that take turns.
//!
//! In most kernels, all warps of a block come to the same barrier again and again, and do nothing else that the scheduler
//! must know of. Then a warp that comes to barrier 0 need not ask who is next: the warps are in a ring, and it is the next
//! one. The first of the ring gets its turn again when all others have had theirs, which is when all have arrived. Nothing
//! is counted, and a barrier costs no more than a switch of stacks.
//!
//! A ring is formed when a block is started whose kernel has barriers, and when barrier 0 has let all warps of a block go
//! on. A warp that comes to its end passes its turn on until all have; then the warps of the ring go on with the next block
//! together. A ring is broken as soon as a warp does something else: comes to another barrier, spins, fails, or is
//! deoptimized. Those that had their turn then wait at the barrier, and the others are ready, as if there had never been a ring.

use super::{Schedule, State};
use crate::abi::context::{Progress, SharedRing};

impl Schedule<'_> {
    /// Whether the warps of a block take turns from its start.
    pub(super) fn takes_turns(&self) -> bool {
        // Whoever wants to know who waits, or to choose who runs, is asked each time.
        self.launch.kernel.has_barriers && self.launch.schedule.is_in_order() && self.launch.observer.is_none()
    }

    /// Starts all warps of a block, in a ring. Gives the first.
    pub(super) fn start_ring(&mut self, place: usize) -> Option<usize> {
        let units = self.residents[place].as_ref().expect("the block is resident").units;
        let mut ring = std::mem::take(&mut self.residents[place].as_mut().expect("the block is resident").ring);
        for _ in 0..units {
            let fibre = self.idle_fibre()?;
            self.begin(fibre, place);
            ring.push(fibre);
        }
        let first = ring.first().copied();
        self.link(place, ring);
        first
    }

    /// Makes a ring of warps of a block.
    fn link(&mut self, place: usize, ring: Vec<usize>) {
        let resident = self.residents[place].as_mut().expect("the block is resident");
        if let Some(&first) = ring.first() {
            let first = &raw mut self.fibres[first].context;
            *resident.shared_ring = SharedRing { warps: ring.len() as u32, over: 0, first };
        }
        let shared_ring = &raw mut *resident.shared_ring;
        for (index, &fibre) in ring.iter().enumerate() {
            let next = &raw mut self.fibres[ring[(index + 1) % ring.len()]].context;
            let context = &mut self.fibres[fibre].context;
            (context.next, context.shared_ring, context.progress) = (next, shared_ring, Progress::Runs);
        }
        resident.ring = ring;
    }

    /// All warps of the running one's ring have come to their end: they go on with the next block, if there is one for them.
    pub(crate) fn go_on_with_ring(&mut self) -> bool {
        let place = self.context().resident;
        let resident = self.residents[place].as_ref().expect("the block is resident");
        // A warp may have ended before the ring was formed. Others may have waited for it, and there may be better code.
        let must_end = resident.ring.len() != resident.units as usize
            || !self.ready.is_empty()
            || self.fault.is_some()
            || self.launch.should_leave_off()
            || !std::ptr::eq(self.launch.code(), self.code);
        let next = if must_end { None } else { self.take_blocks() };
        let resident = self.residents[place].as_mut().expect("the block is resident");
        let progress = if next.is_some() { Progress::Runs } else { Progress::Ends };
        if let Some(blocks) = &next {
            resident.add_counts(self.launch);
            resident.go_on(self.launch, self.launch.block_of(blocks.start));
        }
        resident.shared_ring.over = 0;
        for &fibre in &resident.ring {
            let context = &mut self.fibres[fibre].context;
            context.block = resident.block;
            context.progress = progress;
        }
        next.is_some()
    }

    /// The running warp has ended: if others are in its ring, it leaves them. Gives where the fibre is saved, and the one
    /// that has its turn.
    pub(super) fn leave_ring(&mut self) -> Option<(*mut *mut u8, *mut u8)> {
        let running = self.running();
        let context = &mut self.fibres[running].context;
        let resident = self.residents[context.resident].as_mut().expect("the block is resident");
        if context.next.is_null() || resident.ring.len() < 2 {
            return None;
        }
        let (warps, place) = (resident.ring.len(), resident.ring.iter().position(|&fibre| fibre == running)?);
        let (before, after) = (resident.ring[(place + warps - 1) % warps], resident.ring[(place + 1) % warps]);
        resident.ring.remove(place);
        resident.running -= 1;
        resident.alive[context.warp()] = 0;
        context.next = std::ptr::null_mut();
        let saved = &raw mut context.saved;
        self.fibres[running].state = State::Idle;
        self.idle.push(running);
        let turn = &raw mut self.fibres[after].context;
        self.fibres[before].context.next = turn;
        self.current.set(turn);
        Some((saved, self.fibres[after].context.saved))
    }

    /// Forms a ring of those that are last in the queue, if they are all warps of a block.
    pub(super) fn form_ring(&mut self, place: usize, released: usize) {
        if !self.takes_turns() || released < 2 {
            return;
        }
        let resident = self.residents[place].as_mut().expect("the block is resident");
        let is_whole = resident.running as usize == released && resident.next_unit == resident.units;
        let first = self.ready.len() - released;
        let is_warp = |&fibre: &usize| !self.fibres[fibre].context.is_thread;
        // The one that came last goes on first: it runs.
        let goes_on = self.ready.back().copied();
        if !is_whole || goes_on != Some(self.running()) || !self.ready.range(first..).all(is_warp) {
            return;
        }
        let mut ring = std::mem::take(&mut self.residents[place].as_mut().expect("it is resident").ring);
        ring.extend(goes_on);
        ring.extend(self.ready.drain(first..).take(released - 1));
        self.ready.extend(goes_on);
        self.link(place, ring);
    }

    /// Breaks the ring that the running warp is in, if it is in one, because it does something else.
    pub(super) fn break_ring(&mut self) {
        let running = self.running();
        let place = self.fibres[running].context.resident;
        if self.fibres[running].context.next.is_null() {
            return;
        }
        let resident = self.residents[place].as_mut().expect("the block is resident");
        let warps = resident.alive.len();
        let mut has_turn = false;
        for &fibre in &resident.ring {
            let context = &mut self.fibres[fibre].context;
            context.next = std::ptr::null_mut();
            if fibre == running {
                has_turn = true;
            } else if context.progress == Progress::IsOver {
                // It ends when it runs; nobody waits for it until then.
                resident.alive[context.warp()] = 0;
                self.ready.push_back(fibre);
            } else if has_turn {
                self.ready.push_back(fibre);
            } else {
                let (line, warp, lanes) = (context.line, context.warp(), context.arrived);
                resident.alive[warp] = lanes;
                resident.busy |= 1;
                resident.barriers[0].arrive(warps, warp, lanes, 0, 0);
                resident.barriers[0].waiting.push(fibre);
                self.fibres[fibre].state = State::Barrier { id: 0, line };
            }
        }
        resident.ring.clear();
    }
}
