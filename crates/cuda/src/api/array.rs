//! Arrays: images whose layout in memory only the device knows. Ours are rows, planes and layers, one after another.

use std::sync::Arc;

use device::texture::{Component, Geometry, Image, Level};

use super::{context, in_use};
use crate::driver;
use crate::error::{CudaError, Result};
use crate::handle::{Handle, Handles};
use crate::transfer::{Extent, Side};

/// What an array is to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Description {
    /// Elements in each direction; 0 where it has none. Layers count as depth.
    pub(crate) size: [usize; 3],
    pub(crate) component: Component,
    pub(crate) channels: u32,
    pub(crate) is_layered: bool,
    pub(crate) is_cube: bool,
    /// The flags as the program gave them.
    pub(crate) flags: u32,
}

/// An array, or a level of one.
#[derive(Debug)]
pub(crate) struct Array {
    pub(crate) handle: Handle<Array>,
    pub(crate) description: Description,
    /// Of one level.
    pub(crate) image: Image,
    _memory: Arc<Memory>,
}

/// An array with smaller and smaller levels.
#[derive(Debug)]
pub(crate) struct Pyramid {
    pub(crate) handle: Handle<Pyramid>,
    /// Of all levels.
    pub(crate) image: Image,
    pub(crate) levels: Vec<Arc<Array>>,
}

/// Memory of a device that goes with its last user.
#[derive(Debug)]
struct Memory {
    address: u64,
    bytes: u64,
    device: usize,
}

impl Memory {
    fn new(bytes: u64, device: usize) -> Result<Self> {
        let memory = driver::get()?.device.memory();
        let allocate = || memory.allocate(bytes, 512).map_err(crate::device_memory::out_of_memory);
        let address = driver::counted(device).map_or_else(allocate, |device| device.take_for(bytes, allocate))?;
        Ok(Self { address, bytes, device })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Ok(driver) = driver::get() {
            let _stopped = in_use::stop_copies();
            driver.device.memory().free(self.address);
            if let Some(device) = driver::counted(self.device) {
                device.give_back(self.bytes);
            }
        }
    }
}

/// Arrays that programs made.
pub(crate) static ARRAYS: Handles<Array> = Handles::new("an array");
/// Arrays with levels that programs made.
pub(crate) static PYRAMIDS: Handles<Pyramid> = Handles::new("a mipmapped array");

/// Rows start at multiples of this.
const ROW: u64 = 32;

/// Makes an array.
pub(crate) fn create(description: Description) -> Result<Arc<Array>> {
    let pyramid = layout(description, 1)?;
    let [level] = &pyramid.levels[..] else { return Err(CudaError::INVALID_VALUE) };
    Ok(Arc::clone(level))
}

/// Makes an array with so many levels, at least one and at most as many as there are.
pub(crate) fn create_pyramid(description: Description, levels: u32) -> Result<Arc<Pyramid>> {
    let pyramid = Arc::new(layout(description, levels)?);
    PYRAMIDS.insert(&pyramid.handle, Arc::clone(&pyramid));
    Ok(pyramid)
}

/// Forgets an array with levels.
pub(crate) fn destroy_pyramid(number: usize) -> Result<()> {
    let pyramid = PYRAMIDS.destroy(number)?;
    for level in &pyramid.levels {
        let _ = ARRAYS.remove(level.handle.number());
    }
    Ok(())
}

fn layout(description: Description, levels: u32) -> Result<Pyramid> {
    context::require()?;
    let Description { size: [width, height, depth], component, channels, is_layered, is_cube, .. } = description;
    let geometry = match (is_cube, is_layered) {
        (true, true) => Geometry::Cubes,
        (true, false) => Geometry::Cube,
        (false, true) if height == 0 => Geometry::Lines,
        (false, true) => Geometry::Planes,
        (false, false) if depth != 0 => Geometry::Volume,
        (false, false) if height != 0 => Geometry::Plane,
        (false, false) => Geometry::Line,
    };
    let is_square = height == width && if is_layered { depth.is_multiple_of(6) } else { depth == 6 };
    if width == 0 || is_cube && !is_square || !matches!(channels, 1 | 2 | 4) || is_layered && depth == 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    let largest = width.max(height).max(if geometry == Geometry::Volume { depth } else { 0 });
    let levels = levels.clamp(1, largest.ilog2() + 1);
    let layers = if is_layered || is_cube { depth } else { 1 };
    let element = component.bytes() * u64::from(channels);
    let (mut bytes, mut all) = (0_u64, Vec::new());
    for level in 0..levels {
        let shrunk = |size: usize| u32::try_from((size >> level).max(1)).map_err(|_| CudaError::INVALID_VALUE);
        let size = [shrunk(width)?, shrunk(height)?, if geometry == Geometry::Volume { shrunk(depth)? } else { 1 }];
        let row_pitch = (u64::from(size[0]) * element).next_multiple_of(ROW);
        let slice_pitch = row_pitch * u64::from(size[1]);
        all.push(Level { address: bytes, size, row_pitch, slice_pitch });
        let slices = u64::from(size[2]).checked_mul(layers as u64).ok_or(CudaError::OUT_OF_MEMORY)?;
        bytes = slice_pitch
            .checked_mul(slices)
            .and_then(|more| bytes.checked_add(more)?.checked_next_multiple_of(512))
            .ok_or(CudaError::OUT_OF_MEMORY)?;
    }
    let memory = Arc::new(Memory::new(bytes, context::current_device())?);
    let address = memory.address;
    for level in &mut all {
        level.address += address;
    }
    let layers = u32::try_from(layers).map_err(|_| CudaError::INVALID_VALUE)?;
    let image = Image { geometry, component, channels, layers, levels: all, is_linear: false };
    let levels = image.levels.iter().map(|level| {
        let [width, height, depth] = level.size.map(|size| size as usize);
        let size = [
            width,
            if description.size[1] == 0 { 0 } else { height },
            if geometry == Geometry::Volume { depth } else { description.size[2] },
        ];
        let array = Arc::new(Array {
            handle: Handle::new(),
            description: Description { size, ..description },
            image: Image { levels: vec![*level], ..image.clone() },
            _memory: Arc::clone(&memory),
        });
        ARRAYS.insert(&array.handle, Arc::clone(&array));
        array
    });
    let levels = levels.collect();
    Ok(Pyramid { handle: Handle::new(), image, levels })
}

impl Array {
    fn level(&self) -> &Level {
        &self.image.levels[0]
    }

    /// A part of the array, from a place on: bytes into a row, rows, and slices or layers. An error if it is not all within.
    pub(crate) fn side(&self, place: [u64; 3], extent: &Extent) -> Result<Side> {
        let level = self.level();
        let [_, rows, slices] = level.size.map(u64::from);
        let all = [self.row_bytes(), rows, slices * u64::from(self.image.layers)];
        let wanted = [extent.width, extent.height, extent.depth];
        let is_within = |((from, size), all): ((u64, u64), u64)| from.checked_add(size).is_some_and(|end| end <= all);
        if !place.into_iter().zip(wanted).zip(all).all(is_within) {
            return Err(CudaError::INVALID_VALUE);
        }
        let [x, y, z] = place;
        let address = level.address + z * level.slice_pitch + y * level.row_pitch + x;
        Ok(Side { address, row_pitch: level.row_pitch, slice_pitch: level.slice_pitch })
    }

    /// Bytes of a row, without what is between rows.
    pub(crate) fn row_bytes(&self) -> u64 {
        u64::from(self.level().size[0]) * self.image.element_bytes()
    }
}
