//! What a launch tells its helpers: a table of words whose address every kernel gets in a hidden last parameter.
//!
//! Helpers may be called from functions that know nothing of the kernel's parameters, so each thread puts the address
//! into a word of shared memory when the kernel begins; all threads of a block put the same there, so nobody has to wait.
//!
//! The table has words of 64 bits: the address of the record buffer and that of the counters, one for each site; those of
//! [`Tallies`]; how much shared memory the program has; then those
//! that tools declare ([`Word`]), the same for all kernels; then those that a kernel needs for itself
//! ([`Cursor::kernel_word`](crate::Cursor::kernel_word)). [`Layout`] says where each is.
//!
//! A site writes [`RECORDS_PER_SITE`] records and counts the rest, so a million bad accesses cost what sixteen do.
//! Records are decoded when the launch ends, in the order of blocks and threads, so that the first one does not depend
//! on who came first.
//!
//! Helpers promise by the pragma `nosync` that they never wait. Otherwise a device that runs lanes in step must be
//! ready for a lane that waits for its neighbour inside a call, and would run every kernel with a check thread by
//! thread. NVIDIA's assembler says that it does not know the pragma, and goes on.

use ptx::ir::{Module, Symbol, Variable};
use ptx::types::Space;

/// A word of the launch context that a tool declares: its name, which is `$NAME` in the tool's device code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Word(pub &'static str);

/// Where the address of the record buffer is: see [`RecordBuffer`].
pub const RECORD_BUFFER: u32 = 0;
/// Where the address of the counters is, one of 64 bits for each site.
pub const COUNTERS: u32 = 8;
/// Where the address of the tallies is, if a tool has any: see [`Tallies`].
pub const TALLIES: u32 = 16;
/// Where is how many bytes the tallies of a worker have.
pub const TALLY_ROW: u32 = 24;
/// Where the words of [`DoubledShared`] begin, zeros if no tool asked for it.
pub const DOUBLED_SHARED: u32 = 32;
/// The most words of a table.
pub const MOST_WORDS: usize = 504;
/// Bytes of the largest table.
pub const MOST_TABLE: usize = MOST_WORDS * 8;

/// Where the words of tools are in the table.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Layout {
    words: Vec<(&'static str, Word)>,
}

impl Layout {
    /// For the words of some tools, each with the tool's name.
    pub(crate) fn new(words: impl IntoIterator<Item = (&'static str, Word)>) -> Self {
        let words: Vec<_> = words.into_iter().collect();
        assert!(words.len() < MOST_WORDS / 2, "tools declare too many words");
        Self { words }
    }

    /// The offset of a word in bytes; nothing if the tool has not declared it.
    pub fn offset(&self, tool: &str, word: Word) -> Option<u32> {
        self.named(tool, word.0)
    }

    /// Where the words of a kernel begin.
    pub fn kernel_words(&self) -> u32 {
        FIRST_WORD + 8 * self.words.len() as u32
    }

    /// The same by the word's name, which is all that device code has.
    pub(crate) fn named(&self, tool: &str, name: &str) -> Option<u32> {
        let index = self.words.iter().position(|(of, word)| *of == tool && word.0 == name)?;
        Some(FIRST_WORD + 8 * index as u32)
    }
}

const FIRST_WORD: u32 = DOUBLED_SHARED + 16;

/// What is known of a block that has [twice the shared memory](crate::Instrumentation::doubles_shared): a word each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DoubledShared {
    /// How many bytes of dynamic shared memory the program has.
    DynamicBytes,
    /// How far what is beside a byte of the program is from it. It lies after all dynamic memory of the program, and has so many
    /// bytes.
    Distance,
}

impl DoubledShared {
    /// Where the word is.
    pub const fn offset(self) -> u32 {
        DOUBLED_SHARED + 8 * self as u32
    }
}

/// What the workers of a launch count, each for itself, so that they need no atomic operations: for each worker (`%smid`) a row,
/// which begins with some bytes that helpers can use as they like, and then has a counter of 64 bits for each site. When the
/// launch ends, all are added to the counters of the module.
#[derive(Clone, Copy, Debug)]
pub struct Tallies;

impl Tallies {
    /// Bytes of a row that come before its counters.
    pub const FIRST: u32 = 64;

    /// Bytes of a row.
    pub fn row_bytes(sites: usize) -> usize {
        (Self::FIRST as usize + sites * 8).next_multiple_of(64)
    }
}

/// Records of one site beyond this are counted, and not written.
pub const RECORDS_PER_SITE: u64 = 16;

/// The buffer of records of a launch: a counter of all that were to be written, the number of those that there is room
/// for, and from [`RecordBuffer::RECORDS`] on the records.
#[derive(Clone, Copy, Debug)]
pub struct RecordBuffer;

impl RecordBuffer {
    /// Offset of the counter.
    pub const HEAD: usize = 0;
    /// Offset of the number of records that there is room for.
    pub const CAPACITY: usize = 8;
    /// Offset of a word that is not zero if there was anything to record.
    pub const IS_USED: usize = 16;
    /// Offset of the first record.
    pub const RECORDS: usize = 64;
    /// Bytes of a record.
    pub const RECORD: usize = 48;

    /// Bytes of a buffer.
    pub const fn bytes(capacity: usize) -> usize {
        Self::RECORDS + capacity * Self::RECORD
    }
}

/// One record: what a helper has to say of one thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Record {
    /// The block.
    pub block: [u32; 3],
    /// The thread.
    pub thread: [u32; 3],
    /// The place.
    pub site: u32,
    /// What the tool wants to say of it.
    pub what: u32,
    /// An address.
    pub address: u64,
    /// Another number.
    pub other: u64,
}

impl Record {
    const ADDRESS: usize = 0;
    const OTHER: usize = 8;
    const SITE: usize = 16;
    const WHAT: usize = 20;
    /// x in the lowest bits, and above it y and z, each with [`Self::THREAD_BITS`].
    const THREAD: usize = 24;
    const BLOCK_X: usize = 28;
    /// y in the lower bits, and above them z, each with [`Self::BLOCK_BITS`].
    const BLOCK_YZ: usize = 32;
    /// 1 once all of the record is written.
    const IS_WRITTEN: usize = 40;
    const THREAD_BITS: u32 = 10;
    const BLOCK_BITS: u32 = 16;

    /// Reads the bytes of a record; nothing if it was not written to its end.
    pub fn read(bytes: &[u8; RecordBuffer::RECORD]) -> Option<Self> {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        let (thread, block) = (word(Self::THREAD), word(Self::BLOCK_YZ));
        let low = |number: u32, bits: u32| number & ((1 << bits) - 1);
        (word(Self::IS_WRITTEN) == 1).then(|| Self {
            address: long(Self::ADDRESS),
            other: long(Self::OTHER),
            site: word(Self::SITE),
            what: word(Self::WHAT),
            thread: [
                low(thread, Self::THREAD_BITS),
                low(thread >> Self::THREAD_BITS, Self::THREAD_BITS),
                thread >> (2 * Self::THREAD_BITS),
            ],
            block: [word(Self::BLOCK_X), low(block, Self::BLOCK_BITS), block >> Self::BLOCK_BITS],
        })
    }
}

/// The variable with a word for each site, which modules have if a tool's helpers declare it. No program may access it.
pub const SITES_VARIABLE: &str = "warpgrind_sites";
/// The word of shared memory in it.
const CONTEXT_VARIABLE: &str = "warpgrind_context";

/// The word of shared memory with the address of the launch context.
pub(crate) fn context_variable(module: &Module) -> Symbol {
    shared_variable(module, CONTEXT_VARIABLE).expect("the runtime brings the variable")
}

/// A variable of a module in shared memory.
pub(crate) fn shared_variable(module: &Module, name: &str) -> Option<Symbol> {
    let is_it = |variable: &Variable| variable.space == Space::Shared && module.text(variable.name) == name;
    module.globals.iter().find(|(_, variable)| is_it(variable)).map(|(global, _)| Symbol::Global(global))
}

/// What the text of helpers may say by name: see [`DeviceCode`](crate::DeviceCode).
pub(crate) const CONSTANTS: &[(&str, u64)] = &[
    ("COUNTERS", COUNTERS as u64),
    ("TALLIES", TALLIES as u64),
    ("TALLY_ROW", TALLY_ROW as u64),
    ("DOUBLED_DYNAMIC_BYTES", DoubledShared::DynamicBytes.offset() as u64),
    ("DOUBLED_DISTANCE", DoubledShared::Distance.offset() as u64),
    ("FIRST_TALLY", Tallies::FIRST as u64),
    ("RECORDS_PER_SITE", RECORDS_PER_SITE),
    ("CAPACITY", RecordBuffer::CAPACITY as u64),
    ("IS_USED", RecordBuffer::IS_USED as u64),
    ("RECORDS", RecordBuffer::RECORDS as u64),
    ("RECORD", RecordBuffer::RECORD as u64),
    ("RECORD_OTHER", Record::OTHER as u64),
    ("RECORD_SITE", Record::SITE as u64),
    ("RECORD_WHAT", Record::WHAT as u64),
    ("RECORD_THREAD", Record::THREAD as u64),
    ("RECORD_THREAD_Y", Record::THREAD_BITS as u64),
    ("RECORD_THREAD_Z", 2 * Record::THREAD_BITS as u64),
    ("RECORD_BLOCK_X", Record::BLOCK_X as u64),
    ("RECORD_BLOCK_YZ", Record::BLOCK_YZ as u64),
    ("RECORD_BLOCK_Z", Record::BLOCK_BITS as u64),
    ("RECORD_IS_WRITTEN", Record::IS_WRITTEN as u64),
];

// What comes first has no offset in the text of helpers.
const _: () = assert!(RECORD_BUFFER == 0 && RecordBuffer::HEAD == 0 && Record::ADDRESS == 0);
