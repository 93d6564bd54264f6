//! Pictures of bars: what is counted, the number and the share, beside or above each bar.

use classad::text::with_commas;

use super::{Anchor, Drawing, Fill, LINE_PIXELS, MARGIN_PIXELS, TextStyle, broken, chars_in};

/// Width of all that a picture of bars has between its margins, in pixels.
const CONTENT_PIXELS: usize = 752;

/// Maximum length of the longest bar, in pixels.
const MAX_BAR_PIXELS: usize = 330;

/// Height of a bar, in pixels.
const BAR_PIXELS: usize = 14;

/// Width of the column of numbers, and of that of shares, in pixels.
const NUMBER_PIXELS: usize = 90;
const SHARE_PIXELS: usize = 66;

/// Distance between a bar and its base line, in pixels.
const BAR_RISE_PIXELS: usize = 11;

/// A bar: what is counted, and how many there are.
pub struct Bar {
    pub label: String,
    pub count: usize,
    /// The share, such as `25.0 %`.
    pub share: String,
    pub fill: Fill,
    /// A line below the bar; none if empty.
    pub remark: String,
}

/// Bars under one heading. The longest bar has the largest count.
pub struct BarGroup {
    pub heading: String,
    /// What stands beside the heading.
    pub about: String,
    pub bars: Vec<Bar>,
}

/// Draws a group with each label at the left of its bar.
pub fn draw_beside(drawing: &mut Drawing, group: &BarGroup) {
    let top = drawing.bottom() + LINE_PIXELS + 14;
    drawing.text([MARGIN_PIXELS, top], TextStyle::Heading, Anchor::Start, &group.heading, 40);
    let right = MARGIN_PIXELS + CONTENT_PIXELS;
    let room = chars_in(CONTENT_PIXELS).saturating_sub(group.heading.chars().count().min(40) + 3);
    drawing.text([right, top], TextStyle::Dim, Anchor::End, &group.about, room);
    let bars_at = right - SHARE_PIXELS - NUMBER_PIXELS - MAX_BAR_PIXELS;
    let label_chars = chars_in(bars_at - MARGIN_PIXELS - 16);
    for (place, bar) in group.bars.iter().enumerate() {
        let y = top + (place + 1) * LINE_PIXELS + 4;
        drawing.text([MARGIN_PIXELS + 8, y], TextStyle::Plain, Anchor::Start, &bar.label, label_chars);
        draw_bar(drawing, bar, group.longest(), [bars_at, y]);
    }
}

/// Draws a group with the label of each bar above it, on at most two lines, and its remark below it.
pub fn draw_above(drawing: &mut Drawing, group: &BarGroup) {
    const MAX_LABEL_LINES: usize = 2;
    const MAX_REMARK_LINES: usize = 2;
    let right = MARGIN_PIXELS + CONTENT_PIXELS;
    let most = chars_in(CONTENT_PIXELS);
    for bar in &group.bars {
        let mut y = drawing.bottom() + 14;
        for line in broken(&bar.label, most, MAX_LABEL_LINES) {
            y += LINE_PIXELS;
            drawing.text([MARGIN_PIXELS, y], TextStyle::Heading, Anchor::Start, &line, most);
        }
        y += LINE_PIXELS;
        draw_long_bar(drawing, bar, group.longest(), [MARGIN_PIXELS, y], right);
        for line in broken(&bar.remark, most, MAX_REMARK_LINES) {
            y += LINE_PIXELS;
            drawing.text([MARGIN_PIXELS, y], TextStyle::Dim, Anchor::Start, &line, most);
        }
    }
}

/// Draws a bar with its number and share at the right. `position` is the left end of the base line.
fn draw_bar(drawing: &mut Drawing, bar: &Bar, longest: usize, [x, y]: [usize; 2]) {
    draw_long_bar(drawing, bar, longest, [x, y], x + MAX_BAR_PIXELS + NUMBER_PIXELS + SHARE_PIXELS);
}

/// Draws a bar that may be as long as the room up to `right` allows beside its number and share.
fn draw_long_bar(drawing: &mut Drawing, bar: &Bar, longest: usize, [x, y]: [usize; 2], right: usize) {
    let room = right - x - NUMBER_PIXELS - SHARE_PIXELS;
    let top = y - BAR_RISE_PIXELS;
    drawing.rectangle(Fill::Track, [x, top], [room, BAR_PIXELS]);
    if bar.count > 0 {
        drawing.rectangle(bar.fill, [x, top], [bar_pixels(bar.count, longest, room), BAR_PIXELS]);
    }
    drawing.text([right - SHARE_PIXELS, y], TextStyle::Plain, Anchor::End, &with_commas(bar.count), usize::MAX);
    drawing.text([right, y], TextStyle::Dim, Anchor::End, &bar.share, usize::MAX);
}

/// Returns the length of a bar: a number above 0 has at least 2 pixels.
fn bar_pixels(count: usize, longest: usize, room: usize) -> usize {
    // The product of two `usize` fits into 128 bits.
    let share = count.min(longest) as u128 * room as u128 / longest.max(1) as u128;
    usize::try_from(share).unwrap_or(room).max(2)
}

impl BarGroup {
    fn longest(&self) -> usize {
        self.bars.iter().map(|bar| bar.count).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Bar, BarGroup, Drawing, Fill, bar_pixels, draw_above, draw_beside};

    #[test]
    fn bars_are_as_long_as_their_numbers() {
        assert_eq!([1, 50, 100].map(|count| bar_pixels(count, 100, 300)), [3, 150, 300]);
        assert_eq!(bar_pixels(1, 1_000_000, 300), 2);
        assert_eq!(bar_pixels(usize::MAX, usize::MAX, 300), 300);
    }

    /// Returns the lines of a picture with texts and boxes, without its title.
    fn lines(drawing: Drawing) -> Vec<String> {
        let picture = drawing.finish();
        let lines = picture.lines().filter(|line| line.starts_with("<text") || line.starts_with("<rect x"));
        lines.skip(1).map(str::to_owned).collect()
    }

    fn bar(label: &str, count: usize, fill: Fill, remark: &str) -> Bar {
        Bar { label: label.to_owned(), count, share: format!("{count} %"), fill, remark: remark.to_owned() }
    }

    fn group(heading: &str, about: &str, bars: Vec<Bar>) -> BarGroup {
        BarGroup { heading: heading.to_owned(), about: about.to_owned(), bars }
    }

    #[test]
    fn bars_stand_beside_their_labels() {
        let mut drawing = Drawing::new("t", "");
        draw_beside(&mut drawing, &group("h", "a", vec![bar("x", 2, Fill::Bar, ""), bar("y", 0, Fill::Rest, "")]));
        assert_eq!(drawing.bottom(), 128);
        let expected = [
            "<text x=\"24\" y=\"78\" class=\"heading\">h</text>",
            "<text x=\"776\" y=\"78\" class=\"dim\" text-anchor=\"end\">a</text>",
            "<text x=\"32\" y=\"102\">x</text>",
            "<rect x=\"290\" y=\"91\" width=\"330\" height=\"14\" rx=\"3\" class=\"track\"/>",
            "<rect x=\"290\" y=\"91\" width=\"330\" height=\"14\" rx=\"3\" class=\"bar\"/>",
            "<text x=\"710\" y=\"102\" text-anchor=\"end\">2</text>",
            "<text x=\"776\" y=\"102\" class=\"dim\" text-anchor=\"end\">2 %</text>",
            "<text x=\"32\" y=\"122\">y</text>",
            "<rect x=\"290\" y=\"111\" width=\"330\" height=\"14\" rx=\"3\" class=\"track\"/>",
            "<text x=\"710\" y=\"122\" text-anchor=\"end\">0</text>",
            "<text x=\"776\" y=\"122\" class=\"dim\" text-anchor=\"end\">0 %</text>",
        ];
        assert_eq!(lines(drawing), expected);
    }

    #[test]
    fn long_texts_beside_bars_are_cut() {
        for (heading, about, label, cut) in
            [(40, 52, 31, 0), (41, 52, 31, 1), (40, 53, 31, 1), (1, 91, 32, 1), (1, 92, 31, 1)]
        {
            let mut drawing = Drawing::new("t", "");
            let [heading, about, label] = [heading, about, label].map(|length| "x".repeat(length));
            draw_beside(&mut drawing, &group(&heading, &about, vec![bar(&label, 1, Fill::Bar, "")]));
            let shown = lines(drawing);
            let found = shown.iter().filter(|line| line.contains('…')).count();
            assert_eq!(found, cut, "{shown:?}");
        }
    }

    #[test]
    fn bars_stand_below_their_labels() {
        let mut drawing = Drawing::new("t", "");
        draw_above(&mut drawing, &group("", "", vec![bar("x", 3, Fill::Bad, "r"), bar("", 1, Fill::Good, "")]));
        assert_eq!(drawing.bottom(), 164);
        let expected = [
            "<text x=\"24\" y=\"78\" class=\"heading\">x</text>",
            "<rect x=\"24\" y=\"87\" width=\"596\" height=\"14\" rx=\"3\" class=\"track\"/>",
            "<rect x=\"24\" y=\"87\" width=\"596\" height=\"14\" rx=\"3\" class=\"bad\"/>",
            "<text x=\"710\" y=\"98\" text-anchor=\"end\">3</text>",
            "<text x=\"776\" y=\"98\" class=\"dim\" text-anchor=\"end\">3 %</text>",
            "<text x=\"24\" y=\"118\" class=\"dim\">r</text>",
            "<rect x=\"24\" y=\"147\" width=\"596\" height=\"14\" rx=\"3\" class=\"track\"/>",
            "<rect x=\"24\" y=\"147\" width=\"198\" height=\"14\" rx=\"3\" class=\"good\"/>",
            "<text x=\"710\" y=\"158\" text-anchor=\"end\">1</text>",
            "<text x=\"776\" y=\"158\" class=\"dim\" text-anchor=\"end\">1 %</text>",
        ];
        assert_eq!(lines(drawing), expected);
    }

    #[test]
    fn long_texts_above_and_below_bars_have_two_lines() {
        let words = |count: usize| vec!["word"; count].join(" ");
        for (count, heights, is_cut) in
            [(19, [78, 98, 118], false), (20, [98, 118, 158], false), (39, [98, 118, 158], true)]
        {
            let mut drawing = Drawing::new("t", "");
            draw_above(&mut drawing, &group("", "", vec![bar(&words(count), 0, Fill::Bad, &words(count))]));
            let shown = lines(drawing).join("\n");
            let last = |class: &str| shown.lines().rfind(|line| line.contains(class)).unwrap().to_owned();
            let [heading, number, remark] = heights.map(|y| format!(" y=\"{y}\""));
            assert!(last("\"heading\"").contains(&heading), "{shown}");
            assert!(last(">0</text>").contains(&number), "{shown}");
            assert!(last("\"dim\">").contains(&remark), "{shown}");
            assert_eq!(shown.matches('…').count(), if is_cut { 2 } else { 0 }, "{shown}");
        }
    }
}
