//! What a launch tells its helpers: a table of words whose address every kernel gets in a hidden last parameter.
//!
//! Helpers may be called from functions that know nothing of the kernel's parameters, so each thread puts the address
//! into a word of shared memory when the kernel begins; all threads of a block put the same there, so nobody has to wait.
//!
//! The table has words of 64 bits: [`Word`], and after them two words for each [`PointerSlot`]: where
//! the object begins that the pointer points into, and how many bytes it has.
//!
//! A site writes [`RECORDS_PER_SITE`] records and counts the rest, so a million bad accesses cost what sixteen do.
//! Records are decoded when the launch ends, in the order of blocks and threads, so that the first one does not depend
//! on who came first.
//!
//! Helpers promise by the pragma `nosync` that they never wait. Otherwise a device that runs lanes in step must be
//! ready for a lane that waits for its neighbour inside a call, and would run every kernel with a check thread by
//! thread. NVIDIA's assembler says that it does not know the pragma, and goes on.

/// The words of the table, by their offset in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Word {
    /// The address of the buffer of records: see [`RecordBuffer`].
    RecordBuffer = 0,
    /// The address of the counters, one of 64 bits for each site.
    Counters = 8,
    /// Where the memory begins that has a shadow.
    Arena = 16,
    /// How many bytes it has.
    ArenaBytes = 24,
    /// Where its shadow begins: one byte for four.
    Shadow = 32,
    /// The address of the table of other memory: first address, end and permissions of each piece.
    Unshadowed = 40,
    /// How many pieces it has.
    UnshadowedCount = 48,
}

/// A parameter of a kernel that is a pointer, and whose object the launch looks up.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PointerSlot {
    /// The parameter, counted from 0.
    pub param: usize,
    /// Where in it the pointer is.
    pub offset: u32,
    /// What the pointer must be a multiple of: accesses rely on it.
    pub align: u32,
    /// How many bytes the object must have: checks subtract so many from its size, and rely on it.
    pub bytes: u32,
}

/// Where the slots begin.
pub const SLOTS: u32 = 64;
/// Bytes of a slot.
pub const SLOT: u32 = 16;
/// The most slots of a kernel.
pub const MOST_SLOTS: usize = 248;
/// Bytes of the largest table.
pub const MOST_TABLE: usize = SLOTS as usize + MOST_SLOTS * SLOT as usize;

/// The lower bound of a slot whose pointer points to nothing that is known, so that it says nothing: no device has
/// memory there.
pub const NO_OBJECT: u64 = 1 << 63;
/// The size of the object of such a slot. It is as large as the largest access, so that sizes can be subtracted.
pub const NO_OBJECT_BYTES: u64 = MOST_BYTES as u64;
/// The largest access that is compared with the bounds of a slot.
pub const MOST_BYTES: u32 = 32;

/// The lower bound of a slot whose object is smaller than checks rely on. Like [`NO_OBJECT`] it is after all memory,
/// and the slot has [`NO_OBJECT_BYTES`], so that every access is looked at closely: by the address in bits 0 to 57 and the
/// size in bits 58 to 62.
pub fn small_object(start: u64, bytes: u64) -> u64 {
    assert!(
        start < 1 << SMALL_OBJECT_BYTES && bytes < NO_OBJECT_BYTES,
        "{bytes} bytes at {start:#x} are no small object"
    );
    NO_OBJECT | bytes << SMALL_OBJECT_BYTES | start
}

/// Where in the lower bound of a small object its size is.
const SMALL_OBJECT_BYTES: u32 = 58;

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
pub(crate) const CONTEXT_VARIABLE: &str = "warpgrind_context";

/// What the text of helpers may say by name: see [`DeviceCode`](crate::DeviceCode).
pub(crate) const CONSTANTS: &[(&str, u64)] = &[
    ("COUNTERS", Word::Counters as u64),
    ("ARENA", Word::Arena as u64),
    ("ARENA_BYTES", Word::ArenaBytes as u64),
    ("SHADOW", Word::Shadow as u64),
    ("UNSHADOWED", Word::Unshadowed as u64),
    ("UNSHADOWED_COUNT", Word::UnshadowedCount as u64),
    ("NO_OBJECT", NO_OBJECT),
    ("SMALL_OBJECT_START", (1 << SMALL_OBJECT_BYTES) - 1),
    ("SMALL_OBJECT_BYTES", SMALL_OBJECT_BYTES as u64),
    ("MOST_SMALL_OBJECT_BYTES", NO_OBJECT_BYTES - 1),
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
const _: () = assert!(Word::RecordBuffer as u32 == 0 && RecordBuffer::HEAD == 0 && Record::ADDRESS == 0);
