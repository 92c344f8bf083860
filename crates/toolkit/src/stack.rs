//! How the host came to a call.

use std::fmt::Debug;
use std::sync::Arc;

use report::Stack;

/// How the host came to a call. What its addresses belong to is looked up when somebody asks.
#[derive(Clone, Default, Debug)]
pub struct HostStack {
    calls: Option<Arc<dyn Calls>>,
}

/// The calls of a thread, as they were captured.
pub trait Calls: Debug + Send + Sync {
    /// The calls by program or library and address in it, or by source line, from the innermost on.
    fn frames(&self) -> Stack;
}

impl HostStack {
    /// Calls that were captured.
    pub fn new(calls: impl Calls + 'static) -> Self {
        Self { calls: Some(Arc::new(calls)) }
    }

    /// The calls; none if they were not captured.
    pub fn frames(&self) -> Stack {
        self.calls.as_ref().map_or_else(Stack::default, |calls| calls.frames())
    }
}
