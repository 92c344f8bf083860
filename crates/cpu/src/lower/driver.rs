//! Lowers a function from its first block to its last, and hands each instruction to its family.

use ptx::analysis::Block;
use ptx::ir::{FuncId, SHADOW_ROLE};
use ptx::ops::{Effect, Mod, Op};
use ptx::types::Space;
use ptx::view::{AccessSpace, MemAccess, View};
use rustc_hash::FxHashMap;

use super::analysis::{Analyses, Execution, InactiveLanes, ResumePoint, is_whole_barrier};
use super::deopt::Deopt;
use super::function::Lowering;
use super::masks::Masks;
use super::matrix::is_matrix;
use super::region_loops::RegionLoops;
use super::registers::Registers;
use super::stack;
use super::unit::Unit;
use crate::abi::context::field;
use crate::llvm::{Builder, FunctionValue, Value};

/// What was found out about a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Traits {
    /// Whether one call runs all warps of a block (see `region_loops`).
    pub(crate) has_region_loops: bool,
    /// Whether it has loops in which a thread may wait for memory.
    pub(crate) spins: bool,
}

/// Fills a function of LLVM, which has the parameters context, mask, arguments and frame; a kernel has only the first.
/// Nothing if the function of PTX has no statements.
pub(crate) fn lower_function<'a, 'c>(unit: &mut Unit<'a, 'c>, func: FuncId, llvm: FunctionValue<'c>) -> Option<Traits> {
    let analyses = Analyses::of(unit.inputs(), func)?;
    Some(Lowering::new(unit, &analyses, llvm).run())
}

/// Statements that are lowered to one block of LLVM's, whose time to select and order instructions grows with the square of
/// the length of a block.
const LONGEST_BLOCK: usize = 500;

impl<'u, 'a, 'c> Lowering<'u, 'a, 'c> {
    fn new(unit: &'u mut Unit<'a, 'c>, analyses: &'u Analyses<'a>, llvm: FunctionValue<'c>) -> Self {
        let &Analyses { func, function, body, .. } = analyses;
        let (context, vector) = (unit.context(), unit.vector());
        let allocas = Builder::new(context);
        allocas.position_at_end(llvm.append_block(context, "allocas"));
        let alive = allocas.alloca(vector.bool(), 4);
        let registers = Registers::new(analyses, vector, allocas);
        let end = llvm.append_block(context, "end");
        let masks = Masks::new(analyses, vector, llvm, end, alive, &registers);
        let warp = llvm.param(0);
        let is_kernel = function.is_entry();
        let takes_stack = vector.lanes.is_none() && stack::grows(analyses.module, body);
        let taken = takes_stack.then(|| registers.alloca_zeroed(context.int(64), 8));
        let plan = analyses.plan_region_loops(unit.map);
        let region_loops = plan.map(|plan| RegionLoops::new(plan, unit.scalar(), llvm, warp, &registers));
        Self {
            func,
            function,
            body,
            analyses,
            registers,
            masks,
            deopt: Deopt::new(analyses, vector, llvm, warp),
            region_loops,
            inactive_lanes: InactiveLanes::default(),
            llvm,
            warp,
            arguments: (!is_kernel).then(|| llvm.param(2)),
            frame: if is_kernel { context.int(64).zero() } else { llvm.param(3) },
            taken,
            param_rooms: FxHashMap::default(),
            statement: body.first().expect("functions without statements are not lowered"),
            previous: None,
            guard: None,
            saved_guard: None,
            unit,
        }
    }

    fn run(mut self) -> Traits {
        let builder = self.unit.builder;
        let start = self.new_block("start");
        builder.position_at_end(start);
        let entered = self.entry_mask();
        self.masks.enter(entered);
        if let Some(loops) = &self.region_loops {
            loops.begin();
        }
        builder.store(entered, self.masks.alive, 4);
        self.deopt.dispatch(self.unit, &mut self.registers, &self.masks);
        self.read_register_params();
        let entry = self.analyses.layout.order[0];
        self.masks.wait_at(entry, entry, entered);
        builder.branch(self.masks.lowered(entry).body);
        for &block in &self.analyses.layout.order {
            self.block(block);
        }
        self.masks.fill_steps();
        self.deoptimize_others();
        if let Some(loops) = &self.region_loops {
            loops.fill_first(&self.registers, &self.masks);
        }
        self.registers.end_allocas(start);
        // Every chain of tests ends here.
        builder.position_at_end(self.masks.end);
        if let Some(loops) = &self.region_loops {
            loops.end_last_region();
        }
        if self.function.is_entry() {
            builder.ret(None);
        } else {
            builder.ret(Some(builder.load(entered.ty(), self.masks.alive, 4)));
        }
        Traits { has_region_loops: self.region_loops.is_some(), spins: !self.analyses.spinning.is_empty() }
    }

    /// The lanes that the function is entered with.
    fn entry_mask(&self) -> Value<'c> {
        if !self.function.is_entry() {
            return self.llvm.param(1);
        }
        let mask = self.vector().bool();
        if self.is_scalar_device() || self.analyses.threads_of_block().is_some_and(|threads| threads % 32 == 0) {
            return mask.all_ones();
        }
        let bits = self.context_field(field!(lanes), self.unit.context().int(32));
        self.masks.of_bits(bits)
    }

    fn block(&mut self, block: Block) {
        self.masks.start_block(block);
        self.give_way_in_loop(block);
        self.count_instructions(block);
        let analyses = self.analyses;
        let terminator = analyses.cfg.terminator(block);
        self.previous = None;
        for (index, &statement) in analyses.cfg.statements(block).iter().enumerate() {
            if Some(statement) == terminator {
                break;
            }
            if index % LONGEST_BLOCK == LONGEST_BLOCK - 1 {
                self.cut_block();
            }
            if let Some(view) = self.view(statement) {
                if analyses.is_resume_point(statement, &view) {
                    self.deopt.start_at(ResumePoint::Statement(statement), &mut self.masks);
                }
                self.statement = statement;
                self.guard = match analyses.execution(statement, &view) {
                    Execution::Always => None,
                    Execution::Never => continue,
                    Execution::Where(guard) => Some(guard),
                };
                self.preempt();
                self.save_guard(&view);
                self.check_wrapping();
                self.unit.builder.set_beside(self.accesses_shadow(&view));
                self.instruction(&view);
                self.unit.builder.set_beside(false);
                self.saved_guard = None;
                self.previous = Some(statement);
                if is_whole_barrier(&view) {
                    self.deopt.start_at(ResumePoint::After(statement), &mut self.masks);
                }
            }
        }
        // What leaves the block is guarded by itself.
        self.guard = None;
        self.leave(block, terminator);
    }

    /// Whether the present instruction is a load or store of a tool in its own memory, so that LLVM may move what the program
    /// loads past what the tool stores.
    fn accesses_shadow(&self, view: &View<'a>) -> bool {
        let module = self.analyses.module;
        let tag = self.body.origin(self.statement).tag;
        let is_beyond_thread =
            |access: &MemAccess| matches!(access.space, AccessSpace::Generic | AccessSpace::State(Space::Global));
        tag.is_some_and(|tag| module.text(module.tags[tag].role) == SHADOW_ROLE)
            && matches!(view.effect(), Some(Effect::Load | Effect::Store))
            && view.accesses().iter().all(is_beyond_thread)
    }

    /// Ends LLVM's block and begins another, which LLVM cannot put together again: a branch that is never taken.
    fn cut_block(&mut self) {
        let builder = self.unit.builder;
        let (int, word) = (self.unit.context().int(32), self.unit.context().int(64));
        let lanes = builder.volatile_load(int, builder.offset(self.warp, word.constant(field!(lanes))), 4);
        let is_empty = self.scalar().is_zero(lanes);
        self.fail_when(is_empty, Self::call_stuck);
    }

    /// Lowers one instruction, or refuses it.
    fn instruction(&mut self, view: &View<'a>) {
        let Some(op) = view.op() else { return self.refuse() };
        if self.escapes_confinement(op, view) {
            return self.unit.refuse_unconfined(self.function, self.statement);
        }
        let is_done = match view.effect() {
            _ if is_matrix(op) => self.matrix(op, view),
            Some(Effect::Load | Effect::Store) if matches!(op, Op::Ld | Op::Ldu | Op::St) => {
                self.load_or_store(op, view)
            }
            Some(Effect::Store) if op == Op::StBulk => self.store_zeros(view),
            Some(Effect::Atomic) if matches!(op, Op::Atom | Op::Red) => self.atomic(op, view),
            Some(Effect::Barrier) => match op {
                // A cluster has one block here.
                Op::BarrierClusterArrive | Op::BarrierClusterWait => self.cluster_barrier(op),
                _ => self.barrier(op, view),
            },
            Some(Effect::Collective) => self.collective(op, view),
            Some(Effect::Fence) => {
                self.fence(view.form.has(Mod::Cta));
                matches!(op, Op::Fence | Op::Membar | Op::FenceProxy)
            }
            Some(Effect::Call) => self.call(view),
            Some(Effect::Hint) => true,
            Some(Effect::Trap) => true,
            Some(Effect::Control) => match op {
                Op::Nanosleep => {
                    self.sleep();
                    true
                }
                _ => matches!(op, Op::Griddepcontrol | Op::Pmevent | Op::Setmaxnreg),
            },
            Some(Effect::AsyncCopy) => self.copy_async(op, view),
            Some(Effect::AsyncGroup) => self.copy_group(op, view),
            Some(Effect::Mbarrier) => self.mbarrier(op, view),
            Some(Effect::Stack) => self.stack(op, view),
            Some(Effect::TextureLoad | Effect::SurfaceStore | Effect::TextureQuery) => self.texture(op, view),
            Some(Effect::Pure) if op == Op::MbarrierPendingCount => self.pending_count(view),
            Some(Effect::Pure) if op == Op::ClusterlaunchcontrolQueryCancel => self.query_cancel(view),
            _ => self.arithmetic(op, view),
        };
        if !is_done {
            self.refuse();
        }
    }
}
