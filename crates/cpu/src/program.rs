//! A module that is loaded: its variables in memory, its kernels ready to be compiled.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use device::{Blocks, Fault, Heap, KernelFacts, LaunchError, LaunchRequest, Launched, LoadError, Order, Output};
use ptx::analysis::LaunchFacts;
use ptx::entity::{Id, Map};
use ptx::ir::{FuncId, Global, Module, Symbol};
use ptx::types::{Linkage, Space};
use rustc_hash::FxHashMap;

use crate::abi::MAX_SHARED;
use crate::code_cache::CodeCache;
use crate::codegen;
use crate::kernel::Source;
use crate::linked_module::LinkedModule;
use crate::lower;
use crate::memory::{Arena, SharedWindows};
use crate::mode::{Mode, WarmUp};
use crate::options::{Options, Tier, Width};
use crate::runtime::block_queue::BlockQueue;
use crate::runtime::code::BetterCode;
use crate::runtime::launch::{Launch, LaunchParts, ParamLine};
use crate::runtime::pool::Pool;
use crate::runtime::worker;
use crate::texture::Textures;
use crate::tiered_kernel::TieredKernel;

/// The device: memory, and what all launches share.
#[derive(Debug)]
pub struct Device {
    /// Global memory.
    pub memory: Arena,
    /// Textures and surfaces.
    pub textures: Textures,
    pub(crate) shared: SharedWindows,
    output: Output,
    pool: Pool,
    cache: OnceLock<Arc<CodeCache>>,
}

/// A module on the device.
#[derive(Debug)]
pub struct Program {
    device: Arc<Device>,
    module: Arc<LinkedModule>,
    variables: Arc<Variables>,
    /// The addresses that compiled code asks for by name.
    symbols: Arc<[(String, usize)]>,
    /// Kernels that were compiled before.
    kernels: Mutex<FxHashMap<FuncId, Vec<Variant>>>,
    /// Kernels that single threads have to run, as far as that was asked.
    needs_threads: Map<FuncId, NeedsThreads>,
}

/// Where the variables of a module are.
#[derive(Debug)]
struct Variables {
    device: Arc<Device>,
    addresses: Map<Global, Option<u64>>,
    /// All constants, in one piece.
    constants: u64,
    /// Where function pointers point to: nothing is there, they are numbers.
    code: u64,
    /// The module that has some of them, as long as somebody needs them.
    shared: Option<(Arc<Variables>, Sharing)>,
    /// Those that are this module's own.
    is_own: Map<Global, bool>,
}

/// Which variables a module has of another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sharing {
    /// All of the other, which are the first.
    First,
    /// Those that are managed, by their names.
    Managed,
}

/// Whether single threads have to run a kernel: if its code speculates, and if it does not.
#[derive(Debug, Default)]
struct NeedsThreads {
    speculating: OnceLock<bool>,
    otherwise: OnceLock<bool>,
}

/// A kernel that was compiled for options, given here as they are in the optimised tier.
type Variant = (Options, Arc<TieredKernel>);

/// How many blocks a launch starts while others wait for memory to change: as a GPU of middle size has at once.
const RESIDENT_BLOCKS: u64 = 1024;
/// How many of them an OS thread starts at least, however many threads there are.
const LEAST_RESIDENT_BLOCKS: u64 = 64;
/// How many blocks a worker takes at once, at most. The more they are, the later those with the next numbers begin.
const MOST_BLOCKS_AT_A_TIME: u64 = 32;

/// Bytes of memory through which the blocks of a cooperative launch find each other: the device code of cooperative groups
/// has a barrier in it, after a word with its size.
const WORKSPACE: u64 = 64;

/// The registers `%envreg0` to `%envreg31` of a cooperative launch: the address of its workspace is in the second and third.
fn environment(workspace: Option<u64>) -> [u32; 32] {
    let mut registers = [0; 32];
    if let Some(address) = workspace {
        registers[1] = (address >> 32) as u32;
        registers[2] = address as u32;
    }
    registers
}

impl Device {
    /// A device with so much memory.
    pub fn new(memory: u64) -> std::io::Result<Arc<Self>> {
        let device = Self {
            memory: Arena::new(memory)?,
            textures: Textures::default(),
            shared: SharedWindows::new()?,
            output: Output::default(),
            pool: Pool::default(),
            cache: OnceLock::new(),
        };
        Ok(Arc::new(device))
    }

    /// Keeps compiled code on disk from now on. The first one who says where is heard.
    pub fn keep_code(&self, cache: CodeCache) {
        let _ = self.cache.set(Arc::new(cache));
    }

    /// How many kernels were not compiled because they were on disk.
    pub fn kept_kernels_used(&self) -> u64 {
        self.cache.get().map_or(0, |cache| cache.hits())
    }

    /// What kernels printed, unless their launch said where it should go.
    pub fn output(&self) -> &Output {
        &self.output
    }
}

impl Program {
    /// Loads a module: its variables get memory and their initial values.
    pub fn load(device: &Arc<Device>, module: Module) -> Result<Self, LoadError> {
        let variables = Variables::new(device, &module, None, &[])?;
        Ok(Self::new(device, module, variables))
    }

    /// Loads a module that begins with the functions and variables of this one, and shares the variables.
    pub fn load_part(&self, module: Module) -> Result<Self, LoadError> {
        let shared = Some((&self.variables, Sharing::First));
        let variables = Variables::new(&self.device, &module, shared, &[])?;
        Ok(Self::new(&self.device, module, variables))
    }

    /// Loads a module that has the managed variables of this one which it names, and all others for itself.
    pub fn load_beside(&self, module: Module) -> Result<Self, LoadError> {
        let globals = self.module.globals.iter();
        let managed: Vec<(&str, u64)> = globals
            .filter(|(_, variable)| is_managed(&self.module, variable))
            .filter_map(|(global, variable)| Some((self.module.text(variable.name), self.variables.addresses[global]?)))
            .collect();
        let shared = Some((&self.variables, Sharing::Managed));
        let variables = Variables::new(&self.device, &module, shared, &managed)?;
        Ok(Self::new(&self.device, module, variables))
    }

    fn new(device: &Arc<Device>, module: Module, variables: Variables) -> Self {
        let needs_threads = module.functions.iter().map(|_| NeedsThreads::default()).collect();
        let program = Self {
            device: Arc::clone(device),
            module: Arc::new(LinkedModule::new(module)),
            symbols: variables.symbols(),
            variables: Arc::new(variables),
            kernels: Mutex::default(),
            needs_threads,
        };
        // Memory starts as zero.
        program.write_initial_values();
        program
    }

    /// Gives all variables their initial values again.
    pub fn reset_variables(&self) {
        for (global, variable) in self.module.globals.iter() {
            if let (Some(address), Some(size)) = (self.variables.own(global), variable.size()) {
                self.device.memory.write(address, &vec![0; size as usize]);
            }
        }
        self.write_initial_values();
    }

    /// Writes what variables begin with, as far as it is said.
    fn write_initial_values(&self) {
        // A declaration stands for its definition.
        let definition = |func| self.module.calls().resolve(func);
        for (global, variable) in self.module.globals.iter() {
            if let (Some(address), Some(init)) = (self.variables.own(global), &variable.init) {
                let bytes =
                    device::initial_bytes(&init.values, variable, |symbol| self.symbol_address(symbol, &definition));
                self.device.memory.write(address, &bytes);
            }
        }
    }

    fn symbol_address(&self, symbol: Symbol, definition: &impl Fn(FuncId) -> FuncId) -> u64 {
        match symbol {
            Symbol::Global(global) => self.variables.addresses[global].unwrap_or(0),
            Symbol::Func(func) => self.variables.code + 16 * definition(func).index() as u64,
            _ => 0,
        }
    }

    /// The address and size of a variable of the module.
    pub fn variable(&self, name: &str) -> Option<(u64, u64)> {
        let (global, variable) =
            self.module.globals.iter().find(|(_, variable)| self.module.text(variable.name) == name)?;
        Some((self.variables.addresses[global]?, variable.size()?))
    }

    /// The name, address and size of all variables of the module.
    pub fn variables(&self) -> impl Iterator<Item = (&str, u64, u64)> {
        self.module.globals.iter().filter_map(|(global, variable)| {
            Some((self.module.text(variable.name), self.variables.addresses[global]?, variable.size()?))
        })
    }

    /// The module.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// Launches a kernel and waits for its end.
    ///
    /// An access to an address at which nothing is mapped ends the launch with a fault. So does an offset that leads out of
    /// shared memory, which has nothing around it. All other addresses of a kernel are those of this process.
    ///
    /// # Safety
    /// With these parameters, the kernel only accesses memory of the device, or memory that the caller lets it access: no
    /// Rust code holds references to it, or relies on what is in it, while the launch runs. Or the kernel is refused.
    pub unsafe fn launch(&self, request: &LaunchRequest<'_>, mode: &Mode) -> Result<Launched, LaunchError> {
        let mode = &*mode.of(request);
        let func = self.kernel(request.kernel)?;
        let threads = threads_of(request.block);
        if !(1..=1024).contains(&threads) || request.grid.contains(&0) {
            return Err(LaunchError::Invalid(format!(
                "blocks of {threads} threads in a grid of {:?} cannot be launched: 1 to 1024 threads, and no dimension of 0",
                request.grid
            )));
        }
        let mut tiered = self.tiered(func, request.block, mode, request.observer.is_some());
        let blocks = request.blocks.count(request.grid);
        let all_threads = blocks.saturating_mul(threads);
        let mut kernel = mode.code(&tiered, all_threads)?;
        let shared = kernel.code.dynamic_shared + u64::from(request.dynamic_shared);
        if shared > MAX_SHARED {
            return Err(LaunchError::Invalid(format!(
                "{shared} bytes of shared memory are more than the {} bytes that a block can have",
                MAX_SHARED
            )));
        }
        if request.params.is_empty() && kernel.params != 0 {
            return Err(LaunchError::Invalid("the kernel has parameters, and none were given".to_owned()));
        }
        let params = ParamLine::lines(request.params, kernel.params as usize);
        if request.is_cooperative && request.blocks != Blocks::All {
            return Err(LaunchError::Invalid(
                "a cooperative launch cannot run a part of its blocks, which would wait for the others: launch all"
                    .to_owned(),
            ));
        }
        let heap: &dyn Heap = request.heap.as_deref().unwrap_or(&self.device.memory);
        let workspace = request.is_cooperative.then(|| heap.allocate(WORKSPACE, 0));
        if workspace == Some(0) {
            return Err(LaunchError::Invalid("no memory is left for the barrier of a cooperative launch".to_owned()));
        }
        if let Some(workspace) = workspace {
            self.device.memory.write(workspace, &[0; WORKSPACE as usize]);
        }
        let deadline = mode.timeout.map(|timeout| Instant::now() + timeout);
        let workers = request.workers.map_or(u64::MAX, u64::from).min(mode.threads as u64);
        let threads = workers.clamp(1, blocks.max(1));
        let is_free = mode.schedule.is_in_order() && request.observer.is_none() && !request.is_cooperative;
        let mut launched = Launched { instructions: 0, took: Duration::ZERO, runs_on: false };
        let spins = kernel.spins;
        let (hands, chunk) = if is_free && !spins {
            // Enough for all threads to the end, and few enough to notice that the launch should stop.
            (threads, (blocks / (threads * 16)).clamp(1, MOST_BLOCKS_AT_A_TIME))
        } else {
            // Blocks may wait for others, which must have begun.
            (1, 1)
        };
        let mut queue = BlockQueue::new(request.blocks, request.grid, hands, chunk);
        if matches!(request.order, Order::Ascending | Order::Serial | Order::Warps) {
            queue = queue.ascending();
        }
        let mut error: Option<LaunchError> = None;
        while !queue.is_over() && error.is_none() {
            debug_assert_eq!(kernel.spins, spins, "whether a kernel waits is said by its PTX");
            let launch = Launch::new(LaunchParts {
                kernel: &kernel.code,
                thread_code: &*kernel,
                better_code: (mode.warm_up == WarmUp::ByTime).then_some(&tiered as &dyn BetterCode),
                params: &params,
                grid: request.grid,
                queue: &queue,
                // Counts are of one block.
                loops_over_blocks: is_free && kernel.loops_over_blocks && request.dynamic_shared == 0 && !mode.counts(),
                threads: request.block,
                dynamic_shared: request.dynamic_shared,
                shared: &self.device.shared,
                residency: match request.is_cooperative {
                    true => blocks as usize,
                    false => (RESIDENT_BLOCKS / threads).max(LEAST_RESIDENT_BLOCKS) as usize,
                },
                environment: environment(workspace),
                schedule: mode.schedule,
                observer: request.observer.as_deref(),
                budget: mode.budget.unwrap_or(u64::MAX),
                counts: mode.counts(),
                workers: threads as u32,
                deadline,
                output: request.output.as_deref().unwrap_or(&self.device.output),
                heap,
                textures: &self.device.textures,
            });
            let started = Instant::now();
            error = self.run(&launch, threads, mode.seed).map(LaunchError::from);
            tiered.ran(all_threads);
            let took = started.elapsed();
            if mode.warm_up == WarmUp::ByTime {
                tiered.ran_for(took);
            }
            launched.took += took;
            launched.instructions += launch.executed.load(std::sync::atomic::Ordering::Relaxed);
            if !queue.is_over() && error.is_none() {
                // The kernel misspeculates; the next code does not speculate.
                tiered = self.tiered(func, request.block, mode, request.observer.is_some());
                match mode.code(&tiered, all_threads) {
                    Ok(code) => kernel = code,
                    Err(failed) => error = Some(failed.into()),
                }
            }
        }
        if let Some(workspace) = workspace {
            heap.free(workspace, 0);
        }
        error.map_or(Ok(launched), Err)
    }

    /// Runs a launch on so many OS threads.
    fn run(&self, launch: &Launch<'_>, threads: u64, seed: u64) -> Option<Fault> {
        let fault = Mutex::new(None);
        self.device.pool.run(threads as usize - 1, &|index| {
            if let Err(error) = worker::work(launch, index, seed ^ index as u64) {
                fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
        });
        fault.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// A kernel for blocks of a size, in all tiers.
    fn tiered(&self, func: FuncId, block: [u32; 3], mode: &Mode, is_observed: bool) -> Arc<TieredKernel> {
        let region_loops = mode.schedule.is_in_order() && !is_observed;
        let mut options = Options { tier: Tier::Optimised, region_loops, ..self.options(func, block, mode) };
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        let of_kernel = kernels.entry(func).or_default();
        if of_kernel.iter().any(|(other, tiered)| *other == options && tiered.misspeculates()) {
            options.speculate = false;
            options.width = self.width(func, mode, false);
        }
        if let Some((_, tiered)) = of_kernel.iter().find(|(other, _)| *other == options) {
            return Arc::clone(tiered);
        }
        let source = Source {
            code: codegen::Source { module: Arc::clone(&self.module), kernel: func, options: options.clone() },
            symbols: Arc::clone(&self.symbols),
            cache: self.device.cache.get().cloned(),
        };
        let tiered = Arc::new(TieredKernel::new(&source));
        of_kernel.push((options, Arc::clone(&tiered)));
        tiered
    }

    /// How many lanes of a kernel run at once, whose code speculates or not.
    fn width(&self, func: FuncId, mode: &Mode, speculates: bool) -> Width {
        let NeedsThreads { speculating, otherwise } = &self.needs_threads[func];
        let needs_threads = if speculates { speculating } else { otherwise };
        match mode.width {
            Width::Warp
                if *needs_threads
                    .get_or_init(|| lower::needs_threads(&self.module, self.module.calls(), func, speculates)) =>
            {
                Width::Thread
            }
            width => width,
        }
    }

    /// How a kernel is compiled for blocks of a size.
    fn options(&self, func: FuncId, block: [u32; 3], mode: &Mode) -> Options {
        let facts = LaunchFacts::of(&self.module.names, &self.module.functions[func]).with_block(block);
        Options {
            width: self.width(func, mode, true),
            tier: mode.tier,
            resumable: false,
            preempt: mode.preempt,
            count: mode.counts(),
            late_copies: mode.late_copies,
            confine: mode.confine,
            speculate: true,
            region_loops: mode.schedule.is_in_order(),
            facts,
            processor: mode.processor,
        }
    }

    /// What is known of a kernel before it is compiled; nothing if there is none, or if it is too large for the device.
    pub fn kernel_facts(&self, kernel: &str) -> Option<KernelFacts> {
        kernel_facts(&self.module, self.kernel(kernel).ok()?)
    }

    /// Compiles what a launch would begin with, so that it is known whether that can be done.
    pub fn compile(&self, request: &LaunchRequest<'_>, mode: &Mode) -> Result<(), LaunchError> {
        let mode = &*mode.of(request);
        let tiered = self.tiered(self.kernel(request.kernel)?, request.block, mode, request.observer.is_some());
        let threads = request.blocks.count(request.grid).saturating_mul(threads_of(request.block));
        mode.code(&tiered, threads).map(drop)?;
        Ok(())
    }

    /// The tier of the code with which a launch would start; nothing if the kernel has to be compiled first.
    pub fn tier(&self, kernel: &str, block: [u32; 3], mode: &Mode) -> Result<Option<Tier>, LaunchError> {
        Ok(self.tiered(self.kernel(kernel)?, block, mode, false).best_tier())
    }

    /// LLVM's text for a kernel, for people.
    pub fn llvm_text(
        &self,
        kernel: &str,
        block: [u32; 3],
        mode: &Mode,
        optimised: bool,
    ) -> Result<String, LaunchError> {
        let func = self.kernel(kernel)?;
        let options = self.options(func, block, mode);
        Ok(codegen::llvm_text(&self.module, func, &options, optimised)?)
    }

    fn kernel(&self, name: &str) -> Result<FuncId, LaunchError> {
        self.module
            .function(name)
            .filter(|&func| self.module.functions[func].is_entry() && self.module.functions[func].body.is_some())
            .ok_or_else(|| LaunchError::NoKernel(name.to_owned()))
    }
}

/// How many threads a block has.
fn threads_of(block: [u32; 3]) -> u64 {
    block.iter().map(|&size| u64::from(size)).product()
}

impl Variables {
    /// Memory for the variables of a module, of which some may be those of another: managed ones are given with addresses.
    fn new(
        device: &Arc<Device>,
        module: &Module,
        shared: Option<(&Arc<Self>, Sharing)>,
        managed: &[(&str, u64)],
    ) -> Result<Self, LoadError> {
        let memory = &device.memory;
        let kept = shared.map(|(shared, sharing)| (Arc::clone(shared), sharing));
        let shared = shared.filter(|(_, sharing)| *sharing == Sharing::First).map(|(shared, _)| shared);
        let (constants, code) = match shared {
            Some(shared) => (shared.constants, shared.code),
            None => (memory.allocate(lower::constant_bytes(module), 4096)?, memory.allocate(1, 256)?),
        };
        let mut variables = Self {
            device: Arc::clone(device),
            addresses: Map::filled(module.globals.len(), None),
            constants,
            code,
            shared: kept,
            is_own: Map::filled(module.globals.len(), false),
        };
        let offsets = lower::constant_offsets(module);
        for (global, variable) in module.globals.iter() {
            if !matches!(variable.space, Space::Global | Space::Const) {
                continue;
            }
            if let Some(shared) = shared.filter(|shared| global.index() < shared.addresses.len()) {
                variables.addresses[global] = shared.addresses[global];
                continue;
            }
            let name = || module.text(variable.name).to_owned();
            if let Some((_, address)) = managed.iter().find(|(name, _)| *name == module.text(variable.name)) {
                variables.addresses[global] = Some(*address);
                continue;
            }
            variables.is_own[global] = true;
            if variable.linkage == Some(Linkage::Extern) {
                return Err(LoadError::Undefined(name()));
            }
            if let Some(offset) = offsets[global] {
                // There is no room for more constants after those that are shared.
                if shared.is_some() {
                    return Err(LoadError::Undefined(name()));
                }
                variables.addresses[global] = Some(constants + offset);
                continue;
            }
            let (bytes, align) = (variable.size().unwrap_or(u64::MAX), variable.alignment().into());
            let is_managed = is_managed(module, variable);
            variables.addresses[global] =
                Some(if is_managed { memory.allocate_shared(bytes, align)? } else { memory.allocate(bytes, align)? });
        }
        Ok(variables)
    }

    /// The address of a variable that this module has for itself.
    fn own(&self, global: Global) -> Option<u64> {
        self.addresses[global].filter(|_| self.is_own[global])
    }

    /// The addresses that compiled code asks for by name.
    fn symbols(&self) -> Arc<[(String, usize)]> {
        let (arena, bytes) = self.device.memory.range();
        let variable =
            |(global, address): (Global, &Option<u64>)| Some((format!("g{}", global.index()), (*address)? as usize));
        self.addresses
            .iter()
            .filter_map(variable)
            .chain([("code".to_owned(), self.code as usize), (lower::CONSTANTS.to_owned(), self.constants as usize)])
            .chain([(lower::ARENA.to_owned(), arena as usize), (lower::ARENA_END.to_owned(), (arena + bytes) as usize)])
            .collect()
    }
}

impl Drop for Variables {
    fn drop(&mut self) {
        let has_all = self.shared.as_ref().is_none_or(|(_, sharing)| *sharing == Sharing::Managed);
        let of_module = if has_all { [Some(self.code), Some(self.constants)] } else { [None; 2] };
        let own: Vec<u64> = self.addresses.ids().filter_map(|global| self.own(global)).collect();
        // Constants are one allocation, so most of their addresses are none of their own.
        for address in own.into_iter().chain(of_module.into_iter().flatten()) {
            self.device.memory.free(address);
        }
    }
}

/// Whether the host has a variable, too.
fn is_managed(module: &Module, variable: &ptx::ir::Variable) -> bool {
    variable.attributes.iter().any(|&attribute| module.text(attribute).contains(".managed"))
}

/// What is known of a kernel before it is compiled; nothing if it is too large for the device.
fn kernel_facts(module: &LinkedModule, kernel: FuncId) -> Option<KernelFacts> {
    let function = &module.functions[kernel];
    let sizes = lower::sizes(module, module.calls(), kernel).ok()?;
    Some(KernelFacts {
        params: device::param_layout(function),
        shared: sizes.dynamic_shared,
        local: sizes.local,
        launch: LaunchFacts::of(&module.names, function),
    })
}
