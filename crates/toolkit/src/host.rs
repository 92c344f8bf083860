//! What a tool may ask of the process that it works in.

use std::fmt::Debug;
use std::io;
use std::path::Path;
use std::sync::{Arc, MutexGuard};

use device::Memory;
use report::{Finding, Row};

use crate::objects::Objects;
use crate::plane::{Plane, PlaneLayout};
use crate::shared_words::SharedWords;
use crate::stack::HostStack;

/// The process of the program, for its tools.
pub trait Host: Debug + Send + Sync {
    /// The memory of the device.
    fn memory(&self) -> &dyn Memory;

    /// Where the shared memory of blocks is, as generic addresses, and how many bytes these range over, if that is known.
    fn shared_range(&self) -> Option<(u64, u64)>;

    /// How many bytes of shared memory a block may have.
    fn most_shared(&self) -> u64;

    /// How many workers of the device run blocks of a launch at the same time, at most, each with its number in `%smid`.
    fn workers(&self) -> u32 {
        1
    }

    /// All objects in memory that kernels may access. The lock is not held while the host is asked for anything else.
    fn objects(&self) -> MutexGuard<'_, Objects>;

    /// Memory that lies beside that of the device, cell by cell. Kernels access it by its address.
    fn plane(&self, layout: PlaneLayout) -> io::Result<Box<dyn Plane>>;

    /// Words that kernels and the process access.
    fn words(&self, count: usize) -> io::Result<Arc<dyn SharedWords>>;

    /// Whether the process has memory at an address, whoever knows of it.
    fn has_memory_at(&self, address: u64) -> bool;

    /// Where the program is now.
    fn stack(&self) -> HostStack;

    /// Reports a finding.
    fn found(&self, finding: Finding);

    /// Reports a row of a table.
    fn row(&self, row: Row);

    /// Something was not checked, for a reason that is known only now: the run is not clean.
    fn not_checked(&self, reason: &str);

    /// Tells the user something that concerns all of the run, once.
    fn say(&self, text: &str);

    /// How many registers NVIDIA's assembler gives each thread of a kernel, in a text of PTX, on an architecture. It is the one at a
    /// path, or else on the `PATH`; nothing if there is none, or if it does not take the text.
    fn registers(&self, _ptxas: Option<&Path>, _text: &str, _kernel: &str, _architecture: &str) -> Option<u32> {
        None
    }

    /// Whether the program has streams whose work may be unordered, so far.
    fn has_unordered_streams(&self) -> bool {
        true
    }

    /// Whether somebody else follows which memory of the process is undefined: Valgrind, if it runs the program.
    fn has_valgrind(&self) -> bool {
        false
    }

    /// Which bits of memory of the process are undefined, as Valgrind says, a byte for each byte. False if it does not.
    fn undefined_bits(&self, _address: u64, _bits: &mut [u8]) -> bool {
        false
    }

    /// Tells Valgrind which bits of memory of the process are undefined.
    fn set_undefined_bits(&self, _address: u64, _bits: &[u8]) {}

    /// Whether this is a function of the program that a stream calls, which must not wait for streams.
    fn is_in_stream(&self) -> bool;
}
