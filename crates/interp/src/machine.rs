//! The machine: memory that lives as long as a module, and launches of its kernels.

use std::rc::Rc;

use ptx::ir::{FuncId, InitValue, Module, Symbol, Variable};
use ptx::types::{Linkage, Space};
use rustc_hash::FxHashMap;

use crate::decode::{self, Addresses, Program, function_address};
use crate::exec::{self, Grid};
use crate::fault::{LaunchError, Refusal};
use crate::launch::{Config, Launch, Outcome};
use crate::memory::{AccessError, Memory};
use crate::thread_access::ThreadAccess;

/// A module that can be run, with its memory.
#[derive(Debug)]
pub struct Machine<'m> {
    module: &'m Module,
    config: Config,
    memory: Memory,
    addresses: Addresses,
    programs: FxHashMap<FuncId, Rc<Program>>,
    launches: u64,
    accesses: Vec<ThreadAccess>,
}

impl<'m> Machine<'m> {
    /// A machine for a module: its global and constant variables are laid out and initialised.
    pub fn new(module: &'m Module, config: Config) -> Result<Self, Refusal> {
        if module.address_size == Some(32) {
            return Err(Refusal {
                line: 0,
                what: ".address_size 32".to_owned(),
                reason: "is not supported by the interpreter".to_owned(),
            });
        }
        let mut machine = Self {
            module,
            config,
            memory: Memory::new(),
            addresses: Addresses::default(),
            programs: FxHashMap::default(),
            launches: 0,
            accesses: Vec::new(),
        };
        machine.lay_out()?;
        machine.initialise()?;
        Ok(machine)
    }

    /// New global memory, filled with zeros.
    pub fn allocate(&mut self, bytes: u64, align: u64) -> u64 {
        self.memory.allocate(false, bytes, align)
    }

    /// Ends an allocation; says whether there was one.
    pub fn free(&mut self, address: u64) -> bool {
        self.memory.free(address).is_some()
    }

    /// Writes memory.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), AccessError> {
        self.memory.bytes_mut(address, bytes.len() as u64)?.copy_from_slice(bytes);
        Ok(())
    }

    /// Reads memory.
    pub fn read(&self, address: u64, len: u64) -> Result<&[u8], AccessError> {
        self.memory.bytes(address, len)
    }

    /// Address and size of a global or constant variable.
    pub fn symbol(&self, name: &str) -> Option<(u64, u64)> {
        let name = self.module.names.find(name)?;
        let (id, variable) = self
            .module
            .globals
            .iter()
            .find(|(id, variable)| variable.name == name && self.addresses.globals.contains_key(id))?;
        Some((self.addresses.globals[&id], variable.size().unwrap_or(0)))
    }

    /// Whether a kernel can be launched: decodes it with all that it may call.
    pub fn check(&mut self, kernel: &str) -> Result<(), LaunchError> {
        self.program(kernel).map(|_| ())
    }

    /// Runs a kernel to its end.
    pub fn launch(&mut self, launch: &Launch<'_>) -> Result<Outcome, LaunchError> {
        let program = self.program(launch.kernel)?;
        let refuse = |reason: String| LaunchError::Configuration { kernel: launch.kernel.to_owned(), reason };
        let threads = launch.block.iter().try_fold(1_u32, |product, &extent| product.checked_mul(extent));
        match threads {
            Some(1..=1024) => {}
            _ => return Err(refuse(format!("a block of {:?} threads", launch.block))),
        }
        if launch.grid.contains(&0) {
            return Err(refuse(format!("a grid of {:?} blocks", launch.grid)));
        }
        if launch.params.len() < program.param_bytes as usize {
            let (given, wanted) = (launch.params.len(), program.param_bytes);
            return Err(refuse(format!("{given} bytes of parameters are given, {wanted} are needed")));
        }
        if launch.dynamic_shared > 1 << 20 {
            return Err(refuse(format!("{} bytes of dynamic shared memory", launch.dynamic_shared)));
        }
        let grid = Grid {
            program: &program,
            kernel: launch.kernel,
            grid: launch.grid,
            block: launch.block,
            dynamic_shared: launch.dynamic_shared,
            params: launch.params,
            config: &self.config,
        };
        self.launches += 1;
        let seed = self.config.seed.wrapping_add(self.launches);
        exec::run(&grid, self.module, &mut self.memory, &mut self.accesses, seed)
    }

    /// What threads accessed in launches since this was asked last, also in those that did not end well. Empty unless
    /// [`Config::lists_accesses`] says so.
    pub fn take_accesses(&mut self) -> Vec<ThreadAccess> {
        std::mem::take(&mut self.accesses)
    }

    fn program(&mut self, kernel: &str) -> Result<Rc<Program>, LaunchError> {
        let missing = || LaunchError::NoSuchKernel(kernel.to_owned());
        let id = self.module.function(kernel).ok_or_else(missing)?;
        let function = &self.module.functions[id];
        if !function.is_entry() || function.body.is_none() {
            return Err(missing());
        }
        if let Some(program) = self.programs.get(&id) {
            return Ok(Rc::clone(program));
        }
        let program = Rc::new(decode::program(self.module, &self.addresses, id)?);
        self.programs.insert(id, Rc::clone(&program));
        Ok(program)
    }

    fn lay_out(&mut self) -> Result<(), Refusal> {
        let module = self.module;
        // A definition in this module serves declarations of the same name.
        let mut defined = FxHashMap::default();
        for (id, variable) in module.globals.iter().filter(|(_, variable)| has_address(variable)) {
            if variable.linkage == Some(Linkage::Extern) {
                continue;
            }
            let address = self.place(variable)?;
            self.addresses.globals.insert(id, address);
            defined.insert(variable.name, address);
        }
        for (id, variable) in module.globals.iter().filter(|(_, variable)| has_address(variable)) {
            if variable.linkage == Some(Linkage::Extern) {
                let address = *defined
                    .get(&variable.name)
                    .ok_or_else(|| Refusal::variable(module, variable, "defined in another module"))?;
                self.addresses.globals.insert(id, address);
            }
        }
        for (id, function) in module.functions.iter() {
            for (var, variable) in function.vars.iter().filter(|(_, variable)| has_address(variable)) {
                let address = self.place(variable)?;
                self.addresses.function_globals.insert((id, var), address);
            }
        }
        Ok(())
    }

    fn place(&mut self, variable: &Variable) -> Result<u64, Refusal> {
        let size = variable.size().filter(|&size| size <= 1 << 31);
        let size = size.ok_or_else(|| Refusal::variable(self.module, variable, "a variable of an impossible size"))?;
        Ok(self.memory.allocate(variable.space == Space::Const, size, variable.alignment().into()))
    }

    fn initialise(&mut self) -> Result<(), Refusal> {
        let module = self.module;
        for (id, variable) in module.globals.iter() {
            if let Some(&address) = self.addresses.globals.get(&id) {
                self.initialise_variable(variable, address, None)?;
            }
        }
        for (id, function) in module.functions.iter() {
            for (var, variable) in function.vars.iter() {
                if let Some(&address) = self.addresses.function_globals.get(&(id, var)) {
                    self.initialise_variable(variable, address, Some(id))?;
                }
            }
        }
        Ok(())
    }

    /// Writes the initial value: elements in order, a list that ends early leaves zeros up to the end of its row.
    fn initialise_variable(
        &mut self,
        variable: &Variable,
        address: u64,
        function: Option<FuncId>,
    ) -> Result<(), Refusal> {
        let Some(init) = &variable.init else {
            return Ok(());
        };
        let size = variable.ty.bytes();
        // Bytes of a list at each depth: of the whole, of a row, of a vector.
        let mut extents: Vec<u64> = vec![variable.size().unwrap_or(0)];
        for dimension in variable.dimensions.iter().take(variable.dimensions.len().saturating_sub(1)).enumerate() {
            let outer = match dimension.1 {
                Some(len) => *len,
                None => {
                    extents[0] / (variable.dimensions[1..].iter().flatten().product::<u64>() * u64::from(size)).max(1)
                }
            };
            extents.push(extents[dimension.0] / outer.max(1));
        }
        let mut offset = 0_u64;
        let mut ends: Vec<u64> = Vec::new();
        for value in &init.values {
            let bytes: u64 = match *value {
                InitValue::Open => {
                    let extent =
                        extents.get(ends.len()).copied().unwrap_or(u64::from(size) * u64::from(variable.vector));
                    ends.push(offset + extent);
                    continue;
                }
                InitValue::Close => {
                    offset = ends.pop().unwrap_or(offset);
                    continue;
                }
                InitValue::Int(value) => value as u64,
                InitValue::F32(bits) if size == 8 => f64::from(f32::from_bits(bits)).to_bits(),
                InitValue::F32(bits) => bits.into(),
                InitValue::F64(bits) if size == 4 => u64::from((f64::from_bits(bits) as f32).to_bits()),
                InitValue::F64(bits) => bits,
                InitValue::Address { symbol, offset, generic: _, byte } => {
                    let base = self.symbol_address(symbol, function).ok_or_else(|| {
                        Refusal::variable(self.module, variable, "initialised with an address that is not known")
                    })?;
                    let address = base.wrapping_add_signed(offset.into());
                    byte.map_or(address, |byte| address >> (8 * u32::from(byte)) & 0xff)
                }
                InitValue::Field(..) => {
                    return Err(Refusal::variable(self.module, variable, "a sampler, which is not supported"));
                }
            };
            let target = self.memory.bytes_mut(address + offset, size.into());
            let target = target.map_err(|_| Refusal::variable(self.module, variable, "initialised past its end"))?;
            target.copy_from_slice(&u128::from(bytes).to_le_bytes()[..size as usize]);
            offset += u64::from(size);
        }
        Ok(())
    }

    /// The address of a symbol in an initial value. That of a global or constant variable is generic by itself.
    fn symbol_address(&self, symbol: Symbol, function: Option<FuncId>) -> Option<u64> {
        match symbol {
            Symbol::Global(global) => self.addresses.globals.get(&global).copied(),
            Symbol::Var(var) => self.addresses.function_globals.get(&(function?, var)).copied(),
            Symbol::Func(func) => {
                let name = self.module.text(self.module.functions[func].name);
                self.module.function(name).map(function_address)
            }
            Symbol::Label(_) | Symbol::Undeclared(_) => None,
        }
    }
}

/// Whether a variable lives in the machine, and not in a block or thread.
fn has_address(variable: &Variable) -> bool {
    matches!(variable.space, Space::Global | Space::Const)
        && !matches!(variable.ty.kind(), ptx::types::TypeKind::Opaque)
}
