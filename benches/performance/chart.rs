//! Charts with two logarithmic axes, as SVG.

use std::fmt::Write;

/// A line of a chart.
pub struct Curve {
    pub name: &'static str,
    /// Positive coordinates, in the order of the first one.
    pub points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 440.0;
/// Space for the axes at the left and below, and for the names of the curves at the right.
const LEFT: f64 = 70.0;
const BELOW: f64 = 50.0;
const RIGHT: f64 = 120.0;
const ABOVE: f64 = 24.0;
const COLOURS: [&str; 6] = ["#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#d68910", "#34495e"];

/// A logarithmic axis from one power of ten to another.
struct Axis {
    first: i32,
    last: i32,
    /// Where the axis begins and ends, in pixels.
    ends: [f64; 2],
}

impl Axis {
    fn new(values: impl Iterator<Item = f64> + Clone, ends: [f64; 2]) -> Self {
        let lowest = values.clone().fold(f64::INFINITY, f64::min).log10().floor();
        let highest = values.fold(f64::NEG_INFINITY, f64::max).log10().ceil();
        #[allow(clippy::cast_possible_truncation)] // powers of ten of sizes and times
        let [first, last] =
            if lowest.is_finite() && highest.is_finite() { [lowest as i32, highest as i32] } else { [0, 1] };
        Axis { first, last: last.max(first + 1), ends }
    }

    fn at(&self, value: f64) -> f64 {
        let part = (value.log10() - f64::from(self.first)) / f64::from(self.last - self.first);
        self.ends[0] + part * (self.ends[1] - self.ends[0])
    }

    fn ticks(&self) -> impl Iterator<Item = (f64, String)> {
        (self.first..=self.last).map(|power| (self.at(10f64.powi(power)), format!("{}", 10f64.powi(power))))
    }
}

/// A chart of some curves.
pub fn chart(across: &str, up: &str, curves: &[Curve]) -> String {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BELOW);
    let x = Axis::new(points().map(|point| point.0), [LEFT, right]);
    let y = Axis::new(points().map(|point| point.1), [bottom, ABOVE]);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let line = |[x1, y1, x2, y2]: [f64; 4]| {
        format!("<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"#dddddd\"/>\n")
    };
    let text = |x: f64, y: f64, anchor: &str, text: &str| {
        format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>\n")
    };
    for (at, number) in x.ticks() {
        svg += &line([at, ABOVE, at, bottom]);
        svg += &text(at, bottom + 18.0, "middle", &number);
    }
    for (at, number) in y.ticks() {
        svg += &line([LEFT, at, right, at]);
        svg += &text(LEFT - 8.0, at + 4.0, "end", &number);
    }
    svg += &text(f64::midpoint(LEFT, right), HEIGHT - 8.0, "middle", across);
    svg += &text(8.0, 14.0, "start", up);
    for (curve, colour) in curves.iter().zip(COLOURS.iter().cycle()) {
        let points: Vec<(f64, f64)> = curve.points.iter().map(|point| (x.at(point.0), y.at(point.1))).collect();
        let Some((last_x, last_y)) = points.last() else { continue };
        let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            path.join(" ")
        );
        for (x, y) in &points {
            let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>");
        }
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"{colour}\">{}</text>",
            last_x + 8.0,
            last_y + 4.0,
            curve.name
        );
    }
    svg + "</svg>\n"
}
