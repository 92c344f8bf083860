//! A GPU behind the traits of all devices.

use std::sync::Arc;

use device::texture::Object;
use device::{LaunchError, LoadError, Memory, Output, Program};
use ptx::ir::Module;

use crate::driver::{Context, DeviceFacts, Driver, DriverError};
use crate::memory::GpuMemory;
use crate::program::{self, GpuProgram};
use crate::texture::Textures;

/// The first GPU of a driver.
#[derive(Debug)]
pub struct GpuDevice {
    context: Arc<Context>,
    memory: Arc<GpuMemory>,
    most_shared: u64,
    textures: Textures,
    /// The driver prints what kernels print.
    output: Output,
}

impl GpuDevice {
    /// Opens it, with so much memory at most; and says what it is.
    #[allow(unsafe_code, reason = "it calls C")]
    pub fn open(driver: Driver, most: Option<u64>) -> Result<(Self, DeviceFacts), DriverError> {
        let (number, mut facts) = driver.facts()?;
        let context = Arc::new(Context::new(driver, number)?);
        let (mut free, mut total) = (0, 0);
        // SAFETY: there is room for the answers.
        let asked = context.call(|f| unsafe { (f.cuMemGetInfo)(&mut free, &mut total) });
        asked.map_err(|error| DriverError::Refuses { call: "cuMemGetInfo", error })?;
        let bytes = most.unwrap_or(u64::MAX).min(free as u64);
        facts.memory = bytes;
        let memory = Arc::new(GpuMemory::new(&context, bytes)?);
        let most_shared = facts.most_shared.into();
        Ok((Self { context, memory, most_shared, textures: Textures::default(), output: Output::default() }, facts))
    }
}

impl device::Device for GpuDevice {
    fn memory(&self) -> &dyn Memory {
        &*self.memory
    }

    fn most_shared(&self) -> u64 {
        self.most_shared
    }

    fn load(&self, module: Module) -> Result<Arc<dyn Program>, LoadError> {
        Ok(Arc::new(GpuProgram::load(&self.context, &self.memory, module)?))
    }

    fn has_workers(&self) -> bool {
        false
    }

    fn wait(&self) -> Result<(), LaunchError> {
        self.context.wait().map_err(program::failed)
    }

    fn wait_for_all(&self) {
        drop(self.context.quiet());
    }

    #[allow(unsafe_code, reason = "images are known by their addresses")]
    unsafe fn create_texture(&self, object: Object) -> Result<u64, String> {
        self.textures.create(&self.context, &object)
    }

    fn destroy_texture(&self, handle: u64) -> bool {
        self.textures.destroy(&self.context, handle)
    }

    fn output(&self) -> &Output {
        &self.output
    }
}
