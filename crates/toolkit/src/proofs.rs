//! What is known of launches before they run.

use std::sync::{Arc, Mutex, PoisonError};

use ptx::analysis::footprint::{Footprint, Footprints, Kernel, Launch, Object as KnownObject};
use ptx::ir::Module;
use rewrite::LaunchShape;

use crate::device_access::LaunchDevice;
use crate::objects::{Object, Objects, permissions};

/// What is known of the launches of a kernel: answers are kept.
#[derive(Debug)]
pub struct Proofs {
    footprints: Mutex<Footprints>,
    /// Where among the parameters pointers may be.
    pointers: Vec<usize>,
    /// The variables of its module that it accesses.
    variables: Vec<Variable>,
}

/// A variable of a module.
#[derive(Clone, Debug)]
struct Variable {
    name: String,
    start: u64,
    bytes: u64,
}

/// So many different launches of a kernel are remembered.
const MOST_ANSWERS: usize = 4096;

impl Proofs {
    /// For a kernel of a module, as the program has it; `variable` tells where a variable is, and how many bytes it has.
    pub fn new(module: &Module, kernel: &str, variable: impl Fn(&str) -> Option<(u64, u64)>) -> Option<Self> {
        let kernel = Kernel::of(module, module.function(kernel)?)?;
        let of_name = |name: &str| {
            let (start, bytes) = variable(name)?;
            Some(Variable { name: name.to_owned(), start, bytes })
        };
        Some(Self {
            pointers: kernel.pointers().map(|at| at as usize).collect(),
            variables: kernel.variables().filter_map(of_name).collect(),
            footprints: Mutex::new(Footprints::new(kernel, MOST_ANSWERS)),
        })
    }

    /// What a launch touches, and the objects that it may access, in the order in which the answer counts them: where each
    /// begins, and its size.
    pub fn footprint(
        &self,
        shape: &LaunchShape,
        params: &[u8],
        device: LaunchDevice,
        objects: &Objects,
    ) -> (Arc<Footprint>, Vec<[u64; 2]>) {
        let mut known: Vec<KnownObject<'_>> = Vec::new();
        for Variable { name, start, bytes } in &self.variables {
            known.push(KnownObject { start: *start, size: *bytes, variable: Some(name) });
        }
        for &at in &self.pointers {
            let Some(bytes) = params.get(at..at + 8) else { continue };
            let pointer = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
            // What may not be done with an object is not for a proof.
            let is_free = |object: &&Object| object.permissions == permissions::ALL && device.may_access(object.access);
            let Some(object) = objects.pointed_to(pointer).filter(is_free) else { continue };
            let (start, size) = objects.reach(object);
            if !known.iter().any(|other| other.start == start) {
                known.push(KnownObject { start, size, variable: None });
            }
        }
        let asked = Launch {
            grid: shape.grid,
            block: shape.block,
            dynamic_shared: shape.dynamic_shared,
            params,
            objects: &known,
        };
        let footprint = self.footprints.lock().unwrap_or_else(PoisonError::into_inner).footprint(&asked);
        (footprint, known.iter().map(|object| [object.start, object.size]).collect())
    }
}
