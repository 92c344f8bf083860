//! Texture references.

use std::ffi::{c_char, c_int, c_uint};
use std::sync::Arc;

use device::texture::{AddressMode, Filter};

use super::array::{component, format_of, of};
use crate::abi::driver::*;
use crate::api::array::PYRAMIDS;
use crate::api::module::MODULES;
use crate::api::texture::{self, Resource};
use crate::api::texture_reference::{self, REFERENCES, Reference, State};
use crate::error::{CudaError, Result};
use crate::ffi::{export, get, put, put_if, text};

fn reference(hTexRef: CUtexref) -> Result<Arc<Reference>> {
    REFERENCES.get(hTexRef as usize)
}

fn mode_number(mode: AddressMode) -> CUaddress_mode {
    match mode {
        AddressMode::Wrap => 0,
        AddressMode::Clamp => 1,
        AddressMode::Mirror => 2,
        AddressMode::Border => 3,
    }
}

fn filter_number(filter: Filter) -> CUfilter_mode {
    match filter {
        Filter::Point => 0,
        Filter::Linear => 1,
    }
}

/// Which of three directions.
fn direction(dim: c_int) -> Result<usize> {
    usize::try_from(dim).ok().filter(|&dim| dim < 3).ok_or(CudaError::INVALID_VALUE)
}

/// Where the memory begins that is bound, if it is memory.
fn address_of(state: &State) -> Result<u64> {
    match state.resource {
        Some(Resource::Linear(start, ..) | Resource::Rows(start, ..)) => Ok(start + state.offset),
        _ => Err(CudaError::INVALID_VALUE),
    }
}

/// # Safety
/// `desc` must be null or valid to read.
unsafe fn bind_rows(hTexRef: CUtexref, desc: *const CUDA_ARRAY_DESCRIPTOR, address: u64, pitch: usize) -> Result<()> {
    // SAFETY: the caller promises that `desc` is null or valid to read.
    let desc = unsafe { get(desc) }?;
    let format = (component(desc.Format)?, desc.NumChannels);
    reference(hTexRef)?.change(|state| {
        state.format = format;
        state.bind_rows(address, [desc.Width, desc.Height], pitch as u64)
    })
}

export! {
    fn cuModuleGetTexRef(pTexRef: *mut CUtexref, hmod: CUmodule, name: *const c_char) {
        // SAFETY: the caller promises that `name` is null or a string that ends with zero.
        let found = texture_reference::find(&*MODULES.get(hmod as usize)?, unsafe { text(name) }?)?;
        // SAFETY: the caller promises that `pTexRef` is null or valid to write.
        unsafe { put(pTexRef, found.handle.number() as CUtexref) }
    }

    fn cuTexRefSetAddress_v2(ByteOffset: *mut usize, hTexRef: CUtexref, dptr: CUdeviceptr, bytes: usize) {
        let reference = reference(hTexRef)?;
        reference.change(|state| {
            state.bind_linear(dptr, bytes as u64)?;
            if ByteOffset.is_null() && state.offset != 0 { Err(CudaError::INVALID_VALUE) } else { Ok(()) }
        })?;
        // SAFETY: the caller promises that `ByteOffset` is null or valid to write.
        unsafe { put_if(ByteOffset, reference.state().offset as usize) };
        Ok(())
    }

    fn cuTexRefSetAddress2D_v2(hTexRef: CUtexref, desc: *const CUDA_ARRAY_DESCRIPTOR, dptr: CUdeviceptr, Pitch: usize) {
        // SAFETY: the caller promises that `desc` is null or valid to read.
        unsafe { bind_rows(hTexRef, desc, dptr, Pitch) }
    }

    fn cuTexRefSetAddress2D_v3(hTexRef: CUtexref, desc: *const CUDA_ARRAY_DESCRIPTOR, dptr: CUdeviceptr, Pitch: usize) {
        // SAFETY: the caller promises that `desc` is null or valid to read.
        unsafe { bind_rows(hTexRef, desc, dptr, Pitch) }
    }

    fn cuTexRefSetArray(hTexRef: CUtexref, hArray: CUarray, Flags: c_uint) {
        if Flags != CU_TRSA_OVERRIDE_FORMAT {
            return Err(CudaError::INVALID_VALUE);
        }
        let array = of(hArray)?;
        reference(hTexRef)?.set(|state| state.bind_image(Resource::Array(array)))
    }

    fn cuTexRefSetMipmappedArray(hTexRef: CUtexref, hMipmappedArray: CUmipmappedArray, Flags: c_uint) {
        if Flags != CU_TRSA_OVERRIDE_FORMAT {
            return Err(CudaError::INVALID_VALUE);
        }
        let pyramid = PYRAMIDS.get(hMipmappedArray as usize)?;
        reference(hTexRef)?.set(|state| state.bind_image(Resource::Pyramid(pyramid)))
    }

    fn cuTexRefSetFormat(hTexRef: CUtexref, fmt: CUarray_format, NumPackedComponents: c_int) {
        let channels = u32::try_from(NumPackedComponents).map_err(|_| CudaError::INVALID_VALUE)?;
        if !matches!(channels, 1 | 2 | 4) {
            return Err(CudaError::INVALID_VALUE);
        }
        let format = (component(fmt)?, channels);
        reference(hTexRef)?.set(|state| state.set_format(format))
    }

    fn cuTexRefSetAddressMode(hTexRef: CUtexref, dim: c_int, am: CUaddress_mode) {
        let (direction, mode) = (direction(dim)?, texture::address_mode(am)?);
        reference(hTexRef)?.set(|state| state.sampler.address[direction] = mode)
    }

    fn cuTexRefSetFilterMode(hTexRef: CUtexref, fm: CUfilter_mode) {
        let filter = texture::filter(fm)?;
        reference(hTexRef)?.set(|state| state.sampler.filter = filter)
    }

    fn cuTexRefSetFlags(hTexRef: CUtexref, Flags: c_uint) {
        const KNOWN: c_uint = CU_TRSF_READ_AS_INTEGER
            | CU_TRSF_NORMALIZED_COORDINATES
            | CU_TRSF_SRGB
            | CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;
        if Flags & !KNOWN != 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        texture::check_colours(Flags & CU_TRSF_SRGB != 0)?;
        reference(hTexRef)?.set(|state| {
            state.sampler.is_normalised = Flags & CU_TRSF_NORMALIZED_COORDINATES != 0;
            state.sampler.reads_floats = Flags & CU_TRSF_READ_AS_INTEGER == 0;
        })
    }

    fn cuTexRefSetBorderColor(hTexRef: CUtexref, pBorderColor: *mut f32) {
        // SAFETY: the caller promises that `pBorderColor` is null or four numbers to read.
        let border = *unsafe { get(pBorderColor.cast::<[f32; 4]>()) }?;
        reference(hTexRef)?.set(|state| state.sampler.border = border)
    }

    fn cuTexRefSetMaxAnisotropy(hTexRef: CUtexref, maxAniso: c_uint) {
        reference(hTexRef)?.set(|state| state.anisotropy = maxAniso)
    }

    fn cuTexRefSetMipmapFilterMode(hTexRef: CUtexref, fm: CUfilter_mode) {
        let filter = texture::filter(fm)?;
        reference(hTexRef)?.set(|state| state.sampler.level_filter = filter)
    }

    fn cuTexRefSetMipmapLevelBias(hTexRef: CUtexref, bias: f32) {
        reference(hTexRef)?.set(|state| state.sampler.level_bias = bias)
    }

    fn cuTexRefSetMipmapLevelClamp(hTexRef: CUtexref, minMipmapLevelClamp: f32, maxMipmapLevelClamp: f32) {
        reference(hTexRef)?.set(|state| {
            (state.sampler.level_min, state.sampler.level_max) = (minMipmapLevelClamp, maxMipmapLevelClamp);
        })
    }

    fn cuTexRefGetAddress_v2(pdptr: *mut CUdeviceptr, hTexRef: CUtexref) {
        // SAFETY: the caller promises that `pdptr` is null or valid to write.
        unsafe { put(pdptr, address_of(&reference(hTexRef)?.state())?) }
    }

    fn cuTexRefGetArray(phArray: *mut CUarray, hTexRef: CUtexref) {
        let Some(Resource::Array(array)) = reference(hTexRef)?.state().resource else {
            return Err(CudaError::INVALID_VALUE);
        };
        // SAFETY: the caller promises that `phArray` is null or valid to write.
        unsafe { put(phArray, array.handle.number() as CUarray) }
    }

    fn cuTexRefGetMipmappedArray(phMipmappedArray: *mut CUmipmappedArray, hTexRef: CUtexref) {
        let Some(Resource::Pyramid(pyramid)) = reference(hTexRef)?.state().resource else {
            return Err(CudaError::INVALID_VALUE);
        };
        // SAFETY: the caller promises that `phMipmappedArray` is null or valid to write.
        unsafe { put(phMipmappedArray, pyramid.handle.number() as CUmipmappedArray) }
    }

    fn cuTexRefGetFormat(pFormat: *mut CUarray_format, pNumChannels: *mut c_int, hTexRef: CUtexref) {
        let (component, channels) = reference(hTexRef)?.state().format;
        // SAFETY: the caller promises that `pFormat` and `pNumChannels` are null or valid to write.
        unsafe {
            put_if(pFormat, format_of(component));
            put_if(pNumChannels, channels as c_int);
        }
        Ok(())
    }

    fn cuTexRefGetAddressMode(pam: *mut CUaddress_mode, hTexRef: CUtexref, dim: c_int) {
        let mode = reference(hTexRef)?.state().sampler.address[direction(dim)?];
        // SAFETY: the caller promises that `pam` is null or valid to write.
        unsafe { put(pam, mode_number(mode)) }
    }

    fn cuTexRefGetFilterMode(pfm: *mut CUfilter_mode, hTexRef: CUtexref) {
        // SAFETY: the caller promises that `pfm` is null or valid to write.
        unsafe { put(pfm, filter_number(reference(hTexRef)?.state().sampler.filter)) }
    }

    fn cuTexRefGetFlags(pFlags: *mut c_uint, hTexRef: CUtexref) {
        let sampler = reference(hTexRef)?.state().sampler;
        let of_flag = |flag, is_set: bool| if is_set { flag } else { 0 };
        let flags = of_flag(CU_TRSF_NORMALIZED_COORDINATES, sampler.is_normalised)
            | of_flag(CU_TRSF_READ_AS_INTEGER, !sampler.reads_floats);
        // SAFETY: the caller promises that `pFlags` is null or valid to write.
        unsafe { put(pFlags, flags) }
    }

    fn cuTexRefGetBorderColor(pBorderColor: *mut f32, hTexRef: CUtexref) {
        // SAFETY: the caller promises that `pBorderColor` is null or four numbers to write.
        unsafe { put(pBorderColor.cast::<[f32; 4]>(), reference(hTexRef)?.state().sampler.border) }
    }

    fn cuTexRefGetMaxAnisotropy(pmaxAniso: *mut c_int, hTexRef: CUtexref) {
        // SAFETY: the caller promises that `pmaxAniso` is null or valid to write.
        unsafe { put(pmaxAniso, reference(hTexRef)?.state().anisotropy.cast_signed()) }
    }

    fn cuTexRefGetMipmapFilterMode(pfm: *mut CUfilter_mode, hTexRef: CUtexref) {
        // SAFETY: the caller promises that `pfm` is null or valid to write.
        unsafe { put(pfm, filter_number(reference(hTexRef)?.state().sampler.level_filter)) }
    }

    fn cuTexRefGetMipmapLevelBias(pbias: *mut f32, hTexRef: CUtexref) {
        // SAFETY: the caller promises that `pbias` is null or valid to write.
        unsafe { put(pbias, reference(hTexRef)?.state().sampler.level_bias) }
    }

    fn cuTexRefGetMipmapLevelClamp(pminMipmapLevelClamp: *mut f32, pmaxMipmapLevelClamp: *mut f32, hTexRef: CUtexref) {
        let sampler = reference(hTexRef)?.state().sampler;
        // SAFETY: the caller promises that both are null or valid to write.
        unsafe {
            put_if(pminMipmapLevelClamp, sampler.level_min);
            put_if(pmaxMipmapLevelClamp, sampler.level_max);
        }
        Ok(())
    }
}
