//! memcheck in the process of the program: it keeps the shadow and what was freed, and makes findings of records.

mod bad_threads;
mod defined;
mod errors;
mod heaps;
mod origins;
mod shadow;
mod stream_memory;
mod suspects;

use std::sync::Arc;

use report::{Finding, Note};
use rewrite::context::Record;
use rewrite::{KernelVersion, Refusal};
use settings::ApiErrors;
use toolkit::objects::{AtAddress, Described, Moment, Object};
use toolkit::{
    DeviceAccess, Evidence, Failure, Flag, Host, HostEvent, HostStack, Instance, LaunchView, Options, Words, WorkOrder,
    quarantine, site_variable,
};

use super::defined::origin;
use super::findings::BadAccess;
use super::kernel_facts::KernelFacts;
use super::slots::{Checked, NO_OBJECT};
use super::texture;
use super::undefined::{self, Loaded};
use super::version::{Bounds, Follows, ShadowPlace, Version};
use super::{
    ARENA, ARENA_BYTES, BAD_THREADS, LAUNCH, ORIGINS, ORIGINS_LAUNCH, SHADOW, TRACK_ORIGINS, UNDEF_VALUE_ERRORS,
    UNSHADOWED, UNSHADOWED_COUNT, is_misaligned,
};
pub(super) use bad_threads::BadThreads;
use defined::Definedness;
pub(super) use origins::Origins;
use shadow::Shadow;
use stream_memory::{StreamMemory, Use};

/// memcheck in a process.
#[derive(Debug)]
pub(super) struct MemcheckInstance {
    host: Arc<dyn Host>,
    options: Options,
    shadow: Shadow,
    bad_threads: BadThreads,
    stream_memory: StreamMemory,
    /// Which memory is undefined, if that is followed.
    definedness: Option<Definedness>,
    /// What stored undefined values, if that is noted.
    origins: Option<Origins>,
}

impl MemcheckInstance {
    pub(super) fn start(options: &Options, host: &Arc<dyn Host>) -> Result<Box<dyn Instance>, String> {
        let no_memory = |error| format!("no memory can be had for the tools ({error}), so nothing is checked");
        let shadow = Shadow::new(&**host).map_err(no_memory)?;
        let is_followed = options.get(&UNDEF_VALUE_ERRORS) == "yes";
        let definedness = is_followed.then(|| Definedness::new(&**host)).transpose().map_err(no_memory)?;
        let tracks_origins = is_followed && options.get(&TRACK_ORIGINS) == "yes";
        let origins = tracks_origins.then(|| Origins::new(&**host)).transpose().map_err(no_memory)?;
        Ok(Box::new(Self {
            host: Arc::clone(host),
            options: options.clone(),
            shadow,
            bad_threads: BadThreads::new(&**host).map_err(no_memory)?,
            stream_memory: StreamMemory::default(),
            definedness,
            origins,
        }))
    }

    /// Where the shadow of shared memory is.
    fn shared_shadow(&self) -> ShadowPlace {
        if self.host.shared_range().is_some() { ShadowPlace::Plane } else { ShadowPlace::Block }
    }

    /// Whether the blocks of a launch have room for the shadow of their shared memory. Those of a cooperative launch must be there
    /// all at once, and the program has asked how many of them fit, without it.
    fn has_room(&self, launch: &LaunchView<'_>) -> bool {
        /// What tools have of their own, and what lies between memory and its shadow.
        const MOST_BESIDE: u64 = 2048;
        let bytes = launch.static_shared + u64::from(launch.shape.dynamic_shared);
        !launch.shape.is_cooperative && 2 * bytes + MOST_BESIDE <= self.host.most_shared()
    }

    /// Work of the host uses memory, perhaps that of a stream.
    fn on_use(&self, addresses: &[u64], what: &str, stack: &HostStack, order: Option<&WorkOrder>) {
        let Some(order) = order else { return };
        let used = Use::new(order, what, stack);
        for finding in addresses.iter().filter_map(|&address| self.stream_memory.on_use(address, &used)) {
            self.host.found(finding);
        }
    }

    /// A launch uses memory, perhaps that of a stream.
    fn on_use_by_launch(&self, launch: &LaunchView<'_>) {
        let Some(used) = Use::of_launch(launch) else { return };
        for address in defined::used_by_launch(launch, facts(launch)) {
            if let Some(finding) = self.stream_memory.on_use(address, &used) {
                self.host.found(finding);
            }
        }
    }

    /// Memory was copied.
    fn on_copied(&self, from: u64, to: u64, bytes: u64, stack: &HostStack) {
        let Some(definedness) = &self.definedness else { return };
        if let Some(origins) = &self.origins {
            origins.on_copied(from, to, bytes, stack);
        }
        let Some(undefined) = definedness.on_copied(&*self.host, from, to, bytes) else { return };
        let object = self.host.objects().pointed_to(undefined).map(Object::described);
        if let Some(mut finding) = definedness.output(undefined, bytes, object, stack) {
            finding.notes.extend(self.notes_of_origin(undefined));
            self.host.found(finding);
        }
    }

    /// What is reported of the use of an undefined value.
    fn undefined_use(&self, record: &Record, evidence: &Evidence<'_>) -> Finding {
        let (address, site) = origin::parts(record.address);
        let object = (address != 0).then(|| self.host.objects().pointed_to(address).map(Object::described)).flatten();
        let is_shared = match self.host.shared_range() {
            Some((start, bytes)) => address.wrapping_sub(start) < bytes,
            // What is followed, and not memory of the device, is of the block.
            None => !self.host.memory().contains(address),
        };
        let history = self.notes_of_origin(address);
        undefined::finding(record, evidence, Loaded { address, site, object, is_shared, history })
    }

    /// How what is at an address of the device came to be undefined, as far as it was noted.
    fn notes_of_origin(&self, address: u64) -> Vec<Note> {
        let (Some(origins), Some(definedness)) = (&self.origins, &self.definedness) else { return Vec::new() };
        let describe = |address| self.host.objects().pointed_to(address).map(Object::described);
        origins.notes(address, |address| definedness.shadow_of(address), describe)
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

/// Whether a version was made of the kernel of a launch.
fn has_version(launch: &LaunchView<'_>, version: Version) -> bool {
    let mut states = launch.versions.iter().filter_map(|version| version.state::<Checked>("memcheck"));
    states.any(|checked| checked.version == Some(version))
}

/// What a kernel does with memory, if its version is there in which that is followed.
fn facts<'a>(launch: &LaunchView<'a>) -> Option<&'a KernelFacts> {
    let states = launch.versions.iter().filter_map(|version| version.state::<Checked>("memcheck"));
    states.filter_map(|checked| checked.facts.as_ref()).next()
}

impl Instance for MemcheckInstance {
    fn redzone(&self) -> u64 {
        quarantine::REDZONE
    }

    fn forbids_host_memory(&self) -> bool {
        true
    }

    fn wants_stacks(&self) -> bool {
        true
    }

    fn wants_order_of_stream_memory(&self) -> bool {
        self.options.api_errors != ApiErrors::No
    }

    fn keeps_host_out(&self) -> bool {
        true
    }

    fn on_event(&self, event: &HostEvent<'_>) {
        match *event {
            HostEvent::Called { .. } | HostEvent::BenignRace { .. } => {}
            HostEvent::Allocated(object) => {
                self.stream_memory.on_allocated(object.start, object.bytes);
                // What not every device may access is in the tables of launches.
                self.shadow.set(object.start, object.bytes, object.access == DeviceAccess::Every);
                if let Some(definedness) = &self.definedness {
                    definedness.on_allocated(object);
                }
                if let Some(origins) = &self.origins {
                    origins.on_allocated(object.start, object.bytes);
                }
            }
            HostEvent::Unmapped(object) => {
                self.shadow.set(object.start, object.bytes, false);
                if let Some(definedness) = &self.definedness {
                    definedness.on_freed(object);
                }
            }
            HostEvent::Copied { from, to, bytes, stack, order } => {
                self.on_use(&[from, to], "a copy", stack, order);
                self.on_copied(from, to, bytes, stack);
            }
            HostEvent::AllocatedInStream { start, order } => {
                let object = self.host.objects().pointed_to(start).map(Object::described);
                object.into_iter().for_each(|object| self.stream_memory.on_stream_allocated(object, order));
            }
            HostEvent::FreedInStream { start, order, stack } => {
                let found = self.stream_memory.on_stream_freed(start, order, stack);
                found.into_iter().for_each(|finding| self.host.found(finding));
            }
            HostEvent::DestroyedHandle { what, stack } => self.on_destroyed_handle(what, stack),
            HostEvent::WrongDirection { address, is_target, wants_device } => {
                self.on_wrong_direction(address, is_target, wants_device);
            }
            HostEvent::Filled { address, bytes, stack, order } => {
                self.on_use(&[address], "a fill", stack, order);
                if let Some(definedness) = &self.definedness {
                    definedness.define(&*self.host, address, bytes);
                }
            }
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
            HostEvent::MarkedDefined { start, bytes, settle } => self.on_marked_defined(start, bytes, settle),
            HostEvent::MarkedUndefined { start, bytes, settle } => self.on_marked_undefined(start, bytes, settle),
            HostEvent::Permissions { start, given, settle } => self.on_permissions(start, given, settle),
            HostEvent::PermissionsAreReset { settle } => self.rights_are_reset(settle),
        }
    }

    fn on_free(&self, object: &Object, stack: &HostStack, when: Option<Moment>) -> bool {
        self.shadow.set(object.start, object.bytes, false);
        if let Some(definedness) = &self.definedness {
            definedness.on_freed(object);
        }
        quarantine::keep(self.host.memory(), &mut self.host.objects(), object.clone(), stack.clone(), when);
        false
    }

    fn make_room(&self) -> bool {
        quarantine::empty(&*self.host)
    }

    fn hidden_bytes(&self) -> u64 {
        self.host.objects().hidden_bytes(quarantine::REDZONE)
    }

    fn on_launch(&self, launch: &LaunchView<'_>) {
        self.on_use_by_launch(launch);
        if let Some(origins) = &self.origins {
            origins.on_launch(launch);
        }
        // It runs as it is, and writes what nobody follows.
        if let Some(definedness) = self.definedness.as_ref().filter(|_| launch.versions.is_empty()) {
            definedness.is_not_followed();
        }
    }

    fn wants_version(&self, number: usize) -> bool {
        let version = Version::of(number);
        let may_follow = version.follows == Follows::Nothing || self.definedness.is_some();
        // On a device whose blocks have shared memory at the same addresses, kernels without any have their other versions.
        let is_placed = version.shared_shadow == ShadowPlace::Plane || self.shared_shadow() == ShadowPlace::Block;
        may_follow && is_placed && (version.bounds == Bounds::Checked || !self.options.has(&Flag::NO_PROVE))
    }

    fn choose(&self, launch: &LaunchView<'_>) -> Result<usize, Refusal> {
        let is_proved = !self.options.has(&Flag::NO_PROVE)
            && launch.footprint(&self.host.objects()).is_some_and(|footprint| footprint.bounds.is_proved());
        let bounds = if is_proved { Bounds::Proved } else { Bounds::Checked };
        let (nothing, plane) = (Follows::Nothing, ShadowPlace::Plane);
        let follows = match &self.definedness {
            Some(definedness) => definedness.has_to_follow(&*self.host, launch, facts(launch)),
            None => nothing,
        };
        let facts = facts(launch).filter(|_| follows != nothing);
        let shared_shadow = if facts.is_some_and(|facts| facts.uses_shared) { self.shared_shadow() } else { plane };
        let is_made = has_version(launch, Version { bounds, follows: Follows::All, shared_shadow });
        if shared_shadow == ShadowPlace::Block && !(is_made && self.has_room(launch)) {
            if let Some(definedness) = &self.definedness {
                definedness.lacks_shared_shadow(launch);
            }
            return Ok(Version { bounds, follows: nothing, shared_shadow: plane }.number());
        }
        // A tool that changes the kernel may have brought shared memory to one that had none.
        let has_shared = has_version(launch, Version { bounds, follows: Follows::Shared, shared_shadow });
        let follows = if follows == Follows::Shared && !has_shared { Follows::All } else { follows };
        Ok(Version { bounds, follows, shared_shadow }.number())
    }

    fn words(&self, launch: &LaunchView<'_>, version: &KernelVersion, words: &mut Words<'_>) {
        let unshadowed = self.host.objects().unshadowed(launch.device);
        words.set(ARENA, self.shadow.base);
        words.set(ARENA_BYTES, self.shadow.bytes);
        words.set(SHADOW, self.shadow.address());
        words.set_table(UNSHADOWED, unshadowed.as_flattened().into());
        words.set(UNSHADOWED_COUNT, unshadowed.len() as u64);
        words.set(BAD_THREADS, self.bad_threads.address());
        words.set(LAUNCH, BadThreads::key(launch));
        if let Some(origins) = &self.origins {
            words.set(ORIGINS, origins.address());
            words.set(ORIGINS_LAUNCH, Origins::launch(launch));
        }
        let checked = version.state::<Checked>("memcheck");
        if let Some(definedness) = &self.definedness {
            definedness.words(words, checked.and_then(|checked| checked.facts.as_ref()));
        }
        if let Some(checked) = checked {
            for slot in &checked.slots {
                for (word, value) in slot.words(&self.host.objects(), launch) {
                    words.set_kernel_word(word, value);
                }
            }
        }
    }

    fn record(&self, record: &Record, evidence: &Evidence<'_>) -> Option<Finding> {
        if texture::is_fetch(record) {
            return Some(texture::finding(record, evidence));
        }
        if undefined::is_use(record) {
            return Some(self.undefined_use(record, evidence));
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
            device: evidence.device,
        };
        bad.finding()
    }

    fn failure(&self, record: &Record) -> Option<Failure> {
        match () {
            () if texture::is_fetch(record) || undefined::is_use(record) => None,
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
        if let Some(missing) = self.origins.as_ref().map(Origins::missing).filter(|&missing| missing > 0) {
            self.host.say(&format!(
                "of {missing} stores of undefined values the origin was not noted, because the table of {} is full",
                Origins::SLOTS
            ));
        }
        for sentence in self.definedness.iter().flat_map(Definedness::not_followed) {
            self.host.say(&sentence);
        }
        self.report_leaks_of_process();
    }
}
