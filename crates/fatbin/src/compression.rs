//! How texts are compressed. Decompression fills a buffer of the size that the container gives: no more is written,
//! whatever the bytes say.

use std::fmt;

use ruzstd::decoding::FrameDecoder;

use crate::Error;

/// The largest window of Zstandard's that is allocated for a small text; larger texts have windows of their own size.
const MIN_WINDOW_BYTES: usize = 8 << 20;

/// How a text is stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compression {
    /// As it is.
    None,
    /// As a block of LZ4.
    Lz4,
    /// As frames of Zstandard.
    Zstd,
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "nothing",
            Self::Lz4 => "LZ4",
            Self::Zstd => "Zstandard",
        })
    }
}

/// Decompresses into exactly `text_bytes` bytes.
pub(crate) fn decompress(compression: Compression, stored: &[u8], text_bytes: usize) -> Result<Vec<u8>, Error> {
    let mut text = vec![0; text_bytes];
    let written = match compression {
        Compression::None => Err("it is not compressed".to_owned()),
        Compression::Lz4 => lz4_flex::block::decompress_into(stored, &mut text).map_err(|error| error.to_string()),
        Compression::Zstd => {
            let mut decoder = FrameDecoder::new();
            decoder.set_max_window_size(text_bytes.max(MIN_WINDOW_BYTES) as u64);
            decoder.decode_all(stored, &mut text).map_err(|error| error.to_string())
        }
    };
    match written {
        Ok(written) if written == text_bytes => Ok(text),
        Ok(written) => {
            let reason = format!("it has {written} bytes, but the container says {text_bytes}");
            Err(Error::Decompression { compression, reason })
        }
        Err(reason) => Err(Error::Decompression { compression, reason }),
    }
}
