//! Makes a kernel ready for execution: once, for all of its launches.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::calls::is_harmless;
use super::code::{
    Access, Action, BlockCode, Code, Comparison, End, Logic, LoopCode, ObjectInfo, Source, Step, Target, Width,
    dynamic_shared, parameters,
};
use super::site::Site;
use super::value::ObjectId;
use crate::analysis::{BarrierKind, Block, Cfg, DefUse, DominatorTree, EdgeKind, Liveness, Loops};
use crate::entity::{Id, Map};
use crate::ir::{Body, FuncId, Function, Module, Operand, Param, Reg, StmtId, Symbol, Variable};
use crate::ops::{Effect, Mod, Op, OperandShape};
use crate::special::Special;
use crate::types::{Linkage, Space, Type, TypeKind};
use crate::view::{AccessBytes, AccessSpace, MemAccess, Order, Scope, View};

impl Code {
    pub(super) fn of(module: &Module, func: FuncId) -> Option<Self> {
        let function = &module.functions[func];
        let body = function.body.as_ref()?;
        let cfg = Cfg::of(&module.forms, function);
        let post_dominators = DominatorTree::post_dominators(cfg.graph());
        let loops = Loops::of(cfg.graph(), &DominatorTree::dominators(cfg.graph()));
        let liveness = Liveness::of(&cfg, &DefUse::of(&module.forms, function));
        let mut decoder = Decoder::new(module, func, function, body);
        let mut blocks = Map::new();
        let mut barriers: Map<Block, bool> = Map::filled(cfg.len(), false);
        for block in cfg.blocks() {
            let start = decoder.code.steps.len();
            for (id, _) in cfg.insts(body, block) {
                if cfg.terminator(block) != Some(id) {
                    barriers[block] |= decoder.step(id);
                }
            }
            let end = decoder.end(&cfg, block);
            blocks.push(BlockCode {
                steps: start..decoder.code.steps.len(),
                end,
                meets_at: post_dominators.immediate(block),
                heads: loops.headed_by(block),
                live: liveness.live_in(block).collect(),
                only_leaves: false,
            });
        }
        let mut code = decoder.code;
        for block in blocks.ids().rev().collect::<Vec<_>>() {
            let is_empty = blocks[block].steps.is_empty();
            blocks[block].only_leaves = is_empty
                && match blocks[block].end {
                    End::Leave => true,
                    End::Jump(next) => next > block && blocks[next].only_leaves,
                    _ => false,
                };
        }
        for id in loops.iter() {
            let mut members = loops.members(id).to_vec();
            members.sort_unstable();
            let mut written: Vec<Reg> = Vec::new();
            for &block in &members {
                let steps = &code.steps[blocks[block].steps.clone()];
                written.extend(steps.iter().flat_map(|step| step.targets.iter().map(|target| target.reg)));
            }
            written.sort_unstable();
            written.dedup();
            let has_barrier = members.iter().any(|&block| barriers[block]);
            code.loops.push(LoopCode { header: loops.header(id), members, written, has_barrier });
        }
        code.entry = cfg.entry();
        code.blocks = blocks;
        if !loops.is_reducible() {
            code.refusal = Some((0, "has a loop that is entered at several places"));
        } else if cfg.unknown_targets() > 0 {
            code.refusal = Some((0, "has a branch to an unknown place"));
        }
        Some(code)
    }
}

struct Decoder<'a> {
    module: &'a Module,
    function: &'a Function,
    body: &'a Body,
    objects: FxHashMap<Symbol, (ObjectId, i64)>,
    code: Code,
}

impl<'a> Decoder<'a> {
    fn new(module: &'a Module, func: FuncId, function: &'a Function, body: &'a Body) -> Self {
        let mut code = Code {
            steps: Vec::new(),
            blocks: Map::new(),
            entry: Block::new(0),
            loops: Map::new(),
            registers: function.regs.len(),
            register_bits: function.regs.ids().map(|reg| function.reg_type(reg).bits()).collect(),
            variables: Map::new(),
            sites: Vec::new(),
            param_bytes: 0,
            relevant: Vec::new(),
            uses_lane: false,
            refusal: None,
        };
        code.sites.push(Site::of_kernel(module, func));
        let own = |name: &str, space, size| ObjectInfo {
            name: name.to_owned(),
            space,
            size,
            align: 16,
            is_module_variable: false,
        };
        code.variables.push(own("parameters", Space::Param, Some(0)));
        code.variables.push(own("dynamic shared memory", Space::Shared, None));
        let mut objects = FxHashMap::default();
        let mut offset = 0_u64;
        for param in &function.params {
            if let Param::Var(var) = *param {
                let variable = &function.vars[var];
                offset = offset.next_multiple_of(u64::from(variable.alignment().max(1)));
                objects.insert(Symbol::Var(var), (parameters(), offset as i64));
                offset = offset.saturating_add(variable.size().unwrap_or(0));
            }
        }
        code.param_bytes = u32::try_from(offset).unwrap_or(u32::MAX);
        code.variables[parameters()].size = Some(offset);
        let mut decoder = Self { module, function, body, objects, code };
        for (id, variable) in module.globals.iter() {
            decoder.declare(Symbol::Global(id), variable, true);
        }
        for (var, variable) in function.vars.iter() {
            if variable.space != Space::Param {
                decoder.declare(Symbol::Var(var), variable, false);
            }
        }
        decoder
    }

    fn declare(&mut self, symbol: Symbol, variable: &Variable, is_module: bool) {
        let is_extern = variable.linkage == Some(Linkage::Extern);
        if variable.space == Space::Shared && (variable.size().is_none_or(|size| size == 0) || is_extern) {
            self.objects.insert(symbol, (dynamic_shared(), 0));
            return;
        }
        let Some(size) = variable.size().filter(|_| !is_extern) else { return };
        if !matches!(variable.space, Space::Shared | Space::Global | Space::Const | Space::Local) {
            return;
        }
        let id = self.code.variables.push(ObjectInfo {
            name: self.module.text(variable.name).to_owned(),
            space: variable.space,
            size: Some(size),
            align: variable.alignment().into(),
            is_module_variable: is_module && matches!(variable.space, Space::Global | Space::Const),
        });
        self.objects.insert(symbol, (id, 0));
    }

    fn view(&self, id: StmtId) -> View<'a> {
        View::of(&self.module.forms, self.body, id).expect("the statement is an instruction")
    }

    fn site(&mut self, id: StmtId) -> usize {
        self.code.sites.push(Site::of_statement(self.module, self.function, self.body, id));
        self.code.sites.len() - 1
    }

    fn end(&mut self, cfg: &Cfg, block: Block) -> End {
        let next = cfg.edges(block).iter().find(|edge| edge.kind == EdgeKind::FallThrough).map(|edge| edge.target);
        let Some(id) = cfg.terminator(block) else {
            return next.map_or(End::Leave, End::Jump);
        };
        let view = self.view(id);
        let taken = if view.effect() == Some(Effect::Branch) {
            let taken = cfg.edges(block).iter().find(|edge| edge.kind == EdgeKind::Taken);
            match taken.filter(|_| view.op() == Some(Op::Bra)) {
                Some(edge) => Some(edge.target),
                None => return End::Unknown(self.site(id)),
            }
        } else {
            None
        };
        match view.inst.guard {
            None => taken.map_or(End::Leave, End::Jump),
            Some(guard) => End::Branch { reg: guard.reg, negated: guard.negated, taken, otherwise: next },
        }
    }

    /// Decodes an instruction; says whether it is a barrier.
    fn step(&mut self, id: StmtId) -> bool {
        let view = self.view(id);
        let mut targets = SmallVec::new();
        view.for_each_write(|reg| {
            let is_predicate = self.function.reg_type(reg) == Type::Pred;
            targets.push(Target { reg, is_predicate });
        });
        let mut sources = SmallVec::new();
        let mut is_plain = true;
        match view.matched_operands() {
            Some(matched) => {
                for (operand, spec) in matched {
                    if spec.written && !operand.is_address() {
                        is_plain &= match operand {
                            Operand::Reg(_) => true,
                            // Without a sink, so that the first that is written is the first.
                            Operand::Pair(one, other) => one.reg().is_some() && other.reg().is_some(),
                            _ => false,
                        };
                    } else if spec.read && !matches!(spec.shape, OperandShape::Address(_)) {
                        sources.push(self.source(*operand));
                    }
                }
            }
            None => is_plain = false,
        }
        let mut action = self.action(&view, is_plain);
        // Whether it is a load, or a barrier, does not depend on how its operands look; computations do.
        let is_barrier = matches!(action, Action::Barrier);
        if is_barrier && !is_whole_block(&view) {
            action = Action::Refused("is a barrier that not all threads of the block take part in");
        }
        if let Action::Load { access, value: Some(_) } = &action
            && access.base == Source::Address(parameters(), 0)
            && let Ok(start) = u32::try_from(access.offset)
        {
            self.code.relevant.push(start..start.saturating_add(access.bytes));
        } else if let Action::Load { access: Access { space: Some(Space::Param), .. }, value: Some(_) } = &action {
            // Any of them, once.
            self.code.relevant.clear();
            self.code.relevant.push(0..u32::MAX);
        }
        self.code.uses_lane |= sources.contains(&Source::Special(Special::Laneid));
        let guard = view.inst.guard.map(|guard| (guard.reg, guard.negated));
        let site = self.site(id);
        self.code.steps.push(Step { site, guard, action, targets, sources });
        is_barrier
    }

    fn source(&self, operand: Operand) -> Source {
        match operand {
            Operand::Reg(reg) => Source::Reg(reg),
            Operand::Not(reg) => Source::Not(reg),
            Operand::Special(special) => Source::Special(special),
            Operand::Symbol(symbol, offset) => match self.objects.get(&symbol) {
                Some(&(object, start)) => Source::Address(object, start + i64::from(offset)),
                None => Source::Other,
            },
            _ => operand.as_int().map_or(Source::Other, Source::Int),
        }
    }

    fn access(&self, view: &View<'_>, access: &MemAccess) -> Option<Access> {
        let AccessBytes::Fixed(bytes) = access.bytes else { return None };
        if access.is_async || access.lanes != 32 {
            return None;
        }
        let space = match access.space {
            AccessSpace::Generic => None,
            AccessSpace::State(space) => Some(space),
            _ => return None,
        };
        let (base, offset) = match view.operands()[access.address] {
            Operand::RegAddress(reg, offset) => (Source::Reg(reg), i64::from(offset)),
            Operand::SymbolAddress(symbol, offset) => match self.objects.get(&symbol) {
                // Parameters are one object, so that the offset says which it is.
                Some(&(object, start)) => (Source::Address(object, 0), start + i64::from(offset)),
                None => (Source::Other, 0),
            },
            _ => (Source::Other, 0),
        };
        let strong = match access.order {
            // For CUDA C++ a volatile access is like any other, although PTX has it as a strong one.
            Order::Weak | Order::Volatile => None,
            _ => Some(access.scope.unwrap_or(Scope::Device)),
        };
        Some(Access { base, offset, kind: access.kind, space, bytes, vector: access.vector.max(1), strong })
    }

    fn action(&self, view: &View<'_>, is_plain: bool) -> Action {
        let (Some(op), Some(effect)) = (view.op(), view.effect()) else {
            return Action::Refused("is an instruction that is not known");
        };
        let is_ordinary = matches!(effect, Effect::Load | Effect::Store | Effect::Atomic);
        if !is_ordinary && effect != Effect::Hint && !view.accesses().is_empty() || op == Op::Discard {
            return Action::Refused("accesses memory in a way that is not understood");
        }
        match effect {
            Effect::Pure if is_plain => self.computation(view, op),
            Effect::Pure | Effect::Collective | Effect::TextureQuery => Action::Unknown,
            Effect::Load | Effect::Store | Effect::Atomic => self.memory(view, effect),
            Effect::Barrier if BarrierKind::of(view) == Some(BarrierKind::Wait) => Action::Barrier,
            Effect::Fence | Effect::Hint | Effect::Control => Action::Nothing,
            Effect::Barrier => Action::Refused("is a barrier that threads do not wait at, or of a cluster"),
            Effect::AsyncCopy | Effect::AsyncGroup | Effect::Tensor => Action::Refused("accesses memory later"),
            Effect::Mbarrier => Action::Refused("uses a barrier object"),
            Effect::TextureLoad | Effect::SurfaceStore => Action::Refused("accesses a texture or surface"),
            Effect::Call if is_harmless(self.module, view) => Action::Unknown,
            Effect::Call => {
                Action::Refused("calls a function by its address, one that calls itself, or one without a body")
            }
            Effect::Stack => Action::Refused("changes the stack"),
            Effect::Trap => Action::Nothing,
            Effect::Branch | Effect::Return | Effect::Exit => Action::Refused("leaves in the middle of a block"),
        }
    }

    fn memory(&self, view: &View<'_>, effect: Effect) -> Action {
        let accesses = view.accesses();
        let [access] = accesses[..] else {
            return Action::Refused("accesses memory in a way that is not understood");
        };
        if self.is_argument(view, &access) {
            return Action::Unknown;
        }
        let Some(decoded) = self.access(view, &access) else {
            return Action::Refused("accesses memory in a way that is not understood");
        };
        if effect != Effect::Load {
            return Action::Access(decoded);
        }
        // Elements of a vector are not looked at, except bytes and halves of words, whose ranges are worth knowing.
        let value = view.form.types().last().and_then(|&ty| width(ty));
        let value = value.filter(|width| view.form.vector() == 1 || width.bits < 32);
        // Most 32-bit numbers are compared as signed ones, whatever the load says.
        let extends =
            view.writes().iter().any(|&reg| value.is_some_and(|value| self.function.reg_type(reg).bits() > value.bits));
        let value = value.map(|width| Width { signed: width.signed || (width.bits >= 32 && !extends), ..width });
        Action::Load { access: decoded, value }
    }

    /// Whether it is an access to an argument or result of a call that is still there, inside of it.
    fn is_argument(&self, view: &View<'_>, access: &MemAccess) -> bool {
        let Operand::SymbolAddress(Symbol::Var(var), offset) = view.operands()[access.address] else { return false };
        let variable = &self.function.vars[var];
        let is_parameter = self.objects.contains_key(&Symbol::Var(var));
        let AccessBytes::Fixed(bytes) = access.bytes else { return false };
        let fits = |size: u64| u64::try_from(offset).is_ok_and(|offset| offset + u64::from(bytes) <= size);
        variable.space == Space::Param && !is_parameter && variable.size().is_some_and(fits)
    }

    fn computation(&self, view: &View<'_>, op: Op) -> Action {
        let form = view.form;
        let types = form.types();
        if form.has(Mod::Cc) || form.has(Mod::Sat) && matches!(op, Op::Add | Op::Sub | Op::Mad) {
            return Action::Unknown;
        }
        let is_pred = types.last() == Some(&Type::Pred);
        let integer = types.last().and_then(|&ty| width(ty));
        let arithmetic = |action: fn(Width) -> Action| integer.map_or(Action::Unknown, action);
        match op {
            Op::And | Op::Or | Op::Xor if is_pred => Action::Logic(match op {
                Op::And => Logic::And,
                Op::Or => Logic::Or,
                _ => Logic::Xor,
            }),
            Op::Not if is_pred => Action::Complement,
            Op::Mov if types.len() == 1 => Action::Copy,
            Op::Cvta => Action::ConvertAddress,
            Op::Add => arithmetic(Action::Add),
            Op::Sub => arithmetic(Action::Sub),
            Op::Mul if form.has(Mod::Lo) => arithmetic(Action::Mul),
            Op::Mul if form.has(Mod::Hi) => arithmetic(Action::MulHigh),
            Op::Mul if form.has(Mod::Wide) => arithmetic(Action::MulWide),
            Op::Mad if form.has(Mod::Lo) => arithmetic(Action::Mad),
            Op::Mad if form.has(Mod::Wide) => arithmetic(Action::MadWide),
            Op::Div => arithmetic(Action::Div),
            Op::Rem => arithmetic(Action::Rem),
            Op::Neg => arithmetic(Action::Neg),
            Op::Abs => arithmetic(Action::Abs),
            Op::Min if !form.has(Mod::Relu) => arithmetic(Action::Min),
            Op::Max if !form.has(Mod::Relu) => arithmetic(Action::Max),
            Op::And => arithmetic(Action::And),
            Op::Or => arithmetic(Action::Or),
            Op::Xor => arithmetic(Action::Xor),
            Op::Not => arithmetic(Action::Not),
            Op::Shl => arithmetic(Action::ShiftLeft),
            Op::Shr => arithmetic(Action::ShiftRight),
            Op::Bfe => arithmetic(Action::ExtractBits),
            Op::Bfi => arithmetic(Action::InsertBits),
            Op::Popc | Op::Clz => Action::UpTo(64),
            Op::Selp => Action::Select,
            Op::Cvt if !form.has(Mod::Sat) && types.len() == 2 => match (width(types[0]), width(types[1])) {
                (Some(to), Some(from)) => Action::Convert { from, to },
                (Some(to), None) => Action::Number(to),
                _ => Action::Unknown,
            },
            Op::Setp => match (self.comparison(view), integer) {
                (Some(comparison), Some(width)) if !types.iter().any(|ty| ty.kind() == TypeKind::Float) => {
                    let combine = form.words().find_map(|word| match word {
                        Mod::And => Some(Logic::And),
                        Mod::Or => Some(Logic::Or),
                        Mod::Xor => Some(Logic::Xor),
                        _ => None,
                    });
                    let unsigned = matches!(self.unsigned_comparison(view), Some(true));
                    let width = if unsigned { Width { signed: false, ..width } } else { width };
                    Action::Compare { comparison, width, combine }
                }
                _ => Action::Unknown,
            },
            _ => Action::Unknown,
        }
    }

    fn comparison(&self, view: &View<'_>) -> Option<Comparison> {
        view.form.words().find_map(|word| {
            Some(match word {
                Mod::Eq => Comparison::Eq,
                Mod::Ne => Comparison::Ne,
                Mod::Lt | Mod::Lo => Comparison::Lt,
                Mod::Le | Mod::Ls => Comparison::Le,
                Mod::Gt | Mod::Hi => Comparison::Gt,
                Mod::Ge | Mod::Hs => Comparison::Ge,
                _ => return None,
            })
        })
    }

    /// Whether the comparison itself says that it is one of unsigned numbers.
    fn unsigned_comparison(&self, view: &View<'_>) -> Option<bool> {
        Some(view.form.words().any(|word| matches!(word, Mod::Lo | Mod::Ls | Mod::Hi | Mod::Hs)))
    }
}

/// Whether all threads of the block wait at a barrier: it has no count of threads.
fn is_whole_block(view: &View<'_>) -> bool {
    view.matched_operands().is_some_and(|matched| {
        matched.iter().all(|(operand, spec)| match spec.name {
            "a" => operand.as_int().is_some(),
            "b" => false,
            _ => true,
        })
    })
}

fn width(ty: Type) -> Option<Width> {
    let signed = match ty.kind() {
        TypeKind::Signed => true,
        TypeKind::Unsigned | TypeKind::Bits => false,
        _ => return None,
    };
    matches!(ty.bits(), 8 | 16 | 32 | 64).then_some(Width { bits: ty.bits(), signed })
}
