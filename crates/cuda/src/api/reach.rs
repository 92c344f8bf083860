//! What launches of a context may access: memory of its device, and of those to which it has peer access.

use std::sync::atomic::{AtomicU64, Ordering};

use toolkit::LaunchDevice;

use crate::error::{CudaError, Result};

/// What launches of a context may access.
#[derive(Debug)]
pub(crate) struct Reach {
    /// The number of its device.
    pub(crate) device: usize,
    /// Devices to whose memory it has access, a bit for each.
    peers: AtomicU64,
}

impl Reach {
    pub(crate) fn new(device: usize) -> Self {
        Self { device, peers: AtomicU64::new(0) }
    }

    /// Gives it access to the memory of another device.
    pub(crate) fn enable(&self, peer: usize) -> Result<()> {
        let before = self.peers.fetch_or(1 << peer, Ordering::Relaxed);
        if before & 1 << peer == 0 { Ok(()) } else { Err(CudaError::PEER_ACCESS_ALREADY_ENABLED) }
    }

    /// Takes the access away.
    pub(crate) fn disable(&self, peer: usize) -> Result<()> {
        let before = self.peers.fetch_and(!(1 << peer), Ordering::Relaxed);
        if before & 1 << peer == 0 { Err(CudaError::PEER_ACCESS_NOT_ENABLED) } else { Ok(()) }
    }

    /// The same for tools, as it is now.
    pub(crate) fn now(&self) -> LaunchDevice {
        LaunchDevice { number: self.device as u32, peers: self.peers.load(Ordering::Relaxed) }
    }
}
