//! `classad parts`: a plan of parts of files, for many processes or machines.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write;

use clap::Args;
use classad::format::{Stream, has_parts};

use crate::cli::args::ad_files::AdFilesArgs;
use crate::cli::io::file_part::FilePart;
use crate::cli::io::{history_files, input};
use crate::cli::render::output::out;
use crate::cli::session::Session;
use crate::cli::{Failure, Status, refuse};

const EXAMPLES: &str = "\
Examples:
  classad parts --size 1G samples/pool/jobs.long samples/pool/machines.long
  classad parts --size 5K samples/pool/jobs.long | xargs -L 1 classad query true --count

Each line names what one process reads: a part of a large file, as FILE@START-END in bytes, or several small files. Names
are quoted as a shell and xargs read them. Files in the long form, with them history files, and files in JSON Lines are
cut; compressed files and other forms are whole. A part has the ads that begin behind the first separator that ends at
START or behind it, up to the same for END. Parts that meet in one byte so have each ad once, wherever the byte is.
Lines and ads of a part are counted from its beginning. The last part ends where the file ends now.";

/// Plan parts of files, for many processes or machines
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct PartsCommand {
    #[command(flatten)]
    input: AdFilesArgs,
    /// Number of bytes of a part; K, M, G and T are powers of 1024
    #[arg(long, value_name = "BYTES", default_value = "1G", value_parser = byte_count)]
    size: u64,
}

impl PartsCommand {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let paths = history_files::in_order_of_time(&self.input.paths()?);
        if paths.is_empty() || paths.iter().any(|path| path == "-") {
            return refuse("only files have parts: name them");
        }
        let mut plan = Plan { size: self.size, line: String::new(), line_bytes: 0, count: 0 };
        for path in &paths {
            match PartsCommand::measure(session, path) {
                Ok(file) => plan.add(path, &file)?,
                Err(error) => input::report_unreadable(session, path, &error)?,
            }
        }
        plan.end_line()?;
        Ok(Status::of(plan.count > 0))
    }

    /// Returns the size of a file, and whether it can be cut.
    fn measure(session: &Session, path: &str) -> std::io::Result<MeasuredFile> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "only files have parts"));
        }
        let stream = Stream::new(Box::new(file), session.options.from.map(Into::into))?;
        let can_be_cut = !stream.is_compressed() && stream.form().is_some_and(has_parts);
        Ok(MeasuredFile { bytes: metadata.len(), can_be_cut })
    }
}

/// A file that is to be planned.
struct MeasuredFile {
    bytes: u64,
    can_be_cut: bool,
}

/// A plan that is being printed.
struct Plan {
    /// Number of bytes of a part.
    size: u64,
    /// The line that is not full yet: several small files.
    line: String,
    /// Number of bytes of the files in `line`.
    line_bytes: u64,
    /// Number of lines printed.
    count: usize,
}

impl Plan {
    fn add(&mut self, path: &str, file: &MeasuredFile) -> Result<(), Failure> {
        if !file.can_be_cut {
            return self.add_word(path, file.bytes);
        }
        let mut start: u64 = 0;
        loop {
            let end = start.saturating_add(self.size).min(file.bytes);
            let part = FilePart { path: path.to_owned(), start, end: Some(end) };
            self.add_word(&part.to_string(), end - start)?;
            if end == file.bytes {
                return Ok(());
            }
            start = end;
        }
    }

    /// Adds a file or a part to the line, or to a new line if the line would have more bytes than a part.
    fn add_word(&mut self, word: &str, bytes: u64) -> Result<(), Failure> {
        if self.line_bytes.saturating_add(bytes) > self.size {
            self.end_line()?;
        }
        let separator = if self.line.is_empty() { "" } else { " " };
        let _ = write!(self.line, "{separator}{}", shell_word(word));
        self.line_bytes += bytes;
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), Failure> {
        if !self.line.is_empty() {
            writeln!(out(), "{}", self.line)?;
            self.count += 1;
        }
        self.line.clear();
        self.line_bytes = 0;
        Ok(())
    }
}

/// Quotes a word for a shell, if it has to be.
fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "@%+=:,./_-".contains(c);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// Parses a number of bytes: `500M`.
fn byte_count(text: &str) -> Result<u64, String> {
    const UNITS: [char; 4] = ['K', 'M', 'G', 'T'];
    let wanted = || "it is no number of bytes, as 500M or 1G".to_owned();
    let unit = text.chars().last().and_then(|last| UNITS.iter().position(|unit| unit.eq_ignore_ascii_case(&last)));
    let digits = if unit.is_some() { &text[..text.len() - 1] } else { text };
    let factor = unit.map_or(1, |power| 1_u64 << (10 * (power + 1)));
    let bytes = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
    bytes.filter(|bytes| *bytes > 0).ok_or_else(wanted)
}
