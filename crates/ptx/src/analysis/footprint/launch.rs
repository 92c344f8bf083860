//! What a launch says: extents, parameters, and the objects that these point into.

/// A launch of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// The parameters, laid out as the kernel declares them.
    pub params: &'a [u8],
    /// Memory that the kernel may access, besides its own variables. Objects may overlap. A variable of the module
    /// that is not among them overlaps none.
    pub objects: &'a [Object<'a>],
}

/// Memory that a pointer may point into.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Object<'a> {
    /// Its address.
    pub start: u64,
    /// Bytes.
    pub size: u64,
    /// The variable of the module that it is, if it is one.
    pub variable: Option<&'a str>,
}

impl Launch<'_> {
    /// The object that an address points into, the one that begins last if there are several; or right behind.
    pub(super) fn object_at(&self, address: u64) -> Option<usize> {
        let inside = |object: &Object<'_>| address.checked_sub(object.start).is_some_and(|offset| offset < object.size);
        let behind = |object: &Object<'_>| object.size > 0 && object.start.checked_add(object.size) == Some(address);
        let inside = self.objects.iter().enumerate().filter(|(_, object)| inside(object));
        let last = inside.max_by_key(|(_, object)| object.start).map(|(place, _)| place);
        last.or_else(|| self.objects.iter().position(behind))
    }
}
