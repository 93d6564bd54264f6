//! Plans of parts of files: what each of many processes reads.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io;

use classad::format::{FileFormat, Stream, has_parts};
use serde::{Deserialize, Serialize};

use super::file_part::FilePart;
use super::share::WorkShare;
use super::whole_file::read_whole;
use crate::cli::outcome::{Failure, refuse};

/// Version of the form of a plan.
pub const PLAN_VERSION: u32 = 1;

/// The parts that many processes read, and the files as they were when the plan was made.
#[derive(Debug, Serialize, Deserialize)]
pub struct PartPlan {
    /// Version of the form.
    pub classad_plan: u32,
    /// The time of `--now` for all parts, in seconds since 1970. `None` if the plan is only lines.
    pub now: Option<i64>,
    /// Number of shares of the work: that many processes read all files. `None` if each process reads its own part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shares: Option<usize>,
    /// For each process the files and parts that it reads; with `shares` one list for all of them.
    pub parts: Vec<Vec<PlannedFile>>,
}

/// A file of a plan, whole or in part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlannedFile {
    pub file: String,
    /// Byte offset at which the part begins.
    pub start: u64,
    /// Byte offset at which the part ends; `null` for a file that is read whole.
    pub end: Option<u64>,
    /// Number of bytes of the whole file when the plan was made. `None` if the plan is only lines.
    pub size: Option<u64>,
    /// The number of the file in its file system; 0 if it is unknown.
    pub inode: u64,
}

/// A plan in the making: large files are cut, small ones put together.
pub struct PartPlanner {
    /// Number of bytes of a part.
    part_bytes: u64,
    parts: Vec<Vec<PlannedFile>>,
    /// Number of bytes of the last part.
    last_bytes: u64,
}

impl PlannedFile {
    /// Returns the argument that names the file or its part.
    pub fn argument(&self) -> String {
        if self.start == 0 && self.end.is_none() {
            return self.file.clone();
        }
        FilePart { path: self.file.clone(), start: self.start, end: self.end }.to_string()
    }
}

impl PartPlanner {
    pub fn new(part_bytes: u64) -> Self {
        PartPlanner { part_bytes, parts: Vec::new(), last_bytes: 0 }
    }

    /// Adds a file: in parts, or whole if its form has no parts. `form` is that of `--from`.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not a regular file.
    pub fn add(&mut self, path: &str, form: Option<FileFormat>) -> io::Result<()> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "only files have parts"));
        }
        let stream = Stream::new(Box::new(file), form)?;
        let (bytes, inode) = (metadata.len(), inode(&metadata));
        let planned = |start, end| PlannedFile { file: path.to_owned(), start, end, size: Some(bytes), inode };
        if stream.is_compressed() || !stream.form().is_some_and(has_parts) {
            self.add_part(planned(0, None), bytes);
            return Ok(());
        }
        let mut start = 0;
        loop {
            let end = bytes.min(start + self.part_bytes);
            self.add_part(planned(start, Some(end)), end - start);
            if end == bytes {
                return Ok(());
            }
            start = end;
        }
    }

    /// Adds a file to the last part, or to a new part if the last one would have too many bytes.
    fn add_part(&mut self, file: PlannedFile, bytes: u64) {
        let is_full = self.last_bytes.saturating_add(bytes) > self.part_bytes;
        if let Some(part) = self.parts.last_mut().filter(|_| !is_full) {
            part.push(file);
        } else {
            self.parts.push(vec![file]);
            self.last_bytes = 0;
        }
        self.last_bytes += bytes;
    }

    pub fn finish(self, now: Option<i64>) -> PartPlan {
        PartPlan { classad_plan: PLAN_VERSION, now, shares: None, parts: self.parts }
    }
}

/// The option that names a share in a plan of lines.
const SHARE_OPTION: &str = "--share";

impl PartPlan {
    /// Plans shares of the work on files, which all processes read.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or is not a regular file.
    pub fn of_shares(count: usize, files: &[String], now: Option<i64>) -> Result<Self, Failure> {
        let mut planned = Vec::new();
        for argument in files {
            let part = FilePart::of_argument(argument);
            let part = part.unwrap_or_else(|| FilePart { path: argument.clone(), start: 0, end: None });
            let metadata = std::fs::metadata(&part.path).map_err(|error| Failure::unreadable(&part.path, &error))?;
            if !metadata.is_file() {
                return refuse(format!("{argument} is not a regular file, but each share must read it"));
            }
            let FilePart { path: file, start, end } = part;
            let (size, inode) = (Some(metadata.len()), inode(&metadata));
            planned.push(PlannedFile { file, start, end, size, inode });
        }
        let parts = if planned.is_empty() { Vec::new() } else { vec![planned] };
        Ok(PartPlan { classad_plan: PLAN_VERSION, now, shares: Some(count), parts })
    }

    /// Returns the line of a plan for each process: its files and parts, or its share. Words are quoted for a shell.
    pub fn lines(&self) -> Vec<String> {
        if let Some(count) = self.shares {
            return (1..=count).map(|number| format!("{SHARE_OPTION} {}", WorkShare { number, count })).collect();
        }
        let line = |part: &Vec<PlannedFile>| {
            let words: Vec<String> = part.iter().map(|file| shell_word(&file.argument())).collect();
            words.join(" ")
        };
        self.parts.iter().map(line).collect()
    }

    /// Reads a plan: the JSON that `parts -o json` and `scatter` write, or the lines that `parts` prints.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not a plan.
    pub fn read(path: &str) -> Result<Self, Failure> {
        let bytes = read_whole(path).map_err(|error| Failure::unreadable(path, &error))?;
        let refused = |reason: &str| Failure::refused(format!("{path}: {reason}"));
        let text = String::from_utf8(bytes).map_err(|_| refused("it is not UTF-8 text"))?;
        if text.trim_start().starts_with('{') {
            let plan: PartPlan =
                serde_json::from_str(&text).map_err(|error| refused(&format!("it is not a plan: {error}")))?;
            if plan.classad_plan != PLAN_VERSION {
                let reason = format!("it has version {} of the format, not {PLAN_VERSION}", plan.classad_plan);
                return Err(refused(&reason));
            }
            return Ok(plan);
        }
        let (mut parts, mut shares) = (Vec::new(), None);
        for (index, line) in text.lines().enumerate() {
            let words =
                shell_words(line).ok_or_else(|| refused(&format!("line {}: a closing quote is missing", index + 1)))?;
            if let [SHARE_OPTION, share] = words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                let share: WorkShare = share.parse().map_err(|reason: String| refused(&reason))?;
                shares = Some(share.count);
                continue;
            }
            let planned = |word: String| {
                let part = FilePart::of_argument(&word).unwrap_or(FilePart { path: word, start: 0, end: None });
                PlannedFile { file: part.path, start: part.start, end: part.end, size: None, inode: 0 }
            };
            parts.push(words.into_iter().map(planned).collect());
        }
        if parts.is_empty() && shares.is_none() {
            return Err(refused("it names no part"));
        }
        Ok(PartPlan { classad_plan: PLAN_VERSION, now: None, shares, parts })
    }

    /// Returns the parts of each file.
    pub fn by_file(&self) -> BTreeMap<&str, Vec<&PlannedFile>> {
        let mut files: BTreeMap<&str, Vec<&PlannedFile>> = BTreeMap::new();
        for file in self.parts.iter().flatten() {
            files.entry(&file.file).or_default().push(file);
        }
        files
    }
}

/// Returns the number of a file in its file system.
#[cfg(unix)]
pub fn inode(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

/// Returns 0: there are no numbers of files here.
#[cfg(not(unix))]
pub fn inode(_: &Metadata) -> u64 {
    0
}

/// Plans the parts of files, the files of one history in the order of their times.
///
/// # Errors
///
/// There is no file, or standard input is one. `report` is called with files that cannot be read.
pub fn plan_parts(
    paths: &[String],
    part_bytes: u64,
    form: Option<FileFormat>,
    report: &mut dyn FnMut(&str, &io::Error) -> Result<(), Failure>,
) -> Result<PartPlanner, Failure> {
    if paths.is_empty() || paths.iter().any(|path| path == "-") {
        return refuse("name the files to divide into parts (`query` takes them after its constraint)");
    }
    let mut planner = PartPlanner::new(part_bytes);
    for path in super::history_files::in_order_of_time(paths) {
        if let Err(error) = planner.add(&path, form) {
            report(&path, &error)?;
        }
    }
    Ok(planner)
}

/// Quotes a word for a shell, if it has to be.
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "@%+=:,./_-".contains(c);
    let is_word = !word.is_empty() && word.chars().all(is_plain);
    if is_word { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// Splits a line into words as a shell does that knows quotes and backslashes. `None` if a quote is open.
fn shell_words(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        match c {
            ' ' | '\t' => words.extend(word.take()),
            '\'' | '"' => {
                let (quoted, after) = rest.as_str().split_once(c)?;
                word.get_or_insert_default().push_str(quoted);
                rest = after.chars();
            }
            '\\' => word.get_or_insert_default().push(rest.next()?),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

/// Parses a number of bytes: `500M`.
///
/// # Errors
///
/// It is not a number of bytes above 0.
pub fn byte_count(text: &str) -> Result<u64, String> {
    const UNITS: [char; 4] = ['K', 'M', 'G', 'T'];
    let unit = text.chars().last().and_then(|last| UNITS.iter().position(|unit| unit.eq_ignore_ascii_case(&last)));
    let digits = if unit.is_some() { &text[..text.len() - 1] } else { text };
    let factor = unit.map_or(1, |power| 1_u64 << (10 * (power + 1)));
    let bytes = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
    bytes.filter(|bytes| *bytes > 0).ok_or_else(|| "write a number of bytes, such as 500M or 1G".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{shell_word, shell_words};

    #[test]
    fn quoted_words_are_read_back() {
        for word in ["a", "a b", "it's", "", "$HOME", "a\\b", "\"x\"", "history.2026@0-5"] {
            let line = format!("{} {}", shell_word(word), shell_word("next"));
            assert_eq!(shell_words(&line).expect("no quote is open"), [word, "next"]);
        }
        assert_eq!(shell_words("'open"), None);
    }
}
