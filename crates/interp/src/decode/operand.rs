//! Operands of an instruction by their names in the opcode table.

use ptx::ir::{FuncId, FunctionKind, Label, List, Operand, PairMember, Reg, StmtId, Symbol};
use ptx::ops::{Mod, Op, OperandSpec};
use ptx::types::{Space, Type, TypeKind};
use ptx::view::View;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use super::frame::{FrameLayout, bits_of};
use super::{Context, function_address};
use crate::arith::float::{Limit, Mode};
use crate::arith::format::{BF16, F16, F32, F64, Format, Number, Round};
use crate::arith::int::{Int, mask};
use crate::code::{Address, Arg, Code, Dest, Inst};
use crate::fault::Refusal;
use crate::memory::Window;

/// An instruction that is being decoded.
pub(crate) struct InstDecoder<'s, 'm> {
    pub context: &'s Context<'m>,
    pub function: FuncId,
    pub frame: &'s FrameLayout,
    labels: &'s FxHashMap<Label, u32>,
    tables: &'s FxHashMap<Label, List>,
    pub view: View<'m>,
    pub stmt: StmtId,
    operands: SmallVec<[(&'m Operand, &'static OperandSpec); 8]>,
    pub op: Op,
}

impl<'s, 'm> InstDecoder<'s, 'm> {
    pub(crate) fn new(
        context: &'s Context<'m>,
        function: FuncId,
        frame: &'s FrameLayout,
        labels: &'s FxHashMap<Label, u32>,
        tables: &'s FxHashMap<Label, List>,
        view: View<'m>,
        stmt: StmtId,
    ) -> Result<Self, Refusal> {
        let refuse = |reason| Refusal::new(context.module, view.body.position(stmt), view.form.spelling(), reason);
        let op = view.op().ok_or_else(|| refuse("is not a known instruction"))?;
        let operands = view.matched_operands().ok_or_else(|| refuse("does not have the operands that it needs"))?;
        Ok(Self { context, function, frame, labels, tables, view, stmt, operands, op })
    }

    /// Why this instruction cannot be run.
    pub(crate) fn refuse(&self, reason: &str) -> Refusal {
        Refusal::new(self.context.module, self.view.body.position(self.stmt), self.view.form.spelling(), reason)
    }

    pub(crate) fn has(&self, word: Mod) -> bool {
        self.view.form.has(word)
    }

    /// The n-th type among the modifiers.
    pub(crate) fn ty(&self, nth: usize) -> Result<Type, Refusal> {
        self.view.form.types().get(nth).copied().ok_or_else(|| self.refuse("lacks a type"))
    }

    pub(crate) fn last_type(&self) -> Result<Type, Refusal> {
        self.view.form.types().last().copied().ok_or_else(|| self.refuse("lacks a type"))
    }

    pub(crate) fn operand(&self, name: &str) -> Option<&'m Operand> {
        self.operands.iter().find(|(_, spec)| spec.name == name).map(|(operand, _)| *operand)
    }

    pub(crate) fn required(&self, name: &str) -> Result<&'m Operand, Refusal> {
        self.operand(name).ok_or_else(|| self.refuse("lacks an operand"))
    }

    /// The instruction with its guard.
    pub(crate) fn inst(&self, code: Code) -> Inst {
        Inst {
            guard: self.view.inst.guard.map(|guard| (self.slot(guard.reg), guard.negated)),
            code,
            dests: SmallVec::new(),
            args: SmallVec::new(),
            addresses: SmallVec::new(),
            stmt: self.stmt,
        }
    }

    /// An instruction with a destination `d` and named sources of types.
    pub(crate) fn with(&self, code: Code, sources: &[(&str, Type)]) -> Result<Inst, Refusal> {
        let mut inst = self.inst(code);
        inst.dests = self.dests()?;
        for &(name, ty) in sources {
            inst.args.push(self.arg(name, ty)?);
        }
        Ok(inst)
    }

    pub(crate) fn slot(&self, reg: Reg) -> u32 {
        self.frame.first_slot[reg]
    }

    fn source(&self) -> &'m ptx::ir::Function {
        &self.context.module.functions[self.function]
    }

    pub(crate) fn is_entry(&self) -> bool {
        self.source().kind == FunctionKind::Entry
    }

    /// Everything that `d` or `p` (and then `q`) says is written, in order; a vector register is all of its elements.
    pub(crate) fn dests(&self) -> Result<SmallVec<[Dest; 2]>, Refusal> {
        let Some((operand, _)) = self.operands.iter().find(|(_, spec)| matches!(spec.name, "d" | "p") && spec.written)
        else {
            return Ok(SmallVec::new());
        };
        self.dests_of(operand)
    }

    pub(crate) fn dests_of(&self, operand: &Operand) -> Result<SmallVec<[Dest; 2]>, Refusal> {
        let member = |member: PairMember| member.reg().map_or(Dest::Sink, |reg| self.dest(reg));
        Ok(match *operand {
            Operand::Sink => smallvec![Dest::Sink],
            Operand::Reg(reg) => self.elements(reg).map(|slot| self.dest_at(reg, slot)).collect(),
            Operand::Pair(first, second) => smallvec![member(first), member(second)],
            Operand::Part(reg, name) => {
                let vector = self.vector_of(reg);
                match self.context.module.text(name) {
                    part if vector > 1 => {
                        let index = self.element_index(part, vector)?;
                        smallvec![self.dest_at(reg, self.slot(reg) + index)]
                    }
                    // Parts of video results are merged by the instruction itself.
                    _ => smallvec![self.dest(reg)],
                }
            }
            Operand::Vector(list) => {
                let mut dests = SmallVec::new();
                for element in self.view.body.operands(list) {
                    dests.extend(self.dests_of(element)?);
                }
                dests
            }
            _ => return Err(self.refuse("has a destination that cannot be written")),
        })
    }

    fn dest(&self, reg: Reg) -> Dest {
        self.dest_at(reg, self.slot(reg))
    }

    fn dest_at(&self, reg: Reg, slot: u32) -> Dest {
        Dest::Reg { slot, bits: bits_of(self.source(), reg) }
    }

    fn vector_of(&self, reg: Reg) -> u32 {
        let function = self.source();
        function.groups[function.regs[reg].group].vector.max(1).into()
    }

    fn elements(&self, reg: Reg) -> std::ops::Range<u32> {
        let first = self.slot(reg);
        first..first + self.vector_of(reg)
    }

    fn element_index(&self, part: &str, vector: u32) -> Result<u32, Refusal> {
        let index = match part {
            "x" | "r" => 0,
            "y" | "g" => 1,
            "z" | "b" => 2,
            "w" | "a" => 3,
            _ => return Err(self.refuse("selects an element that no vector has")),
        };
        if index < vector { Ok(index) } else { Err(self.refuse("selects an element past the end of a vector")) }
    }

    /// A named source.
    pub(crate) fn arg(&self, name: &str, ty: Type) -> Result<Arg, Refusal> {
        self.value(self.required(name)?, ty)
    }

    /// A source operand as a value of a type.
    pub(crate) fn value(&self, operand: &Operand, ty: Type) -> Result<Arg, Refusal> {
        Ok(match *operand {
            Operand::Reg(reg) => Arg::Reg(self.slot(reg)),
            Operand::Not(reg) => Arg::Not(self.slot(reg)),
            Operand::Neg(reg) => Arg::Neg(self.slot(reg)),
            Operand::Part(reg, name) => {
                let part = self.context.module.text(name);
                let vector = self.vector_of(reg);
                if vector > 1 {
                    Arg::Reg(self.slot(reg) + self.element_index(part, vector)?)
                } else {
                    let (shift, bits) = part_of(part).ok_or_else(|| self.refuse("selects an unknown part"))?;
                    Arg::Part { slot: self.slot(reg), shift, bits }
                }
            }
            Operand::Special(special) => Arg::Special(special),
            Operand::Int(_) | Operand::Hex(_) | Operand::F32(_) | Operand::F64(_) | Operand::WarpSize => {
                Arg::Const(constant(operand, ty) as u64)
            }
            Operand::Symbol(symbol, offset) => self.symbol(symbol, i64::from(offset))?,
            Operand::Element(symbol, index) => self.symbol(symbol, self.element_offset(symbol, index))?,
            // A result that nobody wants, among the sources of a store of a vector, is not there.
            _ => return Err(self.refuse("has an operand that is no value")),
        })
    }

    fn element_offset(&self, symbol: Symbol, index: i32) -> i64 {
        let module = self.context.module;
        let variable = match symbol {
            Symbol::Global(global) => &module.globals[global],
            Symbol::Var(var) => &self.source().vars[var],
            _ => return i64::from(index),
        };
        i64::from(index) * i64::from(variable.ty.bytes() * u32::from(variable.vector))
    }

    /// Sources of a vector operand, or the one of a scalar.
    pub(crate) fn values(&self, operand: &Operand, ty: Type) -> Result<SmallVec<[Arg; 4]>, Refusal> {
        match *operand {
            Operand::Vector(list) => {
                let mut args = SmallVec::new();
                for element in self.view.body.operands(list) {
                    args.extend(self.values(element, ty)?);
                }
                Ok(args)
            }
            Operand::Reg(reg) => Ok(self.elements(reg).map(Arg::Reg).collect()),
            _ => Ok(smallvec![self.value(operand, ty)?]),
        }
    }

    /// The address of a symbol in its own window.
    fn symbol(&self, symbol: Symbol, offset: i64) -> Result<Arg, Refusal> {
        let (_, arg) = self.symbol_place(symbol, offset)?;
        Ok(arg)
    }

    fn symbol_place(&self, symbol: Symbol, offset: i64) -> Result<(Window, Arg), Refusal> {
        let context = self.context;
        let at = |base: u64| Arg::Const(base.wrapping_add_signed(offset));
        let unknown = || self.refuse("names something that has no address");
        Ok(match symbol {
            Symbol::Global(global) => match context.module.globals[global].space {
                Space::Shared => {
                    (Window::Shared, at(u64::from(*context.shared.globals.get(&global).ok_or_else(unknown)?)))
                }
                space => {
                    let window = if space == Space::Const { Window::Const } else { Window::Global };
                    (window, at(*context.addresses.globals.get(&global).ok_or_else(unknown)?))
                }
            },
            Symbol::Var(var) => {
                if let Some(&base) = self.frame.entry_params.get(&var) {
                    (Window::Param, at(base.into()))
                } else if let Some(&base) = self.frame.vars.get(&var) {
                    let offset = u32::try_from(i64::from(base) + offset).map_err(|_| unknown())?;
                    (Window::Local, Arg::Frame(offset))
                } else if let Some(&base) = context.shared.vars.get(&(self.function, var)) {
                    (Window::Shared, at(base.into()))
                } else {
                    let base = context.addresses.function_globals.get(&(self.function, var)).ok_or_else(unknown)?;
                    let is_constant = self.source().vars[var].space == Space::Const;
                    (if is_constant { Window::Const } else { Window::Global }, at(*base))
                }
            }
            Symbol::Func(func) => (Window::Generic, at(function_address(context.calls.resolve(func)))),
            Symbol::Label(_) | Symbol::Undeclared(_) => return Err(unknown()),
        })
    }

    /// A named address in the window of a state space; generic without one.
    pub(crate) fn address(&self, name: &str, space: Option<Space>) -> Result<Address, Refusal> {
        let operand = self.required(name)?;
        let mut window = match space {
            None => Window::Generic,
            Some(Space::Global) => Window::Global,
            Some(Space::Const) => Window::Const,
            Some(Space::Shared) => Window::Shared,
            Some(Space::Local) => Window::Local,
            Some(Space::Param) if self.is_entry() => Window::Param,
            Some(Space::Param) => Window::Local,
            Some(_) => return Err(self.refuse("accesses a space that has no addresses")),
        };
        let (base, offset, narrow) = match *operand {
            Operand::RegAddress(reg, offset) => {
                (Arg::Reg(self.slot(reg)), i64::from(offset), bits_of(self.source(), reg) == 32)
            }
            Operand::IntAddress(address) => (Arg::Const(address), 0, false),
            Operand::SymbolAddress(symbol, offset) => {
                let (place, arg) = self.symbol_place(symbol, i64::from(offset))?;
                // Parameters of a call within a kernel are local memory here, whatever the instruction says; without
                // a space, a name stands for its generic address.
                window = place;
                (arg, 0, false)
            }
            Operand::Element(symbol, index) => {
                let (place, arg) = self.symbol_place(symbol, self.element_offset(symbol, index))?;
                window = place;
                (arg, 0, false)
            }
            _ => return Err(self.refuse("has an address made of several operands")),
        };
        Ok(Address { window, base, offset, narrow })
    }

    /// Where a label stands.
    pub(crate) fn label(&self, operand: &Operand) -> Result<u32, Refusal> {
        match operand {
            Operand::Symbol(Symbol::Label(label), 0) => {
                self.labels.get(label).copied().ok_or_else(|| self.refuse("goes to a label that is nowhere"))
            }
            _ => Err(self.refuse("goes to something that is no label")),
        }
    }

    /// The labels of a `.branchtargets` list.
    pub(crate) fn branch_table(&self) -> Result<Box<[u32]>, Refusal> {
        let label = self.view.branch_table().ok_or_else(|| self.refuse("has no list of targets"))?;
        let list = self.tables.get(&label).ok_or_else(|| self.refuse("has no list of targets"))?;
        self.view.body.operands(*list).iter().map(|operand| self.label(operand)).collect()
    }

    /// The rounding among the modifiers.
    pub(crate) fn round(&self) -> Option<Round> {
        self.view.form.words().find_map(|word| match word {
            Mod::Rn => Some(Round::NearestEven),
            Mod::Rna => Some(Round::NearestAway),
            Mod::Rz => Some(Round::Zero),
            Mod::Rm => Some(Round::Down),
            Mod::Rp => Some(Round::Up),
            _ => None,
        })
    }

    /// Rounding, flushing and saturation of a floating-point operation.
    pub(crate) fn mode(&self) -> Mode {
        let limit = match (self.has(Mod::Sat), self.has(Mod::Relu), self.has(Mod::Satfinite)) {
            (true, ..) => Limit::Saturate,
            (_, true, true) => Limit::ReluFinite,
            (_, true, false) => Limit::Relu,
            (_, false, true) => Limit::Finite,
            _ => Limit::None,
        };
        Mode { round: self.round().unwrap_or(Round::NearestEven), flush: self.has(Mod::Ftz), limit }
    }

    /// An integer immediate.
    pub(crate) fn immediate(&self, name: &str) -> Result<i64, Refusal> {
        self.required(name)?.as_int().ok_or_else(|| self.refuse("has an operand that is no immediate"))
    }
}

/// Place and width of a part such as `.b1`, `.h0`.
pub(crate) fn part_of(name: &str) -> Option<(u8, u8)> {
    let index: u8 = name.get(1..)?.parse().ok()?;
    match (name.as_bytes()[0], index) {
        (b'b', 0..4) => Some((8 * index, 8)),
        (b'h', 0..2) => Some((16 * index, 16)),
        _ => None,
    }
}

/// The bits of an immediate as a value of a type.
pub(crate) fn constant(operand: &Operand, ty: Type) -> u128 {
    let float = |number: Number| -> u128 {
        let format = match ty {
            Type::Bf16 => BF16,
            _ if ty.bits() == 16 => F16,
            _ if ty.bits() == 32 => F32,
            _ => F64,
        };
        format.pack(number, Round::NearestEven).into()
    };
    match *operand {
        Operand::F32(bits) if ty.bits() == 32 => bits.into(),
        Operand::F64(bits) if ty.bits() == 64 => bits.into(),
        Operand::F32(bits) => float(F32.unpack(bits.into())),
        Operand::F64(bits) => float(F64.unpack(bits)),
        _ => operand.as_int().unwrap_or(0) as u128 & mask(ty.bits().max(1)),
    }
}

/// A type as an integer: bits and everything that is no signed integer count as unsigned.
pub(crate) fn int(ty: Type) -> Int {
    Int { bits: ty.bits(), signed: ty.kind() == TypeKind::Signed }
}

/// Format and lanes of a floating-point type.
pub(crate) fn format(ty: Type) -> Option<(Format, u8)> {
    Some(match ty {
        Type::F16 => (F16, 1),
        Type::F16x2 => (F16, 2),
        Type::Bf16 => (BF16, 1),
        Type::Bf16x2 => (BF16, 2),
        Type::F32 => (F32, 1),
        Type::F32x2 => (F32, 2),
        Type::F64 => (F64, 1),
        _ => return None,
    })
}
