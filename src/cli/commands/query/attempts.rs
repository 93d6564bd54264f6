//! `--attempts`: a row for each attempt to run a job, of event logs and of histories.

use classad::ad::Ad;
use classad::format::AdEntry;
use classad::query::{EventAttempts, JobEvent, attempts_of_job};
use classad::text::counted;

use super::output::QueryOutput;
use super::scan::QueryScanner;
use crate::cli::io::input;
use crate::cli::io::source::AdSource;
use crate::cli::io::source_text::SourceText;
use crate::cli::outcome::Failure;
use crate::cli::session::Session;

/// Passes the attempts that events and ads of jobs tell to the output. Those that have not ended come last. Returns the
/// text of the first block.
pub fn scan_attempts(
    session: &mut Session,
    sources: &mut [AdSource],
    scanner: &QueryScanner<'_>,
    output: &mut QueryOutput<'_>,
) -> Result<Option<SourceText>, Failure> {
    let (mut log, mut first_text, mut last_text) = (EventAttempts::default(), None, None);
    let (mut count, mut untold) = (0, 0);
    let mut pass = |session: &mut Session, text: &SourceText, attempts: Vec<Ad>| {
        untold += attempts.iter().filter(|ad| is_untold(ad)).count();
        let entries: Vec<_> = attempts
            .into_iter()
            .map(|ad| {
                count += 1;
                (text, AdEntry { ad, number: count, offset: 0, is_whole: true, banner_attributes: 0 })
            })
            .collect();
        let mut goes_on = true;
        scanner.scan_read_ads(entries, &mut |text, item| {
            goes_on = output.add_item(session, text, 0, item)?;
            Ok::<_, Failure>(goes_on)
        })?;
        Ok::<_, Failure>(goes_on)
    };
    input::for_each_ad(session, sources, |session, text, entry| {
        first_text.get_or_insert_with(|| text.clone());
        let attempts = match JobEvent::of(&entry.ad) {
            Some(event) => log.add(&event).into_iter().collect(),
            None => attempts_of_job(&entry.ad),
        };
        last_text = Some(text.clone());
        if attempts.is_empty() { Ok(true) } else { pass(session, text, attempts) }
    })?;
    if let Some(text) = &last_text {
        pass(session, text, log.running())?;
    }
    if untold > 0 {
        let attempts = counted(untold, "attempt");
        session.note(&format!(
            "{attempts} of jobs that started three times or more have no end: the ad of a job has the times of its last \
             attempt, and EarlierSeconds for those before it; an event log or an epoch history has each"
        ));
    }
    Ok(first_text)
}

/// Whether an attempt has ended, and nothing tells how long it took.
fn is_untold(ad: &Ad) -> bool {
    let is_unknown = ad.get_str("Outcome").is_some_and(|outcome| outcome.to_string() == "\"unknown\"");
    is_unknown && ad.get_str("Seconds").is_none() && ad.get_str("EventTypeNumber").is_none()
}

#[cfg(test)]
mod tests {
    use classad::ad::Dialect;
    use classad::syntax::{ParseOptions, parse_ad};

    use super::is_untold;

    #[test]
    fn an_attempt_of_a_history_without_a_length_is_untold() {
        for (attributes, expected) in [
            ("Outcome = \"unknown\"", true),
            ("Outcome = \"unknown\"; Host = \"h\"", true),
            ("Outcome = \"unknown\"; Seconds = 1", false),
            ("Outcome = \"unknown\"; EventTypeNumber = 1", false),
            ("Outcome = \"unknown\"; EventTypeNumber = 1; Seconds = 1", false),
            ("Outcome = \"removed\"", false),
            ("Outcome = \"removed\"; Seconds = 1; EventTypeNumber = 1", false),
            ("Host = \"h\"", false),
        ] {
            let ad = parse_ad(format!("[ {attributes} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
            assert_eq!(is_untold(&ad), expected, "{attributes}");
        }
    }
}
