//! Runs the few instructions that the random programs are made of, with one thread.

use std::collections::HashMap;

use ptx::entity::Id;
use ptx::ir::{FuncId, Function, Global, Guard, Label, Module, Operand, Param, Reg, Stmt, Symbol, Var};
use ptx::types::{Space, Type, TypeKind};
use ptx::view::{Callee, View};

/// The result of `main` for an input; nothing if it does not end.
pub(crate) fn run(module: &Module, input: u64) -> Option<u64> {
    let mut machine =
        Machine { module, memory: vec![0; 64], globals: HashMap::new(), statics: HashMap::new(), steps: 0 };
    for (global, variable) in module.globals.iter() {
        let address = machine.allocate(variable.size().expect("sizes are known"));
        machine.globals.insert(global, address);
    }
    let main = module.function("main").expect("there is a main function");
    let results = machine.call(main, vec![input.to_le_bytes().to_vec()])?;
    Some(u64::from_le_bytes(results[0][..8].try_into().expect("the result has 8 bytes")))
}

struct Machine<'m> {
    module: &'m Module,
    memory: Vec<u8>,
    globals: HashMap<Global, usize>,
    /// Variables of functions that exist once.
    statics: HashMap<(FuncId, Var), usize>,
    steps: usize,
}

struct Frame<'m> {
    function: &'m Function,
    regs: Vec<u64>,
    vars: HashMap<Var, usize>,
}

impl<'m> Machine<'m> {
    fn allocate(&mut self, bytes: u64) -> usize {
        let address = self.memory.len().next_multiple_of(16);
        self.memory.resize(address + bytes as usize, 0);
        address
    }

    fn call(&mut self, func: FuncId, arguments: Vec<Vec<u8>>) -> Option<Vec<Vec<u8>>> {
        let func = self.module.definition_of(func).expect("all functions have bodies");
        let function = &self.module.functions[func];
        let mut frame = Frame { function, regs: vec![0; function.regs.len()], vars: HashMap::new() };
        for (var, variable) in function.vars.iter() {
            let known = self.statics.get(&(func, var)).copied();
            let address = known.unwrap_or_else(|| self.allocate(variable.size().expect("sizes are known")));
            if variable.space == Space::Shared {
                self.statics.insert((func, var), address);
            }
            frame.vars.insert(var, address);
        }
        for (&param, argument) in function.params.iter().zip(&arguments) {
            match param {
                Param::Var(var) => self.memory[frame.vars[&var]..][..argument.len()].copy_from_slice(argument),
                Param::Reg(group) => {
                    let found = function.regs.iter().find(|(_, info)| info.group == group);
                    if let Some((reg, _)) = found {
                        frame.regs[reg.index()] = number(argument);
                    }
                }
            }
        }
        self.execute(&mut frame)?;
        let result = |param: &Param| match *param {
            Param::Var(var) => {
                let size = function.vars[var].size().expect("sizes are known") as usize;
                self.memory[frame.vars[&var]..][..size].to_vec()
            }
            Param::Reg(group) => {
                let found = function.regs.iter().find(|(_, info)| info.group == group);
                found.map_or(0, |(reg, _)| frame.regs[reg.index()]).to_le_bytes().to_vec()
            }
        };
        Some(function.returns.iter().map(result).collect())
    }

    fn execute(&mut self, frame: &mut Frame<'m>) -> Option<()> {
        let body = frame.function.body.as_ref().expect("all functions have bodies");
        let labels: HashMap<Label, _> = body
            .iter()
            .filter_map(|id| match body.stmt(id) {
                Stmt::Label(label) => Some((*label, id)),
                _ => None,
            })
            .collect();
        let mut next = body.first();
        while let Some(id) = next {
            self.steps += 1;
            if self.steps > 20_000 {
                return None;
            }
            next = body.next(id);
            let Some(view) = View::of(&self.module.forms, body, id) else { continue };
            if let Some(Guard { reg, negated }) = view.inst.guard
                && (frame.regs[reg.index()] != 0) == negated
            {
                continue;
            }
            match view.form.spelling().split('.').next().expect("there is an opcode") {
                "ret" => return Some(()),
                "bra" => next = Some(labels[&view.branch_target().expect("branches go to labels")]),
                "call" => self.call_from(frame, &view)?,
                _ => self.compute(frame, &view),
            }
        }
        Some(())
    }

    fn call_from(&mut self, frame: &mut Frame<'m>, view: &View<'_>) -> Option<()> {
        let Some(Callee::Direct(func)) = view.callee() else { panic!("calls are direct") };
        let (mut results, mut arguments): (&[Operand], &[Operand]) = (&[], &[]);
        for (index, operand) in view.operands().iter().enumerate() {
            if let Operand::Arguments(list) = operand {
                *(if index == 0 { &mut results } else { &mut arguments }) = view.body.operands(*list);
            }
        }
        let values = arguments.iter().map(|&argument| match argument {
            Operand::Symbol(Symbol::Var(var), 0) => {
                let size = frame.function.vars[var].size().expect("sizes are known") as usize;
                self.memory[frame.vars[&var]..][..size].to_vec()
            }
            Operand::Reg(reg) => {
                let bytes = frame.function.reg_type(reg).bytes() as usize;
                frame.regs[reg.index()].to_le_bytes()[..bytes].to_vec()
            }
            // As many bytes as the parameter has.
            operand => {
                let value = operand.as_int().expect("arguments are variables, registers or numbers");
                value.to_le_bytes()[..4].to_vec()
            }
        });
        let values = values.collect();
        let given = self.call(func, values)?;
        for (&result, bytes) in results.iter().zip(given) {
            match result {
                Operand::Symbol(Symbol::Var(var), 0) => {
                    self.memory[frame.vars[&var]..][..bytes.len()].copy_from_slice(&bytes);
                }
                Operand::Reg(reg) => frame.set(reg, number(&bytes)),
                _ => {}
            }
        }
        Some(())
    }

    fn compute(&mut self, frame: &mut Frame<'m>, view: &View<'_>) {
        let words: Vec<&str> = view.form.spelling().split('.').collect();
        let ty = *view.form.types().last().expect("instructions have types");
        let operands = view.operands();
        let value = |operand: Operand| self.value(frame, operand);
        match words[0] {
            "ld" => {
                let address = self.address(frame, operands[1]);
                for (index, element) in elements(view, operands[0]).iter().enumerate() {
                    let bytes = ty.bytes() as usize;
                    let loaded = extend(number(&self.memory[address + index * bytes..][..bytes]), ty);
                    if let Operand::Reg(reg) = *element {
                        frame.set(reg, loaded);
                    }
                }
            }
            "st" => {
                let address = self.address(frame, operands[0]);
                for (index, element) in elements(view, operands[1]).iter().enumerate() {
                    let bytes = ty.bytes() as usize;
                    let stored = self.value(frame, *element).to_le_bytes();
                    self.memory[address + index * bytes..][..bytes].copy_from_slice(&stored[..bytes]);
                }
            }
            opcode => {
                let Operand::Reg(target) = operands[0] else { panic!("results are registers") };
                let mut sources = operands[1..].iter().map(|&operand| value(operand));
                let mut next = || sources.next().expect("there are enough operands");
                let computed = match opcode {
                    "mov" => next(),
                    "cvt" => extend(next(), ty),
                    "add" => next().wrapping_add(next()),
                    "sub" => next().wrapping_sub(next()),
                    "mul" => next().wrapping_mul(next()),
                    "xor" => next() ^ next(),
                    "and" => next() & next(),
                    "setp" => {
                        let (a, b) = (next(), next());
                        u64::from(match words[1] {
                            "eq" => a == b,
                            "lt" => a < b,
                            other => panic!("unknown comparison {other}"),
                        })
                    }
                    other => panic!("unknown instruction {other}"),
                };
                frame.set(target, computed);
            }
        }
    }

    fn address(&self, frame: &Frame<'_>, operand: Operand) -> usize {
        match operand {
            Operand::RegAddress(reg, offset) => frame.regs[reg.index()].wrapping_add_signed(offset.into()) as usize,
            Operand::SymbolAddress(symbol, offset) => self.symbol(frame, symbol).wrapping_add_signed(offset as isize),
            other => panic!("unknown address {other:?}"),
        }
    }

    fn symbol(&self, frame: &Frame<'_>, symbol: Symbol) -> usize {
        match symbol {
            Symbol::Var(var) => frame.vars[&var],
            Symbol::Global(global) => self.globals[&global],
            other => panic!("{other:?} has no address"),
        }
    }

    fn value(&self, frame: &Frame<'_>, operand: Operand) -> u64 {
        match operand {
            Operand::Reg(reg) => frame.regs[reg.index()],
            Operand::Symbol(symbol, offset) => self.symbol(frame, symbol).wrapping_add_signed(offset as isize) as u64,
            operand => operand.as_int().expect("operands are registers, addresses or numbers") as u64,
        }
    }
}

impl Frame<'_> {
    fn set(&mut self, reg: Reg, value: u64) {
        let bits = self.function.reg_type(reg).bits();
        self.regs[reg.index()] = if bits == 64 { value } else { value & ((1 << bits) - 1) };
    }
}

fn elements<'a>(view: &View<'a>, operand: Operand) -> Vec<Operand> {
    match operand {
        Operand::Vector(list) => view.body.operands(list).to_vec(),
        operand => vec![operand],
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// The value of a type, extended to 64 bits.
fn extend(value: u64, ty: Type) -> u64 {
    let shift = 64 - ty.bits();
    match ty.kind() {
        TypeKind::Signed => ((value << shift) as i64 >> shift) as u64,
        _ => value << shift >> shift,
    }
}
