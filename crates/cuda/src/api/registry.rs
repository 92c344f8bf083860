//! What the code that nvcc adds to programs tells the runtime before `main`: their fatbins, kernels and variables.
//!
//! The host knows a kernel or variable by the address of something of its own. Modules are loaded when something in them
//! is first used.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rustc_hash::FxHashMap;

use super::kernel::Kernel;
use super::module::{self, Module};
use super::{allocation, context, image};
use crate::error::{CudaError, Result};
use crate::handle::Handle;
use crate::program_image::{ManagedPointer, ProgramImage};
use crate::refusal;

/// All that was registered.
#[derive(Debug, Default)]
struct Registry {
    fatbins: FxHashMap<usize, Arc<Fatbin>>,
    kernels: FxHashMap<usize, Arc<Registered>>,
    variables: FxHashMap<usize, Arc<Registered>>,
}

/// A fatbin of the program.
#[derive(Debug)]
pub(crate) struct Fatbin {
    pub(crate) handle: Handle<Fatbin>,
    pub(crate) image: ProgramImage,
    module: OnceLock<Result<Arc<Module>>>,
    /// Managed variables: where the host keeps their addresses, and their names.
    managed: Mutex<Vec<(ManagedPointer, String)>>,
}

/// Something in a fatbin.
#[derive(Debug)]
struct Registered {
    fatbin: Arc<Fatbin>,
    name: String,
    kernel: OnceLock<Arc<Kernel>>,
}

static REGISTRY: Mutex<Option<Registry>> = Mutex::new(None);

fn with_registry<T>(use_registry: impl FnOnce(&mut Registry) -> T) -> T {
    let mut registry: MutexGuard<'_, _> = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
    use_registry(registry.get_or_insert_default())
}

/// Registers a fatbin.
pub(crate) fn add_fatbin(image: ProgramImage) -> Arc<Fatbin> {
    let fatbin = Arc::new(Fatbin { handle: Handle::new(), image, module: OnceLock::new(), managed: Mutex::default() });
    with_registry(|registry| registry.fatbins.insert(fatbin.handle.number(), Arc::clone(&fatbin)));
    fatbin
}

/// Forgets a fatbin and all in it.
pub(crate) fn remove_fatbin(number: usize) {
    let fatbin = with_registry(|registry| {
        let fatbin = registry.fatbins.remove(&number)?;
        registry.kernels.retain(|_, kernel| !Arc::ptr_eq(&kernel.fatbin, &fatbin));
        registry.variables.retain(|_, variable| !Arc::ptr_eq(&variable.fatbin, &fatbin));
        Some(fatbin)
    });
    if let Some(Ok(module)) = fatbin.as_ref().and_then(|fatbin| fatbin.module.get()) {
        let managed =
            fatbin.iter().flat_map(|fatbin| fatbin.managed().iter().map(|(_, name)| name.clone()).collect::<Vec<_>>());
        for (address, _) in managed.filter_map(|name| module.variable(&name).ok()) {
            allocation::remove_managed_variable(address);
        }
        // A program that ends does not wait for its kernels.
        let _ = module::forget(module.handle.number());
    }
}

/// Gives all variables their initial values again. Modules and kernels stay, because programs keep handles of them.
pub(crate) fn reset_variables() {
    let fatbins: Vec<_> = with_registry(|registry| registry.fatbins.values().cloned().collect());
    for fatbin in fatbins {
        if let Some(Ok(module)) = fatbin.module.get() {
            module.program.reset_variables();
        }
    }
}

/// The fatbin of a handle.
pub(crate) fn fatbin(number: usize) -> Option<Arc<Fatbin>> {
    with_registry(|registry| registry.fatbins.get(&number).cloned())
}

/// Registers a kernel that the host knows by an address.
pub(crate) fn add_kernel(fatbin: &Arc<Fatbin>, host: usize, name: &str) {
    let kernel = Registered { fatbin: Arc::clone(fatbin), name: name.to_owned(), kernel: OnceLock::new() };
    with_registry(|registry| registry.kernels.insert(host, Arc::new(kernel)));
}

/// Registers a variable that the host knows by an address.
pub(crate) fn add_variable(fatbin: &Arc<Fatbin>, host: usize, name: &str) {
    let variable = Registered { fatbin: Arc::clone(fatbin), name: name.to_owned(), kernel: OnceLock::new() };
    with_registry(|registry| registry.variables.insert(host, Arc::new(variable)));
}

/// Registers a managed variable, which the host reaches, and knows, by a pointer.
pub(crate) fn add_managed_variable(fatbin: &Arc<Fatbin>, pointer: ManagedPointer, name: &str) {
    let host = pointer.address();
    fatbin.managed().push((pointer, name.to_owned()));
    add_variable(fatbin, host, name);
}

/// The kernel that the host knows by an address.
pub(crate) fn kernel(host: usize) -> Result<Arc<Kernel>> {
    let registered = with_registry(|registry| registry.kernels.get(&host).cloned());
    let registered = registered.ok_or(CudaError::INVALID_DEVICE_FUNCTION)?;
    if let Some(kernel) = registered.kernel.get() {
        return Ok(Arc::clone(kernel));
    }
    let module = registered.fatbin.module().inspect_err(|_| {
        refusal::not_checked(&registered.name, "it did not run, because its module could not be loaded");
    });
    let found = module?.kernel(&registered.name).map_err(|_| CudaError::INVALID_DEVICE_FUNCTION)?;
    Ok(Arc::clone(registered.kernel.get_or_init(|| found)))
}

/// The address by which the host knows a kernel.
pub(crate) fn host_of(kernel: &Arc<Kernel>) -> Option<usize> {
    let is_it = |registered: &Registered| registered.kernel.get().is_some_and(|other| Arc::ptr_eq(other, kernel));
    with_registry(|registry| registry.kernels.iter().find(|(_, kernel)| is_it(kernel)).map(|(&host, _)| host))
}

/// The address and size of the variable that the host knows by an address.
pub(crate) fn variable(host: usize) -> Result<(u64, u64)> {
    let registered = with_registry(|registry| registry.variables.get(&host).cloned());
    let registered = registered.ok_or(CudaError::INVALID_SYMBOL)?;
    registered.fatbin.module()?.variable(&registered.name).map_err(|_| CudaError::INVALID_SYMBOL)
}

impl Fatbin {
    fn managed(&self) -> MutexGuard<'_, Vec<(ManagedPointer, String)>> {
        self.managed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The module in it, loaded when it is first asked for.
    pub(crate) fn module(&self) -> Result<Arc<Module>> {
        self.module.get_or_init(|| self.load()).clone()
    }

    /// Loads the module, and tells the host where its managed variables are.
    fn load(&self) -> Result<Arc<Module>> {
        let module = self.image.with(image::load)?;
        for (pointer, name) in self.managed().iter() {
            let (address, bytes) = module.variable(name).map_err(|_| CudaError::INVALID_SYMBOL)?;
            allocation::add_managed_variable(address, bytes, context::current_handle());
            pointer.set(address);
        }
        Ok(module)
    }
}
