//! Finds accesses to memory that the program does not have.
//!
//! Every access gets a short check, and takes place only where the check holds. Which check it is depends on what is
//! known of the pointer ([`ptx::analysis::Provenance`]):
//!
//! - a pointer made from a parameter of the kernel must stay in the object that the parameter points into, which the
//!   launch looks up: one subtraction and one comparison, no memory is touched;
//! - a pointer made from a variable must stay in the variable, whose size is in the text;
//! - any other pointer must point to memory whose shadow says that it is there.
//!
//! Accesses of a basic block through one pointer ([`rewrite::AccessGroup`]) are checked together: an object is in one piece, so
//! all of them are within it if the lowest and the highest byte are.
//!
//! Accesses that do not pass call `warpgrind_memcheck` (`device.ptx`), which looks at each closely, and records it if there
//! is no excuse. So a jump from one live object into another is found, if the pointer is made from a parameter or variable.
//!
//! A launch all of whose accesses are known to be in bounds before it runs ([`ptx::analysis::footprint`]) runs as the
//! program has it, without any check.
//!
//! **Why bounds before shadow.** For a pointer made from a parameter, the check is a subtraction and a comparison with
//! a uniform value, needs no shadow memory, and finds jumps from one live object into another, which no shadow can.
//! Measured, bounds cost 1.2 × in the mean where shadow checks of everything would be the 2 × of indirect accesses.

mod against;
mod allowed;
mod check;
mod defined;
mod findings;
mod host;
mod kernel_facts;
mod local_variables;
mod ranges;
mod rows;
mod shadows;
mod slots;
mod texture;
mod undefined;
mod version;

use std::sync::Arc;

use ptx::analysis::PointerValue;
use ptx::types::Space;
use ptx::view::AccessBytes;
use report::Explanation;
use rewrite::context::{Record, Word};
use rewrite::{Access, Branch, Call, Cursor, Definition, DeviceCode, Exit, Instrumentation, KernelView, ProgramView};
use rewrite::{Refusal, State, Sync};
use toolkit::{Flag, FlagValue, Host, Instance, Options, Tool};

use host::{BadThreads, Origins};
use kernel_facts::KernelFacts;
use ranges::Range;
use slots::{Checked, MOST_BYTES, NO_OBJECT, NO_OBJECT_BYTES, SMALL_OBJECT_BYTES};
use version::{Bounds, Follows, ShadowPlace, Version};

/// Where the memory begins that has a shadow.
const ARENA: Word = Word("ARENA");
/// How many bytes it has.
const ARENA_BYTES: Word = Word("ARENA_BYTES");
/// Where its shadow begins: one byte for four.
const SHADOW: Word = Word("SHADOW");
/// The address of the table of other memory: first address, end and permissions of each piece.
const UNSHADOWED: Word = Word("UNSHADOWED");
/// How many pieces it has.
const UNSHADOWED_COUNT: Word = Word("UNSHADOWED_COUNT");
/// The address of the table of threads with bad accesses ([`host::bad_threads`]).
const BAD_THREADS: Word = Word("BAD_THREADS");
/// What the launch adds to the numbers of its threads there.
const LAUNCH: Word = Word("LAUNCH");

/// How far the shadow of a byte of device memory is from it that says which of its bits are undefined.
const DEFINED_DISTANCE: Word = Word("DEFINED_DISTANCE");
/// Where the shared memory of blocks is, how many bytes these range over, and how far their shadow is.
const WINDOWS: Word = Word("WINDOWS");
const WINDOWS_BYTES: Word = Word("WINDOWS_BYTES");
const SHARED_DISTANCE: Word = Word("SHARED_DISTANCE");
/// The address of a word that is not zero once a kernel has written something undefined to device memory.
const UNDEFINED_MEMORY: Word = Word("UNDEFINED_MEMORY");

/// The address of the table of what stored undefined values ([`host::origins`]), or 0.
const ORIGINS: Word = Word("ORIGINS");
/// The number of the launch there.
const ORIGINS_LAUNCH: Word = Word("ORIGINS_LAUNCH");

/// The tool.
#[derive(Clone, Copy, Debug)]
pub struct Memcheck;

/// The bits of `what` that say how many bytes the access has.
const BYTES: u32 = 0xff;
/// The access writes.
const WRITES: u32 = 1 << 8;
/// The access reads and writes in one step.
const READS_AND_WRITES: u32 = 1 << 9;
/// The access is a row of a matrix, of whose alignment nothing is known.
const ROW: u32 = 1 << 10;
/// An earlier access that is checked together with it is to the same bytes.
const AGAIN: u32 = 1 << 11;
/// Where in `what` the space is: 0 for generic addresses, else [`SPACES`].
const SPACE: u32 = 12;
/// The check was against bounds that are known for certain.
const CERTAIN: u32 = 1 << 16;
/// The access is the last of those that are checked together.
const LAST: u32 = 1 << 17;
/// The address has 32 bits.
const SHORT: u32 = 1 << 18;
/// Where in `what` is how many bytes the access has less than all that are checked with it, up to the highest bit.
const SLACK: u32 = 19;

/// What `what` of a record has as its space if it is of an undefined value, and besides that where it matters.
const UNDEFINED: u32 = 6 << SPACE;
const UNDEFINED_BRANCH: u32 = UNDEFINED;
const UNDEFINED_ADDRESS: u32 = UNDEFINED | 1;
const UNDEFINED_MASK: u32 = UNDEFINED | 2;

/// A row of the largest matrix: 32 numbers of 32 bits.
const MOST_BYTES_OF_ROW: u32 = 128;

/// What `device.ptx` says by name.
const CONSTANTS: &[(&str, u64)] = &[
    ("BYTES", BYTES as u64),
    ("KIND", WRITES.trailing_zeros() as u64),
    ("ROW", ROW as u64),
    ("SPACES", (0xf << SPACE) as u64),
    ("CERTAIN", CERTAIN as u64),
    ("LAST", LAST as u64),
    ("SHORT", SHORT as u64),
    ("SLACK", SLACK as u64),
    ("NO_OBJECT", NO_OBJECT),
    ("SMALL_OBJECT_START", (1 << SMALL_OBJECT_BYTES) - 1),
    ("SMALL_OBJECT_BYTES", SMALL_OBJECT_BYTES as u64),
    ("MOST_SMALL_OBJECT_BYTES", NO_OBJECT_BYTES - 1),
    ("LAST_BAD_THREAD", BadThreads::SLOTS as u64 - 1),
    ("MOST_BAD_ACCESSES", BadThreads::MOST_ACCESSES),
    ("STOPPED", BadThreads::STOPPED as u64 * 8),
    ("ORIGIN_GRANULE", Origins::GRANULE.trailing_zeros() as u64),
    ("ORIGIN_HASH", Origins::HASH),
    ("ORIGIN_HASH_SHIFT", 64 - Origins::SLOTS.trailing_zeros() as u64),
    ("ORIGIN_LAST_SLOT", Origins::SLOTS as u64 - 1),
    ("ORIGIN_SLOT_BYTES", (Origins::WORDS * 8).trailing_zeros() as u64),
    ("ORIGIN_PROBES", Origins::PROBES as u64),
    ("ORIGIN_OVERFLOW", Origins::OVERFLOW as u64 * 8),
];

/// The spaces that `what` tells apart, from 1 on.
const SPACES: [Space; 4] = [Space::Global, Space::Shared, Space::Local, Space::Const];

/// Whether undefined values are followed.
const UNDEF_VALUE_ERRORS: Flag = Flag {
    name: "undef-value-errors",
    help: "Whether uses of undefined values are reported: yes, or no, which is faster",
    value: Some(FlagValue { name: "YES|NO", default: "yes", check: check_yes_or_no }),
};

/// Whether it is noted what stored them.
const TRACK_ORIGINS: Flag = Flag {
    name: "track-origins",
    help: "Whether reports of undefined values say which kernels and copies brought them into memory: yes, or no",
    value: Some(FlagValue { name: "YES|NO", default: "no", check: check_yes_or_no }),
};

fn check_yes_or_no(value: &str) -> Result<(), String> {
    FlagValue::one_of(value, &["yes", "no"])
}

impl Tool for Memcheck {
    fn instrumentation(&self) -> &'static dyn Instrumentation {
        &Memcheck
    }

    fn about(&self) -> &'static str {
        "Runs a CUDA program and finds memory errors: out of bounds, use after free, misaligned, undefined values, leaks"
    }

    fn flags(&self) -> &'static [Flag] {
        &[Flag::NO_PROVE, UNDEF_VALUE_ERRORS, TRACK_ORIGINS]
    }

    fn explanations(&self) -> &'static [Explanation] {
        findings::EXPLANATIONS
    }

    fn start(&self, options: &Options, host: &Arc<dyn Host>) -> Result<Box<dyn Instance>, String> {
        host::MemcheckInstance::start(options, host)
    }
}

impl Instrumentation for Memcheck {
    fn name(&self) -> &'static str {
        "memcheck"
    }

    fn words(&self) -> &'static [Word] {
        &[
            ARENA,
            ARENA_BYTES,
            SHADOW,
            UNSHADOWED,
            UNSHADOWED_COUNT,
            BAD_THREADS,
            LAUNCH,
            DEFINED_DISTANCE,
            WINDOWS,
            WINDOWS_BYTES,
            SHARED_DISTANCE,
            UNDEFINED_MEMORY,
            ORIGINS,
            ORIGINS_LAUNCH,
        ]
    }

    fn survey(&self, program: &ProgramView<'_>) -> Option<Box<dyn State>> {
        let passing: Box<dyn State> = Box::new(defined::Passing::of(program)?);
        Some(passing)
    }

    fn versions(&self, kernel: &KernelView<'_>) -> Result<Vec<&'static str>, Refusal> {
        Ok(Version::names(KernelFacts::uses_own_memory(kernel)))
    }

    fn refuses(&self, version: usize, kernel: &KernelView<'_>) -> Option<Refusal> {
        (self.doubles_shared(version) && KernelFacts::asks_for_shared_bytes(kernel)).then(|| {
            Refusal::new(
                "memcheck",
                "shared-size",
                "it asks how much shared memory there is, and would find twice as much",
            )
        })
    }

    fn doubles_shared(&self, version: usize) -> bool {
        Version::of(version).shared_shadow == ShadowPlace::Block
    }

    fn is_plain(&self, version: usize) -> bool {
        Version::of(version).is_plain()
    }

    fn device_code(&self) -> Option<DeviceCode> {
        Some(DeviceCode { text: include_str!("device.ptx"), constants: CONSTANTS })
    }

    fn entry(&self, at: &mut Cursor<'_, '_>) {
        at.state::<Checked>().version = Some(version(at));
        if is_followed(at) {
            defined::entry(at);
        }
    }

    fn access(&self, at: &mut Cursor<'_, '_>, access: &Access) {
        if is_followed(at) && !access.is_unchecked {
            defined::addressed(at, access);
        }
        if version(at).bounds == Bounds::Checked && !access.is_unchecked {
            check_access(at, access);
        }
        if is_followed(at) {
            defined::access(at, access);
        }
    }

    fn definition(&self, at: &mut Cursor<'_, '_>, definition: &Definition) {
        if version(at).bounds == Bounds::Checked {
            texture::check(at, definition);
        }
        if is_followed(at) {
            defined::definition(at, definition);
        }
    }

    fn branch(&self, at: &mut Cursor<'_, '_>, branch: &Branch) {
        if is_followed(at) {
            defined::branch(at, branch);
        }
    }

    fn exit(&self, at: &mut Cursor<'_, '_>, exit: &Exit) {
        if is_followed(at) {
            defined::exit(at, exit);
        }
    }

    fn call(&self, at: &mut Cursor<'_, '_>, call: &Call) {
        if is_followed(at) {
            defined::call(at, call);
        }
    }

    fn sync(&self, at: &mut Cursor<'_, '_>, sync: &Sync) {
        if is_followed(at) {
            defined::sync(at, sync);
        }
    }
}

/// The version that is being made.
fn version(at: &Cursor<'_, '_>) -> Version {
    Version::of(at.version())
}

/// Whether undefined values are followed in it.
fn is_followed(at: &Cursor<'_, '_>) -> bool {
    version(at).follows != Follows::Nothing
}

/// Checks an access, and lets it happen where it is allowed.
fn check_access(at: &mut Cursor<'_, '_>, access: &Access) {
    // Another tool may have changed under which condition the access takes place.
    let is_unchanged = at.guard() == access.guard;
    let access = &Access { guard: at.guard(), group: access.group.filter(|_| is_unchanged), ..*access };
    if let Some(range) = Range::of(at, access) {
        range.check(at, access);
        return;
    }
    let found = slots::found_before(at, access).filter(|_| is_unchanged);
    let allowed = match found {
        Some(allowed) => allowed,
        None => {
            let Some(bytes) = checked_bytes(access) else { return };
            check::check(at, access, bytes)
        }
    };
    if !access.is_collective {
        allowed.apply(at);
    }
}

/// How many bytes are looked at for an access, if it is one that can be checked.
fn checked_bytes(access: &Access) -> Option<u32> {
    let (bytes, most) = match access.access.bytes {
        AccessBytes::Fixed(bytes) => (bytes, MOST_BYTES),
        AccessBytes::Rows(rows) => (rows.bytes, MOST_BYTES_OF_ROW),
        AccessBytes::Operand(_) | AccessBytes::Unknown => return None,
    };
    (bytes > 0 && bytes <= most && bytes.is_power_of_two()).then_some(bytes)
}

/// What the address of an access must be a multiple of.
///
/// Rows of matrices should be aligned, too, but how devices load them is not known, nor what they say of other rows.
fn alignment(access: &Access, bytes: u32) -> u32 {
    if matches!(access.access.bytes, AccessBytes::Rows(_)) { 1 } else { bytes }
}

/// Whether an address is certainly aligned as its access needs it.
fn is_aligned(access: &Access, bytes: u32) -> bool {
    match access.access.bytes {
        AccessBytes::Rows(_) => true,
        _ => matches!(access.pointer, PointerValue::Pointer { align, .. } if 1 << align >= bytes),
    }
}

/// Whether what a record says is that an address was not aligned.
fn is_misaligned(record: &Record) -> bool {
    let bytes = u64::from(record.what & BYTES);
    record.what & ROW == 0 && bytes > 1 && !record.address.is_multiple_of(bytes)
}
