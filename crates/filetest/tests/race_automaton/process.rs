//! What the process of a program is to racecheck: a little memory, planes that lie beside it, and words.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use device::{Memory, OutOfMemory};
use report::{Finding, Row};
use toolkit::{Host, HostStack, Objects, Plane, PlaneLayout, PlaneOf, SharedWords};

/// A range of addresses: where it begins, and how many bytes it has.
pub(crate) type Range = (u64, u64);

/// The process. All of its memory was allocated before.
#[derive(Debug)]
pub(crate) struct Process {
    /// All memory of the device, as the tool is told.
    pub(crate) data: Data,
    /// Where shared memory is.
    pub(crate) shared: Range,
    /// Where the planes of both begin.
    pub(crate) planes: [u64; 2],
    /// Memory for words, and what was given out of it.
    pub(crate) pool: Range,
    pub(crate) words: Mutex<Vec<Arc<Words>>>,
    pub(crate) objects: Mutex<Objects>,
}

/// Words at an address of the device, of which this is what the process sees.
#[derive(Debug)]
pub(crate) struct Words {
    address: u64,
    words: Box<[AtomicU64]>,
}

impl SharedWords for Words {
    fn words(&self) -> &[AtomicU64] {
        &self.words
    }

    fn address(&self) -> u64 {
        self.address
    }
}

impl Words {
    /// Where they are, and their bytes.
    pub(crate) fn bytes(&self) -> (u64, Vec<u8>) {
        (self.address, self.words.iter().flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes()).collect())
    }
}

impl Host for Process {
    fn memory(&self) -> &dyn Memory {
        &self.data
    }

    fn shared_range(&self) -> Option<(u64, u64)> {
        Some(self.shared)
    }

    fn most_shared(&self) -> u64 {
        self.shared.1
    }

    fn objects(&self) -> MutexGuard<'_, Objects> {
        self.objects.lock().unwrap()
    }

    fn plane(&self, layout: PlaneLayout) -> io::Result<Box<dyn Plane>> {
        assert_eq!(layout.granule, 4, "the kernel accesses four bytes at a time");
        Ok(Box::new(PlaneAt(self.planes[usize::from(layout.of != PlaneOf::Global)])))
    }

    fn words(&self, count: usize) -> io::Result<Arc<dyn SharedWords>> {
        let mut given = self.words.lock().unwrap();
        let before: usize = given.iter().map(|words| words.words.len()).sum();
        assert!(8 * (before + count) as u64 <= self.pool.1, "there is no room for {count} words");
        let words = (0..count).map(|_| AtomicU64::new(0)).collect();
        let words = Arc::new(Words { address: self.pool.0 + 8 * before as u64, words });
        given.push(Arc::clone(&words));
        Ok(words)
    }

    fn has_memory_at(&self, _: u64) -> bool {
        false
    }

    fn stack(&self) -> HostStack {
        HostStack::default()
    }

    fn found(&self, finding: Finding) {
        panic!("findings come of records: {}", finding.message);
    }

    fn row(&self, _: Row) {}

    fn not_checked(&self, reason: &str) {
        panic!("{reason}");
    }

    fn say(&self, _: &str) {}

    fn registers(&self, _: Option<&Path>, _: &str, _: &str, _: &str) -> Option<u32> {
        None
    }

    fn is_in_stream(&self) -> bool {
        false
    }
}

/// The memory of the device that has records. What is in it the test knows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Data(pub(crate) Range);

const NOBODY_ASKS: &str = "racecheck only asks where memory is";

impl Memory for Data {
    fn allocate(&self, _: u64, _: u64) -> Result<u64, OutOfMemory> {
        unreachable!("{NOBODY_ASKS}")
    }

    fn allocate_shared(&self, _: u64, _: u64) -> Result<u64, OutOfMemory> {
        unreachable!("{NOBODY_ASKS}")
    }

    fn set_protection_key(&self, _: u32) -> io::Result<()> {
        unreachable!("{NOBODY_ASKS}")
    }

    fn free(&self, _: u64) -> bool {
        unreachable!("{NOBODY_ASKS}")
    }

    fn allocation(&self, _: u64) -> Option<Range> {
        unreachable!("{NOBODY_ASKS}")
    }

    fn range(&self) -> Range {
        self.0
    }

    fn total_bytes(&self) -> u64 {
        self.0.1
    }

    fn free_bytes(&self) -> u64 {
        0
    }

    fn write(&self, _: u64, _: &[u8]) -> bool {
        unreachable!("{NOBODY_ASKS}")
    }

    fn read(&self, _: u64, _: &mut [u8]) -> bool {
        unreachable!("{NOBODY_ASKS}")
    }
}

/// A plane, by its address: kernels and the test access it, and the tool only asks where it is.
#[derive(Debug)]
struct PlaneAt(u64);

impl Plane for PlaneAt {
    fn address(&self) -> u64 {
        self.0
    }

    fn fill(&self, _: u64, _: u64, _: u8) {
        unreachable!("{NOBODY_ASKS}")
    }

    fn first_set(&self, _: u64, _: u64) -> Option<u64> {
        unreachable!("{NOBODY_ASKS}")
    }

    fn copy(&self, _: u64, _: u64, _: u64) {
        unreachable!("{NOBODY_ASKS}")
    }

    fn find_word(&self, _: u64, _: u64, _: &dyn Fn(u64) -> bool) -> Option<(u64, u64)> {
        unreachable!("{NOBODY_ASKS}")
    }

    fn raise_words(&self, _: u64, _: u64, _: u64) {
        unreachable!("{NOBODY_ASKS}")
    }

    fn touched_words(&self, _: u64, _: u64) -> Vec<std::ops::Range<u64>> {
        unreachable!("{NOBODY_ASKS}")
    }

    fn forget_words(&self, _: &std::ops::Range<u64>) {
        unreachable!("{NOBODY_ASKS}")
    }

    fn read(&self, _: u64, _: &mut [u8]) {
        unreachable!("{NOBODY_ASKS}")
    }

    fn write(&self, _: u64, _: &[u8]) {
        unreachable!("{NOBODY_ASKS}")
    }

    fn change(&self, _: u64, _: u8, _: u8) {
        unreachable!("{NOBODY_ASKS}")
    }
}
