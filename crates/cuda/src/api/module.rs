//! Modules: PTX that is loaded.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::kernel::Kernel;
use super::ptx_text;
use crate::driver;
use crate::error::{CudaError, Result};
use crate::handle::{Handle, Handles};
use crate::tooling::{self, KernelSource};

/// A module on the device. A library (`CUlibrary`) is the same: there is one device.
#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) handle: Handle<Module>,
    pub(crate) program: Arc<dyn device::Program>,
    /// The same, for tools.
    source: Option<Arc<KernelSource>>,
    /// Kernels that were asked for before.
    kernels: Mutex<FxHashMap<String, Arc<Kernel>>>,
}

/// Modules and libraries that programs loaded.
pub(crate) static MODULES: Handles<Module> = Handles::new();

/// Loads PTX.
pub(crate) fn load(text: &str) -> Result<Arc<Module>> {
    load_parsed(ptx_text::read(text)?)
}

/// Loads PTX that the program hands over for the device as it is.
pub(crate) fn load_for_device(text: &str) -> Result<Arc<Module>> {
    let module = ptx_text::read(text)?;
    ptx_text::check_target(&module)?;
    load_parsed(module)
}

/// Loads several texts as one module.
pub(crate) fn link(texts: &[String]) -> Result<Arc<Module>> {
    match texts {
        [text] => load(text),
        _ => {
            let names = (1..=texts.len()).map(|number| format!("module {number}"));
            let modules = texts.iter().map(|text| ptx_text::read(text)).collect::<Result<Vec<_>>>()?;
            load_parsed(ptx_text::link(&names.zip(modules).collect::<Vec<_>>())?)
        }
    }
}

/// Loads a module that was read.
pub(crate) fn load_parsed(module: ptx::ir::Module) -> Result<Arc<Module>> {
    let device = &driver::start()?.device;
    let program = device.load(module).map_err(|error| {
        crate::refusal::refuse(&format!("a module of the program cannot be loaded: {error}"));
        match error {
            device::LoadError::OutOfMemory(_) => CudaError::OUT_OF_MEMORY,
            device::LoadError::Undefined(_) => CudaError::SHARED_OBJECT_SYMBOL_NOT_FOUND,
            device::LoadError::Unsupported(_) => CudaError::NOT_SUPPORTED,
        }
    })?;
    if let Some(tool_host) = tooling::get() {
        tool_host.on_load(&*program);
    }
    let source = tooling::get().is_some().then(|| Arc::new(KernelSource::new(&program)));
    let module = Arc::new(Module { handle: Handle::new(), program, source, kernels: Mutex::default() });
    MODULES.insert(&module.handle, Arc::clone(&module));
    Ok(module)
}

/// Forgets a module, when all work that may use it has ended.
pub(crate) fn unload(number: usize) -> Result<()> {
    if let Some(context) = super::context::current() {
        context.synchronize()?;
    }
    forget(number)
}

/// Forgets a module. Kernels that run keep what they need.
pub(crate) fn forget(number: usize) -> Result<()> {
    let module = MODULES.remove(number)?;
    let kernels = std::mem::take(&mut *module.kernels.lock().unwrap_or_else(PoisonError::into_inner));
    for kernel in kernels.values() {
        let _ = super::kernel::KERNELS.remove(kernel.handle.number());
    }
    Ok(())
}

impl Drop for Module {
    fn drop(&mut self) {
        if let Some(tool_host) = tooling::get() {
            tool_host.on_unload(&*self.program);
        }
    }
}

impl Module {
    /// A kernel by its name.
    pub(crate) fn kernel(self: &Arc<Self>, name: &str) -> Result<Arc<Kernel>> {
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = kernels.get(name) {
            return Ok(Arc::clone(kernel));
        }
        let kernel = Kernel::new(self.handle.number(), &self.program, self.source.as_ref(), name)?;
        kernels.insert(name.to_owned(), Arc::clone(&kernel));
        Ok(kernel)
    }

    /// The address and size of a variable.
    pub(crate) fn variable(&self, name: &str) -> Result<(u64, u64)> {
        self.program.variable(name).ok_or(CudaError::NOT_FOUND)
    }

    /// The names of all kernels, in the order of the text.
    pub(crate) fn kernel_names(&self) -> Vec<String> {
        let module = self.program.module();
        let kernels = module.functions.values().filter(|function| function.is_entry() && function.body.is_some());
        kernels.map(|function| module.text(function.name).to_owned()).collect()
    }
}
