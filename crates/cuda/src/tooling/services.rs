//! What tools may ask of the process: memory, objects, stacks, and where findings go.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use device::{Device, Memory};
use report::{Coverage, Finding, Journal, Line, Row};
use rustc_hash::FxHashMap;
use toolkit::{Host, HostStack, Objects, Plane, PlaneLayout, PlaneOf, SharedWords};

use super::api_errors::{self, FailedCall};
use super::device_plane::DevicePlane;
use super::launch_buffers::{CountedLaunch, LaunchBuffers};
use super::shadow_plane::ShadowPlane;
use super::shared_words::ToolWords;
use super::stack;
use crate::process::fork;
use crate::process::mappings::Mapping;

/// The process, for its tools.
#[derive(Debug)]
pub(super) struct Services {
    pub(super) device: Arc<dyn Device>,
    objects: Mutex<Objects>,
    journal: Option<Journal>,
    /// Memory in which launches find their contexts.
    pub(super) launch_buffers: LaunchBuffers,
    state: Mutex<State>,
    /// The last line was written. Other threads may go on while the process ends.
    is_closed: Mutex<bool>,
    /// Calls that are kept of a stack of the host.
    callers: usize,
}

/// What was written down, and how much was checked.
#[derive(Debug, Default)]
pub(super) struct State {
    /// How many findings were written.
    findings: usize,
    pub(super) coverage: Coverage,
    /// Kernels that were launched.
    pub(super) kernels: BTreeSet<String>,
    /// Kernels of which launches were not checked.
    pub(super) skipped: BTreeSet<String>,
    /// Kernels that did not run, each with the reason.
    pub(super) not_run: BTreeSet<(String, String)>,
    /// Calls that returned an error: the function, the error, and the number of the place.
    pub(super) failed_calls: FxHashMap<(&'static str, u32, u64), FailedCall>,
    pub(super) is_ended: bool,
    /// What tools find is not for the user, because it is of a launch that is tried: how much it was.
    untold: Option<u64>,
    /// The process was forked by ours: who is told how much tools find, and nothing else.
    parent: Option<&'static fork::Shared>,
}

/// What tools find is told again once this is gone.
#[derive(Debug)]
pub(super) struct Quiet<'a> {
    services: &'a Services,
}

impl Drop for Quiet<'_> {
    fn drop(&mut self) {
        self.services.state().untold = None;
    }
}

impl Quiet<'_> {
    /// How many findings there were meanwhile.
    pub(super) fn findings(&self) -> u64 {
        self.services.state().untold.unwrap_or(0)
    }
}

impl Services {
    pub(super) fn new(device: &Arc<dyn Device>, session: Option<&Path>, callers: usize) -> io::Result<Self> {
        let journal = session.map(create_journal).transpose()?;
        Ok(Self {
            device: Arc::clone(device),
            objects: Mutex::default(),
            launch_buffers: LaunchBuffers::new(device, journal.as_ref().map(Journal::path))?,
            journal,
            state: Mutex::default(),
            is_closed: Mutex::default(),
            callers,
        })
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A launch begins; nothing if the process ends, and it is not to be accounted for.
    pub(super) fn begin_launch(&self) -> Option<CountedLaunch<'_>> {
        let state = self.state();
        (!state.is_ended).then(|| self.launch_buffers.count_launch())
    }

    pub(super) fn write(&self, line: &Line) {
        self.write_and(line, false);
    }

    /// Writes the last lines. What began and was not looked at before the end was not checked.
    pub(super) fn close(&self) {
        let mut state = self.state();
        let known = state.coverage.launches + state.coverage.unchecked_launches;
        state.coverage.unchecked_launches += self.launch_buffers.launches().saturating_sub(known);
        drop(state);
        self.write_coverage();
        self.write_and(&Line::End, true);
    }

    fn write_and(&self, line: &Line, closes: bool) {
        let mut is_closed = self.is_closed.lock().unwrap_or_else(PoisonError::into_inner);
        if *is_closed {
            return;
        }
        *is_closed = closes;
        self.launch_buffers.count_line();
        let result = self.journal.as_ref().map_or(Ok(()), |journal| journal.write(line));
        if let Err(error) = result {
            crate::log::say(&format!("what was found cannot be written down: {error}"));
        }
    }

    /// This process was forked: it writes nothing down, and tells its parent how much tools find.
    pub(super) fn leave_to(&self, parent: &'static fork::Shared) -> io::Result<()> {
        *self.is_closed.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.launch_buffers.make_private()?;
        self.state().parent = Some(parent);
        parent.begin();
        Ok(())
    }

    /// The directory of the run.
    pub(super) fn session(&self) -> Option<&Path> {
        self.journal.as_ref()?.path().parent()
    }

    /// What tools find is not told for a while.
    pub(super) fn quiet(&self) -> Quiet<'_> {
        self.state().untold = Some(0);
        Quiet { services: self }
    }

    /// Whether what tools find is not told.
    pub(super) fn is_quiet(&self) -> bool {
        self.state().untold.is_some()
    }

    /// Writes a finding; gives its number.
    pub(super) fn write_finding(&self, finding: Finding) -> usize {
        let mut state = self.state();
        if let Some(parent) = state.parent {
            if !finding.is_told_to_program() {
                parent.count_finding();
            }
            return state.findings;
        }
        if let Some(untold) = &mut state.untold {
            *untold += 1;
            return state.findings;
        }
        api_errors::note_finding();
        let number = state.findings;
        state.findings += 1;
        self.write(&Line::Finding(Box::new(finding)));
        number
    }

    pub(super) fn write_coverage(&self) {
        let coverage = self.state().coverage;
        self.write(&Line::Coverage(coverage));
    }

    /// The process ends.
    pub(super) fn leave(&self) {
        if let Some(journal) = &self.journal {
            journal.leave();
        }
    }

    pub(super) fn lock_objects(&self) -> MutexGuard<'_, Objects> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Host for Services {
    fn memory(&self) -> &dyn Memory {
        self.device.memory()
    }

    fn shared_range(&self) -> Option<(u64, u64)> {
        self.device.shared_range()
    }

    fn most_shared(&self) -> u64 {
        self.device.most_shared()
    }

    fn workers(&self) -> u32 {
        self.device.workers()
    }

    fn objects(&self) -> MutexGuard<'_, Objects> {
        self.lock_objects()
    }

    fn plane(&self, layout: PlaneLayout) -> io::Result<Box<dyn Plane>> {
        let bytes = match layout.of {
            PlaneOf::Global => self.memory().range().1,
            PlaneOf::Shared => self.device.shared_range().map_or(0, |(_, bytes)| bytes),
            PlaneOf::Bytes(bytes) => bytes,
        };
        match self.memory().remote() {
            None => Ok(Box::new(ShadowPlane::new(bytes, layout)?)),
            Some(_) => Ok(Box::new(DevicePlane::new(&self.device, bytes, layout)?)),
        }
    }

    fn words(&self, count: usize) -> io::Result<Arc<dyn SharedWords>> {
        Ok(Arc::new(ToolWords::new(&self.device, count)?))
    }

    fn has_memory_at(&self, address: u64) -> bool {
        has_memory_at(address)
    }

    fn stack(&self) -> HostStack {
        stack::capture(self.callers)
    }

    fn found(&self, finding: Finding) {
        self.write_finding(finding);
    }

    fn row(&self, row: Row) {
        self.write(&Line::Row(row));
    }

    fn not_checked(&self, reason: &str) {
        self.write(&Line::Unchecked { kernel: String::new(), reason: reason.to_owned() });
    }

    fn say(&self, text: &str) {
        crate::log::say(text);
    }

    fn registers(&self, ptxas: Option<&Path>, text: &str, kernel: &str, architecture: &str) -> Option<u32> {
        super::ptxas::registers(ptxas, text, kernel, architecture)
    }

    fn has_unordered_streams(&self) -> bool {
        crate::order::has_unordered_streams()
    }

    fn has_valgrind(&self) -> bool {
        valgrind::is_there()
    }

    fn undefined_bits(&self, address: u64, bits: &mut [u8]) -> bool {
        valgrind::bits(address, bits)
    }

    fn set_undefined_bits(&self, address: u64, bits: &[u8]) {
        valgrind::set_bits(address, bits);
    }

    fn is_in_stream(&self) -> bool {
        crate::queue::is_at_work()
    }
}

/// A journal of this process. There may be older ones: a process can become another program.
pub(super) fn create_journal(session: &Path) -> io::Result<Journal> {
    let id = std::process::id();
    for number in 0..10_000 {
        match Journal::create(&session.join(format!("{id}-{number}.journal"))) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            result => return result,
        }
    }
    Err(io::Error::other("the process has become too many programs"))
}

/// Whether the process has memory at an address.
fn has_memory_at(address: u64) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    Mapping::all(&maps).any(|mapping| mapping.is_readable() && mapping.addresses.contains(&address))
}
