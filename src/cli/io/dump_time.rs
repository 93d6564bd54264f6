//! The time of a dump: the newest time that its ads tell.

use std::io;

use classad::ad::{Ad, Name};
use classad::eval::Context;
use classad::format::{Projection, ReadCache};
use classad::protocol::{Advertisement, TIME_ATTRIBUTES};

use super::source::AdSource;

/// Returns the newest time that an ad of these files tells, in seconds since 1970; `None` if none does. Bad ads are
/// skipped here, because they are reported when the files are read again.
///
/// # Errors
///
/// A source is not a file, or cannot be read.
pub fn newest_time<'s>(sources: impl IntoIterator<Item = &'s AdSource>, context: &Context) -> io::Result<Option<i64>> {
    let mut newest = None;
    let mut count = |ad: &Ad| newest = newest.max(Advertisement::new(ad, context).time());
    for source in sources {
        let is_long = source.is_long_file();
        let mut source = source.reopen()?;
        let names = TIME_ATTRIBUTES.iter().map(|name| Name::new(name));
        let mut projection = Projection::new(names, context.dialect);
        let mut cache = ReadCache::new(context.dialect);
        while let Some(text) = source.next_block()? {
            if is_long {
                text.block.project(&mut projection).flatten().for_each(|entry| count(&entry.ad));
            } else {
                text.block.ads_cached(&mut cache).flatten().for_each(|entry| count(&entry.ad));
            }
            source.recycle(text);
        }
    }
    Ok(newest)
}
