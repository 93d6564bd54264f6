//! Bounded decompression.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

use super::detect::Decoder;

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
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read};

    use super::{MAX_UNPACK_RATIO, UNLIMITED_UNPACKED_BYTES, UnpackingReader};
    use crate::format::detect::decoder;

    #[test]
    fn a_few_packed_bytes_yield_bounded_many() {
        let zeros = io::repeat(0).take(4 * UNLIMITED_UNPACKED_BYTES);
        let packed = zstd::stream::encode_all(zeros, 1).unwrap();
        let decoder = decoder(&packed).unwrap();
        let mut reader = UnpackingReader::new(Box::new(io::Cursor::new(packed)), decoder, MAX_UNPACK_RATIO).unwrap();
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
