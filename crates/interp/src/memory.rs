//! Simulated memory: allocations with bounds, and the windows that addresses lie in.
//!
//! A generic address says by itself which window it is in. Addresses of shared, local and parameter memory are offsets
//! from the base of their window; those of global and constant memory are generic addresses.

/// Where the windows begin.
pub(crate) mod window {
    /// Global memory: allocations and variables.
    pub(crate) const GLOBAL: u64 = 0x0010_0000_0000;
    /// Constant variables.
    pub(crate) const CONST: u64 = 0x0800_0000_0000;
    /// The shared memory of the thread's block.
    pub(crate) const SHARED: u64 = 0x0900_0000_0000;
    /// The local memory of the thread.
    pub(crate) const LOCAL: u64 = 0x0a00_0000_0000;
    /// The parameters of the kernel.
    pub(crate) const PARAM: u64 = 0x0b00_0000_0000;
    /// Functions: addresses that can be called but not read.
    pub(crate) const CODE: u64 = 0x0c00_0000_0000;
    /// The size of every window but the first, which ends where the second begins.
    pub(crate) const SIZE: u64 = 0x0100_0000_0000;
}

/// A window as an instruction names it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Window {
    /// Whatever the address points into.
    Generic,
    /// `.global`
    Global,
    /// `.const`
    Const,
    /// `.shared`
    Shared,
    /// `.local`, and `.param` of functions
    Local,
    /// `.param` of kernels
    Param,
}

impl Window {
    /// The window that a generic address points into; nothing if there is none.
    pub(crate) fn of(address: u64) -> Option<Self> {
        Some(match address {
            window::GLOBAL..window::CONST => Self::Global,
            window::CONST..window::SHARED => Self::Const,
            window::SHARED..window::LOCAL => Self::Shared,
            window::LOCAL..window::PARAM => Self::Local,
            window::PARAM..window::CODE => Self::Param,
            _ => return None,
        })
    }

    /// What is added to an address of the window to make it generic.
    pub(crate) fn base(self) -> u64 {
        match self {
            Self::Generic | Self::Global | Self::Const => 0,
            Self::Shared => window::SHARED,
            Self::Local => window::LOCAL,
            Self::Param => window::PARAM,
        }
    }
}

impl std::fmt::Display for Window {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Generic => "generic",
            Self::Global => "global",
            Self::Const => "constant",
            Self::Shared => "shared",
            Self::Local => "local",
            Self::Param => "parameter",
        })
    }
}

/// Why memory cannot be accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AccessError {
    /// No live allocation holds all the bytes.
    #[error("is outside of all {0} memory")]
    Outside(Window),
    /// The address is no multiple of the size.
    #[error("is not aligned")]
    Misaligned,
    /// The address is in another window than the instruction says.
    #[error("is not in {0} memory")]
    WrongWindow(Window),
    /// Constant memory and parameters cannot be written.
    #[error("is in {0} memory, which cannot be written")]
    ReadOnly(Window),
}

/// Global and constant memory, in allocations.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    /// In the order of their addresses, which is that of their making.
    global: Allocations,
    constant: Allocations,
}

#[derive(Clone, Debug)]
struct Allocations {
    window: Window,
    next: u64,
    list: Vec<Allocation>,
}

#[derive(Clone, Debug)]
struct Allocation {
    base: u64,
    bytes: Vec<u8>,
    live: bool,
}

/// The distance between two allocations: an access past the end of one does not reach the next.
const GAP: u64 = 256;

impl Memory {
    pub(crate) fn new() -> Self {
        let allocations = |window, next| Allocations { window, next, list: Vec::new() };
        Self {
            global: allocations(Window::Global, window::GLOBAL),
            constant: allocations(Window::Const, window::CONST),
        }
    }

    /// A new allocation of zeros.
    pub(crate) fn allocate(&mut self, is_constant: bool, bytes: u64, align: u64) -> u64 {
        let allocations = if is_constant { &mut self.constant } else { &mut self.global };
        let base = allocations.next.next_multiple_of(align.max(256));
        allocations.next = base + bytes + GAP;
        allocations.list.push(Allocation { base, bytes: vec![0; bytes as usize], live: true });
        base
    }

    /// Ends a allocation; nothing if none begins there.
    pub(crate) fn free(&mut self, base: u64) -> Option<()> {
        let index = self.global.list.binary_search_by_key(&base, |allocation| allocation.base).ok()?;
        let allocation = &mut self.global.list[index];
        if !allocation.live {
            return None;
        }
        allocation.live = false;
        allocation.bytes = Vec::new();
        Some(())
    }

    pub(crate) fn bytes(&self, address: u64, size: u64) -> Result<&[u8], AccessError> {
        let allocations = if address >= window::CONST { &self.constant } else { &self.global };
        let (index, range) = allocations.find(address, size)?;
        Ok(&allocations.list[index].bytes[range])
    }

    pub(crate) fn bytes_mut(&mut self, address: u64, size: u64) -> Result<&mut [u8], AccessError> {
        let allocations = if address >= window::CONST { &mut self.constant } else { &mut self.global };
        let (index, range) = allocations.find(address, size)?;
        Ok(&mut allocations.list[index].bytes[range])
    }
}

impl Allocations {
    fn find(&self, address: u64, size: u64) -> Result<(usize, std::ops::Range<usize>), AccessError> {
        let outside = AccessError::Outside(self.window);
        let index = self.list.partition_point(|allocation| allocation.base <= address).checked_sub(1).ok_or(outside)?;
        let allocation = &self.list[index];
        let range = range_within(address - allocation.base, size, allocation.bytes.len()).ok_or(outside)?;
        if !allocation.live {
            return Err(outside);
        }
        Ok((index, range))
    }
}

/// The bytes from an offset on, if there are that many.
pub(crate) fn range_within(offset: u64, size: u64, len: usize) -> Option<std::ops::Range<usize>> {
    let end = offset.checked_add(size)?;
    (end <= len as u64).then_some(offset as usize..end as usize)
}

/// Bytes, lowest first, as a number.
pub(crate) fn from_bytes(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u128::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_needs_a_live_allocation_that_holds_all_of_it() {
        let mut memory = Memory::new();
        let first = memory.allocate(false, 100, 4);
        let second = memory.allocate(false, 8, 1024);
        assert_eq!(second % 1024, 0);
        assert!(memory.bytes(first, 100).is_ok());
        assert_eq!(memory.bytes(first + 1, 100), Err(AccessError::Outside(Window::Global)));
        assert_eq!(memory.bytes(first - 1, 1), Err(AccessError::Outside(Window::Global)));
        assert_eq!(memory.bytes(second, u64::MAX), Err(AccessError::Outside(Window::Global)));
        assert_eq!(memory.free(first), Some(()));
        assert_eq!(memory.free(first), None);
        assert_eq!(memory.bytes(first, 1), Err(AccessError::Outside(Window::Global)));
        assert!(memory.bytes(second, 8).is_ok());
    }
}
