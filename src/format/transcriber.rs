//! Copying of ads to another form. Most ads in the long form and in JSON are copied attribute by attribute, without
//! expression trees.

use crate::ad::{Dialect, Expression, Name};
use crate::syntax::{LiteralText, read_simple_literal};

use super::ad_syntax::AdSyntax;
use super::ad_text::syntax_of;
use super::attribute_text_cache::AttributeWriter;
use super::attribute_text_reader::AttributeTextReader;
use super::block_ads::{BlockAds, BlockItem};
use super::{AdBatch, FileFormat, ReadCache, StreamBlock};

/// Copies the ads of blocks to a form. One transcriber serves all blocks of a source, or of several sources. What it
/// remembers of earlier ads makes it faster.
pub struct AdTranscriber {
    cache: ReadCache,
    form: Option<FileFormat>,
    attributes: AttributeTextReader<AttributeTranscriber>,
}

/// The ads of a block while they are copied.
pub struct BlockTranscription<'t> {
    ads: BlockAds<'t>,
    form: Option<FileFormat>,
    attributes: &'t mut AttributeTextReader<AttributeTranscriber>,
}

impl AdTranscriber {
    /// Creates a transcriber of ads of a dialect. Without a form, the ads are only checked.
    #[must_use]
    pub fn new(dialect: Dialect, form: Option<FileFormat>) -> Self {
        let attributes = AttributeTranscriber::reader(dialect, form);
        AdTranscriber { cache: ReadCache::new(dialect), form, attributes }
    }

    /// Begins a block.
    pub fn transcribe<'t>(&'t mut self, block: &'t StreamBlock) -> BlockTranscription<'t> {
        let ads = BlockAds::new(block, &mut self.cache);
        BlockTranscription { ads, form: self.form, attributes: &mut self.attributes }
    }
}

impl BlockTranscription<'_> {
    /// Returns the next ad or problem. The text of an ad that is taken by its text was appended to `batch`. `None` at the
    /// end of the block.
    pub fn next(&mut self, batch: &mut AdBatch) -> Option<BlockItem> {
        self.ads.next(|text| {
            self.attributes.clear_if_large();
            batch.push(self.form, |out| self.attributes.push_ad(text, out).map(|(length, _)| length))
        })
    }
}

/// Writer of attributes in another form.
pub(super) struct AttributeTranscriber {
    /// How the form writes an attribute. `None` if nothing is written.
    syntax: Option<&'static AdSyntax>,
    /// The literal written last, whose memory is used again.
    literal: Expression,
    /// Whether an ad must be written whole: the form cannot represent a value, or an attribute may be
    /// hidden.
    is_rejected: bool,
}

impl AttributeTranscriber {
    /// Creates a reader that writes ads in a form. Without a form, it writes nothing and only checks.
    pub fn reader(dialect: Dialect, form: Option<FileFormat>) -> AttributeTextReader<Self> {
        let syntax = form.map(syntax_of);
        let frame = syntax.map_or([""; 3], |syntax| [syntax.begin, syntax.separator, syntax.end]);
        let literal = Expression::literal(false);
        let writer = AttributeTranscriber { syntax, literal, is_rejected: false };
        AttributeTextReader::new(dialect, writer, frame)
    }
}

impl AttributeWriter for AttributeTranscriber {
    fn push_name(&mut self, _: &[u8], name: &Name, out: &mut Vec<u8>) {
        if let Some(syntax) = self.syntax {
            self.is_rejected |= name.is_private();
            (syntax.push_name)(name, out);
        }
    }

    #[inline]
    fn push_literal(&mut self, literal: &LiteralText, out: &mut Vec<u8>) -> bool {
        let Some(syntax) = self.syntax else { return true };
        if let Some(end) = syntax.plain_literal_end
            && literal.is_plain()
        {
            out.extend_from_slice(literal.text);
            out.extend_from_slice(end.as_bytes());
            return true;
        }
        if !read_simple_literal(literal.text, &mut self.literal) {
            return false;
        }
        self.is_rejected |= !(syntax.push_value)(&self.literal, out).is_empty();
        true
    }

    fn push_value(&mut self, _: &[u8], expression: &Expression, out: &mut Vec<u8>) {
        if let Some(syntax) = self.syntax {
            self.is_rejected |= !(syntax.push_value)(expression, out).is_empty();
        }
    }

    fn take_rejection(&mut self) -> bool {
        std::mem::take(&mut self.is_rejected)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{AdTranscriber, AttributeTranscriber, BlockItem};
    use crate::ad::Dialect;
    use crate::format::attribute_form::{AdText, AttributeForm};
    use crate::format::testing::attribute_block;
    use crate::format::{AdBatch, AdBatchWriter, FileFormat, Position, StreamBlock};

    /// Returns the text of a block in a form, what is reported, and the number of ads that were copied line by line.
    fn transcribed(
        block: &StreamBlock,
        form: FileFormat,
        transcriber: &mut AdTranscriber,
    ) -> (String, Vec<String>, usize) {
        let (mut batch, mut reported, mut copied) = (AdBatch::default(), Vec::new(), 0);
        let mut writer = AdBatchWriter::new(form);
        let mut ads = transcriber.transcribe(block);
        while let Some(ad) = ads.next(&mut batch) {
            match ad {
                BlockItem::Taken(number) => {
                    copied += 1;
                    reported.push(number.to_string());
                }
                BlockItem::Read(Ok(entry)) => {
                    let changes = writer.push(&mut batch, &entry.ad, |_| true);
                    reported.push(entry.number.to_string());
                    reported.extend(changes.iter().map(|change| format!("{change:?}")));
                }
                BlockItem::Read(Err(problem)) => reported.push(format!("{problem:?}")),
            }
        }
        (String::from_utf8_lossy(batch.text()).into_owned(), reported, copied)
    }

    /// The same by trees alone.
    fn by_trees(block: &StreamBlock, form: FileFormat) -> (String, Vec<String>) {
        let (mut batch, mut reported) = (AdBatch::default(), Vec::new());
        let mut writer = AdBatchWriter::new(form);
        for item in block.ads(Dialect::Condor) {
            match item {
                Ok(entry) => {
                    let changes = writer.push(&mut batch, &entry.ad, |_| true);
                    reported.push(entry.number.to_string());
                    reported.extend(changes.iter().map(|change| format!("{change:?}")));
                }
                Err(problem) => reported.push(format!("{problem:?}")),
            }
        }
        (String::from_utf8_lossy(batch.text()).into_owned(), reported)
    }

    const FORMS: [FileFormat; 6] = [
        FileFormat::Long,
        FileFormat::Bracketed,
        FileFormat::Json,
        FileFormat::JsonLines,
        FileFormat::Xml,
        FileFormat::Yaml,
    ];

    fn block(text: &str) -> StreamBlock {
        StreamBlock {
            text: text.as_bytes().to_vec(),
            form: FileFormat::Long,
            start: Position::START,
            ads_before: 7,
            is_unfinished: false,
            written_at: None,
            latest_event_before: None,
            described: None,
        }
    }

    #[test]
    fn plain_ads_are_copied_line_by_line() {
        for form in FORMS {
            let mut transcriber = AdTranscriber::new(Dialect::Condor, Some(form));
            let text = "\n\na = 1\nB = \"x y\"\nc = a + 1\n\na = 2\nB = \"x\"\nc = a + 1\r\n\na = 2.50\n\na = 3\n";
            let (_, _, copied) = transcribed(&block(text), form, &mut transcriber);
            assert_eq!(copied, 3, "{form:?}");
        }
    }

    /// What was made of a refused ad is forgotten, and names get other numbers.
    #[test]
    fn a_refused_ad_begins_a_generation() {
        let mut reader = AttributeTranscriber::reader(Dialect::Condor, Some(FileFormat::Json));
        let mut out = Vec::new();
        for (text, is_read, generation) in [
            ("a = 1\nb = 2\n\n", true, 0),
            ("b = 2\na = 1\n\n", true, 0),
            // A private attribute.
            ("a = 1\nClaimId = \"x\"\n\n", false, 1),
            ("b = 2\n\n", true, 1),
            // A text that does not parse, and one with something behind it.
            ("a = 1 +\n\n", false, 1),
            ("a = 1 2\n\n", false, 1),
            ("a = 1\na = 2\n\n", false, 1),
        ] {
            let ad = AdText { bytes: text.as_bytes(), form: AttributeForm::Long };
            let read = reader.push_ad(ad, &mut out).map(|(length, _)| length);
            assert_eq!(read, is_read.then_some(text.len()), "{text}");
            assert_eq!(reader.generation(), generation, "{text}");
            if is_read {
                let names = reader.names().iter().map(|number| reader.name(*number).as_str()).collect::<Vec<_>>();
                let written: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once(" =")?.0)).collect();
                assert_eq!(names, written);
            }
        }
    }

    #[test]
    fn plain_ads_in_json_are_copied_attribute_by_attribute() {
        for form in FORMS {
            let mut transcriber = AdTranscriber::new(Dialect::Condor, Some(form));
            let text =
                "[{\"a\": 1, \"b\" : \"\\/Expr(a + 1)\\/\"}\n,{\"a\":null,\"c\": [1, {\"d\": 2}]}]{\"a\": 1, \"A\": 2}";
            let block = StreamBlock { form: FileFormat::Json, ..block(text) };
            let (text, reported, copied) = transcribed(&block, form, &mut transcriber);
            assert_eq!(copied, 2, "{form:?}");
            assert_eq!((text, reported), by_trees(&block, form));
        }
    }

    proptest! {
        #[test]
        fn the_text_is_that_of_the_trees(
            blocks in prop::collection::vec(
                attribute_block(&[
                    "1", "-0", "2.50", "1e3", "\"x\"", "\"x\\ty\"", "\"a=\\\"x\\\"\"", "\"\\\"\"", "\"\\\\\"x\"", "\"x\\\"", "\"\t\u{e9}\"", "\"/Expr(a)/\"", "TRUE", " false ",
                    "a + 1", "A+1", "{ 1, a }", "[ x = 1 ]", "1 +", "\"", "1 2", "undefined", "\"\u{1}\"", "",
                ]),
                1..3,
            ),
        ) {
            for form in FORMS {
                let mut transcriber = AdTranscriber::new(Dialect::Condor, Some(form));
                for block in &blocks {
                    let (text, reported, _) = transcribed(block, form, &mut transcriber);
                    prop_assert_eq!((text, reported), by_trees(block, form));
                }
            }
        }
    }
}
