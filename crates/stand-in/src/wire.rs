//! What the driver and its GPU say to each other: numbers, and a piece of bytes.

use std::io::{self, Read, Write};

/// What the GPU is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub(crate) enum Ask {
    /// Keeps addresses free: the first, how many.
    Reserve,
    /// Puts memory behind addresses: the first, how many, the process and the number of its descriptor.
    Map,
    /// Takes it away: the first, how many.
    Unmap,
    /// Lets kernels access it: the first, how many.
    Allow,
    /// Writes the bytes: the first address.
    Write,
    /// Gives bytes: the first address, how many.
    Read,
    /// Copies: from, to, how many.
    Copy,
    /// Writes a pattern: the first address, bytes of the pattern, the pattern, how often.
    Fill,
    /// Takes the bytes as PTX, and gives the number of the module.
    Load,
    /// Forgets a module: its number.
    Unload,
    /// What is known of a kernel: the module; the bytes are its name. Gives registers, threads, shared and local memory.
    Facts,
    /// Launches: the module, the grid, the block, dynamic shared memory, whether it is cooperative, bytes of the name; the bytes
    /// are the name and the parameters. Gives what was printed.
    Launch,
    /// Makes a texture and gives its handle: whether it is rows or one piece, the first address, the format, the channels,
    /// elements of a row or bytes of the piece, rows, bytes from one to the next, modes of addresses as digits of base 4, filter and
    /// flags. The bytes are the colour outside.
    Texture,
    /// Forgets one: its handle.
    Forget,
}

/// How many numbers a message has.
pub(crate) const NUMBERS: usize = 12;

/// A question, or an answer, whose first number is one of `CUresult`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Message {
    pub(crate) numbers: [u64; NUMBERS],
    pub(crate) bytes: Vec<u8>,
}

impl Message {
    pub(crate) fn new(numbers: &[u64], bytes: &[u8]) -> Self {
        let mut message = Self { bytes: bytes.to_vec(), ..Self::default() };
        message.numbers[..numbers.len()].copy_from_slice(numbers);
        message
    }

    pub(crate) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let mut all = Vec::with_capacity(8 * (NUMBERS + 1) + self.bytes.len());
        for number in self.numbers.iter().chain([&(self.bytes.len() as u64)]) {
            all.extend_from_slice(&number.to_le_bytes());
        }
        all.extend_from_slice(&self.bytes);
        to.write_all(&all)
    }

    pub(crate) fn read(from: &mut impl Read) -> io::Result<Self> {
        let mut message = Self::default();
        let mut head = [0; 8 * (NUMBERS + 1)];
        from.read_exact(&mut head)?;
        let word = |at: usize| u64::from_le_bytes(head[8 * at..8 * at + 8].try_into().expect("eight bytes"));
        message.numbers = std::array::from_fn(word);
        message.bytes.resize(word(NUMBERS) as usize, 0);
        from.read_exact(&mut message.bytes)?;
        Ok(message)
    }
}
