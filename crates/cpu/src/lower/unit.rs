//! What the functions of one kernel share while they are lowered.

use ptx::analysis::{CallGraph, LaunchFacts};
use ptx::entity::{Id, Map};
use ptx::ir::{FuncId, Function, Global, Module, Operand, StmtId, Symbol};
use ptx::ops::Op;
use ptx::types::{Space, Type};

use super::analysis::Inputs;
use super::memory_map::MemoryMap;
use super::pragma::{COLD, SIDE, has_pragma};
use super::unsupported::Unsupported;
use crate::abi::calls::RuntimeFunction;
use crate::emit::Emit;
use crate::llvm::{self, Attribute, Builder, Context, FunctionValue, Ty, Value};
use crate::options::{Options, Width};

/// What the functions of one kernel share while they are lowered.
pub(crate) struct Unit<'a, 'c> {
    pub(crate) module: &'a Module,
    pub(crate) llvm: &'a llvm::Module<'c>,
    pub(crate) builder: &'a Builder<'c>,
    pub(crate) options: &'a Options,
    pub(crate) map: &'a MemoryMap,
    /// Bytes of local memory of a thread: from one lane's to the next.
    pub(crate) local_stride: u64,
    /// Bytes that the kernel and all functions that it may call take of it, each once.
    pub(crate) frames: u64,
    /// Bytes of the parameters of the kernel.
    pub(crate) params: u64,
    /// Who calls whom.
    pub(crate) graph: &'a CallGraph,
    /// The signatures of functions, made when they are first called.
    pub(crate) functions: Map<FuncId, Option<FunctionValue<'c>>>,
    /// Whether threads may end in a function that was called, or in what it calls.
    pub(crate) ends: Map<FuncId, Option<bool>>,
    /// Functions that were called and are still to be lowered.
    pub(crate) wanted: Vec<FuncId>,
    pub(crate) refused: Vec<Unsupported>,
}

/// The name of the memory in which all constants of the module are.
pub(crate) const CONSTANTS: &str = "constants";
/// The name of the kernel in the object file.
pub(crate) const ENTRY: &str = "kernel";

impl<'a, 'c> Unit<'a, 'c> {
    pub(crate) fn context(&self) -> &'c Context {
        self.llvm.context()
    }

    /// What the analyses of functions start from.
    pub(crate) fn inputs(&self) -> Inputs<'a> {
        Inputs { module: self.module, options: self.options, graph: self.graph, map: self.map }
    }

    pub(crate) fn width(&self) -> Width {
        self.options.width
    }

    pub(crate) fn facts(&self) -> &LaunchFacts {
        &self.options.facts
    }

    /// Emits scalars.
    pub(crate) fn scalar(&self) -> Emit<'a, 'c> {
        Emit { module: self.llvm, builder: self.builder, lanes: None }
    }

    /// Emits a value for each lane.
    pub(crate) fn vector(&self) -> Emit<'a, 'c> {
        let lanes = match self.width() {
            Width::Thread => None,
            Width::Warp => Some(32),
        };
        Emit { lanes, ..self.scalar() }
    }

    /// The function that a PTX function becomes: `mask f(context, mask, arguments, frame)`. It returns the lanes that
    /// have not ended.
    pub(crate) fn function(&mut self, func: FuncId) -> FunctionValue<'c> {
        if let Some(function) = self.functions[func] {
            return function;
        }
        let context = self.context();
        let mask = self.vector().bool();
        let params = [context.pointer(), mask, context.pointer(), context.int(64)];
        let function = self.llvm.function(&format!("f{}", func.index()), mask, &params);
        function.set_private();
        self.set_attributes(function);
        function.add_attribute(context, Attribute::NoInline);
        let body = self.definition(func).and_then(|func| self.module.functions[func].body.as_ref());
        if body.is_some_and(|body| [COLD, SIDE].iter().any(|pragma| has_pragma(self.module, body, pragma))) {
            // So LLVM saves registers where it is called, not before it is known whether it is.
            function.add_attribute(context, Attribute::Cold);
        }
        self.functions[func] = Some(function);
        self.wanted.push(func);
        function
    }

    /// The definition of a function that may only be declared here.
    pub(crate) fn definition(&self, func: FuncId) -> Option<FuncId> {
        let func = self.graph.resolve(func);
        self.module.functions[func].body.is_some().then_some(func)
    }

    /// Whether threads may end in a function, or in what it calls.
    pub(crate) fn may_end(&mut self, func: FuncId) -> bool {
        if let Some(known) = self.ends[func] {
            return known;
        }
        let has_exit = |func: FuncId| {
            self.module.functions[func].body.as_ref().is_some_and(|body| {
                let mut forms = body.insts().map(|(_, inst)| &self.module.forms[inst.form]);
                forms.any(|form| form.op() == Some(Op::Exit))
            })
        };
        let ends = self.graph.reachable_from(func).iter().any(has_exit);
        self.ends[func] = Some(ends);
        ends
    }

    /// The functions that an indirect call may call.
    pub(crate) fn indirect_targets(&self) -> Vec<FuncId> {
        let is_callable = |func: &FuncId| {
            let function = &self.module.functions[*func];
            function.body.is_some() && !function.is_entry()
        };
        self.graph.address_taken().filter(is_callable).collect()
    }

    /// What holds for all code that we make.
    pub(crate) fn set_attributes(&self, function: FunctionValue<'c>) {
        let context = self.context();
        function.add_attribute(context, Attribute::NoUnwind);
        function.add_attribute(context, Attribute::NullPointerIsValid);
        // Guard pages catch what runs out of its stack only if no page is stepped over.
        function.add_text_attribute(context, "probe-stack", "inline-asm");
        function.add_text_attribute(context, "warn-stack-size", "0");
        function.add_text_attribute(context, "prefer-vector-width", "512");
        function.add_text_attribute(context, "min-legal-vector-width", "512");
        function.add_text_attribute(context, "no-trapping-math", "true");
        // Recursion without end must use up the stack, not become a loop.
        function.add_text_attribute(context, "disable-tail-calls", "true");
    }

    /// A function of the runtime.
    pub(crate) fn runtime(&self, function: RuntimeFunction, result: Ty<'c>, params: &[Ty<'c>]) -> FunctionValue<'c> {
        let name = function.symbol();
        let exists = self.llvm.has_function(name);
        let function = self.llvm.function(name, result, params);
        if !exists {
            function.add_attribute(self.context(), Attribute::NoUnwind);
        }
        function
    }

    /// A field of a warp's context, of those that do not change while the warp runs.
    pub(crate) fn context_field(&self, warp: Value<'c>, offset: u64, ty: Ty<'c>) -> Value<'c> {
        let address = self.builder.offset(warp, self.context().int(64).constant(offset));
        self.builder.invariant_load(ty, address, ty.bits() / 8)
    }

    /// The address of a variable of the module, as a number.
    pub(crate) fn global_address(&self, global: Global) -> Value<'c> {
        let variable = &self.module.globals[global];
        match variable.space {
            Space::Shared => self.context().int(64).constant(self.map.shared_offset(global).unwrap_or(0)),
            _ => {
                let symbol = self.llvm.external(&format!("g{}", global.index()));
                self.builder.ptr_to_int(symbol, self.context().int(64))
            }
        }
    }

    /// Whether a name is that of a texture, sampler or surface.
    pub(crate) fn names_texture(&self, symbol: Symbol) -> bool {
        let Symbol::Global(global) = symbol else { return false };
        matches!(self.module.globals[global].ty, Type::Texref | Type::Samplerref | Type::Surfref)
    }

    /// The number that stands for the address of a function.
    pub(crate) fn function_address(&self, func: FuncId) -> Value<'c> {
        // A declaration stands for its definition.
        let func = self.graph.resolve(func);
        let base = self.llvm.external("code");
        let base = self.builder.ptr_to_int(base, self.context().int(64));
        self.builder.add(base, base.ty().constant(16 * func.index() as u64))
    }

    pub(crate) fn refuse(&mut self, function: &Function, statement: StmtId) {
        if let Some((line, instruction)) = self.cited(function, statement) {
            self.refused.push(Unsupported::Instruction { line, instruction });
        }
    }

    /// Refuses an instruction that cannot be confined.
    pub(crate) fn refuse_unconfined(&mut self, function: &Function, statement: StmtId) {
        if let Some((line, instruction)) = self.cited(function, statement) {
            self.refused.push(Unsupported::Unconfined { line, instruction });
        }
    }

    /// Refuses a call of a function that is not defined. Of the calls by which kernels launch kernels, the first says it all.
    pub(crate) fn refuse_call(&mut self, name: &str, line: u32) {
        let reason = Unsupported::call_of(name, line);
        let is_launch = |reason: &Unsupported| matches!(reason, Unsupported::DeviceLaunch { .. });
        if !(is_launch(&reason) && self.refused.iter().any(is_launch)) {
            self.refused.push(reason);
        }
    }

    /// The line of a statement, and its text.
    fn cited(&self, function: &Function, statement: StmtId) -> Option<(u32, String)> {
        let body = function.body.as_ref()?;
        let line = self.module.lines.line(body.position(statement));
        Some((line, ptx::print_stmt(self.module, function, body, statement).trim().to_owned()))
    }
}

/// The variable that an operand names, with an offset.
pub(crate) fn symbol_of(operand: &Operand) -> Option<(Symbol, i32)> {
    match *operand {
        Operand::Symbol(symbol, offset) | Operand::SymbolAddress(symbol, offset) | Operand::Element(symbol, offset) => {
            Some((symbol, offset))
        }
        _ => None,
    }
}
