//! Textures of the driver, over memory that is ours: lines of elements that are fetched by their numbers, and planes of rows.
//!
//! The images of a program are rows, planes and layers of the arena, so that the host copies them as other memory. A GPU reads
//! two kinds of such memory as it is: what is bound in one piece, and rows with a pitch, as which it has arrays of two dimensions too.
//! All others it reads from memory in an order that only the driver knows.
//!
//! Unsafe: it calls C.
#![allow(unsafe_code, reason = "it calls C")]

use std::sync::{Mutex, MutexGuard, PoisonError};

use device::texture::{AddressMode, Component, Filter, Geometry, Image, Object, Sampler};
use rustc_hash::FxHashSet;

use crate::abi::{ResourceDescription, TextureDescription, resource, texture};
use crate::driver::Context;

/// The textures that there are. A driver need not look whether a handle is one of its own.
#[derive(Debug, Default)]
pub(crate) struct Textures(Mutex<FxHashSet<u64>>);

impl Textures {
    /// Makes a texture, and gives its handle.
    pub(crate) fn create(&self, context: &Context, object: &Object) -> Result<u64, String> {
        let Object::Texture(image, sampler) = object else {
            return Err("surfaces are not supported by the GPU device".to_owned());
        };
        let (resource, description) = (resource_of(image)?, description_of(image, sampler));
        let mut handle = 0;
        let made = context
            // SAFETY: both descriptions are as NVIDIA documents them, and there is room for the answer.
            .call(|f| unsafe { (f.cuTexObjectCreate)(&mut handle, &resource, &description, std::ptr::null()) });
        made.map_err(|error| format!("the driver of the GPU makes no texture of it, {error}"))?;
        self.all().insert(handle);
        Ok(handle)
    }

    /// Forgets a texture. False if there is none.
    pub(crate) fn destroy(&self, context: &Context, handle: u64) -> bool {
        // SAFETY: the handle of a texture of the driver.
        self.all().remove(&handle) && context.call(|f| unsafe { (f.cuTexObjectDestroy)(handle) }).is_ok()
    }

    fn all(&self) -> MutexGuard<'_, FxHashSet<u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The memory behind a texture.
fn resource_of(image: &Image) -> Result<ResourceDescription, String> {
    let [level] = &image.levels[..] else { return Err(of_arrays("several levels")) };
    let mut resource = ResourceDescription {
        kind: resource::PITCHED,
        address: level.address,
        format: format_of(image.component),
        channels: image.channels,
        size: [level.size[0].into(), level.size[1].into(), level.row_pitch],
        ..ResourceDescription::default()
    };
    match image.geometry {
        Geometry::Line if image.is_linear => {
            resource.kind = resource::LINEAR;
            resource.size = [u64::from(level.size[0]) * image.element_bytes(), 0, 0];
        }
        Geometry::Plane => {}
        Geometry::Line => return Err(of_arrays("one dimension")),
        Geometry::Volume => return Err(of_arrays("three dimensions")),
        Geometry::Lines | Geometry::Planes => return Err(of_arrays("layers")),
        Geometry::Cube | Geometry::Cubes => return Err(of_arrays("the faces of cubes")),
    }
    Ok(resource)
}

fn of_arrays(what: &str) -> String {
    format!(
        "textures of arrays with {what} are not supported by the GPU device, which has memory and arrays of two dimensions"
    )
}

fn format_of(component: Component) -> u32 {
    match component {
        Component::U8 => 0x01,
        Component::U16 => 0x02,
        Component::U32 => 0x03,
        Component::S8 => 0x08,
        Component::S16 => 0x09,
        Component::S32 => 0x0a,
        Component::F16 => 0x10,
        Component::F32 => 0x20,
    }
}

/// How a texture is read.
fn description_of(image: &Image, sampler: &Sampler) -> TextureDescription {
    let filter = |filter| match filter {
        Filter::Point => 0,
        Filter::Linear => 1,
    };
    let address = sampler.address.map(|mode| match mode {
        AddressMode::Wrap => 0,
        AddressMode::Clamp => 1,
        AddressMode::Mirror => 2,
        AddressMode::Border => 3,
    });
    let is_integer = !matches!(image.component, Component::F16 | Component::F32);
    let mut flags = 0;
    if is_integer && !sampler.reads_floats {
        flags |= texture::READ_AS_INTEGER;
    }
    if sampler.is_normalised {
        flags |= texture::NORMALISED;
    }
    TextureDescription {
        address,
        filter: filter(sampler.filter),
        flags,
        level_filter: filter(sampler.level_filter),
        level_bias: sampler.level_bias,
        level_min: sampler.level_min,
        level_max: sampler.level_max,
        border: sampler.border,
        ..TextureDescription::default()
    }
}
