//! Modules: PTX that is loaded.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::kernel::Kernel;
use super::{allocation, context, ptx_text};
use crate::driver;
use crate::error::{CudaError, Result};
use crate::handle::{Handle, Handles};
use crate::tooling::{self, KernelSource};

/// A module on a device. A library (`CUlibrary`) is one on the device that it was loaded on, which is loaded on others when
/// it is used there.
#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) handle: Handle<Module>,
    /// The number of its device.
    pub(crate) device: usize,
    /// Whether it is a library.
    is_library: AtomicBool,
    /// The same on other devices.
    siblings: Mutex<Vec<Arc<Module>>>,
    pub(crate) program: Arc<dyn device::Program>,
    /// The same, for tools.
    source: Option<Arc<KernelSource>>,
    /// Kernels that were asked for before.
    kernels: Mutex<FxHashMap<String, Arc<Kernel>>>,
    at_unload: Mutex<AtUnload>,
}

/// What others keep of a module lets go of it when it is unloaded.
#[derive(Default)]
struct AtUnload(Vec<Box<dyn FnOnce() + Send>>);

impl fmt::Debug for AtUnload {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} actions", self.0.len())
    }
}

/// Modules and libraries that programs loaded.
pub(crate) static MODULES: Handles<Module> = Handles::new("a module");

/// Reads PTX that the program hands over for the device as it is.
pub(super) fn read_for_device(text: &str) -> Result<ptx::ir::Module> {
    let module = ptx_text::read(text)?;
    ptx_text::check_target(&module, context::current_device())?;
    Ok(module)
}

/// Reads several texts as one module.
pub(super) fn read_linked(texts: &[String]) -> Result<ptx::ir::Module> {
    match texts {
        [text] => ptx_text::read(text),
        _ => {
            let names = (1..=texts.len()).map(|number| format!("module {number}"));
            let modules = texts.iter().map(|text| ptx_text::read(text)).collect::<Result<Vec<_>>>()?;
            ptx_text::link(&names.zip(modules).collect::<Vec<_>>())
        }
    }
}

/// Loads a module that was read.
pub(crate) fn load_parsed(module: ptx::ir::Module) -> Result<Arc<Module>> {
    add(driver::start()?.device.load(module), context::current_device(), false)
}

/// A program on a device as a module of it, perhaps one that is on another device already.
fn add(
    program: std::result::Result<Arc<dyn device::Program>, device::LoadError>,
    device: usize,
    is_sibling: bool,
) -> Result<Arc<Module>> {
    let program = program.map_err(|error| {
        crate::refusal::refuse(&format!("a module of the program cannot be loaded: {error}"));
        match error {
            device::LoadError::OutOfMemory(error) => crate::device_memory::out_of_memory(error),
            device::LoadError::Undefined(_) => CudaError::SHARED_OBJECT_SYMBOL_NOT_FOUND,
            device::LoadError::Unsupported(_) => CudaError::NOT_SUPPORTED,
        }
    })?;
    if let Some(tool_host) = tooling::get() {
        tool_host.on_load(&*program, allocation::access_of_variables(device), is_sibling);
    }
    let source = tooling::get().is_some().then(|| Arc::new(KernelSource::new(&program)));
    let module = Arc::new(Module {
        handle: Handle::new(),
        device,
        is_library: AtomicBool::new(false),
        siblings: Mutex::default(),
        program,
        source,
        kernels: Mutex::default(),
        at_unload: Mutex::default(),
    });
    MODULES.insert(&module.handle, Arc::clone(&module));
    Ok(module)
}

/// Forgets a module, when all work that may use it has ended.
pub(crate) fn unload(number: usize) -> Result<()> {
    if let Some(context) = context::current() {
        context.synchronize()?;
    }
    forget(number)
}

/// Forgets a module. Kernels that run keep what they need.
pub(crate) fn forget(number: usize) -> Result<()> {
    let module = MODULES.remove(number)?;
    let siblings = std::mem::take(&mut *module.siblings.lock().unwrap_or_else(PoisonError::into_inner));
    for sibling in siblings {
        forget(sibling.handle.number())?;
    }
    let kernels = std::mem::take(&mut *module.kernels.lock().unwrap_or_else(PoisonError::into_inner));
    for kernel in kernels.values() {
        let _ = super::kernel::KERNELS.remove(kernel.handle.number());
    }
    module.let_go();
    Ok(())
}

impl Drop for Module {
    fn drop(&mut self) {
        self.let_go();
        if let Some(tool_host) = tooling::get() {
            tool_host.on_unload(&*self.program);
        }
    }
}

/// The device that has a variable at an address, if one has.
pub(crate) fn device_of_variable(address: u64) -> Option<usize> {
    let is_in = |module: &&Arc<Module>| {
        let variables = module.program.variables();
        variables.iter().any(|&(_, start, bytes)| address.checked_sub(start).is_some_and(|offset| offset < bytes))
    };
    MODULES.all().iter().find(is_in).map(|module| module.device)
}

/// A kernel on a device: itself, or that of the same name if its library is also there. Others stay where they were loaded.
pub(crate) fn kernel_on(kernel: &Arc<Kernel>, device: usize) -> Result<Arc<Kernel>> {
    if kernel.device == device {
        return Ok(Arc::clone(kernel));
    }
    MODULES.get(kernel.module)?.on(device)?.kernel(&kernel.name)
}

impl Module {
    /// It is a library.
    pub(crate) fn set_library(&self) {
        self.is_library.store(true, Ordering::Relaxed);
    }

    /// The same on the device of this thread, if it is a library, and else itself.
    pub(crate) fn here(self: &Arc<Self>) -> Result<Arc<Self>> {
        if self.is_library.load(Ordering::Relaxed) { self.on(context::current_device()) } else { Ok(Arc::clone(self)) }
    }

    /// The same on a device, if it is a library.
    pub(crate) fn on(self: &Arc<Self>, device: usize) -> Result<Arc<Self>> {
        if device == self.device {
            return Ok(Arc::clone(self));
        }
        if !self.is_library.load(Ordering::Relaxed) {
            return Err(CudaError::INVALID_HANDLE);
        }
        let mut siblings = self.siblings.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sibling) = siblings.iter().find(|sibling| sibling.device == device) {
            return Ok(Arc::clone(sibling));
        }
        let sibling = self.beside(self.program.module().clone(), device)?;
        siblings.push(Arc::clone(&sibling));
        Ok(sibling)
    }

    /// Loads the same for another device: managed variables are those of this one.
    pub(super) fn beside(&self, module: ptx::ir::Module, device: usize) -> Result<Arc<Self>> {
        add(self.program.load_beside(module), device, true)
    }

    /// A kernel by its name.
    pub(crate) fn kernel(self: &Arc<Self>, name: &str) -> Result<Arc<Kernel>> {
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = kernels.get(name) {
            return Ok(Arc::clone(kernel));
        }
        let kernel = Kernel::new(self.handle.number(), self.device, &self.program, self.source.as_ref(), name)?;
        kernels.insert(name.to_owned(), Arc::clone(&kernel));
        Ok(kernel)
    }

    /// The address and size of a variable.
    pub(crate) fn variable(&self, name: &str) -> Result<(u64, u64)> {
        self.program.variable(name).ok_or(CudaError::NOT_FOUND)
    }

    /// Has something done when it is unloaded.
    pub(super) fn at_unload(&self, action: impl FnOnce() + Send + 'static) {
        self.at_unload.lock().unwrap_or_else(PoisonError::into_inner).0.push(Box::new(action));
    }

    /// Does it.
    fn let_go(&self) {
        let actions = std::mem::take(&mut *self.at_unload.lock().unwrap_or_else(PoisonError::into_inner));
        actions.0.into_iter().for_each(|action| action());
    }

    /// The names of all kernels, in the order of the text.
    pub(crate) fn kernel_names(&self) -> Vec<String> {
        let module = self.program.module();
        let kernels = module.functions.values().filter(|function| function.is_entry() && function.body.is_some());
        kernels.map(|function| module.text(function.name).to_owned()).collect()
    }
}
