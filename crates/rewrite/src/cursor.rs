//! A place in a function at which a tool inserts instructions.

use std::any::Any;
use std::fmt::Debug;

use ptx::analysis::{PointerValue, Root};
use ptx::edit::{Builder, Editor, Point};
use ptx::import::Imported;
use ptx::ir::{FuncId, Guard, Operand, Reg, StmtId, Symbol, TagId};
use ptx::special::Special;
use ptx::types::{Space, Type, TypeKind};
use ptx::view::AccessSpace;
use rustc_hash::FxHashMap;

use crate::access_group::{AccessGroup, AccessGroups};
use crate::context::{DoubledShared, Layout, MOST_WORDS, TALLIES, TALLY_ROW, Word, shared_variable};
use crate::event::Access;
use crate::site::{Site, SiteId, Sites};

/// Inserts the instructions of a tool before or after an instruction, or where a function begins.
#[derive(Debug)]
pub struct Cursor<'e, 'm> {
    pub(crate) editor: &'e mut Editor<'m>,
    /// The instruction; where a function begins, the first.
    pub(crate) stmt: StmtId,
    /// Which of its versions the tool makes.
    pub(crate) version: usize,
    pub(crate) layout: &'e Layout,
    pub(crate) tag: TagId,
    pub(crate) tool: &'static str,
    /// The guard that the instruction had in the program.
    pub(crate) guard: Option<Guard>,
    /// Who says what the program sees in special registers, if a tool changes that.
    pub(crate) ids: Option<&'e dyn ProgramIds>,
    pub(crate) groups: &'e AccessGroups,
    pub(crate) sites: &'e mut Sites,
    pub(crate) helpers: &'e Helpers,
    pub(crate) function: &'e mut FunctionContext,
    /// What each tool has found of the module.
    pub(crate) surveys: &'e FxHashMap<&'static str, Box<dyn State>>,
}

/// What the program sees in special registers, where a tool changes how kernels are launched.
pub(crate) trait ProgramIds: Debug {
    /// The tool, and which of its versions is made.
    fn tool(&self) -> (&'static str, usize);

    /// The register that stands for a special one; nothing to keep it.
    fn special(&self, at: &mut Cursor<'_, '_>, special: Special) -> Option<Reg>;
}

/// The functions that tools brought.
#[derive(Clone, Debug, Default)]
pub(crate) struct Helpers {
    functions: FxHashMap<String, FuncId>,
}

/// What tools have asked for while they rewrote a function.
#[derive(Debug, Default)]
pub(crate) struct FunctionContext {
    /// The first call of a helper that nobody brings: the tool, and the name that it calls.
    pub(crate) missing_helper: Option<(&'static str, String)>,
    /// Whether something was inserted that may call a helper.
    pub(crate) is_used: bool,
    /// The register with the address of the launch context, if somebody asked for it.
    pub(crate) address: Option<Reg>,
    /// Whether the function is a kernel, which has parameters and words of its own.
    pub(crate) is_kernel: bool,
    /// The function of the program that it is a copy of, or itself.
    pub(crate) original: Option<FuncId>,
    /// How many words of its own the kernel has.
    pub(crate) kernel_words: usize,
    /// What each tool keeps of the function.
    pub(crate) states: FxHashMap<&'static str, Box<dyn State>>,
    /// What was computed at the beginning.
    pub(crate) at_entry: EntryValues,
    /// The same for other tools, while one is called that comes last.
    pub(crate) at_entry_of_others: Option<EntryValues>,
}

/// What was computed where a function begins.
#[derive(Debug, Default)]
pub(crate) struct EntryValues {
    /// Values, by the instructions that compute them.
    values: FxHashMap<(String, Vec<Operand>), Reg>,
    /// After which statement the next one is computed.
    last: Option<StmtId>,
}

/// What a tool keeps of a function while it rewrites it, and its host half finds again when the kernel is launched.
pub trait State: Any + Debug + Send + Sync {}

impl<T: Any + Debug + Send + Sync> State for T {}

/// A word of the launch context that a kernel has for itself: its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct KernelWord(pub usize);

impl Helpers {
    /// Those of several tools.
    pub(crate) fn all<'a>(helpers: impl IntoIterator<Item = &'a Self>) -> Self {
        let functions = helpers.into_iter().flat_map(|helpers| helpers.functions.clone()).collect();
        Self { functions }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, FuncId)> {
        self.functions.iter().map(|(name, func)| (name.as_str(), *func))
    }

    pub(crate) fn insert(&mut self, name: &str, func: FuncId) {
        self.functions.insert(name.to_owned(), func);
    }

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

    /// Which of its versions the tool makes: see [`Instrumentation::versions`](crate::Instrumentation::versions).
    pub fn version(&self) -> usize {
        self.version
    }

    /// The instruction.
    pub fn statement(&self) -> StmtId {
        self.stmt
    }

    /// The function of the program, of which this may be a copy: statements and variables have the same ids.
    pub fn original(&self) -> FuncId {
        self.function.original.unwrap_or(self.editor.func())
    }

    /// What the tool has found of the module: see [`Instrumentation::survey`](crate::Instrumentation::survey).
    pub fn survey<S: State>(&self) -> Option<&'e S> {
        let survey: &dyn Any = &**self.surveys.get(self.tool)?;
        survey.downcast_ref()
    }

    /// Goes on to the next statement, if there is one: what is inserted before that is after the instruction.
    pub fn go_behind(&mut self) -> bool {
        let next = self.editor.body().next(self.stmt);
        next.into_iter().for_each(|next| self.stmt = next);
        next.is_some()
    }

    /// Inserts elsewhere in the function.
    pub fn elsewhere(&mut self, point: Point) -> Builder<'_, 'm> {
        self.editor.at(point, self.tag)
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
        self.add_site(access.stmt, access.index, variable, word)
    }

    /// A new site for the instruction, whatever it does, with a word.
    pub fn instruction_site(&mut self, word: u64) -> SiteId {
        self.add_site(self.stmt, 0, None, word)
    }

    fn add_site(&mut self, stmt: StmtId, index: usize, variable: Option<Symbol>, word: u64) -> SiteId {
        let func = self.editor.func();
        self.sites.add(Site { variable, func, stmt, index, guard: self.guard, tool: self.tool, word })
    }

    /// Counts how often an access is executed where a guard holds, at a site of its own.
    pub fn count(&mut self, access: &Access, guard: Option<Guard>) -> SiteId {
        let site = self.site(access);
        self.call(guard, "warpgrind_count", &[], &[i64::from(site.0).into()]);
        site
    }

    /// The guard of the instruction, perhaps one of a tool that was here before.
    pub fn guard(&self) -> Option<Guard> {
        self.editor.view(self.stmt).and_then(|view| view.inst.guard)
    }

    /// Whether the function is a kernel.
    pub fn is_kernel(&self) -> bool {
        self.function.is_kernel
    }

    /// The register with the address of the launch context.
    fn context(&mut self) -> Reg {
        *self.function.address.get_or_insert_with(|| self.editor.reg(self.tag, Type::B64))
    }

    /// A word of the launch context that the tool declares, loaded once when the function begins.
    pub fn word(&mut self, word: Word) -> Reg {
        let offset = self.layout.offset(self.tool, word).expect("a tool declares the words that it asks for");
        self.load_word(offset)
    }

    /// A new word of the kernel's own, which the host half of the tool sets for each launch, and the register that it is
    /// loaded into when the kernel begins. Nothing in functions, and if the kernel has too many.
    pub fn kernel_word(&mut self) -> Option<(KernelWord, Reg)> {
        let number = self.function.kernel_words;
        let offset = self.layout.kernel_words() as usize + 8 * number;
        if !self.function.is_kernel || offset + 8 > MOST_WORDS * 8 {
            return None;
        }
        self.function.kernel_words += 1;
        Some((KernelWord(number), self.load_word(offset as u32)))
    }

    fn load_word(&mut self, offset: u32) -> Reg {
        let address = Operand::RegAddress(self.context(), offset as i32);
        self.at_entry("ld.global.b64", Type::B64, &[address])
    }

    /// What is known of shared memory in a version that has [twice as much](crate::Instrumentation::doubles_shared), as a number
    /// of 64 bits, loaded once when the function begins.
    pub fn doubled_shared(&mut self, word: DoubledShared) -> Reg {
        self.load_word(word.offset())
    }

    /// A variable in shared memory that the device code of a tool declares.
    pub fn shared_variable(&mut self, name: &str) -> Symbol {
        shared_variable(self.editor.module(), name).unwrap_or_else(|| panic!("no device code declares `{name}`"))
    }

    /// The address of the tallies of the worker, computed once when the function begins. The tool says that it
    /// [has some](crate::Instrumentation::has_tallies).
    pub fn tallies(&mut self) -> Reg {
        let (first, bytes) = (self.load_word(TALLIES), self.load_word(TALLY_ROW));
        let worker = self.at_entry("mov.u32", Type::B32, &[Operand::Special(Special::Smid)]);
        let worker = self.at_entry("cvt.u64.u32", Type::B64, &[worker.into()]);
        self.at_entry("mad.lo.u64", Type::B64, &[worker.into(), bytes.into(), first.into()])
    }

    /// What the tool keeps of the function. That of a kernel is there for its launches:
    /// [`KernelVersion::state`](crate::KernelVersion::state).
    pub fn state<S: State + Default>(&mut self) -> &mut S {
        let state = self.function.states.entry(self.tool).or_insert_with(|| Box::new(S::default()));
        let state: &mut dyn Any = &mut **state;
        state.downcast_mut().expect("a tool keeps one kind of state")
    }

    /// The accesses through the same pointer that are executed with an access, and itself.
    pub fn access_group(&self, access: &Access) -> Option<&'e AccessGroup> {
        access.group.map(|id| self.groups.get(id))
    }

    /// Calls a helper, a function of [`Instrumentation::device_code`](crate::Instrumentation::device_code), where the guard holds. If nobody brings
    /// it, the module is not rewritten, and the error says so.
    pub fn call(&mut self, guard: Option<Guard>, helper: &str, results: &[Operand], arguments: &[Operand]) {
        if let Some(func) = self.helper(helper) {
            self.before().call(guard, func, results, arguments);
        }
    }

    /// Calls a helper after the instruction, in the same way.
    pub fn call_after(&mut self, guard: Option<Guard>, helper: &str, results: &[Operand], arguments: &[Operand]) {
        if let Some(func) = self.helper(helper) {
            self.after().call(guard, func, results, arguments);
        }
    }

    /// A helper that is about to be called, by [`Builder::call`]; nothing, and a note of it, if nobody brings it.
    pub fn helper(&mut self, name: &str) -> Option<FuncId> {
        let func = self.helpers.functions.get(name).copied();
        match func {
            Some(_) => self.function.is_used = true,
            None => _ = self.function.missing_helper.get_or_insert((self.tool, name.to_owned())),
        }
        func
    }

    /// A value that is computed once, when the function begins, by an instruction whose first operand it is.
    pub fn at_entry(&mut self, spelling: &str, ty: Type, operands: &[Operand]) -> Reg {
        let key = (spelling.to_owned(), operands.to_vec());
        if let Some(&reg) = self.function.at_entry.values.get(&key) {
            return reg;
        }
        let reg = self.reg(ty);
        let mut all = vec![reg.into()];
        all.extend_from_slice(operands);
        self.insert_at_entry(None, spelling, &all);
        self.function.at_entry.values.insert(key, reg);
        reg
    }

    /// Inserts an instruction where the function begins, after the values that were computed there until now.
    pub fn insert_at_entry(&mut self, guard: Option<Guard>, spelling: &str, operands: &[Operand]) {
        let mut builder = match self.function.at_entry.last {
            Some(last) => self.editor.after(last, self.tag),
            None => self.editor.at_entry(self.tag),
        };
        self.function.at_entry.last = Some(builder.inst_if(guard, spelling, operands));
    }

    /// Reads a special register here: what the program sees in it.
    pub fn special(&mut self, special: Special) -> Reg {
        if let Some(ids) = self.ids {
            let (tool, version) = ids.tool();
            let tag = self.editor.tag(tool, "ids", 0);
            let own = (self.tool, self.version, self.tag);
            (self.tool, self.version, self.tag) = (tool, version, tag);
            // What it computes where the function begins comes after what it has computed there before.
            let mut at_entry = self.function.at_entry_of_others.take();
            if let Some(of_others) = &mut at_entry {
                std::mem::swap(&mut self.function.at_entry, of_others);
            }
            let reg = ids.special(self, special);
            if let Some(of_others) = &mut at_entry {
                std::mem::swap(&mut self.function.at_entry, of_others);
            }
            self.function.at_entry_of_others = at_entry;
            (self.tool, self.version, self.tag) = own;
            if let Some(reg) = reg {
                return reg;
            }
        }
        let reg = self.reg(Type::B32);
        self.before().inst("mov.u32", &[reg.into(), Operand::Special(special)]);
        reg
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

    /// A number without a sign of 32 or 64 bits, in a register of 64.
    pub fn widened(&mut self, reg: Reg) -> Reg {
        self.extended(reg, "cvt.u64.u32")
    }

    /// An address of 32 or 64 bits, in a register of 64. One of 32 bits has a sign: in lanes that do not take part, it may be
    /// below the first address, and would wrap without.
    pub fn widened_address(&mut self, reg: Reg) -> Reg {
        self.extended(reg, "cvt.s64.s32")
    }

    /// A register of 64 bits as it is, and one of 32 bits converted.
    fn extended(&mut self, reg: Reg, conversion: &str) -> Reg {
        if self.editor.function().reg_type(reg).bits() == 64 {
            return reg;
        }
        let wide = self.reg(Type::B64);
        self.before().inst(conversion, &[wide.into(), reg.into()]);
        wide
    }

    /// A number without a sign of 32 or 64 bits, in 64 bits; it may be a constant.
    pub fn widened_operand(&mut self, operand: Operand) -> Operand {
        operand.as_reg().map_or(operand, |reg| self.widened(reg).into())
    }

    /// The address of an access, as one of generic memory, in a register of 64 bits.
    pub fn generic_address(&mut self, access: &Access) -> Reg {
        let address = self.address(access);
        let mut address = self.widened_address(address);
        if access.access.space == AccessSpace::State(Space::Shared) {
            let generic = self.reg(Type::B64);
            self.before().inst("cvta.shared.u64", &[generic.into(), address.into()]);
            address = generic;
        }
        address
    }

    /// What a store writes, in 64 bits, of which the lower ones count; nothing for vectors and constants of other kinds.
    pub fn stored_value(&mut self, access: &Access) -> Option<Operand> {
        let view = self.editor.view(access.stmt)?;
        if access.access.vector > 1 {
            return None;
        }
        let [_, stored] = view.operands() else { return None };
        let reg = match *stored {
            Operand::Int(number) => return Some(Operand::Int(number)),
            Operand::Reg(reg) => reg,
            _ => return None,
        };
        let ty = self.editor.function().reg_type(reg);
        let mut from = reg;
        if ty.kind() == TypeKind::Float {
            let (plain, spelling) = match ty.bits() {
                32 => (Type::B32, "mov.b32"),
                64 => (Type::B64, "mov.b64"),
                _ => return None,
            };
            from = self.reg(plain);
            self.before().inst(spelling, &[from.into(), reg.into()]);
        }
        let spelling = match ty.bits() {
            64 => return Some(from.into()),
            32 => "cvt.u64.u32",
            16 => "cvt.u64.u16",
            8 => "cvt.u64.u8",
            _ => return None,
        };
        let long = self.reg(Type::B64);
        self.before().inst(spelling, &[long.into(), from.into()]);
        Some(long.into())
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

    /// Where a generic address is one of a state space, and a guard holds: `isspacep.global` asks for the space.
    pub fn in_space(&mut self, spelling: &str, address: Reg, guard: Option<Guard>) -> Guard {
        let holds = self.reg(Type::Pred);
        self.before().inst(spelling, &[holds.into(), address.into()]);
        self.and_guard(holds, holds, guard);
        Guard::when(holds)
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
