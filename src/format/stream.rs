//! Streams of ads. A stream is cut into blocks of complete ads, so that memory does not grow with its length.

use std::io::{self, Read};

use super::event_log::{begins_without_year, latest_time};
use super::long::{BEGINNING_BYTES, ends_with_banner, unfinished_length};
use super::open_document::OpenDocument;
use super::other_text;
use super::read_buffer::ReadBuffer;
use super::stream_block::StreamBlock;
use super::stream_limits::StreamLimits;
use super::submit_signs::{SEARCHED_BYTES, SubmitSigns};
use super::unpacking::UnpackingReader;
use super::wrapped_text::TextWrapping;
use super::{FileFormat, PartBoundary, Position, detect};

/// Number of bytes that are enough to detect the format. Leading comments do not count.
const DETECTION_BYTES: usize = 4096;

/// Maximum number of bytes that are searched for the end of the first line, which distinguishes JSON Lines from JSON. A
/// stream with a longer first line is taken for JSON.
const MAX_FIRST_LINE_BYTES: usize = 1 << 20;

/// A stream of ads in one format. Compressed streams are decompressed.
#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
pub struct Stream {
    reader: Box<dyn Read>,
    limits: StreamLimits,
    is_compressed: bool,
    is_rewritten: bool,
    form: Option<FileFormat>,
    /// Bytes that have been read, but not been returned in a block yet.
    pub(super) window: ReadBuffer,
    /// Memory of a block that is no longer in use. It will be used again.
    recycled_memory: Vec<u8>,
    /// Position in the stream at which `window` begins.
    position: Position,
    /// Whether the stream has ended or could not be read further.
    is_at_end: bool,
    /// The error that ended the reading. `None` if there was no error, or if `next_block` has returned it.
    read_error: Option<io::Error>,
    /// Whether `window` is known to contain no complete ad.
    has_no_complete_ad: bool,
    /// Whether the last block ends with a banner.
    is_behind_banner: bool,
    document: OpenDocument,
    /// The time of the latest event of a log so far, in seconds since 1970; `None` if none is known.
    latest_event: Option<i64>,
    /// Whether the stream is read on while it is written, so that it has no end.
    is_followed: bool,
}

impl Stream {
    /// Begins to read a stream. Decompresses gzip, zstd, xz and bzip2. Detects the format if `form` is `None`.
    ///
    /// # Errors
    ///
    /// I/O errors of the reader, corrupt compressed data, data compressed twice, UTF-16, and texts without ads.
    pub fn new(reader: Box<dyn Read>, form: Option<FileFormat>) -> io::Result<Self> {
        Stream::with_limits(reader, form, StreamLimits::default())
    }

    /// Begins to read a stream as [`Stream::new`] does, with other limits.
    ///
    /// # Errors
    ///
    /// The same as those of [`Stream::new`].
    pub fn with_limits(reader: Box<dyn Read>, form: Option<FileFormat>, limits: StreamLimits) -> io::Result<Self> {
        Stream::begin(reader, form, None, limits)
    }

    /// Begins to read a file as [`Stream::with_limits`] does. Its name decides the format if its content does not.
    ///
    /// # Errors
    ///
    /// The same as those of [`Stream::new`].
    pub fn of_file(reader: Box<dyn Read>, name: &str, limits: StreamLimits) -> io::Result<Self> {
        Stream::begin(reader, None, FileFormat::of_path(name), limits)
    }

    fn begin(
        reader: Box<dyn Read>,
        form: Option<FileFormat>,
        named: Option<FileFormat>,
        limits: StreamLimits,
    ) -> io::Result<Self> {
        let mut stream = Stream { limits, ..Stream::unread(reader, form) };
        stream.fill_to_signature();
        if let Some(decoder) = detect::decoder(&stream.window) {
            let beginning = io::Cursor::new(std::mem::take(&mut stream.window).to_vec());
            let whole = beginning.chain(std::mem::replace(&mut stream.reader, Box::new(io::empty())));
            stream.reader = Box::new(UnpackingReader::new(Box::new(whole), decoder, limits.max_unpack_ratio)?);
            stream.is_compressed = true;
            stream.is_at_end = false;
            stream.fill_to_signature();
        }
        detect::refuse_packed(&stream.window)?;
        if form.is_none() {
            detect::refuse_binary(&stream.window)?;
        }
        stream.detect_format();
        stream.unwrap();
        if form.is_none() && stream.is_submit_file() {
            stream.form = Some(FileFormat::Submit);
        }
        if let Some(named) = named.filter(|_| stream.form == Some(FileFormat::Long))
            && !detect::shows_long_form(&stream.window, named)
        {
            stream.form = Some(named);
        }
        if form.is_none() && stream.form == Some(FileFormat::Long) {
            other_text::reason_without_ads(&stream.window)
                .map_or(Ok(()), |reason| Err(detect::invalid_data(reason)))?;
        }
        match stream.read_error.take_if(|_| stream.form.is_none()) {
            Some(error) => Err(error),
            None => Ok(stream),
        }
    }

    /// Begins to read a part of a file. The form of the file is known, and the file is not compressed.
    #[must_use]
    pub fn of_part(reader: Box<dyn Read>, form: FileFormat, start: PartBoundary, limits: StreamLimits) -> Self {
        Stream { limits, is_behind_banner: start.is_behind_banner, ..Stream::unread(reader, Some(form)) }
    }

    fn unread(reader: Box<dyn Read>, form: Option<FileFormat>) -> Self {
        Stream {
            reader,
            limits: StreamLimits::default(),
            is_compressed: false,
            is_rewritten: false,
            form,
            window: ReadBuffer::default(),
            recycled_memory: Vec::new(),
            position: Position::START,
            is_at_end: false,
            read_error: None,
            has_no_complete_ad: false,
            latest_event: None,
            is_behind_banner: false,
            document: OpenDocument::default(),
            is_followed: false,
        }
    }

    /// Makes the stream one that has no end, because it is read on while it is written: events without years get them
    /// block by block.
    #[must_use]
    pub fn followed(self) -> Self {
        Stream { is_followed: true, ..self }
    }

    /// Reads what shows whether the stream is compressed.
    fn fill_to_signature(&mut self) {
        self.fill_to(4);
        self.fill_to(detect::signature_length(&self.window));
    }

    /// Reads until the format is detected or the stream ends.
    fn detect_format(&mut self) {
        while self.form.is_none() && !self.is_at_end {
            self.discard_leading_comments();
            let length = self.window.len();
            if length > self.limits.max_ad_bytes {
                break;
            }
            let enough = length >= DETECTION_BYTES;
            self.form = if enough { detect(&self.window) } else { detect::detect_from_prefix(&self.window) };
            // The end of the first line distinguishes JSON Lines from JSON.
            let in_first_line = length < MAX_FIRST_LINE_BYTES && memchr::memchr(b'\n', &self.window).is_none();
            self.form = self.form.filter(|form| *form != FileFormat::Json || !in_first_line);
            if self.form.is_none() {
                self.fill_to(if enough { 2 * length } else { length + 1 });
            }
        }
        self.form = self.form.or_else(|| detect(&self.window));
    }

    /// Discards white space and comments at the beginning of the stream, because they do not show the format. So memory
    /// does not grow with the length of the comments.
    fn discard_leading_comments(&mut self) {
        let is_start = self.position == Position::START;
        let mark = if is_start { detect::byte_order_mark_length(&self.window) } else { 0 };
        let length = mark + detect::blank_length(&self.window[mark..]);
        self.position = self.position.after(&self.window[..length]);
        self.window.discard_front(length);
    }

    /// Reads and unwraps the whole stream if its ads are wrapped, judged by its beginning. It is read further only if that
    /// is in doubt.
    fn unwrap(&mut self) {
        while !self.is_at_end
            && self.window.len() < BEGINNING_BYTES
            && TextWrapping::is_in_doubt(&self.window, self.form)
        {
            self.fill();
        }
        let Some(wrapping) = TextWrapping::of_beginning(&self.window, self.form) else { return };
        while !self.is_at_end {
            self.fill();
        }
        let (text, form, has_line_before) = wrapping.unwrap(self.window.to_vec());
        self.position.line -= usize::from(has_line_before);
        (self.window, self.form, self.is_rewritten) = (ReadBuffer::of_text(text), Some(form), true);
    }

    /// Whether the ads were wrapped in the file, so that its text is another one.
    #[must_use]
    pub fn is_rewritten(&self) -> bool {
        self.is_rewritten
    }

    /// Whether the stream is a submit file, judged by its beginning. It is read further only if that is in doubt.
    fn is_submit_file(&mut self) -> bool {
        if self.form != Some(FileFormat::Long) {
            return false;
        }
        if SubmitSigns::of_beginning(&self.window) == SubmitSigns::Possible {
            self.fill_to(SEARCHED_BYTES);
        }
        SubmitSigns::of_beginning(&self.window) == SubmitSigns::Certain
    }

    /// Returns the format; `None` if the stream contains only white space and comments.
    #[must_use]
    pub fn form(&self) -> Option<FileFormat> {
        self.form
    }

    /// Whether the stream is an event log whose first event has no year. Its rest is one block, because the last event
    /// tells the years of all.
    fn lacks_years(&self) -> bool {
        let may_lack = self.form == Some(FileFormat::EventLog) && self.latest_event.is_none() && !self.is_followed;
        may_lack && begins_without_year(&self.window)
    }

    /// Whether the stream is compressed. If so, it is decompressed while it is read.
    #[must_use]
    pub fn is_compressed(&self) -> bool {
        self.is_compressed
    }

    /// Returns the position of the beginning of the next block. At the end it is that of the end.
    #[must_use]
    pub fn position(&self) -> Position {
        self.position
    }

    /// Returns the next block of complete ads. The last block contains the rest of the stream. In a history file, a record
    /// without a banner at the end is a block of its own, with [`StreamBlock::is_unfinished`]. Returns `None` after the
    /// last block.
    ///
    /// # Errors
    ///
    /// I/O errors of the reader. All complete ads before the error are returned first, and an incomplete ad is
    /// discarded. Each error is returned only once.
    pub fn next_block(&mut self) -> io::Result<Option<StreamBlock>> {
        let form = self.form.unwrap_or_else(|| detect::format_of_comments(&self.window));
        // Minimum length of `window` at which it is searched for complete ads. A `window` that is known to have none is
        // searched only after more is read. After each search in vain the minimum grows by half, so that the total time
        // stays linear.
        let mut enough = if self.has_no_complete_ad { self.window.len() + 1 } else { 1 };
        loop {
            if self.is_at_end || self.window.len() >= enough {
                let is_complete = self.is_at_end && self.read_error.is_none();
                let unfinished = if is_complete && form == FileFormat::Long {
                    unfinished_length(&self.window, self.is_behind_banner)
                } else {
                    0
                };
                let length = match self.window.len() - unfinished {
                    0 if unfinished > 0 => {
                        let block = self.split_off_block(unfinished, form);
                        return Ok(Some(StreamBlock { is_unfinished: true, ..block }));
                    }
                    length if is_complete => {
                        let fault = self.document.fault_at_end(&self.window, form, self.position);
                        self.read_error = fault.map(|reason| io::Error::new(io::ErrorKind::InvalidData, reason));
                        length
                    }
                    _ if self.lacks_years() => 0,
                    _ => self.document.follow(&self.window, form, self.position),
                };
                if length > 0 {
                    return Ok(Some(self.split_off_block(length, form)));
                }
                if self.is_at_end {
                    self.window = ReadBuffer::default();
                    self.document.close();
                    return self.read_error.take().map_or(Ok(None), Err);
                }
                // A job queue log, a log without years, a submit file or a DAG file has no complete ad before its end.
                let is_whole = matches!(form, FileFormat::JobQueueLog | FileFormat::Submit | FileFormat::Dag)
                    || self.lacks_years();
                if self.window.len() > self.limits.max_ad_bytes && !is_whole {
                    self.refuse_long_ad();
                    continue;
                }
                enough = self.window.len() + self.window.len() / 2;
            }
            self.fill();
        }
    }

    /// Keeps the memory of a block for the next block. Recently used memory is still in the processor's cache.
    pub fn recycle(&mut self, block: StreamBlock) {
        self.recycled_memory = block.text;
    }

    /// Removes the first `length` bytes of `window` and returns them as a block.
    fn split_off_block(&mut self, length: usize, form: FileFormat) -> StreamBlock {
        let text = self.window.split_off_front(length, std::mem::take(&mut self.recycled_memory));
        let place = self.position;
        self.position = place.after(&text);
        self.has_no_complete_ad = true;
        let latest_event_before = self.latest_event;
        if form == FileFormat::EventLog {
            self.latest_event = latest_time(&text, latest_event_before);
        }
        self.is_behind_banner = form == FileFormat::Long && ends_with_banner(&text);
        StreamBlock {
            text,
            form,
            start: place,
            ads_before: 0,
            is_unfinished: false,
            written_at: None,
            latest_event_before,
            described: None,
        }
    }

    /// Ends the stream with an error, because the ad at its place does not end within the limit.
    fn refuse_long_ad(&mut self) {
        let at = self.position;
        let most = self.limits.max_ad_bytes;
        let reason =
            format!("line {}: an ad (in YAML, a document) has more than {most} bytes, or its end is missing", at.line);
        self.read_error = Some(io::Error::new(io::ErrorKind::InvalidData, reason));
        self.is_at_end = true;
    }

    /// Reads until `window` contains at least `length` bytes or the stream ends.
    fn fill_to(&mut self, length: usize) {
        while !self.is_at_end && self.window.len() < length.max(1) {
            self.fill();
        }
    }

    /// Reads once. Records an error, or that the stream has ended.
    fn fill(&mut self) {
        let count = self.window.fill(&mut *self.reader).unwrap_or_else(|error| {
            self.read_error = Some(error);
            0
        });
        self.is_at_end = count == 0;
        self.has_no_complete_ad = false;
    }
}
