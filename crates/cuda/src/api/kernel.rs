//! Kernels, and what can be asked about them.

use std::ffi::CString;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use ptx::ir::DirectiveArg;
use ptx::types::Space;

use super::carveout::Carveout;
use super::device::{self as properties, DEFAULT_SHARED};
use crate::error::{CudaError, Result};
use crate::handle::{Handle, Handles};
use crate::tooling::{self, InstrumentedKernel, KernelSource};

/// A kernel of a module. `CUfunction` and `CUkernel` are the same.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub(crate) handle: Handle<Kernel>,
    pub(crate) program: Arc<dyn device::Program>,
    pub(crate) name: String,
    /// The same for C programs.
    pub(crate) c_name: CString,
    /// The handle of its module.
    pub(crate) module: usize,
    /// The number of its device.
    pub(crate) device: usize,
    /// As the program knows it, whatever tools have made of it.
    pub(crate) facts: device::KernelFacts,
    /// What tools make it of.
    source: Option<Arc<KernelSource>>,
    /// What tools have made of it, once it was launched; nothing if it could not be rewritten.
    instrumented: OnceLock<Option<Arc<InstrumentedKernel>>>,
    /// The blocks of a cluster that it asks for.
    pub(crate) cluster: [u32; 3],
    /// Bytes of shared memory that launches may add.
    max_dynamic_shared: AtomicU32,
    /// How L1 and shared memory are to be divided.
    pub(crate) carveout: Carveout,
}

/// Kernels that programs asked for.
pub(crate) static KERNELS: Handles<Kernel> = Handles::new("a kernel");

/// The blocks of a cluster that a kernel asks for in its text (`__cluster_dims__`).
fn cluster_of(module: &ptx::ir::Module, name: &str) -> [u32; 3] {
    let mut size = [1; 3];
    let kernel = module.functions.values().find(|function| function.is_entry() && module.text(function.name) == name);
    let directive = kernel.and_then(|kernel| kernel.directive(&module.names, "reqnctapercluster"));
    for (size, arg) in size.iter_mut().zip(directive.iter().flat_map(|directive| &directive.args)) {
        if let DirectiveArg::Int(blocks) = *arg {
            *size = u32::try_from(blocks).unwrap_or(u32::MAX);
        }
    }
    size
}

impl Kernel {
    /// A kernel of the module with a handle, on a device: of its program, and of what tools make it of.
    pub(crate) fn new(
        module: usize,
        device: usize,
        program: &Arc<dyn device::Program>,
        source: Option<&Arc<KernelSource>>,
        name: &str,
    ) -> Result<Arc<Self>> {
        let facts = program.kernel_facts(name).ok_or(CudaError::NOT_FOUND)?;
        let kernel = Arc::new(Self {
            handle: Handle::new(),
            program: Arc::clone(program),
            name: name.to_owned(),
            c_name: CString::new(name).map_err(|_| CudaError::NOT_FOUND)?,
            module,
            device,
            max_dynamic_shared: AtomicU32::new(DEFAULT_SHARED.saturating_sub(facts.shared as u32)),
            facts,
            source: source.cloned(),
            instrumented: OnceLock::new(),
            cluster: cluster_of(program.module(), name),
            carveout: Carveout::default(),
        });
        KERNELS.insert(&kernel.handle, Arc::clone(&kernel));
        Ok(kernel)
    }

    /// What tools have made of it, now that it is launched; nothing if there are none, or it could not be rewritten.
    pub(crate) fn instrumented(&self) -> Option<&Arc<InstrumentedKernel>> {
        let (source, tool_host) = (self.source.as_ref()?, tooling::get()?);
        self.instrumented.get_or_init(|| tool_host.rewrite(source, &self.name)).as_ref()
    }

    /// The program that launches run.
    pub(crate) fn launched_program(&self) -> &Arc<dyn device::Program> {
        self.instrumented().map_or(&self.program, |instrumented| instrumented.program())
    }

    pub(crate) fn max_dynamic_shared(&self) -> u32 {
        self.max_dynamic_shared.load(Ordering::Relaxed)
    }

    /// Lets launches add more shared memory.
    pub(crate) fn set_max_dynamic_shared(&self, bytes: u32) -> Result<()> {
        if u64::from(bytes) + self.facts.shared > u64::from(properties::multiprocessor(self.device).shared_of_block()) {
            return Err(CudaError::INVALID_VALUE);
        }
        self.max_dynamic_shared.store(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// The most threads that a block can have.
    pub(crate) fn max_threads(&self) -> u32 {
        self.facts.launch.max_threads
    }

    /// Bytes of the constants of its module.
    pub(crate) fn constant_bytes(&self) -> u64 {
        let constants = self.program.module().globals.values().filter(|variable| variable.space == Space::Const);
        constants.fold(0, |end: u64, variable| {
            end.next_multiple_of(variable.alignment().into()) + variable.size().unwrap_or(0)
        })
    }

    /// The architecture that its PTX was made for: 75 for `sm_75`. Libraries choose by it which of their kernels they launch.
    pub(crate) fn ptx_version(&self) -> Option<u32> {
        let module = self.program.module();
        let names = module.target.iter().map(|&name| module.text(name));
        let digits = |name: &str| -> Option<u32> {
            let number = name.strip_prefix("sm_")?;
            number.trim_end_matches(|letter: char| !letter.is_ascii_digit()).parse().ok()
        };
        names.into_iter().find_map(digits)
    }

    /// Where each parameter is in the bytes that a launch takes, and how long these are.
    pub(crate) fn params_bytes(&self) -> u64 {
        self.facts.params.iter().map(|&(start, bytes)| start + bytes).max().unwrap_or(0)
    }
}
