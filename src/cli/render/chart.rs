//! Bar charts and histograms as text.

use super::diagnostics;

/// Maximum width of the longest bar, in terminal cells.
const MAX_BAR_CELLS: usize = 24;

/// Minimum width of the longest bar, in terminal cells: shorter bars cannot be told apart.
const MIN_BAR_CELLS: usize = 6;

/// The scale of a bar chart: the number that the longest bar stands for, and the width of that bar in terminal cells.
pub struct BarChart {
    max: usize,
    width: usize,
    is_unicode: bool,
}

impl BarChart {
    /// Makes a chart of numbers from 0 to `most`. `beside` is the number of terminal cells that a line needs for text
    /// beside its bar.
    pub fn new(most: usize, beside: usize) -> Self {
        let width = diagnostics::terminal_width().saturating_sub(beside).clamp(MIN_BAR_CELLS, MAX_BAR_CELLS);
        BarChart { max: most.max(1), width, is_unicode: diagnostics::supports_unicode() }
    }

    /// Returns the bar of a number, without padding. A number above 0 gets at least one block character.
    pub fn bar(&self, number: usize) -> String {
        let (parts, blocks) = if self.is_unicode {
            (8, [" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"])
        } else {
            (1, ["#"; 9])
        };
        let all = self.width * parts;
        // The product of two `usize` fits into 128 bits.
        let share = number.min(self.max) as u128 * all as u128 / self.max as u128;
        let filled = usize::try_from(share).unwrap_or(all).max(usize::from(number > 0));
        let mut bar = blocks[8].repeat(filled / parts);
        if filled % parts > 0 {
            bar.push_str(blocks[filled % parts]);
        }
        bar
    }

    /// Returns the bar, padded to the width of the longest bar. Text to the right of several bars is then aligned.
    pub fn padded_bar(&self, number: usize) -> String {
        format!("{:<width$}", self.bar(number), width = self.width)
    }
}

/// Returns a line of at most `cells` columns, each as high as the mean of its numbers is in proportion to `most`. A number
/// above 0 has at least the lowest column.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)] // eight heights
pub fn column_chart(numbers: &[f64], most: f64, cells: usize) -> String {
    let heights: &[char] = if diagnostics::supports_unicode() {
        &[' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']
    } else {
        &[' ', '.', ':', '+', '#']
    };
    let columns = cells.min(numbers.len());
    let column = |column: usize| {
        let part = &numbers[column * numbers.len() / columns..(column + 1) * numbers.len() / columns];
        let mean = part.iter().sum::<f64>() / part.len() as f64;
        let top = heights.len() - 1;
        let height = (mean / most.max(f64::MIN_POSITIVE) * top as f64).round() as usize;
        heights[height.clamp(usize::from(mean > 0.0), top)]
    };
    (0..columns).map(column).collect()
}

/// A bin of a histogram: the half-open range from `from` to `to`; the last bin includes `to`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HistogramBin {
    pub from: f64,
    /// End of this bin, and start of the next bin.
    pub to: f64,
    pub count: usize,
}

/// Minimum ratio of the greatest number to the least for a logarithmic scale. Below this ratio all bins have the same
/// width.
const MIN_LOGARITHMIC_RATIO: f64 = 1000.0;

/// Counts numbers in bins from the least to the greatest number. The result is empty if all numbers are equal, as there
/// is not a range to divide.
///
/// `numbers` are pairs of a number and how often it occurs. `ranges` is the number of bins.
#[allow(clippy::cast_precision_loss)] // a handful of ranges
pub fn histogram(numbers: &[(f64, usize)], ranges: usize) -> Vec<HistogramBin> {
    let finite = || numbers.iter().copied().filter(|(number, _)| number.is_finite());
    let least = finite().map(|(number, _)| number).fold(f64::INFINITY, f64::min);
    let greatest = finite().map(|(number, _)| number).fold(f64::NEG_INFINITY, f64::max);
    let by_factors = least > 0.0 && greatest / least >= MIN_LOGARITHMIC_RATIO;
    let scale = |number: f64| if by_factors { number.ln() } else { number };
    let back = |number: f64| if by_factors { number.exp() } else { number };
    let step = (scale(greatest) - scale(least)) / ranges as f64;
    if !(step.is_finite() && step > 0.0) {
        return Vec::new();
    }
    let bound = |range: usize| if range == ranges { greatest } else { back(scale(least) + step * range as f64) };
    let bin = |range| HistogramBin { from: bound(range), to: bound(range + 1), count: 0 };
    let mut bins: Vec<HistogramBin> = (0..ranges).map(bin).collect();
    for (number, count) in finite() {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // neither below 0 nor far above `ranges`
        let range = (((scale(number) - scale(least)) / step) as usize).min(ranges - 1);
        bins[range].count += count;
    }
    bins
}

/// Formats a part of all as a percentage, with 0 or 1 decimals. A share above 0 that rounds to 0 becomes `<1` or
/// `<0.1`. A share below 100 that rounds to 100 becomes `>99` or `>99.9`.
pub fn percent(part: usize, all: usize, decimals: u32) -> String {
    let whole = 100 * 10_usize.pow(decimals);
    let text = |share: usize| if decimals == 0 { share.to_string() } else { format!("{}.{}", share / 10, share % 10) };
    match (part.saturating_mul(2 * whole) / all.max(1)).div_ceil(2) {
        0 if part > 0 => format!("<{}", text(1)),
        share if share == whole && part < all => format!(">{}", text(whole - 1)),
        share => text(share),
    }
}

impl HistogramBin {
    /// Returns the range of the bin as text, such as `0.0..37.5`. The numbers have enough digits to distinguish
    /// neighbouring bins.
    pub fn label(&self) -> String {
        let digits = (1.0 - (self.to - self.from).log10()).ceil().clamp(0.0, 15.0);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 0 to 15
        let digits = digits as usize;
        format!("{:.digits$}..{:.digits$}", self.from, self.to)
    }
}

#[cfg(test)]
mod tests {
    use super::{BarChart, HistogramBin, column_chart, histogram, percent};
    use crate::cli::render::diagnostics::supports_unicode;

    #[test]
    fn bars_are_as_long_as_their_numbers() {
        let bars = BarChart { max: 10, width: 4, is_unicode: true };
        let shown: Vec<String> = [0, 1, 5, 10, 11].map(|number| bars.bar(number)).into();
        assert_eq!(shown, ["", "▍", "██", "████", "████"]);
        assert_eq!(bars.padded_bar(5), "██  ");
        let plain = BarChart { max: 1000, width: 4, is_unicode: false };
        let shown: Vec<String> = [0, 1, 500, 1000].map(|number| plain.bar(number)).into();
        assert_eq!(shown, ["", "#", "##", "####"]);
        assert_eq!(BarChart { max: usize::MAX, width: 24, is_unicode: true }.bar(usize::MAX), "█".repeat(24));
    }

    #[test]
    fn every_number_is_in_one_range() {
        let counted = |numbers: &[(f64, usize)], ranges| -> Vec<(String, usize)> {
            histogram(numbers, ranges).iter().map(|bin| (bin.label(), bin.count)).collect()
        };
        let even = [(0.0, 3), (9.9, 1), (10.0, 2), (5.0, 1), (f64::NAN, 7), (f64::INFINITY, 1)];
        assert_eq!(counted(&even, 2), [("0.0..5.0".to_owned(), 3), ("5.0..10.0".to_owned(), 4)]);
        let wide = [(1.0, 1), (50.0, 1), (200.0, 5), (10_000.0, 2)];
        assert_eq!(counted(&wide, 2), [("1..100".to_owned(), 2), ("100..10000".to_owned(), 7)]);
        for alike in [&[][..], &[(4.0, 9)], &[(f64::NAN, 2)], &[(-f64::MAX, 1), (f64::MAX, 1)]] {
            assert!(histogram(alike, 8).is_empty());
        }
        let tiny = counted(&[(0.0, 1), (f64::MIN_POSITIVE, 1)], 3);
        assert_eq!(tiny.iter().map(|(_, count)| count).sum::<usize>(), 2);
    }

    #[test]
    fn bars_follow_factors_from_a_thousand_on() {
        let labels = |numbers: &[(f64, usize)]| -> Vec<(String, usize)> {
            histogram(numbers, 3).iter().map(|bin| (bin.label(), bin.count)).collect()
        };
        let named = |bins: [(&str, usize); 3]| bins.map(|(label, count)| (label.to_owned(), count));
        let (least, most) = ((1.0, 1), (1000.0, 2));
        assert_eq!(labels(&[least, most]), named([("1.0..10.0", 1), ("10..100", 0), ("100..1000", 2)]));
        assert_eq!(labels(&[least, (999.0, 2)]), named([("1..334", 1), ("334..666", 0), ("666..999", 2)]));
        assert_eq!(labels(&[(0.0, 1), most]), named([("0..333", 1), ("333..667", 0), ("667..1000", 2)]));
        assert_eq!(labels(&[(-1.0, 1), most]), named([("-1..333", 1), ("333..666", 0), ("666..1000", 2)]));
    }

    #[test]
    fn a_label_has_two_digits_of_its_width() {
        for (from, to, expected) in [
            (0.0, 100.0, "0..100"),
            (0.0, 10.0, "0..10"),
            (0.0, 9.0, "0.0..9.0"),
            (0.0, 1.0, "0.0..1.0"),
            (0.25, 0.75, "0.25..0.75"),
            (1.0, 1.0, "1.000000000000000..1.000000000000000"),
        ] {
            assert_eq!(HistogramBin { from, to, count: 0 }.label(), expected);
        }
    }

    #[test]
    fn percentages_are_rounded_but_not_to_nothing_or_all() {
        for (part, all, decimals, expected) in [
            (0, 0, 0, "0"),
            (0, 10, 0, "0"),
            (1, 1000, 0, "<1"),
            (4, 1000, 0, "<1"),
            (5, 1000, 0, "1"),
            (1, 3, 0, "33"),
            (2, 3, 0, "67"),
            (994, 1000, 0, "99"),
            (995, 1000, 0, ">99"),
            (10, 10, 0, "100"),
            (0, 5, 1, "0.0"),
            (1, 3000, 1, "<0.1"),
            (1, 1000, 1, "0.1"),
            (1, 3, 1, "33.3"),
            (9999, 10_000, 1, ">99.9"),
            (7, 7, 1, "100.0"),
        ] {
            assert_eq!(percent(part, all, decimals), expected, "{part} of {all}");
        }
    }

    #[test]
    fn columns_are_as_high_as_their_numbers() {
        let is_unicode = supports_unicode();
        for (numbers, most, cells, unicode, plain) in [
            (&[][..], 4.0, 3, "", ""),
            (&[0.0, 1.0, 2.0, 4.0], 4.0, 4, " ▂▄█", " .:#"),
            (&[0.0, 1.0, 2.0, 4.0], 4.0, 9, " ▂▄█", " .:#"),
            // Several numbers in one column are their mean.
            (&[4.0, 0.0, 4.0, 4.0], 4.0, 2, "▄█", ":#"),
            (&[4.0, 0.0, 1.0], 4.0, 2, "█▁", "#."),
            (&[4.0, 0.0], 4.0, 0, "", ""),
            // What is not 0 is seen, and nothing is higher than all.
            (&[0.01, 9.0], 4.0, 2, "▁█", ".#"),
            (&[0.0], 0.0, 1, " ", " "),
        ] {
            let expected = if is_unicode { unicode } else { plain };
            assert_eq!(column_chart(numbers, most, cells), expected, "{numbers:?} in {cells}");
        }
    }
}
