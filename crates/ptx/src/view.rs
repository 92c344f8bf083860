//! What an instruction means to analyses, tools and the lowering: the registers it reads and writes, the memory it
//! accesses, where control goes next. Nobody else looks into the operands of an instruction by position.

use smallvec::SmallVec;

use crate::form::{Form, Forms};
use crate::ir::{Body, Inst, Label, Operand, Reg, StmtId, Symbol};
use crate::ops::{AccessMode, AddressSpec, ByteSpec, Effect, Mod, Op, OperandShape, OperandSpec, Row, SpaceSpec};
use crate::special::Special;
use crate::types::Space;

/// An instruction with what is needed to understand it.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The body that the instruction is in.
    pub body: &'a Body,
    /// Opcode and modifiers.
    pub form: &'a Form,
    /// The instruction.
    pub inst: &'a Inst,
}

impl<'a> View<'a> {
    /// The statement as an instruction, if it is one.
    pub fn of(forms: &'a Forms, body: &'a Body, id: StmtId) -> Option<Self> {
        let inst = body.inst(id)?;
        Some(Self { body, form: &forms[inst.form], inst })
    }

    /// The operands.
    pub fn operands(&self) -> &'a [Operand] {
        self.body.operands(self.inst.operands)
    }

    /// The special registers that it reads.
    pub fn specials(&self) -> impl Iterator<Item = Special> + use<'a> {
        let body = self.body;
        self.operands().iter().flat_map(move |operand| {
            let list = match operand {
                Operand::Vector(list) | Operand::Arguments(list) => body.operands(*list),
                operand => std::slice::from_ref(operand),
            };
            list.iter().filter_map(|operand| match operand {
                Operand::Special(special) => Some(*special),
                _ => None,
            })
        })
    }

    /// The instruction of the manual; nothing for an unknown one.
    pub fn op(&self) -> Option<Op> {
        self.form.op()
    }

    /// What it does besides writing registers. Unknown instructions are treated as if they could do anything by those
    /// who ask: there is no effect to return.
    pub fn effect(&self) -> Option<Effect> {
        self.row().map(|row| row.effect)
    }

    /// The row of the table that fits modifiers and operands; where none fits the operands, the first that fits the
    /// modifiers.
    pub fn row(&self) -> Option<&'static Row> {
        match self.form.rows() {
            [] => None,
            [row] => Some(row),
            rows => {
                let operands = self.operands();
                Some(rows.iter().find(|row| match_operands(row, operands).is_some()).unwrap_or(&rows[0]))
            }
        }
    }

    /// Each operand with what the table says of it; nothing if the operands do not fit the table.
    pub fn matched_operands(&self) -> Option<SmallVec<[(&'a Operand, &'static OperandSpec); 8]>> {
        let row = self.row()?;
        let operands = self.operands();
        let specs = match_operands(row, operands)?;
        Some(operands.iter().zip(specs).collect())
    }

    /// Calls `each` with every register that is read, the guard included; a register may come several times.
    pub fn for_each_read(&self, mut each: impl FnMut(Reg)) {
        if let Some(guard) = self.inst.guard {
            each(guard.reg);
        }
        self.for_each_operand(|operand, read, written| {
            // The base of an address is read whatever happens to the memory there.
            if read || operand.is_address() {
                self.for_each_reg(operand, &mut each);
            } else if written
                && let Operand::Part(reg, _) = operand
                && self.keeps_other_parts()
            {
                each(*reg);
            }
        });
    }

    /// Calls `each` with every register that is written. A guarded instruction writes only where its guard holds.
    pub fn for_each_write(&self, mut each: impl FnMut(Reg)) {
        self.for_each_operand(|operand, _, written| {
            if written && !operand.is_address() {
                self.for_each_reg(operand, &mut each);
            }
        });
    }

    /// Whether writing a part of a register leaves its other parts as they are. Video instructions take those from
    /// another operand instead.
    fn keeps_other_parts(&self) -> bool {
        !self.form.spelling().starts_with('v')
    }

    /// All registers that are read, the guard included.
    pub fn reads(&self) -> SmallVec<[Reg; 8]> {
        let mut regs = SmallVec::new();
        self.for_each_read(|reg| regs.push(reg));
        regs
    }

    /// All registers that are written.
    pub fn writes(&self) -> SmallVec<[Reg; 4]> {
        let mut regs = SmallVec::new();
        self.for_each_write(|reg| regs.push(reg));
        regs
    }

    /// Whether the carry flag of the thread is read.
    pub fn reads_carry(&self) -> bool {
        matches!(self.op(), Some(Op::Addc | Op::Subc | Op::Madc))
    }

    /// Whether the carry flag of the thread is written.
    pub fn writes_carry(&self) -> bool {
        self.form.has(Mod::Cc)
    }

    /// Whether all lanes of a warp named by a mask must take part.
    pub fn is_collective(&self) -> bool {
        self.form.has(Mod::Sync) && self.effect() != Some(Effect::Barrier) || self.effect() == Some(Effect::Collective)
    }

    /// Whether control never goes on to the next statement: an unguarded branch, return, exit or trap.
    pub fn ends_flow(&self) -> bool {
        self.inst.guard.is_none()
            && match self.effect() {
                Some(Effect::Branch | Effect::Return | Effect::Exit) => true,
                Some(Effect::Trap) => self.op() == Some(Op::Trap),
                _ => false,
            }
    }

    /// The label that a direct branch goes to.
    pub fn branch_target(&self) -> Option<Label> {
        if self.op() != Some(Op::Bra) {
            return None;
        }
        match self.operands() {
            [Operand::Symbol(Symbol::Label(label), 0)] => Some(*label),
            _ => None,
        }
    }

    /// The label of the `.branchtargets` list that an indexed branch goes through.
    pub fn branch_table(&self) -> Option<Label> {
        if self.op() != Some(Op::BrxIdx) {
            return None;
        }
        match self.operands() {
            [_, Operand::Symbol(Symbol::Label(label), 0)] => Some(*label),
            _ => None,
        }
    }

    /// Whom a call calls.
    pub fn callee(&self) -> Option<Callee> {
        if self.effect() != Some(Effect::Call) {
            return None;
        }
        let callee = self.operands().iter().find(|operand| !matches!(operand, Operand::Arguments(_)))?;
        Some(match callee {
            Operand::Symbol(Symbol::Func(func), 0) => Callee::Direct(*func),
            Operand::Reg(reg) => Callee::Indirect(*reg),
            _ => Callee::Unknown,
        })
    }

    /// The accesses to memory that the instruction makes, in the order of its operands. Textures, surfaces, tensor
    /// memory and accesses through a tensor map are among them, with their space.
    pub fn accesses(&self) -> SmallVec<[MemAccess; 2]> {
        let mut accesses = SmallVec::new();
        let Some(row) = self.row() else {
            return accesses;
        };
        if !row.operands.iter().any(|spec| matches!(spec.shape, OperandShape::Address(_))) {
            return accesses;
        }
        let Some(matched) = self.matched_operands() else {
            return accesses;
        };
        let size = matched.iter().position(|(_, spec)| spec.name == "size");
        for (index, (_, spec)) in matched.iter().enumerate() {
            let OperandShape::Address(address) = spec.shape else {
                continue;
            };
            let Some(kind) = access_kind(address, row.effect) else {
                continue;
            };
            // The barrier object that an asynchronous copy completes on: its count changes later, with release
            // semantics at cluster scope.
            let is_completion = spec.name == "mbar" && row.effect == Effect::AsyncCopy;
            // Bytes out of bounds or masked are not touched.
            let may_be_less = self.form.has(Mod::IgnoreOob) || self.form.has(Mod::CpMask);
            // `cp.async` reads fewer bytes than it writes where its source size says so.
            let size = match kind {
                AccessKind::Read => matched.iter().position(|(_, spec)| spec.name == "src_size").or(size),
                _ => size,
            };
            let is_opaque = matches!(address.space, SpaceSpec::Tensor | SpaceSpec::TensorMemory | SpaceSpec::Texture);
            let bytes = match (address.bytes, size) {
                (ByteSpec::Fixed(bytes), _) => AccessBytes::Fixed(bytes),
                (ByteSpec::Unknown, _) => {
                    let stride = matched.iter().position(|(_, spec)| spec.name == "stride");
                    self.fragment(stride).map_or(AccessBytes::Unknown, AccessBytes::Rows)
                }
                _ if may_be_less => AccessBytes::Unknown,
                (ByteSpec::Default, _) if is_opaque => AccessBytes::Unknown,
                (ByteSpec::Default, Some(size)) => match matched[size].0.as_int() {
                    Some(bytes) => u32::try_from(bytes).map_or(AccessBytes::Unknown, AccessBytes::Fixed),
                    None => AccessBytes::Operand(size),
                },
                (ByteSpec::Default, None) => match self.form.types().last() {
                    Some(ty) => AccessBytes::Fixed(ty.bytes() * self.form.vector()),
                    None => AccessBytes::Unknown,
                },
            };
            let space = match address.space {
                SpaceSpec::Fixed(space) => AccessSpace::State(space),
                SpaceSpec::Tensor => AccessSpace::Tensor,
                SpaceSpec::TensorMemory => AccessSpace::TensorMemory,
                SpaceSpec::Texture => AccessSpace::Texture,
                SpaceSpec::Modifier(nth) => {
                    self.form.spaces().nth(nth.into()).map_or(AccessSpace::Generic, AccessSpace::State)
                }
            };
            accesses.push(MemAccess {
                kind,
                space,
                bytes,
                order: if is_completion { Order::Release } else { self.order(row.effect) },
                scope: if is_completion { Some(Scope::Cluster) } else { self.scope() },
                address: index,
                is_async: matches!(row.effect, Effect::AsyncCopy | Effect::Tensor)
                    || matches!(self.op(), Some(Op::CpAsyncMbarrierArrive | Op::Tcgen05Commit)),
                vector: self.form.vector(),
                lanes: self.lanes_with_addresses(),
            });
        }
        accesses
    }

    /// The rows of a fragment that `wmma` loads or stores; those of a matrix that is kept by columns are its columns.
    fn fragment(&self, stride: Option<usize>) -> Option<Rows> {
        let [m, n, k] = self.form.shape()?.map(u32::from);
        let (rows, columns) = match self.op()? {
            Op::WmmaLoadA => (m, k),
            Op::WmmaLoadB => (k, n),
            Op::WmmaLoadC | Op::WmmaStoreD => (m, n),
            _ => return None,
        };
        let (count, elements) = if self.form.has(Mod::Row) { (rows, columns) } else { (columns, rows) };
        let element_bits = self.form.types().last()?.bits();
        Some(Rows { count, bytes: elements * element_bits / 8, stride, element_bits })
    }

    /// Of how many lanes the addresses count, from the first on: those of `ldmatrix` and `stmatrix` are addresses of rows.
    fn lanes_with_addresses(&self) -> u32 {
        let rows = match (self.op(), self.form.shape()) {
            (Some(Op::Ldmatrix), Some([16, 16, _])) => 16,
            (Some(Op::Ldmatrix | Op::Stmatrix), _) => 8,
            _ => return WARP,
        };
        match () {
            () if self.form.has(Mod::X4) => rows * 4,
            () if self.form.has(Mod::X2) => rows * 2,
            () => rows,
        }
    }

    pub(crate) fn order(&self, effect: Effect) -> Order {
        let mut order = None;
        for word in self.form.words() {
            order = match word {
                Mod::Weak => Some(Order::Weak),
                Mod::Relaxed => Some(Order::Relaxed),
                Mod::Volatile => Some(Order::Volatile),
                Mod::Acquire => Some(Order::Acquire),
                Mod::Release => Some(Order::Release),
                Mod::AcqRel => Some(Order::AcquireRelease),
                _ => order,
            };
        }
        // An atomic without semantics is relaxed, as are reductions that are done later; so is the count of an mbarrier,
        // except for arrivals and waits. Who makes an mbarrier writes like anybody else.
        order.unwrap_or(match effect {
            Effect::Atomic => Order::Relaxed,
            Effect::AsyncCopy if matches!(self.op(), Some(Op::CpReduceAsyncBulk | Op::CpReduceAsyncBulkTensor)) => {
                Order::Relaxed
            }
            Effect::Mbarrier => match self.op() {
                Some(Op::MbarrierArrive | Op::MbarrierArriveDrop) => Order::Release,
                Some(Op::MbarrierTestWait | Op::MbarrierTryWait) => Order::Acquire,
                Some(Op::MbarrierInit | Op::MbarrierInval) => Order::Weak,
                _ => Order::Relaxed,
            },
            _ => Order::Weak,
        })
    }

    pub(crate) fn scope(&self) -> Option<Scope> {
        self.form.words().find_map(|word| match word {
            Mod::Cta => Some(Scope::Block),
            Mod::Cluster => Some(Scope::Cluster),
            Mod::Gpu | Mod::Gl => Some(Scope::Device),
            Mod::Sys => Some(Scope::System),
            _ => None,
        })
    }

    /// Calls `each` with every operand and whether it is read and written.
    pub(crate) fn for_each_operand(&self, mut each: impl FnMut(&'a Operand, bool, bool)) {
        let operands = self.operands();
        match self.row().and_then(|row| match_operands(row, operands)) {
            Some(specs) => {
                for (operand, spec) in operands.iter().zip(specs) {
                    each(operand, spec.read, spec.written);
                }
            }
            // Unknown, or not as the table has it: the first operand may be written, all may be read.
            None => {
                for (index, operand) in operands.iter().enumerate() {
                    each(operand, true, index == 0);
                }
            }
        }
    }

    fn for_each_reg(&self, operand: &Operand, each: &mut impl FnMut(Reg)) {
        match *operand {
            Operand::Reg(reg)
            | Operand::Not(reg)
            | Operand::Neg(reg)
            | Operand::Part(reg, _)
            | Operand::RegAddress(reg, _) => each(reg),
            Operand::Pair(first, second) => {
                first.reg().into_iter().chain(second.reg()).for_each(each);
            }
            Operand::Vector(list) | Operand::TupleAddress(list) | Operand::Arguments(list) => {
                for operand in self.body.operands(list) {
                    self.for_each_reg(operand, each);
                }
            }
            Operand::VectorPair(list, second) => {
                self.for_each_reg(&Operand::Vector(list), each);
                second.reg().into_iter().for_each(each);
            }
            _ => {}
        }
    }
}

/// Lanes of a warp.
const WARP: u32 = 32;

/// Whom a call calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Callee {
    /// A function by name; perhaps only a declaration of it.
    Direct(crate::ir::FuncId),
    /// The function whose address is in a register.
    Indirect(Reg),
    /// Something that is neither: a name that is not declared.
    Unknown,
}

/// One access to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemAccess {
    /// Read, written, or both in one step.
    pub kind: AccessKind,
    /// Where.
    pub space: AccessSpace,
    /// How many bytes each thread accesses.
    pub bytes: AccessBytes,
    /// What it orders.
    pub order: Order,
    /// Among whom it is atomic or ordered; nothing if not given.
    pub scope: Option<Scope>,
    /// Which operand is the address.
    pub address: usize,
    /// Whether it completes later than the instruction.
    pub is_async: bool,
    /// Elements per access: the address must be aligned to `bytes`.
    pub vector: u32,
    /// Of how many lanes of a warp the address counts, from the first on. Less than all only for small matrices.
    pub lanes: u32,
}

/// How memory is accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessKind {
    /// Read.
    Read,
    /// Written.
    Write,
    /// Read and written in one step.
    ReadWrite,
}

/// The memory that is accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessSpace {
    /// Whatever the address points into.
    Generic,
    /// A state space.
    State(Space),
    /// A tensor in global memory, through a tensor map.
    Tensor,
    /// The tensor memory of `tcgen05`.
    TensorMemory,
    /// A texture or surface.
    Texture,
}

/// The size of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessBytes {
    /// Known from the text.
    Fixed(u32),
    /// In the register that is the n-th operand; if that is a predicate, nothing is accessed where it holds.
    Operand(usize),
    /// Rows of a matrix. The lanes of a warp access them together, and all have the address of the first.
    Rows(Rows),
    /// Depends on something else, such as a tensor map.
    Unknown,
}

/// Rows of a matrix, at equal distances.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rows {
    /// How many.
    pub count: u32,
    /// Bytes of each.
    pub bytes: u32,
    /// Which operand is the distance from one to the next, in elements. Without it, nothing is between them.
    pub stride: Option<usize>,
    /// Bits of an element.
    pub element_bits: u32,
}

/// The memory order of an access.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Order {
    /// Not for communication between threads.
    Weak,
    /// `.volatile`: relaxed, at system scope, and neither merged nor split.
    Volatile,
    /// Atomic without ordering.
    Relaxed,
    /// What is after stays after.
    Acquire,
    /// What is before stays before.
    Release,
    /// Both.
    AcquireRelease,
}

/// The threads among which an access is ordered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Scope {
    /// `.cta`
    Block,
    /// `.cluster`
    Cluster,
    /// `.gpu`
    Device,
    /// `.sys`
    System,
}

fn access_kind(address: AddressSpec, effect: Effect) -> Option<AccessKind> {
    match address.mode {
        Some(AccessMode::Read) => Some(AccessKind::Read),
        Some(AccessMode::Write) => Some(AccessKind::Write),
        Some(AccessMode::ReadWrite) => Some(AccessKind::ReadWrite),
        Some(AccessMode::None) => None,
        None => match effect {
            Effect::Load | Effect::TextureLoad => Some(AccessKind::Read),
            Effect::Store | Effect::SurfaceStore => Some(AccessKind::Write),
            Effect::Atomic | Effect::Mbarrier => Some(AccessKind::ReadWrite),
            _ => None,
        },
    }
}

/// The spec of each operand; nothing if they do not fit the row.
pub(crate) fn match_operands(row: &'static Row, operands: &[Operand]) -> Option<SmallVec<[&'static OperandSpec; 8]>> {
    let mut matched = SmallVec::new();
    fits(&row.operands, operands, &mut matched).then_some(matched)
}

/// Tries to take optional operands before it skips them.
fn fits(
    specs: &'static [OperandSpec],
    operands: &[Operand],
    matched: &mut SmallVec<[&'static OperandSpec; 8]>,
) -> bool {
    let Some((spec, specs)) = specs.split_first() else {
        return operands.is_empty();
    };
    if let Some((operand, operands)) = operands.split_first()
        && accepts(spec, operand)
    {
        matched.push(spec);
        if fits(specs, operands, matched) {
            return true;
        }
        matched.pop();
    }
    spec.optional && fits(specs, operands, matched)
}

/// Whether the operand looks like what the table says; types are the verifier's business.
fn accepts(spec: &OperandSpec, operand: &Operand) -> bool {
    match spec.shape {
        OperandShape::Address(_) => operand.is_address(),
        OperandShape::Arguments => matches!(operand, Operand::Arguments(_)),
        OperandShape::Label => matches!(operand, Operand::Symbol(Symbol::Label(_) | Symbol::Undeclared(_), 0)),
        OperandShape::Function => matches!(operand, Operand::Symbol(..) | Operand::Reg(_)),
        OperandShape::Pair { optional, .. } => match operand {
            Operand::Pair(..) | Operand::VectorPair(..) => true,
            Operand::Reg(_) | Operand::Sink | Operand::Vector(_) => optional,
            _ => false,
        },
        OperandShape::Value { negatable, .. } => match operand {
            Operand::Not(_) => negatable,
            Operand::Pair(..) | Operand::VectorPair(..) | Operand::Arguments(_) => false,
            // `mov.u32 %r1, table[2]` takes the address of an element.
            Operand::Element(..) => !spec.written,
            _ if spec.written => {
                matches!(operand, Operand::Reg(_) | Operand::Part(..) | Operand::Vector(_) | Operand::Sink)
            }
            _ => !operand.is_address(),
        },
    }
}
