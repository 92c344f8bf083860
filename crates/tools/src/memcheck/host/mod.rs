//! memcheck in the process of the program: it keeps the shadow and what was freed, and makes findings of records.

mod bad_threads;
mod errors;
mod heaps;
mod shadow;

use std::sync::Arc;

use report::Finding;
use rewrite::context::Record;
use rewrite::{KernelVersion, Refusal};
use toolkit::objects::{AtAddress, Described, Moment, Object};
use toolkit::{
    Evidence, Failure, Flag, Host, HostEvent, HostStack, Instance, LaunchView, Options, Words, quarantine,
    site_variable,
};

use super::findings::BadAccess;
use super::slots::{Checked, NO_OBJECT};
use super::texture;
use super::{
    ARENA, ARENA_BYTES, BAD_THREADS, CHECKED, LAUNCH, PROVED, SHADOW, UNSHADOWED, UNSHADOWED_COUNT, is_misaligned,
};
pub(super) use bad_threads::BadThreads;
use shadow::Shadow;

/// memcheck in a process.
#[derive(Debug)]
pub(super) struct MemcheckInstance {
    host: Arc<dyn Host>,
    options: Options,
    shadow: Shadow,
    bad_threads: BadThreads,
}

impl MemcheckInstance {
    pub(super) fn start(options: &Options, host: &Arc<dyn Host>) -> Result<Box<dyn Instance>, String> {
        let shadow = Shadow::new(&**host)
            .map_err(|error| format!("no memory can be had for the tools ({error}), so nothing is checked"))?;
        Ok(Box::new(Self {
            host: Arc::clone(host),
            options: options.clone(),
            shadow,
            bad_threads: BadThreads::default(),
        }))
    }

    /// What is at the address of a record, and which object the pointer was made from.
    fn objects_of(&self, record: &Record, evidence: &Evidence<'_>) -> (AtAddress, Option<Described>) {
        let is_device = self.host.memory().contains(record.address);
        let objects = self.host.objects();
        let is_host = || !is_device && self.host.has_memory_at(record.address);
        let memory = objects.at(record.address, Some(evidence.when), is_host);
        let meant = match site_variable(evidence, record.other) {
            Some(variable) => (record.other != 0).then_some(variable),
            None if record.other == NO_OBJECT => None,
            None => objects.starting_at(record.other),
        };
        (memory, meant)
    }
}

impl Instance for MemcheckInstance {
    fn redzone(&self) -> u64 {
        quarantine::REDZONE
    }

    fn wants_stacks(&self) -> bool {
        true
    }

    fn keeps_host_out(&self) -> bool {
        true
    }

    fn on_event(&self, event: &HostEvent<'_>) {
        match *event {
            HostEvent::Allocated(object) => self.shadow.set(object.start, object.bytes, true),
            HostEvent::Unmapped(object) => self.shadow.set(object.start, object.bytes, false),
            HostEvent::InvalidFree { address } => self.on_invalid_free(address),
            HostEvent::InvalidFreeInKernel { address, place } => self.on_invalid_free_in_kernel(address, place),
            HostEvent::CopyOverrun { address, bytes } => self.on_copy_overrun(address, bytes),
            HostEvent::BindingOverrun { address, bytes } => self.on_binding_overrun(address, bytes),
            HostEvent::UnpinnedCopy { is_to_host } => self.on_unpinned_copy(is_to_host),
            HostEvent::Copy { address, bytes } => self.on_copy(address, bytes),
            HostEvent::CopyOfFreed { address } => self.on_copy_of_freed(address),
            HostEvent::HostAccess { address, is_write, stack } => self.on_host_access(address, is_write, stack),
            HostEvent::ContextEnds { taken } => self.report_leaks_of_context(taken),
            HostEvent::HeapAppears { start, bytes, usage, label, settle } => {
                self.heap_appears(start, bytes, usage, label.cloned(), settle);
            }
            HostEvent::HeapVanishes { start } => self.heap_vanishes(start),
            HostEvent::HeapIsReset { start, settle } => self.heap_is_reset(start, settle),
            HostEvent::PartAppears { start, bytes } => self.part_appears(start, bytes),
            HostEvent::PartIsResized { start, bytes, settle } => self.part_is_resized(start, bytes, settle),
            HostEvent::PartVanishes { start, settle } => self.part_vanishes(start, settle),
            HostEvent::Permissions { start, given, settle } => self.on_permissions(start, given, settle),
            HostEvent::PermissionsAreReset { settle } => self.rights_are_reset(settle),
        }
    }

    fn on_free(&self, object: &Object, stack: &HostStack, when: Option<Moment>) -> bool {
        self.shadow.set(object.start, object.bytes, false);
        quarantine::keep(self.host.memory(), &mut self.host.objects(), object.clone(), stack.clone(), when);
        false
    }

    fn make_room(&self) -> bool {
        quarantine::empty(&*self.host)
    }

    fn hidden_bytes(&self) -> u64 {
        self.host.objects().hidden_bytes(quarantine::REDZONE)
    }

    fn choose(&self, launch: &LaunchView<'_>) -> Result<usize, Refusal> {
        if self.options.has(&Flag::NO_PROVE) {
            return Ok(CHECKED);
        }
        let footprint = launch.footprint(&self.host.objects());
        Ok(if footprint.is_some_and(|footprint| footprint.bounds.is_proved()) { PROVED } else { CHECKED })
    }

    fn words(&self, launch: &LaunchView<'_>, version: &KernelVersion, words: &mut Words<'_>) {
        let mut objects = self.host.objects();
        let unshadowed = objects.unshadowed();
        words.set(ARENA, self.shadow.base);
        words.set(ARENA_BYTES, self.shadow.bytes);
        words.set(SHADOW, self.shadow.address());
        words.set(UNSHADOWED, unshadowed.as_ptr() as u64);
        words.set(UNSHADOWED_COUNT, unshadowed.len() as u64);
        words.keep(Arc::new(unshadowed));
        words.set(BAD_THREADS, self.bad_threads.address());
        words.set(LAUNCH, BadThreads::key(launch));
        if let Some(checked) = version.state::<Checked>("memcheck") {
            for slot in &checked.slots {
                for (word, value) in slot.words(&objects, launch) {
                    words.set_kernel_word(word, value);
                }
            }
        }
    }

    fn record(&self, record: &Record, evidence: &Evidence<'_>) -> Option<Finding> {
        if texture::is_fetch(record) {
            return Some(texture::finding(record, evidence));
        }
        let (memory, meant) = self.objects_of(record, evidence);
        let bad = BadAccess {
            record: *record,
            place: evidence.place.clone(),
            occurrence: evidence.occurrence.clone(),
            count: evidence.count,
            memory: Some(memory),
            meant,
            launched: Some(evidence.launched.clone()),
        };
        bad.finding()
    }

    fn failure(&self, record: &Record) -> Option<Failure> {
        match () {
            () if texture::is_fetch(record) => None,
            () if is_misaligned(record) => Some(Failure::MisalignedAddress),
            () => Some(Failure::IllegalAddress),
        }
    }

    fn has_stopped(&self, launch: &LaunchView<'_>) -> bool {
        let is_stopped = self.bad_threads.have_stopped(launch);
        if is_stopped {
            self.host.say(&format!(
                "a thread of the kernel `{}` had {} bad accesses and was stopped: it may go on for ever on the zeros that it \
                 gets instead of what it cannot read",
                report::demangled(launch.kernel),
                BadThreads::MOST_ACCESSES
            ));
        }
        is_stopped
    }

    fn finish(&self) {
        self.report_leaks_of_process();
    }
}
