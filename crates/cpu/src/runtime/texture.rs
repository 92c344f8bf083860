//! Texture and surface instructions, lane by lane.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64, Ordering};

use super::matrix::Operands;
use crate::abi::texture::{LodKind, Outside, Query, Reduction, ResultKind, TextureKind, TextureOp, word};
use crate::narrow_float::single_to_half;
use crate::texture::{Fetch, Lod, Textures};
use device::FaultKind;
use device::texture::{AddressMode, Component, Filter, Geometry, Image, Object};

/// Executes a texture instruction for the lanes that take part.
///
/// # Safety
/// The operands have the words that the instruction needs, and the images behind the handles are memory of the program.
pub(crate) unsafe fn execute(textures: &Textures, words: [u64; 2], operands: &Operands) -> Result<(), FaultKind> {
    let op = TextureOp::of(words);
    let mut last: Option<(u64, Arc<Object>)> = None;
    for lane in operands.members() {
        let handle = operands.read(lane, word::HANDLE);
        // All blocks count references in the same place, so that counting for each lane takes longer than sampling.
        if last.as_ref().is_none_or(|(other, _)| *other != handle) {
            let what = "a handle that is no texture or surface";
            last = Some((handle, textures.get(handle).ok_or(FaultKind::Undefined { what })?));
        }
        let (_, object) = last.as_ref().expect("it was looked up for this lane or an earlier one");
        let call = Call { op: &op, operands, lane };
        match op.kind {
            // SAFETY: the caller's promise.
            TextureKind::Sample | TextureKind::Gather => unsafe { call.sample(object)? },
            TextureKind::Query => call.answer(0, query(op.query, object, call.word(word::LOD)).into()),
            // SAFETY: the caller's promise.
            _ => unsafe { call.surface(object.image())? },
        }
    }
    Ok(())
}

/// The instruction of one lane.
struct Call<'o> {
    op: &'o TextureOp,
    operands: &'o Operands,
    lane: usize,
}

impl Call<'_> {
    fn word(&self, nth: usize) -> u32 {
        self.operands.read(self.lane, nth) as u32
    }

    fn answer(&self, nth: usize, value: u64) {
        self.operands.write(self.lane, word::INPUTS + nth, value);
    }

    /// # Safety
    /// As for [`execute`].
    unsafe fn sample(&self, object: &Object) -> Result<(), FaultKind> {
        let Object::Texture(image, sampler) = object else {
            return Err(FaultKind::Undefined { what: "a surface that is sampled like a texture" });
        };
        let floats = |first: usize| std::array::from_fn(|nth| f32::from_bits(self.word(first + nth)));
        let integers = |first: usize| std::array::from_fn(|nth| self.word(first + nth) as i32);
        let fetch = Fetch {
            geometry: self.op.geometry,
            coordinates: floats(word::COORDINATES),
            elements: self.op.by_integers.then(|| integers(word::COORDINATES)),
            layer: self.word(word::LAYER),
            lod: match self.op.lod {
                LodKind::Base => Lod::Base,
                LodKind::Level if self.op.by_integers => Lod::Level(self.word(word::LOD) as i32 as f32),
                LodKind::Level => Lod::Level(f32::from_bits(self.word(word::LOD))),
                LodKind::Gradients => Lod::Gradients(floats(word::LOD), floats(word::LOD + 3)),
            },
            offsets: integers(word::OFFSETS),
        };
        // SAFETY: the caller's promise.
        let texel = unsafe {
            match self.op.kind {
                TextureKind::Gather => fetch.gather(image, sampler, usize::from(self.op.component)),
                _ => fetch.sample(image, sampler),
            }
        };
        let half = |bits: u32| u64::from(single_to_half(f32::from_bits(bits)));
        match self.op.result {
            ResultKind::Words => (0..4).for_each(|nth| self.answer(nth, texel[nth].into())),
            ResultKind::Halves => (0..4).for_each(|nth| self.answer(nth, half(texel[nth]))),
            ResultKind::PackedHalves => {
                (0..2).for_each(|nth| self.answer(nth, half(texel[2 * nth]) | half(texel[2 * nth + 1]) << 16));
            }
        }
        Ok(())
    }

    /// Where the access is in memory; nothing if it is outside and ignored. The first coordinate counts bytes.
    fn place(&self, image: &Image) -> Result<Option<u64>, FaultKind> {
        let level = &image.levels[0];
        let size = u64::from(self.op.bytes) * u64::from(self.op.elements);
        let row = u64::from(level.size[0]) * image.element_bytes();
        let coordinate = |nth: usize| i64::from(self.word(word::COORDINATES + nth) as i32);
        let layer = i64::from(self.word(word::LAYER));
        let (y, slice) = match self.op.geometry {
            Geometry::Line => (0, 0),
            Geometry::Lines => (0, layer),
            Geometry::Plane => (coordinate(1), 0),
            Geometry::Planes => (coordinate(1), layer),
            _ => (coordinate(1), coordinate(2)),
        };
        let slices = if self.op.geometry == Geometry::Volume { level.size[2] } else { image.layers };
        let limits = [row.saturating_sub(size) as i64, i64::from(level.size[1]) - 1, i64::from(slices) - 1];
        let wanted = [coordinate(0), y, slice];
        let is_within = row >= size && wanted.iter().zip(&limits).all(|(place, last)| (0..=*last).contains(place));
        let address = |[x, y, slice]: [i64; 3]| {
            let offset = x.wrapping_add(y.wrapping_mul(level.row_pitch as i64));
            level.address.wrapping_add_signed(offset.wrapping_add(slice.wrapping_mul(level.slice_pitch as i64)))
        };
        match self.op.outside {
            _ if is_within => Ok(Some(address(wanted))),
            Outside::Trap => Err(FaultKind::IllegalAddress { address: address(wanted) }),
            Outside::Clamp if row >= size => {
                let mut held: [i64; 3] = std::array::from_fn(|nth| wanted[nth].clamp(0, limits[nth].max(0)));
                held[0] -= held[0] % size as i64;
                Ok(Some(address(held)))
            }
            _ => Ok(None),
        }
    }

    /// # Safety
    /// As for [`execute`].
    unsafe fn surface(&self, image: &Image) -> Result<(), FaultKind> {
        let place = self.place(image)?;
        let bytes = usize::from(self.op.bytes);
        if let Some(address) = place
            && !address.is_multiple_of(bytes as u64)
        {
            return Err(FaultKind::Misaligned { address, bytes: bytes as u32 });
        }
        for nth in 0..usize::from(self.op.elements) {
            let address = place.map(|address| address + (nth * bytes) as u64);
            let mut value = [0_u8; 8];
            // SAFETY: the place is within the image, and an element is at most 8 bytes.
            unsafe {
                match (self.op.kind, address) {
                    (TextureKind::Load, Some(address)) => {
                        std::ptr::copy_nonoverlapping(address as *const u8, value.as_mut_ptr(), bytes);
                    }
                    (TextureKind::Store, Some(address)) => {
                        value = self.operands.read(self.lane, word::DATA + nth).to_le_bytes();
                        std::ptr::copy_nonoverlapping(value.as_ptr(), address as *mut u8, bytes);
                    }
                    (TextureKind::Reduce, Some(address)) => self.reduce(address),
                    _ => {}
                }
            }
            if self.op.kind == TextureKind::Load {
                self.answer(nth, u64::from_le_bytes(value));
            }
        }
        Ok(())
    }

    /// # Safety
    /// The address is that of an element that may be changed, and a multiple of its size.
    unsafe fn reduce(&self, address: u64) {
        let value = self.operands.read(self.lane, word::DATA);
        let order = Ordering::Relaxed;
        /// Changes memory as one of two types that differ in how they compare.
        macro_rules! change {
            ($atomic:ident, $signed:ident, $ty:ty, $signed_ty:ty) => {{
                // SAFETY: the caller's promise.
                let (plain, signed) = unsafe { (&*(address as *const $atomic), &*(address as *const $signed)) };
                match self.op.reduction {
                    Reduction::Add => drop(plain.fetch_add(value as $ty, order)),
                    Reduction::And => drop(plain.fetch_and(value as $ty, order)),
                    Reduction::Or => drop(plain.fetch_or(value as $ty, order)),
                    Reduction::Min if self.op.is_signed => drop(signed.fetch_min(value as $signed_ty, order)),
                    Reduction::Max if self.op.is_signed => drop(signed.fetch_max(value as $signed_ty, order)),
                    Reduction::Min => drop(plain.fetch_min(value as $ty, order)),
                    Reduction::Max => drop(plain.fetch_max(value as $ty, order)),
                }
            }};
        }
        if self.op.bytes == 8 {
            change!(AtomicU64, AtomicI64, u64, i64);
        } else {
            change!(AtomicU32, AtomicI32, u32, i32);
        }
    }
}

/// A property of an object; sizes are those of a level.
fn query(what: Query, object: &Object, level: u32) -> u32 {
    let image = object.image();
    let size = image.levels[(level as usize).min(image.levels.len() - 1)].size;
    let sampler = match object {
        Object::Texture(_, sampler) => Some(sampler),
        Object::Surface(_) => None,
    };
    let reads_floats = sampler.is_some_and(|sampler| sampler.reads_floats);
    let address = |axis: usize| {
        sampler.map_or(0, |sampler| match sampler.address[axis] {
            AddressMode::Wrap => 0,
            AddressMode::Mirror => 1,
            AddressMode::Clamp => 2,
            AddressMode::Border => 3,
        })
    };
    match what {
        Query::Width => size[0],
        Query::Height => size[1],
        Query::Depth => size[2],
        Query::ArraySize => match image.geometry {
            Geometry::Cubes => image.layers / 6,
            _ => image.layers,
        },
        Query::Levels => image.levels.len() as u32,
        Query::Samples => 1,
        // The numbers of OpenCL.
        Query::DataType => match image.component {
            Component::S8 if reads_floats => 0x10d0,
            Component::S16 if reads_floats => 0x10d1,
            Component::U8 if reads_floats => 0x10d2,
            Component::U16 if reads_floats => 0x10d3,
            Component::S8 => 0x10d7,
            Component::S16 => 0x10d8,
            Component::S32 => 0x10d9,
            Component::U8 => 0x10da,
            Component::U16 => 0x10db,
            Component::U32 => 0x10dc,
            Component::F16 => 0x10dd,
            Component::F32 => 0x10de,
        },
        Query::Order => match image.channels {
            1 => 0x10b0,
            2 => 0x10b2,
            _ => 0x10b5,
        },
        Query::IsNormalised => sampler.is_some_and(|sampler| sampler.is_normalised).into(),
        Query::FilterMode => sampler.is_some_and(|sampler| sampler.filter == Filter::Linear).into(),
        Query::AddressMode0 => address(0),
        Query::AddressMode1 => address(1),
        Query::AddressMode2 => address(2),
    }
}
