//! Barriers, and what lanes of a warp do together.
//!
//! A place knows whether all threads of the block come there, and a register that holds the lanes of the warp that do: it
//! starts as all lanes, and becomes smaller by `vote.sync.ballot` or a known set where lanes part.

use super::body::{Body, Class};
use super::shape::Place;

impl Body {
    /// Something that the lanes of a mask do together.
    pub(super) fn collective(&mut self, mask: &str) {
        let members = &self.mask_for_collective(mask);
        // Lanes that do not exist do no harm in a mask.
        let is_all = members == "%lanes" && !self.facts.may_exit && self.choose.percent(30);
        let mask = if is_all { "-1" } else { members };
        match self.choose.below(16) {
            0 | 1 => {
                let (kind, d, a) =
                    (self.choose.pick(&["all", "any", "uni"]), self.reg(Class::Pred), self.reg(Class::Pred));
                let negation = self.choose.pick(&["", "!"]);
                self.put(format!("vote.sync.{kind}.pred {d}, {negation}{a}, {mask}"));
            }
            2 => {
                let (d, a) = (self.reg(Class::B32), self.reg(Class::Pred));
                self.put(format!("vote.sync.ballot.b32 {d}, {a}, {mask}"));
            }
            3 | 4 => self.match_lanes(mask),
            5..=7 => self.reduce(mask, ""),
            8 => self.put(format!("bar.warp.sync {mask}")),
            9 if self.facts.has_shared && !self.facts.in_function => self.exchange_in_warp(members),
            10 => {
                // Only those for whom a predicate holds.
                let (some, predicate) = (self.temp(Class::B32), self.temp(Class::Pred));
                let from = self.reg(Class::Pred);
                self.put(format!("mov.pred {predicate}, {from}"));
                self.put(format!("vote.sync.ballot.b32 {some}, {predicate}, {mask}"));
                self.reduce(&some, &format!("@{predicate} "));
            }
            _ => self.shuffle(mask, members),
        }
    }

    /// The mask itself, or one of a partition of it, so that sets of lanes with different masks meet at one instruction.
    fn mask_for_collective(&mut self, mask: &str) -> String {
        let part = self.temp(Class::B32);
        match self.choose.below(10) {
            0 => {
                let (predicate, others) = (self.reg(Class::Pred), self.temp(Class::B32));
                self.put(format!("vote.sync.ballot.b32 {part}, {predicate}, {mask}"));
                self.put(format!("not.b32 {others}, {part}"));
                self.put(format!("and.b32 {others}, {others}, {mask}"));
                self.put(format!("selp.b32 {part}, {part}, {others}, {predicate}"));
                part
            }
            1 => {
                let (key, from) = (self.temp(Class::B32), self.reg(Class::B32));
                self.put(format!("and.b32 {key}, {from}, 3"));
                self.put(format!("match.any.sync.b32 {part}, {key}, {mask}"));
                part
            }
            _ => mask.to_owned(),
        }
    }

    fn match_lanes(&mut self, mask: &str) {
        let (class, bits) = self.choose.pick(&[(Class::B32, 32), (Class::B64, 64)]);
        // Whole words hardly ever match.
        let (key, from) = (self.temp(class), self.reg(class));
        self.put(format!("and.b{bits} {key}, {from}, 3"));
        let d = self.reg(Class::B32);
        match self.choose.below(3) {
            0 => {
                let p = self.reg(Class::Pred);
                self.put(format!("match.all.sync.b{bits} {d}|{p}, {key}, {mask}"));
            }
            _ => self.put(format!("match.any.sync.b{bits} {d}, {key}, {mask}")),
        }
    }

    fn reduce(&mut self, mask: &str, guard: &str) {
        let operation = self
            .choose
            .pick(&["add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32", "or.b32", "xor.b32"]);
        let (d, a) = (self.reg(Class::B32), self.reg(Class::B32));
        self.put(format!("{guard}redux.sync.{operation} {d}, {a}, {mask}"));
    }

    /// A shuffle of any kind. What comes from a lane that is not a member is thrown away.
    fn shuffle(&mut self, mask: &str, members: &str) {
        let kind = self.choose.pick(&["up", "down", "bfly", "idx"]);
        let width = self.choose.pick(&[32_u32, 32, 16, 8, 4]);
        let segments = 32 - width;
        let clamp = segments << 8 | if kind == "up" { 0 } else { 31 };
        let (amount, from) = (self.temp(Class::B32), self.reg(Class::B32));
        if self.choose.percent(60) {
            let number = self.choose.below(32);
            self.put(format!("mov.u32 {amount}, {number}"));
        } else {
            self.put(format!("and.b32 {amount}, {from}, 31"));
        }
        let (value, found, is_inside) = (self.reg(Class::B32), self.temp(Class::B32), self.temp(Class::Pred));
        self.put(format!("shfl.sync.{kind}.b32 {found}|{is_inside}, {value}, {amount}, {clamp:#x}, {mask}"));
        let source = self.temp(Class::B32);
        match kind {
            "up" => self.put(format!("sub.u32 {source}, %lane, {amount}")),
            "down" => self.put(format!("add.u32 {source}, %lane, {amount}")),
            "bfly" => self.put(format!("xor.b32 {source}, %lane, {amount}")),
            // The segment of the lane with the place within it: bits of the first and of the second.
            _ => self.put(format!("lop3.b32 {source}, %lane, {amount}, {segments}, 0xe4")),
        }
        self.put(format!("selp.b32 {source}, {source}, %lane, {is_inside}"));
        let (bit, is_member, d) = (self.temp(Class::B32), self.temp(Class::Pred), self.reg(Class::B32));
        self.put(format!("bfe.u32 {bit}, {members}, {source}, 1"));
        self.put(format!("setp.ne.u32 {is_member}, {bit}, 0"));
        self.put(format!("selp.b32 {d}, {found}, 77, {is_member}"));
    }

    /// Through shared memory to a lane of the mask.
    fn exchange_in_warp(&mut self, mask: &str) {
        let (value, d) = (self.reg(Class::B32), self.reg(Class::B32));
        let (from, lane, bit) = (self.reg(Class::B32), self.temp(Class::B32), self.temp(Class::B32));
        let (is_member, address) = (self.temp(Class::Pred), self.temp(Class::B32));
        self.put(format!("st.shared.b32 [%warp_slot], {value}"));
        self.put(format!("and.b32 {lane}, {from}, 31"));
        self.put(format!("bfe.u32 {bit}, {mask}, {lane}, 1"));
        self.put(format!("setp.ne.u32 {is_member}, {bit}, 0"));
        self.put(format!("selp.b32 {lane}, {lane}, %lane, {is_member}"));
        self.put(format!("sub.u32 {lane}, {lane}, %lane"));
        self.put(format!("mad.lo.u32 {address}, {lane}, 4, %warp_slot"));
        self.put(format!("bar.warp.sync {mask}"));
        self.put(format!("ld.shared.b32 {d}, [{address}]"));
        self.put(format!("bar.warp.sync {mask}"));
    }

    /// A barrier where all threads of the block come.
    pub(super) fn block_barrier(&mut self, place: &Place) {
        match self.choose.below(8) {
            0..=2 if self.facts.has_shared => self.exchange_in_block(place),
            _ if self.facts.in_step => self.plain_barrier(),
            3 if self.facts.has_shared => self.read_counters(),
            4 if self.facts.warps() > 1 && !self.facts.may_exit => self.barrier_of_warps(place),
            5 if self.facts.warps() > 1 && !self.facts.may_exit => self.arrive_and_wait(),
            6 => self.plain_barrier(),
            _ => self.barrier_reduction(),
        }
    }

    /// Some barrier that all wait at.
    fn plain_barrier(&mut self) {
        if self.facts.in_step {
            let op = self.choose.pick(&["bar", "barrier"]);
            return self.put(format!("{op}.sync 0"));
        }
        let barrier = self.choose.below(4);
        match self.choose.below(4) {
            0 if !self.facts.may_exit => {
                let count = self.facts.warps() * 32;
                self.put(format!("bar.sync {barrier}, {count}"));
            }
            1 => self.put(format!("barrier.sync {barrier}")),
            2 => {
                let number = self.temp(Class::B32);
                self.put(format!("mov.u32 {number}, {barrier}"));
                self.put(format!("barrier.sync.aligned {number}"));
            }
            _ => self.put(format!("bar.sync {barrier}")),
        }
    }

    fn reduction(&mut self, op: &str, barrier: u32, kind: &str) {
        let p = self.reg(Class::Pred);
        let negation = self.choose.pick(&["", "!"]);
        if kind == "popc.u32" {
            let d = self.reg(Class::B32);
            self.put(format!("{op}.red.popc.u32 {d}, {barrier}, {negation}{p}"));
        } else {
            let d = self.reg(Class::Pred);
            self.put(format!("{op}.red.{kind} {d}, {barrier}, {negation}{p}"));
        }
    }

    fn barrier_reduction(&mut self) {
        let (op, kind) =
            (self.choose.pick(&["bar", "barrier"]), self.choose.pick(&["popc.u32", "and.pred", "or.pred"]));
        let barrier = self.choose.below(4);
        self.reduction(op, barrier, kind);
    }

    /// Everybody writes a slot, and reads another one after a barrier.
    fn exchange_in_block(&mut self, place: &Place) {
        let value = self.reg(Class::B64);
        self.put(format!("st.shared.b64 [%slot], {value}"));
        if place.depth < 3 && !self.facts.in_step && self.choose.percent(35) {
            self.barrier_in_both_arms(place);
        } else {
            self.plain_barrier();
        }
        let (index, address, from) = (self.temp(Class::B32), self.temp(Class::B32), self.reg(Class::B32));
        self.put(format!("rem.u32 {index}, {from}, {}", self.facts.threads));
        self.put(format!("mov.u32 {address}, memory"));
        self.put(format!("mad.lo.u32 {address}, {index}, 8, {address}"));
        let d = self.reg(Class::B64);
        self.put(format!("ld.shared.b64 {d}, [{address}]"));
        self.plain_barrier();
    }

    /// A counter in shared memory, when nobody counts.
    fn read_counters(&mut self) {
        self.put("bar.sync 0");
        let shared: Vec<u32> =
            self.facts.counters.iter().filter(|counter| counter.is_shared).map(|counter| counter.offset).collect();
        if !shared.is_empty() {
            let (offset, d) = (self.choose.pick(&shared), self.reg(Class::B64));
            self.put(format!("ld.shared.b64 {d}, [memory+{offset}]"));
        }
        self.put("bar.sync 0");
    }

    /// The same barrier in both arms of a branch.
    pub(super) fn barrier_in_both_arms(&mut self, place: &Place) {
        let (first, join) = (self.new_label(), self.new_label());
        let condition = self.condition();
        let (then, other) = self.arms(place, &condition);
        let barrier = self.choose.below(4);
        let kind = self.choose.pick(&["sync", "sync", "popc.u32", "and.pred", "or.pred"]);
        let (before, after) = (self.choose.below(3), self.choose.below(3));
        self.put(format!("@{condition} bra {first}"));
        for (arm, is_last) in [(&other, false), (&then, true)] {
            if is_last {
                self.label(&first);
            }
            self.statements(arm, before);
            match kind {
                "sync" => self.put(format!("barrier.sync {barrier}")),
                _ => self.reduction("barrier", barrier, kind),
            }
            self.statements(arm, after);
            if !is_last {
                self.put(format!("bra {join}"));
            }
        }
        self.label(&join);
        self.refresh(place);
    }

    /// A barrier of some warps, whose number is not used elsewhere.
    fn barrier_of_warps(&mut self, place: &Place) {
        let Some(barrier) = self.own_barrier() else { return self.plain_barrier() };
        let warps = self.choose.between(1, self.facts.warps() - 1);
        let (is_outside, end) = (self.temp(Class::Pred), self.new_label());
        self.put(format!("setp.ge.u32 {is_outside}, %warp, {warps}"));
        self.put(format!("@{is_outside} bra {end}"));
        // All lanes of a warp go the same way, so the mask stays.
        let inside = Place { is_block: false, depth: place.depth + 1, ..place.clone() };
        let (before, after) = (self.choose.below(3), self.choose.below(3));
        self.statements(&inside, before);
        let op = self.choose.pick(&["bar.sync", "barrier.sync"]);
        self.put(format!("{op} {barrier}, {}", warps * 32));
        self.statements(&inside, after);
        self.label(&end);
    }

    /// Some warps arrive at a barrier and go on, others wait there.
    fn arrive_and_wait(&mut self) {
        let Some(barrier) = self.own_barrier() else { return self.plain_barrier() };
        let (is_waiting, count) = (self.temp(Class::Pred), self.facts.warps() * 32);
        let first = self.choose.between(1, self.facts.warps() - 1);
        let (wait, after) = (self.new_label(), self.new_label());
        self.put(format!("setp.ge.u32 {is_waiting}, %warp, {first}"));
        self.put(format!("@{is_waiting} bra {wait}"));
        self.put(format!("bar.arrive {barrier}, {count}"));
        self.put(format!("bra {after}"));
        self.label(&wait);
        self.put(format!("bar.sync {barrier}, {count}"));
        self.label(&after);
        // Nobody comes a second time before all have gone on.
        self.put("bar.sync 0");
    }

    fn own_barrier(&mut self) -> Option<u32> {
        self.facts.next_barrier += 1;
        (self.facts.next_barrier < 16).then_some(self.facts.next_barrier)
    }

    /// Lanes that have exited leave the mask.
    pub(super) fn refresh(&mut self, place: &Place) {
        if let (Some(mask), true) = (&place.mask, self.facts.may_exit) {
            self.put(format!("vote.sync.ballot.b32 {mask}, %true, {mask}"));
        }
    }
}
