//! Memory in which launches find their contexts and leave their records, in buffers of a fixed size.
//!
//! It is a file of the session, so that records outlive the process; for a device that does not access memory of the process,
//! memory that it shares, and then records of a launch under way end with the process.
//!
//! Unsafe: kernels write it while we read it. What is read are single words that are there or not.
#![allow(unsafe_code, reason = "kernels write this memory")]

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use device::Device;
use report::Counts;
use rewrite::context::{MOST_TABLE, Record, RecordBuffer};

use toolkit::SharedWords;

use super::shared_words::ToolWords;
use crate::address_space::{Memory, Range};

/// Memory for some launches at a time.
#[derive(Debug)]
pub(super) struct LaunchBuffers {
    /// The numbers of launches and lines, in the file of the session.
    counts: Range,
    memory: Memory,
    /// The buffers: in that file, or in memory that the device shares.
    buffers: Buffers,
    /// The numbers of buffers that nobody uses.
    free: Mutex<Vec<u64>>,
    is_free: Condvar,
}

/// Where buffers are.
#[derive(Debug)]
enum Buffers {
    /// In the file of the session, from this address on: they outlive the process.
    InFile(u64),
    Shared(ToolWords),
}

/// The memory of one launch.
#[derive(Debug)]
pub(super) struct LaunchBuffer<'a> {
    pool: &'a LaunchBuffers,
    number: u64,
}

/// A launch that has begun.
#[derive(Debug)]
pub(crate) struct CountedLaunch<'a> {
    pool: &'a LaunchBuffers,
}

/// Bytes before the buffers, for [`Counts`].
const COUNTS: u64 = 4096;
/// Launches at a time.
const BUFFERS: u64 = 64;
/// Bytes of each.
const BYTES: u64 = 64 << 10;
/// Below the windows of the CPU device. Kernels have the address of their context in shared memory: a fault in an address of
/// theirs may read it, and what comes of that is to be the same in each run.
const WANTED: u64 = 0x1700_0000_0000;
/// Where the record buffer begins.
const RECORD_BUFFER: u64 = (MOST_TABLE as u64).next_multiple_of(64);
/// Records that there is room for.
const CAPACITY: u64 = (BYTES - RECORD_BUFFER - RecordBuffer::RECORDS as u64) / RecordBuffer::RECORD as u64;

impl LaunchBuffers {
    /// Memory in the file beside a journal.
    pub(super) fn new(device: &Arc<dyn Device>, journal: Option<&Path>) -> io::Result<Self> {
        let shared = match device.memory().remote() {
            None => None,
            Some(_) => Some(ToolWords::new(device, (BUFFERS * BYTES / 8) as usize)?),
        };
        Self::with(journal, shared)
    }

    fn with(journal: Option<&Path>, shared: Option<ToolWords>) -> io::Result<Self> {
        let bytes = COUNTS + if shared.is_some() { 0 } else { BUFFERS * BYTES };
        let memory = match journal {
            None => Memory::new(bytes)?,
            Some(journal) => {
                let path = Counts::path(journal);
                Memory::of_file(OpenOptions::new().read(true).write(true).create_new(true).open(path)?, bytes)?
            }
        };
        let range = Range::reserve_from(WANTED, bytes, 4096)?;
        range.map(range.address, bytes, &memory, 0)?;
        range.allow(range.address, bytes, true)?;
        let buffers = shared.map_or(Buffers::InFile(range.address + COUNTS), Buffers::Shared);
        Ok(Self { counts: range, memory, buffers, free: Mutex::new((0..BUFFERS).collect()), is_free: Condvar::new() })
    }

    /// This process was forked: what it writes from now on is its own.
    pub(super) fn make_private(&self) -> io::Result<()> {
        self.counts.copy(self.counts.address, self.memory.bytes, &self.memory)
    }

    /// How many launches have begun.
    fn begun(&self) -> &AtomicU64 {
        // SAFETY: within the range, aligned, and zero or what such a number was set to.
        unsafe { AtomicU64::from_ptr(self.counts.address as *mut u64) }
    }

    /// How many have ended.
    fn ended(&self) -> &AtomicU64 {
        // SAFETY: within the range, aligned, and zero or what such a number was set to.
        unsafe { AtomicU64::from_ptr((self.counts.address + 8) as *mut u64) }
    }

    /// How many lines were to be written to the journal.
    fn lines(&self) -> &AtomicU64 {
        // SAFETY: within the range, aligned, and zero or what such a number was set to.
        unsafe { AtomicU64::from_ptr((self.counts.address + 16) as *mut u64) }
    }

    /// How many launches have begun.
    pub(super) fn launches(&self) -> u64 {
        self.begun().load(Ordering::Relaxed)
    }

    /// A line is to be written to the journal.
    pub(super) fn count_line(&self) {
        self.lines().fetch_add(1, Ordering::Relaxed);
    }

    /// A launch begins, in however many runs. It ends with the value.
    pub(super) fn count_launch(&self) -> CountedLaunch<'_> {
        self.begun().fetch_add(1, Ordering::Relaxed);
        CountedLaunch { pool: self }
    }

    /// A buffer with this table. Waits if all are in use: launches end.
    pub(super) fn take(&self, table: &[u64]) -> LaunchBuffer<'_> {
        assert!(table.len() * 8 <= MOST_TABLE, "tables are limited");
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let number = loop {
            match free.pop() {
                Some(number) => break number,
                None => free = self.is_free.wait(free).unwrap_or_else(PoisonError::into_inner),
            }
        };
        let buffer = LaunchBuffer { pool: self, number };
        // SAFETY: the buffer is within the range, and nobody else has it.
        unsafe {
            let start = buffer.address() as *mut u64;
            std::ptr::copy_nonoverlapping(table.as_ptr(), start, table.len());
            let word = |offset: usize| (buffer.record_buffer() + offset as u64) as *mut u64;
            word(RecordBuffer::HEAD).write(0);
            word(RecordBuffer::CAPACITY).write(CAPACITY);
            word(RecordBuffer::IS_USED).write(0);
        }
        buffer
    }
}

impl LaunchBuffer<'_> {
    /// Where its table is.
    pub(super) fn address(&self) -> u64 {
        let first = match &self.pool.buffers {
            Buffers::InFile(address) => *address,
            Buffers::Shared(words) => words.address(),
        };
        first + self.number * BYTES
    }

    /// Where its record buffer is.
    pub(super) fn record_buffer(&self) -> u64 {
        self.address() + RECORD_BUFFER
    }

    /// Sets a word of the table, before the launch.
    pub(super) fn set(&self, offset: u32, value: u64) {
        assert!(offset as usize + 8 <= MOST_TABLE, "tables are limited");
        // SAFETY: within the buffer.
        unsafe { ((self.address() + u64::from(offset)) as *mut u64).write(value) };
    }

    /// Whether the launch has found anything at all.
    pub(super) fn has_findings(&self) -> bool {
        // SAFETY: within the buffer; the launch has ended.
        unsafe { ((self.record_buffer() + RecordBuffer::IS_USED as u64) as *const u64).read_volatile() != 0 }
    }

    /// How many records there were to be written until now.
    pub(super) fn recorded(&self) -> u64 {
        // SAFETY: within the buffer.
        unsafe { ((self.record_buffer() + RecordBuffer::HEAD as u64) as *const u64).read_volatile() }
    }

    /// Takes the records that are there, each with its number, after those that were taken before. Also says for how many
    /// there was no room since the launch began.
    pub(super) fn records(&self, taken: &mut u64) -> (Vec<(u64, Record)>, u64) {
        let mut records = Vec::new();
        let wanted = self.recorded();
        while *taken < wanted.min(CAPACITY) {
            let at = (self.record_buffer() + RecordBuffer::RECORDS as u64 + *taken * RecordBuffer::RECORD as u64)
                as *mut [u8; RecordBuffer::RECORD];
            // SAFETY: within the buffer. A thread of the launch may be about to write it; then it is not there yet.
            let bytes = unsafe { at.read_volatile() };
            let Some(record) = Record::read(&bytes) else { break };
            // SAFETY: within the buffer. It is cleared, so that the next launch starts with records that are not there.
            unsafe { at.write([0; RecordBuffer::RECORD]) };
            records.push((*taken, record));
            *taken += 1;
        }
        (records, wanted.saturating_sub(CAPACITY))
    }
}

impl CountedLaunch<'_> {
    /// It came too late, and is no launch.
    pub(super) fn forget(self) {
        self.pool.begun().fetch_sub(1, Ordering::Relaxed);
        std::mem::forget(self);
    }
}

impl Drop for CountedLaunch<'_> {
    fn drop(&mut self) {
        self.pool.ended().fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for LaunchBuffer<'_> {
    fn drop(&mut self) {
        self.pool.free.lock().unwrap_or_else(PoisonError::into_inner).push(self.number);
        self.pool.is_free.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Has the kernel of a launch ask for the writing of so many records.
    fn record(buffer: &LaunchBuffer<'_>, count: u64) {
        // SAFETY: the counter of the records is within the buffer, and nobody else has the buffer.
        unsafe { ((buffer.record_buffer() + RecordBuffer::HEAD as u64) as *mut u64).write(count) };
    }

    #[test]
    fn records_without_room_are_all_that_were_lost_however_often_one_asks() {
        let buffers = LaunchBuffers::with(None, None).expect("there is memory");
        let buffer = buffers.take(&[0; 8]);
        let mut taken = 0;
        record(&buffer, CAPACITY + 5);
        assert_eq!(buffer.records(&mut taken).1, 5);
        record(&buffer, CAPACITY + 7);
        assert_eq!(buffer.records(&mut taken).1, 7);
    }
}
