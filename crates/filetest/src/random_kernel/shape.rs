//! Control flow: branches, loops and jumps, with the care that is needed for threads to meet again.

use super::body::{Body, Class};
use super::memory::INPUT;

/// Who comes to a place in the program.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// All threads of the block that have not ended come here, equally often.
    pub(super) is_block: bool,
    /// The register that holds the lanes of the warp that come here together, if it is known.
    pub(super) mask: Option<String>,
    /// How many branches and loops are around it.
    pub(super) depth: u32,
    /// How many loops are around it.
    pub(super) loops: u32,
    /// Whether threads may end here.
    pub(super) may_exit: bool,
}

impl Place {
    /// A place of which nothing is known but how deep it is.
    fn inside(&self, is_loop: bool) -> Self {
        Self { is_block: false, mask: None, depth: self.depth + 1, loops: self.loops + u32::from(is_loop), ..*self }
    }
}

/// Writes a statement.
type Statement = fn(&mut Body, &Place);

impl Body {
    pub(super) fn statements(&mut self, place: &Place, count: u32) {
        for _ in 0..count {
            self.statement(place);
        }
    }

    fn statement(&mut self, place: &Place) {
        let may_nest = place.depth < 4 && self.instructions < self.facts.limit;
        let when = |is_possible: bool, weight: u32| if is_possible { weight } else { 0 };
        let weights: [(u32, Statement); 13] = [
            (56, |body, _| body.arithmetic()),
            (20, |body, _| body.memory()),
            (when(may_nest, 10), Self::branch),
            (when(may_nest && place.loops < 2, 7), Self::repeat),
            (when(may_nest, 2), Self::switch),
            (when(may_nest, 2), Self::jump_into_join),
            (when(may_nest && place.loops < 2, 2), Self::cycle_with_two_entries),
            (when(may_nest && place.loops < 2, 2), Self::any_graph),
            (when(place.mask.is_some(), 14), |body, place| {
                let mask = place.mask.clone().expect("it is there");
                body.collective(&mask);
            }),
            (when(place.is_block, if self.facts.in_step { 40 } else { 10 }), |body, place| {
                if place.depth < 3 && !body.facts.in_step && body.choose.percent(25) {
                    body.barrier_in_both_arms(place);
                } else {
                    body.block_barrier(place);
                }
            }),
            (when(!self.facts.callees.is_empty(), 5), Self::call),
            (when(place.may_exit && self.facts.may_exit, 3), Self::end_of_some),
            (when(place.is_block && !self.facts.in_function, 3), |body, _| body.uniform_step()),
        ];
        let statement = self.choose.weighted(&weights);
        statement(self, place);
    }

    /// A predicate that differs among threads.
    pub(super) fn condition(&mut self) -> String {
        let condition = self.temp(Class::Pred);
        match self.choose.below(8) {
            0 | 1 => {
                let from = self.reg(Class::Pred);
                self.put(format!("mov.pred {condition}, {from}"));
            }
            2 => {
                // Lanes of a set that is known.
                let (set, bit) = (self.choose.word() as u32, self.temp(Class::B32));
                self.put(format!("bfe.u32 {bit}, {set:#x}, %lane, 1"));
                self.put(format!("setp.ne.u32 {condition}, {bit}, 0"));
            }
            3 => {
                let bound = self.choose.between(1, 31);
                self.put(format!("setp.lt.u32 {condition}, %lane, {bound}"));
            }
            4 if !self.facts.in_function => {
                let bound = self.choose.between(1, self.facts.threads);
                self.put(format!("setp.lt.u32 {condition}, %thread, {bound}"));
            }
            _ => {
                let (bit, from) = (self.temp(Class::B32), self.reg(Class::B32));
                let mask = self.choose.pick(&[1, 2, 3, 4, 16]);
                self.put(format!("and.b32 {bit}, {from}, {mask}"));
                self.put(format!("setp.eq.u32 {condition}, {bit}, 0"));
            }
        }
        condition
    }

    /// The places after a branch: where the condition holds, and where it does not.
    pub(super) fn arms(&mut self, place: &Place, condition: &str) -> (Place, Place) {
        let mut arms = (place.inside(false), place.inside(false));
        if let Some(mask) = &place.mask
            && self.choose.percent(75)
        {
            let (first, second) = (self.temp(Class::B32), self.temp(Class::B32));
            self.put(format!("vote.sync.ballot.b32 {first}, {condition}, {mask}"));
            self.put(format!("xor.b32 {second}, {first}, {mask}"));
            (arms.0.mask, arms.1.mask) = (Some(first), Some(second));
        }
        arms
    }

    /// `if`, with or without `else`.
    fn branch(&mut self, place: &Place) {
        let is_uniform = place.is_block && !self.facts.in_function && self.choose.percent(30);
        let (condition, then, other) = if is_uniform {
            let condition = self.uniform_condition();
            let inside = Place { depth: place.depth + 1, ..place.clone() };
            (condition, inside.clone(), inside)
        } else {
            let condition = self.condition();
            let (then, other) = self.arms(place, &condition);
            (condition, then, other)
        };
        let suffix = if is_uniform { self.choose.pick(&["", ".uni"]) } else { "" };
        let (else_label, join) = (self.new_label(), self.new_label());
        let has_else = self.choose.percent(60);
        let target = if has_else { &else_label } else { &join };
        self.put(format!("@!{condition} bra{suffix} {target}"));
        let count = self.choose.between(1, 4);
        self.statements(&then, count);
        if has_else {
            self.put(format!("bra{suffix} {join}"));
            self.label(&else_label);
            let count = self.choose.between(1, 4);
            self.statements(&other, count);
        }
        self.label(&join);
        self.refresh(place);
    }

    /// A loop of few iterations.
    fn repeat(&mut self, place: &Place) {
        let (head, next, end) = (self.new_label(), self.new_label(), self.new_label());
        let counter = self.temp(Class::B32);
        let goes_on = self.temp(Class::Pred);
        let is_uniform = self.choose.percent(if place.is_block { 60 } else { 25 });
        if is_uniform {
            // All threads that come here go around equally often.
            if place.is_block && !self.facts.in_function && self.choose.percent(50) {
                self.put(format!("and.b32 {counter}, %uniform, 3"));
            } else {
                let trips = self.choose.between(1, 3);
                self.put(format!("mov.u32 {counter}, {trips}"));
            }
            let inside = Place { depth: place.depth + 1, loops: place.loops + 1, ..place.clone() };
            let is_head_controlled = self.choose.percent(50);
            if is_head_controlled {
                self.label(&head);
                self.put(format!("setp.eq.u32 {goes_on}, {counter}, 0"));
                self.put(format!("@{goes_on} bra {end}"));
                self.put(format!("sub.u32 {counter}, {counter}, 1"));
                self.loop_body(&inside, &next);
                self.label(&next);
                self.refresh(place);
                self.put(format!("bra {head}"));
            } else {
                self.put(format!("max.u32 {counter}, {counter}, 1"));
                self.label(&head);
                self.loop_body(&inside, &next);
                self.label(&next);
                self.refresh(place);
                self.put(format!("sub.u32 {counter}, {counter}, 1"));
                self.put(format!("setp.ne.u32 {goes_on}, {counter}, 0"));
                self.put(format!("@{goes_on} bra {head}"));
            }
            self.label(&end);
            self.refresh(place);
            return;
        }
        let from = self.reg(Class::B32);
        let bound = self.choose.pick(&[1, 3, 3, 5]);
        if self.choose.percent(30) {
            self.put(format!("and.b32 {counter}, %lane, {bound}"));
        } else {
            self.put(format!("and.b32 {counter}, {from}, {bound}"));
        }
        let mut inside = place.inside(true);
        if let Some(mask) = &place.mask
            && self.choose.percent(70)
        {
            let own = self.temp(Class::B32);
            self.put(format!("mov.b32 {own}, {mask}"));
            inside.mask = Some(own);
        }
        self.label(&head);
        if self.choose.percent(40) {
            // As long as a value computed inside allows it, but not longer than the counter.
            let data = self.reg(Class::Pred);
            self.put(format!("setp.ne.and.u32 {goes_on}, {counter}, 0, {data}"));
        } else {
            self.put(format!("setp.ne.u32 {goes_on}, {counter}, 0"));
        }
        if let Some(mask) = &inside.mask {
            self.put(format!("vote.sync.ballot.b32 {mask}, {goes_on}, {mask}"));
        }
        self.put(format!("@!{goes_on} bra {end}"));
        self.put(format!("sub.u32 {counter}, {counter}, 1"));
        self.loop_body(&inside, &next);
        if self.choose.percent(30) {
            self.refresh(&inside);
            let leaves = self.condition();
            if let Some(mask) = &inside.mask {
                self.put(format!("vote.sync.ballot.b32 {mask}, !{leaves}, {mask}"));
            }
            self.put(format!("@{leaves} bra {end}"));
            let count = self.choose.between(1, 2);
            self.statements(&inside, count);
        }
        self.put(format!("bra {head}"));
        self.label(&end);
        self.refresh(place);
    }

    /// The statements of a loop, with an early `continue` now and then; ends at `next`, which the caller may have to place.
    fn loop_body(&mut self, inside: &Place, next: &str) {
        let count = self.choose.between(1, 4);
        self.statements(inside, count);
        if self.choose.percent(25) {
            let skips = self.condition();
            let (_, rest) = self.arms(inside, &skips);
            let join = if inside.is_block || inside.mask.is_some() { self.new_label() } else { next.to_owned() };
            // A loop without a mask has its `next` here.
            let join = if join == next { self.new_label() } else { join };
            self.put(format!("@{skips} bra {join}"));
            let count = self.choose.between(1, 3);
            self.statements(&rest, count);
            self.label(&join);
            self.refresh(inside);
        }
    }

    /// A jump to one of several labels, some of which fall through to the next.
    fn switch(&mut self, place: &Place) {
        let arms = self.choose.between(2, 4);
        let labels: Vec<String> = (0..arms).map(|_| self.new_label()).collect();
        let (join, table) = (self.new_label(), self.new_label());
        let (index, from) = (self.temp(Class::B32), self.reg(Class::B32));
        let entries = self.choose.between(arms, arms + 2);
        let mut targets = Vec::new();
        for _ in 0..entries {
            targets.push(if self.choose.percent(15) {
                join.clone()
            } else {
                self.choose.pick(&labels.iter().collect::<Vec<_>>()).clone()
            });
        }
        self.put(format!("rem.u32 {index}, {from}, {entries}"));
        let mut inside = place.inside(false);
        let falls_through = self.choose.percent(40);
        let has_distinct_targets = targets.iter().enumerate().all(|(nth, label)| !targets[..nth].contains(label));
        if let (Some(mask), false, true) = (&place.mask, falls_through, has_distinct_targets) {
            let own = self.temp(Class::B32);
            self.put(format!("match.any.sync.b32 {own}, {index}, {mask}"));
            inside.mask = Some(own);
        }
        self.line(format!("{table}: .branchtargets {};", targets.join(", ")));
        self.put(format!("brx.idx {index}, {table}"));
        for label in &labels {
            self.label(label);
            let count = self.choose.between(1, 2);
            self.statements(&inside, count);
            if !falls_through {
                self.put(format!("bra {join}"));
            }
        }
        self.label(&join);
        self.refresh(place);
    }

    /// Two branches that cross: the second jumps after the start of the first one's join.
    fn jump_into_join(&mut self, place: &Place) {
        let (first, second) = (self.new_label(), self.new_label());
        let inside = place.inside(false);
        let one = self.condition();
        self.put(format!("@{one} bra {first}"));
        let count = self.choose.between(1, 2);
        self.statements(&inside, count);
        let other = self.condition();
        self.put(format!("@{other} bra {second}"));
        self.statements(&inside, 1);
        self.label(&first);
        let count = self.choose.between(1, 2);
        self.statements(&inside, count);
        self.label(&second);
        self.refresh(place);
    }

    /// A loop that is also entered in its middle.
    fn cycle_with_two_entries(&mut self, place: &Place) {
        let (head, middle, end) = (self.new_label(), self.new_label(), self.new_label());
        let (counter, is_over, from) = (self.temp(Class::B32), self.temp(Class::Pred), self.reg(Class::B32));
        let inside = place.inside(true);
        self.put(format!("and.b32 {counter}, {from}, 3"));
        let condition = self.condition();
        self.put(format!("@{condition} bra {middle}"));
        self.label(&head);
        let count = self.choose.between(1, 2);
        self.statements(&inside, count);
        self.label(&middle);
        let count = self.choose.between(1, 2);
        self.statements(&inside, count);
        self.put(format!("setp.eq.u32 {is_over}, {counter}, 0"));
        self.put(format!("@{is_over} bra {end}"));
        self.put(format!("sub.u32 {counter}, {counter}, 1"));
        if self.choose.percent(50) {
            let condition = self.condition();
            self.put(format!("@{condition} bra {middle}"));
        }
        self.put(format!("bra {head}"));
        self.label(&end);
        self.refresh(place);
    }

    /// A few blocks that jump anywhere until their fuel is used up.
    fn any_graph(&mut self, place: &Place) {
        let blocks = self.choose.between(2, 5);
        let labels: Vec<String> = (0..blocks).map(|_| self.new_label()).collect();
        let end = self.new_label();
        let (fuel, is_empty) = (self.temp(Class::B32), self.temp(Class::Pred));
        let inside = place.inside(true);
        let amount = self.choose.between(2, 6);
        self.put(format!("mov.u32 {fuel}, {amount}"));
        for label in &labels {
            self.label(label);
            let count = self.choose.between(1, 2);
            self.statements(&inside, count);
            self.put(format!("setp.eq.u32 {is_empty}, {fuel}, 0"));
            self.put(format!("@{is_empty} bra {end}"));
            self.put(format!("sub.u32 {fuel}, {fuel}, 1"));
            let target = self.choose.pick(&labels.iter().collect::<Vec<_>>()).clone();
            match self.choose.below(4) {
                0 => self.put(format!("bra {target}")),
                1 => {}
                2 => {
                    let (table, index) = (self.new_label(), self.temp(Class::B32));
                    let other = self.choose.pick(&labels.iter().collect::<Vec<_>>()).clone();
                    let from = self.reg(Class::B32);
                    self.put(format!("and.b32 {index}, {from}, 1"));
                    self.line(format!("{table}: .branchtargets {target}, {other};"));
                    self.put(format!("brx.idx {index}, {table}"));
                }
                _ => {
                    let condition = self.condition();
                    self.put(format!("@{condition} bra {target}"));
                }
            }
        }
        self.label(&end);
        self.refresh(place);
    }

    /// Some threads end.
    fn end_of_some(&mut self, place: &Place) {
        let (condition, after) = (self.condition(), self.new_label());
        let end = self.choose.pick(&["ret", "exit"]);
        if self.choose.percent(50) {
            self.put(format!("@!{condition} bra {after}"));
            let r = self.reg(Class::B32);
            self.put(format!("st.global.b32 [%own+-4], {r}"));
            self.put(end);
            self.label(&after);
        } else {
            let r = self.reg(Class::B32);
            self.put(format!("@{condition} st.global.b32 [%own+-4], {r}"));
            self.put(format!("@{condition} {end}"));
        }
        self.refresh(place);
    }

    /// A predicate that is the same in all threads of the block.
    fn uniform_condition(&mut self) -> String {
        let (condition, bit) = (self.temp(Class::Pred), self.temp(Class::B32));
        let mask = self.choose.pick(&[1, 2, 4, 7]);
        self.put(format!("and.b32 {bit}, %uniform, {mask}"));
        let comparison = self.choose.pick(&["eq", "ne"]);
        self.put(format!("setp.{comparison}.u32 {condition}, {bit}, 0"));
        condition
    }

    /// Changes the register that is the same in all threads of the block.
    fn uniform_step(&mut self) {
        match self.choose.below(4) {
            0 => self.put("mad.lo.u32 %uniform, %uniform, 5, 3"),
            1 if !self.facts.in_step => {
                let offset = self.choose.below(INPUT) * 4;
                self.put(format!("ld.global.b32 %uniform, [%input+{offset}]"));
            }
            _ if self.facts.in_step || self.choose.percent(50) => {
                let number = self.temp(Class::B32);
                self.put(format!("mov.u32 {number}, %ctaid.x"));
                self.put(format!("add.u32 %uniform, %uniform, {number}"));
            }
            _ => {
                let p = self.reg(Class::Pred);
                self.put(format!("bar.red.popc.u32 %uniform, 0, {p}"));
            }
        }
        let r = self.reg(Class::B32);
        self.put(format!("mov.b32 {r}, %uniform"));
    }
}
