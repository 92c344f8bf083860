//! Textures, as the driver describes them.

use device::texture::{AddressMode, Component, Filter, Geometry, Image, Level, Object, Sampler};

use crate::wire::Message;

/// Addresses are multiples of it, as on all GPUs there are.
const ALIGNMENT: u64 = 512;
/// So are distances of rows of this.
const PITCH_ALIGNMENT: u64 = 32;

/// The texture that is asked for, if there can be one.
pub(crate) fn object(question: &Message) -> Option<Object> {
    let [_, is_rows, address, format, channels, width, height, pitch, modes, filter, flags, _] = question.numbers;
    let component = match format {
        0x01 => Component::U8,
        0x02 => Component::U16,
        0x03 => Component::U32,
        0x08 => Component::S8,
        0x09 => Component::S16,
        0x0a => Component::S32,
        0x10 => Component::F16,
        0x20 => Component::F32,
        _ => return None,
    };
    let channels = u32::try_from(channels).ok().filter(|count| matches!(count, 1 | 2 | 4))?;
    let bytes = component.bytes() * u64::from(channels);
    let level = match is_rows {
        0 => {
            let size = [u32::try_from(width / bytes).ok()?, 1, 1];
            Level { address, size, row_pitch: width, slice_pitch: width }
        }
        _ => {
            if !pitch.is_multiple_of(PITCH_ALIGNMENT) {
                return None;
            }
            let size = [u32::try_from(width).ok()?, u32::try_from(height).ok()?, 1];
            Level { address, size, row_pitch: pitch, slice_pitch: pitch.checked_mul(height)? }
        }
    };
    let geometry = if is_rows == 0 { Geometry::Line } else { Geometry::Plane };
    let image = Image { geometry, component, channels, layers: 1, levels: vec![level], is_linear: is_rows == 0 };
    let mode = |place: u32| match modes >> (2 * place) & 3 {
        0 => AddressMode::Wrap,
        1 => AddressMode::Clamp,
        2 => AddressMode::Mirror,
        _ => AddressMode::Border,
    };
    let mut border = [0.0; 4];
    for (colour, word) in border.iter_mut().zip(question.bytes.chunks_exact(4)) {
        *colour = f32::from_le_bytes(word.try_into().ok()?);
    }
    let sampler = Sampler {
        address: [0, 1, 2].map(mode),
        filter: if filter == 0 { Filter::Point } else { Filter::Linear },
        is_normalised: flags & 2 != 0,
        // A number is read as it is, whatever is said of integers.
        reads_floats: flags & 1 == 0 && !matches!(component, Component::F16 | Component::F32),
        border,
        ..Sampler::default()
    };
    let is_aligned = address.is_multiple_of(ALIGNMENT);
    (is_aligned && level.size[0] > 0 && level.size[1] > 0).then_some(Object::Texture(image, sampler))
}
