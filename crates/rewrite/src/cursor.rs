//! A place in a function at which a tool inserts instructions.

use ptx::analysis::{PointerValue, Root};
use ptx::edit::{Builder, Editor};
use ptx::import::Imported;
use ptx::ir::{FuncId, Guard, Operand, Param, Reg, StmtId, Symbol, TagId, Var};
use ptx::types::{Type, TypeKind};
use rustc_hash::FxHashMap;

use crate::access_group::{AccessGroup, AccessGroups};
use crate::context::{MOST_BYTES, MOST_SLOTS, PointerSlot, SLOT, SLOTS, Word};
use crate::event::Access;
use crate::site::{Site, SiteId, Sites};

/// Inserts the instructions of a tool before an instruction of the program.
#[derive(Debug)]
pub struct Cursor<'e, 'm> {
    pub(crate) editor: &'e mut Editor<'m>,
    pub(crate) stmt: StmtId,
    pub(crate) tag: TagId,
    pub(crate) tool: &'static str,
    /// The guard that the instruction had in the program.
    pub(crate) guard: Option<Guard>,
    pub(crate) groups: &'e AccessGroups,
    pub(crate) sites: &'e mut Sites,
    pub(crate) helpers: &'e Helpers,
    pub(crate) kernel: &'e mut KernelContext,
}

/// The functions that tools brought.
#[derive(Debug, Default)]
pub(crate) struct Helpers {
    functions: FxHashMap<String, FuncId>,
}

/// What a kernel needs of its launch, as far as tools have asked for it.
#[derive(Debug, Default)]
pub(crate) struct KernelContext {
    /// The first call of a helper that nobody brings: the tool, and the name that it calls.
    pub(crate) missing_helper: Option<(&'static str, String)>,
    /// Whether something was inserted that may call a helper.
    pub(crate) is_used: bool,
    /// The register with the address of the context, if somebody asked for it.
    pub(crate) address: Option<Reg>,
    /// Whether the function is a kernel, which has parameters that launches look at.
    pub(crate) is_kernel: bool,
    pub(crate) slots: Vec<PointerSlot>,
    /// The registers with the bounds of each slot.
    pub(crate) bounds: Vec<[Reg; 2]>,
    /// Values that were computed at the beginning.
    pub(crate) at_entry: FxHashMap<(String, Vec<Operand>), Reg>,
    /// What tools found of accesses.
    pub(crate) found: FxHashMap<(&'static str, StmtId), AllowedLanes>,
    /// After which statement the next value is computed.
    pub(crate) last: Option<StmtId>,
}

/// Where an access is allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AllowedLanes {
    /// Everywhere.
    Always,
    /// Where some bit of the mask is set in the register, and nowhere else. Such registers live longer than predicates
    /// do: NVIDIA's assembler has few of those.
    Where {
        /// The register, of 32 bits.
        answers: Reg,
        /// The bits.
        mask: u32,
    },
}

impl Helpers {
    pub(crate) fn add(&mut self, module: &ptx::ir::Module, imported: &Imported) {
        for (func, function) in module.functions.iter() {
            self.functions.insert(module.text(function.name).to_owned(), imported.function(func));
        }
    }
}

impl<'e, 'm> Cursor<'e, 'm> {
    /// The editor of the function, for what is not offered here.
    pub fn editor(&mut self) -> &mut Editor<'m> {
        self.editor
    }

    /// Inserts before the instruction, after what was inserted there before.
    pub fn before(&mut self) -> Builder<'_, 'm> {
        self.editor.before(self.stmt, self.tag)
    }

    /// Inserts after the instruction.
    pub fn after(&mut self) -> Builder<'_, 'm> {
        self.editor.after(self.stmt, self.tag)
    }

    /// A fresh register.
    pub fn reg(&mut self, ty: Type) -> Reg {
        self.editor.reg(self.tag, ty)
    }

    /// A new site for an access. Its number is one more than that of the last one.
    pub fn site(&mut self, access: &Access) -> SiteId {
        self.described_site(access, 0)
    }

    /// A new site for an access, with a word that helpers of the tool find in the table of sites.
    pub fn described_site(&mut self, access: &Access, word: u64) -> SiteId {
        let variable = match access.pointer {
            PointerValue::Pointer { root: Root::Global(global), .. } => Some(Symbol::Global(global)),
            PointerValue::Pointer { root: Root::Var(var), .. } => Some(Symbol::Var(var)),
            _ => None,
        };
        let site = Site {
            variable,
            func: self.editor.func(),
            stmt: access.stmt,
            index: access.index,
            guard: self.guard,
            tool: self.tool,
            word,
        };
        self.sites.add(site)
    }

    /// The guard of the instruction, perhaps one of a tool that was here before.
    pub fn guard(&self) -> Option<Guard> {
        self.editor.view(self.stmt).and_then(|view| view.inst.guard)
    }

    /// Whether the function is a kernel.
    pub fn is_kernel(&self) -> bool {
        self.kernel.is_kernel
    }

    /// The register with the address of the launch context.
    fn context(&mut self) -> Reg {
        *self.kernel.address.get_or_insert_with(|| self.editor.reg(self.tag, Type::B64))
    }

    /// A word of the launch context, loaded once when the function begins.
    pub fn word(&mut self, word: Word) -> Reg {
        let address = Operand::RegAddress(self.context(), word as i32);
        self.at_entry("ld.global.b64", Type::B64, &[address])
    }

    /// What the tool found of an access before: when it looked at an earlier one that covers it, or that it is in a group
    /// with.
    pub fn found_before(&self, access: &Access) -> Option<AllowedLanes> {
        let found = |stmt| self.kernel.found.get(&(self.tool, stmt)).copied();
        access.covered_by.and_then(found).or_else(|| access.group.and_then(|_| found(access.stmt)))
    }

    /// Keeps what was found of an access, for itself and later ones that it covers.
    pub fn keep_found(&mut self, access: &Access, allowed: AllowedLanes) {
        self.kernel.found.insert((self.tool, access.stmt), allowed);
    }

    /// The accesses through the same pointer that are executed with an access, and itself.
    pub fn access_group(&self, access: &Access) -> Option<&'e AccessGroup> {
        access.group.map(|id| self.groups.get(id))
    }

    /// Calls a helper, a function of [`Tool::device_code`](crate::Tool::device_code), where the guard holds. If nobody brings
    /// it, the module is not rewritten, and the error says so.
    pub fn call(&mut self, guard: Option<Guard>, helper: &str, results: &[Operand], arguments: &[Operand]) {
        let Some(&func) = self.helpers.functions.get(helper) else {
            self.kernel.missing_helper.get_or_insert((self.tool, helper.to_owned()));
            return;
        };
        self.kernel.is_used = true;
        self.before().call(guard, func, results, arguments);
    }

    /// A value that is computed once, when the function begins, by an instruction whose first operand it is.
    pub fn at_entry(&mut self, spelling: &str, ty: Type, operands: &[Operand]) -> Reg {
        let key = (spelling.to_owned(), operands.to_vec());
        if let Some(&reg) = self.kernel.at_entry.get(&key) {
            return reg;
        }
        let reg = self.reg(ty);
        let mut all = vec![reg.into()];
        all.extend_from_slice(operands);
        let mut builder = match self.kernel.last {
            Some(last) => self.editor.after(last, self.tag),
            None => self.editor.at_entry(self.tag),
        };
        self.kernel.last = Some(builder.inst(spelling, &all));
        self.kernel.at_entry.insert(key, reg);
        reg
    }

    /// Where the object begins that a parameter points into, and how many bytes it has. Nothing for what is no parameter
    /// of the kernel, and if the kernel has too many.
    pub fn bounds(&mut self, var: Var, offset: i32, align: u32) -> Option<[Reg; 2]> {
        let param = self.editor.function().params.iter().position(|param| *param == Param::Var(var))?;
        let offset = u32::try_from(offset).ok()?;
        let context = self.context();
        let is_it = |slot: &PointerSlot| slot.param == param && slot.offset == offset;
        if let Some(index) = self.kernel.slots.iter().position(is_it) {
            let slot = &mut self.kernel.slots[index];
            slot.align = slot.align.max(align);
            return Some(self.kernel.bounds[index]);
        }
        if self.kernel.slots.len() == MOST_SLOTS {
            return None;
        }
        let at = SLOTS + SLOT * self.kernel.slots.len() as u32;
        let mut word = |offset: u32| {
            let address = Operand::RegAddress(context, (at + offset) as i32);
            self.at_entry("ld.global.b64", Type::B64, &[address])
        };
        let bounds = [word(0), word(8)];
        self.kernel.slots.push(PointerSlot { param, offset, align, bytes: 0 });
        self.kernel.bounds.push(bounds);
        Some(bounds)
    }

    /// How far from the beginning of an object some bytes may begin to be within it, up to [`MOST_BYTES`]; the bounds are
    /// those of a slot.
    pub fn max_offset(&mut self, bounds: [Reg; 2], bytes: u32) -> Reg {
        assert!(bytes <= MOST_BYTES, "no launch makes sure that objects have {bytes} bytes");
        let slot = self.kernel.bounds.iter().position(|other| *other == bounds).expect("the bounds are of a slot");
        let slot = &mut self.kernel.slots[slot];
        slot.bytes = slot.bytes.max(bytes);
        self.at_entry("sub.u64", Type::B64, &[bounds[1].into(), i64::from(bytes).into()])
    }

    /// The address of an access, offset included, in a register of 32 or 64 bits.
    pub fn address(&mut self, access: &Access) -> Reg {
        let view = self.editor.view(access.stmt).expect("accesses are made by instructions");
        match view.operands()[access.access.address] {
            Operand::RegAddress(reg, 0) => reg,
            Operand::RegAddress(reg, offset) => {
                let bits = self.editor.function().reg_type(reg).bits();
                let (ty, add) = if bits == 32 { (Type::B32, "add.u32") } else { (Type::B64, "add.u64") };
                let sum = self.reg(ty);
                self.before().inst(add, &[sum.into(), reg.into(), i64::from(offset).into()]);
                sum
            }
            Operand::SymbolAddress(symbol, offset) => {
                let address = self.reg(Type::B64);
                self.before().inst("mov.u64", &[address.into(), Operand::Symbol(symbol, offset)]);
                address
            }
            Operand::IntAddress(number) => {
                let address = self.reg(Type::B64);
                self.before().inst("mov.u64", &[address.into(), Operand::Hex(number)]);
                address
            }
            other => panic!("{other:?} is no address that tools are told of"),
        }
    }

    /// Sets a predicate to another one where a guard holds, and else to false. Without a guard it is the other one.
    pub fn and_guard(&mut self, to: Reg, from: Reg, guard: Option<Guard>) {
        let mut builder = self.before();
        let Some(guard) = guard else {
            builder.inst("mov.pred", &[to.into(), from.into()]);
            return;
        };
        let holds = if guard.negated {
            let holds = builder.reg(Type::Pred);
            builder.inst("not.pred", &[holds.into(), guard.reg.into()]);
            holds
        } else {
            guard.reg
        };
        builder.inst("and.pred", &[to.into(), from.into(), holds.into()]);
    }

    /// Lets the instruction happen only where it is allowed. That implies its guard; where its guard holds and it is not
    /// allowed, its results are zero.
    pub fn allow(&mut self, allowed: AllowedLanes) {
        let AllowedLanes::Where { answers, mask } = allowed else { return };
        let mut answer = answers;
        if mask != u32::MAX {
            answer = self.reg(Type::B32);
            self.before().inst("and.b32", &[answer.into(), answers.into(), i64::from(mask).into()]);
        }
        let allowed = self.reg(Type::Pred);
        self.before().inst("setp.ne.b32", &[allowed.into(), answer.into(), 0.into()]);
        self.only_where(allowed);
    }

    /// Lets the instruction happen only where a predicate holds that implies its guard. Where its guard holds and the
    /// predicate does not, its results are zero.
    pub fn only_where(&mut self, allowed: Reg) {
        let view = self.editor.view(self.stmt).expect("tools stand at instructions");
        let (reads, writes) = (view.reads(), view.writes());
        let guard = view.inst.guard;
        let is_read = |reg: &Reg| reads.contains(reg);
        let conflict = writes.iter().any(is_read);
        for reg in &writes {
            let Some((spelling, zero)) = self.zero(*reg) else { continue };
            if conflict {
                // The result stands where an operand did: it is cleared afterwards, where the instruction was left out.
                let left_out = self.reg(Type::Pred);
                match guard {
                    None => self.before().inst("not.pred", &[left_out.into(), allowed.into()]),
                    Some(guard) => self.left_out(left_out, allowed, guard),
                };
                self.after().guarded(Guard::when(left_out), spelling, &[(*reg).into(), zero]);
            } else {
                self.before().inst_if(guard, spelling, &[(*reg).into(), zero]);
            }
        }
        self.editor.set_guard(self.stmt, Some(Guard::when(allowed)));
    }

    /// Where the guard holds and the instruction is not allowed.
    fn left_out(&mut self, left_out: Reg, allowed: Reg, guard: Guard) -> StmtId {
        // The guard implies nothing of `allowed`, but `allowed` implies the guard: so they differ where it is left out.
        let mut builder = self.before();
        if guard.negated {
            let holds = builder.reg(Type::Pred);
            builder.inst("not.pred", &[holds.into(), guard.reg.into()]);
            builder.inst("xor.pred", &[left_out.into(), holds.into(), allowed.into()])
        } else {
            builder.inst("xor.pred", &[left_out.into(), guard.reg.into(), allowed.into()])
        }
    }

    /// How a register is set to zero; nothing for registers that cannot be.
    fn zero(&mut self, reg: Reg) -> Option<(&'static str, Operand)> {
        let function = self.editor.function();
        let group = &function.groups[function.regs[reg].group];
        if group.vector != 1 {
            return None;
        }
        Some(match (group.ty.kind(), group.ty.bits()) {
            (TypeKind::Float, 32) => ("mov.f32", Operand::F32(0)),
            (TypeKind::Float, 64) => ("mov.f64", Operand::F64(0)),
            // PTX has no `mov` for bytes.
            (_, 8) => ("cvt.u8.u32", Operand::Int(0)),
            (_, 16) => ("mov.b16", Operand::Int(0)),
            (_, 32) => ("mov.b32", Operand::Int(0)),
            (_, 64) => ("mov.b64", Operand::Int(0)),
            (_, 128) => ("mov.b128", self.before().vector(&[Operand::Int(0), Operand::Int(0)])),
            _ => return None,
        })
    }
}
