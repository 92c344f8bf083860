//! What memcheck makes of what was recorded.

use report::{AccessedObject, Explanation, Finding, Note, Occurrence, Place, Severity, Stack};
use rewrite::context::Record;
use toolkit::objects::permissions::{ATOMIC, READ, WRITE};
use toolkit::objects::{AtAddress, Described};
use toolkit::{DeviceAccess, LaunchDevice};

use super::{AGAIN, BYTES, CERTAIN, READS_AND_WRITES, ROW, SPACE, SPACES, WRITES, is_misaligned};

/// An access that did not take place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct BadAccess {
    /// The record.
    pub(super) record: Record,
    /// Where it is in the code.
    pub(super) place: Place,
    /// When it happened.
    pub(super) occurrence: Occurrence,
    /// How many times it happened at this place.
    pub(super) count: u64,
    /// What there is at the address. Nothing for addresses in shared and local memory.
    pub(super) memory: Option<AtAddress>,
    /// The object that the pointer was made from, if that is known.
    pub(super) meant: Option<Described>,
    /// Where the kernel was launched.
    pub(super) launched: Option<Stack>,
    /// The device that it was launched on.
    pub(super) device: LaunchDevice,
}

impl BadAccess {
    /// The finding. Nothing if it was found of an earlier access to the same bytes: only what may be done with memory
    /// depends on what is done.
    pub(super) fn finding(self) -> Option<Finding> {
        let Record { what, address, .. } = self.record;
        let bytes = u64::from(what & BYTES);
        let (action, _, _) = action(what);
        let mut size = if bytes == 1 { "1 byte".to_owned() } else { format!("{bytes} bytes") };
        if what & ROW != 0 {
            size += " of a matrix";
        }
        let diagnosis = self.diagnosis(address, bytes);
        let object = self.object(address, bytes);
        if what & AGAIN != 0 && diagnosis.code != "not-permitted" {
            return None;
        }
        let message = match diagnosis.code {
            "misaligned" => format!("misaligned {action} of {size}"),
            "use-after-free" => format!("{action} of {size} of memory that was freed"),
            "null-pointer" => format!("{action} of {size} through a null pointer"),
            "wrong-allocation" => format!("{action} of {size} in another allocation than the pointer's"),
            "peer-access" => format!("{action} of {size} of another device's memory without access to it"),
            "not-permitted" => format!("{action} of {size} without the right to do so"),
            "host-memory" => format!("{action} of {size} of host memory that the device does not have"),
            "wild-pointer" => format!("{action} of {size} where no memory is"),
            code => {
                let space = code.strip_suffix("out-of-bounds").unwrap_or_default();
                let space = if space.is_empty() {
                    String::new()
                } else {
                    format!(" of {} memory", space.trim_end_matches('-'))
                };
                format!("out-of-bounds {action} of {size}{space}")
            }
        };
        Some(Finding {
            tool: "memcheck".to_owned(),
            code: diagnosis.code.to_owned(),
            severity: Severity::Error,
            message,
            place: Some(self.place),
            first: Some(Occurrence { address: Some(address), ..self.occurrence }),
            count: self.count,
            notes: diagnosis.notes,
            accesses: Vec::new(),
            object,
            help: Some(diagnosis.help.to_owned()),
            stack: self.launched,
        })
    }

    /// What the access is in or beside: what the pointer is one into, if that is known.
    fn object(&self, address: u64, bytes: u64) -> Option<AccessedObject> {
        let at_address = match &self.memory {
            Some(AtAddress::Freed(object, _)) => {
                return Some(AccessedObject { is_freed: true, ..object.accessed(address, bytes) });
            }
            Some(AtAddress::Live(object) | AtAddress::Nothing(Some(object))) => Some(object),
            Some(AtAddress::Unused(heap, nearest)) => Some(nearest.as_ref().unwrap_or(heap)),
            Some(AtAddress::Host | AtAddress::Nothing(None)) | None => None,
        };
        self.meant.as_ref().or(at_address).map(|object| object.accessed(address, bytes))
    }

    fn diagnosis(&self, address: u64, bytes: u64) -> Diagnosis {
        let what = self.record.what;
        let space = match what >> SPACE & 0xf {
            0 => None,
            index => SPACES.get(index as usize - 1),
        };
        if is_misaligned(&self.record) {
            return Diagnosis {
                code: "misaligned",
                notes: vec![note(format!("the address {address:#x} is no multiple of {bytes}"), None)],
                help: "vectors such as float4 need an address that is a multiple of their size",
            };
        }
        let of_variable = |code, place: &str| Diagnosis {
            code,
            notes: vec![match &self.meant {
                Some(variable) => note(within(address, variable), None),
                None => note(format!("the address is {address:#x} in {place} memory"), None),
            }],
            help: "compare the index with the size of the array before the access",
        };
        match space {
            Some(ptx::types::Space::Shared) => return of_variable("shared-out-of-bounds", "shared"),
            Some(ptx::types::Space::Local) => return of_variable("local-out-of-bounds", "local"),
            _ => {}
        }
        if address < 4096 {
            return Diagnosis {
                code: "null-pointer",
                notes: vec![note(format!("the address is {address:#x}"), None)],
                help: "a pointer is null: check what the kernel was given, and whether an allocation failed",
            };
        }
        match (&self.memory, &self.meant) {
            (Some(AtAddress::Freed(object, stack)), _) => Diagnosis {
                code: "use-after-free",
                notes: vec![
                    note(within(address, object), object.stack.clone()),
                    note("it was freed here".to_owned(), stack.clone()),
                ],
                help: "free memory only when no kernel uses it any more, and do not keep pointers to it",
            },
            (Some(AtAddress::Live(object)), _) if !self.device.may_access(object.access) => Diagnosis {
                code: "peer-access",
                notes: vec![
                    note(within(address, object), object.stack.clone()),
                    note(whose(self.device, object.access), None),
                ],
                help: match object.access {
                    DeviceAccess::Only(_) => {
                        "give the device access with cudaMemPoolSetAccess or cuMemSetAccess, or copy the data to it"
                    }
                    _ => {
                        "enable it with cudaDeviceEnablePeerAccess on this device, or copy the data with cudaMemcpyPeer"
                    }
                },
            },
            (Some(AtAddress::Live(object)), _) if object.permissions & action(what).1 == 0 => Diagnosis {
                code: "not-permitted",
                notes: vec![
                    note(within(address, object), object.stack.clone()),
                    note(format!("the program has said that it is not to be {}", action(what).2), None),
                ],
                help: "use the memory as it was said to be used, or say with nvtxMemPermissionsAssign or WARPGRIND_MARK_ACCESSIBLE that this is right",
            },
            (Some(AtAddress::Live(object)), Some(meant)) if object.start != meant.start => Diagnosis {
                code: "wrong-allocation",
                notes: vec![
                    note(format!("the pointer is one into {}", described(meant)), meant.stack.clone()),
                    note(within(address, object), object.stack.clone()),
                ],
                help: "an index is so large, or negative, that it leaves its allocation and hits another one",
            },
            (Some(AtAddress::Unused(heap, nearest)), meant) => {
                let near = meant.as_ref().or(nearest.as_ref());
                let near = near.map(|object| note(within(address, object), object.stack.clone()));
                let message = format!("nothing is allocated there from {}", described(heap));
                Diagnosis {
                    code: "out-of-bounds",
                    notes: near.into_iter().chain([note(message, heap.stack.clone())]).collect(),
                    help: "compare the index with the number of elements before the access",
                }
            }
            (_, Some(object)) => out_of_bounds(address, object),
            (Some(AtAddress::Live(object)), None) => out_of_bounds(address, object),
            (Some(AtAddress::Host), None) => Diagnosis {
                code: "host-memory",
                notes: vec![note(format!("{address:#x} is an address of the host"), None)],
                help: "copy the data to the device, allocate it with cudaMallocManaged, or register it with cudaHostRegister",
            },
            (Some(AtAddress::Nothing(Some(object))), None) => out_of_bounds(address, object),
            (Some(AtAddress::Nothing(None)) | None, None) => Diagnosis {
                code: if what & CERTAIN != 0 { "out-of-bounds" } else { "wild-pointer" },
                notes: vec![note(format!("nothing was allocated at {address:#x} or near it"), None)],
                help: "a pointer was not set, or was computed from something that is not a pointer",
            },
        }
    }
}

/// What an access does: in a word, the right that it needs, and what then must not be done with the memory.
fn action(what: u32) -> (&'static str, u64, &'static str) {
    match what {
        _ if what & READS_AND_WRITES != 0 => ("atomic access", ATOMIC, "accessed by atomics"),
        _ if what & WRITES != 0 => ("write", WRITE, "written"),
        _ => ("read", READ, "read"),
    }
}

/// Which device has memory, and which may not access it.
fn whose(device: LaunchDevice, access: DeviceAccess) -> String {
    let number = device.number;
    match access {
        DeviceAccess::Owner(owner) => {
            format!(
                "it is memory of device {owner}, and the kernel runs on device {number}, which has no peer access to it"
            )
        }
        _ => format!("the kernel runs on device {number}, which the program has given no access to it"),
    }
}

struct Diagnosis {
    code: &'static str,
    notes: Vec<Note>,
    help: &'static str,
}

fn note(message: String, stack: Option<Stack>) -> Note {
    Note { message, stack }
}

fn out_of_bounds(address: u64, object: &Described) -> Diagnosis {
    Diagnosis {
        code: "out-of-bounds",
        notes: vec![note(within(address, object), object.stack.clone())],
        help: "compare the index with the number of elements before the access",
    }
}

pub(super) fn described(object: &Described) -> String {
    let bytes = if object.bytes == 1 { "1 byte".to_owned() } else { format!("{} bytes", object.bytes) };
    format!("{} of {bytes}", object.name)
}

/// Where an address is, seen from an object.
pub(super) fn within(address: u64, object: &Described) -> String {
    let (start, end) = (object.start, object.start.saturating_add(object.bytes));
    let bytes = |count: u64| if count == 1 { "1 byte".to_owned() } else { format!("{count} bytes") };
    let object = described(object);
    if address < start {
        format!("the address is {} before {object}", bytes(start - address))
    } else if address == end {
        format!("the address is just past the end of {object}")
    } else if address > end {
        format!("the address is {} past the end of {object}", bytes(address - end))
    } else {
        format!("the address is at offset {} in {object}", address - start)
    }
}

/// What the findings mean.
pub(super) const EXPLANATIONS: &[Explanation] = &[
    explanation(
        "out-of-bounds",
        "an access before or after the memory that a pointer points into",
        include_str!("explain/out-of-bounds.md"),
    ),
    explanation(
        "unordered-use",
        "memory of a stream that is used by another stream, which does not wait",
        include_str!("explain/unordered-use.md"),
    ),
    explanation(
        "destroyed-handle",
        "a stream, event, graph or texture that is used after it was destroyed",
        include_str!("explain/destroyed-handle.md"),
    ),
    explanation(
        "wrong-direction",
        "a copy whose direction is not that of its pointers",
        include_str!("explain/wrong-direction.md"),
    ),
    explanation(
        "shared-out-of-bounds",
        "an access before or after an array in shared memory",
        include_str!("explain/shared-out-of-bounds.md"),
    ),
    explanation(
        "texture-out-of-bounds",
        "a fetch of an element that the texture does not have",
        include_str!("explain/texture-out-of-bounds.md"),
    ),
    explanation(
        "local-out-of-bounds",
        "an access before or after the arrays of a thread",
        include_str!("explain/local-out-of-bounds.md"),
    ),
    explanation(
        "wrong-allocation",
        "an access through a pointer into one allocation that hits another one",
        include_str!("explain/wrong-allocation.md"),
    ),
    explanation("use-after-free", "an access to memory that was freed", include_str!("explain/use-after-free.md")),
    explanation("null-pointer", "an access through a null pointer", include_str!("explain/null-pointer.md")),
    explanation("wild-pointer", "an access where no memory is", include_str!("explain/wild-pointer.md")),
    explanation("host-memory", "an access to memory of the host", include_str!("explain/host-memory.md")),
    explanation("host-access", "an access of the host to memory of the device", include_str!("explain/host-access.md")),
    explanation(
        "not-permitted",
        "an access that the program has forbidden itself",
        include_str!("explain/not-permitted.md"),
    ),
    explanation(
        "peer-access",
        "an access to memory of another device without peer access",
        include_str!("explain/peer-access.md"),
    ),
    explanation(
        "misaligned",
        "an access whose address is no multiple of its size",
        include_str!("explain/misaligned.md"),
    ),
    explanation("double-free", "memory that is freed twice", include_str!("explain/double-free.md")),
    explanation("invalid-free", "a pointer is freed that cannot be", include_str!("explain/invalid-free.md")),
    explanation("invalid-copy", "a copy or fill that goes past the end", include_str!("explain/invalid-copy.md")),
    explanation(
        "invalid-binding",
        "more memory than there is, is bound to a texture",
        include_str!("explain/invalid-binding.md"),
    ),
    explanation(
        "unpinned-copy",
        "an asynchronous copy that cannot be asynchronous",
        include_str!("explain/unpinned-copy.md"),
    ),
    explanation("device-double-free", "a kernel frees memory twice", include_str!("explain/device-double-free.md")),
    explanation("device-invalid-free", "a kernel frees what it cannot", include_str!("explain/device-invalid-free.md")),
    explanation(
        "undefined-branch",
        "an undefined value decides what a thread does",
        include_str!("explain/undefined-branch.md"),
    ),
    explanation(
        "undefined-address",
        "an undefined value is an address, or an index",
        include_str!("explain/undefined-address.md"),
    ),
    explanation(
        "undefined-mask",
        "an undefined value says which threads take part",
        include_str!("explain/undefined-mask.md"),
    ),
    explanation(
        "undefined-output",
        "undefined memory is copied to the host",
        include_str!("explain/undefined-output.md"),
    ),
    explanation("leak", "memory that was never freed", include_str!("explain/leak.md")),
    explanation(
        "device-heap-leak",
        "memory of a kernel that was never freed",
        include_str!("explain/device-heap-leak.md"),
    ),
];

const fn explanation(code: &'static str, title: &'static str, text: &'static str) -> Explanation {
    Explanation { tool: Some("memcheck"), code, title, text }
}
