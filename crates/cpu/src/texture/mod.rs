//! Textures and surfaces by their handles, and how they are sampled.
//!
//! Sampling is done in software as the appendix "Texture Fetching" of the CUDA programming guide describes it, with weights
//! of 8 bits after the point. A texture or surface that PTX knows by name (`.texref`, `.surfref`) is a variable that holds
//! a handle.
//!
//! Not here: images with several samples, comparison of depths, sRGB, and samplers apart from textures.

mod sample;

use std::sync::{Arc, PoisonError, RwLock};

use device::texture::Object;

pub(crate) use sample::{Fetch, Lod};

/// All textures and surfaces of a device, by their handles.
#[derive(Debug, Default)]
pub struct Textures {
    objects: RwLock<Vec<Option<Arc<Object>>>>,
}

/// Handles are numbered from here on, so that a small number by mistake is none.
const FIRST_HANDLE: u64 = 0x7e00_0000_0001;

impl Textures {
    /// A handle for an object.
    ///
    /// # Safety
    /// Until the object is forgotten, each element of its image, at the addresses and distances that its levels say, is in
    /// memory that kernels may read and, through a surface, write; or at addresses at which nothing is mapped, so that an
    /// access ends the launch.
    pub unsafe fn create(&self, object: Object) -> u64 {
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        let place = objects.iter().position(Option::is_none).unwrap_or_else(|| {
            objects.push(None);
            objects.len() - 1
        });
        objects[place] = Some(Arc::new(object));
        FIRST_HANDLE + place as u64
    }

    /// Forgets an object. False if there is none.
    pub fn destroy(&self, handle: u64) -> bool {
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        let place = handle.checked_sub(FIRST_HANDLE).and_then(|place| usize::try_from(place).ok());
        place.and_then(|place| objects.get_mut(place)).and_then(Option::take).is_some()
    }

    /// The object of a handle.
    pub fn get(&self, handle: u64) -> Option<Arc<Object>> {
        let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
        let place = usize::try_from(handle.checked_sub(FIRST_HANDLE)?).ok()?;
        objects.get(place)?.clone()
    }
}
