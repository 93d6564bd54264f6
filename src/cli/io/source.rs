//! Sources of ads: files and pipes, read block by block.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::Arc;

use classad::ad::Dialect;
use classad::eval::RunBudgets;
use classad::format::{FileFormat, ReadResult, Stream, StreamBlock, StreamLimits, YearlessEvents, log_length_until};
use classad::submit::{SubmitSettings, describe_jobs};

use super::file_part::FilePart;
use super::followed_file::FollowedFile;
use super::followed_queue::FollowedQueue;
use super::source_text::SourceText;
use super::whole_file::open;
use crate::cli::clock::current_time;
use crate::cli::render::{output, progress};

/// A file or a pipe that is being read.
#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
pub struct AdSource {
    pub name: Arc<str>,
    pub form: FileFormat,
    /// The part of a file that is read; `None` if all of it is.
    pub part: Option<FilePart>,
    /// The stream. `None` if the file is closed: it was opened only to detect its form, or it was read to its end.
    stream: Option<Stream>,
    /// The form that was detected or given. `None` if the source has only blanks and comments.
    detected: Option<FileFormat>,
    is_compressed: bool,
    is_rewritten: bool,
    /// The limits with which the file is opened again.
    limits: StreamLimits,
    has_ended: bool,
    /// Number of ads read so far.
    pub ads_read: usize,
    /// Size of the file in bytes; `None` for pipes and compressed files.
    size: Option<u64>,
    /// Number of bytes read so far.
    bytes_read: u64,
    /// The budgets that grow with the bytes of a pipe as they are read; `None` if they grew
    /// before, for the size of the file.
    pub run_budgets: Option<Arc<RunBudgets>>,
    /// Number of ends of lines read so far.
    lines_read: usize,
    /// What is known of the access point, for a submit file; `None` for other files.
    pub submit: Option<Arc<SubmitSettings>>,
    /// The time at which the file was written last, or which `--now` gives instead, for events without years.
    pub written_at: Option<i64>,
    /// Whose time `written_at` is, in words.
    pub written_by: &'static str,
    /// Which events lacked years in the blocks read so far, each kind once; and how many of these kinds were told.
    yearless: (Vec<YearlessEvents>, usize),
    /// Whether blocks that are unfinished are read as any other, because nothing is done with their ads.
    pub reads_unfinished: bool,
    /// The file, if it is read on while it is written, until it is opened as a stream; and the dialect of its values.
    followed: Option<(FollowedFile, Dialect)>,
    /// Whether the source is read on while it is written.
    is_followed: bool,
    /// The unfinished block at the end of a history file, once it was read.
    unfinished: Option<StreamBlock>,
}

impl AdSource {
    pub fn new(name: &str, stream: Stream) -> Self {
        let file = std::fs::metadata(name)
            .ok()
            .filter(|file| file.is_file() && !stream.is_compressed() && !stream.is_rewritten());
        let (is_compressed, size) = (stream.is_compressed(), file.map(|file| file.len()));
        let unopened = AdSource::unopened(name, stream.form());
        let is_rewritten = stream.is_rewritten();
        AdSource { is_compressed, is_rewritten, stream: Some(stream), size, ..unopened }
    }

    /// Creates the source of a part of a file in the form that was detected. The part is opened when it is read.
    pub fn of_part(name: &str, part: FilePart, detected: Option<FileFormat>) -> Self {
        AdSource { part: Some(part), ..AdSource::unopened(name, detected) }
    }

    fn unopened(name: &str, detected: Option<FileFormat>) -> Self {
        AdSource {
            name: name.into(),
            form: detected.unwrap_or(FileFormat::Bracketed),
            part: None,
            detected,
            is_compressed: false,
            is_rewritten: false,
            limits: StreamLimits::default(),
            stream: None,
            has_ended: false,
            ads_read: 0,
            size: None,
            bytes_read: 0,
            run_budgets: None,
            lines_read: 0,
            submit: None,
            written_at: None,
            written_by: "",
            yearless: (Vec::new(), 0),
            reads_unfinished: false,
            followed: None,
            is_followed: false,
            unfinished: None,
        }
    }

    /// Sets the limits with which the file is opened again.
    pub fn with_limits(self, limits: StreamLimits) -> Self {
        AdSource { limits, ..self }
    }

    /// The path of the file that is read, whole or in part.
    pub fn path(&self) -> &str {
        self.part.as_ref().map_or(&self.name, |part| &part.path)
    }

    /// Makes the source of a job queue log end at a time, in seconds since 1970. Other sources stay as they are.
    pub fn end_log_at(&mut self, time: i64) -> io::Result<()> {
        if self.form != FileFormat::JobQueueLog {
            return Ok(());
        }
        let mut text = Vec::new();
        while let Some(block) = self.next_block()? {
            text.extend_from_slice(&block.block.text);
        }
        text.truncate(log_length_until(&text, time));
        self.read_instead(text)
    }

    /// Makes this text the one that the source is read from.
    pub fn read_instead(&mut self, text: Vec<u8>) -> io::Result<()> {
        self.stream = Some(Stream::with_limits(Box::new(io::Cursor::new(text)), Some(self.form), self.limits)?);
        self.has_ended = false;
        self.size = None;
        Ok(())
    }

    /// Reads the source from this file instead, and goes on while it is written. A job queue log then has the ads of its
    /// jobs, and those that change.
    pub fn follow(&mut self, file: FollowedFile, dialect: Dialect) {
        (self.stream, self.size, self.is_followed) = (None, None, true);
        self.followed = Some((file, dialect));
    }

    /// Opens the followed file as a stream.
    fn open_followed(&mut self, file: FollowedFile, dialect: Dialect) -> io::Result<Stream> {
        if self.form != FileFormat::JobQueueLog {
            return Ok(Stream::with_limits(Box::new(file), self.detected, self.limits)?.followed());
        }
        self.form = FileFormat::Long;
        let queue = Box::new(FollowedQueue::new(file, dialect));
        Ok(Stream::with_limits(queue, Some(FileFormat::Long), self.limits)?.followed())
    }

    /// Whether the source has more than blanks and comments.
    pub fn has_content(&self) -> bool {
        self.detected.is_some()
    }

    /// Closes a regular file of which nothing has been read yet. It is opened again when it is read, so that the number
    /// of files is not limited by that of open files.
    pub fn close_until_read(&mut self) {
        if self.is_file() {
            self.stream = None;
        }
    }

    /// Whether the source is a regular file, whose end is known, rather than a pipe that is still being written.
    pub fn is_file(&self) -> bool {
        !self.is_followed && std::fs::metadata(self.path()).is_ok_and(|metadata| metadata.is_file())
    }

    /// Whether the source is an uncompressed regular file in the long form, which can be read several times.
    pub fn is_long_file(&self) -> bool {
        self.size.is_some() && self.detected == Some(FileFormat::Long)
    }

    /// Whether the text that is read is not that of the file, because its ads are wrapped.
    pub fn is_rewritten(&self) -> bool {
        self.is_rewritten
    }

    pub fn is_compressed(&self) -> bool {
        self.is_compressed
    }

    /// Returns the text of the source as a file that can be read at any place. A pipe
    /// or a compressed file is copied to a temporary file first.
    pub fn as_seekable_file(&mut self) -> io::Result<File> {
        if self.is_long_file() {
            return File::open(self.name.as_ref());
        }
        let mut copy = tempfile::tempfile()?;
        self.reads_unfinished = true;
        while let Some(text) = self.next_block()? {
            copy.write_all(&text.block.text)?;
            self.recycle(text);
        }
        Ok(copy)
    }

    /// Opens the file or the part of it once more, at its beginning.
    pub fn reopen(&self) -> io::Result<AdSource> {
        if let Some(part) = &self.part {
            return Ok(AdSource::of_part(&self.name, part.clone(), self.detected).with_limits(self.limits));
        }
        let file = Box::new(File::open(self.name.as_ref())?);
        let stream = Stream::with_limits(file, Some(self.form), self.limits)?;
        let (written_at, written_by, yearless) = (self.written_at, self.written_by, self.yearless.clone());
        let source = AdSource::new(&self.name, stream).with_limits(self.limits);
        Ok(AdSource { submit: self.submit.clone(), written_at, written_by, yearless, ..source })
    }

    /// Returns a sample of whole lines: pieces from evenly spaced places of the file, of at most `length` bytes
    /// together. A file that is no longer than `length` is returned whole.
    pub fn sample(&self, length: u64) -> io::Result<impl Iterator<Item = io::Result<Vec<u8>>>> {
        const PIECES: u64 = 16;
        let mut file = File::open(self.name.as_ref())?;
        let size = file.metadata()?.len();
        let (pieces, most) = if size <= length { (1, length) } else { (PIECES, length / PIECES) };
        Ok((0..pieces).map(move |number| {
            let start = size / pieces * number;
            let mut piece = Vec::with_capacity(usize::try_from(most).unwrap_or_default());
            file.seek(SeekFrom::Start(start))?;
            Read::by_ref(&mut file).take(most).read_to_end(&mut piece)?;
            // Drop the incomplete lines at both ends.
            if start + most < size {
                piece.truncate(memchr::memrchr(b'\n', &piece).map_or(0, |end| end + 1));
            }
            if start > 0 {
                piece.drain(..memchr::memchr(b'\n', &piece).map_or(piece.len(), |end| end + 1));
            }
            Ok(piece)
        }))
    }

    /// Reads the next block; `None` at the end.
    pub fn next_block(&mut self) -> io::Result<Option<SourceText>> {
        output::flush_stdout();
        if self.has_ended {
            return Ok(None);
        }
        if self.is_followed {
            self.written_at = Some(current_time());
        }
        if let Some((file, dialect)) = self.followed.take() {
            self.stream = Some(self.open_followed(file, dialect)?);
        }
        let stream = if let Some(stream) = &mut self.stream {
            stream
        } else {
            let stream = match &self.part {
                Some(part) => part.open(self.form, self.limits)?,
                None => Stream::with_limits(open(&self.name)?, self.detected, self.limits)?,
            };
            self.stream.insert(stream)
        };
        let mut block = stream.next_block()?;
        self.lines_read = stream.position().line - 1;
        if let Some(unfinished) = block.take_if(|block| block.is_unfinished && !self.reads_unfinished) {
            self.unfinished = Some(unfinished);
        }
        if let Some(block) = &block {
            self.bytes_read += block.text.len() as u64;
            if let Some(run) = &self.run_budgets {
                run.add_input(block.text.len() as u64);
            }
            progress::report_bytes(&self.name, self.bytes_read, self.size);
        } else {
            progress::clear();
            self.has_ended = true;
            self.stream = None;
        }
        Ok(block.map(|block| {
            let described = self.submit.as_ref().map(|settings| Arc::new(describe_jobs(&block.text, settings)));
            let block = StreamBlock { ads_before: self.ads_read, written_at: self.written_at, described, ..block };
            if let Some(yearless) = block.yearless_events().filter(|kind| !self.yearless.0.contains(kind)) {
                self.yearless.0.push(yearless);
            }
            SourceText::new(Arc::clone(&self.name), block)
        }))
    }

    /// Wraps a block that was read from the source in another way.
    pub fn wrap_block(&self, block: impl Into<Arc<StreamBlock>>) -> SourceText {
        SourceText::new(Arc::clone(&self.name), block)
    }

    /// Sets the record that is left out at the end.
    pub fn set_unfinished(&mut self, text: &SourceText) {
        self.unfinished = Some(StreamBlock::clone(&text.block));
    }

    /// Returns the line of the record that was left out at the end, if any.
    pub fn unfinished_line(&self) -> Option<usize> {
        let block = self.unfinished.as_ref()?;
        Some(block.start.line + block.text.iter().take_while(|byte| **byte == b'\n').count())
    }

    /// Returns the line of the record that was left out at the end, if any. Returns it once.
    pub fn take_unfinished_line(&mut self) -> Option<usize> {
        let line = self.unfinished_line();
        self.unfinished = None;
        line
    }

    /// Returns the kinds of events without years that were read and not yet returned.
    pub fn take_yearless(&mut self) -> Vec<YearlessEvents> {
        let (kinds, told) = &mut self.yearless;
        let news = kinds[*told..].to_vec();
        *told = kinds.len();
        news
    }

    /// Returns the number of ends of lines read so far.
    pub fn lines_read(&self) -> usize {
        self.lines_read
    }

    /// Returns the number of bytes read so far.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// Counts an item as read: an ad, or a problem that was found in place of an ad.
    pub fn count_ad(&mut self, item: &ReadResult) {
        let number = item.as_ref().map_or_else(|problem| problem.ad_number, |entry| entry.number);
        self.ads_read = self.ads_read.max(number);
    }

    /// Estimates the number of ads still to be read, from the mean size of the ads read so far; 0 if the size is
    /// unknown.
    pub fn estimated_ads_left(&self) -> usize {
        let bytes_left = self.size.map_or(0, |size| size.saturating_sub(self.bytes_read));
        let ads = u128::from(bytes_left) * self.ads_read as u128 / u128::from(self.bytes_read.max(1));
        usize::try_from(ads).unwrap_or(0)
    }

    /// Reuses the memory of a block that has been processed, unless there are other references to it.
    pub fn recycle(&mut self, text: SourceText) {
        if let (Some(stream), Some(block)) = (&mut self.stream, Arc::into_inner(text.block)) {
            stream.recycle(block);
        }
    }
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
