//! Content hashes: BLAKE3, in hexadecimal.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The hash of bytes.
pub fn hash_bytes(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// The hash of what is in a file.
pub fn hash_file(path: &Path) -> io::Result<String> {
    let (mut hasher, mut buffer) = (blake3::Hasher::new(), vec![0; 1 << 20]);
    let mut file = File::open(path)?;
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher.finalize().to_hex().to_string()),
            count => hasher.update(&buffer[..count]),
        };
    }
}
