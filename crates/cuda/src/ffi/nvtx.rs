//! What programs say of their own heaps through NVTX, the memory extension (`nvToolsExtMem.h`).
//!
//! NVTX is a header: it loads the library that `NVTX_INJECTION64_PATH` names, which is this one, and lets it put the
//! addresses of functions into tables. Everything else of NVTX stays without effect.
//!
//! Permissions are those of the process and of the device, which is the only one. Objects of permissions that are bound
//! to a stream are not followed, and said to be not.

#![allow(dead_code, reason = "structs have all fields of the header, so that each is in its place")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use toolkit::objects::permissions::ALL;
use toolkit::{HeapUse, HostEvent};

use crate::api::context::settle_all;
use crate::tooling::{self, ToolHost};

/// `nvtxExtModuleInfo_t`
#[repr(C)]
#[derive(Debug)]
pub struct ModuleInfo {
    version: u16,
    struct_size: u16,
    module: u16,
    compatibility: u16,
    segment_count: usize,
    segments: *const Segment,
    export_function: *const c_void,
    information: *const c_void,
}

/// `nvtxExtModuleSegment_t`
#[repr(C)]
#[derive(Debug)]
struct Segment {
    id: usize,
    slot_count: usize,
    slots: *mut usize,
}

/// `NVTX_EXT_MODULEID_MEM`
const MEMORY: u16 = 1;

/// Sets functions of an extension; 0 if there are none for it.
///
/// # Safety
/// `module` is null or valid, and its tables may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn InitializeInjectionNvtxExtension(module: *const ModuleInfo) -> c_int {
    // SAFETY: the caller promises that `module` is null or valid.
    let Some(module) = (unsafe { module.as_ref() }).filter(|module| module.module == MEMORY) else { return 0 };
    if module.segments.is_null() || module.segment_count == 0 {
        return 0;
    }
    // SAFETY: the caller promises that the module is valid, and it has at least one segment.
    let segment = unsafe { &*module.segments };
    let functions: [*const (); 17] = [
        heap_register as *const (),
        heap_unregister as *const (),
        heap_reset as *const (),
        regions_register as *const (),
        regions_resize as *const (),
        regions_unregister as *const (),
        regions_name as *const (),
        permissions_assign as *const (),
        permissions_create as *const (),
        permissions_destroy as *const (),
        permissions_reset as *const (),
        permissions_bind as *const (),
        permissions_unbind as *const (),
        process_permissions as *const (),
        device_permissions as *const (),
        set_peer_access as *const (),
        mark_initialized as *const (),
    ];
    for (index, function) in functions.into_iter().enumerate().take(segment.slot_count) {
        // SAFETY: the table has so many slots.
        unsafe { segment.slots.add(index).write(function as usize) };
    }
    1
}

/// `NvtxExportTableCallbacks`
#[repr(C)]
#[derive(Debug)]
struct Callbacks {
    struct_size: usize,
    module_table: unsafe extern "C" fn(module: c_int, table: *mut *const *mut usize, size: *mut u32) -> c_int,
}

/// `NvtxGetExportTableFunc_t`
type GetExportTable = unsafe extern "C" fn(id: u32) -> *const c_void;

/// Sets the functions of NVTX itself that names come from.
///
/// # Safety
/// `get_export_table` is that of NVTX.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn InitializeInjectionNvtx2(get_export_table: Option<GetExportTable>) -> c_int {
    /// `NVTX_ETID_CALLBACKS`
    const CALLBACKS: u32 = 1;
    /// `NVTX_CB_MODULE_CORE2`
    const CORE2: c_int = 5;
    /// `NVTX_CBID_CORE2_DomainRegisterStringA`
    const REGISTER_STRING: usize = 10;
    let Some(get_export_table) = get_export_table else { return 0 };
    // SAFETY: the caller promises that the function is that of NVTX, whose table of callbacks is of this type.
    let Some(callbacks) = (unsafe { get_export_table(CALLBACKS).cast::<Callbacks>().as_ref() }) else { return 0 };
    let (mut table, mut size) = (std::ptr::null(), 0);
    // SAFETY: as NVTX says: it gives a list of places for addresses of functions, and its length.
    let is_there = unsafe { (callbacks.module_table)(CORE2, &raw mut table, &raw mut size) } != 0;
    if !is_there || table.is_null() || size as usize <= REGISTER_STRING {
        return 0;
    }
    // SAFETY: the list is long enough, and each entry is null or the place of an address.
    unsafe {
        if let Some(place) = table.add(REGISTER_STRING).read().as_mut() {
            *place = register_string as *const () as usize;
        }
    }
    1
}

/// Strings that the program registered; a handle is the place in it, from 1 on.
static STRINGS: Mutex<Vec<Arc<str>>> = Mutex::new(Vec::new());
/// More are not kept: they have no name.
const MOST_STRINGS: usize = 1 << 16;

/// `nvtxDomainRegisterStringA`
///
/// # Safety
/// `string` is null or a string.
unsafe extern "C" fn register_string(_domain: *const c_void, string: *const c_char) -> usize {
    guard(0, || {
        // SAFETY: the caller promises that `string` is null or a string.
        let Some(text) = (unsafe { text_at(string) }) else { return 0 };
        let mut strings = STRINGS.lock().unwrap_or_else(PoisonError::into_inner);
        if strings.len() == MOST_STRINGS {
            return 0;
        }
        strings.push(text);
        strings.len()
    })
}

/// `nvtxMemVirtualRangeDesc_t`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Range {
    size: usize,
    pointer: u64,
}

/// `nvtxMemHeapDesc_t`
#[repr(C)]
#[derive(Debug)]
struct HeapDescription {
    compatibility: u16,
    struct_size: u16,
    reserved: u32,
    usage: u32,
    kind: u32,
    range_size: usize,
    range: *const Range,
    category: u32,
    name_kind: u32,
    name: usize,
}

/// `nvtxMemRegionsRegisterBatch_t`
#[repr(C)]
#[derive(Debug)]
struct Registered {
    compatibility: u16,
    struct_size: u16,
    kind: u32,
    heap: u64,
    elements: List,
    handles: *mut u64,
}

/// `nvtxMemRegionsResizeBatch_t`, `nvtxMemRegionsUnregisterBatch_t`, `nvtxMemMarkInitializedBatch_t`
#[repr(C)]
#[derive(Debug)]
struct Batch {
    compatibility: u16,
    struct_size: u16,
    kind: u32,
    elements: List,
}

/// `nvtxMemPermissionsAssignBatch_t`
#[repr(C)]
#[derive(Debug)]
struct Permissions {
    compatibility: u16,
    struct_size: u16,
    reserved: u32,
    permissions: usize,
    elements: List,
}

/// `nvtxMemRegionNameDesc_t`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Name {
    reference: u32,
    kind: u32,
    region: u64,
    name: usize,
    category: u32,
    reserved: u32,
}

/// `nvtxMemPermissionsAssignRegionDesc_t`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Permission {
    flags: u32,
    reference: u32,
    region: u64,
}

/// Elements one after another: how many, how large each is, and where.
#[repr(C)]
#[derive(Debug)]
struct List {
    count: usize,
    element_size: usize,
    elements: *const c_void,
}

impl List {
    /// # Safety
    /// The list is one of elements that begin as `T` does.
    unsafe fn iter<T: Copy>(&self) -> impl Iterator<Item = T> {
        let is_there = !self.elements.is_null() && self.element_size >= size_of::<T>();
        let count = if is_there { self.count } else { 0 };
        (0..count).map(|index| {
            // SAFETY: the caller promises that there are so many, each of this size.
            unsafe { self.elements.byte_add(index * self.element_size).cast::<T>().read_unaligned() }
        })
    }
}

/// `NVTX_MEM_TYPE_VIRTUAL_ADDRESS`
const VIRTUAL_ADDRESS: u32 = 1;
/// `NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR`
const SUB_ALLOCATOR: u32 = 1;
/// `NVTX_MEM_HEAP_HANDLE_PROCESS_WIDE`: all of it can be accessed, whatever is registered in it.
const PROCESS_WIDE: u64 = 0;

/// Runs what a program calls. No panic reaches it.
fn guard<R>(otherwise: R, body: impl FnOnce() -> R) -> R {
    let _restore = crate::process::device_access::allow();
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        crate::log::say("NVTX failed by a bug of Warpgrind's own (the message is above): please report it");
        otherwise
    })
}

/// Runs what a program calls, if there are tools.
pub(super) fn with_tools(body: impl FnOnce(&'static ToolHost)) {
    guard((), || {
        if let Some(tool_host) = tooling::get() {
            body(tool_host);
        }
    });
}

/// The same for what has a description, unless the program gives none.
fn with<T>(description: Option<&T>, body: impl FnOnce(&'static ToolHost, &T)) {
    with_tools(|tool_host| {
        if let Some(description) = description {
            body(tool_host, description);
        }
    });
}

/// # Safety
/// `string` is null or a string.
unsafe fn text_at(string: *const c_char) -> Option<Arc<str>> {
    /// Longer names are cut.
    const LONGEST: usize = 200;
    let string = NonNull::new(string.cast_mut())?;
    // SAFETY: not null, so the caller promises that it is a string.
    let text = unsafe { CStr::from_ptr(string.as_ptr()) }.to_string_lossy();
    Some(text.chars().take(LONGEST).collect::<String>().into())
}

/// A name, in one of the ways in which NVTX has them.
///
/// # Safety
/// `name` is what `kind` says.
unsafe fn name_of(kind: u32, name: usize) -> Option<Arc<str>> {
    match kind {
        // SAFETY: the caller promises that a name of this kind is null or a string.
        1 => unsafe { text_at(name as *const c_char) },
        2 if name != 0 => {
            let string = name as *const libc::wchar_t;
            // SAFETY: the caller promises that it is a string of such letters, which ends with zero.
            let letters = (0..200).map(|index| unsafe { string.add(index).read() }).take_while(|&letter| letter != 0);
            let text: String = letters.map(|letter| char::from_u32(letter as u32).unwrap_or('\u{fffd}')).collect();
            Some(text.into())
        }
        3 => STRINGS.lock().unwrap_or_else(PoisonError::into_inner).get(name.wrapping_sub(1)).cloned(),
        _ => None,
    }
    .filter(|name| !name.is_empty())
}

unsafe extern "C" fn heap_register(_domain: *const c_void, description: *const HeapDescription) -> u64 {
    // SAFETY: NVTX hands over null or a description of this type, which is valid during the call.
    let range = unsafe { description.as_ref() }
        .filter(|heap| heap.kind == VIRTUAL_ADDRESS && heap.range_size >= size_of::<Range>());
    // SAFETY: of this kind of memory the description is a range.
    let Some(&Range { size, pointer }) = range.and_then(|heap| unsafe { heap.range.as_ref() }) else { return 0 };
    // SAFETY: NVTX hands over null or a description of this type, which is valid during the call.
    with(unsafe { description.as_ref() }, |tool_host, heap| {
        let usage = if heap.usage == SUB_ALLOCATOR { HeapUse::SubAllocator } else { HeapUse::Layout };
        // SAFETY: what NVTX hands over has a name of the kind that is beside it.
        let label = unsafe { name_of(heap.name_kind, heap.name) };
        let (label, bytes) = (label.as_ref(), size as u64);
        let settle = settle_all;
        tool_host.on_event(&HostEvent::HeapAppears { start: pointer, bytes, usage, label, settle });
    });
    // The address of a heap is its handle.
    pointer
}

unsafe extern "C" fn heap_unregister(_domain: *const c_void, heap: u64) {
    with_tools(|tool_host| tool_host.on_event(&HostEvent::HeapVanishes { start: heap }));
}

unsafe extern "C" fn heap_reset(_domain: *const c_void, heap: u64) {
    with_tools(|tool_host| tool_host.on_event(&HostEvent::HeapIsReset { start: heap, settle: settle_all }));
}

unsafe extern "C" fn regions_register(_domain: *const c_void, description: *const Registered) {
    // SAFETY: NVTX hands over null or a description of this type, which is valid during the call.
    with(unsafe { description.as_ref() }, |tool_host, batch| {
        if batch.kind != VIRTUAL_ADDRESS {
            return;
        }
        // SAFETY: of this kind of memory the elements are ranges.
        for (index, range) in unsafe { batch.elements.iter::<Range>() }.enumerate() {
            if batch.heap != PROCESS_WIDE {
                tool_host.on_event(&HostEvent::PartAppears { start: range.pointer, bytes: range.size as u64 });
            }
            if !batch.handles.is_null() {
                // SAFETY: there is a place for the handle of each; it is the address.
                unsafe { batch.handles.add(index).write(range.pointer) };
            }
        }
    });
}

unsafe extern "C" fn regions_resize(_domain: *const c_void, description: *const Batch) {
    // SAFETY: NVTX hands over null or a description of this type, which is valid during the call.
    with(unsafe { description.as_ref() }, |tool_host, batch| {
        if batch.kind == VIRTUAL_ADDRESS {
            // SAFETY: of this kind of memory the elements are ranges.
            for range in unsafe { batch.elements.iter::<Range>() } {
                let (start, bytes) = (range.pointer, range.size as u64);
                tool_host.on_event(&HostEvent::PartIsResized { start, bytes, settle: settle_all });
            }
        }
    });
}

unsafe extern "C" fn regions_unregister(_domain: *const c_void, description: *const Batch) {
    // Whether by address or by handle: they are the same.
    // SAFETY: NVTX hands over null or a description of this type, which is valid during the call.
    with(unsafe { description.as_ref() }, |tool_host, batch| {
        // SAFETY: the elements are addresses or handles.
        for start in unsafe { batch.elements.iter::<u64>() } {
            tool_host.on_event(&HostEvent::PartVanishes { start, settle: settle_all });
        }
    });
}

unsafe extern "C" fn regions_name(_domain: *const c_void, description: *const Batch) {
    // SAFETY: NVTX hands over null or a description of this type, which is valid during the call.
    with(unsafe { description.as_ref() }, |tool_host, batch| {
        // SAFETY: the elements are names.
        for name in unsafe { batch.elements.iter::<Name>() } {
            // SAFETY: what NVTX hands over has a name of the kind that is beside it.
            if let Some(label) = unsafe { name_of(name.kind, name.name) } {
                tool_host.is_called(name.region, label);
            }
        }
    });
}

/// The handle of the permissions of the process on the device, and of those of the device.
const OF_DEVICE: usize = 1;
/// The handle of permissions that the program made, which are not followed.
const OF_PROGRAM: usize = 2;

unsafe extern "C" fn permissions_assign(_domain: *const c_void, description: *const Permissions) {
    /// `NVTX_MEM_PERMISSIONS_REGION_FLAGS_RESET`
    const RESET: u32 = 8;
    // SAFETY: NVTX hands over null or a description of this type, which is valid during the call.
    with(unsafe { description.as_ref() }, |tool_host, batch| {
        if batch.permissions == OF_PROGRAM {
            return;
        }
        // SAFETY: the elements are permissions.
        for permission in unsafe { batch.elements.iter::<Permission>() } {
            let permissions = if permission.flags & RESET != 0 { ALL } else { u64::from(permission.flags) & ALL };
            let (start, settle) = (permission.region, settle_all);
            tool_host.on_event(&HostEvent::Permissions { start, given: permissions, settle });
        }
    });
}

unsafe extern "C" fn permissions_create(_domain: *const c_void, _flags: i32) -> usize {
    OF_PROGRAM
}

unsafe extern "C" fn permissions_destroy(_domain: *const c_void, _permissions: usize) {}

unsafe extern "C" fn permissions_reset(_domain: *const c_void, permissions: usize) {
    with_tools(|tool_host| {
        if permissions != OF_PROGRAM {
            tool_host.on_event(&HostEvent::PermissionsAreReset { settle: settle_all });
        }
    });
}

unsafe extern "C" fn permissions_bind(_domain: *const c_void, _permissions: usize, _scope: u32, _flags: u32) {
    static IS_SAID: AtomicBool = AtomicBool::new(false);
    if tooling::get().is_some() && !IS_SAID.swap(true, Ordering::Relaxed) {
        crate::log::say("permissions of NVTX that are bound to a stream or thread are not checked");
    }
}

unsafe extern "C" fn permissions_unbind(_domain: *const c_void, _scope: u32) {}

unsafe extern "C" fn process_permissions(_domain: *const c_void) -> usize {
    OF_DEVICE
}

unsafe extern "C" fn device_permissions(_domain: *const c_void, _device: c_int) -> usize {
    OF_DEVICE
}

unsafe extern "C" fn set_peer_access(_domain: *const c_void, _permissions: usize, _device: c_int, _flags: u32) {}

unsafe extern "C" fn mark_initialized(
    _domain: *const c_void,
    _stream: usize,
    _is_per_thread: u8,
    description: *const Batch,
) {
    // SAFETY: NVTX hands over null or a description of this type, which is valid during the call.
    with(unsafe { description.as_ref() }, |tool_host, batch| {
        if batch.kind == VIRTUAL_ADDRESS {
            // SAFETY: of this kind of memory the elements are ranges.
            for range in unsafe { batch.elements.iter::<Range>() } {
                let (start, bytes) = (range.pointer, range.size as u64);
                tool_host.on_event(&HostEvent::MarkedDefined { start, bytes, settle: settle_all });
            }
        }
    });
}
