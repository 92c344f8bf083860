//! How the host came to a call.

use std::sync::Arc;

use report::{Frame, Stack};

/// Addresses of calls, from the innermost on. What they belong to is looked up when somebody asks.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub(crate) struct HostStack {
    addresses: Arc<[usize]>,
}

impl HostStack {
    /// The calls of this thread.
    pub(crate) fn capture(most: usize) -> Self {
        let mut addresses = Vec::with_capacity(most);
        // Our own calls come first, and are left out when the stack is shown.
        let most = most + 12;
        backtrace::trace(|frame| {
            addresses.push(frame.ip() as usize);
            addresses.len() < most
        });
        Self { addresses: addresses.into() }
    }

    /// The calls by program or library and address in it.
    pub(crate) fn frames(&self) -> Stack {
        let objects = crate::ffi::objects::loaded();
        let own =
            objects.iter().find(|object| object.contains(HostStack::capture as *const () as usize)).map(|own| own.bias);
        let frames = self.addresses.iter().filter_map(|&address| {
            // The address is where the call returns to, which may be behind the function.
            let address = address.saturating_sub(1);
            let object = objects.iter().find(|object| object.contains(address))?;
            (Some(object.bias) != own)
                .then(|| Frame::Code { object: object.path.clone(), offset: (address - object.bias) as u64 })
        });
        Stack { frames: frames.collect() }
    }
}
