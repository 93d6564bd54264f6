//! The time of a dump: the newest time that its ads tell, and whether it is the time of evaluation.

use std::io;
use std::sync::LazyLock;

use classad::ad::{Ad, Expression, Name, Value};
use classad::eval::Context;
use classad::format::{Projection, ReadCache};
use classad::protocol::{Advertisement, TIME_ATTRIBUTES};

use super::source::AdSource;
use crate::cli::clock::{current_time, utc_text};
use crate::cli::session::Session;

/// Times of events of jobs. A dump is at least as new as these.
const EVENT_TIMES: [&str; 4] = ["QDate", "EnteredCurrentStatus", "JobCurrentStartDate", "CompletionDate"];

static EVENT_NAMES: LazyLock<[Name; 4]> = LazyLock::new(|| EVENT_TIMES.map(Name::new));

/// Age in seconds from which all ads of an input count as old.
const OLD_SECONDS: i64 = 3600;

/// Maximum number of bytes of files that are read only to find out how old they are.
const MAX_DATED_BYTES: u64 = 64 << 20;

/// The newest times in the ads of a dump, in seconds since 1970.
#[derive(Default)]
pub struct DumpTimes {
    /// The newest time at which an ad was true.
    pub ads: Option<i64>,
    /// The newest event of a job.
    pub events: Option<i64>,
}

impl DumpTimes {
    /// Takes the times of an ad into account.
    pub fn add(&mut self, ad: &Ad, context: &Context) {
        self.ads = self.ads.max(Advertisement::new(ad, context).time());
        for name in &*EVENT_NAMES {
            if let Some(Value::Integer(time)) = ad.get(name).and_then(Expression::as_literal) {
                self.events = self.events.max(Some(*time));
            }
        }
    }

    /// Returns the time of the dump; `None` if its ads have no times.
    pub fn newest(&self) -> Option<i64> {
        self.ads.max(self.events)
    }
}

/// Returns the newest times in the ads of these files. Bad ads are skipped here, because they are reported when the files
/// are read again.
///
/// # Errors
///
/// A source is not a file, or cannot be read.
pub fn newest_times<'s>(sources: impl IntoIterator<Item = &'s AdSource>, context: &Context) -> io::Result<DumpTimes> {
    let mut newest = DumpTimes::default();
    let mut count = |ad: &Ad| newest.add(ad, context);
    for source in sources {
        let is_long = source.is_long_file();
        let mut source = source.reopen()?;
        let names = TIME_ATTRIBUTES.iter().chain(&EVENT_TIMES).map(|name| Name::new(name));
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

/// Makes the time of a dump the time of evaluation.
pub fn set_dump_time(session: &mut Session, times: &DumpTimes) {
    let Some(time) = times.newest() else {
        return session.warning("--now dump uses the current time: no ad has a time such as LastHeardFrom or QDate");
    };
    session.set_time(time);
    if times.events > times.ads {
        let time = utc_text(time);
        session.note(&format!("--now dump uses {time}, the newest event of a job: no ad was written later"));
    }
}

/// Whether ads whose newest time is `newest_time`, in seconds since 1970, are old. Ads that tell no time are not.
pub fn is_old(newest_time: Option<i64>) -> bool {
    newest_time.is_some_and(|newest| current_time().saturating_sub(newest) > OLD_SECONDS)
}

/// Makes `newest_time`, the newest time that an ad tells, the time of evaluation, if all ads are old. An option
/// `--now` has precedence. Prints a note.
pub fn adopt_time_of_old_ads(session: &mut Session, newest_time: Option<i64>) {
    if session.options.now.is_none() && is_old(newest_time) && newest_time != session.context().now {
        let Some(newest) = newest_time else { return };
        session.set_time(newest);
        let time = utc_text(newest);
        session
            .note(&format!("the newest ad is from {time}; the ads are evaluated as of that time (--now sets another)"));
    }
}

/// Notes that `time()` is the current time, if the newest ad of the files is more than a day old. Says nothing of pipes
/// and of large files.
pub fn note_old_ads(session: &Session, sources: &[AdSource]) {
    const DAY_SECONDS: i64 = 86_400;
    let size = |source: &AdSource| std::fs::metadata(source.path()).map_or(u64::MAX, |file| file.len());
    let is_dated = session.options.now.is_some() || !sources.iter().all(AdSource::is_file);
    if is_dated || sources.iter().map(size).fold(0, u64::saturating_add) > MAX_DATED_BYTES {
        return;
    }
    let Some(newest) = newest_times(sources, &session.context()).ok().and_then(|times| times.newest()) else {
        return;
    };
    if newest < current_time() - DAY_SECONDS {
        let newest = utc_text(newest);
        session.note(&format!(
            "time() is the current time, but the ads seem to be from {newest}; --now dump uses that time"
        ));
    }
}
#[cfg(test)]
mod tests {
    use classad::ad::Dialect;
    use classad::eval::Context;
    use classad::syntax::{ParseOptions, parse_ad};

    use super::{DumpTimes, adopt_time_of_old_ads, current_time, is_old, set_dump_time};
    use crate::cli::program::session_of;

    #[test]
    fn a_dump_is_as_new_as_its_newest_ad_or_event() {
        for (ads, expected) in [
            (&[][..], [None, None]),
            (&["[ x = 1 ]"], [None, None]),
            (&["[ LastHeardFrom = 5 ]", "[ LastHeardFrom = 7 ]", "[ LastHeardFrom = 6 ]"], [Some(7), None]),
            (&["[ QDate = 5 ]", "[ EnteredCurrentStatus = 9; QDate = 4 ]"], [None, Some(9)]),
            (&["[ JobCurrentStartDate = 5; CompletionDate = 6 ]", "[ MyCurrentTime = 3 ]"], [Some(3), Some(6)]),
            // A time that is an expression is no literal.
            (&["[ QDate = 2 + 3; CompletionDate = \"x\" ]"], [None, None]),
        ] {
            let mut times = DumpTimes::default();
            for text in ads {
                let ad = parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
                times.add(&ad, &Context::new(Dialect::Condor));
            }
            assert_eq!([times.ads, times.events], expected, "{ads:?}");
            assert_eq!(times.newest(), expected[0].max(expected[1]), "{ads:?}");
        }
    }

    #[test]
    fn ads_of_an_hour_ago_are_old() {
        let now = current_time();
        assert!(!is_old(None) && !is_old(Some(now)) && !is_old(Some(now - 3590)) && !is_old(Some(now + 9000)));
        assert!(is_old(Some(now - 3601)) && is_old(Some(0)));
        for (arguments, newest, expected) in [
            (&["repl", "--quiet"][..], Some(5), Some(5)),
            (&["repl", "--quiet"], Some(now), None),
            (&["repl", "--quiet"], None, None),
            (&["repl", "--quiet", "--now", "7"], Some(5), Some(7)),
        ] {
            let mut session = session_of(arguments);
            let before = session.context().now;
            adopt_time_of_old_ads(&mut session, newest);
            assert_eq!(session.context().now, expected.or(before), "{arguments:?} {newest:?}");
        }
    }

    #[test]
    fn a_dump_without_times_keeps_the_time() {
        for (ads, events, expected) in
            [(None, None, None), (Some(5), None, Some(5)), (Some(5), Some(6), Some(6)), (Some(7), Some(6), Some(7))]
        {
            let mut session = session_of(&["repl", "--quiet"]);
            let before = session.context().now;
            set_dump_time(&mut session, &DumpTimes { ads, events });
            assert_eq!(session.context().now, expected.or(before), "{ads:?} {events:?}");
        }
    }
}
