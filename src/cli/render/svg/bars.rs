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
    use super::bar_pixels;

    #[test]
    fn bars_are_as_long_as_their_numbers() {
        assert_eq!([1, 50, 100].map(|count| bar_pixels(count, 100, 300)), [3, 150, 300]);
        assert_eq!(bar_pixels(1, 1_000_000, 300), 2);
        assert_eq!(bar_pixels(usize::MAX, usize::MAX, 300), 300);
    }
}
