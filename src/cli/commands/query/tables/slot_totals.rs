//! The totals that `condor_status` prints after its rows.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::cli::render::alignment::right_aligned;
use classad::query::AdLookup;

/// Minimum width of the names in the totals, in characters.
const MIN_NAME_WIDTH: usize = 14;

/// The states of slots in the totals, in the order of their numbers; the number of all slots comes before them.
const STATES: [&str; 7] = ["Owner", "Claimed", "Unclaimed", "Matched", "Preempting", "Drained", "Backfill"];

/// What totals count, and how they are printed.
pub struct TotalsStyle {
    heading: &'static str,
    /// The name of the line that an ad is counted in; `None` if the ad lacks it.
    name: fn(&mut AdLookup) -> Option<String>,
    /// The numbers of an ad, and whether all are there.
    count: fn(&mut AdLookup) -> (Vec<f64>, bool),
    print: fn(&[f64]) -> String,
    /// Whether only the sum of all lines is printed.
    is_sum_only: bool,
    /// Whether the names are as wide as the widest.
    has_wide_names: bool,
    /// Attributes that are read.
    pub attributes: &'static [&'static str],
}

/// What an ad adds to the totals.
pub struct TotalsEntry {
    /// The name of the line; `None` if the ad has none, so that it is in no line.
    pub name: Option<String>,
    numbers: Vec<f64>,
    /// Whether the ad has all attributes that are counted.
    is_complete: bool,
}

/// Totals of ads.
#[derive(Default)]
pub struct AdTotals {
    lines: BTreeMap<String, Vec<f64>>,
    sum: Vec<f64>,
    incomplete: usize,
}

pub static BY_STATE: TotalsStyle = TotalsStyle {
    heading: " Total Owner Claimed Unclaimed Matched Preempting  Drain Backfill BkIdle",
    name: architecture,
    count: state,
    print: |numbers| whole(numbers, &[6, 5, 7, 9, 7, 10, 6, 8, 6]),
    is_sum_only: false,
    has_wide_names: false,
    attributes: &["Arch", "OpSys", "State"],
};

pub static BY_ACTIVITY: TotalsStyle = TotalsStyle {
    heading: " Total Owner Unclaimed Claimed Preempting Matched  Drain Backfill BkIdle",
    name: |lookup| lookup.string("Activity"),
    // HTCondor prints no sum of the states here, but a 0.
    count: |lookup| {
        let (numbers, is_complete) = state(lookup);
        (
            vec![0.0, numbers[1], numbers[3], numbers[2], numbers[5], numbers[4], numbers[6], numbers[7], 0.0],
            is_complete,
        )
    },
    print: |numbers| whole(numbers, &[6, 5, 9, 7, 10, 7, 6, 8, 6]),
    is_sum_only: false,
    has_wide_names: false,
    attributes: &["Activity", "State"],
};

pub static SPEEDS: TotalsStyle = TotalsStyle {
    heading: " Machines         MIPS       KFLOPS   AvgLoadAvg",
    name: architecture,
    count: |lookup| {
        let [mips, kflops] = ["Mips", "KFlops"].map(|name| lookup.integer(name));
        let load = lookup.real("LoadAvg");
        let is_complete = mips.is_some() && kflops.is_some() && load.is_some();
        (vec![1.0, number(mips), number(kflops), load.unwrap_or(0.0)], is_complete)
    },
    print: |numbers| {
        let load = if numbers[0] > 0.0 { numbers[3] / numbers[0] } else { 0.0 };
        format!("{:9}  {:11}  {:11}   {load:.3}", numbers[0], numbers[1], numbers[2])
    },
    is_sum_only: false,
    has_wide_names: false,
    attributes: &["Arch", "OpSys", "Mips", "KFlops", "LoadAvg"],
};

pub static SIZES: TotalsStyle = TotalsStyle {
    heading: "    Slots Avail  Memory        Disk        MIPS      KFLOPS",
    name: architecture,
    count: |lookup| {
        let Some(state) = lookup.string("State") else { return (vec![0.0; 6], false) };
        let is_available = state == "Claimed" || state == "Unclaimed";
        let counted = ["Memory", "Disk", "Mips", "KFlops"].map(|name| lookup.integer(name));
        let is_complete = counted.iter().all(Option::is_some);
        let numbers = [1.0, f64::from(u8::from(is_available))].into_iter().chain(counted.map(number));
        (numbers.collect(), is_complete)
    },
    print: |numbers| whole(numbers, &[9, 5, 11, 11, 11, 11]),
    is_sum_only: false,
    has_wide_names: false,
    attributes: &["Arch", "OpSys", "State", "Memory", "Disk", "Mips", "KFlops"],
};

pub static SCHEDDS: TotalsStyle = TotalsStyle {
    heading: "  TotalRunningJobs      TotalIdleJobs      TotalHeldJobs",
    name: |_| Some(" ".to_owned()),
    count: |lookup| counted(lookup, &["TotalRunningJobs", "TotalIdleJobs", "TotalHeldJobs"]),
    print: |numbers| whole(numbers, &[18, 18, 18]),
    is_sum_only: true,
    has_wide_names: false,
    attributes: &["TotalRunningJobs", "TotalIdleJobs", "TotalHeldJobs"],
};

pub static SUBMITTERS: TotalsStyle = TotalsStyle {
    heading: "RunningJobs   IdleJobs   HeldJobs",
    name: |lookup| lookup.string("Name"),
    count: |lookup| counted(lookup, &["RunningJobs", "IdleJobs", "HeldJobs"]),
    print: |numbers| whole(numbers, &[11, 10, 10]),
    is_sum_only: false,
    has_wide_names: true,
    attributes: &["Name", "RunningJobs", "IdleJobs", "HeldJobs"],
};

/// The attributes that are counted of daemons that run slots.
const DAEMON_COUNTS: [&str; 6] =
    ["TotalCpus", "TotalInUseCpus", "TotalBackfillInUseCpus", "TotalGPUs", "TotalInUseGPUs", "TotalBackfillInUseGPUs"];

pub static DAEMONS: TotalsStyle = TotalsStyle {
    heading: "Machines    Slots     Cpus BusyCpus   BkCpus     GPUs BusyGPUs   BkGPUs  Memory%   BkMem%",
    name: platform,
    count: |lookup| {
        let slots = lookup.integer("TotalSlots").or_else(|| lookup.integer("NumDynamicSlots"));
        let counts = DAEMON_COUNTS.map(|name| lookup.integer(name));
        let memory = lookup.integer("TotalMemory");
        let used = ["TotalInUseMemory", "TotalBackfillInUseMemory"].map(|name| number(lookup.integer(name)));
        let is_complete = slots.is_some() && counts[0].is_some() && counts[3].is_some() && memory.is_some();
        let numbers = [1.0, number(slots)].into_iter().chain(counts.map(number));
        (numbers.chain(used.map(|used| used / number(memory))).collect(), is_complete)
    },
    print: |numbers| {
        let percent = |share: f64| 100.0 * share / numbers[0];
        let counts = whole(&numbers[..8], &[8; 8]);
        format!("{counts} {:7.2}% {:7.2}%", percent(numbers[8]), percent(numbers[9]))
    },
    is_sum_only: false,
    has_wide_names: false,
    attributes: &[
        "Arch",
        "OpSys",
        "OpSysAndVer",
        "OpSysShortName",
        "TotalSlots",
        "NumDynamicSlots",
        "TotalMemory",
        "TotalInUseMemory",
        "TotalBackfillInUseMemory",
        "TotalCpus",
        "TotalInUseCpus",
        "TotalBackfillInUseCpus",
        "TotalGPUs",
        "TotalInUseGPUs",
        "TotalBackfillInUseGPUs",
    ],
};

#[allow(clippy::cast_precision_loss)] // sums of sizes are printed without decimals
fn number(number: Option<i64>) -> f64 {
    number.unwrap_or(0) as f64
}

/// Prints numbers without decimals, each in its width.
fn whole(numbers: &[f64], widths: &[usize]) -> String {
    let shown = numbers.iter().zip(widths).map(|(number, width)| format!("{number:width$.0}"));
    shown.collect::<Vec<_>>().join(" ")
}

fn counted(lookup: &mut AdLookup, names: &[&str]) -> (Vec<f64>, bool) {
    let counts: Vec<Option<i64>> = names.iter().map(|name| lookup.integer(name)).collect();
    let is_complete = counts.iter().all(Option::is_some);
    (counts.into_iter().map(number).collect(), is_complete)
}

fn architecture(lookup: &mut AdLookup) -> Option<String> {
    let [processor, system] = ["Arch", "OpSys"].map(|name| lookup.string(name));
    Some(format!("{}/{}", processor?, system?))
}

/// The architecture and the operating system: `x64/Debian13`.
pub fn platform(lookup: &mut AdLookup) -> Option<String> {
    let is_windows = lookup.string("OpSys").is_some_and(|system| system == "WINDOWS");
    let system = lookup.string(if is_windows { "OpSysShortName" } else { "OpSysAndVer" })?;
    let processor = lookup.string("Arch").unwrap_or_default();
    let processor = match processor.as_str() {
        "X86_64" => "x64",
        "X86" => "x86",
        other => other,
    };
    Some(format!("{processor}/{system}"))
}

fn state(lookup: &mut AdLookup) -> (Vec<f64>, bool) {
    state_numbers(lookup.string("State").as_deref(), false)
}

/// Returns the numbers of a slot in a state, and whether the state is one that is counted. A backfill slot counts as
/// such if it is claimed, and is counted apart if it is idle.
fn state_numbers(state: Option<&str>, is_backfill: bool) -> (Vec<f64>, bool) {
    let mut numbers = vec![0.0; STATES.len() + 2];
    let state = match state {
        Some("Unclaimed") if is_backfill => {
            numbers[STATES.len() + 1] = 1.0;
            return (numbers, true);
        }
        Some("Claimed") if is_backfill => Some("Backfill"),
        state => state,
    };
    let index = STATES.iter().position(|known| Some(*known) == state);
    if let Some(index) = index {
        (numbers[0], numbers[index + 1]) = (1.0, 1.0);
    }
    (numbers, index.is_some())
}

impl TotalsStyle {
    /// Counts an ad.
    pub fn entry(&self, lookup: &mut AdLookup) -> TotalsEntry {
        let (numbers, is_complete) = (self.count)(lookup);
        TotalsEntry { name: (self.name)(lookup), numbers, is_complete }
    }

    /// Returns the entry of a slot in a state, in the line `name`.
    pub fn state_entry(
        &self,
        name: Option<String>,
        state: Option<&str>,
        is_backfill: bool,
        lookup: &mut AdLookup,
    ) -> TotalsEntry {
        let (numbers, is_complete) = state_numbers(state, is_backfill);
        TotalsEntry { name: name.or_else(|| (self.name)(lookup)), numbers, is_complete }
    }
}

impl AdTotals {
    pub fn add(&mut self, entry: &TotalsEntry) {
        let Some(name) = &entry.name else {
            self.incomplete += 1;
            return;
        };
        self.incomplete += usize::from(!entry.is_complete);
        add_to(self.lines.entry(name.clone()).or_default(), &entry.numbers);
        add_to(&mut self.sum, &entry.numbers);
    }

    pub fn write(&self, out: &mut dyn Write, style: &TotalsStyle, named_width: usize) -> io::Result<()> {
        let names = self.lines.keys().map(|name| name.chars().count());
        let width = if style.has_wide_names { names.fold(5, usize::max) } else { named_width.max(MIN_NAME_WIDTH) };
        writeln!(out, "{}{}\n", " ".repeat(width), style.heading)?;
        for (name, numbers) in &self.lines {
            let shown: String = name.chars().take(width).collect();
            out.write_all(right_aligned(&shown, width).as_bytes())?;
            if !style.is_sum_only {
                writeln!(out, "{}", (style.print)(numbers))?;
            }
        }
        if !self.lines.is_empty() {
            writeln!(out)?;
        }
        let zeros = vec![0.0; 10];
        let sum = if self.sum.is_empty() { &zeros } else { &self.sum };
        writeln!(out, "{}{}", right_aligned("Total", width), (style.print)(sum))?;
        match self.incomplete {
            0 => Ok(()),
            count => {
                let indent = " ".repeat(width);
                writeln!(out, "\n{indent}(Omitted {count} malformed ads in computed attribute totals)\n")
            }
        }
    }
}

fn add_to(sums: &mut Vec<f64>, numbers: &[f64]) {
    sums.resize(numbers.len(), 0.0);
    for (sum, number) in sums.iter_mut().zip(numbers) {
        *sum += number;
    }
}

#[cfg(test)]
mod tests {
    use classad::ad::Dialect;
    use classad::eval::Context;
    use classad::syntax::{ParseOptions, parse_ad};

    use super::{
        AdTotals, BY_ACTIVITY, BY_STATE, DAEMONS, SCHEDDS, SIZES, SPEEDS, SUBMITTERS, TotalsStyle, state_numbers,
    };
    use classad::query::AdLookup;

    /// The lines of the totals of ads without blanks between words, and without the heading.
    fn totals(style: &TotalsStyle, ads: &[&str]) -> String {
        let context = Context::new(Dialect::Condor);
        let mut totals = AdTotals::default();
        for text in ads {
            let text = format!("[ Arch = \"X86_64\"; OpSys = \"LINUX\"; OpSysAndVer = \"Debian13\"; {text} ]");
            let ad = parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
            totals.add(&style.entry(&mut AdLookup::new(&ad, &context)));
        }
        let mut out = Vec::new();
        totals.write(&mut out, style, 0).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines = text.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn totals_of_ads() {
        let omitted = "(Omitted 1 malformed ads in computed attribute totals)";
        for (style, ads, expected) in [
            (&BY_STATE, &[][..], "Total 0 0 0 0 0 0 0 0 0"),
            (
                &BY_STATE,
                &["State = \"Claimed\"", "State = \"Claimed\"; Arch = \"arm\"", "State = \"Drained\""],
                "X86_64/LINUX 2 0 1 0 0 0 1 0 0 | arm/LINUX 1 0 1 0 0 0 0 0 0 | Total 3 0 2 0 0 0 1 0 0",
            ),
            (
                &BY_STATE,
                &["State = \"Owner\"", "State = \"Odd\""],
                &format!("X86_64/LINUX 1 1 0 0 0 0 0 0 0 | Total 1 1 0 0 0 0 0 0 0 | {omitted}"),
            ),
            (&BY_STATE, &["State = \"Owner\"; Arch = 1"], &format!("Total 0 0 0 0 0 0 0 0 0 | {omitted}")),
            (
                &BY_ACTIVITY,
                &["State = \"Claimed\"; Activity = \"Busy\"", "State = \"Unclaimed\"; Activity = \"Idle\""],
                "Busy 0 0 0 1 0 0 0 0 0 | Idle 0 0 1 0 0 0 0 0 0 | Total 0 0 1 1 0 0 0 0 0",
            ),
            (
                &SPEEDS,
                &["Mips = 3; KFlops = 4; LoadAvg = 0.5", "Mips = 3; KFlops = 4; LoadAvg = 0.25"],
                "X86_64/LINUX 2 6 8 0.375 | Total 2 6 8 0.375",
            ),
            (&SPEEDS, &["Mips = 3; KFlops = 4"], &format!("X86_64/LINUX 1 3 4 0.000 | Total 1 3 4 0.000 | {omitted}")),
            (&SPEEDS, &[], "Total 0 0 0 0.000"),
            (
                &SIZES,
                &[
                    "State = \"Claimed\"; Memory = 1; Disk = 2; Mips = 3; KFlops = 4",
                    "State = \"Owner\"; Memory = 1; Disk = 2; Mips = 3; KFlops = 4",
                ],
                "X86_64/LINUX 2 1 2 4 6 8 | Total 2 1 2 4 6 8",
            ),
            (&SIZES, &["Memory = 1"], &format!("X86_64/LINUX 0 0 0 0 0 0 | Total 0 0 0 0 0 0 | {omitted}")),
            (&SCHEDDS, &["TotalRunningJobs = 1; TotalIdleJobs = 2; TotalHeldJobs = 3"; 2], "Total 2 4 6"),
            (
                &SUBMITTERS,
                &[
                    "Name = \"b@x\"; RunningJobs = 1; IdleJobs = 2; HeldJobs = 3",
                    "Name = \"a@x\"; RunningJobs = 1; IdleJobs = 2",
                ],
                &format!("a@x 1 2 0 | b@x 1 2 3 | Total 2 4 3 | {omitted}"),
            ),
            (
                &DAEMONS,
                &["TotalSlots = 4; TotalCpus = 8; TotalInUseCpus = 2; TotalGPUs = 1; TotalMemory = 100; TotalInUseMemory = 25";
                    2],
                "x64/Debian13 2 8 16 4 0 2 0 0 25.00% 0.00% | Total 2 8 16 4 0 2 0 0 25.00% 0.00%",
            ),
            (
                &DAEMONS,
                &["NumDynamicSlots = 3; TotalCpus = 8; TotalGPUs = 1; TotalMemory = 100"],
                "x64/Debian13 1 3 8 0 0 1 0 0 0.00% 0.00% | Total 1 3 8 0 0 1 0 0 0.00% 0.00%",
            ),
        ] {
            assert_eq!(totals(style, ads), expected, "{ads:?}");
        }
    }

    /// Names are cut or padded to the width of the column. Incomplete ads are told in the end.
    #[test]
    fn names_have_a_width() {
        let context = Context::new(Dialect::Condor);
        let written = |style: &TotalsStyle, ads: &[&str], width: usize| {
            let mut totals = AdTotals::default();
            for text in ads {
                let ad = parse_ad(format!("[ {text} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
                totals.add(&style.entry(&mut AdLookup::new(&ad, &context)));
            }
            let mut out = Vec::new();
            totals.write(&mut out, style, width).unwrap();
            String::from_utf8(out).unwrap()
        };
        let heading = " Total Owner Claimed Unclaimed Matched Preempting  Drain Backfill BkIdle\n\n";
        let numbers = "     1     1       0         0       0          0      0        0      0\n";
        let owner = |arch: &str| format!("State = \"Owner\"; Arch = \"{arch}\"; OpSys = \"b\"");
        for (arch, width, name) in [
            ("a", 0, "           a/b"),
            ("a", 14, "           a/b"),
            ("a", 15, "            a/b"),
            ("0123456789ab", 0, "0123456789ab/b"),
            ("0123456789abc", 0, "0123456789abc/"),
            ("0123456789abc", 15, "0123456789abc/b"),
        ] {
            let width_of_all = width.max(14);
            let (blanks, total) = (" ".repeat(width_of_all), format!("{:>width_of_all$}", "Total"));
            let expected = format!("{blanks}{heading}{name}{numbers}\n{total}{numbers}");
            assert_eq!(written(&BY_STATE, &[&owner(arch)], width), expected, "{arch} {width}");
        }
        let submitter = |name: &str| format!("Name = \"{name}\"; RunningJobs = 1; IdleJobs = 2");
        assert_eq!(
            written(&SUBMITTERS, &[&submitter("a"), "x = 1"], 20),
            "     RunningJobs   IdleJobs   HeldJobs\n\n    a          1          2          0\n\nTotal          1          2          0\n\n     \
             (Omitted 2 malformed ads in computed attribute totals)\n\n"
        );
        assert_eq!(
            written(&SUBMITTERS, &[&submitter("abcdefg")], 0).lines().nth(2),
            Some("abcdefg          1          2          0")
        );
        assert_eq!(
            written(&SCHEDDS, &["TotalRunningJobs = 1; TotalIdleJobs = 2; TotalHeldJobs = 3"], 0),
            "                TotalRunningJobs      TotalIdleJobs      TotalHeldJobs\n\n              \n         \
             Total                 1                  2                  3\n"
        );
    }

    #[test]
    fn backfill_slots_are_counted_apart() {
        for (state, is_backfill, counted) in [
            ("Claimed", false, &[0, 2][..]),
            ("Claimed", true, &[0, 7]),
            ("Unclaimed", true, &[8]),
            ("Unclaimed", false, &[0, 3]),
            ("Owner", true, &[0, 1]),
            ("Odd", true, &[]),
        ] {
            let (numbers, is_known) = state_numbers(Some(state), is_backfill);
            let places: Vec<usize> = (0..numbers.len()).filter(|place| numbers[*place] > 0.0).collect();
            assert_eq!((places.as_slice(), is_known), (counted, state != "Odd"), "{state} {is_backfill}");
        }
    }
}
