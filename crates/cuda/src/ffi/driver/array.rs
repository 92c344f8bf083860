//! Arrays, textures and surfaces.

use std::ffi::c_uint;
use std::sync::Arc;

use device::texture::{Component, Sampler};

use crate::abi::driver::*;
use crate::api::array::{self, ARRAYS, Array, Description, PYRAMIDS};
use crate::api::context;
use crate::api::texture::{self, Resource};
use crate::error::{CudaError, Result};
use crate::ffi::{export, get, put};
use crate::transfer::{Extent, Side};

pub(super) fn of(array: CUarray) -> Result<Arc<Array>> {
    ARRAYS.get(array as usize)
}

/// A part of an array, from a place on: bytes of a row, rows, slices.
pub(crate) fn side(array: CUarray, place: [usize; 3], extent: &Extent) -> Result<Side> {
    of(array)?.side(place.map(|offset| offset as u64), extent)
}

pub(super) fn component(format: CUarray_format) -> Result<Component> {
    Ok(match format {
        CU_AD_FORMAT_UNSIGNED_INT8 => Component::U8,
        CU_AD_FORMAT_UNSIGNED_INT16 => Component::U16,
        CU_AD_FORMAT_UNSIGNED_INT32 => Component::U32,
        CU_AD_FORMAT_SIGNED_INT8 => Component::S8,
        CU_AD_FORMAT_SIGNED_INT16 => Component::S16,
        CU_AD_FORMAT_SIGNED_INT32 => Component::S32,
        CU_AD_FORMAT_HALF => Component::F16,
        CU_AD_FORMAT_FLOAT => Component::F32,
        _ => {
            crate::log::say(&format!("arrays of format {format:#x} are not supported by the CPU device"));
            return Err(CudaError::NOT_SUPPORTED);
        }
    })
}

pub(super) fn format_of(component: Component) -> CUarray_format {
    match component {
        Component::U8 => CU_AD_FORMAT_UNSIGNED_INT8,
        Component::U16 => CU_AD_FORMAT_UNSIGNED_INT16,
        Component::U32 => CU_AD_FORMAT_UNSIGNED_INT32,
        Component::S8 => CU_AD_FORMAT_SIGNED_INT8,
        Component::S16 => CU_AD_FORMAT_SIGNED_INT16,
        Component::S32 => CU_AD_FORMAT_SIGNED_INT32,
        Component::F16 => CU_AD_FORMAT_HALF,
        Component::F32 => CU_AD_FORMAT_FLOAT,
    }
}

fn describe(desc: &CUDA_ARRAY3D_DESCRIPTOR) -> Result<Description> {
    Ok(Description {
        size: [desc.Width, desc.Height, desc.Depth],
        component: component(desc.Format)?,
        channels: desc.NumChannels,
        is_layered: desc.Flags & CUDA_ARRAY3D_LAYERED != 0,
        is_cube: desc.Flags & CUDA_ARRAY3D_CUBEMAP != 0,
        flags: desc.Flags,
    })
}

/// # Safety
/// `desc` must be null or valid to read.
unsafe fn resource_of(desc: *const CUDA_RESOURCE_DESC) -> Result<Resource> {
    // SAFETY: the caller promises that `desc` is null or valid to read; the type says which of the fields it has.
    unsafe {
        let desc = get(desc)?;
        Ok(match desc.resType {
            CU_RESOURCE_TYPE_ARRAY => Resource::Array(of(desc.res.array.hArray)?),
            CU_RESOURCE_TYPE_MIPMAPPED_ARRAY => {
                Resource::Pyramid(PYRAMIDS.get(desc.res.mipmap.hMipmappedArray as usize)?)
            }
            CU_RESOURCE_TYPE_LINEAR => {
                let linear = desc.res.linear;
                let format = (component(linear.format)?, linear.numChannels);
                Resource::Linear(linear.devPtr, linear.sizeInBytes as u64, format)
            }
            CU_RESOURCE_TYPE_PITCH2D => {
                let rows = desc.res.pitch2D;
                let [width, height] = [rows.width, rows.height].map(|size| u32::try_from(size).unwrap_or(0));
                let format = (component(rows.format)?, rows.numChannels);
                Resource::Rows(rows.devPtr, [width, height], rows.pitchInBytes as u64, format)
            }
            _ => return Err(CudaError::INVALID_VALUE),
        })
    }
}

fn sampler_of(desc: &CUDA_TEXTURE_DESC) -> Result<Sampler> {
    texture::check_colours(desc.flags & CU_TRSF_SRGB != 0)?;
    let [x, y, z] = desc.addressMode;
    Ok(Sampler {
        address: [texture::address_mode(x)?, texture::address_mode(y)?, texture::address_mode(z)?],
        filter: texture::filter(desc.filterMode)?,
        level_filter: texture::filter(desc.mipmapFilterMode)?,
        is_normalised: desc.flags & CU_TRSF_NORMALIZED_COORDINATES != 0,
        reads_floats: desc.flags & CU_TRSF_READ_AS_INTEGER == 0,
        border: desc.borderColor,
        level_bias: desc.mipmapLevelBias,
        level_min: desc.minMipmapLevelClamp,
        level_max: desc.maxMipmapLevelClamp,
    })
}

export! {
    fn cuArrayCreate_v2(pHandle: *mut CUarray, pAllocateArray: *const CUDA_ARRAY_DESCRIPTOR) {
        context::require()?;
        // SAFETY: the caller promises that `pAllocateArray` is null or valid to read.
        let desc = unsafe { get(pAllocateArray) }?;
        let made = array::create(Description {
            size: [desc.Width, desc.Height, 0],
            component: component(desc.Format)?,
            channels: desc.NumChannels,
            is_layered: false,
            is_cube: false,
            flags: 0,
        })?;
        // SAFETY: the caller promises that `pHandle` is null or valid to write.
        unsafe { put(pHandle, made.handle.number() as CUarray) }
    }

    fn cuArray3DCreate_v2(pHandle: *mut CUarray, pAllocateArray: *const CUDA_ARRAY3D_DESCRIPTOR) {
        context::require()?;
        // SAFETY: the caller promises that `pAllocateArray` is null or valid to read.
        let made = array::create(describe(unsafe { get(pAllocateArray) }?)?)?;
        // SAFETY: the caller promises that `pHandle` is null or valid to write.
        unsafe { put(pHandle, made.handle.number() as CUarray) }
    }

    fn cuArrayDestroy(hArray: CUarray) {
        context::require()?.synchronize()?;
        ARRAYS.destroy(hArray as usize).map(drop)
    }

    fn cuArrayGetDescriptor_v2(pArrayDescriptor: *mut CUDA_ARRAY_DESCRIPTOR, hArray: CUarray) {
        let Description { size: [Width, Height, _], component, channels, .. } = of(hArray)?.description;
        let desc = CUDA_ARRAY_DESCRIPTOR { Width, Height, Format: format_of(component), NumChannels: channels };
        // SAFETY: the caller promises that `pArrayDescriptor` is null or valid to write.
        unsafe { put(pArrayDescriptor, desc) }
    }

    fn cuArray3DGetDescriptor_v2(pArrayDescriptor: *mut CUDA_ARRAY3D_DESCRIPTOR, hArray: CUarray) {
        let Description { size: [Width, Height, Depth], component, channels, flags, .. } = of(hArray)?.description;
        let desc = CUDA_ARRAY3D_DESCRIPTOR {
            Width,
            Height,
            Depth,
            Format: format_of(component),
            NumChannels: channels,
            Flags: flags,
        };
        // SAFETY: the caller promises that `pArrayDescriptor` is null or valid to write.
        unsafe { put(pArrayDescriptor, desc) }
    }

    fn cuMipmappedArrayCreate(
        pHandle: *mut CUmipmappedArray,
        pMipmappedArrayDesc: *const CUDA_ARRAY3D_DESCRIPTOR,
        numMipmapLevels: c_uint,
    ) {
        context::require()?;
        // SAFETY: the caller promises that `pMipmappedArrayDesc` is null or valid to read.
        let made = array::create_pyramid(describe(unsafe { get(pMipmappedArrayDesc) }?)?, numMipmapLevels)?;
        // SAFETY: the caller promises that `pHandle` is null or valid to write.
        unsafe { put(pHandle, made.handle.number() as CUmipmappedArray) }
    }

    fn cuMipmappedArrayGetLevel(pLevelArray: *mut CUarray, hMipmappedArray: CUmipmappedArray, level: c_uint) {
        let pyramid = PYRAMIDS.get(hMipmappedArray as usize)?;
        let array = pyramid.levels.get(level as usize).ok_or(CudaError::INVALID_VALUE)?;
        // SAFETY: the caller promises that `pLevelArray` is null or valid to write.
        unsafe { put(pLevelArray, array.handle.number() as CUarray) }
    }

    fn cuMipmappedArrayDestroy(hMipmappedArray: CUmipmappedArray) {
        context::require()?.synchronize()?;
        array::destroy_pyramid(hMipmappedArray as usize)
    }

    fn cuTexObjectCreate(
        pTexObject: *mut CUtexObject,
        pResDesc: *const CUDA_RESOURCE_DESC,
        pTexDesc: *const CUDA_TEXTURE_DESC,
        pResViewDesc: *const CUDA_RESOURCE_VIEW_DESC,
    ) {
        context::require()?;
        // SAFETY: the caller promises that `pResDesc`, `pTexDesc` and `pResViewDesc` are null or valid to read.
        let (resource, sampler, view) =
            unsafe { (resource_of(pResDesc)?, sampler_of(get(pTexDesc)?)?, pResViewDesc.as_ref()) };
        let view = match view {
            Some(view) => texture::view_format(view.format)?,
            None => None,
        };
        let handle = texture::create(&resource, sampler, view)?;
        // SAFETY: the caller promises that `pTexObject` is null or valid to write.
        unsafe { put(pTexObject, handle) }
    }

    fn cuTexObjectDestroy(texObject: CUtexObject) {
        texture::destroy_object(texObject)
    }

    fn cuSurfObjectCreate(pSurfObject: *mut CUsurfObject, pResDesc: *const CUDA_RESOURCE_DESC) {
        context::require()?;
        // SAFETY: the caller promises that `pResDesc` is null or valid to read.
        let handle = texture::create_surface(&unsafe { resource_of(pResDesc) }?)?;
        // SAFETY: the caller promises that `pSurfObject` is null or valid to write.
        unsafe { put(pSurfObject, handle) }
    }

    fn cuSurfObjectDestroy(surfObject: CUsurfObject) {
        texture::destroy_object(surfObject)
    }
}
