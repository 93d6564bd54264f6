//! Streams of ads. A stream is cut into blocks of complete ads, so that memory does not grow with its length.

use std::io::{self, Read};

use super::long::{LongReader, ends_with_banner, unfinished_length};
use super::read_buffer::ReadBuffer;
use super::unpacking::{MAX_UNPACK_RATIO, UnpackingReader};
use super::{
    AdEntry, FileFormat, PartBoundary, Position, ProjectingReader, Projection, ReadCache, ReadResult,
    complete_prefix_length, detect, read, read_cached,
};
use crate::ad::Dialect;

/// Number of bytes that are enough to detect the format. Leading comments do not count.
const DETECTION_BYTES: usize = 4096;

/// Maximum number of bytes that are searched for the end of the first line, which distinguishes JSON Lines from JSON. A
/// stream with a longer first line is taken for JSON.
const MAX_FIRST_LINE_BYTES: usize = 1 << 20;

/// Default of [`StreamLimits::max_ad_bytes`], 8 MiB. Its tree takes up to 50 times as much memory.
pub const MAX_AD_BYTES: usize = 8 << 20;

/// Limits on what is read of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamLimits {
    /// Maximum number of bytes in which an ad must end.
    pub max_ad_bytes: usize,
    /// Maximum number of bytes that one compressed byte may become, on average over what was read.
    pub max_unpack_ratio: u64,
}

impl Default for StreamLimits {
    fn default() -> Self {
        StreamLimits { max_ad_bytes: MAX_AD_BYTES, max_unpack_ratio: MAX_UNPACK_RATIO }
    }
}

/// A stream of ads in one format. Compressed streams are decompressed.
#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
pub struct Stream {
    reader: Box<dyn Read>,
    limits: StreamLimits,
    is_compressed: bool,
    form: Option<FileFormat>,
    /// Bytes that have been read, but not been returned in a block yet.
    window: ReadBuffer,
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
}

/// A part of a stream that consists of complete ads.
#[derive(Clone, Debug)]
pub struct StreamBlock {
    /// The text of the block: complete ads. The last block also has everything behind the last ad.
    pub text: Vec<u8>,
    /// The format of the text.
    pub form: FileFormat,
    /// Position in the stream at which the block begins.
    pub start: Position,
    /// Number of ads of the stream before this block. [`Stream`] does not count ads and sets 0, so the caller must set
    /// this number.
    pub ads_before: usize,
    /// Whether the block is the end of a history file behind its last banner: the beginning of a record that is still
    /// being written. It has no ad.
    pub is_unfinished: bool,
}

impl StreamBlock {
    /// Creates a block from a text that is a whole stream.
    #[must_use]
    pub fn from_complete_text(text: impl Into<Vec<u8>>, form: FileFormat) -> Self {
        StreamBlock { text: text.into(), form, start: Position::START, ads_before: 0, is_unfinished: false }
    }

    /// Reads the ads of the block. The first ad has the number `ads_before` + 1. Byte offsets count from the beginning
    /// of the block.
    pub fn ads(&self, dialect: Dialect) -> impl Iterator<Item = ReadResult> + '_ {
        self.numbered(read(self.records(), self.form, dialect))
    }

    /// Reads the ads of the block as [`StreamBlock::ads`] does, faster if `cache` has read similar ads.
    pub fn ads_cached<'t>(&'t self, cache: &'t mut ReadCache) -> impl Iterator<Item = ReadResult> + 't {
        self.numbered(read_cached(self.records(), self.form, cache))
    }

    /// Returns the text with its complete ads.
    pub(super) fn records(&self) -> &[u8] {
        if self.is_unfinished { &[] } else { &self.text }
    }

    /// Numbers items of the block by their place in the stream.
    fn numbered<'t>(&self, items: impl Iterator<Item = ReadResult> + 't) -> impl Iterator<Item = ReadResult> + 't {
        let before = self.ads_before;
        items.map(move |item| numbered(item, before))
    }

    /// Reads the ads of the block, but only the attributes in a projection. Uses the dialect of the projection. The
    /// block must be in the long form.
    pub fn project<'t, 's>(&'t self, selection: &'s mut Projection) -> ProjectingReader<'t, 's> {
        ProjectingReader::new(self.records(), self.ads_before, selection)
    }

    /// Reads all attributes of the ad that begins at byte `offset` of the block. Yields the ad or its problems.
    /// `number` is the 1-based number of the ad in the stream. The block must be in the long form.
    pub fn ad_at(
        &self,
        offset: usize,
        number: usize,
        cache: &mut ReadCache,
    ) -> impl Iterator<Item = ReadResult> + use<> {
        let reader = LongReader::with_cache(&self.text, &mut cache.long);
        reader.starting_at(offset, number.saturating_sub(1)).into_next_ad().into_iter()
    }

    /// Returns the position in the stream of byte `offset` of the block.
    #[must_use]
    pub fn position(&self, offset: usize) -> Position {
        self.start.after(&self.text[..offset.min(self.text.len())])
    }
}

/// Numbers an item by its place in the stream. The stream has `before` ads before the block.
pub fn numbered(item: ReadResult, before: usize) -> ReadResult {
    match item {
        Ok(entry) => Ok(AdEntry { number: entry.number + before, ..entry }),
        Err(problem) => Err(problem.after_ads(before)),
    }
}

impl Stream {
    /// Begins to read a stream. Decompresses gzip, zstd, xz and bzip2. Detects the format if `form` is `None`.
    ///
    /// # Errors
    ///
    /// I/O errors of the reader, corrupt compressed data, data compressed twice, and UTF-16.
    pub fn new(reader: Box<dyn Read>, form: Option<FileFormat>) -> io::Result<Self> {
        Stream::with_limits(reader, form, StreamLimits::default())
    }

    /// Begins to read a stream as [`Stream::new`] does, with other limits.
    ///
    /// # Errors
    ///
    /// The same as those of [`Stream::new`].
    pub fn with_limits(reader: Box<dyn Read>, form: Option<FileFormat>, limits: StreamLimits) -> io::Result<Self> {
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
        let refusal = |message: String| Err(io::Error::new(io::ErrorKind::InvalidData, message));
        if detect::is_compressed(&stream.window) {
            return refusal("it is compressed twice: unpack it once".to_owned());
        }
        if detect::is_utf16(&stream.window) {
            return refusal(format!("it is UTF-16; {}", detect::UTF16_HELP));
        }
        if form.is_none()
            && let Some(reason) = detect::binary_reason(&stream.window)
        {
            return refusal(reason);
        }
        stream.detect_format();
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
            form,
            window: ReadBuffer::default(),
            recycled_memory: Vec::new(),
            position: Position::START,
            is_at_end: false,
            read_error: None,
            has_no_complete_ad: false,
            is_behind_banner: false,
        }
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

    /// Returns the format; `None` if the stream contains only white space and comments.
    #[must_use]
    pub fn form(&self) -> Option<FileFormat> {
        self.form
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
                    length if is_complete => length,
                    _ => complete_prefix_length(&self.window, form),
                };
                if length > 0 {
                    return Ok(Some(self.split_off_block(length, form)));
                }
                if self.is_at_end {
                    self.window = ReadBuffer::default();
                    return self.read_error.take().map_or(Ok(None), Err);
                }
                // A job queue log has no complete ad before its end.
                if self.window.len() > self.limits.max_ad_bytes && form != FileFormat::JobQueueLog {
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
        self.is_behind_banner = form == FileFormat::Long && ends_with_banner(&text);
        StreamBlock { text, form, start: place, ads_before: 0, is_unfinished: false }
    }

    /// Ends the stream with an error, because the ad at its place does not end within the limit.
    fn refuse_long_ad(&mut self) {
        let at = self.position;
        let most = self.limits.max_ad_bytes;
        let reason = format!("line {}: an ad has more than {most} bytes, or its end is missing", at.line);
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

#[cfg(test)]
mod tests {
    use std::io::{self, Read};

    use super::super::read_buffer::READ_BYTES;
    use super::Stream;
    use crate::ad::Dialect;
    use crate::format::FileFormat;
    use crate::syntax::{Style, print_ad};

    /// Reader that returns its text in pieces. The number is the maximum number of bytes in a piece.
    struct Drops(Vec<u8>, usize);

    impl Read for Drops {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let length = self.1.min(self.0.len()).min(into.len());
            into[..length].copy_from_slice(&self.0[..length]);
            self.0.drain(..length);
            Ok(length)
        }
    }

    /// Returns a text for each item: an ad with its number, line and column, or a problem as
    /// `!number line:column: message`.
    fn items(text: &str, form: Option<FileFormat>, piece: usize) -> Vec<String> {
        let mut stream = Stream::new(Box::new(Drops(text.as_bytes().to_vec(), piece)), form).unwrap();
        let mut items = Vec::new();
        let mut before = 0;
        while let Some(mut block) = stream.next_block().unwrap() {
            block.ads_before = before;
            for item in block.ads(Dialect::Condor) {
                items.push(match item {
                    Ok(entry) => {
                        before = entry.number;
                        let at = block.position(entry.offset);
                        let ad = String::from_utf8(print_ad(&entry.ad, Style::New)).unwrap();
                        format!("{} {}:{} {ad}", entry.number, at.line, at.column)
                    }
                    Err(problem) => {
                        before = before.max(problem.ad_number);
                        let at = block.position(problem.range.start);
                        format!("!{} {}:{}: {}", problem.ad_number, at.line, at.column, problem.message)
                    }
                });
            }
        }
        items
    }

    #[test]
    fn a_stream_has_the_ads_of_its_text() {
        let padding = format!("// {}\n", "x".repeat(5000));
        for text in [
            "a = 1\nb = \"x\"\n\n\nc = 2\n \nd = (\n\ne = \"é\"\n",
            "[a = 1][b = \"]\n[\"] // ]\n /* [ */ x [c = {1, [d = 2]}]\n[e = ]\n'[' [f = 'g]']",
            "{ [a = 1], [b = 2] }",
            "",
            "[a = 1] [b = \"open\n]",
        ] {
            let text = if text.starts_with('[') { format!("{padding}{text}") } else { text.to_owned() };
            let whole = items(&text, None, usize::MAX);
            for piece in [1, 2, 3, 7, 64] {
                assert_eq!(items(&text, None, piece), whole, "{text} in pieces of {piece}");
            }
        }
    }

    #[test]
    fn memory_does_not_grow_with_the_stream() {
        /// Reader that repeats one ad without end. The number counts the bytes returned so far.
        struct Endless(usize);

        impl Read for Endless {
            fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
                let ad = b"[ name = \"an ad\"; value = { 1, 2 } ]\n";
                for byte in into.iter_mut() {
                    *byte = ad[self.0 % ad.len()];
                    self.0 += 1;
                }
                Ok(into.len())
            }
        }

        let mut stream = Stream::new(Box::new(Endless(0)), None).unwrap();
        let mut longest = 0;
        for _ in 0..50 {
            longest = longest.max(stream.next_block().unwrap().unwrap().text.len());
        }
        assert!(longest <= 2 * READ_BYTES, "{longest}");
    }

    #[test]
    fn packed_streams() {
        use std::io::Write;
        let text = b"[ a = 1 ]\n".repeat(1000);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&text).unwrap();
        let zstd = zstd::stream::encode_all(text.as_slice(), 1).unwrap();
        let mut xz = lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::with_preset(1)).unwrap();
        xz.write_all(&text).unwrap();
        let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        bzip2.write_all(&text).unwrap();
        // A compressed file may consist of several gzip members, zstd frames, or streams of xz or bzip2.
        let packed = [gzip.finish().unwrap(), zstd, xz.finish().unwrap(), bzip2.finish().unwrap()];
        for packed in packed.map(|packed| packed.repeat(2)) {
            let mut stream = Stream::new(Box::new(Drops(packed, 11)), None).unwrap();
            assert_eq!(stream.form(), Some(FileFormat::Bracketed));
            let mut length = 0;
            while let Some(block) = stream.next_block().unwrap() {
                length += block.text.len();
            }
            assert_eq!(length, 20_000);
        }
    }

    #[test]
    fn an_ad_must_end() {
        for (ad, part, form) in [
            ("[ a = 1 ]\n", "[ b = { 1, 2 ", FileFormat::Bracketed),
            ("a = 1\n\n", "b = 1\nc = ", FileFormat::Long),
            ("{\"a\": 1}\n", "{\"b\": \"", FileFormat::Json),
            ("{\"a\": 1}\n", "{\"b\": \"", FileFormat::JsonLines),
            ("<c></c>\n", "<c><a n=\"b\"><s>", FileFormat::Xml),
            ("---\na: 1\n---\n", "b: ", FileFormat::Yaml),
        ] {
            let endless = io::Cursor::new(format!("{ad}{part}")).chain(io::repeat(b'x'));
            let mut stream = Stream::new(Box::new(endless), Some(form)).unwrap();
            let mut count = 0;
            let error = loop {
                match stream.next_block() {
                    Ok(block) => count += block.unwrap().ads(Dialect::Condor).flatten().count(),
                    Err(error) => break error,
                }
            };
            assert_eq!(count, 1, "{form}");
            assert!(error.to_string().contains("an ad has more than 8388608 bytes"), "{error}");
            assert!(stream.next_block().unwrap().is_none());
        }
    }

    #[test]
    fn a_form_is_known_as_soon_as_it_can_be() {
        /// Reader that returns its whole text at the first read. A second read fails the test.
        struct Waiting(Vec<u8>);

        impl Read for Waiting {
            fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
                assert!(!self.0.is_empty(), "more is waited for");
                into[..self.0.len()].copy_from_slice(&self.0);
                Ok(std::mem::take(&mut self.0).len())
            }
        }

        for (text, form) in [
            ("a = 1\n\n", FileFormat::Long),
            ("# c\na = 1\n\n", FileFormat::Long),
            ("[ a = 1 ]\n", FileFormat::Bracketed),
            ("[\n a = 1 ]\n", FileFormat::Bracketed),
            ("{\"a\": 1}\n", FileFormat::JsonLines),
            ("[\n{\n\"a\": 1\n},\n", FileFormat::Json),
            ("---\na: 1\n---\n", FileFormat::Yaml),
            ("<classads>\n<c><a n=\"a\"><i>1</i></a></c>\n", FileFormat::Xml),
        ] {
            let mut stream = Stream::new(Box::new(Waiting(text.into())), None).unwrap();
            assert_eq!(stream.form(), Some(form), "{text}");
            let block = stream.next_block().unwrap().unwrap();
            assert_eq!(block.ads(Dialect::Condor).flatten().count(), 1, "{text}");
        }
    }

    /// Reader that returns its text and then an error.
    struct Breaking(Drops);

    impl Read for Breaking {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            match self.0.read(into)? {
                0 => Err(io::Error::other("it broke")),
                count => Ok(count),
            }
        }
    }

    #[test]
    fn what_comes_whole_before_a_break_is_handed_out() {
        for (text, form) in [
            ("a = 1\n\na = 2\n\na = 3", FileFormat::Long),
            ("[ a = 1 ] [ a = 2 ] [ a = 3", FileFormat::Bracketed),
            ("[ {\"a\": 1}, {\"a\": 2}, {\"a\": 3", FileFormat::Json),
            ("---\na: 1\n---\na: 2\n---\na: 3", FileFormat::Yaml),
            ("<c><a n=\"a\"><i>1</i></a></c><c></c><c><a n=\"a\"><i>3", FileFormat::Xml),
        ] {
            for piece in [1, 3, 1000] {
                let broken = Breaking(Drops(text.as_bytes().to_vec(), piece));
                let mut stream = Stream::new(Box::new(broken), None).unwrap();
                assert_eq!(stream.form(), Some(form));
                let mut count = 0;
                let error = loop {
                    match stream.next_block() {
                        Ok(block) => {
                            let ads: Result<Vec<_>, _> = block.unwrap().ads(Dialect::Condor).collect();
                            count += ads.unwrap().len();
                        }
                        Err(error) => break error,
                    }
                };
                assert_eq!((count, error.to_string().as_str()), (2, "it broke"), "{form}");
                // The error is not returned a second time.
                assert!(stream.next_block().unwrap().is_none());
            }
        }
        let nothing = Breaking(Drops(b"# only a comment".to_vec(), 3));
        assert!(Stream::new(Box::new(nothing), None).is_err());
    }

    #[test]
    fn what_is_long_and_blank_takes_no_memory() {
        for (blank, ad, form) in [
            ("\n", "a = 1\n", FileFormat::Long),
            ("# c\n", "a = 1\n", FileFormat::Long),
            ("/* é\n */ // c\n", "[ a = 1 ]", FileFormat::Bracketed),
            (" ", "{\"a\": 1}", FileFormat::JsonLines),
        ] {
            for count in [1, 5000, 5001, 200_000] {
                let text = blank.repeat(count) + ad;
                let at = crate::format::Position::of_offset(text.as_bytes(), text.len() - ad.len());
                for mark in ["", "\u{feff}"] {
                    let text = mark.to_owned() + &text;
                    let mut stream = Stream::new(Box::new(io::Cursor::new(text.into_bytes())), None).unwrap();
                    assert_eq!(stream.form(), Some(form));
                    assert!(stream.window.len() <= 2 * READ_BYTES);
                    let position = loop {
                        let block = stream.next_block().unwrap().unwrap();
                        if let Some(entry) = block.ads(Dialect::Condor).next() {
                            break block.position(entry.unwrap().offset);
                        }
                    };
                    let columns = usize::from(!mark.is_empty() && at.line == 1);
                    assert_eq!((position.line, position.column), (at.line, at.column + columns), "{blank:?}");
                }
            }
        }
    }

    #[test]
    fn what_is_no_text_is_refused() {
        use std::io::Write;
        let packed = |text: &[u8]| {
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            gzip.write_all(text).unwrap();
            gzip.finish().unwrap()
        };
        for (bytes, reason) in [
            (packed(&packed(b"[ a = 1 ]")), "it is compressed twice"),
            (b"\xff\xfe[\0]\0".to_vec(), "it is UTF-16"),
            (packed(b"\xfe\xff\0[\0]"), "it is UTF-16"),
        ] {
            let error = Stream::new(Box::new(Drops(bytes, 5)), None).err().unwrap();
            assert!(error.to_string().starts_with(reason), "{error}");
        }
    }
}
