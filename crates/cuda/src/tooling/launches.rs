//! Launches of kernels that tools have rewritten.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use report::{Finding, Line, Occurrence};
use rewrite::context::{NO_OBJECT, NO_OBJECT_BYTES, Record, SLOT, SLOTS, Word, small_object};
use rewrite::{KernelPlan, PointerSlot, SiteId, Sites};
use tools::memcheck::{self, BadAccess};

use super::host_errors::{error, whole_kernel};
use super::launch_buffers::LaunchBuffer;
use super::objects::{Moment, Objects, UnshadowedRange, permissions};
use super::{HostStack, InstrumentedModule, ToolHost};
use crate::error::CudaError;
use crate::launch_shape::LaunchShape;

/// A kernel that tools have rewritten.
#[derive(Debug)]
pub(crate) struct InstrumentedKernel {
    name: String,
    program: Arc<dyn device::Program>,
    module: Arc<InstrumentedModule>,
    plan: KernelPlan,
    /// Where the address of the context is among the parameters.
    context: usize,
    /// Where the parameters begin that are looked at.
    params: Vec<(u64, u64)>,
}

/// A kernel that was launched, whether or not tools have rewritten it.
#[derive(Debug)]
pub(crate) struct LaunchedKernel<'a> {
    pub(crate) program: &'a dyn device::Program,
    pub(crate) name: &'a str,
    pub(crate) instrumented: Option<&'a InstrumentedKernel>,
}

/// A launch that is under way.
#[derive(Debug)]
pub(crate) struct InstrumentedLaunch {
    tool_host: &'static ToolHost,
    kernel: Arc<InstrumentedKernel>,
    shape: LaunchShape,
    /// Where the program asked for it.
    stack: HostStack,
    buffer: LaunchBuffer<'static>,
    pub(crate) number: u64,
    is_wanted: bool,
    taken: Mutex<Taken>,
    /// The launch reads it.
    _unshadowed: Arc<[UnshadowedRange]>,
}

/// What was taken of the records of a launch. It may be asked for twice: the process may end while the launch is under way.
#[derive(Debug, Default)]
struct Taken {
    records: u64,
    /// How many there was no room for.
    lost: u64,
    /// The error that the first of them stands for.
    error: Option<CudaError>,
}

impl InstrumentedKernel {
    /// What is needed to launch a kernel; nothing if no tool had anything to do in it.
    pub(crate) fn new(
        instrumented: &Arc<InstrumentedModule>,
        program: &Arc<dyn device::Program>,
        name: &str,
    ) -> Option<Arc<Self>> {
        let plan = instrumented.kernels.get(name)?.clone();
        let params = program.kernel_facts(name)?.params;
        let context = params.get(plan.context)?.0 as usize;
        Some(Arc::new(Self {
            name: name.to_owned(),
            program: Arc::clone(program),
            module: Arc::clone(instrumented),
            plan,
            context,
            params,
        }))
    }
}

impl ToolHost {
    /// A launch is asked for: where.
    pub(crate) fn launch_stack(&self) -> HostStack {
        HostStack::capture(self.settings.callers)
    }

    /// A launch begins of a kernel that no tool had anything to do in, or whose module could not be rewritten. Gives the
    /// number of the launch.
    pub(crate) fn launches_unchanged(&self, name: &str, is_checked: bool) -> u64 {
        let number = self.next_launch();
        if !is_checked {
            let mut state = self.state();
            state.coverage.unchecked_launches += 1;
            if state.skipped.insert(name.to_owned()) {
                let reason = "its module could not be rewritten".to_owned();
                self.write(&Line::Unchecked { kernel: name.to_owned(), reason });
            }
            return number;
        }
        self.count(name, self.settings.wants(name, number));
        number
    }

    /// A launch begins. Its parameters are completed.
    pub(crate) fn begin(
        &'static self,
        kernel: &Arc<InstrumentedKernel>,
        shape: LaunchShape,
        stack: HostStack,
        params: &mut Vec<u8>,
    ) -> Arc<InstrumentedLaunch> {
        let number = self.next_launch();
        let is_wanted = self.settings.wants(&kernel.name, number);
        self.count(&kernel.name, is_wanted);
        let unshadowed = self.objects().unshadowed();
        let (base, bytes) = self.device.memory().range();
        let mut table = vec![0_u64; (SLOTS + SLOT * kernel.plan.slots.len() as u32) as usize / 8];
        let mut set = |word: Word, value: u64| table[word as usize / 8] = value;
        set(Word::Counters, kernel.module.counters.as_ptr() as u64);
        if let Some(shadow) = &self.shadow {
            set(Word::Arena, base);
            set(Word::ArenaBytes, bytes);
            set(Word::Shadow, shadow.address());
            set(Word::Unshadowed, unshadowed.as_ptr() as u64);
            set(Word::UnshadowedCount, unshadowed.len() as u64);
        }
        let objects = self.objects();
        for (index, slot) in kernel.plan.slots.iter().enumerate() {
            let (low, size) = bounds(&objects, slot, &kernel.params, params);
            let at = (SLOTS as usize + SLOT as usize * index) / 8;
            table[at] = low;
            table[at + 1] = size;
        }
        drop(objects);
        let buffer = self.launch_buffers.take(&table);
        buffer.set(Word::RecordBuffer as u32, buffer.record_buffer());
        params.resize(params.len().max(kernel.context + 8), 0);
        params[kernel.context..kernel.context + 8].copy_from_slice(&buffer.address().to_le_bytes());
        let launch = Arc::new(InstrumentedLaunch {
            tool_host: self,
            kernel: Arc::clone(kernel),
            shape,
            stack,
            buffer,
            number,
            is_wanted,
            taken: Mutex::default(),
            _unshadowed: unshadowed,
        });
        self.active().push(Arc::clone(&launch));
        launch
    }

    fn active(&self) -> MutexGuard<'_, Vec<Arc<InstrumentedLaunch>>> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes down what launches have found that are still under way: the process ends.
    pub(super) fn report_active(&self) {
        let active = self.active().clone();
        for launch in active {
            launch.take_records();
            launch.report_again();
        }
    }

    fn count(&self, name: &str, is_checked: bool) {
        let mut state = self.state();
        if is_checked {
            state.coverage.launches += 1;
            if !state.kernels.contains(name) {
                state.kernels.insert(name.to_owned());
                state.coverage.kernels += 1;
            }
        } else {
            state.coverage.unchecked_launches += 1;
            if state.skipped.insert(name.to_owned()) {
                let reason = "the flags of the command leave it, or some of its launches, out".to_owned();
                self.write(&Line::Skipped { kernel: name.to_owned(), reason });
            }
        }
        // So that somebody who watches sees how far it is, and a crash loses little.
        let all = state.coverage.launches + state.coverage.unchecked_launches;
        if all.is_power_of_two() || all.is_multiple_of(4096) {
            self.write(&Line::Coverage(state.coverage));
        }
    }

    /// A launch, by its number, ended with a fault of the device, which no tool has kept from happening.
    pub(crate) fn on_fault(
        &self,
        fault: &device::Fault,
        launch: u64,
        kernel: &LaunchedKernel<'_>,
        shape: &LaunchShape,
        stack: &HostStack,
    ) {
        let none = Sites::default();
        let sites = kernel.instrumented.map_or(&none, |kernel| &kernel.module.sites);
        // The device knows the line of the instruction, and not that of what it runs for itself.
        let place = match fault.line {
            0 => None,
            line => sites.place_of_line(kernel.program.module(), line, kernel.name),
        };
        // Whichever tool is at work: the command's own is the first.
        let tool = self.tools.first().expect("there is no tool host without a tool").name();
        self.found(Finding {
            tool: tool.to_owned(),
            place: Some(place.unwrap_or_else(|| whole_kernel(kernel.name))),
            first: Some(Occurrence {
                block: fault.block,
                thread: fault.thread,
                grid_size: shape.grid,
                block_size: shape.block,
                launch,
                address: None,
            }),
            stack: Some(stack.frames()),
            ..error("device-fault", format!("the kernel was ended: {}", fault.kind))
        });
    }
}

/// The bounds of the object that a parameter points into.
fn bounds(objects: &Objects, slot: &PointerSlot, layout: &[(u64, u64)], params: &[u8]) -> (u64, u64) {
    let none = (NO_OBJECT, NO_OBJECT_BYTES);
    let Some(at) = layout.get(slot.param).map(|&(start, _)| (start + u64::from(slot.offset)) as usize) else {
        return none;
    };
    let Some(bytes) = params.get(at..at + 8) else { return none };
    let pointer = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    let align = u64::from(slot.align);
    match objects.pointed_to(pointer) {
        Some(object)
            if object.permissions == permissions::ALL
                && pointer.is_multiple_of(align)
                && object.start.is_multiple_of(align) =>
        {
            if object.bytes < slot.bytes.into() {
                (small_object(object.start, object.bytes), NO_OBJECT_BYTES)
            } else {
                (object.start, object.bytes)
            }
        }
        _ => none,
    }
}

impl InstrumentedLaunch {
    /// The launch has ended. Gives the error that it ends with, if something was found.
    pub(crate) fn end(self: Arc<Self>) -> Option<CudaError> {
        self.tool_host.active().retain(|other| !Arc::ptr_eq(other, &self));
        if !self.buffer.has_findings() {
            return None;
        }
        let error = self.take_records();
        self.report_again();
        (self.is_wanted && self.tool_host.settings.stop_on_error).then_some(error)
    }

    /// What time it is in the launch.
    pub(super) fn now(&self) -> Moment {
        Moment { launch: self.number, records: self.buffer.recorded() }
    }

    fn instrumented(&self) -> &InstrumentedModule {
        &self.kernel.module
    }

    /// Takes the records that are there and reports them. Gives the error that the first one stands for.
    fn take_records(&self) -> CudaError {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut records, lost) = self.buffer.records(&mut taken.records);
        let lost_before = std::mem::replace(&mut taken.lost, lost);
        if self.is_wanted {
            self.tool_host.state().coverage.lost += lost - lost_before;
            // The first is the one of the first block and thread, whoever came first.
            records.sort_unstable_by_key(|&(_, record)| record);
            for (number, record) in &records {
                self.report(record, Moment { launch: self.number, records: *number });
            }
        }
        let error = records.first().map(|(_, record)| {
            if memcheck::is_misaligned(record) { CudaError::MISALIGNED_ADDRESS } else { CudaError::ILLEGAL_ADDRESS }
        });
        taken.error = taken.error.or(error);
        taken.error.unwrap_or(CudaError::ILLEGAL_ADDRESS)
    }

    /// Reports what a record says, if its site was not reported before.
    fn report(&self, record: &Record, when: Moment) {
        let instrumented = self.instrumented();
        let mut reported = instrumented.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if reported.contains_key(&record.site) {
            return;
        }
        let module = self.kernel.program.module();
        let Some(place) = instrumented.sites.place(module, SiteId(record.site), &self.kernel.name) else { return };
        let count = instrumented.counters[record.site as usize].load(Ordering::Relaxed);
        let (memory, meant) = self.objects_of(record, when);
        let finding = BadAccess {
            record: *record,
            place,
            occurrence: Occurrence {
                block: record.block,
                thread: record.thread,
                grid_size: self.shape.grid,
                block_size: self.shape.block,
                launch: self.number,
                address: Some(record.address),
            },
            count,
            memory,
            meant,
            launched: Some(self.stack.frames()),
        }
        .finding();
        let Some(finding) = finding else { return };
        let number = self.tool_host.found(finding);
        reported.insert(record.site, (number, count));
    }

    /// What is at the address, and which object the pointer was made from.
    fn objects_of(&self, record: &Record, when: Moment) -> (Option<memcheck::Memory>, Option<memcheck::Object>) {
        let module = self.kernel.program.module();
        let site = self.instrumented().sites.get(SiteId(record.site));
        let variable = site.and_then(|site| {
            let variable = match site.variable? {
                ptx::ir::Symbol::Global(global) => &module.globals[global],
                ptx::ir::Symbol::Var(var) => &module.functions[site.func].vars[var],
                _ => return None,
            };
            let kind = match variable.space {
                ptx::types::Space::Shared if variable.size().is_none() => "the dynamic shared memory",
                ptx::types::Space::Shared => "the shared variable",
                ptx::types::Space::Local => "the local memory",
                _ => "the variable",
            };
            let dynamic = u64::from(self.shape.shared);
            Some(memcheck::Object {
                name: format!("{kind} `{}`", module.text(variable.name)),
                start: record.other,
                bytes: variable.size().unwrap_or(dynamic),
                stack: None,
                permissions: permissions::ALL,
            })
        });
        let objects = self.tool_host.objects();
        let is_device = self.tool_host.device.memory().contains(record.address);
        let memory = objects.at(record.address, is_device, Some(when));
        let meant = match variable {
            Some(variable) => (record.other != 0).then_some(variable),
            None if record.other == NO_OBJECT => None,
            None => objects.starting_at(record.other),
        };
        (Some(memory), meant)
    }

    /// Says how often what was reported before has happened since.
    fn report_again(&self) {
        let instrumented = self.instrumented();
        let mut reported = instrumented.reported.lock().unwrap_or_else(PoisonError::into_inner);
        for (&site, (number, said)) in reported.iter_mut() {
            let count = instrumented.counters[site as usize].load(Ordering::Relaxed);
            if count > *said {
                self.tool_host.write(&Line::Again(*number, count - *said));
                *said = count;
            }
        }
    }
}
