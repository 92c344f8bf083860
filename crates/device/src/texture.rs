//! Textures and surfaces: images in memory, and how kernels read them.
//!
//! A kernel knows an object by a handle of 64 bits. What is behind it is an [`Image`], a view of memory that belongs to
//! the program, and for textures a [`Sampler`].

/// What the components of an image are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Component {
    /// 8 bits without sign.
    U8,
    /// 8 bits with sign.
    S8,
    /// 16 bits without sign.
    U16,
    /// 16 bits with sign.
    S16,
    /// 32 bits without sign.
    U32,
    /// 32 bits with sign.
    S32,
    /// A number of 16 bits.
    F16,
    /// A number of 32 bits.
    F32,
}

impl Component {
    /// Its size.
    pub fn bytes(self) -> u64 {
        match self {
            Self::U8 | Self::S8 => 1,
            Self::U16 | Self::S16 | Self::F16 => 2,
            Self::U32 | Self::S32 | Self::F32 => 4,
        }
    }
}

/// How an image is addressed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Geometry {
    /// A line.
    Line,
    /// A plane.
    Plane,
    /// A volume.
    Volume,
    /// Lines, each with its own number.
    Lines,
    /// Planes, each with its own number.
    Planes,
    /// Six planes, seen from within.
    Cube,
    /// Cubes, each with its own number.
    Cubes,
}

/// One level of an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Level {
    /// Where the first element is.
    pub address: u64,
    /// Elements in each direction; at least 1.
    pub size: [u32; 3],
    /// Bytes from one row to the next.
    pub row_pitch: u64,
    /// Bytes from one plane, or layer, to the next.
    pub slice_pitch: u64,
}

/// An image in memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Image {
    /// How it is addressed.
    pub geometry: Geometry,
    /// What its components are.
    pub component: Component,
    /// Components of an element: 1, 2 or 4.
    pub channels: u32,
    /// Layers; six for each cube. 1 without layers.
    pub layers: u32,
    /// From the largest on; at least one.
    pub levels: Vec<Level>,
    /// Whether it is a piece of memory, outside of which everything is zero.
    pub is_linear: bool,
}

/// What is read outside of an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AddressMode {
    /// The image again.
    Wrap,
    /// The last element.
    Clamp,
    /// The image again, every other time from its end.
    Mirror,
    /// A colour.
    Border,
}

/// How an element is found between others.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Filter {
    /// The nearest one.
    Point,
    /// A mixture of those around.
    Linear,
}

/// How a texture is read.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sampler {
    /// What is outside, in each direction.
    pub address: [AddressMode; 3],
    /// Between elements.
    pub filter: Filter,
    /// Between levels.
    pub level_filter: Filter,
    /// Whether coordinates are from 0 to 1 instead of from 0 to the size.
    pub is_normalised: bool,
    /// Whether integers are read as numbers from 0 or -1 to 1.
    pub reads_floats: bool,
    /// The colour outside.
    pub border: [f32; 4],
    /// Added to the level that is asked for.
    pub level_bias: f32,
    /// The least level.
    pub level_min: f32,
    /// The greatest level.
    pub level_max: f32,
}

impl Default for Sampler {
    fn default() -> Self {
        Self {
            address: [AddressMode::Clamp; 3],
            filter: Filter::Point,
            level_filter: Filter::Point,
            is_normalised: false,
            reads_floats: false,
            border: [0.0; 4],
            level_bias: 0.0,
            level_min: 0.0,
            level_max: 99.0,
        }
    }
}

/// What a handle stands for.
#[derive(Clone, PartialEq, Debug)]
pub enum Object {
    /// An image that is sampled.
    Texture(Image, Sampler),
    /// An image that is read and written as it is.
    Surface(Image),
}

impl Object {
    /// The image behind it.
    pub fn image(&self) -> &Image {
        match self {
            Self::Texture(image, _) | Self::Surface(image) => image,
        }
    }
}

impl Image {
    /// Bytes of an element.
    pub fn element_bytes(&self) -> u64 {
        self.component.bytes() * u64::from(self.channels)
    }

    /// Where an element is in memory; nothing if it is outside.
    pub fn element(&self, level: usize, [x, y, z]: [i64; 3], layer: u32) -> Option<u64> {
        let level = &self.levels[level];
        let is_within = |place: i64, size: u32| (0..i64::from(size)).contains(&place);
        if !is_within(x, level.size[0]) || !is_within(y, level.size[1]) || !is_within(z, level.size[2]) {
            return None;
        }
        let slice = z as u64 + u64::from(layer.min(self.layers.saturating_sub(1)));
        Some(level.address + x as u64 * self.element_bytes() + y as u64 * level.row_pitch + slice * level.slice_pitch)
    }
}
