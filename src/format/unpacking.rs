//! Bounded decompression.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

use super::detect::Decoder;

/// Maximum number of bytes that one compressed byte may become, on average over what was read. Dumps of ads reach 10
/// to 100.
pub const MAX_UNPACK_RATIO: u64 = 256;

/// Number of unpacked bytes that are not limited by [`MAX_UNPACK_RATIO`], 64 MiB.
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
}

impl UnpackingReader {
    /// Creates a reader that decompresses `packed` with `decoder`.
    pub(super) fn new(packed: Box<dyn Read>, decoder: Decoder) -> io::Result<Self> {
        let packed_bytes = Rc::new(Cell::new(0));
        let counted = CountingReader { reader: packed, count: Rc::clone(&packed_bytes) };
        Ok(UnpackingReader { unpacked: decoder(Box::new(counted))?, packed_bytes, unpacked_bytes: 0 })
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
        let limit = self.packed_bytes.get().saturating_mul(MAX_UNPACK_RATIO).max(UNLIMITED_UNPACKED_BYTES);
        if self.unpacked_bytes > limit {
            let reason =
                format!("it unpacks to more than {MAX_UNPACK_RATIO} times its size; unpack it to read all of it");
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read};

    use super::{UNLIMITED_UNPACKED_BYTES, UnpackingReader};
    use crate::format::detect::decoder;

    #[test]
    fn a_few_packed_bytes_yield_bounded_many() {
        let zeros = io::repeat(0).take(4 * UNLIMITED_UNPACKED_BYTES);
        let packed = zstd::stream::encode_all(zeros, 1).unwrap();
        let decoder = decoder(&packed).unwrap();
        let mut reader = UnpackingReader::new(Box::new(io::Cursor::new(packed)), decoder).unwrap();
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
