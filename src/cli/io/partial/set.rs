//! The partial results of one run over many files: whether they belong together, and their events in order.

use std::collections::BTreeMap;
use std::io::{self, BufRead};
use std::sync::Arc;

use classad::ad::Dialect;
use classad::format::{FileFormat, Problem, Severity};
use classad::text::{counted, with_commas};

use super::scanned::{ScannedPartials, Segment, join_faults};
use super::{DAMAGED, PartialCounts, PartialEvent, PartialFinding, PartialProblem, form_of};
use crate::cli::io::file_part::FilePart;
use crate::cli::io::part_plan::{PartPlan, PlannedFile};
use crate::cli::io::source_text::SourceText;
use crate::cli::io::{history_files, input};
use crate::cli::outcome::{Failure, refuse};
use crate::cli::session::Session;

/// Partial results that tile their files.
pub struct PartialSet {
    /// The command line that they are of, without files.
    pub arguments: Vec<String>,
    pub dialect: Dialect,
    /// The form of the first file.
    pub form: FileFormat,
    /// The parts, in the order in which one run would read them.
    segments: Vec<Segment>,
    /// What the command knew of all files of each partial result, in the order of their first parts.
    pub notes: Vec<serde_json::Value>,
}

/// A file whose parts are merged, as far as they have been.
#[derive(Clone)]
pub struct MergedFile {
    pub name: String,
    pub form: FileFormat,
    /// Number of ads in the parts before.
    pub ads_before: usize,
    /// Number of lines in the parts before.
    pub lines_before: usize,
}

impl PartialSet {
    /// Puts the parts of partial results in order: files by their names, those of one history by their times.
    ///
    /// # Errors
    ///
    /// They are not of one run, or their parts do not tile the files, or are not those of the plan. The message lists what
    /// to run again.
    pub fn new(scanned: ScannedPartials, plan: Option<&PartPlan>) -> Result<Self, Failure> {
        let ScannedPartials { partials, arguments, dialect, mut faults } = scanned;
        let mut by_file: BTreeMap<String, Vec<Segment>> = BTreeMap::new();
        let mut notes: BTreeMap<Arc<str>, serde_json::Value> = BTreeMap::new();
        for partial in partials {
            for segment in partial.segments {
                notes.entry(Arc::clone(&segment.path)).or_insert_with(|| partial.notes.clone());
                by_file.entry(segment.file.file.clone()).or_default().push(segment);
            }
        }
        let names: Vec<String> = by_file.keys().cloned().collect();
        let mut planned = plan.map(PartPlan::by_file);
        let mut segments = Vec::new();
        for name in history_files::in_order_of_time(&names) {
            let mut parts = by_file.remove(&name).unwrap_or_default();
            parts.sort_by_key(|part| (part.file.start, part.file.end.unwrap_or(u64::MAX)));
            let expected = planned.as_mut().map(|planned| planned.remove(name.as_str()).unwrap_or_default());
            faults.extend(tiling_faults(&name, &parts, expected.as_deref()));
            segments.extend(parts);
        }
        let missing: Vec<String> =
            planned.iter().flat_map(BTreeMap::values).flatten().map(|file| file.argument()).collect();
        if !missing.is_empty() {
            let what = if missing.len() == 1 { "a part is" } else { "parts are" };
            faults.push(format!("{what} missing: run the command on {}", missing.join(" ")));
        }
        if !faults.is_empty() {
            return refuse(join_faults(&faults));
        }
        let mut ordered = Vec::new();
        for segment in &segments {
            ordered.extend(notes.remove(&segment.path));
        }
        let form = segments.first().map_or(FileFormat::Long, |segment| form_of(&segment.file.form));
        Ok(PartialSet { arguments, dialect, form, segments, notes: ordered })
    }

    /// Prints the notes about empty files.
    pub fn note_empty_files(&self, session: &Session) {
        for parts in self.segments.chunk_by(|part, next| part.file.file == next.file.file) {
            let file = &parts[0].file;
            if file.is_empty && file.start == 0 {
                input::note_empty(session, &file.file);
            }
        }
    }

    /// Passes what the command found to `consume`, in the order in which one run finds it, and reports the problems.
    ///
    /// # Errors
    ///
    /// As for [`Session::report_problem`]; a partial result cannot be read again; `consume` fails.
    pub fn replay<F: PartialFinding>(
        &self,
        session: &mut Session,
        consume: &mut dyn FnMut(&mut Session, &MergedFile, F) -> Result<bool, Failure>,
    ) -> Result<(), Failure> {
        let mut file: Option<MergedFile> = None;
        for segment in &self.segments {
            let mut merged = file
                .take()
                .filter(|file| file.name == segment.file.file)
                .unwrap_or_else(|| MergedFile::new(segment.file.file.clone(), form_of(&segment.file.form)));
            let unreadable = |error: &io::Error| Failure::unreadable(&segment.path, error);
            let mut lines = segment.open().map_err(|error| unreadable(&error))?;
            let mut found = 0_usize;
            let counts = loop {
                session.check_interrupt()?;
                let mut line = String::new();
                lines.read_line(&mut line).map_err(|error| unreadable(&error))?;
                let Ok(event) = serde_json::from_str(&line) else { return refuse(DAMAGED) };
                match event {
                    PartialEvent::Problem(problem) => {
                        let (text, problem) = merged.place(problem);
                        session.report_problem(&text, &problem)?;
                    }
                    PartialEvent::MoreProblems(errors, warnings) => {
                        session.count_problems(Severity::Error, errors);
                        session.count_problems(Severity::Warning, warnings);
                    }
                    PartialEvent::Finding(finding) => {
                        found = found.saturating_add(PartialFinding::ads(&finding));
                        if !consume(session, &merged, finding)? {
                            return Ok(());
                        }
                    }
                    PartialEvent::FileEnd(counts) => break counts,
                    _ => {}
                }
            };
            if found > counts.ads {
                let found = counted(found, "ad");
                let path = &segment.path;
                return refuse(format!("{path} is damaged: it found {found} in {}", with_commas(counts.ads)));
            }
            merged.end_part(session, &counts);
            file = Some(merged);
        }
        Ok(())
    }
}

impl MergedFile {
    /// Makes a file before the first of its parts is merged.
    pub fn new(name: String, form: FileFormat) -> Self {
        MergedFile { name, form, ads_before: 0, lines_before: 0 }
    }

    /// Returns a problem of the next part and its text as they are in the whole file.
    pub fn place(&self, problem: PartialProblem) -> (SourceText, Problem) {
        let text = problem.excerpt.into_source(self);
        let (start, end) = problem.range;
        let placed = Problem {
            help: problem.help,
            related: problem.related.map(|(start, end, label)| (start..end, label)),
            ..Problem::error_at(start..end, problem.ad_number, problem.message).after_ads(self.ads_before)
        };
        (text, if problem.is_error { placed } else { placed.as_warning() })
    }

    fn end_part(&mut self, session: &Session, counts: &PartialCounts) {
        if let Some(line) = counts.unfinished {
            session.note(&input::unfinished_note(&self.name, line.saturating_add(self.lines_before)));
        }
        self.ads_before = self.ads_before.saturating_add(counts.ads);
        self.lines_before = self.lines_before.saturating_add(counts.lines);
    }
}

/// Returns the gaps and overlaps of the parts of a file, as messages. `planned` are the parts of the file in a plan.
/// Precondition: the parts are sorted by their starts.
fn tiling_faults(name: &str, parts: &[Segment], planned: Option<&[&PlannedFile]>) -> Vec<String> {
    let mut faults = Vec::new();
    if planned.is_some_and(<[_]>::is_empty) {
        return vec![format!("{name} is not in the plan")];
    }
    let planned = planned.unwrap_or_default();
    for file in planned.iter().take(1) {
        let was_replaced = |part: &Segment| file.inode != 0 && part.file.inode != 0 && part.file.inode != file.inode;
        if parts.iter().any(was_replaced) {
            return vec![format!("{name} in the plan is another file: make a new plan, and run all parts again")];
        }
        if parts.iter().any(|part| Some(part.file.size) < file.size) {
            return vec![format!("{name} was longer when the plan was made: make a new plan, and run all parts again")];
        }
    }
    let part = |start, end| FilePart { path: name.to_owned(), start, end }.to_string();
    let size = parts.iter().map(|part| part.file.size).min().unwrap_or(0);
    let last = parts.iter().filter_map(|part| part.file.end).max().unwrap_or(0);
    if let Some(other) = parts.iter().find(|part| part.file.inode != parts[0].file.inode) {
        let partials = [&parts[0].path, &other.path];
        let fault = format!("{} and {} come from two different files named {name}", partials[0], partials[1]);
        // Whether the parts of two files tile one says nothing.
        return vec![format!("{fault}; for files on several hosts, give --partial=HOST, else repeat the runs")];
    }
    if parts.iter().any(|part| part.file.size != size) && size < last {
        faults.push(format!("{name} became shorter between the runs: run all its parts again"));
    }
    // `None` is the end of the file.
    let mut covered = Some(0);
    for Segment { file, path, .. } in parts {
        match covered {
            Some(covered) if file.start > covered => {
                faults.push(format!("a part is missing: run the command on {}", part(covered, Some(file.start))));
            }
            Some(covered) if file.start == covered => {}
            _ if file.end == Some(file.start) => {}
            _ => faults.push(format!("{path}: {} overlaps with another part", file.argument())),
        }
        covered = covered.and_then(|covered| file.end.map(|end| end.max(covered)));
    }
    // A file may grow while its planned parts are read.
    let planned_end = planned.iter().filter_map(|file| file.end).max();
    if let Some(covered) = covered.filter(|covered| *covered < planned_end.unwrap_or(size)) {
        faults.push(format!("a part is missing: run the command on {}", part(covered, planned_end)));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::super::PartialFile;
    use super::{PlannedFile, Segment, tiling_faults};

    /// A part of the file `f`, which has some bytes and a number: partial result, start and end.
    fn of(path: &str, start: u64, end: Option<u64>, size: u64, inode: u64) -> Segment {
        let file =
            PartialFile { file: "f".to_owned(), form: "long".to_owned(), start, end, size, inode, is_empty: false };
        Segment { path: path.into(), offset: 0, file }
    }

    fn part(path: &str, start: u64, end: Option<u64>) -> Segment {
        of(path, start, end, 100, 7)
    }

    fn planned(end: Option<u64>, size: Option<u64>, inode: u64) -> PlannedFile {
        PlannedFile { file: "f".to_owned(), start: 0, end, size, inode }
    }

    #[test]
    fn parts_of_a_file_tile_it() {
        let missing = |range: &str| format!("a part is missing: run the command on f@{range}");
        let overlaps = |path: &str, range: &str| format!("{path}: f{range} overlaps with another part");
        let shorter = "f became shorter between the runs: run all its parts again".to_owned();
        let two = "p and q come from two different files named f; for files on several hosts, give \
                   --partial=HOST, else repeat the runs";
        let (a, b, c) = (Some(40), Some(60), Some(100));
        for (parts, expected) in [
            (vec![part("p", 0, None)], vec![]),
            (vec![part("p", 0, a), part("q", 40, None)], vec![]),
            (vec![part("p", 0, a), part("q", 40, c)], vec![]),
            (vec![part("p", 0, a), part("q", 40, Some(99))], vec![missing("99-")]),
            (vec![part("p", 0, a), part("q", 40, Some(101))], vec![]),
            (vec![part("p", 1, None)], vec![missing("0-1")]),
            (vec![part("p", 0, a), part("q", 60, None)], vec![missing("40-60")]),
            (vec![part("p", 0, b), part("q", 40, None)], vec![overlaps("q", "@40-")]),
            (vec![part("p", 0, None), part("q", 0, None)], vec![overlaps("q", "")]),
            (vec![part("p", 0, None), part("q", 40, b)], vec![overlaps("q", "@40-60")]),
            // An empty part overlaps with nothing.
            (vec![part("p", 0, b), part("q", 40, a), part("r", 60, None)], vec![]),
            (vec![part("p", 0, None), part("q", 40, a)], vec![]),
            // A part within another one does not make it end earlier.
            (vec![part("p", 0, b), part("q", 20, a), part("r", 60, c)], vec![overlaps("q", "@20-40")]),
            // The file may have grown between the runs, but not shrunk.
            (vec![of("p", 0, a, 100, 7), of("q", 40, None, 120, 7)], vec![]),
            (vec![of("p", 0, c, 120, 7), of("q", 100, None, 100, 7)], vec![]),
            (vec![of("p", 0, Some(101), 120, 7), of("q", 101, None, 100, 7)], vec![shorter]),
            (vec![of("p", 0, a, 100, 7), of("q", 40, None, 100, 8)], vec![two.to_owned()]),
        ] {
            let ranges: Vec<_> = parts.iter().map(|part| (part.file.start, part.file.end)).collect();
            assert_eq!(tiling_faults("f", &parts, None), expected, "{ranges:?}");
        }
    }

    #[test]
    fn parts_of_a_file_are_those_of_the_plan() {
        let another = "f in the plan is another file: make a new plan, and run all parts again".to_owned();
        let longer = "f was longer when the plan was made: make a new plan, and run all parts again".to_owned();
        let missing = |range: &str| format!("a part is missing: run the command on f@{range}");
        let whole = || vec![part("p", 0, None)];
        let c = Some(100);
        for (parts, planned, expected) in [
            (whole(), vec![], vec!["f is not in the plan".to_owned()]),
            (whole(), vec![planned(None, c, 7)], vec![]),
            (whole(), vec![planned(None, c, 8)], vec![another]),
            // A plan of lines knows no numbers and sizes.
            (whole(), vec![planned(None, None, 0)], vec![]),
            (vec![of("p", 0, None, 100, 0)], vec![planned(None, c, 8)], vec![]),
            (whole(), vec![planned(None, Some(101), 7)], vec![longer]),
            (whole(), vec![planned(None, Some(99), 7)], vec![]),
            // A file may grow while its parts are read: the plan says where it ends.
            (vec![part("p", 0, Some(90))], vec![planned(Some(90), Some(90), 7)], vec![]),
            (vec![part("p", 0, Some(90))], vec![planned(c, c, 7)], vec![missing("90-100")]),
            (
                vec![part("p", 0, Some(90))],
                vec![planned(Some(90), None, 7), planned(Some(95), None, 7)],
                vec![missing("90-95")],
            ),
            (vec![part("p", 0, c)], vec![planned(Some(101), c, 7)], vec![missing("100-101")]),
        ] {
            let planned: Vec<&PlannedFile> = planned.iter().collect();
            assert_eq!(tiling_faults("f", &parts, Some(&planned)), expected, "{:?}", planned.first());
        }
    }
}
