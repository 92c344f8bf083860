//! A warp that runs as the analysis presumes, and keeps registers as the analysis claims that it can.
//!
//! Each thread is first run alone, which gives the truth: its way through the blocks, and the value of every register
//! at every step. Then the warp is run with masks. It has one place for each base of each web, as [`LaneValue`] says,
//! and every read of a register through such a place is compared with the truth.

use std::collections::HashMap;

use ptx::analysis::{
    AddressPattern, AddressShape, Block, BranchUniformity, Cfg, DominatorTree, LaneValue, LaunchFacts,
};
use ptx::analysis::{Loops, NoWrap, Signedness, Uniformity, Web};
use ptx::entity::{Id, Map};
use ptx::ir::{Function, Module, Reg, StmtId};
use ptx::view::View;

use crate::kernel::{Action, Instruction, Kernel, Launch, Random, Register, Thread, mask, reg_name};

/// A thread does not run through more blocks than this.
const MAX_STEPS: usize = 60;

/// A parsed kernel with the blocks of its control flow.
pub(crate) struct Program<'a> {
    pub(crate) kernel: &'a Kernel,
    pub(crate) module: Module,
    pub(crate) cfg: Cfg,
    /// The instructions of each block, with their statements.
    blocks: Map<Block, Vec<(StmtId, &'a Instruction)>>,
    /// The block of each label.
    targets: Vec<Block>,
    regs: HashMap<Register, Reg>,
    registers: HashMap<Reg, Register>,
    loops: Loops,
    /// The blocks that can be reached from each block without going back to the head of a loop.
    reach: Map<Block, Vec<bool>>,
}

/// What was claimed and checked, to see that the test tests something.
#[derive(Default, Debug)]
pub(crate) struct Counts {
    pub(crate) kernels: usize,
    pub(crate) uniform: usize,
    pub(crate) affine: usize,
    pub(crate) grouped: usize,
    pub(crate) vector: usize,
    pub(crate) guarded: usize,
    pub(crate) proven: usize,
    pub(crate) uniform_branches: usize,
    pub(crate) divergent_branches: usize,
    pub(crate) reads: usize,
    pub(crate) broken_guards: usize,
    pub(crate) addresses: usize,
}

impl<'a> Program<'a> {
    pub(crate) fn new(kernel: &'a Kernel) -> Self {
        let parsed = ptx::parse(&kernel.text());
        assert!(parsed.diagnostics.is_empty(), "{:?}\n{}", parsed.diagnostics, kernel.text());
        let module = parsed.module;
        let function = &module.functions[module.function("k").expect("the kernel is there")];
        let cfg = Cfg::of(&module.forms, function);
        let body = function.body.as_ref().expect("the kernel has a body");
        let mut instructions = kernel.blocks.iter().flatten();
        let blocks: Map<Block, Vec<_>> = cfg
            .blocks()
            .map(|block| {
                let insts = cfg.insts(body, block);
                insts.map(|(id, _)| (id, instructions.next().expect("as many were printed"))).collect()
            })
            .collect();
        let names: HashMap<&str, Block> = function
            .labels
            .iter()
            .filter_map(|(label, info)| Some((module.text(info.name), cfg.block_of_label(label)?)))
            .collect();
        let targets = (0..kernel.blocks.len()).map(|index| names[format!("L{index}").as_str()]).collect();
        let mut regs = HashMap::new();
        for (reg, info) in function.regs.iter() {
            let group = &function.groups[info.group];
            let bits = if group.ty.bits() == 1 { 1 } else { group.ty.bits() };
            regs.insert((bits, info.number as usize), reg);
        }
        let registers = regs.iter().map(|(&register, &reg)| (reg, register)).collect();
        let dominators = DominatorTree::dominators(cfg.graph());
        let loops = Loops::of(cfg.graph(), &dominators);
        let is_back = |from, to| loops.headed_by(to).is_some_and(|id| loops.contains(id, from));
        let reach = cfg.blocks().map(|start| reachable(&cfg, start, is_back)).collect();
        Self { kernel, cfg, blocks, targets, regs, registers, loops, reach, module }
    }

    pub(crate) fn function(&self) -> &Function {
        &self.module.functions[self.module.function("k").expect("the kernel is there")]
    }

    fn next_block(&self, block: Block) -> Block {
        Block::new(block.index() + 1)
    }
}

fn reachable(cfg: &Cfg, start: Block, is_back: impl Fn(Block, Block) -> bool) -> Vec<bool> {
    let mut seen = vec![false; cfg.len()];
    let mut stack = vec![start];
    while let Some(block) = stack.pop() {
        for &next in cfg.successors(block) {
            if !is_back(block, next) && !std::mem::replace(&mut seen[next.index()], true) {
                stack.push(next);
            }
        }
    }
    seen
}

/// What a thread did in one block.
struct Step {
    block: Block,
    /// The state before each instruction, and after the last.
    states: Vec<Thread>,
    /// Whether each instruction was executed; nothing if that is not defined.
    executed: Vec<Option<bool>>,
    next: Option<Block>,
}

/// Runs one thread alone.
fn run_thread(program: &Program<'_>, launch: &Launch, linear: u32) -> Vec<Step> {
    let mut thread = Thread::new(launch, linear);
    let mut steps = Vec::new();
    let mut at = Some(program.cfg.entry());
    while let Some(block) = at.filter(|_| steps.len() < MAX_STEPS) {
        let mut states = vec![thread.clone()];
        let mut executed = Vec::new();
        let mut next = Some(program.next_block(block)).filter(|block| block.index() < program.cfg.len());
        for (_, instruction) in &program.blocks[block] {
            let holds = thread.guard_holds(instruction);
            executed.push(holds);
            match (&instruction.action, holds) {
                (Action::Bra(target), Some(true)) => next = Some(program.targets[*target]),
                // Where a branch goes is not defined; the thread ends.
                (Action::Ret, Some(true)) | (Action::Bra(_) | Action::Ret, None) => next = None,
                (action, Some(true)) => thread.execute(launch, action),
                (action, None) => thread.undefine(action),
                (_, Some(false)) => {}
            }
            states.push(thread.clone());
        }
        steps.push(Step { block, states, executed, next });
        at = next;
    }
    steps
}

/// Runs a warp and compares.
pub(crate) struct Warp<'a> {
    program: &'a Program<'a>,
    uniformity: &'a Uniformity,
    threads: Vec<Vec<Step>>,
    /// How far each lane has come.
    done: Vec<usize>,
    /// Lanes that wait before a block, and lanes that wait for the next iteration of the loop of a block.
    pending: Map<Block, u32>,
    waiting: Map<Block, u32>,
    /// The registers that each statement reads.
    reads: HashMap<StmtId, Vec<(Register, Web)>>,
    /// The bases of each web.
    places: HashMap<(Web, u32), u64>,
    /// Whether a condition on which claims depend did not hold.
    is_guard_broken: bool,
    /// Whether a thread was stopped, so that nothing can be said about who is missing.
    is_cut: bool,
    entered: u32,
    context: String,
}

impl<'a> Warp<'a> {
    pub(crate) fn new(
        program: &'a Program<'a>,
        uniformity: &'a Uniformity,
        facts: &LaunchFacts,
        launch: &Launch,
        warp: u32,
    ) -> Self {
        let size: u32 = launch.block.iter().product();
        let linear = warp * 32..(warp * 32 + 32).min(size);
        let entered = ((1_u64 << linear.len()) - 1) as u32;
        let threads: Vec<_> = linear.map(|linear| run_thread(program, launch, linear)).collect();
        let body = program.function().body.as_ref().expect("the kernel has a body");
        let mut reads = HashMap::new();
        for (statement, _) in body.insts() {
            let view = View::of(&program.module.forms, body, statement).expect("it is an instruction");
            let mut list = Vec::new();
            view.for_each_read(|reg| {
                list.extend(uniformity.read(statement, reg).map(|web| (program.registers[&reg], web)));
            });
            reads.insert(statement, list);
        }
        let mut pending = Map::filled(program.cfg.len(), 0);
        pending[program.cfg.entry()] = entered;
        Self {
            program,
            uniformity,
            done: vec![0; threads.len()],
            is_cut: threads.iter().any(|steps| steps.len() >= MAX_STEPS || has_undefined_branch(program, steps)),
            threads,
            waiting: Map::filled(program.cfg.len(), 0),
            pending,
            reads,
            places: HashMap::new(),
            is_guard_broken: false,
            entered,
            context: format!("{}\n{launch:?} warp {warp}\n{facts:?}", program.kernel.text()),
        }
    }

    pub(crate) fn run(&mut self, random: &mut Random, counts: &mut Counts) {
        loop {
            self.start_iterations();
            let blocks: Vec<Block> = self.pending.ids().filter(|&block| self.pending[block] != 0).collect();
            if blocks.is_empty() {
                break;
            }
            let ready: Vec<Block> = blocks.iter().copied().filter(|&block| self.is_ready(block, &blocks)).collect();
            let is_reducible = self.program.loops.is_reducible();
            assert!(!ready.is_empty() || !is_reducible, "nothing can run\n{}", self.context);
            let block = random.pick(if ready.is_empty() { &blocks } else { &ready });
            let lanes = std::mem::take(&mut self.pending[block]);
            self.run_block(block, lanes, counts);
        }
        counts.broken_guards += usize::from(self.is_guard_broken);
    }

    /// Whether no lane that is elsewhere can still come to a block in the same iteration.
    fn is_ready(&self, block: Block, pending: &[Block]) -> bool {
        let Program { loops, reach, .. } = self.program;
        // A lane in a loop can come to a block after the loop in a later iteration.
        let leaves_loop_to = |other: Block| {
            let mut around = std::iter::successors(loops.innermost(other), |&id| loops.parent(id));
            around.any(|id| !loops.contains(id, block) && reach[loops.header(id)][block.index()])
        };
        let leads_here = |&other: &Block| other != block && (reach[other][block.index()] || leaves_loop_to(other));
        let waits_for_loop = |head: Block| {
            let id = loops.headed_by(head).expect("lanes wait for iterations");
            self.waiting[head] != 0 && !loops.contains(id, block) && reach[head][block.index()]
        };
        !pending.iter().any(leads_here) && !loops.iter().any(|id| waits_for_loop(loops.header(id)))
    }

    /// Lets lanes begin the next iteration of loops in which no lane is left.
    fn start_iterations(&mut self) {
        let loops = &self.program.loops;
        // Inner loops first.
        for id in loops.iter().rev() {
            let head = loops.header(id);
            let is_over = loops
                .members(id)
                .iter()
                .all(|&block| self.pending[block] == 0 && (block == head || self.waiting[block] == 0));
            if is_over {
                self.pending[head] = std::mem::take(&mut self.waiting[head]);
            }
        }
    }

    fn run_block(&mut self, block: Block, lanes: u32, counts: &mut Counts) {
        let lanes: Vec<usize> = (0..32).filter(|lane| lanes >> lane & 1 != 0).collect();
        if !self.uniformity.is_divergent(block) && !self.is_cut {
            let mask = lanes.iter().fold(0, |mask, lane| mask | 1 << lane);
            assert_eq!(mask, self.entered, "{block:?} is run by fewer lanes\n{}", self.context);
        }
        for &lane in &lanes {
            assert_eq!(self.threads[lane][self.done[lane]].block, block, "lane {lane} is lost\n{}", self.context);
        }
        let program = self.program;
        for (index, (statement, instruction)) in program.blocks[block].iter().enumerate() {
            self.check_reads(&lanes, index, *statement, instruction, counts);
            self.check_guards(&lanes, index, *statement);
            self.check_addresses(&lanes, index, *statement, instruction, counts);
            self.check_writes(&lanes, index, *statement, instruction, counts);
        }
        self.check_branch(block, &lanes, counts);
        for lane in lanes {
            let step = &self.threads[lane][self.done[lane]];
            let Some(next) = step.next.filter(|_| self.done[lane] + 1 < self.threads[lane].len()) else { continue };
            self.done[lane] += 1;
            let loops = &self.program.loops;
            let is_back = loops.headed_by(next).is_some_and(|id| loops.contains(id, block));
            let mask = if is_back { &mut self.waiting[next] } else { &mut self.pending[next] };
            *mask |= 1 << lane;
        }
    }

    fn step(&self, lane: usize) -> &Step {
        &self.threads[lane][self.done[lane]]
    }

    fn is_claimed(&self, value: &LaneValue) -> bool {
        !value.needs_guard() || !self.is_guard_broken
    }

    /// Reads every register through its place.
    fn check_reads(
        &mut self,
        lanes: &[usize],
        index: usize,
        statement: StmtId,
        instruction: &Instruction,
        counts: &mut Counts,
    ) {
        for &(register, web) in &self.reads[&statement] {
            let value = self.uniformity.value(web);
            if !self.is_claimed(value) {
                continue;
            }
            for &lane in lanes {
                let Some(truth) = self.step(lane).states[index].get(register) else { continue };
                let place = self.places.get(&(web, value.base_lane(lane as u32)));
                let read = place.map(|base| base.wrapping_add(value.offset(lane as u32) as u64) & mask(register.0));
                assert_eq!(
                    read,
                    Some(truth),
                    "lane {lane} reads {} before {instruction:?}, step {}: {value:?}\n{}",
                    reg_name(register),
                    self.done[lane],
                    self.context
                );
                counts.reads += 1;
            }
        }
    }

    /// The base of a register in a lane.
    fn base(&self, lane: usize, index: usize, web: Web, reg: Reg) -> Option<u64> {
        let register = self.program.registers[&reg];
        let truth = self.step(lane).states[index].get(register)?;
        Some(truth.wrapping_sub(self.uniformity.value(web).offset(lane as u32) as u64) & mask(register.0))
    }

    fn check_guards(&mut self, lanes: &[usize], index: usize, statement: StmtId) {
        for guard in self.uniformity.guards().iter().filter(|guard| guard.statement == statement) {
            let web = self.uniformity.read(statement, guard.reg).expect("the statement reads the register");
            for &lane in lanes {
                if let Some(base) = self.base(lane, index, web, guard.reg) {
                    self.is_guard_broken |= !guard.check.holds(base);
                }
            }
        }
    }

    fn check_addresses(
        &mut self,
        lanes: &[usize],
        index: usize,
        statement: StmtId,
        instruction: &Instruction,
        counts: &mut Counts,
    ) {
        let Action::Load(_, address, offset) = instruction.action else { return };
        let body = self.program.function().body.as_ref().expect("the kernel has a body");
        let view = View::of(&self.program.module.forms, body, statement).expect("a load is an instruction");
        let access = view.accesses()[0];
        let pattern = AddressPattern::of(self.uniformity, statement, &view, &access).expect("it can be reached");
        let addresses: Vec<(i64, u64)> = lanes
            .iter()
            .filter_map(|&lane| Some((lane as i64, self.step(lane).states[index].get(address)?)))
            .map(|(lane, address)| (lane, address.wrapping_add(offset as u64)))
            .collect();
        for &(_, address) in &addresses {
            assert_eq!(address % pattern.alignment, 0, "{pattern:?} at {instruction:?}\n{}", self.context);
        }
        if pattern.needs_guard && self.is_guard_broken {
            return;
        }
        assert_eq!(pattern.wrap_check, None, "addresses have 64 bits");
        let (lanes_of_group, stride) = match pattern.shape {
            AddressShape::Uniform => (32, 0),
            AddressShape::Contiguous => (32, 4),
            AddressShape::Strided { stride } => (32, stride),
            AddressShape::Grouped { lanes, stride } => (i64::from(lanes), stride),
            AddressShape::Scattered => return,
        };
        for &(lane, address) in &addresses {
            for &(other, other_address) in
                addresses.iter().filter(|(other, _)| other / lanes_of_group == lane / lanes_of_group)
            {
                let distance = stride.wrapping_mul(other - lane) as u64;
                assert_eq!(
                    other_address.wrapping_sub(address),
                    distance,
                    "{pattern:?} at {instruction:?}\n{}",
                    self.context
                );
                counts.addresses += 1;
            }
        }
    }

    /// Writes every register into its place, and checks all that is said of it.
    fn check_writes(
        &mut self,
        lanes: &[usize],
        index: usize,
        statement: StmtId,
        instruction: &Instruction,
        counts: &mut Counts,
    ) {
        for register in instruction.action.writes() {
            let reg = self.program.regs[&register];
            let web = self.uniformity.written(statement, reg).expect("what runs can be reached");
            let value = self.uniformity.value(web);
            let mut bases = HashMap::new();
            for &lane in lanes {
                let step = self.step(lane);
                if step.executed[index] == Some(false) {
                    continue;
                }
                let base_lane = value.base_lane(lane as u32);
                let Some(truth) = step.states[index + 1].get(register) else {
                    bases.entry(base_lane).or_insert(None);
                    continue;
                };
                let what = || format!("lane {lane} writes {truth:#x} by {instruction:?}: {value:?}\n{}", self.context);
                let (least, greatest) = value.range();
                assert!((least..=greatest).contains(&truth), "range: {}", what());
                let signed = (truth << (64 - register.0)) as i64 >> (64 - register.0);
                let (least, greatest) = value.signed_range();
                assert!((least..=greatest).contains(&signed), "signed range: {}", what());
                assert_eq!(truth % value.multiple_of(), 0, "alignment: {}", what());
                if !self.is_claimed(value) {
                    continue;
                }
                let base = truth.wrapping_sub(value.offset(lane as u32) as u64) & mask(register.0);
                if let Some(Some(other)) = bases.insert(base_lane, Some(base)) {
                    assert_eq!(other, base, "base: {}", what());
                }
                let (known, low) = value.low_bits_of_base();
                assert_eq!(base & if known == 64 { u64::MAX } else { (1 << known) - 1 }, low, "low bits: {}", what());
                for signedness in [Signedness::Unsigned, Signedness::Signed] {
                    if value.no_wrap(signedness) == NoWrap::Proven {
                        assert!(value.wrap_check(signedness).holds(base), "{signedness:?} wraps: {}", what());
                        counts.proven += 1;
                    }
                }
            }
            for (base_lane, base) in bases {
                self.places.insert((web, base_lane), base.unwrap_or(0xdead_beef));
            }
        }
    }

    fn check_branch(&mut self, block: Block, lanes: &[usize], counts: &mut Counts) {
        let Some(branch) = self.uniformity.branch(block) else { return };
        // Where a branch is not defined, nothing can be said of it.
        let is_defined = |&lane: &usize| self.step(lane).executed.last().is_some_and(|executed| executed.is_some());
        let mut ways = lanes.iter().copied().filter(is_defined).map(|lane| self.step(lane).next);
        if branch.uniformity == BranchUniformity::Uniform {
            let first = ways.next();
            assert!(ways.all(|way| Some(way) == first), "branch of {block:?}\n{}", self.context);
            counts.uniform_branches += 1;
        } else {
            counts.divergent_branches += 1;
        }
    }
}

fn has_undefined_branch(program: &Program<'_>, steps: &[Step]) -> bool {
    steps.iter().any(|step| {
        let instructions = program.blocks[step.block].iter().zip(&step.executed);
        instructions.into_iter().any(|((_, instruction), executed)| {
            matches!(instruction.action, Action::Bra(_) | Action::Ret) && executed.is_none()
        })
    })
}
