//! What unpacks compressed files, or refuses to if the library is built without it.

#[cfg(feature = "compression")]
pub(super) use with_libraries::{bzip2, gzip, xz, zstd};
#[cfg(not(feature = "compression"))]
pub(super) use {left_out as bzip2, left_out as gzip, left_out as xz, left_out as zstd};

#[cfg(not(feature = "compression"))]
pub(super) fn left_out(_: Box<dyn std::io::Read>) -> std::io::Result<Box<dyn std::io::Read>> {
    let reason = "it is compressed, and the feature `compression` is left out";
    Err(std::io::Error::new(std::io::ErrorKind::Unsupported, reason))
}

#[cfg(feature = "compression")]
#[allow(clippy::unnecessary_wraps)] // all are of one type
mod with_libraries {
    use std::io::{Read, Result};

    /// Maximum memory for decompressing xz, in KiB. `xz -9` needs a quarter of it.
    const MAX_XZ_KIB: u32 = 256 * 1024;

    pub(crate) fn gzip(packed: Box<dyn Read>) -> Result<Box<dyn Read>> {
        Ok(Box::new(flate2::read::MultiGzDecoder::new(packed)))
    }

    pub(crate) fn zstd(packed: Box<dyn Read>) -> Result<Box<dyn Read>> {
        Ok(Box::new(zstd::stream::Decoder::new(packed)?))
    }

    pub(crate) fn xz(packed: Box<dyn Read>) -> Result<Box<dyn Read>> {
        Ok(Box::new(lzma_rust2::XzReader::new_mem_limit(packed, true, MAX_XZ_KIB)))
    }

    pub(crate) fn bzip2(packed: Box<dyn Read>) -> Result<Box<dyn Read>> {
        Ok(Box::new(bzip2::read::MultiBzDecoder::new(packed)))
    }
}
