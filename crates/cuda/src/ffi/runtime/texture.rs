//! Textures and surfaces.

use device::texture::Sampler;

use super::{array, export_runtime, ready};
use crate::abi::runtime::*;
use crate::api::array::PYRAMIDS;
use crate::api::texture::{self, Resource};
use crate::error::{CudaError, Result};
use crate::ffi::{get, put};

/// What a description says, in any version of its layout: they differ in what comes after.
macro_rules! resource_of {
    ($desc:expr) => {{
        // SAFETY: the caller promises that `$desc` is null or valid to read.
        let desc = unsafe { get($desc) }?;
        // SAFETY: the type says which of the fields it is.
        unsafe {
            match desc.resType {
                cudaResourceTypeArray => Resource::Array(array::of(desc.res.array.array)?),
                cudaResourceTypeMipmappedArray => Resource::Pyramid(PYRAMIDS.get(desc.res.mipmap.mipmap as usize)?),
                cudaResourceTypeLinear => {
                    let linear = desc.res.linear;
                    Resource::Linear(linear.devPtr as u64, linear.sizeInBytes as u64, array::format(&linear.desc)?)
                }
                cudaResourceTypePitch2D => {
                    let rows = desc.res.pitch2D;
                    let size = [rows.width, rows.height];
                    let [width, height] = size.map(|size| u32::try_from(size).unwrap_or(0));
                    let format = array::format(&rows.desc)?;
                    Resource::Rows(rows.devPtr as u64, [width, height], rows.pitchInBytes as u64, format)
                }
                _ => return Err(CudaError::INVALID_VALUE),
            }
        }
    }};
}

/// How a texture is read, in any version of the description's layout.
macro_rules! sampler_of {
    ($desc:expr) => {{
        // SAFETY: the caller promises that `$desc` is null or valid to read.
        let desc = unsafe { get($desc) }?;
        let [x, y, z] = desc.addressMode;
        texture::check_colours(desc.sRGB != 0)?;
        Sampler {
            address: [texture::address_mode(x)?, texture::address_mode(y)?, texture::address_mode(z)?],
            filter: texture::filter(desc.filterMode)?,
            level_filter: texture::filter(desc.mipmapFilterMode)?,
            is_normalised: desc.normalizedCoords != 0,
            reads_floats: desc.readMode == cudaReadModeNormalizedFloat,
            border: desc.borderColor,
            level_bias: desc.mipmapLevelBias,
            level_min: desc.minMipmapLevelClamp,
            level_max: desc.maxMipmapLevelClamp,
        }
    }};
}

/// What the elements are taken for, if the program says.
macro_rules! view_of {
    ($desc:expr) => {
        // SAFETY: the caller promises that the description is null, which says nothing, or valid to read.
        match unsafe { $desc.as_ref() } {
            Some(desc) => texture::view_format(desc.format)?,
            None => None,
        }
    };
}

/// Makes a texture from descriptions in any version of their layouts.
macro_rules! create {
    ($out:expr, $resource:expr, $sampler:expr, $view:expr) => {{
        ready()?;
        let handle = texture::create(&resource_of!($resource), sampler_of!($sampler), view_of!($view))?;
        // SAFETY: the caller promises that `$out` is null or valid to write.
        unsafe { put($out, handle) }
    }};
}

fn destroy(handle: u64) -> Result<()> {
    ready()?;
    texture::destroy_object(handle)
}

export_runtime! {
    fn cudaCreateTextureObject(
        pTexObject: *mut cudaTextureObject_t,
        pResDesc: *const cudaResourceDesc,
        pTexDesc: *const cudaTextureDesc,
        pResViewDesc: *const cudaResourceViewDesc,
    ) {
        create!(pTexObject, pResDesc, pTexDesc, pResViewDesc)
    }

    fn cudaCreateTextureObject_12(
        pTexObject: *mut cudaTextureObject_t,
        pResDesc: *const cudaResourceDesc12,
        pTexDesc: *const cudaTextureDesc,
        pResViewDesc: *const cudaResourceViewDesc12,
    ) {
        create!(pTexObject, pResDesc, pTexDesc, pResViewDesc)
    }

    fn cudaCreateTextureObject_11(
        pTexObject: *mut cudaTextureObject_t,
        pResDesc: *const cudaResourceDesc12,
        pTexDesc: *const cudaTextureDesc11,
        pResViewDesc: *const cudaResourceViewDesc12,
    ) {
        create!(pTexObject, pResDesc, pTexDesc, pResViewDesc)
    }

    fn cudaCreateTextureObject_v2(
        pTexObject: *mut cudaTextureObject_t,
        pResDesc: *const cudaResourceDesc12,
        pTexDesc: *const cudaTextureDesc_v2,
        pResViewDesc: *const cudaResourceViewDesc12,
    ) {
        create!(pTexObject, pResDesc, pTexDesc, pResViewDesc)
    }

    fn cudaDestroyTextureObject(texObject: cudaTextureObject_t) {
        destroy(texObject)
    }

    fn cudaCreateSurfaceObject(pSurfObject: *mut cudaSurfaceObject_t, pResDesc: *const cudaResourceDesc) {
        ready()?;
        let handle = texture::create_surface(&resource_of!(pResDesc))?;
        // SAFETY: the caller promises that `pSurfObject` is null or valid to write.
        unsafe { put(pSurfObject, handle) }
    }

    fn cudaCreateSurfaceObject_11(pSurfObject: *mut cudaSurfaceObject_t, pResDesc: *const cudaResourceDesc12) {
        ready()?;
        let handle = texture::create_surface(&resource_of!(pResDesc))?;
        // SAFETY: the caller promises that `pSurfObject` is null or valid to write.
        unsafe { put(pSurfObject, handle) }
    }

    fn cudaDestroySurfaceObject(surfObject: cudaSurfaceObject_t) {
        destroy(surfObject)
    }
}
