//! Launches of kernels.

use std::sync::{Arc, OnceLock};

use device::{Fault, FaultKind, Heap, LaunchError, LaunchRequest};
use rewrite::LaunchPlan;

use super::device::{MAX_BLOCK, MAX_GRID};
use super::kernel::Kernel;
use crate::driver;
use crate::error::{CudaError, Result};
use crate::launch_shape::LaunchShape;
use crate::tooling::launches::LaunchedKernel;
use crate::tooling::{self, HostStack, ToolHeap, ToolHost};

/// A launch that was found possible, with the parameters as they were when it was asked for.
#[derive(Debug)]
pub(crate) struct Launch {
    kernel: Arc<Kernel>,
    shape: LaunchShape,
    params: Vec<u8>,
    /// Where the program asked for it, if tools want to know.
    stack: HostStack,
    /// Where each parameter is in memory, once a program has asked for it.
    pointers: OnceLock<Box<[usize]>>,
}

impl Launch {
    /// Checks a launch and compiles the kernel, so that what cannot be run is known at once.
    pub(crate) fn prepare(kernel: &Arc<Kernel>, shape: LaunchShape, params: Vec<u8>) -> Result<Arc<Self>> {
        driver::check()?;
        let is_within =
            |sizes: [u32; 3], most: [u32; 3]| sizes.iter().zip(most).all(|(&size, most)| (1..=most).contains(&size));
        let threads = shape.block.iter().map(|&size| u64::from(size)).product::<u64>();
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
        if shape.shared > kernel.max_dynamic_shared() {
            return Err(CudaError::INVALID_VALUE);
        }
        if shape.is_cooperative && !super::occupancy::fits_at_once(kernel, &shape) {
            return Err(CudaError::COOPERATIVE_LAUNCH_TOO_LARGE);
        }
        let stack = tooling::get().map_or_else(HostStack::default, ToolHost::launch_stack);
        let launch = Self { kernel: Arc::clone(kernel), shape, params, stack, pointers: OnceLock::new() };
        let request = launch.request(&launch.params, &shape.plan());
        kernel.program.compile(&request).map_err(|error| launch.explain(&error))?;
        Ok(Arc::new(launch))
    }

    pub(crate) fn kernel(&self) -> &Arc<Kernel> {
        &self.kernel
    }

    pub(crate) fn shape(&self) -> &LaunchShape {
        &self.shape
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

    /// Runs the kernel to its end.
    pub(crate) fn run(&self) {
        let Some(tool_host) = tooling::get() else {
            let result = self.launch(&self.params, &self.shape.plan(), None);
            return result.unwrap_or_else(|error| driver::fail(self.explain(&error)));
        };
        let heap = |launch| ToolHeap { kernel: self.kernel.name.as_str().into(), launch };
        let plan = tool_host.plan(&self.shape);
        let Some(kernel) = &self.kernel.instrumented else {
            let number = tool_host.launches_unchanged(&self.kernel.name, self.kernel.is_checked);
            let heap: Arc<dyn Heap> = Arc::new(heap(None));
            let launch = || self.launch(&self.params, &plan, Some(Arc::clone(&heap)));
            let result = tool_host.run(&plan, &self.kernel.name, &self.stack, launch);
            return result.unwrap_or_else(|error| self.failed(tool_host, number, &error));
        };
        let mut params = self.params.clone();
        let instrumented = tool_host.begin(kernel, self.shape, self.stack.clone(), &mut params);
        let heap: Arc<dyn Heap> = Arc::new(heap(Some(Arc::clone(&instrumented))));
        let launch = || self.launch(&params, &plan, Some(Arc::clone(&heap)));
        let result = tool_host.run(&plan, &self.kernel.name, &self.stack, launch);
        let number = instrumented.number;
        let found = instrumented.end();
        if let Err(error) = result {
            self.failed(tool_host, number, &error);
        } else if let Some(error) = found {
            driver::fail(error);
        }
    }

    /// The launch, by its number, ended with an error, and tools are at work.
    fn failed(&self, tool_host: &ToolHost, number: u64, error: &LaunchError) {
        if let LaunchError::Fault(fault) = error {
            let Kernel { program, name, instrumented, .. } = &*self.kernel;
            let kernel = LaunchedKernel { program: &**program, name, instrumented: instrumented.as_deref() };
            tool_host.on_fault(fault, number, &kernel, &self.shape, &self.stack);
        }
        driver::fail(self.explain(error));
    }

    #[allow(unsafe_code, reason = "kernels access memory by its address")]
    fn launch(
        &self,
        params: &[u8],
        plan: &LaunchPlan,
        heap: Option<Arc<dyn Heap>>,
    ) -> std::result::Result<(), LaunchError> {
        let request = LaunchRequest { heap, ..self.request(params, plan) };
        // SAFETY: the kernel and its parameters are the program's, as the code is that asked for the launch: for what a program
        // accesses with its own code it answers itself. Tools only pass buffers that live until the launch has ended.
        unsafe { self.kernel.program.launch(&request) }.map(drop)
    }

    fn request<'a>(&'a self, params: &'a [u8], plan: &LaunchPlan) -> LaunchRequest<'a> {
        LaunchRequest {
            grid: plan.grid,
            block: plan.block,
            dynamic_shared: plan.dynamic_shared,
            is_cooperative: self.shape.is_cooperative,
            ..LaunchRequest::of(&self.kernel.name, params)
        }
    }

    /// Says what went wrong, and gives CUDA's number for it.
    fn explain(&self, error: &LaunchError) -> CudaError {
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
            // The device cannot always say where it was.
            LaunchError::Fault(Fault { kind, line: 0, block, thread }) => {
                format!("{kind} (block {block:?}, thread {thread:?})")
            }
            _ => error.to_string(),
        };
        crate::log::say(&format!("kernel `{}`: {what}", self.kernel.name));
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
    crate::log::say("launches of clusters of more than one block are not supported by the CPU device");
    Err(CudaError::NOT_SUPPORTED)
}
