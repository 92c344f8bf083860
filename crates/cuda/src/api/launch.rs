//! Launches of kernels.

use std::cell::Cell;
use std::sync::{Arc, OnceLock};

use device::{Fault, FaultKind, LaunchError, LaunchRequest, Launched};
use rewrite::LaunchShape;
use toolkit::{HostStack, WorkOrder};

use super::device::{MAX_BLOCK, MAX_GRID};
use super::kernel::Kernel;
use super::reach::Reach;
use crate::device_memory;
use crate::devices::cpu_device;
use crate::driver;
use crate::error::{CudaError, Result};
use crate::tooling::{self, Before, LaunchEnd, LaunchJob, ToolHost};

/// A launch that was found possible, with the parameters as they were when it was asked for.
#[derive(Debug)]
pub(crate) struct Launch {
    kernel: Arc<Kernel>,
    shape: LaunchShape,
    params: Vec<u8>,
    /// Which memory it may access.
    reach: Arc<Reach>,
    /// Where the program asked for it, if tools want to know.
    stack: HostStack,
    /// Where each parameter is in memory, once a program has asked for it.
    pointers: OnceLock<Box<[usize]>>,
}

impl Launch {
    /// Checks a launch and compiles the kernel, so that what cannot be run is known at once.
    pub(crate) fn prepare(
        kernel: &Arc<Kernel>,
        shape: LaunchShape,
        params: Vec<u8>,
        reach: Arc<Reach>,
    ) -> Result<Arc<Self>> {
        driver::check()?;
        if kernel.device != reach.device {
            return Err(CudaError::INVALID_HANDLE);
        }
        let is_within =
            |sizes: [u32; 3], most: [u32; 3]| sizes.iter().zip(most).all(|(&size, most)| (1..=most).contains(&size));
        let threads = shape.block.iter().fold(1_u64, |all, &size| all.saturating_mul(size.into()));
        if !is_within(shape.grid, MAX_GRID) || !is_within(shape.block, MAX_BLOCK) || threads > 1024 {
            return Err(CudaError::INVALID_CONFIGURATION);
        }
        let mut demands = kernel.facts.launch.block.iter().zip(shape.block);
        if threads > kernel.max_threads().into() {
            return Err(CudaError::LAUNCH_OUT_OF_RESOURCES);
        }
        if demands.any(|(&wanted, size)| wanted.is_some_and(|wanted| wanted != size)) {
            return Err(CudaError::INVALID_VALUE);
        }
        if shape.dynamic_shared > kernel.max_dynamic_shared() {
            return Err(CudaError::INVALID_VALUE);
        }
        check_cluster(kernel.cluster).inspect_err(|_| {
            crate::refusal::not_checked(
                &kernel.name,
                "it did not run, because it asks for clusters of more than one block",
            );
        })?;
        if shape.is_cooperative && !super::occupancy::fits_at_once(kernel, &shape) {
            return Err(CudaError::COOPERATIVE_LAUNCH_TOO_LARGE);
        }
        let stack = tooling::get().map_or_else(HostStack::default, ToolHost::launch_stack);
        let launch = Self { kernel: Arc::clone(kernel), shape, params, reach, stack, pointers: OnceLock::new() };
        let compiled = match tooling::get() {
            None => kernel.program.compile(&launch.request()),
            Some(tool_host) => tool_host.compile(&launch.job()),
        };
        if let Err(error) = compiled {
            // Nothing is compiled while the process ends: the call came too late, and nothing is wrong with the kernel.
            crate::process::life::check("cuLaunchKernel")?;
            return Err(launch.explain(&error, &Before::default()));
        }
        Ok(Arc::new(launch))
    }

    pub(crate) fn kernel(&self) -> &Arc<Kernel> {
        &self.kernel
    }

    pub(crate) fn shape(&self) -> &LaunchShape {
        &self.shape
    }

    pub(crate) fn reach(&self) -> &Arc<Reach> {
        &self.reach
    }

    pub(crate) fn params(&self) -> &[u8] {
        &self.params
    }

    /// The address of each parameter, good as long as the launch is there.
    pub(crate) fn param_pointers(&self) -> &[usize] {
        self.pointers.get_or_init(|| {
            let start = self.params.as_ptr() as usize;
            self.kernel.facts.params.iter().map(|&(offset, _)| start + offset as usize).collect()
        })
    }

    /// Runs the kernel to its end, unless it may run on: whether it does. What comes before it is told if a tool wants to know.
    pub(crate) fn run(&self, order: Option<&WorkOrder>, may_run_on: bool) -> bool {
        let runs_on = Cell::new(false);
        let launcher = |request: &LaunchRequest<'_>| {
            let launched = self.launch(request)?;
            runs_on.set(launched.runs_on);
            Ok(launched)
        };
        let job = LaunchJob { may_run_on: may_run_on && order.is_none() && self.may_run_on(), ..self.job() };
        let result = match tooling::get() {
            None => launcher(&job.request(&self.kernel.name, &self.shape)).map(drop).map_err(LaunchEnd::Device),
            Some(tool_host) => tool_host.launch(&job, order, &launcher),
        };
        match result {
            Ok(()) => {}
            Err(LaunchEnd::Device(error)) => driver::fail(self.explain(&error, &Before::default())),
            Err(LaunchEnd::Tool(error)) => driver::fail(error),
        }
        runs_on.get()
    }

    /// Whether nothing has to be done when it has ended, on a device that can have the next one before that.
    pub(crate) fn may_run_on(&self) -> bool {
        device_memory::remote().is_some() && self.kernel.instrumented().is_none_or(|kernel| !kernel.has_context())
    }

    /// Waits for launches that run on, on the thread that began them.
    pub(crate) fn wait(launches: &[&Self]) {
        let ([before @ .., last], Ok(driver)) = (launches, driver::get()) else { return };
        let Err(error) = driver.device.wait() else { return };
        // After a fault of another stream, the driver says the same of this one.
        if driver::fault().is_some() {
            return;
        }
        let before = Before::new(&last.kernel.name, before.iter().map(|launch| launch.kernel.name.as_str()));
        if let (Some(tool_host), LaunchError::Fault(fault)) = (tooling::get(), &error) {
            tool_host.on_fault_of_one(fault, &last.job(), &before);
        }
        driver::fail(last.explain(&error, &before));
    }

    #[allow(unsafe_code, reason = "kernels access memory by its address")]
    fn launch(&self, request: &LaunchRequest<'_>) -> std::result::Result<Launched, LaunchError> {
        // SAFETY: the kernel and its parameters are the program's, as the code is that asked for the launch: for what a program
        // accesses with its own code it answers itself. Tools only pass buffers that live until the launch has ended.
        unsafe { self.kernel.launched_program().launch(request) }
    }

    /// The launch as the program asked for it.
    fn request(&self) -> LaunchRequest<'_> {
        self.job().request(&self.kernel.name, &self.shape)
    }

    /// The same, for tools.
    fn job(&self) -> LaunchJob<'_> {
        LaunchJob {
            name: &self.kernel.name,
            program: self.kernel.launched_program(),
            kernel: self.kernel.instrumented(),
            shape: self.shape,
            params: &self.params,
            device: self.reach.now(),
            carveout: self.kernel.carveout.request(),
            stack: &self.stack,
            may_run_on: false,
        }
    }

    /// Says what went wrong, with this launch or one of some before it, and gives CUDA's number for it.
    fn explain(&self, error: &LaunchError, before: &Before<'_>) -> CudaError {
        if matches!(error, LaunchError::Internal(_)) && cpu_device::ends_soon() {
            // It came too late.
            return CudaError::DEINITIALIZED;
        }
        if let LaunchError::Fault(Fault { kind, block, thread, .. }) = error
            && let FaultKind::Assertion { message, place } = kind
        {
            // In CUDA's own words, which programs look for.
            let ([bx, by, bz], [tx, ty, tz]) = (block, thread);
            let line =
                format!("{place}: block: [{bx},{by},{bz}], thread: [{tx},{ty},{tz}] Assertion `{message}` failed.\n");
            crate::process::stdio::write_error(line.as_bytes());
            return CudaError::ASSERT;
        }
        let what = match error {
            LaunchError::Fault(Fault { kind: kind @ FaultKind::Driver { .. }, .. }) => kind.to_string(),
            // The device cannot always say where it was.
            LaunchError::Fault(Fault { kind, line: 0, block, thread }) => {
                format!("{kind} (block {block:?}, thread {thread:?})")
            }
            _ => error.to_string(),
        };
        match error {
            LaunchError::Fault(_) => {
                let cure = if before.is_empty() { "" } else { "; `warpgrind memcheck` says which of them it is" };
                crate::log::say(&format!("kernel `{}`{before}: {what}{cure}", report::demangled(&self.kernel.name)));
            }
            _ => crate::refusal::refuse_kernel(&self.kernel.name, &what),
        }
        match error {
            LaunchError::NoKernel(_) => CudaError::NOT_FOUND,
            LaunchError::Invalid(_) => CudaError::INVALID_VALUE,
            LaunchError::Unsupported(_) => CudaError::NOT_SUPPORTED,
            LaunchError::Internal(_) => CudaError::UNKNOWN,
            LaunchError::Fault(fault) => CudaError::of_fault(&fault.kind),
        }
    }
}

/// Refuses clusters of more than one block.
pub(crate) fn check_cluster(size: [u32; 3]) -> Result<()> {
    if size == [1, 1, 1] {
        return Ok(());
    }
    crate::refusal::refuse("launches of clusters of more than one block are not supported by the CPU device");
    Err(CudaError::NOT_SUPPORTED)
}
