//! Bounded decompression.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

use super::detect::{self, Decoder, invalid_data};

/// Default of [`StreamLimits::max_unpack_ratio`](super::StreamLimits::max_unpack_ratio). Dumps of ads reach 10 to 100.
pub const MAX_UNPACK_RATIO: u64 = 256;

/// Number of unpacked bytes that are not limited by the ratio, 64 MiB.
pub const UNLIMITED_UNPACKED_BYTES: u64 = 64 << 20;

/// Reader that counts the bytes that it passes on.
struct CountingReader {
    reader: Box<dyn Read>,
    count: Rc<Cell<u64>>,
}

/// Reader of decompressed data that refuses to make too much of too little.
pub(super) struct UnpackingReader {
    unpacked: Box<dyn Read>,
    packed_bytes: Rc<Cell<u64>>,
    unpacked_bytes: u64,
    /// Maximum number of bytes that one packed byte may become.
    max_ratio: u64,
}

impl UnpackingReader {
    /// Creates a reader that decompresses `packed` with `decoder`. One packed byte may become `max_ratio` bytes.
    pub(super) fn new(packed: Box<dyn Read>, decoder: Decoder, max_ratio: u64) -> io::Result<Self> {
        let packed_bytes = Rc::new(Cell::new(0));
        let counted = CountingReader { reader: packed, count: Rc::clone(&packed_bytes) };
        Ok(UnpackingReader { unpacked: decoder(Box::new(counted))?, packed_bytes, unpacked_bytes: 0, max_ratio })
    }
}

/// Returns the text of a file that is in memory: decompressed, if gzip, zstd, xz or bzip2 compressed it.
///
/// # Errors
///
/// Corrupt compressed data, data compressed twice, UTF-16, and binary data.
pub fn unpacked(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    let text = match detect::decoder(&bytes) {
        Some(decoder) => {
            let mut text = Vec::new();
            let packed = Box::new(io::Cursor::new(bytes));
            UnpackingReader::new(packed, decoder, MAX_UNPACK_RATIO)?.read_to_end(&mut text)?;
            text
        }
        None => bytes,
    };
    detect::refuse_packed(&text)?;
    detect::refuse_binary(&text)?;
    Ok(text)
}

impl Read for CountingReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(into)?;
        self.count.set(self.count.get() + count as u64);
        Ok(count)
    }
}

impl Read for UnpackingReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.unpacked.read(into)?;
        self.unpacked_bytes += count as u64;
        let limit = self.packed_bytes.get().saturating_mul(self.max_ratio).max(UNLIMITED_UNPACKED_BYTES);
        if self.unpacked_bytes > limit {
            let reason = format!(
                "it unpacks to more than {} times its size; unpack it, or raise --max-unpack-ratio",
                self.max_ratio
            );
            return Err(invalid_data(reason));
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read, Write};

    use super::{MAX_UNPACK_RATIO, UNLIMITED_UNPACKED_BYTES, UnpackingReader, unpacked};
    use crate::format::detect::decoder;

    #[test]
    fn the_text_of_a_file_is_unpacked_once() {
        let packed = |bytes: &[u8]| {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        };
        let text = b"A = 1\n".to_vec();
        let once = packed(&text);
        for (bytes, expected) in [
            (text.clone(), Ok("A = 1\n")),
            (Vec::new(), Ok("")),
            (b"N\xe9 = 1\n".to_vec(), Ok("N\u{fffd} = 1\n")),
            (once.clone(), Ok("A = 1\n")),
            (packed(&once), Err("compressed twice")),
            (once[..once.len() - 9].to_vec(), Err("")),
            (b"\xff\xfeA\0".to_vec(), Err("UTF-16")),
            (b"\x7fELF\x02\x01\x01\x03\x04\xff".to_vec(), Err("binary")),
            (b"PK\x03\x04".to_vec(), Err("zip")),
        ] {
            let found = unpacked(bytes).map(|text| String::from_utf8_lossy(&text).into_owned());
            match expected {
                Ok(text) => assert_eq!(found.unwrap(), text),
                Err(reason) => assert!(found.unwrap_err().to_string().contains(reason), "{reason}"),
            }
        }
    }

    /// A reader of packed zeros.
    fn packed_zeros(count: u64) -> UnpackingReader {
        let packed = zstd::stream::encode_all(io::repeat(0).take(count), 1).unwrap();
        let decoder = decoder(&packed).unwrap();
        UnpackingReader::new(Box::new(io::Cursor::new(packed)), decoder, MAX_UNPACK_RATIO).unwrap()
    }

    #[test]
    fn the_bytes_that_are_not_limited_are_read_to_the_last() {
        for (count, is_read) in [(UNLIMITED_UNPACKED_BYTES, true), (UNLIMITED_UNPACKED_BYTES + 1, false)] {
            let read = io::copy(&mut packed_zeros(count), &mut io::sink());
            assert_eq!(read.ok(), is_read.then_some(count), "{count}");
        }
    }

    #[test]
    fn a_few_packed_bytes_yield_bounded_many() {
        let mut reader = packed_zeros(4 * UNLIMITED_UNPACKED_BYTES);
        let mut count = 0;
        let mut buffer = vec![0; 1 << 16];
        let error = loop {
            match reader.read(&mut buffer) {
                Ok(0) => panic!("all of {count} bytes"),
                Ok(more) => count += more as u64,
                Err(error) => break error,
            }
        };
        assert!(error.to_string().starts_with("it unpacks to more than 256 times"), "{error}");
        assert!(count <= UNLIMITED_UNPACKED_BYTES);
    }
}
