//! Textures and surfaces, by the handles that kernels get.

use std::sync::Arc;

use device::texture::{AddressMode, Component, Filter, Geometry, Image, Level, Object, Sampler};

use super::allocation::{self, Purpose};
use super::array::{Array, Pyramid};
use super::copy;
use crate::driver;
use crate::error::{CudaError, Result};
use crate::handle::Destroyed;

/// Textures and surfaces that the program has destroyed.
static DESTROYED: Destroyed = Destroyed::new("a texture or surface");

/// What a texture or surface shows.
#[derive(Clone, Debug)]
pub(crate) enum Resource {
    Array(Arc<Array>),
    Pyramid(Arc<Pyramid>),
    /// Memory in one piece: address, size in bytes, what is in it.
    Linear(u64, u64, (Component, u32)),
    /// Rows of memory: address, elements in each direction, bytes from row to row, what is in it.
    Rows(u64, [u32; 2], u64, (Component, u32)),
}

impl Resource {
    fn image(&self) -> Result<Image> {
        let of_memory = |geometry, (component, channels), level, is_linear| Image {
            geometry,
            component,
            channels,
            layers: 1,
            levels: vec![level],
            is_linear,
        };
        if let Self::Linear(_, _, (_, channels)) | Self::Rows(_, _, _, (_, channels)) = *self
            && !matches!(channels, 1 | 2 | 4)
        {
            return Err(CudaError::INVALID_VALUE);
        }
        match *self {
            Self::Array(ref array) => Ok(array.image.clone()),
            Self::Pyramid(ref pyramid) => Ok(pyramid.image.clone()),
            Self::Linear(address, bytes, format) => {
                copy::check_device(address)?;
                allocation::owner_for(Purpose::Binding, address, bytes)?;
                let element = format.0.bytes() * u64::from(format.1);
                let width = u32::try_from(bytes / element).map_err(|_| CudaError::INVALID_VALUE)?;
                if width == 0 {
                    return Err(CudaError::INVALID_VALUE);
                }
                let level = Level { address, size: [width, 1, 1], row_pitch: bytes, slice_pitch: bytes };
                Ok(of_memory(Geometry::Line, format, level, true))
            }
            Self::Rows(address, [width, height], row_pitch, format) => {
                let bytes = row_pitch.checked_mul(height.into()).ok_or(CudaError::INVALID_VALUE)?;
                let element = format.0.bytes() * u64::from(format.1);
                if u64::from(width) * element > row_pitch || width == 0 || height == 0 {
                    return Err(CudaError::INVALID_VALUE);
                }
                copy::check_device(address)?;
                allocation::owner_for(Purpose::Binding, address, bytes - row_pitch + u64::from(width) * element)?;
                let level = Level { address, size: [width, height, 1], row_pitch, slice_pitch: bytes };
                Ok(of_memory(Geometry::Plane, format, level, false))
            }
        }
    }
}

/// Makes a texture; the number is its handle. The view changes what the elements are taken for.
pub(crate) fn create(resource: &Resource, sampler: Sampler, view: Option<(Component, u32)>) -> Result<u64> {
    let mut image = resource.image()?;
    if let Some((component, channels)) = view {
        if component.bytes() * u64::from(channels) != image.element_bytes() {
            return Err(CudaError::INVALID_VALUE);
        }
        (image.component, image.channels) = (component, channels);
    }
    new_handle(Object::Texture(image, sampler))
}

/// Makes a surface; the number is its handle.
pub(crate) fn create_surface(resource: &Resource) -> Result<u64> {
    match resource {
        Resource::Array(array) => new_handle(Object::Surface(array.image.clone())),
        _ => Err(CudaError::INVALID_VALUE),
    }
}

#[allow(unsafe_code, reason = "kernels access images by their addresses")]
fn new_handle(object: Object) -> Result<u64> {
    // SAFETY: the image of an array is as large as the array's memory. Of other memory, `Resource::image` has looked up the
    // allocation that it lies in. That the program does not free it before the object is for the program to see to.
    let handle = unsafe { driver::get()?.device.create_texture(object) }.map_err(|what| {
        crate::refusal::refuse(&what);
        CudaError::NOT_SUPPORTED
    })?;
    DESTROYED.remove(handle);
    Ok(handle)
}

/// Forgets a texture or surface.
pub(crate) fn destroy(handle: u64) -> Result<()> {
    // What kernels still read stays until they end.
    if let Some(context) = super::context::current() {
        context.synchronize()?;
    }
    if driver::get()?.device.destroy_texture(handle) {
        Ok(())
    } else {
        DESTROYED.report(handle);
        Err(CudaError::INVALID_VALUE)
    }
}

/// The program destroys a texture or surface.
pub(crate) fn destroy_object(handle: u64) -> Result<()> {
    destroy(handle)?;
    DESTROYED.add(handle);
    Ok(())
}

/// Refuses textures whose colours are in sRGB.
pub(crate) fn check_colours(is_srgb: bool) -> Result<()> {
    if !is_srgb {
        return Ok(());
    }
    crate::refusal::refuse("textures in sRGB are not supported by the CPU device");
    Err(CudaError::NOT_SUPPORTED)
}

/// What is outside of a texture, by the number that both headers have for it.
pub(crate) fn address_mode(number: u32) -> Result<AddressMode> {
    match number {
        0 => Ok(AddressMode::Wrap),
        1 => Ok(AddressMode::Clamp),
        2 => Ok(AddressMode::Mirror),
        3 => Ok(AddressMode::Border),
        _ => Err(CudaError::INVALID_VALUE),
    }
}

/// How elements are mixed, by the number that both headers have for it.
pub(crate) fn filter(number: u32) -> Result<Filter> {
    match number {
        0 => Ok(Filter::Point),
        1 => Ok(Filter::Linear),
        _ => Err(CudaError::INVALID_VALUE),
    }
}

/// What elements are taken for, by the number that both headers have for it (`CU_RES_VIEW_FORMAT_UINT_1X8` is 1).
pub(crate) fn view_format(number: u32) -> Result<Option<(Component, u32)>> {
    const KINDS: [Component; 8] = [
        Component::U8,
        Component::S8,
        Component::U16,
        Component::S16,
        Component::U32,
        Component::S32,
        Component::F16,
        Component::F32,
    ];
    match number {
        0 => Ok(None),
        1..=24 => Ok(Some((KINDS[(number as usize - 1) / 3], 1 << ((number - 1) % 3)))),
        _ => {
            crate::refusal::refuse("textures of compressed blocks are not supported by the CPU device");
            Err(CudaError::NOT_SUPPORTED)
        }
    }
}
