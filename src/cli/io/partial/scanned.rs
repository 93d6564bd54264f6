//! Partial results that are read for the first time: their headers, their ends, and whether they are of one command.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::str::FromStr;
use std::sync::Arc;

use classad::ad::Dialect;

use super::{PARTIAL_VERSION, PartialEvent, PartialFile, PartialHeader};
use crate::cli::{Failure, refuse};

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
            } else if header.dialect != dialect && header.files.iter().any(|file| !file.is_empty) {
                let fault = format!("{path} is in the dialect {}, but others are in {dialect}", header.dialect);
                faults.push(format!("{fault}; run all with --dialect"));
            }
        }
        let arguments = expected.header.arguments.clone();
        let dialect = Dialect::from_str(&dialect).map_err(Failure::refused)?;
        Ok(ScannedPartials { partials, arguments, dialect, faults })
    }
}

impl ScannedPartial {
    /// Reads the header, where the events of each file begin, and the end.
    fn read(path: &str) -> Result<Self, String> {
        let reason = |error: io::Error| crate::cli::render::diagnostics::io_reason(&error);
        let mut lines = BufReader::new(File::open(path).map_err(reason)?);
        let mut line = Vec::new();
        let mut offset = lines.read_until(b'\n', &mut line).map_err(reason)? as u64;
        let header: PartialHeader = serde_json::from_slice(&line)
            .map_err(|_| "it is not a partial result (--partial writes one)".to_owned())?;
        if header.classad_partial != PARTIAL_VERSION {
            return Err(format!("it has version {} of the format, not {PARTIAL_VERSION}", header.classad_partial));
        }
        let path: Arc<str> = path.into();
        let notes = serde_json::Value::Null;
        let mut partial =
            ScannedPartial { path: Arc::clone(&path), header, segments: Vec::new(), common: Vec::new(), offset, notes };
        let mut is_common = partial.header.share.is_some();
        loop {
            line.clear();
            let length = lines.read_until(b'\n', &mut line).map_err(reason)?;
            offset += length as u64;
            let begins_with = |mark: &&[u8]| line.starts_with(mark);
            if is_common && length > 0 && !begins_with(&&b"\"end\""[..]) {
                partial.common.extend_from_slice(&line);
                is_common = !begins_with(&&b"{\"common\""[..]);
                partial.offset = offset;
                continue;
            }
            // Findings and problems are read when they are merged.
            let is_mark = [&b"{\"file\""[..], b"{\"notes\"", b"\"end\""].iter().any(begins_with);
            if length > 0 && !is_mark {
                continue;
            }
            match serde_json::from_slice(&line) {
                Ok(PartialEvent::End) if !is_common => break,
                Ok(PartialEvent::Notes(notes)) => partial.notes = notes,
                Ok(PartialEvent::File(index)) if index < partial.header.files.len() => {
                    let mut file = partial.header.files[index].clone();
                    if !partial.header.host.is_empty() {
                        file.file = format!("{}:{}", partial.header.host, file.file);
                    }
                    partial.segments.push(Segment { path: Arc::clone(&path), offset, file });
                }
                _ => {
                    let again = match partial.header.share {
                        Some(share) => format!("--share {share}"),
                        None => partial.header.files.iter().map(PartialFile::argument).collect::<Vec<_>>().join(" "),
                    };
                    return Err(format!("it is not complete; repeat the run with {again}"));
                }
            }
        }
        Ok(partial)
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
