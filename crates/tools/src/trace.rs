//! Counts how often each access to memory is executed.
//!
//! The simplest tool that does something on the device, to copy for a new one.

use rewrite::{Access, Cursor, Tool};

/// The tool.
#[derive(Clone, Copy, Debug)]
pub struct Trace;

impl Tool for Trace {
    fn name(&self) -> &'static str {
        "trace"
    }

    fn access(&self, at: &mut Cursor<'_, '_>, access: &Access) {
        let site = at.site(access);
        let guard = at.guard();
        at.call(guard, "warpgrind_count", &[], &[i64::from(site.0).into()]);
    }
}
