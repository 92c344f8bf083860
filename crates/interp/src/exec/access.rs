//! How a thread reaches memory.

use super::lane::Lane;
use crate::code::{Address, Inst};
use crate::fault::FaultKind;
use crate::memory::{AccessError, Window, from_bytes, range_within};
use crate::thread_access::ThreadAccess;

/// Memory that a generic address was resolved to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Location {
    pub window: Window,
    /// An address of the window itself.
    pub address: u64,
}

impl Lane<'_> {
    /// The value of an address operand in the window that it names.
    pub(crate) fn address_of(&self, address: Address) -> u64 {
        let base = self.read(address.base) as u64;
        let sum = base.wrapping_add_signed(address.offset);
        if address.narrow { sum & 0xffff_ffff } else { sum }
    }

    /// Where an access goes, if it may go there.
    pub(crate) fn locate(&self, window: Window, address: u64, size: u32, write: bool) -> Result<Location, FaultKind> {
        let fault = |error| FaultKind::Access { write, address, size, error };
        let location = match window {
            Window::Generic => {
                let window = Window::of(address).ok_or(fault(AccessError::Outside(Window::Generic)))?;
                Location { window, address: address - window.base() }
            }
            Window::Global | Window::Const => {
                if Window::of(address).is_some_and(|found| found != window) {
                    return Err(fault(AccessError::WrongWindow(window)));
                }
                Location { window, address }
            }
            _ => Location { window, address },
        };
        if !location.address.is_multiple_of(u64::from(size.next_power_of_two().min(32)).max(1)) {
            return Err(fault(AccessError::Misaligned));
        }
        if write && matches!(location.window, Window::Const | Window::Param) {
            return Err(fault(AccessError::ReadOnly(location.window)));
        }
        Ok(location)
    }

    pub(crate) fn bytes(&self, location: Location, size: u64) -> Result<&[u8], AccessError> {
        let outside = AccessError::Outside(location.window);
        let of = |memory: &'_ [u8]| range_within(location.address, size, memory.len()).ok_or(outside);
        match location.window {
            Window::Shared => Ok(&self.shared[of(self.shared)?]),
            Window::Local => Ok(&self.thread.local[of(&self.thread.local)?]),
            Window::Param => Ok(&self.grid.params[of(self.grid.params)?]),
            _ => self.memory.bytes(location.address, size),
        }
    }

    pub(crate) fn bytes_mut(&mut self, location: Location, size: u64) -> Result<&mut [u8], AccessError> {
        let outside = AccessError::Outside(location.window);
        let of = |memory: &'_ [u8]| range_within(location.address, size, memory.len()).ok_or(outside);
        match location.window {
            Window::Shared => {
                let range = of(self.shared)?;
                Ok(&mut self.shared[range])
            }
            Window::Local => {
                let range = of(&self.thread.local)?;
                Ok(&mut self.thread.local[range])
            }
            Window::Param => Err(AccessError::ReadOnly(Window::Param)),
            _ => self.memory.bytes_mut(location.address, size),
        }
    }

    /// Reads bytes of any window.
    pub(crate) fn load(&self, window: Window, address: u64, size: u32) -> Result<&[u8], FaultKind> {
        let location = self.locate(window, address, size, false)?;
        let fault = |error| FaultKind::Access { write: false, address, size, error };
        self.bytes(location, size.into()).map_err(fault)
    }

    /// Bytes of any window, to be changed.
    pub(crate) fn store(&mut self, window: Window, address: u64, size: u32) -> Result<&mut [u8], FaultKind> {
        let location = self.locate(window, address, size, true)?;
        let fault = |error| FaultKind::Access { write: true, address, size, error };
        self.bytes_mut(location, size.into()).map_err(fault)
    }

    /// Bytes of any window without an alignment: for the runtime's functions and bulk copies.
    pub(crate) fn load_unaligned(&self, window: Window, address: u64, size: u32) -> Result<&[u8], FaultKind> {
        let fault = |error| FaultKind::Access { write: false, address, size, error };
        let location = self.locate(window, address, 1, false)?;
        self.bytes(location, size.into()).map_err(fault)
    }

    pub(crate) fn store_unaligned(&mut self, window: Window, address: u64, size: u32) -> Result<&mut [u8], FaultKind> {
        let fault = |error| FaultKind::Access { write: true, address, size, error };
        let location = self.locate(window, address, 1, true)?;
        self.bytes_mut(location, size.into()).map_err(fault)
    }

    /// Lists an access, if that is wanted and it is possible.
    pub(crate) fn list_access(&mut self, inst: &Inst, window: Window, address: u64, size: u32, write: bool) {
        if !self.grid.config.lists_accesses {
            return;
        }
        if let Ok(location) = self.locate(window, address, size, write)
            && self.bytes(location, size.into()).is_ok()
        {
            self.accesses.push(ThreadAccess {
                block: self.thread.block,
                thread: self.thread.index,
                interval: self.thread.interval,
                function: self.grid.program.functions[self.thread.frame().function as usize].id,
                statement: inst.stmt,
                window: location.window,
                address: location.address,
                size,
                write,
            });
        }
    }

    pub(crate) fn execute_load(&mut self, inst: &Inst, size: u8, signed: bool) -> Result<(), FaultKind> {
        let operand = inst.addresses[0];
        let address = self.address_of(operand);
        let size = usize::from(size);
        self.list_access(inst, operand.window, address, (size * inst.dests.len()) as u32, false);
        let bytes = self.load(operand.window, address, (size * inst.dests.len()) as u32)?;
        let values: smallvec::SmallVec<[u128; 8]> = bytes.chunks_exact(size).map(from_bytes).collect();
        let ty = crate::arith::int::Int { bits: 8 * size as u32, signed };
        for (&dest, value) in inst.dests.iter().zip(values) {
            // A register wider than the type is filled with the sign, or with zeros.
            let value = if signed { ty.value(value) as u128 } else { value };
            self.thread.write(dest, value);
        }
        Ok(())
    }

    pub(crate) fn execute_store(&mut self, inst: &Inst, size: u8) -> Result<(), FaultKind> {
        let operand = inst.addresses[0];
        let address = self.address_of(operand);
        let size = usize::from(size);
        let values: smallvec::SmallVec<[u128; 8]> = inst.args.iter().map(|&arg| self.read(arg)).collect();
        self.list_access(inst, operand.window, address, (size * values.len()) as u32, true);
        let bytes = self.store(operand.window, address, (size * values.len()) as u32)?;
        for (target, value) in bytes.chunks_exact_mut(size).zip(values) {
            target.copy_from_slice(&value.to_le_bytes()[..size]);
        }
        Ok(())
    }

    /// `cp.async`, complete at once. Bytes of the target past the size of the source become zeros.
    pub(crate) fn execute_copy(
        &mut self,
        inst: &Inst,
        size: u32,
        has_source_size: bool,
        is_predicate: bool,
    ) -> Result<(), FaultKind> {
        let (target, source) = (inst.addresses[0], inst.addresses[1]);
        let source_size = match has_source_size {
            true if is_predicate => {
                if self.read(inst.args[0]) & 1 == 1 {
                    0
                } else {
                    size
                }
            }
            true => (self.read(inst.args[0]) as u32).min(size),
            false => size,
        };
        let from = self.address_of(source);
        // The whole source must be aligned; only the bytes that count must exist.
        let location = self.locate(source.window, from, size, false)?;
        let fault = |error| FaultKind::Access { write: false, address: from, size: source_size, error };
        let mut bytes = match source_size {
            0 => Vec::new(),
            _ => self.bytes(location, source_size.into()).map_err(fault)?.to_vec(),
        };
        bytes.resize(size as usize, 0);
        let to = self.address_of(target);
        self.store(target.window, to, size)?.copy_from_slice(&bytes);
        Ok(())
    }

    /// `cp.async.bulk`, complete at once: the barrier object is told that the bytes have come.
    pub(crate) fn execute_copy_bulk(&mut self, inst: &Inst) -> Result<(), FaultKind> {
        let size = self.read(inst.args[0]) as u32;
        let (target, source) = (inst.addresses[0], inst.addresses[1]);
        let (to, from) = (self.address_of(target), self.address_of(source));
        let misaligned = |write, address| FaultKind::Access { write, address, size, error: AccessError::Misaligned };
        if !size.is_multiple_of(16) || !from.is_multiple_of(16) {
            return Err(misaligned(false, from));
        }
        if !to.is_multiple_of(16) {
            return Err(misaligned(true, to));
        }
        let [left, right] = [inst.args[1], inst.args[2]].map(|arg| self.read(arg) as u32);
        let mask = self.read(inst.args[3]) as u16;
        let copied = size.saturating_sub(left).saturating_sub(right);
        let skipped = u64::from(left);
        let bytes = self.load_unaligned(source.window, from.wrapping_add(skipped), copied)?.to_vec();
        let targets = self.store_unaligned(target.window, to.wrapping_add(skipped), copied)?;
        for (nth, (target, byte)) in targets.iter_mut().zip(bytes).enumerate() {
            if mask >> (nth % 16) & 1 != 0 {
                *target = byte;
            }
        }
        if let Some(&object) = inst.addresses.get(2) {
            self.change_mbarrier(object, |barrier| barrier.complete_tx(size))?;
        }
        Ok(())
    }
}
