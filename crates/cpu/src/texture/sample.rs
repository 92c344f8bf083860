//! The software sampler.

use device::texture::{AddressMode, Component, Filter, Geometry, Image, Sampler};

/// Which level is read.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Lod {
    /// The largest.
    Base,
    /// The one that the program names.
    Level(f32),
    /// The one in which neighbours are about an element apart: how coordinates change from one pixel to the next.
    Gradients([f32; 3], [f32; 3]),
}

/// What is fetched from a texture.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Fetch {
    pub(crate) geometry: Geometry,
    /// Without that of the layer; whole ones if the program gives integers.
    pub(crate) coordinates: [f32; 3],
    /// Coordinates that are integers, which name elements.
    pub(crate) elements: Option<[i32; 3]>,
    pub(crate) layer: u32,
    pub(crate) lod: Lod,
    /// Added to the places of elements.
    pub(crate) offsets: [i32; 3],
}

/// Four components, as bits: those of a `float`, or of an integer.
pub(crate) type Texel = [u32; 4];

impl Fetch {
    /// What the texture gives.
    ///
    /// # Safety
    /// The memory of the image can be read.
    pub(crate) unsafe fn sample(&self, image: &Image, sampler: &Sampler) -> Texel {
        let (fetch, layer) = self.resolved(image);
        let last = image.levels.len() - 1;
        if let Some(elements) = self.elements {
            let level = match self.lod {
                Lod::Level(level) => (level.max(0.0) as usize).min(last),
                _ => 0,
            };
            // SAFETY: the caller's promise.
            return unsafe { fetch.element(image, sampler, level, elements, layer) };
        }
        let wanted = fetch.level(image, sampler).clamp(0.0, last as f32);
        let at = |level: usize| {
            // SAFETY: the caller's promise.
            unsafe { fetch.at_level(image, sampler, level, layer) }
        };
        if sampler.level_filter == Filter::Point || !is_float(image, sampler) {
            return at((wanted + 0.5).floor().min(last as f32) as usize);
        }
        let lower = wanted.floor();
        let weight = fixed(wanted - lower);
        if weight == 0.0 {
            return at(lower as usize);
        }
        let (a, b) = (at(lower as usize), at((lower as usize + 1).min(last)));
        std::array::from_fn(|channel| {
            let (a, b) = (f32::from_bits(a[channel]), f32::from_bits(b[channel]));
            ((1.0 - weight) * a + weight * b).to_bits()
        })
    }

    /// One component of each of the four elements that would be mixed, counterclockwise from the lower left.
    ///
    /// # Safety
    /// The memory of the image can be read.
    pub(crate) unsafe fn gather(&self, image: &Image, sampler: &Sampler, component: usize) -> Texel {
        let (fetch, layer) = self.resolved(image);
        let [x, y] = [0, 1].map(|axis| fetch.scaled(image, sampler, 0, axis) - 0.5);
        let (x, y) = (x.floor() as i64, y.floor() as i64);
        [(0, 1), (1, 1), (1, 0), (0, 0)].map(|(right, down)| {
            // SAFETY: the caller's promise.
            let texel = unsafe { fetch.texel(image, sampler, 0, [x + right, y + down, 0], layer) };
            texel[component]
        })
    }

    /// With the face of a cube as a layer, and coordinates on it.
    fn resolved(&self, image: &Image) -> (Self, u32) {
        let mut fetch = *self;
        let layer = self.layer.min(image.layers.saturating_sub(1));
        match self.geometry {
            Geometry::Cube | Geometry::Cubes => {
                let (face, s, t) = cube_face(self.coordinates);
                fetch.coordinates = [s, t, 0.0];
                let first = if self.geometry == Geometry::Cubes { self.layer.saturating_mul(6) } else { 0 };
                (fetch, first.saturating_add(face).min(image.layers.saturating_sub(1)))
            }
            Geometry::Lines | Geometry::Planes => (fetch, layer),
            _ => (fetch, 0),
        }
    }

    fn axes(&self) -> usize {
        match self.geometry {
            Geometry::Line | Geometry::Lines => 1,
            Geometry::Volume => 3,
            _ => 2,
        }
    }

    fn level(&self, image: &Image, sampler: &Sampler) -> f32 {
        let level = match self.lod {
            Lod::Base => return 0.0,
            Lod::Level(level) => level,
            Lod::Gradients(along_x, along_y) => {
                let length = |gradient: [f32; 3]| {
                    let scaled = (0..self.axes()).map(|axis| {
                        let size = if sampler.is_normalised { image.levels[0].size[axis] as f32 } else { 1.0 };
                        (gradient[axis] * size).powi(2)
                    });
                    scaled.sum::<f32>().sqrt()
                };
                length(along_x).max(length(along_y)).log2()
            }
        };
        let level = level + sampler.level_bias;
        if level.is_nan() { 0.0 } else { level.max(sampler.level_min).min(sampler.level_max) }
    }

    /// A coordinate in elements of a level.
    fn scaled(&self, image: &Image, sampler: &Sampler, level: usize, axis: usize) -> f32 {
        let coordinate = self.coordinates[axis];
        let size = image.levels[level].size[axis] as f32;
        // Coordinates of cubes are always from 0 to 1.
        let is_normalised = sampler.is_normalised || matches!(self.geometry, Geometry::Cube | Geometry::Cubes);
        let place = if is_normalised { fold(coordinate, sampler.address[axis]) * size } else { coordinate };
        // Past what can be told apart, all is outside.
        place.clamp(-1e9, 1e9)
    }

    /// # Safety
    /// The memory of the image can be read.
    unsafe fn at_level(&self, image: &Image, sampler: &Sampler, level: usize, layer: u32) -> Texel {
        let axes = self.axes();
        if sampler.filter == Filter::Point || !is_float(image, sampler) {
            let mut place = [0_i64; 3];
            for (axis, place) in place.iter_mut().enumerate().take(axes) {
                *place = self.scaled(image, sampler, level, axis).floor() as i64 + i64::from(self.offsets[axis]);
            }
            // SAFETY: the caller's promise.
            return unsafe { self.texel(image, sampler, level, place, layer) };
        }
        let mut first = [0_i64; 3];
        let mut weights = [0.0_f32; 3];
        for axis in 0..axes {
            let place = self.scaled(image, sampler, level, axis) - 0.5;
            let floor = place.floor();
            first[axis] = floor as i64 + i64::from(self.offsets[axis]);
            weights[axis] = fixed(place - floor);
        }
        let mut sum = [0.0_f32; 4];
        for corner in 0..1_usize << axes {
            let mut place = first;
            let mut weight = 1.0;
            for axis in 0..axes {
                let is_second = corner >> axis & 1 != 0;
                place[axis] += i64::from(is_second);
                weight *= if is_second { weights[axis] } else { 1.0 - weights[axis] };
            }
            // What does not count may be anything, also infinite.
            if weight == 0.0 {
                continue;
            }
            // SAFETY: the caller's promise.
            let texel = unsafe { self.texel(image, sampler, level, place, layer) };
            for (sum, bits) in sum.iter_mut().zip(texel) {
                *sum += weight * f32::from_bits(bits);
            }
        }
        sum.map(f32::to_bits)
    }

    /// An element by its place, with what is outside as the sampler says.
    ///
    /// # Safety
    /// The memory of the image can be read.
    unsafe fn texel(&self, image: &Image, sampler: &Sampler, level: usize, place: [i64; 3], layer: u32) -> Texel {
        let size = image.levels[level].size;
        let mut inside = [0_i64; 3];
        for axis in 0..self.axes() {
            let size = i64::from(size[axis]);
            inside[axis] = match sampler.address[axis] {
                AddressMode::Border => place[axis],
                AddressMode::Wrap if sampler.is_normalised => place[axis].rem_euclid(size),
                AddressMode::Mirror if sampler.is_normalised => {
                    let place = place[axis].rem_euclid(2 * size);
                    if place < size { place } else { 2 * size - 1 - place }
                }
                _ => place[axis].clamp(0, size - 1),
            };
        }
        match image.element(level, inside, layer) {
            // SAFETY: the caller's promise.
            Some(address) => unsafe { read(image, sampler, address) },
            None => border(image, sampler),
        }
    }

    /// An element that the program names by integers.
    ///
    /// # Safety
    /// The memory of the image can be read.
    unsafe fn element(&self, image: &Image, sampler: &Sampler, level: usize, elements: [i32; 3], layer: u32) -> Texel {
        let mut place = [0_i64; 3];
        for axis in 0..self.axes() {
            place[axis] = i64::from(elements[axis]) + i64::from(self.offsets[axis]);
        }
        if image.is_linear {
            return match image.element(level, place, 0) {
                // SAFETY: the caller's promise.
                Some(address) => unsafe { read(image, sampler, address) },
                None => [0; 4],
            };
        }
        // SAFETY: the caller's promise.
        unsafe { self.texel(image, sampler, level, place, layer) }
    }
}

/// A weight with 8 bits after the point.
fn fixed(weight: f32) -> f32 {
    (weight * 256.0).round_ties_even() / 256.0
}

/// A coordinate from 0 to 1.
fn fold(coordinate: f32, mode: AddressMode) -> f32 {
    match mode {
        AddressMode::Wrap => coordinate - coordinate.floor(),
        AddressMode::Mirror => {
            let floor = coordinate.floor();
            let within = coordinate - floor;
            if floor.rem_euclid(2.0) == 0.0 { within } else { 1.0 - within }
        }
        _ => coordinate,
    }
}

/// The face of a cube that a direction goes through, and where.
fn cube_face([x, y, z]: [f32; 3]) -> (u32, f32, f32) {
    let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
    let (face, major, s, t) = if ax >= ay && ax >= az {
        if x >= 0.0 { (0, ax, -z, -y) } else { (1, ax, z, -y) }
    } else if ay >= az {
        if y >= 0.0 { (2, ay, x, z) } else { (3, ay, x, -z) }
    } else if z >= 0.0 {
        (4, az, x, -y)
    } else {
        (5, az, -x, -y)
    };
    (face, (s / major + 1.0) / 2.0, (t / major + 1.0) / 2.0)
}

/// Whether the texture gives `float`s, which can be mixed.
fn is_float(image: &Image, sampler: &Sampler) -> bool {
    sampler.reads_floats || matches!(image.component, Component::F16 | Component::F32)
}

fn border(image: &Image, sampler: &Sampler) -> Texel {
    sampler.border.map(|value| if is_float(image, sampler) { value.to_bits() } else { value as u32 })
}

/// # Safety
/// The address is that of an element of the image, which can be read.
unsafe fn read(image: &Image, sampler: &Sampler, address: u64) -> Texel {
    let bytes = image.component.bytes();
    let one = if is_float(image, sampler) { 1.0_f32.to_bits() } else { 1 };
    std::array::from_fn(|channel| {
        if channel as u32 >= image.channels {
            return if channel == 3 { one } else { 0 };
        }
        let mut value = [0_u8; 4];
        // SAFETY: the component is within the element.
        unsafe {
            let from = (address + channel as u64 * bytes) as *const u8;
            std::ptr::copy_nonoverlapping(from, value.as_mut_ptr(), bytes as usize);
        }
        component(image.component, sampler.reads_floats, u32::from_le_bytes(value))
    })
}

/// A component as the kernel gets it.
fn component(component: Component, reads_floats: bool, bits: u32) -> u32 {
    let number = |value: f32| value.to_bits();
    match component {
        Component::F32 => bits,
        Component::F16 => number(crate::narrow_float::half_to_single(bits as u16)),
        Component::U8 if reads_floats => number(bits as f32 / 255.0),
        Component::U16 if reads_floats => number(bits as f32 / 65535.0),
        Component::S8 if reads_floats => number((f32::from(bits as u8 as i8) / 127.0).max(-1.0)),
        Component::S16 if reads_floats => number((f32::from(bits as u16 as i16) / 32767.0).max(-1.0)),
        Component::S8 => i32::from(bits as u8 as i8) as u32,
        Component::S16 => i32::from(bits as u16 as i16) as u32,
        _ => bits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use device::texture::Level;

    fn plane(data: &[f32], width: u32, height: u32) -> Image {
        Image {
            geometry: Geometry::Plane,
            component: Component::F32,
            channels: 1,
            layers: 1,
            levels: vec![Level {
                address: data.as_ptr() as u64,
                size: [width, height, 1],
                row_pitch: u64::from(width) * 4,
                slice_pitch: u64::from(width * height) * 4,
            }],
            is_linear: false,
        }
    }

    fn fetched(image: &Image, sampler: &Sampler, x: f32, y: f32) -> f32 {
        let fetch = Fetch {
            geometry: Geometry::Plane,
            coordinates: [x, y, 0.0],
            elements: None,
            layer: 0,
            lod: Lod::Base,
            offsets: [0; 3],
        };
        // SAFETY: the image is a view of the test's own data.
        f32::from_bits(unsafe { fetch.sample(image, sampler) }[0])
    }

    const DATA: [f32; 8] = [0.0, 1.0, 2.0, 3.0, 10.0, 11.0, 12.0, 13.0];

    #[test]
    fn points_and_mixtures() {
        let image = plane(&DATA, 4, 2);
        let point = Sampler::default();
        assert_eq!(fetched(&image, &point, 1.99, 1.0), 11.0);
        assert_eq!(fetched(&image, &point, -5.0, 9.0), 10.0);
        let linear = Sampler { filter: Filter::Linear, ..point };
        assert_eq!(fetched(&image, &linear, 1.5, 0.5), 1.0);
        assert_eq!(fetched(&image, &linear, 2.0, 0.5), 1.5);
        assert_eq!(fetched(&image, &linear, 2.0, 1.0), 6.5);
        // Weights have 8 bits: a step of 1/1024 does not count.
        assert_eq!(fetched(&image, &linear, 1.5 + 1.0 / 1024.0, 0.5), 1.0);
        assert_eq!(fetched(&image, &linear, 1.5 + 1.0 / 256.0, 0.5), 1.0 + 1.0 / 256.0);
    }

    #[test]
    fn what_is_outside() {
        let image = plane(&DATA, 4, 2);
        let with = |mode| Sampler { address: [mode; 3], is_normalised: true, border: [7.0; 4], ..Sampler::default() };
        let at = |mode, x: f32| fetched(&image, &with(mode), x, 0.25);
        assert_eq!(at(AddressMode::Wrap, 1.125), 0.0);
        assert_eq!(at(AddressMode::Wrap, -0.125), 3.0);
        assert_eq!(at(AddressMode::Mirror, 1.125), 3.0);
        assert_eq!(at(AddressMode::Mirror, -0.375), 1.0);
        assert_eq!(at(AddressMode::Clamp, 1.125), 3.0);
        assert_eq!(at(AddressMode::Border, 1.125), 7.0);
        // The neighbour of the last element is the first.
        let linear = Sampler { filter: Filter::Linear, ..with(AddressMode::Wrap) };
        assert_eq!(fetched(&image, &linear, 0.0, 0.25), 1.5);
    }

    #[test]
    fn faces_of_a_cube() {
        assert_eq!(cube_face([1.0, 0.0, 0.0]), (0, 0.5, 0.5));
        assert_eq!(cube_face([-2.0, 0.0, 1.0]), (1, 0.75, 0.5));
        assert_eq!(cube_face([0.0, 2.0, 1.0]), (2, 0.5, 0.75));
        assert_eq!(cube_face([0.0, 0.0, -1.0]), (5, 0.5, 0.5));
    }

    #[test]
    fn integers_as_numbers() {
        assert_eq!(component(Component::U8, true, 255), 1.0_f32.to_bits());
        assert_eq!(component(Component::S8, true, 0x80), (-1.0_f32).to_bits());
        assert_eq!(component(Component::S8, false, 0x80), -128_i32 as u32);
        assert_eq!(component(Component::F16, false, 0x3c00), 1.0_f32.to_bits());
    }
}
