//! Devices.

use std::ffi::{c_char, c_int, c_uint};

use crate::abi::driver::{CUdevice, CUdevice_P2PAttribute, CUdevice_attribute, CUuuid};
use crate::api::{device, memory};
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
        unsafe { put(count, device::count()? as c_int) }
    }

    fn cuDeviceGetName(name: *mut c_char, len: c_int, dev: CUdevice) {
        let device = device::check(dev)?;
        // SAFETY: the caller promises that `name` is null or valid to write `usize::try_from(len).unwrap_or(0)`
        // elements.
        unsafe { put_text(name, usize::try_from(len).unwrap_or(0), device::name(device)) }
    }

    fn cuDeviceGetUuid(uuid: *mut CUuuid, dev: CUdevice) {
        let device = driver::logical(device::check(dev)?)?;
        // SAFETY: the caller promises that `uuid` is null or valid to write.
        unsafe { put(uuid, CUuuid { bytes: device.uuid().map(|byte| byte as c_char) }) }
    }

    fn cuDeviceGetUuid_v2(uuid: *mut CUuuid, dev: CUdevice) {
        let device = driver::logical(device::check(dev)?)?;
        // SAFETY: the caller promises that `uuid` is null or valid to write.
        unsafe { put(uuid, CUuuid { bytes: device.uuid().map(|byte| byte as c_char) }) }
    }

    fn cuDeviceTotalMem_v2(bytes: *mut usize, dev: CUdevice) {
        let all = memory::total(device::check(dev)?)?;
        // SAFETY: the caller promises that `bytes` is null or valid to write.
        unsafe { put(bytes, all as usize) }
    }

    fn cuDeviceGetAttribute(pi: *mut c_int, attrib: CUdevice_attribute, dev: CUdevice) {
        let value = device::attribute(device::check(dev)?, attrib)?;
        // SAFETY: the caller promises that `pi` is null or valid to write.
        unsafe { put(pi, value) }
    }

    fn cuDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, dev: CUdevice) {
        let capability = device::capability(device::check(dev)?) as c_int;
        // SAFETY: the caller promises that `major` and `minor` are null or valid to write.
        unsafe {
            put(major, capability / 10)?;
            put(minor, capability % 10)
        }
    }

    fn cuDeviceGetPCIBusId(pciBusId: *mut c_char, len: c_int, dev: CUdevice) {
        let name = driver::logical(device::check(dev)?)?.pci_name();
        // SAFETY: the caller promises that `pciBusId` is null or valid to write `usize::try_from(len).unwrap_or(0)`
        // elements.
        unsafe { put_text(pciBusId, usize::try_from(len).unwrap_or(0), &name) }
    }

    fn cuDeviceGetByPCIBusId(dev: *mut CUdevice, pciBusId: *const c_char) {
        driver::get()?;
        // SAFETY: the caller promises that `pciBusId` is null or a string that ends with zero.
        let device = device::by_pci_name(unsafe { text(pciBusId) }?)?;
        // SAFETY: the caller promises that `dev` is null or valid to write.
        unsafe { put(dev, device as CUdevice) }
    }

    fn cuDeviceCanAccessPeer(canAccessPeer: *mut c_int, dev: CUdevice, peerDev: CUdevice) {
        let can_access = device::can_access_peer(device::check(dev)?, device::check(peerDev)?);
        // SAFETY: the caller promises that `canAccessPeer` is null or valid to write.
        unsafe { put(canAccessPeer, can_access.into()) }
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
        let found = device::peer_attribute(attrib, device::check(srcDevice)?, device::check(dstDevice)?)?;
        // SAFETY: the caller promises that `value` is null or valid to write.
        unsafe { put(value, found) }
    }
}
