//! Abstract execution of a kernel: all threads of all blocks at once, with symbols for what differs between them.
//!
//! Branches that all threads decide alike are followed. At others, both ways are executed up to where they meet, each
//! with what its condition says, and the states are joined. Loops are executed iteration by iteration as long as all
//! threads agree when to leave and not too much work is done; else they are summarised ([`summary`]).

mod compute;
mod step;
mod summary;

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::arithmetic::Arithmetic;
use super::code::{Code, End, Source};
use super::ids::Ids;
use super::launch::Launch;
use super::linear::Linear;
use super::objects::Objects;
use super::path::{Fact, Path};
use super::record::Record;
use super::value::{Predicate, Value};
use crate::analysis::{Block, LoopId};
use crate::entity::Map;
use crate::ir::Reg;

/// What an execution found.
#[derive(Debug)]
pub(super) struct Execution<'a> {
    pub code: &'a Code,
    pub launch: &'a Launch<'a>,
    pub objects: &'a Objects,
    pub arithmetic: Arithmetic,
    pub records: Vec<Record>,
    /// What was not understood: the site and the reason.
    pub refusals: Vec<(usize, &'static str)>,
    /// Barriers that perhaps not all threads come to.
    pub bad_barriers: Vec<usize>,
    /// Instructions executed so far.
    pub steps: u64,
    /// The instruction that is executed.
    site: usize,
    ids: Ids,
    /// How many branches around the current place do threads of a block decide differently.
    divergence: u32,
    frames: Vec<Frame>,
    summarised: FxHashSet<LoopId>,
    depth: u32,
    /// Places so far at which some threads have ended.
    departures: u32,
}

/// A loop that is being executed.
#[derive(Debug)]
struct Frame {
    id: LoopId,
    mode: Mode,
    /// Where control left it, with which state.
    exits: Vec<(Block, State)>,
    /// Summarised loops: what held in every iteration that was not the last.
    goes_on: Vec<Fact>,
    /// Whether all threads of a block leave at once.
    is_uniform: bool,
    /// How deep branches around it are.
    depth: u32,
    /// The number of steps at which executing it iteration by iteration ends.
    limit: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// Iteration by iteration.
    Concrete,
    /// One iteration that stands for all.
    Summary,
    /// The same, but never leaving: to see what one iteration does.
    Probe,
}

/// Registers and what is known.
#[derive(Clone, Debug)]
pub(super) struct State {
    regs: Map<Reg, Value>,
    /// How many barriers the thread has passed.
    interval: Rc<Linear>,
    path: Rc<Path>,
    /// Whether all threads of which the path holds come here.
    is_certain: bool,
}

/// Why the execution does not go on.
#[derive(Debug)]
pub(super) enum Stop {
    /// The loop must be summarised.
    Summarise(LoopId),
    /// Something is not understood, or takes too long.
    Refused(usize, &'static str),
}

/// Instructions of one execution of a loop, iteration by iteration: without barriers, and with.
const LOOP_STEPS: [u64; 2] = [1_000, 6_000];
/// Branches and loops in each other.
const MOST_DEPTH: u32 = 60;

impl<'a> Execution<'a> {
    pub(super) fn new(code: &'a Code, launch: &'a Launch<'a>, objects: &'a Objects, cuts: &[(bool, u8, u32)]) -> Self {
        let mut arithmetic = Arithmetic::default();
        let ids = Ids::new(&mut arithmetic, launch, cuts, code.uses_lane);
        Self {
            code,
            launch,
            objects,
            arithmetic,
            records: Vec::new(),
            refusals: Vec::new(),
            bad_barriers: Vec::new(),
            steps: 0,
            site: 0,
            ids,
            divergence: 0,
            frames: Vec::new(),
            summarised: FxHashSet::default(),
            depth: 0,
            departures: 0,
        }
    }

    pub(super) fn run_kernel(&mut self) {
        if let Some((site, reason)) = self.code.refusal {
            self.refusals.push((site, reason));
            return;
        }
        let mut path = Path::default();
        path.assume(&self.arithmetic.symbols, &self.ids.facts);
        let state = State {
            regs: Map::filled(self.code.registers, Value::Unknown),
            interval: Rc::new(Linear::constant(0)),
            path: Rc::new(path),
            is_certain: true,
        };
        match self.run(self.code.entry, None, state) {
            Ok(_) => {}
            Err(Stop::Summarise(_)) => unreachable!("loops that are not being executed are not summarised"),
            Err(Stop::Refused(site, reason)) => self.refusals.push((site, reason)),
        }
    }

    /// Executes until `stop`. Nothing if no thread comes there: all have ended, or left the loop.
    fn run(&mut self, block: Block, stop: Option<Block>, state: State) -> Result<Option<State>, Stop> {
        self.depth += 1;
        let result = if self.depth > MOST_DEPTH {
            Err(Stop::Refused(self.site, "is inside of too many branches"))
        } else {
            self.run_blocks(block, stop, state)
        };
        self.depth -= 1;
        result
    }

    fn run_blocks(&mut self, start: Block, stop: Option<Block>, state: State) -> Result<Option<State>, Stop> {
        let (mut block, mut state, mut is_first) = (start, state, true);
        loop {
            if Some(block) == stop && !is_first {
                return Ok(Some(state));
            }
            is_first = false;
            if let Some(frame) = self.frames.last_mut()
                && !self.code.loops[frame.id].contains(block)
            {
                frame.exits.push((block, state));
                return Ok(None);
            }
            if let Some(id) = self.code.blocks[block].heads
                && self.frames.last().is_none_or(|frame| frame.id != id)
            {
                let exits = self.run_loop(id, state)?;
                match self.after_loop(id, exits, stop)? {
                    Some(next) => (block, state) = next,
                    None => return Ok(None),
                }
                continue;
            }
            for place in self.code.blocks[block].steps.clone() {
                let step = &self.code.steps[place];
                self.site = step.site;
                self.count_work()?;
                self.step(step, &mut state)?;
            }
            match self.code.blocks[block].end {
                End::Jump(next) => block = next,
                End::Leave => {
                    self.departures += 1;
                    return Ok(None);
                }
                End::Unknown(site) => return Err(Stop::Refused(site, "goes to an unknown place")),
                End::Branch { reg, negated, taken, otherwise } => {
                    self.count_work()?;
                    let predicate = self.predicate(&state, Source::Reg(reg));
                    let predicate = if negated { Rc::new(predicate.negated()) } else { predicate };
                    match self.branch(block, &predicate, [taken, otherwise], state)? {
                        Some(next) => (block, state) = next,
                        None => return Ok(None),
                    }
                }
            }
        }
    }

    fn count_work(&mut self) -> Result<(), Stop> {
        self.steps += 1;
        self.arithmetic.symbols.work().add(2);
        if self.arithmetic.symbols.work().is_over() {
            return Err(Stop::Refused(self.site, "is as far as the execution came before it took too long"));
        }
        match self.frames.last() {
            Some(frame) if frame.mode == Mode::Concrete && self.steps > frame.limit => Err(Stop::Summarise(frame.id)),
            _ => Ok(()),
        }
    }

    /// Goes on after a branch to `ways`, taken or not; nothing is where threads end.
    fn branch(
        &mut self,
        block: Block,
        predicate: &Predicate,
        ways: [Option<Block>; 2],
        mut state: State,
    ) -> Result<Option<(Block, State)>, Stop> {
        let code = self.code;
        let stays = |frame: &Frame, way: Option<Block>| way.is_some_and(|way| code.loops[frame.id].contains(way));
        let facts = [&predicate.when_true, &predicate.when_false];
        if let Some(frame) = self.frames.last_mut().filter(|frame| frame.mode != Mode::Concrete)
            && let [one, other] = ways.map(|way| stays(frame, way))
            && one != other
        {
            // Threads leave the loop here, or go on.
            let (inside, outside) = if one { (0, 1) } else { (1, 0) };
            // Not where only some iterations come.
            if frame.depth == self.depth {
                frame.goes_on.extend(facts[inside].iter().cloned());
            }
            frame.is_uniform &= predicate.is_uniform;
            // Who goes on is in some iteration.
            state.is_certain = false;
            if frame.mode == Mode::Summary {
                let mut left = state.clone();
                if left.assume(&self.arithmetic, facts[outside])
                    && let Some(way) = ways[outside]
                {
                    frame.exits.push((way, left));
                }
                if !state.assume(&self.arithmetic, facts[inside]) {
                    return Ok(None);
                }
            }
            return Ok(ways[inside].map(|way| (way, state)));
        }
        if let Some(holds) = predicate.decide(&state.path, &self.arithmetic.symbols) {
            return Ok(ways[usize::from(!holds)].map(|way| (way, state)));
        }
        let in_loop = self.frames.last().map(|frame| frame.id);
        let ends = ways.map(|way| match (way, in_loop) {
            (None, _) => true,
            (Some(way), Some(id)) if !code.loops[id].contains(way) => false,
            (Some(way), _) => code.blocks[way].only_leaves,
        });
        if ends[0] || ends[1] {
            let stays = usize::from(ends[0]);
            self.departures += 1;
            state.is_certain &= predicate.is_exact[stays];
            if ends[stays] || !state.assume(&self.arithmetic, facts[stays]) {
                return Ok(None);
            }
            return Ok(ways[stays].map(|way| (way, state)));
        }
        let meets_at = self.meeting(block)?;
        self.divergence += u32::from(!predicate.is_uniform);
        let mut ended = [None, None];
        let departures = self.departures;
        for side in 0..2 {
            let mut own = state.clone();
            own.is_certain &= predicate.is_exact[side];
            if let Some(way) = ways[side]
                && own.assume(&self.arithmetic, facts[side])
            {
                // An arm without statements is where both meet.
                ended[side] = if Some(way) == meets_at { Some(own) } else { self.run(way, meets_at, own)? };
            }
        }
        self.divergence -= u32::from(!predicate.is_uniform);
        let joined = match ended {
            [Some(one), Some(other)] => {
                let at = meets_at.expect("states come back only from where ways meet");
                let joined = self.join(at, one, other, predicate.is_uniform);
                // If all meet again that came to the branch, what held there says exactly who they are.
                let is_certain = state.is_certain && self.departures == departures;
                if is_certain { State { path: state.path, is_certain, ..joined } } else { joined }
            }
            [Some(one), None] | [None, Some(one)] => one,
            [None, None] => return Ok(None),
        };
        Ok(meets_at.map(|at| (at, joined)))
    }

    /// Where the ways from a block meet; in a loop that is summarised, its header at the latest.
    fn meeting(&self, block: Block) -> Result<Option<Block>, Stop> {
        let meets_at = self.code.blocks[block].meets_at;
        let Some(frame) = self.frames.last() else { return Ok(meets_at) };
        match meets_at.filter(|&at| self.code.loops[frame.id].contains(at)) {
            Some(at) => Ok(Some(at)),
            None if frame.mode == Mode::Concrete => Err(Stop::Summarise(frame.id)),
            None => Ok(Some(self.code.loops[frame.id].header)),
        }
    }

    /// Goes on where a loop was left.
    fn after_loop(
        &mut self,
        id: LoopId,
        exits: Vec<(Block, State)>,
        stop: Option<Block>,
    ) -> Result<Option<(Block, State)>, Stop> {
        let mut by_block: Vec<(Block, State)> = Vec::new();
        for (block, state) in exits {
            match by_block.iter_mut().find(|(known, _)| *known == block) {
                Some((_, known)) => {
                    let one = known.clone();
                    *known = self.join(block, one, state, false);
                }
                None => by_block.push((block, state)),
            }
        }
        if by_block.len() <= 1 {
            return Ok(by_block.pop());
        }
        // Who comes where is not said exactly any more.
        self.departures += 1;
        // Blocks that end threads need no meeting.
        let frame_contains =
            |block: Block| self.frames.last().is_none_or(|frame| self.code.loops[frame.id].contains(block));
        by_block.retain(|(block, _)| !(self.code.blocks[*block].only_leaves && frame_contains(*block)));
        if by_block.len() <= 1 {
            return Ok(by_block.pop());
        }
        let mut at = self.code.blocks[self.code.loops[id].header].meets_at;
        while let Some(block) = at
            && self.code.loops[id].contains(block)
        {
            at = self.code.blocks[block].meets_at;
        }
        let at = match self.frames.last() {
            Some(frame) if at.is_none_or(|at| !self.code.loops[frame.id].contains(at)) => {
                if frame.mode == Mode::Concrete {
                    return Err(Stop::Summarise(frame.id));
                }
                Some(self.code.loops[frame.id].header)
            }
            Some(_) => at,
            None => at.or(stop),
        };
        self.divergence += 1;
        let mut joined: Option<State> = None;
        for (block, state) in by_block {
            let ended = if Some(block) == at { Some(state) } else { self.run(block, at, state)? };
            joined = match (joined, ended, at) {
                (Some(one), Some(other), Some(at)) => Some(self.join(at, one, other, false)),
                (one, other, _) => one.or(other),
            };
        }
        self.divergence -= 1;
        Ok(at.zip(joined))
    }

    /// The state where two ways meet, to which some threads may not have come.
    fn join(&mut self, at: Block, one: State, other: State, is_uniform: bool) -> State {
        self.arithmetic.symbols.work().add(4 + self.code.registers as u64 / 16);
        let mut regs = Map::filled(self.code.registers, Value::Unknown);
        for &reg in &self.code.blocks[at].live {
            regs[reg] = self.either(&one.regs[reg], &one.path, &other.regs[reg], &other.path, is_uniform);
        }
        let interval = self.arithmetic.either((&one.interval, &one.path), (&other.interval, &other.path), is_uniform);
        let path = if Rc::ptr_eq(&one.path, &other.path) { one.path } else { Rc::new(one.path.common(&other.path)) };
        State { regs, interval, path, is_certain: false }
    }

    fn either(&mut self, one: &Value, on: &Path, other: &Value, also: &Path, is_uniform: bool) -> Value {
        match (one, other) {
            _ if one.is_same(other) => one.clone(),
            (Value::Number(one), Value::Number(other)) => {
                Value::Number(self.arithmetic.either((one, on), (other, also), is_uniform))
            }
            (Value::Pointer(object, one), Value::Pointer(same, other)) if object == same => {
                Value::Pointer(*object, self.arithmetic.either((one, on), (other, also), is_uniform))
            }
            _ => Value::Unknown,
        }
    }
}

impl State {
    /// Adds what holds from here on; false if no thread comes here.
    fn assume(&mut self, arithmetic: &Arithmetic, facts: &[Fact]) -> bool {
        facts.is_empty() || Rc::make_mut(&mut self.path).assume(&arithmetic.symbols, facts)
    }
}
