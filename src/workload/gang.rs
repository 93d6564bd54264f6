//! The gangmatching workloads: a base workload (thesis 5.2.1, Figures 26 to 30), one with duds (thesis 5.6.2), and one
//! against the heuristic that fills the port with the fewest candidates first (thesis 5.7).

use crate::ad::{Ad, Expression};

use super::generator::{AdGenerator, AdKind, GeneratedAds};
use super::rng::{SeededRng, round_to_parts};
use super::template::{AdTemplate, TemplateAd};

/// Machines, software licences that are valid on some of the machines, and jobs that need a machine and a licence
/// (thesis 5.2.1).
#[derive(Clone, Debug)]
pub struct GangWorkload {
    /// Number of machines. The seven duds of [`GangVariant::Dud`] are not counted.
    pub machines: u32,
    /// Number of jobs.
    pub jobs: u32,
    /// Number of licences in percent of the number of machines.
    pub license_percent: u32,
    /// Number of parts into which the machines and the licences are divided, from 1 to `machines`. A licence is valid
    /// only on the machines of its part.
    pub selectivity: u32,
    /// What makes the gangs hard to find.
    pub variant: GangVariant,
}

/// What makes the gangs of a workload hard to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GangVariant {
    /// Nothing: this is the base workload.
    Base,
    /// Duds: seven machines that no licence accepts, and a licence that accepts no machine.
    Dud,
    /// All machines suit all jobs, but the licences are valid only on the last fifth of the machines. By default there
    /// are twice as many licences as machines.
    Heuristic,
}

impl GangVariant {
    /// All variants.
    pub const ALL: [GangVariant; 3] = [GangVariant::Base, GangVariant::Dud, GangVariant::Heuristic];

    /// Returns the name of the variant in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            GangVariant::Base => "base",
            GangVariant::Dud => "dud",
            GangVariant::Heuristic => "heuristic",
        }
    }
}

impl GangWorkload {
    /// Returns the default workload of a variant.
    #[must_use]
    pub fn new(variant: GangVariant) -> Self {
        let (machines, license_percent) = if variant == GangVariant::Heuristic { (500, 200) } else { (100, 100) };
        GangWorkload { machines, jobs: machines, license_percent, selectivity: 1, variant }
    }
}

/// Architectures and operating systems with their weights in the random choice, the most frequent first (thesis Figure
/// 26, whose probabilities sum to 1.0011).
const SYSTEMS: [((&str, &str), f64); 8] = [
    (("INTEL", "LINUX"), 0.3191),
    (("INTEL", "WINNT40"), 0.2411),
    (("INTEL", "SOLARIS26"), 0.2127),
    (("SUN4x", "SOLARIS26"), 0.0766),
    (("SUN4x", "SOLARIS27"), 0.0524),
    (("SUN4u", "SOLARIS26"), 0.0390),
    (("SUN4u", "SOLARIS27"), 0.0390),
    (("SGI", "IRIX6"), 0.0212),
];

/// Memory sizes in megabytes with their weights in the random choice (thesis Figure 27).
const MEMORY_MB: [(f64, f64); 5] = [(32.0, 0.07), (64.0, 0.4), (128.0, 0.2), (256.0, 0.2), (800.0, 0.13)];

const BYTES_PER_MB: f64 = 1_048_576.0;

/// Memory and virtual memory, in megabytes, of a machine that is large enough for every job.
const LARGE_MEMORY_MB: (f64, f64) = (800.0, 1440.0);

/// Number that is added to the keys of dud machines. It puts the keys outside the intervals in all licences'
/// constraints.
const DUD_KEY_OFFSET: i64 = 1_000_000;

impl AdGenerator for GangWorkload {
    fn kinds(&self) -> &'static [AdKind] {
        &[AdKind::Machines, AdKind::Licenses, AdKind::Jobs]
    }

    fn ads(&self, kind: AdKind, seed: u64) -> GeneratedAds<'_> {
        match kind {
            AdKind::Machines => self.machines(SeededRng::new(seed, "gang machines")),
            AdKind::Licenses => self.licenses(),
            AdKind::Jobs => self.jobs(SeededRng::new(seed, "gang jobs")),
            _ => Box::new(std::iter::empty()),
        }
    }

    fn contradiction(&self) -> Option<String> {
        let (machines, parts) = (self.machines, self.selectivity);
        (parts > machines).then(|| format!("--selectivity {parts} is greater than the number of machines, {machines}"))
    }
}

impl GangWorkload {
    fn is_heuristic(&self) -> bool {
        self.variant == GangVariant::Heuristic
    }

    fn machines(&self, mut rng: SeededRng) -> GeneratedAds<'_> {
        let mut template = AdTemplate::default();
        let duds = if self.variant == GangVariant::Dud { &SYSTEMS[..7] } else { &[] };
        let machines = i64::from(self.machines);
        let keys = (0..machines).map(|key| (key, None));
        let duds = (machines + DUD_KEY_OFFSET..).zip(duds).map(|(key, (system, _))| (key, Some(*system)));
        Box::new(keys.chain(duds).map(move |(key, dud)| {
            let (system, (memory, virtual_memory)) = match dud {
                Some(system) => (system, LARGE_MEMORY_MB),
                None if self.is_heuristic() => (SYSTEMS[0].0, LARGE_MEMORY_MB),
                None => {
                    let (system, memory) = (*rng.choose_weighted(&SYSTEMS), *rng.choose_weighted(&MEMORY_MB));
                    (system, (memory, 2.0 * memory * rng.real(0.2, 0.9)))
                }
            };
            let mut port = template.start();
            port.put_text("Label", "Job").put_text("Constraint", "Job.MemoryReqs < Memory - 15728640");
            let port = port.finish();
            let mut machine = template.start();
            machine.put("Key", key).put("Type", "Machine").put("Arch", system.0).put("OpSys", system.1);
            machine.put("Memory", memory * BYTES_PER_MB).put("VirtualMemory", virtual_memory * BYTES_PER_MB);
            finish_with_ports(&mut machine, [port])
        }))
    }

    /// Generates the licences. A licence is valid on the machines whose key is from `part * size` up to, not including,
    /// `(part + 1) * size`. The interval printed in the thesis would be empty for the first part.
    fn licenses(&self) -> GeneratedAds<'_> {
        let (machines, parts) = (u64::from(self.machines), u64::from(self.selectivity.max(1)));
        let licenses = machines * u64::from(self.license_percent) / 100;
        let (size, is_heuristic) = (machines / parts, self.is_heuristic());
        let intervals = (0..licenses).map(move |number| {
            let part = number * parts / licenses;
            match is_heuristic {
                true => (machines - machines / 5, machines),
                false if part + 1 == parts => (size * part, machines),
                false => (size * part, size * (part + 1)),
            }
        });
        let intervals = intervals.map(|(from, to)| format!("Site.HostID >= {from} && Site.HostID < {to}"));
        let dud = (self.variant == GangVariant::Dud).then(|| "Site.HostID >= -2 && Site.HostID < -1".to_owned());
        let mut template = AdTemplate::default();
        Box::new(intervals.chain(dud).map(move |interval| {
            let mut port = template.start();
            let port = port.put_text("Label", "Site").put_text("Constraint", &interval).finish();
            let mut license = template.start();
            finish_with_ports(license.put("Type", "License").put("App", "sim_app"), [port])
        }))
    }

    fn jobs(&self, mut rng: SeededRng) -> GeneratedAds<'_> {
        let mut template = AdTemplate::default();
        Box::new((0..self.jobs).map(move |_| {
            let (mut system, mut memory) = (*rng.choose_weighted(&SYSTEMS), *rng.choose_weighted(&MEMORY_MB));
            if self.is_heuristic() {
                (system, memory) = (SYSTEMS[0].0, MEMORY_MB[0].0);
            }
            let image = round_to_parts(2.0 * memory * BYTES_PER_MB * rng.real(0.2, 0.8), 1e6);
            let needed = round_to_parts(image * rng.real(0.2, 0.5), 1e6);
            let (arch, system) = system;
            let suits = format!("Cpu.Arch == \"{arch}\" && Cpu.OpSys == \"{system}\" && Cpu.VirtualMemory > ImageSize");
            let mut port = template.start();
            port.put_text("Label", "Cpu").put("ImageSize", image).put("MemoryReqs", needed);
            let machine = port.put_text("Constraint", &suits).finish();
            let mut port = template.start();
            port.put_text("Label", "License").put_text("HostId", "Cpu.Key");
            let license = port.put_text("Constraint", "License.App == \"sim_app\"").finish();
            finish_with_ports(&mut template.start(), [machine, license])
        }))
    }
}

/// Adds the port list to an ad as its last attribute and returns the ad.
fn finish_with_ports<const N: usize>(draft: &mut TemplateAd, ports: [Ad; N]) -> Ad {
    draft.put_expression("Ports", Expression::list(ports.map(Expression::ad))).finish()
}
