//! Writing a partial result.

use std::io::Write;

use classad::format::{Problem, Severity};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{
    PARTIAL_VERSION, PartialCounts, PartialEvent, PartialFile, PartialFinding, PartialHeader, PartialProblem, form_name,
};
use crate::cli::args::condor_options;
use crate::cli::args::global::TimeOption;
use crate::cli::io::part_plan::inode;
use crate::cli::io::share::WorkShare;
use crate::cli::io::source::AdSource;
use crate::cli::io::source_text::SourceText;
use crate::cli::outcome::{Failure, refuse, refuse_contradictions};
use crate::cli::render::output::{BufferedStdout, out};
use crate::cli::session::Session;
use crate::cli::shown_problems::{ShownCount, ShownProblems};

/// Writes a partial result to standard output.
pub struct PartialWriter {
    lines: PartialLines,
    /// The problems of the current file.
    problems: ShownProblems,
    stops_at_error: bool,
}

impl PartialWriter {
    /// Begins the partial result of these sources. `paths` are the arguments that name files, `settings` the files that
    /// options name.
    ///
    /// # Errors
    ///
    /// An option contradicts partial results, or a source or a setting is not a file.
    pub fn new(
        session: &Session,
        sources: &[AdSource],
        paths: &[String],
        settings: &[String],
    ) -> Result<Self, Failure> {
        let options = &session.options;
        refuse_contradictions(&[
            (options.quiet, "--quiet and --partial cannot be combined: give --quiet to `merge`"),
            (options.now == Some(TimeOption::Dump), "--partial and --now dump cannot be combined: give a time"),
            (options.seed.is_some(), "--partial and --seed cannot be combined"),
            (Session::is_terminal(), "a partial result cannot go to a terminal: write it to a file"),
        ])?;
        let files = sources.iter().map(describe).collect::<Result<_, _>>()?;
        let settings = settings.iter().map(String::as_str).chain(map_paths(session));
        let settings = settings.map(|path| Ok((path.to_owned(), setting_checksum(path)?)));
        let settings = settings.collect::<Result<_, Failure>>()?;
        let header = PartialHeader { settings, ..header(session, paths, None, files)? };
        let mut writer = PartialWriter {
            lines: PartialLines::new(),
            problems: ShownProblems::default(),
            stops_at_error: options.fail_fast,
        };
        writer.lines.write_line(&header)?;
        Ok(writer)
    }

    pub fn begin_file(&mut self, index: usize) -> Result<(), Failure> {
        self.problems = ShownProblems::default();
        self.lines.write(&PartialEvent::File(index))
    }

    /// Writes a problem; `ads_before` is the number of ads before `text`. Returns false if no more of the file is
    /// needed. Beyond the number of problems that a run prints, problems are only counted.
    pub fn add_problem(&mut self, text: &SourceText, problem: Problem, ads_before: usize) -> Result<bool, Failure> {
        let is_error = problem.severity == Severity::Error;
        if self.problems.shows(&problem) {
            let problem = PartialProblem::new(text, &problem.after_ads(ads_before));
            self.lines.write(&PartialEvent::Problem(problem))?;
        }
        Ok(!(is_error && self.stops_at_error))
    }

    /// Writes what the command found.
    pub fn add_finding(&mut self, finding: &impl PartialFinding) -> Result<(), Failure> {
        self.lines.write_line(&PartialEvent::Finding(finding))
    }

    /// Ends the events of a file.
    pub fn end_file(&mut self, source: &AdSource) -> Result<(), Failure> {
        let [errors, warnings] = [&self.problems.errors, &self.problems.warnings].map(ShownCount::not_shown);
        if (errors, warnings) != (0, 0) {
            self.lines.write(&PartialEvent::MoreProblems(errors, warnings))?;
        }
        self.lines.write(&PartialEvent::FileEnd(PartialCounts {
            ads: source.ads_read,
            lines: source.lines_read(),
            bytes: source.bytes_read(),
            unfinished: source.unfinished_line(),
        }))
    }

    /// Ends the partial result, unless the run has failed.
    pub fn finish(self, session: &Session, notes: &impl Serialize) -> Result<(), Failure> {
        if session.error_count() > 0 {
            return Err(Failure::Refused(None));
        }
        self.lines.finish(notes)
    }
}

/// The lines of a partial result, which are written to standard output.
pub struct PartialLines {
    out: BufferedStdout,
    /// The checksum of the lines written so far.
    checksum: Sha256,
}

impl PartialLines {
    pub fn new() -> Self {
        PartialLines { out: out(), checksum: Sha256::new() }
    }

    pub fn write(&mut self, event: &PartialEvent) -> Result<(), Failure> {
        self.write_line(event)
    }

    pub fn write_line(&mut self, line: &impl Serialize) -> Result<(), Failure> {
        let mut text = serde_json::to_vec(line).map_err(std::io::Error::from)?;
        text.push(b'\n');
        self.checksum.update(&text);
        Ok(self.out.write_all(&text)?)
    }

    /// Writes the notes, the checksum and the end.
    pub fn finish(mut self, notes: &impl Serialize) -> Result<(), Failure> {
        let notes = serde_json::to_value(notes).map_err(std::io::Error::from)?;
        self.write(&PartialEvent::Notes(notes))?;
        let checksum = checksum_text(self.checksum.clone());
        self.write(&PartialEvent::Checksum(checksum))?;
        self.write(&PartialEvent::End)
    }
}

/// Returns a checksum in hexadecimal digits.
pub fn checksum_text(checksum: Sha256) -> String {
    checksum.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

/// Returns the header of this run. `paths` are the arguments that name files and are left out.
pub fn header(
    session: &Session,
    paths: &[String],
    share: Option<WorkShare>,
    files: Vec<PartialFile>,
) -> Result<PartialHeader, Failure> {
    Ok(PartialHeader {
        classad_partial: PARTIAL_VERSION,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        arguments: own_arguments_without(session, paths)?,
        host: session.partial_host.clone().unwrap_or_default(),
        dialect: session.dialect().to_string(),
        share,
        now: share.and_then(|_| session.context().now),
        settings: Vec::new(),
        files,
    })
}

/// Describes a source that is a file or a part of one.
pub fn describe(source: &AdSource) -> Result<PartialFile, Failure> {
    let (start, end) = source.part.as_ref().map_or((0, None), |part| (part.start, part.end));
    let (form, is_empty) = (form_name(source.form), !source.has_content());
    Ok(PartialFile { form, start, end, is_empty, ..describe_setting(source.path())? })
}

/// Describes a file that is not one of ads.
pub fn describe_setting(path: &str) -> Result<PartialFile, Failure> {
    let metadata = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file);
    let Some(metadata) = metadata else { return refuse(format!("--partial needs regular files, not {path}")) };
    let (size, inode) = (metadata.len(), inode(&metadata));
    Ok(PartialFile { file: path.to_owned(), form: String::new(), start: 0, end: None, size, inode, is_empty: true })
}

/// Returns the checksum of the text of a file that is not one of ads.
pub fn setting_checksum(path: &str) -> Result<String, Failure> {
    describe_setting(path)?;
    let text = std::fs::read(path).map_err(|error| Failure::unreadable(path, &error))?;
    Ok(checksum_text(Sha256::new_with_prefix(text)))
}

/// Returns the files of `--map`.
pub fn map_paths(session: &Session) -> impl Iterator<Item = &str> {
    session.options.map.iter().filter_map(|map| Some(map.split_once('=')?.1))
}

/// Returns the arguments of this run, as [`arguments_without`] does.
fn own_arguments_without(session: &Session, paths: &[String]) -> Result<Vec<String>, Failure> {
    let given =
        condor_options::translate(std::env::args_os().collect(), &session.command_tree).map_err(Failure::refused)?;
    let given = given.into_iter().skip(1).map(|argument| argument.into_string().ok());
    match given.collect() {
        Some(given) => Ok(arguments_without(given, paths)),
        None => refuse("--partial does not work with an argument that is not UTF-8"),
    }
}

/// Returns arguments without those that name files, and without `--partial`, `--share` and `--threads`. A file behind
/// `--pool` stays.
pub fn arguments_without(given: Vec<String>, paths: &[String]) -> Vec<String> {
    let mut arguments = without_options(given, &["--files-from", "--threads", "--share"]);
    // Files stand behind the constraint, which may be spelt like one of them.
    for path in paths.iter().rev() {
        let is_operand = |at: &usize| arguments[*at] == *path && (*at == 0 || arguments[*at - 1] != "--pool");
        if let Some(at) = (0..arguments.len()).rev().find(is_operand) {
            arguments.remove(at);
        }
    }
    arguments
}

/// Returns arguments without these options and their values, and without `--partial`.
pub fn without_options(given: Vec<String>, options: &[&str]) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut given = given.into_iter();
    while let Some(argument) = given.next() {
        let (name, value) = argument.split_once('=').map_or((&argument[..], None), |(name, value)| (name, Some(value)));
        if options.contains(&name) {
            if value.is_none() {
                given.next();
            }
        } else if name != "--partial" {
            arguments.push(argument);
        }
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::{arguments_without, checksum_text, describe_setting, without_options};
    use sha2::{Digest, Sha256};

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn options_go_with_their_values() {
        for (given, expected) in [
            ("", ""),
            ("query x", "query x"),
            ("query --now 5 --threads=3 x", "query x"),
            ("--partial query --partial=ap1 x", "query x"),
            ("query --now=5 --nows 6 a=b", "query --nows 6 a=b"),
            ("query x --now", "query x"),
        ] {
            assert_eq!(without_options(words(given), &["--now", "--threads"]), words(expected), "{given}");
        }
    }

    #[test]
    fn files_go_and_what_is_spelt_like_them_stays() {
        for (given, paths, expected) in [
            ("query true a b", "a b", "query true"),
            ("query a a", "a", "query a"),
            ("query a --pool a a", "a", "query a --pool a"),
            ("query a --pool a", "a", "query --pool a"),
            ("query a --pool a a", "a a", "query --pool a"),
            ("a", "a", ""),
            ("query true a", "c", "query true a"),
            ("query --files-from list --threads 3 --share=1/2 --partial x", "", "query x"),
        ] {
            assert_eq!(arguments_without(words(given), &words(paths)), words(expected), "{given}");
        }
    }

    #[test]
    fn a_file_is_described_by_its_size() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ads");
        std::fs::write(&path, "A = 1\n").unwrap();
        let file = describe_setting(path.to_str().unwrap()).unwrap();
        assert_eq!((file.file.as_str(), file.form.as_str()), (path.to_str().unwrap(), ""));
        assert_eq!((file.start, file.end, file.size, file.is_empty), (0, None, 6, true));
        assert!(describe_setting(folder.path().to_str().unwrap()).is_err());
        let expected = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(checksum_text(Sha256::new()), expected);
    }
}
