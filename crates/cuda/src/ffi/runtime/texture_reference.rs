//! Texture references of the runtime, which CUDA 11 was the last to have: `texture<float> image;` in a program.

use std::ffi::c_void;
use std::sync::Arc;

use device::texture::Sampler;

use super::{array, export_runtime, ready};
use crate::abi::runtime::*;
use crate::api::array::PYRAMIDS;
use crate::api::texture::{self, Resource};
use crate::api::texture_reference::{Reference, State};
use crate::api::{allocation, registry};
use crate::error::{CudaError, Result};
use crate::ffi::{get, put, put_if};

/// The size that `cudaBindTexture` of C++ has if the program gives none: all there is.
const ALL: usize = u32::MAX as usize;

/// A reference that was registered, and how the program wants it to be read now.
///
/// # Safety
/// `texref` must be null or valid to read.
unsafe fn registered(texref: *const textureReference) -> Result<(Arc<Reference>, Sampler)> {
    ready()?;
    let (reference, reads_floats) = registry::texture(texref as usize)?;
    // SAFETY: the caller promises that `texref` is null or valid to read.
    let how = unsafe { get(texref) }?;
    texture::check_colours(how.sRGB != 0)?;
    let [x, y, z] = how.addressMode;
    let sampler = Sampler {
        address: [texture::address_mode(x)?, texture::address_mode(y)?, texture::address_mode(z)?],
        filter: texture::filter(how.filterMode)?,
        level_filter: texture::filter(how.mipmapFilterMode)?,
        is_normalised: how.normalized != 0,
        reads_floats,
        level_bias: how.mipmapLevelBias,
        level_min: how.minMipmapLevelClamp,
        level_max: how.maxMipmapLevelClamp,
        ..Sampler::default()
    };
    Ok((reference, sampler))
}

/// Binds memory whose elements are described, and says how far it begins after what is bound.
///
/// # Safety
/// `texref` and `desc` must be null or valid to read, and `offset` null or valid to write.
unsafe fn bind(
    offset: *mut usize,
    texref: *const textureReference,
    desc: *const cudaChannelFormatDesc,
    bind: impl FnOnce(&mut State) -> Result<()>,
) -> Result<()> {
    // SAFETY: the caller promises that `texref` and `desc` are null or valid to read.
    let ((reference, sampler), format) = unsafe { (registered(texref)?, array::format(get(desc)?)?) };
    reference.change(|state| {
        (state.sampler, state.format) = (sampler, format);
        bind(state)?;
        if offset.is_null() && state.offset != 0 { Err(CudaError::INVALID_VALUE) } else { Ok(()) }
    })?;
    // SAFETY: the caller promises that `offset` is null or valid to write.
    unsafe { put_if(offset, reference.state().offset as usize) };
    Ok(())
}

/// Binds an array or a pyramid.
///
/// # Safety
/// `texref` must be null or valid to read.
unsafe fn bind_image(texref: *const textureReference, resource: Resource) -> Result<()> {
    // SAFETY: the caller promises that `texref` is null or valid to read.
    let (reference, sampler) = unsafe { registered(texref) }?;
    reference.set(|state| {
        state.sampler = sampler;
        state.bind_image(resource);
    })
}

export_runtime! {
    fn cudaBindTexture(
        offset: *mut usize,
        texref: *const textureReference,
        devPtr: *const c_void,
        desc: *const cudaChannelFormatDesc,
        size: usize,
    ) {
        let address = devPtr as u64;
        let rest = || allocation::find(address).map(|found| found.bytes - (address - found.address));
        let bytes = if size == ALL { rest().ok_or(CudaError::INVALID_VALUE)? } else { size as u64 };
        // SAFETY: the caller promises that `texref` and `desc` are null or valid to read, `offset` null or valid to write.
        unsafe { bind(offset, texref, desc, |state| state.bind_linear(address, bytes)) }
    }

    fn cudaBindTexture2D(
        offset: *mut usize,
        texref: *const textureReference,
        devPtr: *const c_void,
        desc: *const cudaChannelFormatDesc,
        width: usize,
        height: usize,
        pitch: usize,
    ) {
        // SAFETY: the caller promises that `texref` and `desc` are null or valid to read, `offset` null or valid to write.
        unsafe { bind(offset, texref, desc, |state| state.bind_rows(devPtr as u64, [width, height], pitch as u64)) }
    }

    fn cudaBindTextureToArray(
        texref: *const textureReference,
        array: cudaArray_const_t,
        desc: *const cudaChannelFormatDesc,
    ) {
        let array = array::of(array)?;
        let description = array.description;
        // SAFETY: the caller promises that `desc` is null or valid to read.
        if array::format(unsafe { get(desc) }?)? != (description.component, description.channels) {
            return Err(CudaError::INVALID_CHANNEL_DESCRIPTOR);
        }
        // SAFETY: the caller promises that `texref` is null or valid to read.
        unsafe { bind_image(texref, Resource::Array(array)) }
    }

    fn cudaBindTextureToMipmappedArray(
        texref: *const textureReference,
        mipmappedArray: cudaMipmappedArray_const_t,
        desc: *const cudaChannelFormatDesc,
    ) {
        // SAFETY: the caller promises that `desc` is null or valid to read.
        array::format(unsafe { get(desc) }?)?;
        let pyramid = PYRAMIDS.get(mipmappedArray as usize)?;
        // SAFETY: the caller promises that `texref` is null or valid to read.
        unsafe { bind_image(texref, Resource::Pyramid(pyramid)) }
    }

    fn cudaUnbindTexture(texref: *const textureReference) {
        ready()?;
        registry::texture(texref as usize)?.0.set(|state| (state.resource, state.offset) = (None, 0))
    }

    fn cudaGetTextureAlignmentOffset(offset: *mut usize, texref: *const textureReference) {
        ready()?;
        let state = registry::texture(texref as usize)?.0.state();
        if state.resource.is_none() {
            return Err(CudaError::INVALID_TEXTURE_BINDING);
        }
        // SAFETY: the caller promises that `offset` is null or valid to write.
        unsafe { put(offset, state.offset as usize) }
    }

    fn cudaGetTextureReference(texref: *mut *const textureReference, symbol: *const c_void) {
        ready()?;
        registry::texture(symbol as usize)?;
        // SAFETY: the caller promises that `texref` is null or valid to write.
        unsafe { put(texref, symbol.cast()) }
    }
}
