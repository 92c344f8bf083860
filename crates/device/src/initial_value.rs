//! What variables begin with.

use ptx::ir::{InitValue, Symbol, Variable};

/// The bytes of an initial value. Rows that are too short end with zeros; so does the whole, which may have fewer bytes than
/// the variable. `address_of` knows where variables and functions are.
pub fn initial_bytes(values: &[InitValue], variable: &Variable, address_of: impl Fn(Symbol) -> u64) -> Vec<u8> {
    let size = variable.ty.bytes() as usize;
    // Bytes of what lies between braces, from the outermost on.
    let mut extents = vec![size * usize::from(variable.vector)];
    for dimension in variable.dimensions.iter().rev() {
        let inner = extents.last().copied().unwrap_or(size);
        extents.push(inner.saturating_mul(dimension.unwrap_or(1) as usize));
    }
    extents.reverse();
    let mut bytes = Vec::new();
    let mut open = Vec::new();
    for value in values {
        let word: u64 = match *value {
            InitValue::Open => {
                open.push(bytes.len());
                continue;
            }
            InitValue::Close => {
                let start = open.pop().unwrap_or(0);
                // The outermost needs no end: memory starts as zero.
                if let Some(extent) = extents.get(open.len()).filter(|_| !open.is_empty()) {
                    bytes.resize((start + extent).max(bytes.len()), 0);
                }
                continue;
            }
            InitValue::Field(..) => continue,
            InitValue::Int(value) => value as u64,
            InitValue::F32(bits) if size == 8 => f64::from(f32::from_bits(bits)).to_bits(),
            InitValue::F32(bits) => bits.into(),
            InitValue::F64(bits) if size == 4 => (f64::from_bits(bits) as f32).to_bits().into(),
            InitValue::F64(bits) => bits,
            InitValue::Address { symbol, offset, byte, .. } => {
                let address = address_of(symbol).wrapping_add(offset as i64 as u64);
                byte.map_or(address, |byte| address >> (8 * u32::from(byte)) & 0xff)
            }
        };
        bytes.extend_from_slice(&word.to_le_bytes()[..size.min(8)]);
    }
    bytes
}
