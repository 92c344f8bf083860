//! Texture references: textures that PTX knows by name (`.texref`), and that the host binds to memory.
//!
//! Such a name is a variable in which kernels find the handle of a texture object. Every change of a reference makes a new
//! object, once all work has ended that may use the old one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use device::texture::{Component, Sampler};
use ptx::types::Type;

use super::module::Module;
use super::texture::{self, Resource};
use super::{allocation, context};
use crate::driver;
use crate::error::{CudaError, Result};
use crate::handle::{Handle, Handles};

/// A reference of a module.
#[derive(Debug)]
pub(crate) struct Reference {
    pub(crate) handle: Handle<Reference>,
    /// Where kernels find the handle of the object.
    variable: u64,
    state: Mutex<State>,
}

/// What is bound to a reference, and how it is read.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) resource: Option<Resource>,
    /// What the elements of memory are taken for that is bound next; arrays know it.
    pub(crate) format: (Component, u32),
    pub(crate) sampler: Sampler,
    /// As the program has set it; nothing here depends on it.
    pub(crate) anisotropy: u32,
    /// How many bytes the memory begins after what is bound.
    pub(crate) offset: u64,
    /// The object, 0 for none.
    object: u64,
}

/// References that programs have asked for.
pub(crate) static REFERENCES: Handles<Reference> = Handles::new("a texture reference");

/// What the address of bound memory is a multiple of (`CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT`).
const ALIGNMENT: u64 = 512;

/// The same by the number of their module, and their names.
static BY_NAME: Mutex<BTreeMap<(usize, String), Arc<Reference>>> = Mutex::new(BTreeMap::new());

/// A reference of a module by its name.
pub(crate) fn find(module: &Module, name: &str) -> Result<Arc<Reference>> {
    let text = module.program.module();
    let mut variables = text.globals.values();
    if !variables.any(|variable| variable.ty == Type::Texref && text.text(variable.name) == name) {
        return Err(CudaError::NOT_FOUND);
    }
    let (address, _) = module.variable(name)?;
    let key = (module.handle.number(), name.to_owned());
    let mut references = BY_NAME.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(reference) = references.get(&key) {
        return Ok(Arc::clone(reference));
    }
    let reference = Reference::new(address);
    references.insert(key.clone(), Arc::clone(&reference));
    module.at_unload(move || {
        let reference = BY_NAME.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
        if let Some(reference) = reference {
            let _ = REFERENCES.remove(reference.handle.number());
        }
    });
    Ok(reference)
}

impl Reference {
    /// One whose variable is at an address.
    fn new(variable: u64) -> Arc<Self> {
        let state = State {
            resource: None,
            format: (Component::F32, 1),
            sampler: Sampler { reads_floats: true, ..Sampler::default() },
            anisotropy: 0,
            offset: 0,
            object: 0,
        };
        let reference = Arc::new(Self { handle: Handle::new(), variable, state: Mutex::new(state) });
        REFERENCES.insert(&reference.handle, Arc::clone(&reference));
        reference
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is bound to it, and how it is read.
    pub(crate) fn state(&self) -> State {
        self.lock().clone()
    }

    /// Changes it in a way that is always possible in itself.
    pub(crate) fn set(&self, change: impl FnOnce(&mut State)) -> Result<()> {
        self.change(|state| {
            change(state);
            Ok(())
        })
    }

    /// Changes it. If the change cannot be made, it stays as it was.
    pub(crate) fn change(&self, change: impl FnOnce(&mut State) -> Result<()>) -> Result<()> {
        let mut state = self.lock();
        let mut changed = state.clone();
        change(&mut changed)?;
        if state.resource.is_some() || changed.resource.is_some() {
            context::require()?.synchronize()?;
            changed.object = match &changed.resource {
                Some(resource) => texture::create(resource, changed.sampler, None)?,
                None => 0,
            };
            if !driver::get()?.device.memory().write(self.variable, &changed.object.to_le_bytes()) {
                return Err(CudaError::INVALID_HANDLE);
            }
            if state.object != 0 {
                texture::destroy(state.object)?;
            }
        }
        *state = changed;
        Ok(())
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        let object = self.lock().object;
        if let (true, Ok(driver)) = (object != 0, driver::get()) {
            driver.device.destroy_texture(object);
        }
    }
}

impl State {
    /// Binds memory in one piece, of which kernels see as much more at its start as its address is not aligned by.
    pub(crate) fn bind_linear(&mut self, address: u64, bytes: u64) -> Result<()> {
        let (start, offset) = aligned(address);
        let bytes = bytes.checked_add(offset).ok_or(CudaError::INVALID_VALUE)?;
        self.resource = Some(Resource::Linear(start, bytes, self.format));
        self.offset = offset;
        Ok(())
    }

    /// Binds rows of memory, in the same way.
    pub(crate) fn bind_rows(&mut self, address: u64, [width, height]: [usize; 2], pitch: u64) -> Result<()> {
        let (start, offset) = aligned(address);
        let element = self.format.0.bytes() * u64::from(self.format.1);
        let more = usize::try_from(offset / element.max(1)).map_err(|_| CudaError::INVALID_VALUE)?;
        let width = width.checked_add(more).ok_or(CudaError::INVALID_VALUE)?;
        let size = [width, height].map(|size| u32::try_from(size).unwrap_or(0));
        self.resource = Some(Resource::Rows(start, size, pitch, self.format));
        self.offset = offset;
        Ok(())
    }

    /// Binds an array or a pyramid.
    pub(crate) fn bind_image(&mut self, resource: Resource) {
        if let Resource::Array(array) = &resource {
            self.format = (array.description.component, array.description.channels);
        }
        self.resource = Some(resource);
        self.offset = 0;
    }

    /// Takes elements of memory for something else.
    pub(crate) fn set_format(&mut self, format: (Component, u32)) {
        self.format = format;
        if let Some(Resource::Linear(_, _, of_memory) | Resource::Rows(_, _, _, of_memory)) = &mut self.resource {
            *of_memory = format;
        }
    }
}

/// Where memory is bound, so that it is aligned, and how far the memory begins after that. What is before must be of the same
/// allocation: variables need not be aligned, and are bound where they are.
fn aligned(address: u64) -> (u64, u64) {
    let offset = address % ALIGNMENT;
    let is_inside = allocation::find(address).is_some_and(|found| found.address <= address - offset);
    if is_inside { (address - offset, offset) } else { (address, 0) }
}
