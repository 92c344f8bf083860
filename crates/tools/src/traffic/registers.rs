//! How many registers kernels have: NVIDIA's assembler says it, where it is installed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use gpu::Architecture;
use toolkit::{Host, LaunchView};

/// Asks for the registers of kernels, for each once.
#[derive(Debug)]
pub(super) struct Registers {
    host: Arc<dyn Host>,
    asked: Asked,
    known: Mutex<BTreeMap<(String, &'static str), Option<u32>>>,
}

/// Which assembler.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Asked {
    None,
    OnPath,
    At(PathBuf),
}

impl Registers {
    /// Of the assembler that a flag names.
    pub(super) fn new(flag: &str, host: &Arc<dyn Host>) -> Self {
        let asked = match flag {
            "none" => Asked::None,
            "auto" => Asked::OnPath,
            path => Asked::At(path.into()),
        };
        Self { host: Arc::clone(host), asked, known: Mutex::default() }
    }

    /// Those of each thread of a launch on an architecture, if they are known.
    pub(super) fn of(&self, launch: &LaunchView<'_>, architecture: &Architecture) -> Option<u32> {
        let path = match &self.asked {
            Asked::None => return None,
            Asked::OnPath => None,
            Asked::At(path) => Some(path.as_path()),
        };
        let key = (launch.kernel.to_owned(), architecture.name);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        *known.entry(key).or_insert_with(|| {
            // The versions of tools are beside it, and are not asked for.
            self.host.registers(path, &ptx::print(launch.module), launch.kernel, architecture.name)
        })
    }
}
