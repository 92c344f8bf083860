//! The CPU device as all devices are known: the traits of the crate `device`.
//!
//! Unsafe: what a launch and a texture promise is passed on.
#![allow(unsafe_code, reason = "kernels access memory by its address")]

use std::sync::Arc;

use device::texture::Object;
use device::{KernelFacts, LaunchError, LaunchRequest, Launched, LoadError, Memory, Output};
use ptx::ir::Module;

use crate::mode::Mode;
use crate::program::{Device, Program};

/// A device, and how it compiles and runs what is launched on it.
#[derive(Debug)]
pub struct CpuDevice {
    device: Arc<Device>,
    mode: Arc<Mode>,
}

/// A module on a device.
#[derive(Debug)]
struct CpuProgram {
    program: Program,
    mode: Arc<Mode>,
}

impl CpuDevice {
    /// A device that runs its launches in a mode.
    pub fn new(device: Arc<Device>, mode: Mode) -> Self {
        Self { device, mode: Arc::new(mode) }
    }
}

impl device::Device for CpuDevice {
    fn memory(&self) -> &dyn Memory {
        &self.device.memory
    }

    fn shared_range(&self) -> Option<(u64, u64)> {
        Some(self.device.shared.range())
    }

    fn workers(&self) -> u32 {
        u32::try_from(self.mode.threads).unwrap_or(u32::MAX)
    }

    fn load(&self, module: Module) -> Result<Arc<dyn device::Program>, LoadError> {
        Ok(Arc::new(CpuProgram { program: Program::load(&self.device, module)?, mode: Arc::clone(&self.mode) }))
    }

    unsafe fn create_texture(&self, object: Object) -> Result<u64, String> {
        // SAFETY: the caller promises the same.
        Ok(unsafe { self.device.textures.create(object) })
    }

    fn destroy_texture(&self, handle: u64) -> bool {
        self.device.textures.destroy(handle)
    }

    fn output(&self) -> &Output {
        self.device.output()
    }
}

impl device::Program for CpuProgram {
    fn module(&self) -> &Module {
        self.program.module()
    }

    fn load_part(&self, module: Module) -> Result<Arc<dyn device::Program>, LoadError> {
        Ok(Arc::new(Self { program: self.program.load_part(module)?, mode: Arc::clone(&self.mode) }))
    }

    fn load_beside(&self, module: Module) -> Result<Arc<dyn device::Program>, LoadError> {
        Ok(Arc::new(Self { program: self.program.load_beside(module)?, mode: Arc::clone(&self.mode) }))
    }

    fn variables(&self) -> Vec<(&str, u64, u64)> {
        self.program.variables().collect()
    }

    fn variable(&self, name: &str) -> Option<(u64, u64)> {
        self.program.variable(name)
    }

    fn reset_variables(&self) {
        self.program.reset_variables();
    }

    fn kernel_facts(&self, kernel: &str) -> Option<KernelFacts> {
        self.program.kernel_facts(kernel)
    }

    fn compile(&self, request: &LaunchRequest<'_>) -> Result<(), LaunchError> {
        self.program.compile(request, &self.mode)
    }

    unsafe fn launch(&self, request: &LaunchRequest<'_>) -> Result<Launched, LaunchError> {
        // SAFETY: the caller promises the same.
        unsafe { self.program.launch(request, &self.mode) }
    }
}
