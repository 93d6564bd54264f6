//! What submitters and groups have from cycle to cycle: rows, a table over all cycles, and a picture.

use std::collections::BTreeMap;
use std::io::Write;

use classad::matching::negotiate::{SimulatedCycle, SubmitterState};
use classad::matching::policy::GroupTree;
use classad::text::{counted, rounded};

use crate::cli::args::output::TableOutputArgs;
use crate::cli::outcome::Failure;
use crate::cli::render::chart::column_chart;
use crate::cli::render::output::{OutputForm, out};
use crate::cli::render::rows::{ResultTable, TableCell};
use crate::cli::render::svg::{Anchor, Drawing, Fill, LINE_PIXELS, MARGIN_PIXELS, TextStyle};

/// The columns of numbers that a row of a cycle has.
const NUMBERS: [&str; 8] = ["priority", "waiting", "matches", "started", "ended", "evicted", "running", "used"];

/// Maximum number of points of a series. Beyond it, each two neighbours become one.
const MAX_POINTS: usize = 512;

/// Width of a series in a table, in terminal cells.
const TABLE_CELLS: usize = 40;

/// Height and width of a series in a picture, in pixels.
const PICTURE_PIXELS: [usize; 2] = [32, MAX_POINTS];

/// The submitters and groups of all cycles.
pub struct Course<'g> {
    groups: Option<&'g GroupTree>,
    /// By group and submitter; a group has an empty submitter.
    lines: BTreeMap<(String, String), CourseLine>,
    cycles: usize,
}

/// What a submitter or a group had.
#[derive(Default)]
struct CourseLine {
    started: usize,
    ended: usize,
    evicted: usize,
    peak: f64,
    sum: f64,
    last: SubmitterState,
    series: Series,
}

/// Numbers of consecutive cycles; each point is the mean of equally many.
struct Series {
    points: Vec<f64>,
    /// Number of cycles in a point.
    width: usize,
    /// Sum of the cycles that are no whole point yet, and their number.
    open: (f64, usize),
}

impl Default for Series {
    fn default() -> Self {
        Series { points: Vec::new(), width: 1, open: (0.0, 0) }
    }
}

impl Series {
    #[allow(clippy::cast_precision_loss)] // a count of cycles
    fn push(&mut self, value: f64) {
        self.open = (self.open.0 + value, self.open.1 + 1);
        if self.open.1 < self.width {
            return;
        }
        self.points.push(self.open.0 / self.width as f64);
        self.open = (0.0, 0);
        if self.points.len() == MAX_POINTS {
            self.points = self.points.chunks(2).map(|pair| pair.iter().sum::<f64>() / pair.len() as f64).collect();
            self.width *= 2;
        }
    }
}

impl<'g> Course<'g> {
    /// Creates an empty course. `groups` is given if there are any.
    pub fn new(groups: Option<&'g GroupTree>) -> Self {
        Course { groups, lines: BTreeMap::new(), cycles: 0 }
    }

    /// Returns the columns of [`Course::rows`].
    pub fn header(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.groups.map(|_| "group").into_iter().chain(["submitter"]).chain(NUMBERS)
    }

    /// Returns a row for each group and each submitter of a cycle. The row of a group has no submitter, and counts its own
    /// submitters, without those of the groups below it.
    pub fn rows(&self, cycle: &SimulatedCycle) -> impl Iterator<Item = Vec<TableCell>> + use<> {
        let has_groups = self.groups.is_some();
        self.states(cycle).into_iter().map(move |((group, submitter), state)| {
            let mut row: Vec<TableCell> = has_groups.then(|| group.into()).into_iter().collect();
            row.push(submitter.into());
            row.push(state.priority.into());
            let counts = [state.waiting, state.matches, state.started, state.ended, state.evicted, state.running];
            row.extend(counts.map(TableCell::from));
            row.push(state.used.into());
            row
        })
    }

    /// Returns the states of submitters and groups, by group and submitter. That of a group has no submitter.
    pub fn states(&self, cycle: &SimulatedCycle) -> BTreeMap<(String, String), SubmitterState> {
        let mut states: BTreeMap<(String, String), SubmitterState> = BTreeMap::new();
        for (name, state) in &cycle.submitters {
            let group = self.groups.map_or(String::new(), |groups| groups.groups()[groups.group_of(name)].name.clone());
            if self.groups.is_some() {
                let all = states.entry((group.clone(), String::new())).or_default();
                all.waiting += state.waiting;
                all.matches += state.matches;
                all.started += state.started;
                all.ended += state.ended;
                all.evicted += state.evicted;
                all.running += state.running;
                all.used += state.used;
            }
            // Without shares, the only submitter has no name.
            if self.groups.is_none() || !name.is_empty() {
                states.insert((group, name.clone()), state.clone());
            }
        }
        states
    }

    /// Adds a cycle.
    pub fn add(&mut self, cycle: &SimulatedCycle) {
        for (name, state) in self.states(cycle) {
            let line = self.lines.entry(name).or_default();
            // Before, it neither waited nor ran.
            while line.series.points.len() * line.series.width + line.series.open.1 < self.cycles {
                line.series.push(0.0);
            }
            line.started += state.started;
            line.ended += state.ended;
            line.evicted += state.evicted;
            line.peak = line.peak.max(state.used);
            line.sum += state.used;
            line.series.push(state.used);
            line.last = state;
        }
        self.cycles += 1;
        for line in self.lines.values_mut() {
            if line.series.points.len() * line.series.width + line.series.open.1 < self.cycles {
                line.series.push(0.0);
                line.last = SubmitterState::default();
            }
        }
    }

    /// Writes a table, or a picture.
    pub fn write(&self, form: TableOutputArgs) -> Result<(), Failure> {
        if form.form == Some(OutputForm::Svg) {
            return write!(out(), "{}", self.picture()).map_err(Failure::from);
        }
        form.write(&self.table())
    }

    /// Returns the largest number of all series.
    fn most(&self) -> f64 {
        self.lines.values().map(|line| line.peak).fold(0.0, f64::max)
    }

    /// Returns a row for each group and submitter over all cycles. All series have one scale.
    #[allow(clippy::cast_precision_loss)] // a count of cycles
    fn table(&self) -> ResultTable {
        let names = self.groups.map(|_| "group").into_iter().chain(["submitter"]);
        let numbers = ["started", "ended", "evicted", "running", "waiting", "mean used", "most used", "used"];
        let mut table =
            ResultTable { header: names.chain(numbers).map(str::to_owned).collect(), ..ResultTable::default() };
        let most = self.most();
        for ((group, submitter), line) in &self.lines {
            let mut row: Vec<TableCell> = self.groups.map(|_| group.clone().into()).into_iter().collect();
            row.push(submitter.clone().into());
            row.extend([line.started, line.ended, line.evicted, line.last.running].map(TableCell::from));
            row.push((line.last.waiting + line.last.evicted).saturating_sub(line.last.started).into());
            row.push(rounded(line.sum / self.cycles.max(1) as f64).into());
            row.push(rounded(line.peak).into());
            row.push(column_chart(&line.series.points, most, TABLE_CELLS).into());
            table.rows.push(row);
        }
        table
    }

    /// Draws the series of each group and submitter below each other.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)] // pixels
    fn picture(&self) -> String {
        let most = self.most();
        let about = format!("weight in use after each of {}; at most {}", counted(self.cycles, "cycle"), rounded(most));
        let mut drawing = Drawing::new("Use of the pool", &about);
        let [height, width] = PICTURE_PIXELS;
        for ((group, submitter), line) in &self.lines {
            let (style, name) = match (submitter.as_str(), group.as_str()) {
                ("", "") => (TextStyle::Heading, "all requests"),
                ("", group) => (TextStyle::Heading, group),
                (submitter, _) => (TextStyle::Plain, submitter),
            };
            let top = drawing.bottom() + 10;
            drawing.text([MARGIN_PIXELS, top + LINE_PIXELS], style, Anchor::Start, name, 40);
            let left = MARGIN_PIXELS + 340;
            drawing.rectangle(Fill::Track, [left, top], [width, height]);
            let points = &line.series.points;
            for (place, point) in points.iter().enumerate().filter(|(_, point)| **point > 0.0) {
                let [from, to] = [place, place + 1].map(|place| left + place * width / points.len());
                let tall = ((point / most * height as f64).round() as usize).clamp(1, height);
                drawing.rectangle(Fill::Bar, [from, top + height - tall], [(to - from).max(1), tall]);
            }
            let used = format!("{} at most, {} started", rounded(line.peak), line.started);
            drawing.text([left + width + 12, top + LINE_PIXELS], TextStyle::Dim, Anchor::Start, &used, 40);
        }
        drawing.finish()
    }
}

#[cfg(test)]
mod tests {
    use classad::ad::Dialect;
    use classad::matching::negotiate::{SimulatedCycle, SubmitterState};
    use classad::matching::policy::{GroupTree, Policy};

    use super::{Course, MAX_POINTS, Series};
    use crate::cli::render::rows::TableCell;

    fn text(row: &[TableCell]) -> String {
        row.iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>().join("|")
    }

    /// A cycle after which submitters have these states: priority, waiting, matches, started, ended, evicted, running, used.
    fn cycle(submitters: &[(&str, [u32; 8])]) -> SimulatedCycle {
        let state = |[priority, waiting, matches, started, ended, evicted, running, used]: [u32; 8]| {
            let [waiting, matches, started, ended, evicted, running] =
                [waiting, matches, started, ended, evicted, running].map(|count| count as usize);
            let [priority, used] = [priority, used].map(f64::from);
            SubmitterState { priority, waiting, matches, started, ended, evicted, running, used }
        };
        let submitters = submitters.iter().map(|(name, of)| ((*name).to_owned(), state(*of))).collect();
        let (matches, starts, effects) = (Vec::new(), Vec::new(), Vec::new());
        SimulatedCycle { number: 1, time: 0, matches, starts, effects, submitters }
    }

    fn rows(course: &Course<'_>, cycle: &SimulatedCycle) -> Vec<String> {
        course.rows(cycle).map(|row| text(&row)).collect()
    }

    fn groups() -> GroupTree {
        let text = b"share: { by: User, weight: Weight, in-use-by: UsedBy, groups: { physics: 2 } }";
        let policy = Policy::parse(text, Dialect::Condor).unwrap();
        policy.weighted_share().unwrap().groups.clone()
    }

    #[test]
    fn a_group_has_the_sums_of_its_submitters() {
        let groups = groups();
        let of_groups = Course::new(Some(&groups));
        let [one, two] = [[1, 2, 3, 4, 5, 6, 7, 8], [10, 20, 30, 40, 50, 60, 70, 80]];
        let some = cycle(&[("physics.ann@x", one), ("physics.bob@x", two), ("carl@x", one)]);
        assert_eq!(
            rows(&of_groups, &some),
            [
                "<none>||0|2|3|4|5|6|7|8",
                "<none>|carl@x|1|2|3|4|5|6|7|8",
                "physics||0|22|33|44|55|66|77|88",
                "physics|physics.ann@x|1|2|3|4|5|6|7|8",
                "physics|physics.bob@x|10|20|30|40|50|60|70|80",
            ]
        );
        assert_eq!(rows(&of_groups, &cycle(&[("", one)])), ["<none>||0|2|3|4|5|6|7|8"]);
        assert_eq!(
            of_groups.header().collect::<Vec<_>>().join(" "),
            "group submitter priority waiting matches started ended evicted running used"
        );
        let of_all = Course::new(None);
        assert_eq!(
            rows(&of_all, &cycle(&[("", one), ("ann", two)])),
            ["|1|2|3|4|5|6|7|8", "ann|10|20|30|40|50|60|70|80"]
        );
        assert_eq!(of_all.header().next(), Some("submitter"));
    }

    /// The course of three cycles, in which submitters come and go.
    fn add_cycles(course: &mut Course<'_>) {
        course.add(&cycle(&[("ann", [1, 5, 2, 2, 0, 0, 2, 4])]));
        course.add(&cycle(&[("ann", [1, 4, 1, 1, 1, 3, 1, 2]), ("bob", [1, 1, 1, 1, 0, 0, 1, 1])]));
        course.add(&cycle(&[("bob", [1, 7, 2, 2, 1, 1, 2, 3])]));
    }

    #[test]
    fn a_table_of_all_cycles_has_sums_means_and_what_is_last() {
        let mut course = Course::new(None);
        assert!(course.table().rows.is_empty());
        add_cycles(&mut course);
        let table = course.table();
        let rows: Vec<String> = table.rows.iter().map(|row| text(&row[..8])).collect();
        assert_eq!(table.header.join("|"), "submitter|started|ended|evicted|running|waiting|mean used|most used|used");
        // ann neither waits nor runs in the end. Of bob's seven requests two started, and one lost its offer.
        assert_eq!(rows, ["ann|3|1|3|0|0|2|4", "bob|3|1|1|2|6|1.33|3"]);
        let series: Vec<&[f64]> = course.lines.values().map(|line| &line.series.points[..]).collect();
        assert_eq!(series, [[4.0, 2.0, 0.0], [0.0, 1.0, 3.0]]);
        let groups = groups();
        let mut course = Course::new(Some(&groups));
        add_cycles(&mut course);
        let table = course.table();
        assert_eq!(table.header[..3].join("|"), "group|submitter|started");
        assert_eq!(text(&table.rows[0][..9]), "<none>||6|2|4|2|6|3.33|4");
    }

    #[test]
    fn a_picture_has_a_bar_for_each_cycle() {
        let mut course = Course::new(None);
        add_cycles(&mut course);
        let picture = course.picture();
        for part in [
            "weight in use after each of 3 cycles; at most 4",
            ">ann<",
            ">4 at most, 3 started<",
            ">3 at most, 3 started<",
        ] {
            assert!(picture.contains(part), "{part}: {picture}");
        }
        // A track for each submitter. Its bars are as high as their part of 4, and those of 0 are left out.
        let numbers = |line: &str| {
            let number = |name: &str| {
                let (_, rest) = line.split_once(&format!(" {name}=\"")).unwrap_or_default();
                rest.split('"').next().unwrap_or_default().to_owned()
            };
            ["x", "y", "width", "height"].map(number).join(" ")
        };
        let bars: Vec<String> = picture.lines().filter(|line| line.starts_with("<rect x=")).map(numbers).collect();
        assert_eq!(
            bars,
            ["364 78 512 32", "364 78 170 32", "534 94 171 16", "364 120 512 32", "534 144 171 8", "705 128 171 24",]
        );
    }

    #[test]
    fn a_point_of_a_long_series_is_the_mean_of_its_cycles() {
        let mut series = Series::default();
        for cycle in 1..MAX_POINTS {
            series.push(if cycle == 2 { 5.0 } else { 1.0 });
        }
        assert_eq!((series.points.len(), series.width), (MAX_POINTS - 1, 1));
        series.push(1.0);
        assert_eq!((series.points.len(), series.width, series.open), (MAX_POINTS / 2, 2, (0.0, 0)));
        assert_eq!((series.points[0], series.points[1]), (3.0, 1.0));
        series.push(4.0);
        assert_eq!((series.points.len(), series.open), (MAX_POINTS / 2, (4.0, 1)));
        series.push(8.0);
        assert_eq!((series.points.last(), series.open), (Some(&6.0), (0.0, 0)));
    }

    #[test]
    fn a_series_has_constant_memory_and_keeps_its_mean() {
        let mut series = Series::default();
        for cycle in 0..100_000 {
            series.push(f64::from(cycle % 10));
        }
        assert!(series.points.len() < MAX_POINTS && series.width >= 100_000 / MAX_POINTS);
        assert!(series.points.iter().all(|mean| (mean - 4.5).abs() < 0.1), "{:?}", series.points);
    }
}
