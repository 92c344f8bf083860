//! The same programs on the GPU device, over a driver that a process of ours plays (`crates/stand-in`): what NVIDIA's assembler
//! refuses is refused, and neither side can access the other's memory. Nothing here has run on a GPU.
//!
//! All programs of `tests/cuda` run alone, under memcheck, traffic and repair, and all pairs of the tools that a GPU can have, but for
//! those that are listed here, with the reason.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::build::{Toolchain, newest};

/// Tools whose pairs are run.
pub(crate) const TOOLS: [&str; 8] = ["memcheck", "racecheck", "rmt", "traffic", "loads", "stores", "order", "doubled"];

/// Programs that are not run on it, each with the reason. `group/` stands for all of a group.
pub(crate) const NOT_RUN: &[(&str, &str)] = &[
    ("textures/references_of_the_driver", REFERENCES),
    ("textures/references_of_the_runtime", REFERENCES),
    ("textures/surfaces", "it has surfaces"),
    ("textures/volumes_layers_cubes", "it has arrays of other dimensions than two"),
    ("memory/refused_copies", REGISTERED),
    ("memory/adjacent_mappings", RESERVED),
    ("memory/reserved_addresses", RESERVED),
    ("memory/kinds", REGISTERED),
    ("device_code/calls", CODE),
    ("errors/launch_from_a_kernel", CODE),
    ("errors/misaligned", SAYS_LESS),
    ("errors/trap", SAYS_LESS),
    ("errors/illegal_address", SAYS_LESS),
    ("errors/read_of_freed_memory", "memory of a GPU comes in pieces: what was freed beside other memory can be read"),
    ("errors/unsupported_instruction", "what the stand-in cannot run, it takes and then fails"),
    ("errors/timeout", FLAGS),
    ("output/lost_at_exit", "what ends the process waits for launches, and the driver prints what they printed"),
    ("process/closed_descriptors", "the program closes the connections of the stand-in"),
    ("devices/shown_gpu", FLAGS),
    ("devices/two_gpus", FLAGS),
    ("devices/two_gpus_of_driver", FLAGS),
    ("devices/visible_devices", FLAGS),
    ("devices/no_visible_device", FLAGS),
    ("memcheck/peer_access", FLAGS),
    ("devices/properties", "the stand-in is another device"),
    ("devices/properties_of_driver", "the stand-in is another device"),
    ("streams/attributes", "the stand-in is another device"),
    ("memcheck/binding_of_a_reference_of_a_module", REFERENCES),
    ("memcheck/binding_of_a_texture_reference", REFERENCES),
    ("memcheck/undefined_calls", CODE),
    ("memcheck/undefined_heap", HEAP),
    ("memcheck/undefined_control", CODE),
    ("memcheck/bulk_copies", "it is built for a GPU that the stand-in is not"),
    ("memcheck/descriptors_that_are_closed", "the program closes the connections of the stand-in"),
    ("memcheck/double_free_in_a_kernel", HEAP),
    ("memcheck/heap_of_the_device_after_free", HEAP),
    ("memcheck/heap_of_the_device_beside_another", HEAP),
    ("memcheck/heap_of_the_device_past_the_end", HEAP),
    ("memcheck/leak_of_the_heap_of_the_device", HEAP),
    ("memcheck/host_function_that_reads_device_memory", HOST),
    ("memcheck/host_reads_device_memory", HOST),
    ("memcheck/host_reads_mapped_memory", HOST),
    ("memcheck/host_writes_freed_memory", HOST),
    ("memcheck/registered_memory", REGISTERED),
    ("memcheck/recursion_with_arrays", SAYS_LESS),
    ("memcheck/trap", SAYS_LESS),
    ("racecheck/asynchronous_copies", "asynchronous copies are not followed"),
    ("racecheck/bulk_copies", "asynchronous copies of many bytes are not followed"),
    ("racecheck/masks_of_syncwarp", "a barrier of some lanes counts for the whole warp"),
    ("racecheck/mbarriers", SOME_WARPS),
    ("racecheck/named_barriers", SOME_WARPS),
    ("racecheck/barriers_and_functions", CODE),
    ("racecheck/kinds_of_memory", HEAP),
    ("racecheck/memory_handed_out_again", HEAP),
    ("repair/ways", CODE),
    ("rmt/recovered_from_snapshot", "its kernel prints"),
    ("rmt/recovered", UNKNOWN),
    ("rmt/runs_differ", UNKNOWN),
    ("memcheck/kernel_that_cannot_run", "it is about the CPU device"),
    ("traffic/tile_read_once", "caches are not modelled"),
];

const REFERENCES: &str = "it has references to textures";
const RESERVED: &str = "it reserves addresses itself";
const REGISTERED: &str = "it registers memory, and the stand-in cannot take pages of another process";
const CODE: &str = "it has variables that hold addresses of functions";
const SAYS_LESS: &str = "a driver does not say where a kernel went wrong";
const FLAGS: &str = "it is about flags of the CPU device";
const UNKNOWN: &str = "its kernels access memory of the host that CUDA does not know of";
const HEAP: &str = "its kernels allocate";
const SOME_WARPS: &str = "barriers to which only some warps come are not followed";
const HOST: &str = "an access of the host ends the process, and is not told";

/// Programs that are not run under a tool, or under any: their kernels are refused, and run as they are.
const NOT_CHECKED: &[(&str, &str, &str)] = &[("", "device_code/heap", HEAP)];

/// Why a program is not run under a tool, if it is not.
pub(crate) fn not_checked(tool: &str, name: &str) -> Option<&'static str> {
    let is_it = |(of, listed, _): &&(&str, &str, &str)| name == *listed && (of.is_empty() || *of == tool);
    NOT_CHECKED.iter().find(is_it).map(|(_, _, reason)| *reason)
}

/// Why a program is not run, if it is not.
pub(crate) fn reason(name: &str) -> Option<&'static str> {
    let is_it = |(listed, _): &&(&str, &str)| name == *listed || listed.ends_with('/') && name.starts_with(listed);
    NOT_RUN.iter().find(is_it).map(|(_, reason)| *reason)
}

/// Functions of the driver that were called are all in the table.
fn check_calls(log: &Path) -> Result<()> {
    let called = std::fs::read_to_string(log).unwrap_or_default();
    for name in called.lines() {
        ensure!(gpu_driver::functions::TABLE.iter().any(|known| known.name == name), "{name} is not in the table");
    }
    Ok(())
}

/// A driver for one run.
pub(crate) struct StandIn {
    driver: PathBuf,
    gpu: PathBuf,
    ptxas: PathBuf,
    log: PathBuf,
}

impl StandIn {
    /// For a run in a directory of its own.
    pub(crate) fn new(toolchain: &Toolchain, directory: &Path) -> Result<Self> {
        let command = Path::new(env!("CARGO_BIN_EXE_warpgrind"));
        let gpu = command.with_file_name("warpgrind-stand-in-gpu");
        if !gpu.exists() {
            bail!("{} was not built: cargo build --workspace", gpu.display());
        }
        let driver = newest(command, "libwarpgrind_stand_in.so").context("the driver")?;
        Ok(Self { driver, gpu, ptxas: toolchain.ptxas(), log: directory.join("calls") })
    }

    /// The flags of the command.
    pub(crate) fn flags(&self) -> [&std::ffi::OsStr; 4] {
        ["--device".as_ref(), "gpu".as_ref(), "--driver".as_ref(), self.driver.as_os_str()]
    }

    /// What the driver finds in its environment.
    pub(crate) fn set(&self, command: &mut std::process::Command) {
        command.env("WARPGRIND_STAND_IN_GPU", &self.gpu);
        command.env("WARPGRIND_STAND_IN_PTXAS", &self.ptxas);
        command.env("WARPGRIND_STAND_IN_LOG", &self.log);
    }

    /// Leaves NVIDIA's assembler out: it is slow, and what it says does not matter.
    pub(crate) fn set_without_assembler(&self, command: &mut std::process::Command) {
        self.set(command);
        command.env_remove("WARPGRIND_STAND_IN_PTXAS");
    }

    /// What must hold after each run.
    pub(crate) fn check(&self) -> Result<()> {
        check_calls(&self.log)
    }
}
