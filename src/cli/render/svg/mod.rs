//! Pictures in SVG: texts, boxes, bars and lines, at positions in pixels.
//!
//! A picture has a title, a `viewBox`, and colours for bright and dark pages. All texts are escaped. The same input gives
//! the same bytes.

pub mod bars;
pub mod gang_trees;

use std::fmt::Write;

use super::diagnostics::single_line;

/// Height of a line of text, in pixels.
pub const LINE_PIXELS: usize = 20;

/// Distance between the edge of the page and what is drawn, in pixels.
pub const MARGIN_PIXELS: usize = 24;

/// Width of a character of the fixed-width font, in tenths of a pixel. Fonts of 13 pixels need 72 to 79.
const CHAR_TENTHS: usize = 79;

/// The styles of all pictures. The rules at the end are those of dark pages.
const STYLE: &str = "\
text{font:13px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#1f2328}\
.title{font-size:17px;font-weight:bold}.heading{font-weight:bold}.dim{fill:#59636e}\
.page{fill:#ffffff}.track{fill:#eef1f4}.bar{fill:#2f6fb0}.good{fill:#2e8b57}.bad{fill:#c0562b}.rest{fill:#9aa4ae}\
.box{fill:#f6f8fa;stroke:#9aa4ae}.root{fill:#e3edf7;stroke:#2f6fb0}.empty{fill:none;stroke:#c0562b;stroke-dasharray:4 3}\
.line{fill:none;stroke:#9aa4ae;stroke-width:1.5}\
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.dim{fill:#9aa4ae}.page{fill:#0d1117}.track{fill:#20262d}\
.bar{fill:#4f93d6}.good{fill:#45a874}.bad{fill:#e0794c}.rest{fill:#59636e}.box{fill:#161b22}.root{fill:#16263a}}";

/// The class of a text: its size and colour.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TextStyle {
    Plain,
    /// The heading of a group.
    Heading,
    /// What is less important.
    Dim,
}

/// Which end of a text is at its position.
#[derive(Clone, Copy)]
pub enum Anchor {
    Start,
    End,
}

/// The class of a box: its colours.
#[derive(Clone, Copy)]
pub enum Fill {
    /// The place of a bar, as long as the longest bar could be.
    Track,
    Bar,
    Good,
    Bad,
    /// What is counted together.
    Rest,
    Box,
    Root,
    /// A place that is not taken.
    Empty,
}

impl Fill {
    fn class(self) -> &'static str {
        match self {
            Fill::Track => "track",
            Fill::Bar => "bar",
            Fill::Good => "good",
            Fill::Bad => "bad",
            Fill::Rest => "rest",
            Fill::Box => "box",
            Fill::Root => "root",
            Fill::Empty => "empty",
        }
    }
}

/// A picture, which grows with what is drawn.
pub struct Drawing {
    title: String,
    shapes: String,
    width: usize,
    height: usize,
}

impl Drawing {
    /// Makes a picture with a title and, below it, a line that says more. An empty line is left out.
    pub fn new(title: &str, line: &str) -> Self {
        let mut drawing =
            Drawing { title: title.to_owned(), shapes: String::new(), width: MARGIN_PIXELS, height: MARGIN_PIXELS };
        drawing.push_text("title", [MARGIN_PIXELS, MARGIN_PIXELS + 14], Anchor::Start, title, None);
        // The title is larger than other texts.
        drawing.extend_to([MARGIN_PIXELS + text_pixels(title) * 17 / 13, MARGIN_PIXELS + 20]);
        if !line.is_empty() {
            drawing.text([MARGIN_PIXELS, MARGIN_PIXELS + 38], TextStyle::Dim, Anchor::Start, line, usize::MAX);
        }
        drawing
    }

    /// Returns the first free position below all that is drawn.
    pub fn bottom(&self) -> usize {
        self.height
    }

    /// Draws one line of text of at most `max_chars` characters: a longer one ends in an ellipsis, and all of it shows
    /// when the mouse is on it. `position` is where its base line begins, or ends.
    pub fn text(&mut self, position: [usize; 2], style: TextStyle, anchor: Anchor, text: &str, max_chars: usize) {
        let class = match style {
            TextStyle::Plain => "",
            TextStyle::Heading => "heading",
            TextStyle::Dim => "dim",
        };
        let shown = cut(text, max_chars);
        let all = (shown != text).then_some(text);
        self.push_text(class, position, anchor, &shown, all);
        let [x, y] = position;
        self.extend_to([if matches!(anchor, Anchor::Start) { x + text_pixels(&shown) } else { x }, y + 6]);
    }

    fn push_text(&mut self, class: &str, [x, y]: [usize; 2], anchor: Anchor, text: &str, all: Option<&str>) {
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let anchor = if matches!(anchor, Anchor::End) { " text-anchor=\"end\"" } else { "" };
        let all = all.map_or(String::new(), |all| format!("<title>{}</title>", escaped(all)));
        let _ = writeln!(self.shapes, "<text x=\"{x}\" y=\"{y}\"{class}{anchor}>{all}{}</text>", escaped(text));
    }

    /// Draws a box with rounded corners. `corner` is the upper left one.
    pub fn rectangle(&mut self, fill: Fill, [x, y]: [usize; 2], [width, height]: [usize; 2]) {
        let class = fill.class();
        let radius = 3.min(width / 2);
        let _ = writeln!(
            self.shapes,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{radius}\" class=\"{class}\"/>"
        );
        self.extend_to([x + width, y + height]);
    }

    /// Draws a line from the right side of one thing to the left side of another, with a step in the middle.
    pub fn step(&mut self, [from_x, from_y]: [usize; 2], [to_x, to_y]: [usize; 2]) {
        let middle = usize::midpoint(from_x, to_x);
        let _ = writeln!(self.shapes, "<path d=\"M{from_x} {from_y}H{middle}V{to_y}H{to_x}\" class=\"line\"/>");
    }

    fn extend_to(&mut self, [x, y]: [usize; 2]) {
        self.width = self.width.max(x);
        self.height = self.height.max(y);
    }

    /// Returns the text of the picture.
    pub fn finish(self) -> String {
        let (width, height) = (self.width + MARGIN_PIXELS, self.height + MARGIN_PIXELS);
        let title = escaped(&self.title);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{title}</title>\n<style>{STYLE}</style>\n\
             <rect width=\"{width}\" height=\"{height}\" class=\"page\"/>\n{}</svg>\n",
            self.shapes
        )
    }
}

/// Returns the width of a text, in pixels.
pub fn text_pixels(text: &str) -> usize {
    (cells(text) * CHAR_TENTHS).div_ceil(10)
}

/// Returns the number of characters that fit into a width.
pub fn chars_in(pixels: usize) -> usize {
    pixels * 10 / CHAR_TENTHS
}

/// Cuts a text to at most `max_chars` characters. A text that was cut ends in an ellipsis.
pub fn cut(text: &str, max_chars: usize) -> String {
    if cells(text) <= max_chars {
        return text.to_owned();
    }
    let mut used = 1;
    let fitting = text.chars().take_while(|letter| {
        used += letter_cells(*letter);
        used <= max_chars
    });
    let shown: String = fitting.collect();
    shown.trim_end().to_owned() + "…"
}

/// Breaks a text between words into at most `max_lines` lines. The last line may be longer: it has all the rest.
pub fn broken(text: &str, max_chars: usize, max_lines: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let count = lines.len();
        match lines.last_mut() {
            Some(line) if count == max_lines || cells(line) + 1 + cells(word) <= max_chars => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Returns how many characters of usual width a text is as wide as.
fn cells(text: &str) -> usize {
    text.chars().map(letter_cells).sum()
}

/// Returns 2 for the wide letters of East Asia and for pictures, else 1.
fn letter_cells(letter: char) -> usize {
    let is_wide = matches!(letter,
        '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff60}' | '\u{ffe0}'..='\u{ffe6}' | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}');
    if is_wide { 2 } else { 1 }
}

/// Escapes a text for XML. Characters that XML forbids become visible ones.
fn escaped(text: &str) -> String {
    let visible = single_line(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}");
    quick_xml::escape::escape(visible.as_str()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{Anchor, Drawing, MARGIN_PIXELS, TextStyle, broken, chars_in, cut, text_pixels};

    #[test]
    fn texts_are_cut_at_their_width() {
        for (text, most, expected) in [
            ("slot1@node01", 12, "slot1@node01"),
            ("slot1@node01", 11, "slot1@node…"),
            ("no slot has it", 8, "no slot…"),
            ("計算機計算機", 12, "計算機計算機"),
            ("計算機計算機", 10, "計算機計…"),
            ("", 0, ""),
        ] {
            assert_eq!(cut(text, most), expected);
            assert!(text_pixels(&cut(text, most)) <= text_pixels(&"x".repeat(most)));
        }
        assert_eq!(chars_in(text_pixels(&"x".repeat(40))), 40);
    }

    #[test]
    fn sentences_are_broken_between_words() {
        assert_eq!(broken("no slot has so much memory", 12, 3), ["no slot has", "so much", "memory"]);
        assert_eq!(broken("no slot has so much memory", 12, 2), ["no slot has", "so much memory"]);
        assert!(broken("", 12, 2).is_empty());
    }

    #[test]
    fn a_picture_has_room_for_its_title_and_the_line_below() {
        let width = |title: &str, line: &str| Drawing::new(title, line).width;
        let of_title = |title: &str| MARGIN_PIXELS + text_pixels(title) * 17 / 13;
        for (title, line) in [("", ""), ("jobs", ""), ("a title of many words", ""), ("a title of many words", "short")]
        {
            assert!(width(title, line) >= of_title(title), "{title}");
        }
        assert!(width("a title of many words", "") > width("jobs", ""));
        assert!(width("jobs", "what is in it, in many words") > width("jobs", ""));
        // The first free position is below the title, and below the line if there is one.
        assert!(Drawing::new("jobs", "").bottom() >= MARGIN_PIXELS + 20);
        assert!(Drawing::new("jobs", "x").bottom() > MARGIN_PIXELS + 38);
    }

    #[test]
    fn a_picture_is_as_large_as_what_is_drawn_and_escapes_its_texts() {
        let mut drawing = Drawing::new("a <b> & \"c\"\u{1}\u{ffff}", "");
        drawing.text([100, 200], TextStyle::Plain, Anchor::Start, "wide enough & cut", 6);
        let text = drawing.finish();
        assert!(text.contains("<title>a &lt;b&gt; &amp; &quot;c&quot;"), "{text}");
        assert!(!text.contains('\u{1}') && !text.contains('\u{ffff}'), "{text}");
        assert!(text.contains("height=\"230\" viewBox=\"0 0 "), "{text}");
        assert!(text.contains("<title>wide enough &amp; cut</title>wide…</text>"), "{text}");
    }
}
