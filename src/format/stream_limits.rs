//! Limits on what is read of a stream.

use super::unpacking::MAX_UNPACK_RATIO;

/// Default of [`StreamLimits::max_ad_bytes`], 8 MiB. Its tree takes up to 50 times as much memory.
pub const MAX_AD_BYTES: usize = 8 << 20;

/// Limits on what is read of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamLimits {
    /// Maximum number of bytes in which an ad must end.
    pub max_ad_bytes: usize,
    /// Maximum number of bytes that one compressed byte may become, on average over what was read.
    pub max_unpack_ratio: u64,
}

impl Default for StreamLimits {
    fn default() -> Self {
        StreamLimits { max_ad_bytes: MAX_AD_BYTES, max_unpack_ratio: MAX_UNPACK_RATIO }
    }
}
