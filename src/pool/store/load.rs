//! Loading of ads into a store.  Lines of the long form are interned as texts, without building ads.

use crate::ad::Ad;
use crate::format::{FileFormat, Problem, StreamBlock};
use crate::syntax::{Style, print, print_line};

use super::Store;

impl Store {
    /// Adds the ads of a block.  Calls `problem` for each malformed ad, which is left out.
    pub fn read(&mut self, block: &StreamBlock, mut problem: impl FnMut(Problem)) {
        if block.form == FileFormat::Long {
            return self.read_lines(block, &mut problem);
        }
        for item in block.ads(self.rules.dialect) {
            match item {
                Ok(entry) => self.add(&entry.ad),
                Err(found) => problem(found),
            }
        }
    }

    /// Frees unused capacity, after the last ad has been added.
    pub fn shrink(&mut self) {
        self.attributes.values_mut().for_each(super::TextColumn::shrink);
        self.rows.shrink_to_fit();
    }

    /// Adds an ad.
    pub fn add(&mut self, ad: &Ad) {
        let mut attributes = Vec::with_capacity(ad.len());
        for attribute in ad.iter() {
            let spelling = self.intern_spelling(attribute.name);
            let (text, changes) = print_line(attribute.expression);
            let texts = &mut self.attributes[self.spellings[spelling as usize]];
            let code = match changes.as_slice() {
                [] => texts.intern(&text, self.rules),
                // A line of the long form cannot represent it.
                _ => texts.add_bracketed(&print(attribute.expression, Style::New)),
            };
            attributes.extend(code.map(|code| (spelling, code)));
        }
        self.push_row(&attributes);
    }

    fn read_lines(&mut self, block: &StreamBlock, problem: &mut dyn FnMut(Problem)) {
        let text = block.text.as_slice();
        let mut at = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let mut number = block.ads_before;
        let mut attributes: Vec<(u32, u32)> = Vec::new();
        let mut previous: Vec<u32> = Vec::new();
        // Offset of the ad's first line; whether it has a line that needs the parser.
        let (mut begin, mut is_odd) = (None, false);
        loop {
            let rest = &text[at.min(text.len())..];
            let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let line = rest[..length].strip_suffix(b"\r").unwrap_or(&rest[..length]).trim_ascii_start();
            if line.is_empty() {
                if let Some(begin) = begin.take() {
                    number += 1;
                    if is_odd {
                        self.read_with_parser(block, begin, number, problem);
                    } else {
                        self.push_row(&attributes);
                        previous.clear();
                        previous.extend(attributes.iter().map(|(spelling, _)| *spelling));
                    }
                    attributes.clear();
                    is_odd = false;
                }
                if length == rest.len() {
                    return;
                }
            } else if !line.starts_with(b"#") && !line.starts_with(b"//") {
                begin.get_or_insert(at);
                match (!is_odd).then(|| self.intern_line(line, previous.get(attributes.len()).copied())).flatten() {
                    Some(attribute) => attributes.push(attribute),
                    None => is_odd = true,
                }
            }
            at += length + 1;
        }
    }

    /// Returns the spelling and the text of a line, as codes; `None` if the name is new or the line needs the parser.
    /// `expected` is the spelling at this position of the previous ad, which is usually right.
    fn intern_line(&mut self, line: &[u8], expected: Option<u32>) -> Option<(u32, u32)> {
        let equals = memchr::memchr(b'=', line)?;
        let name = line[..equals].trim_ascii_end();
        let expected = expected.filter(|spelling| {
            self.spellings.get_index(*spelling as usize).is_some_and(|(spelling, _)| **spelling == *name)
        });
        let spelling = match expected {
            Some(spelling) => spelling,
            None => u32::try_from(self.spellings.get_index_of(name)?).ok()?,
        };
        let texts = &mut self.attributes[self.spellings[spelling as usize]];
        let value = &line[equals + 1..];
        let text = value.trim_ascii();
        // A quote after a backslash closes a string only at the very end of the line: not before trailing blanks.
        if text.ends_with(b"\\\"") && !value.ends_with(b"\"") {
            return None;
        }
        Some((spelling, texts.intern(text, self.rules)?))
    }

    /// Reads an ad with the parser, which reports its problems; its new names are interned.
    fn read_with_parser(&mut self, block: &StreamBlock, begin: usize, number: usize, problem: &mut dyn FnMut(Problem)) {
        for item in block.ad_at(begin, number, self.rules.dialect) {
            match item {
                Ok(entry) => self.add(&entry.ad),
                Err(found) => problem(found),
            }
        }
    }
}
