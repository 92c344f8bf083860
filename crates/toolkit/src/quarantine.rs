//! Memory that the program has freed, kept for a while: what still points to it points to nothing, and not to something else.

use device::Memory;

use crate::host::Host;
use crate::objects::{Moment, Object, Objects};
use crate::stack::HostStack;

/// Redzones after allocations. Those in front of them are after the ones before.
pub const REDZONE: u64 = 256;

/// Keeps an object that was freed, and gives memory back that was kept long enough.
pub fn keep(memory: &dyn Memory, objects: &mut Objects, object: Object, stack: HostStack, when: Option<Moment>) {
    for old in objects.quarantine(object, stack, when, memory.total_bytes() / 8) {
        memory.free(old);
    }
}

/// Gives all memory back that is kept; whether there was any.
pub fn empty(host: &dyn Host) -> bool {
    let old = host.objects().empty_quarantine();
    for &address in &old {
        host.memory().free(address);
    }
    !old.is_empty()
}
