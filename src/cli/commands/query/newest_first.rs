//! Scan of sources from the last ad to the first.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use classad::format::{BackwardStream, FileFormat, Position, Projection, Stream, StreamBlock};
use classad::query::{AdScanState, BlockTask, ScanItem, ScannedBlock};

use super::output::QueryOutput;
use super::scan::{QueryScanner, needs_place};
use crate::cli::io::input;
use crate::cli::io::source::AdSource;
use crate::cli::io::source_text::SourceText;
use crate::cli::outcome::Failure;
use crate::cli::render::output::flush_stdout;
use crate::cli::session::Session;

/// Scans the sources in the given order, each from its last ad to its first, and passes the findings to `output` until it
/// needs no more. Returns the text of the first block.
///
/// Sources in the long form are read from their ends, so that little is read if little is wanted. Sources in other forms
/// are scanned whole, and their findings are turned round.
pub fn scan_backwards(
    session: &mut Session,
    sources: &mut [AdSource],
    scanner: &QueryScanner<'_>,
    output: &mut QueryOutput<'_>,
) -> Result<Option<SourceText>, Failure> {
    let mut state = scanner.new_state();
    let mut first_text = None;
    for source in sources {
        let goes_on = if source.form == FileFormat::Long {
            scan_from_end(session, source, (scanner, &mut state), output, &mut first_text)?
        } else {
            scan_turned_round(session, source, (scanner, &mut state), output, &mut first_text)?
        };
        if !goes_on {
            break;
        }
    }
    Ok(first_text)
}

/// Scans a source in the long form block by block from its end. Returns false if no further findings are needed.
fn scan_from_end(
    session: &mut Session,
    source: &mut AdSource,
    (scanner, state): (&QueryScanner<'_>, &mut AdScanState),
    output: &mut QueryOutput<'_>,
    first_text: &mut Option<SourceText>,
) -> Result<bool, Failure> {
    let mut blocks = match BlocksFromEnd::open(source) {
        Ok(blocks) => blocks,
        Err(error) => {
            input::report_read_error(session, source, &error);
            return Ok(true);
        }
    };
    loop {
        session.check_interrupt()?;
        flush_stdout();
        let (block, offset) = match blocks.stream.next_block() {
            Ok(Some(next)) => next,
            Ok(None) => return Ok(true),
            Err(error) => {
                input::report_read_error(session, source, &error);
                return Ok(true);
            }
        };
        let ScannedBlock { items, ads } = scanner.run(state, &block);
        let is_placed = block.is_unfinished || items.iter().any(needs_place);
        let (start, ads_before) = blocks.place(&block, offset, ads, is_placed).unwrap_or((Position::START, 0));
        let text = source.wrap_block(StreamBlock { start, ..block });
        if text.block.is_unfinished {
            source.set_unfinished(&text);
            input::note_unfinished(session, source);
        }
        first_text.get_or_insert_with(|| text.clone());
        for item in items.into_iter().rev() {
            if !output.add_item(session, &text, ads_before, item)? {
                return Ok(false);
            }
        }
    }
}

/// Scans a source from its beginning, and passes its findings to `output` from the last one on. Returns false if no
/// further findings are needed.
fn scan_turned_round(
    session: &mut Session,
    source: &mut AdSource,
    (scanner, state): (&QueryScanner<'_>, &mut AdScanState),
    output: &mut QueryOutput<'_>,
    first_text: &mut Option<SourceText>,
) -> Result<bool, Failure> {
    let mut blocks = Vec::new();
    let mut ads_before = 0;
    while let Some(text) = input::next_block(session, source) {
        session.check_interrupt()?;
        let ScannedBlock { items, ads } = scanner.run(state, &text.block);
        first_text.get_or_insert_with(|| text.clone());
        // Only problems need the text.
        let has_problem = items.iter().any(|item| matches!(item, ScanItem::Problem(_)));
        let text = if has_problem { text } else { source.wrap_block(StreamBlock::from_complete_text("", source.form)) };
        blocks.push((text, ads_before, items));
        ads_before += ads;
    }
    for (text, ads_before, items) in blocks.into_iter().rev() {
        for item in items.into_iter().rev() {
            if !output.add_item(session, &text, ads_before, item)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// The blocks of a file, from the last one to the first, and their places.
struct BlocksFromEnd {
    stream: BackwardStream<File>,
    file: File,
    /// Number of lines and of ads before the end of the next block. `None` until a place was asked for.
    before_end: Option<(usize, usize)>,
}

impl BlocksFromEnd {
    fn open(source: &mut AdSource) -> io::Result<Self> {
        let file = source.as_seekable_file()?;
        Ok(BlocksFromEnd { stream: BackwardStream::new(file.try_clone()?)?, file, before_end: None })
    }

    /// Returns the position of a block, and the number of ads before it. `None` if no place was asked for yet.
    ///
    /// For the first place, the file is read up to the block. The others follow from it.
    fn place(&mut self, block: &StreamBlock, offset: u64, ads: usize, is_wanted: bool) -> Option<(Position, usize)> {
        let lines = memchr::memchr_iter(b'\n', &block.text).count();
        let (lines_before, ads_before) = match self.before_end {
            Some((lines_before, ads_before)) => (lines_before.checked_sub(lines)?, ads_before.checked_sub(ads)?),
            None if is_wanted => self.count_before(offset).ok()?,
            None => return None,
        };
        self.before_end = Some((lines_before, ads_before));
        Some((Position { line: lines_before + 1, column: 1 }, ads_before))
    }

    /// Returns the number of lines and of ads before a byte offset of the file.
    fn count_before(&self, offset: u64) -> io::Result<(usize, usize)> {
        // The clone shares its place in the file, which the stream sets before each read.
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(0))?;
        let mut stream = Stream::new(Box::new(file.take(offset)), Some(FileFormat::Long))?;
        let mut projection = Projection::new([], classad::ad::Dialect::Condor);
        let (mut lines, mut ads) = (0, 0);
        while let Some(block) = stream.next_block()? {
            lines = block.start.line - 1 + memchr::memchr_iter(b'\n', &block.text).count();
            let mut reader = block.project(&mut projection);
            reader.by_ref().for_each(drop);
            ads += reader.number();
            stream.recycle(block);
        }
        Ok((lines, ads))
    }
}
