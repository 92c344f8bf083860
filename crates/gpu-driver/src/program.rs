//! Modules on a GPU: variables in the arena, and kernels that the driver compiles.
//!
//! Unsafe: it calls the driver. Launches promise what their callers promise.
#![allow(unsafe_code, reason = "it calls C")]

use std::ffi::{CString, c_void};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use device::{
    Blocks, Fault, FaultKind, Heap, KernelFacts, LaunchError, LaunchRequest, Launched, LoadError, Memory, Order,
    RemoteError, RemoteMemory,
};
use ptx::analysis::LaunchFacts;
use ptx::diagnostic::printable;
use ptx::entity::{Id, Map};
use ptx::ir::{FuncId, Global, InitValue, Module, Symbol};
use ptx::types::{Linkage, Type};
use rustc_hash::FxHashMap;

use crate::abi::{self, LaunchAttribute, LaunchConfig, function};
use crate::driver::Context;
use crate::functions::{Functions, Handle};
use crate::memory::GpuMemory;
use crate::placed::{self, Addresses, Reached};

/// A module on a GPU.
#[derive(Debug)]
pub(crate) struct GpuProgram {
    context: Arc<Context>,
    module: Module,
    variables: Arc<Variables>,
    /// Kernels that the driver has compiled, or why it has not.
    kernels: Mutex<FxHashMap<FuncId, Result<Arc<Kernel>, LaunchError>>>,
    /// How many functions the module has that this one is a part of; what comes after them tools have made.
    of_program: Option<usize>,
}

/// Where the variables of a module are.
#[derive(Debug)]
struct Variables {
    memory: Arc<GpuMemory>,
    addresses: Map<Global, Option<u64>>,
    /// The module whose variables the first ones are.
    shared: Option<Arc<Variables>>,
}

/// A kernel that the driver has compiled.
#[derive(Debug)]
struct Kernel {
    context: Arc<Context>,
    module: Handle,
    function: Handle,
    max_threads: u32,
    registers: u32,
    shared: u32,
    local: u32,
    /// Bytes of its parameters.
    params: usize,
    /// Whether it prints.
    prints: bool,
    /// The most dynamic shared memory that the driver was told of.
    dynamic_shared: AtomicU32,
    /// If its blocks meet in memory of ours.
    meeting: Option<Meeting>,
}

/// Where a kernel reads where the blocks of a cooperative launch meet. The driver has memory for that, too, which tools do not
/// know.
#[derive(Debug)]
struct Meeting {
    memory: Arc<GpuMemory>,
    address: u64,
    /// Launches of the kernel take turns, since they read it at the same place.
    turn: Mutex<()>,
}

/// Bytes in which the blocks of a cooperative launch meet: the device code of cooperative groups has a barrier in it, after a
/// word with its size.
const MEETING: usize = 64;

// SAFETY: handles of the driver may be used in any thread.
unsafe impl Send for Kernel {}
// SAFETY: as above.
unsafe impl Sync for Kernel {}

/// Bytes of what the driver's assembler may say of a kernel.
const LOG: usize = 8 << 10;

impl GpuProgram {
    pub(crate) fn load(context: &Arc<Context>, memory: &Arc<GpuMemory>, module: Module) -> Result<Self, LoadError> {
        let variables = Variables::new(memory, &module, None)?;
        Self::new(context, module, variables, None)
    }

    fn new(
        context: &Arc<Context>,
        module: Module,
        variables: Variables,
        of_program: Option<usize>,
    ) -> Result<Self, LoadError> {
        let (context, variables) = (Arc::clone(context), Arc::new(variables));
        let program = Self { context, module, variables, kernels: Mutex::default(), of_program };
        let refused = |error| LoadError::Unsupported(format!("its variables do not get their initial values: {error}"));
        program.write_variables().map_err(refused)?;
        Ok(program)
    }

    /// Gives all variables their initial values.
    fn write_variables(&self) -> Result<(), RemoteError> {
        let address_of = |symbol| match symbol {
            Symbol::Global(global) => self.variables.addresses[global].unwrap_or(0),
            _ => 0,
        };
        for (global, variable) in self.module.globals.iter() {
            if let (Some(address), Some(size)) = (self.variables.own(global), variable.size()) {
                let values = variable.init.as_ref().map_or(&[][..], |init| &init.values);
                let mut bytes = device::initial_bytes(values, variable, address_of);
                bytes.resize(size as usize, 0);
                // SAFETY: from a slice to a variable of that size.
                unsafe { self.variables.memory.copy(bytes.as_ptr() as u64, address, size) }?;
            }
        }
        Ok(())
    }

    fn find(&self, name: &str) -> Result<FuncId, LaunchError> {
        let is_kernel = |&func: &FuncId| {
            let function = &self.module.functions[func];
            function.is_entry() && function.body.is_some()
        };
        self.module.function(name).filter(is_kernel).ok_or_else(|| LaunchError::NoKernel(name.to_owned()))
    }

    fn kernel(&self, name: &str) -> Result<Arc<Kernel>, LaunchError> {
        let func = self.find(name)?;
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        kernels.entry(func).or_insert_with(|| self.compile_kernel(func).map(Arc::new)).clone()
    }

    fn compile_kernel(&self, func: FuncId) -> Result<Kernel, LaunchError> {
        let reached = Reached::of(&self.module, func);
        let is_of_tools = self.of_program.is_some_and(|functions| func.index() >= functions);
        if is_of_tools && reached.calls(&self.module, &["malloc", "free"]) {
            return Err(LaunchError::Unsupported(
                "it allocates memory on the device, which tools do not see on a GPU".to_owned(),
            ));
        }
        self.check_code_pointers(func, &reached, is_of_tools).map_err(LaunchError::Unsupported)?;
        let meets = is_of_tools && reached.meets(&self.module);
        let meeting = meets.then(|| Meeting::new(&self.variables.memory)).transpose()?;
        let addresses = Addresses {
            variables: &self.variables.addresses,
            meeting: meeting.as_ref().map(|meeting| meeting.address),
        };
        let text = placed::text(&self.module, func, &reached, addresses).map_err(LaunchError::Unsupported)?;
        if is_of_tools && text.contains("%envreg") {
            return Err(LaunchError::Unsupported(
                "it has a register `%envreg` that only the driver knows, and it may hold an address".to_owned(),
            ));
        }
        let function = &self.module.functions[func];
        let name = self.module.text(function.name);
        let mut kernel = Kernel {
            context: Arc::clone(&self.context),
            module: self.assemble(&text)?,
            function: std::ptr::null_mut(),
            max_threads: 0,
            registers: 0,
            shared: 0,
            local: 0,
            params: device::param_layout(function).last().map_or(0, |&(start, bytes)| (start + bytes) as usize),
            prints: reached.calls(&self.module, &["vprintf"]),
            dynamic_shared: AtomicU32::new(0),
            meeting,
        };
        let c_name = CString::new(name).map_err(|error| LaunchError::Internal(error.to_string()))?;
        // SAFETY: the module is the driver's, the name ends with zero, and there is room for the answer.
        let found = self
            .context
            .call(|f| unsafe { (f.cuModuleGetFunction)(&mut kernel.function, kernel.module, c_name.as_ptr()) });
        found.map_err(failed)?;
        let ask = |attribute| {
            let mut value = 0;
            // SAFETY: the function is the driver's, and there is room for the answer.
            let asked =
                self.context.call(|f| unsafe { (f.cuFuncGetAttribute)(&mut value, attribute, kernel.function) });
            asked.map(|()| value.max(0) as u32).map_err(failed)
        };
        kernel.max_threads = ask(function::MAX_THREADS)?;
        kernel.registers = ask(function::REGISTERS)?;
        kernel.shared = ask(function::SHARED)?;
        kernel.local = ask(function::LOCAL)?;
        Ok(kernel)
    }

    /// Each kernel is a module of the driver, so the address of a function is good in launches of one kernel alone.
    fn check_code_pointers(&self, func: FuncId, reached: &Reached, is_of_tools: bool) -> Result<(), String> {
        let (takes, calls) = reached.code_pointers(&self.module);
        if !calls {
            return Ok(());
        }
        let takes_too = |other: FuncId| {
            let is_kernel = self.module.functions[other].is_entry() && self.module.functions[other].body.is_some();
            other != func && is_kernel && Reached::of(&self.module, other).code_pointers(&self.module).0
        };
        if is_of_tools || !takes || self.module.functions.ids().any(takes_too) {
            return Err("it calls functions by addresses that other kernels may have made, which are not the same on \
                        the GPU device"
                .to_owned());
        }
        Ok(())
    }

    /// Has the driver compile a text.
    fn assemble(&self, text: &str) -> Result<Handle, LaunchError> {
        let text = CString::new(text).map_err(|error| LaunchError::Internal(error.to_string()))?;
        let mut module = std::ptr::null_mut();
        let mut log = vec![0_u8; LOG];
        let options = [abi::jit::ERROR_LOG, abi::jit::ERROR_LOG_BYTES];
        let values = [log.as_mut_ptr().cast::<c_void>(), LOG as *mut c_void];
        // SAFETY: the text ends with zero, the log is as long as it says, and there is room for the answer.
        let loaded = self.context.call(|f| unsafe {
            (f.cuModuleLoadDataEx)(&mut module, text.as_ptr().cast(), 2, options.as_ptr(), values.as_ptr())
        });
        loaded.map(|()| module).map_err(|error| {
            if !abi::result::OF_PTX.contains(&error.code) {
                return failed(error);
            }
            let end = log.iter().position(|&byte| byte == 0).unwrap_or(LOG);
            let said = String::from_utf8_lossy(&log[..end]);
            let first = said.lines().find(|line| !line.trim().is_empty());
            let why = first.map_or_else(String::new, |line| format!(": {}", printable(line.trim())));
            LaunchError::Unsupported(format!("the driver does not take its PTX, {error}{why}"))
        })
    }

    /// What a GPU cannot be asked for.
    fn refused(request: &LaunchRequest<'_>) -> Option<&'static str> {
        if request.blocks != Blocks::All {
            Some("a part of the blocks of a grid")
        } else if request.order != Order::Free {
            Some("blocks in an order")
        } else if request.budget.is_some() {
            Some("a budget of instructions")
        } else if request.is_confined {
            Some("launches that are confined to the memory of the device")
        } else if request.observer.is_some() {
            Some("observers of a launch")
        } else {
            None
        }
    }

    fn check(&self, request: &LaunchRequest<'_>) -> Result<Arc<Kernel>, LaunchError> {
        if let Some(what) = Self::refused(request) {
            return Err(LaunchError::Unsupported(format!("the GPU device does not have {what}")));
        }
        let kernel = self.kernel(request.kernel)?;
        let threads = request.block.iter().map(|&size| u64::from(size)).product::<u64>();
        if threads > kernel.max_threads.into() {
            return Err(LaunchError::Unsupported(format!(
                "with {} registers a thread, the GPU runs blocks of at most {} threads of it, and this one has {threads}",
                kernel.registers, kernel.max_threads
            )));
        }
        if request.output.is_some() && kernel.prints {
            return Err(LaunchError::Unsupported("it prints, and what a GPU prints cannot be taken back".to_owned()));
        }
        Ok(kernel)
    }
}

impl device::Program for GpuProgram {
    fn module(&self) -> &Module {
        &self.module
    }

    fn load_part(&self, module: Module) -> Result<Arc<dyn device::Program>, LoadError> {
        let functions = self.module.functions.len();
        let variables = Variables::new(&self.variables.memory, &module, Some(&self.variables))?;
        Ok(Arc::new(Self::new(&self.context, module, variables, Some(functions))?))
    }

    fn variables(&self) -> Vec<(&str, u64, u64)> {
        let known = |(global, variable): (Global, &ptx::ir::Variable)| {
            Some((self.module.text(variable.name), self.variables.addresses[global]?, variable.size()?))
        };
        self.module.globals.iter().filter_map(known).collect()
    }

    fn variable(&self, name: &str) -> Option<(u64, u64)> {
        self.variables().into_iter().find(|(other, ..)| *other == name).map(|(_, address, bytes)| (address, bytes))
    }

    fn reset_variables(&self) {
        // What cannot write them cannot launch what reads them, either: such errors of a driver stay.
        let _ = self.write_variables();
    }

    fn kernel_facts(&self, kernel: &str) -> Option<KernelFacts> {
        let function = &self.module.functions[self.find(kernel).ok()?];
        // What the driver does not take is said when it is launched.
        let compiled = self.kernel(kernel).ok();
        Some(KernelFacts {
            params: device::param_layout(function),
            shared: compiled.as_ref().map_or(0, |kernel| kernel.shared.into()),
            local: compiled.as_ref().map_or(0, |kernel| kernel.local.into()),
            launch: LaunchFacts::of(&self.module.names, function),
        })
    }

    fn compile(&self, request: &LaunchRequest<'_>) -> Result<(), LaunchError> {
        self.check(request).map(drop)
    }

    unsafe fn launch(&self, request: &LaunchRequest<'_>) -> Result<Launched, LaunchError> {
        // SAFETY: the caller promises the same.
        match unsafe { self.launch_after_others(request) } {
            // Who waits for the others learns what was wrong with them.
            Err(_) if request.may_run_on && self.context.has_failed() => Ok(Launched::RUNS_ON),
            launched => launched,
        }
    }
}

impl GpuProgram {
    /// Launches a kernel, which the driver may refuse because an earlier launch went wrong.
    ///
    /// # Safety
    /// As of [`launch`](device::Program::launch).
    unsafe fn launch_after_others(&self, request: &LaunchRequest<'_>) -> Result<Launched, LaunchError> {
        let kernel = self.check(request)?;
        let invalid = |error: RemoteError| LaunchError::Invalid(error.to_string());
        if request.dynamic_shared > kernel.dynamic_shared.load(Ordering::Relaxed) {
            let bytes = request.dynamic_shared as i32;
            // SAFETY: the function is the driver's.
            let allowed = self
                .context
                .call(|f| unsafe { (f.cuFuncSetAttribute)(kernel.function, function::MAX_DYNAMIC_SHARED, bytes) });
            allowed.map_err(invalid)?;
            kernel.dynamic_shared.fetch_max(request.dynamic_shared, Ordering::Relaxed);
        }
        let mut params = request.params.to_vec();
        params.resize(params.len().max(kernel.params), 0);
        let mut bytes = params.len();
        let pointer = |address: usize| address as *mut c_void;
        let extra = [
            pointer(abi::PARAMS[0]),
            params.as_mut_ptr().cast(),
            pointer(abi::PARAMS[1]),
            (&raw mut bytes).cast(),
            pointer(abi::PARAMS[2]),
        ];
        let mut value = [0; 16];
        value[0] = 1;
        let cooperative = LaunchAttribute { id: abi::COOPERATIVE, padding: [0; 4], value };
        let mut config = LaunchConfig {
            grid: request.grid,
            block: request.block,
            shared: request.dynamic_shared,
            stream: self.context.stream().map_err(invalid)?,
            attributes: &raw const cooperative,
            attribute_count: request.is_cooperative.into(),
        };
        // Tools bring one.
        let heap = request.heap.as_deref().filter(|_| request.is_cooperative);
        let meeting = kernel.meeting.as_ref();
        let _turn = meeting.map(|meeting| meeting.turn.lock().unwrap_or_else(PoisonError::into_inner));
        let place = meeting.map_or(Ok(0), |meeting| meeting.begin(heap))?;
        let running = self.context.launching();
        let started = Instant::now();
        let ask = |f: &Functions, stream| {
            config.stream = stream;
            // SAFETY: the function is the driver's, all pointers are good until it returns, and the caller promises that the kernel
            // accesses what it may.
            unsafe { (f.cuLaunchKernelEx)(&config, kernel.function, std::ptr::null(), extra.as_ptr()) }
        };
        if request.may_run_on && request.limit.is_none() && meeting.is_none() {
            return self.context.leave(ask).map(|()| Launched::RUNS_ON).map_err(failed);
        }
        let ended = match request.limit {
            None => self.context.finish(ask).map(|()| true),
            Some(limit) => self.context.finish_within(limit, ask),
        };
        let took = started.elapsed();
        drop(running);
        if let Some(heap) = heap.filter(|_| place != 0) {
            heap.free(place, 0);
        }
        match ended.map_err(failed)? {
            true => Ok(Launched { instructions: 0, took, runs_on: false }),
            false => Err(of_launch(FaultKind::Timeout { waiters: Vec::new() })),
        }
    }
}

impl Meeting {
    fn new(memory: &Arc<GpuMemory>) -> Result<Self, LaunchError> {
        let address = memory.allocate(8, 8).map_err(|error| LaunchError::Invalid(error.to_string()))?;
        Ok(Self { memory: Arc::clone(memory), address, turn: Mutex::default() })
    }

    /// Gives the blocks of a cooperative launch memory of a heap to meet in, all zeros, and says where; 0 if they do not meet.
    fn begin(&self, heap: Option<&dyn Heap>) -> Result<u64, LaunchError> {
        let place = heap.map_or(0, |heap| heap.allocate(MEETING as u64, 0));
        if heap.is_some() && place == 0 {
            return Err(LaunchError::Invalid("no memory is left for the barrier of a cooperative launch".to_owned()));
        }
        let write = |to, bytes: &[u8]| {
            // SAFETY: from a slice to memory of ours of that size.
            unsafe { self.memory.copy(bytes.as_ptr() as u64, to, bytes.len() as u64) }
        };
        let zeroed = if place == 0 { Ok(()) } else { write(place, &[0; MEETING]) };
        zeroed.and_then(|()| write(self.address, &place.to_le_bytes())).map_err(|error| {
            if let Some(heap) = heap {
                heap.free(place, 0);
            }
            failed(error)
        })?;
        Ok(place)
    }
}

impl Drop for Meeting {
    fn drop(&mut self) {
        self.memory.free(self.address);
    }
}

/// What a driver says that could not do something, whatever the kernel is.
pub(crate) fn failed(RemoteError { code, message }: RemoteError) -> LaunchError {
    of_launch(FaultKind::Driver { code, message })
}

/// What went wrong with a launch, nobody knows where.
fn of_launch(kind: FaultKind) -> LaunchError {
    LaunchError::Fault(Fault { kind, line: 0, block: [0; 3], thread: [0; 3] })
}

impl Drop for Kernel {
    fn drop(&mut self) {
        // SAFETY: nobody has the kernel any more.
        let _ = self.context.call(|f| unsafe { (f.cuModuleUnload)(self.module) });
    }
}

impl Variables {
    fn new(memory: &Arc<GpuMemory>, module: &Module, shared: Option<&Arc<Self>>) -> Result<Self, LoadError> {
        let mut variables = Self {
            memory: Arc::clone(memory),
            addresses: Map::filled(module.globals.len(), None),
            shared: shared.cloned(),
        };
        for (global, variable) in module.globals.iter() {
            let is_reference = matches!(variable.ty, Type::Texref | Type::Samplerref | Type::Surfref);
            if !placed::is_placed(variable.space) || is_reference {
                continue;
            }
            if let Some(shared) = shared.filter(|shared| global.index() < shared.addresses.len()) {
                variables.addresses[global] = shared.addresses[global];
                continue;
            }
            let name = || module.text(variable.name).to_owned();
            if variable.linkage == Some(Linkage::Extern) {
                return Err(LoadError::Undefined(name()));
            }
            let values = variable.init.as_ref().map_or(&[][..], |init| &init.values);
            let is_code = |value: &InitValue| matches!(value, InitValue::Address { symbol: Symbol::Func(_), .. });
            // Kernels that need it are refused.
            if values.iter().any(is_code) {
                continue;
            }
            let (bytes, align) = (variable.size().unwrap_or(u64::MAX), variable.alignment().into());
            let is_managed = variable.attributes.iter().any(|&attribute| module.text(attribute).contains(".managed"));
            let address =
                if is_managed { memory.allocate_shared(bytes, align)? } else { memory.allocate(bytes, align)? };
            variables.addresses[global] = Some(address);
        }
        Ok(variables)
    }

    /// The address of a variable that this module has for itself.
    fn own(&self, global: Global) -> Option<u64> {
        let is_shared = self.shared.as_ref().is_some_and(|shared| global.index() < shared.addresses.len());
        self.addresses[global].filter(|_| !is_shared)
    }
}

impl Drop for Variables {
    fn drop(&mut self) {
        for address in self.addresses.ids().filter_map(|global| self.own(global)) {
            self.memory.free(address);
        }
    }
}
