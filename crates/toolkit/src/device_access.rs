//! Which of the devices that a program sees may access what.

/// Kernels of which devices may access an object.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum DeviceAccess {
    /// Of every one: there is one, or the memory is shared.
    #[default]
    Every,
    /// Of the device with this number, whose memory it is, and of those that have peer access to it.
    Owner(u32),
    /// Of these, a bit for each.
    Only(u64),
}

/// The device that a launch is on, and what it may access there.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct LaunchDevice {
    /// Its number.
    pub number: u32,
    /// Devices to whose memory it has peer access, a bit for each.
    pub peers: u64,
}

impl LaunchDevice {
    /// Whether a launch may access an object.
    pub fn may_access(&self, access: DeviceAccess) -> bool {
        match access {
            DeviceAccess::Every => true,
            DeviceAccess::Owner(owner) => (self.peers | 1 << self.number) & 1 << owner != 0,
            DeviceAccess::Only(devices) => devices & 1 << self.number != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_reach_memory_of_its_owner_and_no_pool() {
        let launch = LaunchDevice { number: 1, peers: 0b100 };
        let may = [DeviceAccess::Every, DeviceAccess::Owner(1), DeviceAccess::Owner(2), DeviceAccess::Only(0b10)];
        let may_not = [DeviceAccess::Owner(0), DeviceAccess::Owner(3), DeviceAccess::Only(0b101)];
        assert!(may.iter().all(|access| launch.may_access(*access)));
        assert!(!may_not.iter().any(|access| launch.may_access(*access)));
    }
}
