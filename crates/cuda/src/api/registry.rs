//! What the code that nvcc adds to programs tells the runtime before `main`: their fatbins, kernels and variables.
//!
//! The host knows a kernel or variable by the address of something of its own. Modules are loaded when something in them
//! is first used.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

use super::kernel::Kernel;
use super::module::{self, Module};
use super::texture_reference::{self, Reference};
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
    /// Texture references, and whether kernels read their integers as numbers from 0 to 1.
    textures: FxHashMap<usize, (Arc<Registered>, bool)>,
}

/// A fatbin of the program.
#[derive(Debug)]
pub(crate) struct Fatbin {
    pub(crate) handle: Handle<Fatbin>,
    pub(crate) image: ProgramImage,
    /// The module in it by the number of a device, once it was used there.
    modules: Mutex<BTreeMap<usize, Result<Arc<Module>>>>,
    /// Managed variables: where the host keeps their addresses, and their names.
    managed: Mutex<Vec<(ManagedPointer, String)>>,
}

/// Something in a fatbin.
#[derive(Debug)]
struct Registered {
    fatbin: Arc<Fatbin>,
    name: String,
    /// By the number of a device, once it was used there.
    kernels: Mutex<BTreeMap<usize, Arc<Kernel>>>,
}

static REGISTRY: Mutex<Option<Registry>> = Mutex::new(None);

fn with_registry<T>(use_registry: impl FnOnce(&mut Registry) -> T) -> T {
    let mut registry: MutexGuard<'_, _> = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
    use_registry(registry.get_or_insert_default())
}

/// Registers a fatbin.
pub(crate) fn add_fatbin(image: ProgramImage) -> Arc<Fatbin> {
    let fatbin =
        Arc::new(Fatbin { handle: Handle::new(), image, modules: Mutex::default(), managed: Mutex::default() });
    with_registry(|registry| registry.fatbins.insert(fatbin.handle.number(), Arc::clone(&fatbin)));
    fatbin
}

/// Forgets a fatbin and all in it.
pub(crate) fn remove_fatbin(number: usize) {
    let fatbin = with_registry(|registry| {
        let fatbin = registry.fatbins.remove(&number)?;
        registry.kernels.retain(|_, kernel| !Arc::ptr_eq(&kernel.fatbin, &fatbin));
        registry.variables.retain(|_, variable| !Arc::ptr_eq(&variable.fatbin, &fatbin));
        registry.textures.retain(|_, (texture, _)| !Arc::ptr_eq(&texture.fatbin, &fatbin));
        Some(fatbin)
    });
    let Some(fatbin) = fatbin else { return };
    for module in fatbin.modules().values().flatten() {
        for (address, _) in fatbin.managed().iter().filter_map(|(_, name)| module.variable(name).ok()) {
            allocation::remove_managed_variable(address);
        }
        // A program that ends does not wait for its kernels.
        let _ = module::forget(module.handle.number());
    }
}

/// Gives all variables of a device their initial values again. Modules and kernels stay, because programs keep handles of
/// them.
pub(crate) fn reset_variables(device: usize) {
    let fatbins: Vec<_> = with_registry(|registry| registry.fatbins.values().cloned().collect());
    for fatbin in fatbins {
        if let Some(Ok(module)) = fatbin.modules().get(&device) {
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
    let kernel = Registered { fatbin: Arc::clone(fatbin), name: name.to_owned(), kernels: Mutex::default() };
    with_registry(|registry| registry.kernels.insert(host, Arc::new(kernel)));
}

/// Registers a variable that the host knows by an address.
pub(crate) fn add_variable(fatbin: &Arc<Fatbin>, host: usize, name: &str) {
    let variable = Registered { fatbin: Arc::clone(fatbin), name: name.to_owned(), kernels: Mutex::default() };
    with_registry(|registry| registry.variables.insert(host, Arc::new(variable)));
}

/// Registers a texture reference that the host knows by an address.
pub(crate) fn add_texture(fatbin: &Arc<Fatbin>, host: usize, name: &str, reads_floats: bool) {
    let texture = Registered { fatbin: Arc::clone(fatbin), name: name.to_owned(), kernels: Mutex::default() };
    with_registry(|registry| registry.textures.insert(host, (Arc::new(texture), reads_floats)));
}

/// Registers a managed variable, which the host reaches, and knows, by a pointer.
pub(crate) fn add_managed_variable(fatbin: &Arc<Fatbin>, pointer: ManagedPointer, name: &str) {
    let host = pointer.address();
    fatbin.managed().push((pointer, name.to_owned()));
    add_variable(fatbin, host, name);
}

/// The kernel that the host knows by an address, on the device of this thread.
pub(crate) fn kernel(host: usize) -> Result<Arc<Kernel>> {
    let registered = with_registry(|registry| registry.kernels.get(&host).cloned());
    let registered = registered.ok_or(CudaError::INVALID_DEVICE_FUNCTION)?;
    let device = context::current_device();
    if let Some(kernel) = registered.kernels().get(&device) {
        return Ok(Arc::clone(kernel));
    }
    let module = registered.fatbin.module().inspect_err(|_| {
        refusal::not_checked(&registered.name, "it did not run, because its module could not be loaded");
    });
    let found = module?.kernel(&registered.name).map_err(|_| CudaError::INVALID_DEVICE_FUNCTION)?;
    Ok(Arc::clone(registered.kernels().entry(device).or_insert(found)))
}

/// The address by which the host knows a kernel.
pub(crate) fn host_of(kernel: &Arc<Kernel>) -> Option<usize> {
    let is_it = |registered: &Registered| registered.kernels().values().any(|other| Arc::ptr_eq(other, kernel));
    with_registry(|registry| registry.kernels.iter().find(|(_, kernel)| is_it(kernel)).map(|(&host, _)| host))
}

/// The address and size of the variable that the host knows by an address, on the device of this thread.
pub(crate) fn variable(host: usize) -> Result<(u64, u64)> {
    let registered = with_registry(|registry| registry.variables.get(&host).cloned());
    let registered = registered.ok_or(CudaError::INVALID_SYMBOL)?;
    registered.fatbin.module()?.variable(&registered.name).map_err(|_| CudaError::INVALID_SYMBOL)
}

/// The texture reference that the host knows by an address, on the device of this thread, and whether kernels read its integers
/// as numbers from 0 to 1.
pub(crate) fn texture(host: usize) -> Result<(Arc<Reference>, bool)> {
    let (registered, reads_floats) =
        with_registry(|registry| registry.textures.get(&host).cloned()).ok_or(CudaError::INVALID_TEXTURE)?;
    let reference = texture_reference::find(&*registered.fatbin.module()?, &registered.name);
    Ok((reference.map_err(|_| CudaError::INVALID_TEXTURE)?, reads_floats))
}

impl Registered {
    fn kernels(&self) -> MutexGuard<'_, BTreeMap<usize, Arc<Kernel>>> {
        self.kernels.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fatbin {
    fn modules(&self) -> MutexGuard<'_, BTreeMap<usize, Result<Arc<Module>>>> {
        self.modules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn managed(&self) -> MutexGuard<'_, Vec<(ManagedPointer, String)>> {
        self.managed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The module in it on the device of this thread, loaded when it is first asked for.
    pub(crate) fn module(&self) -> Result<Arc<Module>> {
        let mut modules = self.modules();
        let device = context::current_device();
        if let Some(module) = modules.get(&device) {
            return module.clone();
        }
        let first = modules.values().flatten().next().cloned();
        let loaded = match first {
            None => self.load(),
            // Another text of it may suit this device. Managed variables are there once.
            Some(first) => self.image.with(image::read).and_then(|module| first.beside(module, device)),
        };
        modules.entry(device).or_insert(loaded).clone()
    }

    /// Loads the module, and tells the host where its managed variables are.
    fn load(&self) -> Result<Arc<Module>> {
        let module = self.image.with(image::load)?;
        for (pointer, name) in self.managed().iter() {
            let (address, bytes) = module.variable(name).map_err(|_| CudaError::INVALID_SYMBOL)?;
            allocation::add_managed_variable(address, bytes, context::current_home());
            pointer.set(address);
        }
        Ok(module)
    }
}
