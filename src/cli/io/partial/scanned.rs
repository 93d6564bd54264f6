//! Partial results that are read for the first time: their headers, their ends, and whether they are of one command.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::str::FromStr;
use std::sync::Arc;

use classad::ad::Dialect;
use sha2::{Digest, Sha256};

use super::writer::{checksum_text, setting_checksum};
use super::{PARTIAL_VERSION, PartialEvent, PartialFile, PartialHeader};
use crate::cli::outcome::{Failure, io_reason, refuse};

/// A partial result that was read for the first time.
pub struct ScannedPartial {
    pub path: Arc<str>,
    pub header: PartialHeader,
    /// The events of each file; empty for a share.
    pub segments: Vec<Segment>,
    /// The lines of a share that all shares have in common.
    pub common: Vec<u8>,
    /// Byte offset behind `common`.
    pub offset: u64,
    pub notes: serde_json::Value,
}

/// The events of one file in one partial result.
pub struct Segment {
    /// The partial result, and the byte offset at which the events begin.
    pub path: Arc<str>,
    pub offset: u64,
    pub file: PartialFile,
}

/// The partial results that can be read, and what they are of.
pub struct ScannedPartials {
    pub partials: Vec<ScannedPartial>,
    /// The command line that they are of, without files.
    pub arguments: Vec<String>,
    pub dialect: Dialect,
    /// Why they cannot be merged, so far.
    pub faults: Vec<String>,
}

impl ScannedPartials {
    /// Reads partial results for the first time, and finds out whether they are of one command.
    ///
    /// # Errors
    ///
    /// None can be read.
    pub fn read(paths: &[String]) -> Result<Self, Failure> {
        let (mut partials, mut faults) = (Vec::new(), Vec::new());
        for path in paths {
            match ScannedPartial::read(path) {
                Ok(partial) => partials.push(partial),
                Err(fault) => faults.push(format!("{path}: {fault}")),
            }
        }
        let Some(expected) = partials.first() else { return refuse(join_faults(&faults)) };
        // Files without ads say nothing about the dialect.
        let has_ads = |partial: &ScannedPartial| partial.header.files.iter().any(|file| !file.is_empty);
        let of_dialect = partials.iter().find(|partial| has_ads(partial)).unwrap_or(expected);
        let dialect = of_dialect.header.dialect.clone();
        let first = &expected.path;
        for ScannedPartial { path, header, .. } in &partials {
            if header.version != expected.header.version {
                let versions = [&header.version, &expected.header.version];
                faults.push(format!("{path} is of version {}, {first} of {}", versions[0], versions[1]));
            } else if header.arguments != expected.header.arguments {
                let given = [&header.arguments, &expected.header.arguments].map(|arguments| arguments.join(" "));
                faults.push(format!("{path} is of `{}`, {first} of `{}`", given[0], given[1]));
            } else if header.settings != expected.header.settings {
                let mut pairs = header.settings.iter().zip(&expected.header.settings);
                let other = pairs.find(|(own, expected)| own != expected).map_or("a file", |(own, _)| &own.0);
                faults.push(format!("{other} was another for {path} than for {first}: run all parts again"));
            } else if header.dialect != dialect && header.files.iter().any(|file| !file.is_empty) {
                let fault = format!("{path} is in the dialect {}, but others are in {dialect}", header.dialect);
                faults.push(format!("{fault}; run all with --dialect"));
            }
        }
        // A merge may read these files again. It says itself which one it needs and cannot read.
        let has_changed =
            |(path, checksum): &&(String, String)| setting_checksum(path).is_ok_and(|now| now != *checksum);
        if faults.is_empty()
            && let Some((path, _)) = expected.header.settings.iter().find(has_changed)
        {
            faults.push(format!("{path} has changed since the runs: run all parts again"));
        }
        let arguments = expected.header.arguments.clone();
        let dialect = Dialect::from_str(&dialect).map_err(Failure::refused)?;
        Ok(ScannedPartials { partials, arguments, dialect, faults })
    }
}

impl ScannedPartial {
    /// Reads the header, where the events of each file begin, and the end.
    fn read(path: &str) -> Result<Self, String> {
        let reason = |error: io::Error| io_reason(&error);
        let mut lines = CheckedLines::open(path).map_err(reason)?;
        lines.advance().map_err(reason)?;
        let header: PartialHeader = serde_json::from_slice(&lines.line)
            .map_err(|_| "it is not a partial result (--partial writes one)".to_owned())?;
        if header.classad_partial != PARTIAL_VERSION {
            return Err(format!("it has version {} of the format, not {PARTIAL_VERSION}", header.classad_partial));
        }
        let (path, notes): (Arc<str>, _) = (path.into(), serde_json::Value::Null);
        let mut partial =
            ScannedPartial { path, header, segments: Vec::new(), common: Vec::new(), offset: lines.offset, notes };
        let is_whole = partial.read_events(&mut lines).map_err(reason)?;
        let again = match partial.header.share {
            Some(share) => format!("--share {share}"),
            None => partial.header.files.iter().map(PartialFile::argument).collect::<Vec<_>>().join(" "),
        };
        match lines.fits {
            Some(true) if is_whole => Ok(partial),
            Some(_) if is_whole => Err(format!("it is damaged: its checksum is another; repeat the run with {again}")),
            _ => Err(format!("it is not complete; repeat the run with {again}")),
        }
    }

    /// Reads the lines behind the header. Returns whether they are whole.
    fn read_events(&mut self, lines: &mut CheckedLines) -> io::Result<bool> {
        let mut is_common = self.header.share.is_some();
        loop {
            let length = lines.advance()?;
            let line = &lines.line;
            let begins_with = |mark: &&[u8]| line.starts_with(mark);
            if is_common && length > 0 && !begins_with(&&b"\"end\""[..]) {
                self.common.extend_from_slice(line);
                is_common = !begins_with(&&b"{\"common\""[..]);
                self.offset = lines.offset;
                continue;
            }
            // Findings and problems are read when they are merged.
            let is_mark = [&b"{\"file\""[..], b"{\"notes\"", b"\"end\""].iter().any(begins_with);
            if length > 0 && !is_mark {
                continue;
            }
            match serde_json::from_slice::<PartialEvent>(line) {
                Ok(PartialEvent::End) if !is_common => return Ok(lines.advance()? == 0),
                Ok(PartialEvent::Notes(notes)) => self.notes = notes,
                Ok(PartialEvent::File(index)) if index < self.header.files.len() => {
                    let mut file = self.header.files[index].clone();
                    if !self.header.host.is_empty() {
                        file.file = format!("{}:{}", self.header.host, file.file);
                    }
                    self.segments.push(Segment { path: Arc::clone(&self.path), offset: lines.offset, file });
                }
                _ => return Ok(false),
            }
        }
    }
}

/// The lines of a partial result, with the checksum of those that were read.
struct CheckedLines {
    lines: BufReader<File>,
    /// The line that was read last. Empty at the end of the file.
    line: Vec<u8>,
    /// Byte offset behind the line.
    offset: u64,
    checksum: Sha256,
    /// Whether the lines are those of the checksum; `None` before it.
    fits: Option<bool>,
}

impl CheckedLines {
    fn open(path: &str) -> io::Result<Self> {
        let lines = BufReader::new(File::open(path)?);
        Ok(CheckedLines { lines, line: Vec::new(), offset: 0, checksum: Sha256::new(), fits: None })
    }

    /// Reads the next line that is no checksum. Returns its length, 0 at the end of the file.
    fn advance(&mut self) -> io::Result<usize> {
        loop {
            self.line.clear();
            let length = self.lines.read_until(b'\n', &mut self.line)?;
            self.offset += length as u64;
            if self.fits.is_some() || !self.line.starts_with(b"{\"checksum\"") {
                // Behind the checksum stands only the end.
                self.fits = self.fits.map(|fits| fits && (length == 0 || self.line == b"\"end\"\n"));
                self.checksum.update(&self.line);
                return Ok(length);
            }
            let written = serde_json::from_slice::<PartialEvent>(&self.line).ok();
            let expected = checksum_text(self.checksum.clone());
            self.fits = Some(matches!(written, Some(PartialEvent::Checksum(written)) if written == expected));
        }
    }
}

impl Segment {
    /// Opens the partial result at the events of the file.
    pub fn open(&self) -> io::Result<BufReader<File>> {
        open_at(&self.path, self.offset)
    }
}

/// Opens a partial result at an offset.
pub fn open_at(path: &str, offset: u64) -> io::Result<BufReader<File>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    Ok(BufReader::new(file))
}

/// Joins faults as the text of one message: one after the other.
pub fn join_faults(faults: &[String]) -> String {
    format!("the partial results cannot be merged: {}", faults.join("; "))
}

#[cfg(test)]
#[path = "scanned_tests.rs"]
mod tests;
