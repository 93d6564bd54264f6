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
    use super::{Failure, PLAN_VERSION, PartPlan, PartPlanner, PlannedFile, byte_count, shell_word, shell_words};

    #[test]
    fn quoted_words_are_read_back() {
        for word in ["a", "a b", "it's", "", "$HOME", "a\\b", "\"x\"", "history.2026@0-5"] {
            let line = format!("{} {}", shell_word(word), shell_word("next"));
            assert_eq!(shell_words(&line).expect("no quote is open"), [word, "next"]);
        }
        assert_eq!(shell_words("'open"), None);
    }

    #[test]
    fn bytes_have_units() {
        for (text, expected) in [
            ("1", Some(1)),
            ("1K", Some(1 << 10)),
            ("2k", Some(2 << 10)),
            ("3M", Some(3 << 20)),
            ("1G", Some(1 << 30)),
            ("16777215t", Some(16_777_215 << 40)),
            ("16777216T", None),
            ("0", None),
            ("0K", None),
            ("K", None),
            ("", None),
            ("1X", None),
            ("-1", None),
            ("1.5G", None),
        ] {
            assert_eq!(byte_count(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn words_are_quoted_and_read() {
        for (word, expected) in [
            ("a", "a"),
            ("a@b%+=:,./_-\u{e9}", "a@b%+=:,./_-\u{e9}"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", "'it'\\''s'"),
        ] {
            assert_eq!(shell_word(word), expected);
        }
        for (line, expected) in [
            ("", Some(&[][..])),
            ("a b", Some(&["a", "b"])),
            ("  a\t b ", Some(&["a", "b"])),
            ("'a b'c \"d 'e\"", Some(&["a bc", "d 'e"])),
            ("a\\ b ''", Some(&["a b", ""])),
            ("\\", None),
            ("a 'b", None),
            ("\"a", None),
        ] {
            let words = shell_words(line);
            assert_eq!(words, expected.map(|words| words.iter().map(|&word| word.to_owned()).collect()), "{line}");
        }
    }

    fn planned(file: &str, start: u64, end: Option<u64>) -> PlannedFile {
        PlannedFile { file: file.to_owned(), start, end, size: None, inode: 0 }
    }

    #[test]
    fn a_plan_has_a_line_for_each_part() {
        let part = planned;
        let parts = vec![
            vec![part("f", 0, Some(5)), part("g h", 0, None)],
            vec![part("f", 5, None)],
            vec![part("i", 5, Some(5))],
        ];
        let plan = PartPlan { classad_plan: PLAN_VERSION, now: None, shares: None, parts };
        assert_eq!(plan.lines(), ["f@0-5 'g h'", "f@5-", "i@5-5"]);
        let plan = PartPlan { shares: Some(2), ..plan };
        assert_eq!(plan.lines(), ["--share 1/2", "--share 2/2"]);
    }

    #[test]
    fn parts_are_filled_up_to_their_size() {
        for (sizes, expected) in [
            (&[][..], &[][..]),
            (&[4], &[1][..]),
            (&[4, 6], &[2]),
            (&[4, 6, 1], &[2, 1]),
            (&[4, 7], &[1, 1]),
            (&[11, 1], &[1, 1]),
            (&[10, 0, 0], &[3]),
            (&[0, 10, 10], &[2, 1]),
        ] {
            let mut planner = PartPlanner::new(10);
            for bytes in sizes {
                planner.add_part(planned("f", 0, None), *bytes);
            }
            let counts: Vec<usize> = planner.finish(None).parts.iter().map(Vec::len).collect();
            assert_eq!(counts, expected, "{sizes:?}");
        }
    }

    #[test]
    fn a_file_is_cut_at_multiples_of_the_size() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ads");
        let name = path.to_str().unwrap();
        for (text, expected) in [
            ("A = 1\n\nB = 2\n\n", &["@0-10", "@10-14"][..]),
            ("A = 1\n\nB = 2\n\nC = 34", &["@0-10", "@10-20"]),
            ("A = 1\n", &["@0-6"]),
            ("", &[""]),
            ("[ A = 1; B = 2 ]", &[""]),
        ] {
            std::fs::write(&path, text).unwrap();
            let mut planner = PartPlanner::new(10);
            planner.add(name, None).unwrap();
            let files: Vec<PlannedFile> = planner.finish(None).parts.into_iter().flatten().collect();
            let arguments: Vec<String> = files.iter().map(PlannedFile::argument).collect();
            assert_eq!(arguments, expected.iter().map(|range| format!("{name}{range}")).collect::<Vec<_>>(), "{text}");
            assert!(files.iter().all(|file| file.size == Some(text.len() as u64)), "{text}");
        }
        assert!(PartPlanner::new(10).add(folder.path().to_str().unwrap(), None).is_err());
    }

    #[test]
    fn a_plan_is_read_in_both_forms() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan");
        let name = path.to_str().unwrap();
        let read = |text: &[u8]| {
            std::fs::write(&path, text).unwrap();
            match PartPlan::read(name) {
                Ok(plan) => Ok((plan.now, plan.shares, plan.lines())),
                Err(Failure::Refused(Some(reason))) => Err(reason.replace(&format!("{name}: "), "")),
                Err(failure) => panic!("it has no reason: {failure:?}"),
            }
        };
        let lines = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>();
        let json = br#" {"classad_plan":1,"now":5,"parts":[[{"file":"f","start":0,"end":5,"size":9,"inode":3}]]}"#;
        assert_eq!(read(json), Ok((Some(5), None, lines(&["f@0-5"]))));
        assert_eq!(read(b"f@0-5 'g h'\ni\n"), Ok((None, None, lines(&["f@0-5 'g h'", "i"]))));
        assert_eq!(read(b"--share 2/2\n"), Ok((None, Some(2), lines(&["--share 1/2", "--share 2/2"]))));
        assert_eq!(read(b"--share\n"), Ok((None, None, lines(&["--share"]))));
        for (text, reason) in [
            (&b"{\"classad_plan\":2,\"now\":null,\"parts\":[]}"[..], "it has version 2 of the format, not 1"),
            (b"{", "it is not a plan: "),
            (b"", "it names no part"),
            (b"a\nb 'c\n", "line 2: a closing quote is missing"),
            (b"--share 3/2\n", "a share is K/N"),
            (b"\xff", "it is not UTF-8 text"),
        ] {
            let refused = read(text).unwrap_err();
            assert!(refused.starts_with(reason), "{refused}");
        }
    }

    #[test]
    fn shares_read_whole_files_or_parts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ads");
        std::fs::write(&path, "A = 1\n").unwrap();
        let name = path.to_str().unwrap().to_owned();
        let plan = PartPlan::of_shares(3, &[name.clone(), format!("{name}@2-4")], Some(7)).unwrap();
        assert_eq!((plan.classad_plan, plan.now, plan.shares), (PLAN_VERSION, Some(7), Some(3)));
        let files: Vec<_> = plan.parts.concat().iter().map(|file| (file.argument(), file.size)).collect();
        assert_eq!(files, [(name.clone(), Some(6)), (format!("{name}@2-4"), Some(6))]);
        assert!(PartPlan::of_shares(1, &[], None).unwrap().parts.is_empty());
        for wrong in [format!("{name}-none"), folder.path().to_str().unwrap().to_owned()] {
            assert!(PartPlan::of_shares(1, &[wrong], None).is_err());
        }
    }
}
