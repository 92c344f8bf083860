//! Devices.

use std::ffi::{c_char, c_int, c_uint};

use crate::abi::driver::{CUdevice, CUdevice_P2PAttribute, CUdevice_attribute, CUuuid};
use crate::api::device::{self, PCI_NAME, UUID};
use crate::driver;
use crate::error::CudaError;
use crate::ffi::{export, put, put_text, text};

export! {
    fn cuDeviceGet(out: *mut CUdevice, ordinal: c_int) {
        device::check(ordinal)?;
        // SAFETY: the caller promises that `out` is null or valid to write.
        unsafe { put(out, ordinal) }
    }

    fn cuDeviceGetCount(count: *mut c_int) {
        driver::get()?;
        // SAFETY: the caller promises that `count` is null or valid to write.
        unsafe { put(count, 1) }
    }

    fn cuDeviceGetName(name: *mut c_char, len: c_int, dev: CUdevice) {
        device::check(dev)?;
        // SAFETY: the caller promises that `name` is null or valid to write `usize::try_from(len).unwrap_or(0)`
        // elements.
        unsafe { put_text(name, usize::try_from(len).unwrap_or(0), device::name()) }
    }

    fn cuDeviceGetUuid(uuid: *mut CUuuid, dev: CUdevice) {
        device::check(dev)?;
        // SAFETY: the caller promises that `uuid` is null or valid to write.
        unsafe { put(uuid, CUuuid { bytes: UUID.map(|byte| byte as c_char) }) }
    }

    fn cuDeviceGetUuid_v2(uuid: *mut CUuuid, dev: CUdevice) {
        device::check(dev)?;
        // SAFETY: the caller promises that `uuid` is null or valid to write.
        unsafe { put(uuid, CUuuid { bytes: UUID.map(|byte| byte as c_char) }) }
    }

    fn cuDeviceTotalMem_v2(bytes: *mut usize, dev: CUdevice) {
        device::check(dev)?;
        // SAFETY: the caller promises that `bytes` is null or valid to write.
        unsafe { put(bytes, driver::get()?.device.memory().total_bytes() as usize) }
    }

    fn cuDeviceGetAttribute(pi: *mut c_int, attrib: CUdevice_attribute, dev: CUdevice) {
        device::check(dev)?;
        // SAFETY: the caller promises that `pi` is null or valid to write.
        unsafe { put(pi, device::attribute(attrib)?) }
    }

    fn cuDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, dev: CUdevice) {
        device::check(dev)?;
        let capability = device::capability() as c_int;
        // SAFETY: the caller promises that `major` and `minor` are null or valid to write.
        unsafe {
            put(major, capability / 10)?;
            put(minor, capability % 10)
        }
    }

    fn cuDeviceGetPCIBusId(pciBusId: *mut c_char, len: c_int, dev: CUdevice) {
        device::check(dev)?;
        // SAFETY: the caller promises that `pciBusId` is null or valid to write `usize::try_from(len).unwrap_or(0)`
        // elements.
        unsafe { put_text(pciBusId, usize::try_from(len).unwrap_or(0), PCI_NAME) }
    }

    fn cuDeviceGetByPCIBusId(dev: *mut CUdevice, pciBusId: *const c_char) {
        driver::get()?;
        // SAFETY: the caller promises that `pciBusId` is null or a string that ends with zero.
        device::check_pci_name(unsafe { text(pciBusId) }?)?;
        // SAFETY: the caller promises that `dev` is null or valid to write.
        unsafe { put(dev, 0) }
    }

    fn cuDeviceCanAccessPeer(canAccessPeer: *mut c_int, dev: CUdevice, peerDev: CUdevice) {
        device::check(dev)?;
        device::check(peerDev)?;
        // SAFETY: the caller promises that `canAccessPeer` is null or valid to write. There is no other device.
        unsafe { put(canAccessPeer, 0) }
    }

    fn cuDeviceGetLuid(luid: *mut c_char, deviceNodeMask: *mut c_uint, dev: CUdevice) {
        device::check(dev)?;
        // Only Windows has them.
        let _ = (luid, deviceNodeMask);
        Err(CudaError::NOT_SUPPORTED)
    }

    fn cuDeviceGetP2PAttribute(
        value: *mut c_int,
        attrib: CUdevice_P2PAttribute,
        srcDevice: CUdevice,
        dstDevice: CUdevice,
    ) {
        // It is asked of two devices, and there is one.
        let _ = (value, attrib);
        device::check(srcDevice)?;
        device::check(dstDevice)?;
        Err(CudaError::INVALID_DEVICE)
    }
}
