//! Groups of ports: which ports of an ad may stay unfilled. Thesis 6.2.2 leaves the question open.

use std::cmp::Reverse;

use fixedbitset::FixedBitSet;

/// A set of ports and nested groups, with bounds on how many of them are filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortGroup {
    /// The ports and nested groups.
    pub entries: Vec<PortGroupEntry>,
    /// Minimum number of filled entries.
    pub min: usize,
    /// Maximum number of filled entries.
    pub max: usize,
}

/// An entry of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PortGroupEntry {
    /// A port, as an index into all ports of the ad.
    Port(usize),
    /// A nested group.
    Group(PortGroup),
}

/// The set of filled ports, as indexes into all ports of an ad.
pub type PortPattern = FixedBitSet;

/// Maximum number of port patterns enumerated for one ad.
pub const MAX_PORT_PATTERNS: usize = 1 << 16;

impl PortGroup {
    /// Returns the group of the ports `0..ports`, all of which must be filled.
    #[must_use]
    pub fn all_of(ports: usize) -> Self {
        PortGroup { entries: (0..ports).map(PortGroupEntry::Port).collect(), min: ports, max: ports }
    }

    /// Whether every port must be filled.
    #[must_use]
    pub fn is_mandatory(&self) -> bool {
        self.min == self.entries.len()
            && self.entries.iter().all(|entry| match entry {
                PortGroupEntry::Port(_) => true,
                PortGroupEntry::Group(group) => group.is_mandatory(),
            })
    }

    /// Whether the group is satisfied when exactly the ports in `filled` are filled.
    #[must_use]
    pub fn is_satisfied_by(&self, filled: &PortPattern) -> bool {
        // A nested group without a filled port can be satisfied, such as a group with `Min = 0`. It may then count as
        // filled or as unfilled. So the number of filled entries is a range, from `least` to `most`.
        let (mut least, mut most) = (0, 0);
        for entry in &self.entries {
            let (has_filled, may_count) = match entry {
                PortGroupEntry::Port(port) => (filled.contains(*port), filled.contains(*port)),
                PortGroupEntry::Group(group) => (group.contains_any(filled), group.is_satisfied_by(filled)),
            };
            if has_filled && !may_count {
                return false;
            }
            least += usize::from(has_filled);
            most += usize::from(may_count);
        }
        least <= self.max && most >= self.min
    }

    /// Whether the group, or a group nested in it, contains a port of the set `ports`.
    fn contains_any(&self, ports: &PortPattern) -> bool {
        self.entries.iter().any(|entry| match entry {
            PortGroupEntry::Port(port) => ports.contains(*port),
            PortGroupEntry::Group(group) => group.contains_any(ports),
        })
    }

    /// Returns the patterns that satisfy the group; `ports` is the number of ports of the ad. Patterns that fill more
    /// ports come first. Of patterns with the same number of ports, those with smaller port indexes come first.
    ///
    /// Returns `None` if more than [`MAX_PORT_PATTERNS`] patterns are enumerated. The patterns with fewer than `min`
    /// filled entries count, too.
    #[must_use]
    pub fn patterns(&self, ports: usize) -> Option<Vec<PortPattern>> {
        let mut patterns = self.unsorted_patterns(ports)?;
        patterns.sort_by_cached_key(|pattern| (Reverse(pattern.count_ones(..)), pattern.ones().collect::<Vec<_>>()));
        Some(patterns)
    }

    /// Returns the distinct patterns that satisfy the group, not yet in the order of [`PortGroup::patterns`].
    fn unsorted_patterns(&self, ports: usize) -> Option<Vec<PortPattern>> {
        // `by_count[n]` holds the patterns that fill `n` of the entries processed so far.
        let mut by_count: Vec<Vec<PortPattern>> = vec![vec![PortPattern::with_capacity(ports)]];
        for entry in &self.entries {
            let ways = match entry {
                PortGroupEntry::Port(port) => {
                    let mut only = PortPattern::with_capacity(ports);
                    only.insert(*port);
                    vec![only]
                }
                PortGroupEntry::Group(group) => group.unsorted_patterns(ports)?,
            };
            let mut more: Vec<Vec<PortPattern>> = vec![Vec::new(); by_count.len() + 1];
            for (count, before) in by_count.into_iter().enumerate() {
                for (way, filled) in before.iter().flat_map(|before| ways.iter().map(move |way| (before, way))) {
                    // Fill the entry if fewer than `max` entries are filled so far. A nested group with `Min = 0` may
                    // count as filled although its pattern is empty.
                    if count < self.max {
                        let mut both = way.clone();
                        both.union_with(filled);
                        more[count + 1].push(both);
                    }
                }
                more[count].extend(before);
            }
            if more.iter().map(Vec::len).sum::<usize>() > MAX_PORT_PATTERNS {
                return None;
            }
            by_count = more;
        }
        let mut patterns: Vec<PortPattern> =
            by_count.into_iter().skip(self.min).take(self.max + 1 - self.min).flatten().collect();
        patterns.sort_unstable();
        patterns.dedup();
        Some(patterns)
    }
}

#[cfg(test)]
mod tests {
    use super::{PortGroup, PortGroupEntry, PortPattern};

    fn patterns(group: &PortGroup, ports: usize) -> Vec<Vec<usize>> {
        group.patterns(ports).unwrap().iter().map(|pattern| pattern.ones().collect()).collect()
    }

    #[test]
    fn the_most_first_then_the_leftmost() {
        assert_eq!(patterns(&PortGroup::all_of(3), 3), [vec![0, 1, 2]]);
        let some = |min, max| PortGroup { min, max, ..PortGroup::all_of(3) };
        assert_eq!(patterns(&some(1, 1), 3), [[0], [1], [2]]);
        assert_eq!(patterns(&some(1, 2), 3), [vec![0, 1], vec![0, 2], vec![1, 2], vec![0], vec![1], vec![2]]);
        assert_eq!(patterns(&some(0, 0), 3), [[0; 0]]);
        // The group `all` demands port 0, and either port 1 or both port 2 and port 3.
        let both = PortGroup { entries: vec![PortGroupEntry::Port(2), PortGroupEntry::Port(3)], min: 2, max: 2 };
        let either = PortGroup { entries: vec![PortGroupEntry::Port(1), PortGroupEntry::Group(both)], min: 1, max: 1 };
        let all = PortGroup { entries: vec![PortGroupEntry::Port(0), PortGroupEntry::Group(either)], min: 2, max: 2 };
        assert!(!all.is_mandatory());
        assert_eq!(patterns(&all, 4), [vec![0, 2, 3], vec![0, 1]]);
    }

    /// Returns a random group with random nested groups. Its ports are numbered from `next` on.
    fn random(random: &mut fastrand::Rng, next: &mut usize, depth: usize) -> PortGroup {
        let mut entries = Vec::new();
        for _ in 0..random.usize(1..4) {
            if depth > 0 && random.bool() {
                entries.push(PortGroupEntry::Group(self::random(random, next, depth - 1)));
            } else {
                entries.push(PortGroupEntry::Port(*next));
                *next += 1;
            }
        }
        let max = random.usize(0..=entries.len());
        PortGroup { min: random.usize(0..=max), max, entries }
    }

    #[test]
    fn it_is_satisfied_by_its_patterns_and_by_nothing_else() {
        let mut rng = fastrand::Rng::with_seed(7);
        let mut satisfied = 0;
        for _ in 0..300 {
            let mut ports = 0;
            let group = random(&mut rng, &mut ports, 2);
            if ports > 10 {
                continue;
            }
            let patterns = group.patterns(ports).unwrap();
            for bits in 0..1_usize << ports {
                let filled: PortPattern = (0..ports).filter(|port| bits & (1 << port) != 0).collect();
                let is_pattern = patterns.iter().any(|pattern| pattern.ones().eq(filled.ones()));
                assert_eq!(group.is_satisfied_by(&filled), is_pattern, "{group:?} {filled:?}");
                satisfied += usize::from(is_pattern);
            }
        }
        assert!(satisfied > 300, "{satisfied}");
    }

    #[test]
    fn too_many_ways_are_refused() {
        for (ports, ways) in [(15, Some(1 << 15)), (16, Some(1 << 16)), (17, None), (40, None)] {
            let group = PortGroup { min: 0, ..PortGroup::all_of(ports) };
            assert_eq!(group.patterns(ports).map(|patterns| patterns.len()), ways, "{ports}");
        }
    }

    #[test]
    fn an_optional_group_counts_when_it_is_empty() {
        let optional = PortGroup { entries: vec![PortGroupEntry::Port(1)], min: 0, max: 1 };
        let all = PortGroup { entries: vec![PortGroupEntry::Port(0), PortGroupEntry::Group(optional)], min: 2, max: 2 };
        assert_eq!(patterns(&all, 2), [vec![0, 1], vec![0]]);
    }
}
