//! Opening the files and pipes of a command line, and reading ads from them.

use std::io::{self, IsTerminal};
use std::sync::Arc;

use classad::ad::{Ad, Dialect, Expression, Name};
use classad::eval::{Context, FreeNames};
use classad::format::{AdEntry, FileFormat, ReadCache, Stream};
use classad::protocol::{IDENTITY_ATTRIBUTES, display_name};
use classad::submit::SubmitSettings;
use classad::text::counted;

use super::configuration::LoadedConfiguration;
use super::dump_time::{newest_times, set_dump_time};
use super::event_years::{date_events, note_years};
use super::file_part::FilePart;
use super::named_ad::NamedAd;
use super::source::AdSource;
use super::source_text::SourceText;
use super::whole_file::open;
use crate::cli::args::global::TimeOption;
use crate::cli::outcome::{Failure, io_reason, refuse};
use crate::cli::session::Session;

/// Maximum number of files that stay open between detecting their forms and reading them.
const MAX_OPEN_FILES: usize = 16;

/// Opens the files at `paths`, or standard input if there are none; `-` is standard input, too. Files that cannot be
/// opened are reported and left out.
///
/// # Errors
///
/// Standard input is named twice, or with `--fail-fast` a file cannot be opened or is empty.
pub fn open_sources(session: &mut Session, paths: &[String]) -> Result<Vec<AdSource>, Failure> {
    let paths = or_stdin(paths);
    check_stdin(&paths)?;
    session.ask_live(&paths)?;
    let mut sources = Vec::new();
    let form = session.options.from;
    let limits = session.options.stream_limits();
    for path in &paths {
        let name = if path == "-" { "standard input" } else { path };
        if let Some(part) = FilePart::of_argument(path) {
            sources.extend(open_part(session, path, part, form)?);
            continue;
        }
        if path == "-" && io::stdin().is_terminal() {
            session.note("reading ads from the terminal; press Ctrl-D to end the input");
        }
        let begin = |reader| match form {
            Some(_) => Stream::with_limits(reader, form, limits),
            None => Stream::of_file(reader, path, limits),
        };
        match open(path).and_then(begin) {
            Ok(stream) => {
                let mut source = AdSource::new(name, stream).with_limits(limits);
                if source.form == FileFormat::Submit {
                    source.submit = Some(submit_settings(session, name)?);
                }
                if source.form == FileFormat::EventLog {
                    date_events(session, &mut source, path);
                }
                // A packed file counts with its packed size.
                match std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file) {
                    Some(file) => session.count_input(file.len()),
                    None => source.run_budgets = session.context().run_budgets,
                }
                // An empty file is an empty queue, but may also be a failed download.
                if path != "-" && !source.has_content() {
                    note_empty(session, name);
                }
                if sources.len() >= MAX_OPEN_FILES {
                    source.close_until_read();
                }
                sources.push(source);
            }
            Err(error) => report_unreadable(session, name, &error)?,
        }
    }
    Ok(sources)
}

/// Returns what is known of the access point where a submit file is submitted.
fn submit_settings(session: &mut Session, name: &str) -> Result<Arc<SubmitSettings>, Failure> {
    if let Some(path) = session.options.submit_config.clone()
        && session.submit_configuration.is_none()
    {
        session.submit_configuration = Some(LoadedConfiguration::read(session, &path)?.configuration);
    }
    let user = ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok()).filter(|user| !user.is_empty());
    let folder = std::env::current_dir().unwrap_or_default();
    Ok(Arc::new(SubmitSettings {
        configuration: session.submit_configuration.clone().unwrap_or_default(),
        context: Context { dialect: Dialect::Condor, ..session.context() },
        allows_environment: session.options.allow_env,
        working_directory: folder.to_string_lossy().into_owned(),
        file_name: name.to_owned(),
        user: user.unwrap_or_else(|| "unknown".to_owned()),
        ..SubmitSettings::default()
    }))
}

/// Opens a part of a file. A file that cannot be read in parts is reported.
fn open_part(
    session: &mut Session,
    name: &str,
    part: FilePart,
    form: Option<FileFormat>,
) -> Result<Option<AdSource>, Failure> {
    let detected = match part.detect(form) {
        Ok(detected) => detected,
        Err(error) => return report_unreadable(session, name, &error).map(|()| None),
    };
    let size = std::fs::metadata(&part.path).map_or(0, |file| file.len());
    session.count_input(size);
    if let Some(end) = part.end.filter(|end| *end > size) {
        session.warning(&format!("{name}: {} has only {size} bytes, but the part ends at {end}", part.path));
    }
    if detected.is_none() && part.start == 0 {
        note_empty(session, &part.path);
    }
    let limits = session.options.stream_limits();
    Ok(Some(AdSource::of_part(name, part, detected).with_limits(limits)))
}

/// Prints a note that a file is empty. A partial result leaves the note to the merge.
pub fn note_empty(session: &Session, name: &str) {
    if session.partial_host.is_none() {
        session.note(&format!("{name} has no ads"));
    }
}

/// Opens files or standard input, and decides the dialect and the time by the sources.
pub fn open_decided(session: &mut Session, paths: &[String]) -> Result<Vec<AdSource>, Failure> {
    let sources = open_sources(session, paths)?;
    decide_dialect_and_time(session, &sources);
    Ok(sources)
}

/// Decides the dialect by the forms of the sources and, with `--now dump`, the time by their ads.
pub fn decide_dialect_and_time<'s>(session: &mut Session, sources: impl IntoIterator<Item = &'s AdSource>) {
    let sources: Vec<&AdSource> = sources.into_iter().collect();
    session.decide_dialect(sources.iter().copied());
    decide_time(session, sources);
}

/// With `--now dump`, makes the newest time that an ad of the sources tells the time of evaluation.
pub fn decide_time<'s>(session: &mut Session, sources: impl IntoIterator<Item = &'s AdSource>) {
    if session.options.now != Some(TimeOption::Dump) {
        return;
    }
    let sources: Vec<&AdSource> = sources.into_iter().collect();
    if let Some(source) = sources.iter().find(|source| !source.is_file()) {
        let name = &source.name;
        return session.error(&format!(
            "--now dump must read the input twice, but {name} can be read only once: give a file, or --now TIME"
        ));
    }
    match newest_times(sources, &session.context()) {
        Ok(times) => set_dump_time(session, &times),
        Err(error) => {
            let reason = io_reason(&error);
            session.error(&format!("--now dump must read the input twice, but {reason}"));
        }
    }
}

/// Returns the paths, or the path `-` of standard input if there are none.
pub fn or_stdin(paths: &[String]) -> Vec<String> {
    if paths.is_empty() { vec!["-".to_owned()] } else { paths.to_vec() }
}

/// Refuses paths that name standard input twice.
pub fn check_stdin<'p>(paths: impl IntoIterator<Item = &'p String>) -> Result<(), Failure> {
    let count = paths.into_iter().filter(|path| *path == "-").count();
    if count > 1 { refuse("standard input can be read only once") } else { Ok(()) }
}

/// Opens the sources of requests and offers, and decides the dialect by the forms of all of them. Without paths,
/// requests are read from standard input, and there are no offers.
pub fn open_sides(
    session: &mut Session,
    requests: &[String],
    offers: &[String],
) -> Result<[Vec<AdSource>; 2], Failure> {
    check_stdin(or_stdin(requests).iter().chain(offers))?;
    session.ask_live(requests.iter().chain(offers))?;
    let requests = open_sources(session, requests)?;
    let offers = if offers.is_empty() { Vec::new() } else { open_sources(session, offers)? };
    decide_dialect_and_time(session, requests.iter().chain(&offers));
    Ok([requests, offers])
}

/// Notes files that are read on both sides, whose ads can then match themselves. Links to a file are the file.
pub fn note_files_of_both_sides(session: &Session, [requests, offers]: &[Vec<AdSource>; 2]) {
    let file = |source: &AdSource| std::fs::canonicalize(source.path()).ok();
    let offered: Vec<_> = offers.iter().filter_map(file).collect();
    for source in requests.iter().filter(|source| file(source).is_some_and(|file| offered.contains(&file))) {
        session.note(&format!("{} has requests and offers: an ad in it can match itself", source.name));
    }
}

/// Reports an error after which the run can go on.
///
/// # Errors
///
/// `--fail-fast` is given.
pub fn report_error(session: &mut Session, message: &str) -> Result<(), Failure> {
    session.error(message);
    if session.options.fail_fast { Err(Failure::Refused(None)) } else { Ok(()) }
}

/// Reports that a source cannot be opened, as [`report_error`] does.
pub fn report_unreadable(session: &mut Session, name: &str, error: &io::Error) -> Result<(), Failure> {
    report_error(session, &format!("cannot read {name}: {}", io_reason(error)))
}

/// Reports that reading a source failed before its end.
pub fn report_read_error(session: &mut Session, source: &AdSource, error: &io::Error) {
    session.error(&format!("cannot read {} to its end: {}", source.name, io_reason(error)));
}

/// Default of `--max-packed-ads`: maximum number of ads of one compressed file that are held in memory. Tiny ads that repeat each other compress to a
/// thousandth, and each takes some 400 bytes in memory.
pub const MAX_HELD_PACKED_ADS: usize = 1_000_000;

/// Reads all ads of the sources and names them. Of a compressed source with more ads than its limit, the
/// first ones are read, and an error is reported.
pub fn read_named_ads(
    session: &mut Session,
    mut sources: Vec<AdSource>,
    id: Option<&Expression>,
) -> Result<Vec<NamedAd>, Failure> {
    let mut ads = Vec::new();
    for source in &mut sources {
        let limit = ads.len().saturating_add(held_ads_limit(session, source));
        let mut has_more = false;
        for_each_ad(session, [&mut *source], |session, text, entry| {
            has_more = ads.len() == limit;
            if !has_more {
                ads.push(name_ad(session, text, entry, id));
            }
            Ok(!has_more)
        })?;
        if has_more {
            report_held_ads(session, source);
        }
    }
    Ok(ads)
}

/// Returns the maximum number of ads of a source that are held in memory.
pub fn held_ads_limit(session: &Session, source: &AdSource) -> usize {
    if source.is_compressed() { session.options.max_packed_ads.unwrap_or(MAX_HELD_PACKED_ADS) } else { usize::MAX }
}

/// Reports that a compressed source has more ads than [`held_ads_limit`].
pub fn report_held_ads(session: &mut Session, source: &AdSource) {
    let most = held_ads_limit(session, source);
    let reason =
        format!("it is compressed and has more than {}; unpack it, or raise --max-packed-ads", counted(most, "ad"));
    report_read_error(session, source, &io::Error::new(io::ErrorKind::InvalidData, reason));
}

/// Names an ad of `text`: by the value of `id`, else by its identity in the advertising protocol, else by its location.
pub fn name_ad(session: &Session, text: &SourceText, entry: AdEntry, id: Option<&Expression>) -> NamedAd {
    let name = display_name(&entry.ad, id, &session.context());
    NamedAd::located(text, entry, name)
}

/// Reads the next block of a source; `None` at the end of the source and after a read error, which is reported.
pub fn next_block(session: &mut Session, source: &mut AdSource) -> Option<SourceText> {
    let block = source.next_block().unwrap_or_else(|error| {
        report_read_error(session, source, &error);
        None
    });
    note_years(session, source);
    if block.is_none() {
        note_unfinished(session, source);
    }
    block
}

/// Prints a note about the record that was left out at the end of a source, if any. A partial result keeps it.
pub fn note_unfinished(session: &Session, source: &mut AdSource) {
    if session.partial_host.is_some() {
        return;
    }
    if let Some(line) = source.take_unfinished_line() {
        session.note(&unfinished_note(&source.name, line));
    }
}

/// Returns the note about the record that was left out at the end of a source.
pub fn unfinished_note(name: &str, line: usize) -> String {
    format!("{name}:{line}: the last record is skipped: it has no banner after it")
}

/// Calls `visit` for each ad of the sources, with the text in which the ad stands, until `visit` returns `false`. Bad
/// ads are reported and skipped.
///
/// # Errors
///
/// The run is interrupted, an ad is bad and `--fail-fast` is given, or `visit` fails.
pub fn for_each_ad<'s>(
    session: &mut Session,
    sources: impl IntoIterator<Item = &'s mut AdSource>,
    mut visit: impl FnMut(&mut Session, &SourceText, AdEntry) -> Result<bool, Failure>,
) -> Result<(), Failure> {
    let mut cache = ReadCache::new(session.dialect());
    for source in sources {
        while let Some(text) = next_block(session, source) {
            for item in text.block.ads_cached(&mut cache) {
                source.count_ad(&item);
                match item {
                    Ok(entry) => {
                        session.check_interrupt()?;
                        if !visit(session, &text, entry)? {
                            return Ok(());
                        }
                    }
                    Err(problem) => session.report_problem(&text, &problem)?,
                }
            }
        }
    }
    Ok(())
}

/// Opens one file; `None` without a path.
pub fn open_optional(session: &mut Session, path: Option<&String>) -> Result<Option<AdSource>, Failure> {
    let Some(path) = path else { return Ok(None) };
    let mut sources = open_sources(session, std::slice::from_ref(path))?;
    sources.pop().map(Some).ok_or(Failure::Refused(None))
}

/// Reads the first ad of a source; `None` without a source.
///
/// # Errors
///
/// The source has no ad.
pub fn read_first_ad(session: &mut Session, source: Option<AdSource>) -> Result<Option<Ad>, Failure> {
    let Some(mut source) = source else { return Ok(None) };
    let mut first = None;
    for_each_ad(session, [&mut source], |_, _, entry| {
        first = Some(entry.ad);
        Ok(false)
    })?;
    first.map(Some).ok_or_else(|| Failure::refused(format!("there is no ad in {}", source.name)))
}

/// Returns the names that [`name_ad`] looks up in each ad.
pub fn identity_names() -> FreeNames {
    let mut names = FreeNames::default();
    names.names.extend(IDENTITY_ATTRIBUTES.iter().map(|name| Name::new(name)));
    names
}
