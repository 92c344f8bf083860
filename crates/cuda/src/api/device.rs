//! Devices, as programs see them.
//!
//! One describes itself as a device of compute capability 8.0, or of the one that the program's PTX needs: libraries then
//! do not choose ways that only later devices have. With `--gpu` it describes itself as that GPU.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use gpu::{Architecture, Model};

use crate::abi::driver::*;
use crate::driver;
use crate::error::{CudaError, Result};
use crate::logical_device::LogicalDevice;
use crate::tooling;

/// How the device calls itself if it is not to be a GPU.
const NAME: &str = "Warpgrind CPU device";

/// The device that a program means by a name of PCI, with or without the domain.
pub(crate) fn by_pci_name(name: &str) -> Result<usize> {
    let name = name.to_ascii_lowercase();
    let is_it = |device: &LogicalDevice| name.len() >= 5 && device.pci_name().ends_with(&name);
    driver::start()?.logical.iter().position(is_it).ok_or(CudaError::INVALID_DEVICE)
}

/// How many there are.
pub(crate) fn count() -> Result<usize> {
    Ok(driver::start()?.logical.len())
}

/// The most threads in each direction.
pub(crate) const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
/// The most blocks in each direction.
pub(crate) const MAX_GRID: [u32; 3] = [i32::MAX as u32, 65535, 65535];
/// Shared memory that a block can have unless the program asks for more.
pub(crate) const DEFAULT_SHARED: u32 = 48 << 10;

/// The GPU that the program is to see, if any.
fn gpu(device: usize) -> Option<&'static Model> {
    driver::logical(device).ok().and_then(|device| device.model)
}

/// How a device calls itself.
pub(crate) fn name(device: usize) -> &'static str {
    gpu(device).map_or(NAME, |gpu| gpu.name)
}

/// What a multiprocessor has.
pub(crate) fn multiprocessor(device: usize) -> &'static Architecture {
    static DEFAULT: LazyLock<&Architecture> = LazyLock::new(|| Architecture::named("sm_80").expect("it is known"));
    gpu(device).map_or(*DEFAULT, Model::architecture)
}

/// The compute capability that is reported unless more is needed, as ten times the number.
const DEFAULT_CAPABILITY: u32 = 80;
/// The highest that the program's PTX needs.
static NEEDED: AtomicU32 = AtomicU32::new(0);

/// Takes note that the program has PTX for nothing less than this.
pub(crate) fn need_capability(capability: u32) {
    NEEDED.fetch_max(capability, Ordering::Relaxed);
}

/// The compute capability, as ten times the number.
pub(crate) fn capability(device: usize) -> u32 {
    let chosen = driver::start().ok().and_then(|driver| driver.settings.compute_capability);
    let of_gpu = gpu(device).map(|gpu| gpu.capability);
    chosen.or(of_gpu).unwrap_or_else(|| DEFAULT_CAPABILITY.max(NEEDED.load(Ordering::Relaxed)))
}

/// As many multiprocessors as blocks run at once, or as the GPU has.
pub(crate) fn multiprocessors(device: usize) -> u32 {
    let threads = || driver::start().map_or(1, |driver| driver.settings.threads as u32);
    gpu(device).map_or_else(threads, |gpu| gpu.multiprocessors)
}

/// The device that a program means by a number.
pub(crate) fn check(device: i32) -> Result<usize> {
    let driver = driver::get()?;
    usize::try_from(device).ok().filter(|&device| device < driver.logical.len()).ok_or(CudaError::INVALID_DEVICE)
}

/// Whether kernels of a device can be given access to the memory of another: of each other one.
pub(crate) fn can_access_peer(device: usize, peer: usize) -> bool {
    device != peer
}

/// What is known of two devices together. One is no two.
pub(crate) fn peer_attribute(attribute: CUdevice_P2PAttribute, device: usize, peer: usize) -> Result<i32> {
    if !can_access_peer(device, peer) {
        return Err(CudaError::INVALID_DEVICE);
    }
    match attribute {
        CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK | CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED => {
            Ok(0)
        }
        CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED
        | CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED
        | CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED => Ok(1),
        _ => Err(CudaError::INVALID_VALUE),
    }
}

/// What is known of a device under a number.
pub(crate) fn attribute(device: usize, attribute: CUdevice_attribute) -> Result<i32> {
    /// Elements of a texture or surface: in a row, in a row of a plane, in a volume, layers.
    const LINE: i32 = 131_072;
    const PLANE: i32 = 65536;
    const VOLUME: i32 = 16384;
    const SURFACE: i32 = 32768;
    const LAYERS: i32 = 2048;
    let value = match attribute {
        CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK => 1024,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X => MAX_BLOCK[0] as i32,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y => MAX_BLOCK[1] as i32,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z => MAX_BLOCK[2] as i32,
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X => MAX_GRID[0] as i32,
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y => MAX_GRID[1] as i32,
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z => MAX_GRID[2] as i32,
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK => DEFAULT_SHARED as i32,
        CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY => 64 << 10,
        CU_DEVICE_ATTRIBUTE_WARP_SIZE => 32,
        CU_DEVICE_ATTRIBUTE_MAX_PITCH => i32::MAX,
        CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK | CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR => {
            multiprocessor(device).registers as i32
        }
        // Kilohertz. A processor has no fixed one; this is a usual one.
        CU_DEVICE_ATTRIBUTE_CLOCK_RATE => gpu(device).map_or(2000, |gpu| gpu.clock) as i32 * 1000,
        CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE => gpu(device).map_or(1600, |gpu| gpu.memory_clock) as i32 * 1000,
        CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH => gpu(device).map_or(128, |gpu| gpu.bus) as i32,
        CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE => gpu(device).map_or(32 << 20, |gpu| gpu.l2) as i32,
        // Hints about what stays in the cache are taken, and change nothing.
        CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE => 24 << 20,
        CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE => 128 << 20,
        CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT | CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT => 512,
        CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT => 32,
        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT => multiprocessors(device) as i32,
        CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR => multiprocessor(device).threads as i32,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR => multiprocessor(device).blocks as i32,
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR => multiprocessor(device).shared as i32,
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN => multiprocessor(device).shared_of_block() as i32,
        CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK => multiprocessor(device).shared_reserved as i32,
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR => (capability(device) / 10) as i32,
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR => (capability(device) % 10) as i32,
        CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT => driver::get()?.settings.launch_timeout.is_some().into(),
        CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT => 2,
        CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO => {
            gpu(device).map_or(2, |gpu| gpu.single_to_double) as i32
        }
        // Our memory is that of the host; that of a GPU is its own.
        CU_DEVICE_ATTRIBUTE_INTEGRATED
        | CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED
        | CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST => gpu(device).is_none().into(),
        CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS
        | CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES => {
            let is_forbidden = tooling::get().is_some_and(|tools| tools.forbids_host_memory());
            (gpu(device).is_none() && !is_forbidden).into()
        }
        CU_DEVICE_ATTRIBUTE_PCI_BUS_ID => driver::logical(device)?.pci_bus().into(),
        CU_DEVICE_ATTRIBUTE_GPU_OVERLAP
        | CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY
        | CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS
        | CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING
        | CU_DEVICE_ATTRIBUTE_CAN_TEX2D_GATHER
        | CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED
        | CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED
        | CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED
        | CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY
        | CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS
        | CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED
        | CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM
        | CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH
        | CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED
        | CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED
        | CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED
        | CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
        | CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED
        | CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1
        | CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS_V1
        | CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V1
        | CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS
        | CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR
        | CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT
        | CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS => 1,
        CU_DEVICE_ATTRIBUTE_NUMA_ID | CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID => -1,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH => LINE,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH => 1 << 28,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH => LINE,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT => PLANE,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH => LINE,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT => 65000,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH => 2_097_120,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH => SURFACE,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH => LINE,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT => PLANE,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH => VOLUME,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS => LAYERS,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS => LAYERS - 2,
        // What the device does not have.
        _ if (1..CU_DEVICE_ATTRIBUTE_MAX).contains(&attribute) => 0,
        _ => return Err(CudaError::INVALID_VALUE),
    };
    Ok(value)
}
