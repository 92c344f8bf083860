//! Modules on a device.

use std::fmt::Debug;
use std::sync::Arc;

use ptx::analysis::LaunchFacts;
use ptx::ir::Module;

use crate::launch::{LaunchError, LaunchRequest, Launched};
use crate::memory::OutOfMemory;

/// What is known of a kernel before it is compiled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelFacts {
    /// Its parameters: where each starts, and how many bytes it has.
    pub params: Vec<(u64, u64)>,
    /// Bytes of shared memory that it declares.
    pub shared: u64,
    /// Bytes of local memory of a thread.
    pub local: u64,
    /// What it says of its launches.
    pub launch: LaunchFacts,
}

/// Why a module could not be loaded.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LoadError {
    /// Its variables do not fit.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// A variable of it cannot be made.
    #[error("the variable `{0}` is declared but not defined")]
    Undefined(String),
    /// It holds something that the device does not have.
    #[error("{0}")]
    Unsupported(String),
}

/// A module on a device.
pub trait Program: Debug + Send + Sync {
    /// The module.
    fn module(&self) -> &Module;

    /// Loads a module that begins with the functions and variables of this one, in their order, and shares the variables:
    /// what comes after them is its own.
    fn load_part(&self, module: Module) -> Result<Arc<dyn Program>, LoadError>;

    /// Loads a module beside this one, for another device that a program sees: managed variables of the same name are this
    /// one's, all others its own.
    fn load_beside(&self, _module: Module) -> Result<Arc<dyn Program>, LoadError> {
        Err(LoadError::Unsupported("the device is not one that a program sees several times".to_owned()))
    }

    /// The name, address and size of all variables of the module.
    fn variables(&self) -> Vec<(&str, u64, u64)>;

    /// The address and size of a variable of the module.
    fn variable(&self, name: &str) -> Option<(u64, u64)>;

    /// Gives all variables their initial values again.
    fn reset_variables(&self);

    /// What is known of a kernel before it is compiled; nothing if there is none, or if it is too large for the device.
    fn kernel_facts(&self, kernel: &str) -> Option<KernelFacts>;

    /// Compiles what a launch would run, so that what cannot be run is known before it is launched.
    fn compile(&self, request: &LaunchRequest<'_>) -> Result<(), LaunchError>;

    /// Launches a kernel and waits for its end, unless it may run on.
    ///
    /// # Safety
    /// With these parameters, the kernel only accesses memory of the device, or memory that the caller lets it access: no
    /// Rust code holds references to it, or relies on what is in it, while the launch runs.
    #[allow(unsafe_code, reason = "kernels access memory by its address")]
    unsafe fn launch(&self, request: &LaunchRequest<'_>) -> Result<Launched, LaunchError>;
}
