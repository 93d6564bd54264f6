//! Groups of ports: which ports of an ad may stay unfilled (open in thesis §6.2.2).

use std::cmp::Reverse;

use fixedbitset::FixedBitSet;

/// Some entries of which so many are filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The ports and groups in it.
    pub entries: Vec<Entry>,
    /// At least so many are filled.
    pub min: usize,
    /// At most so many are.
    pub max: usize,
}

/// An entry of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A port, by its position among all ports of the ad.
    Port(usize),
    /// A group in the group.
    Group(Group),
}

/// Which ports of an ad are filled.
pub type Pattern = FixedBitSet;

/// More ways to fill the ports of one ad are not looked at.
pub const MOST_PATTERNS: usize = 1 << 16;

impl Group {
    /// So many ports, all of which must be filled.
    #[must_use]
    pub fn all_of(ports: usize) -> Self {
        Group { entries: (0..ports).map(Entry::Port).collect(), min: ports, max: ports }
    }

    /// Whether every port must be filled.
    #[must_use]
    pub fn is_mandatory(&self) -> bool {
        self.min == self.entries.len()
            && self.entries.iter().all(|entry| match entry {
                Entry::Port(_) => true,
                Entry::Group(group) => group.is_mandatory(),
            })
    }

    /// Whether it is satisfied when exactly these ports are filled.
    #[must_use]
    pub fn is_satisfied_by(&self, filled: &Pattern) -> bool {
        // A group that may be empty is an entry that counts or does not.
        let (mut least, mut most) = (0, 0);
        for entry in &self.entries {
            let (has_filled, may_count) = match entry {
                Entry::Port(port) => (filled.contains(*port), filled.contains(*port)),
                Entry::Group(group) => (group.has_one_of(filled), group.is_satisfied_by(filled)),
            };
            if has_filled && !may_count {
                return false;
            }
            least += usize::from(has_filled);
            most += usize::from(may_count);
        }
        least <= self.max && most >= self.min
    }

    /// Whether one of these ports is in it.
    fn has_one_of(&self, ports: &Pattern) -> bool {
        self.entries.iter().any(|entry| match entry {
            Entry::Port(port) => ports.contains(*port),
            Entry::Group(group) => group.has_one_of(ports),
        })
    }

    /// The ways to fill so many ports, those that fill the most first, and among these those that fill the
    /// leftmost; none if there are more than [`MOST_PATTERNS`].
    #[must_use]
    pub fn patterns(&self, ports: usize) -> Option<Vec<Pattern>> {
        let mut patterns = self.ways(ports)?;
        patterns.sort_by_cached_key(|pattern| (Reverse(pattern.count_ones(..)), pattern.ones().collect::<Vec<_>>()));
        Some(patterns)
    }

    /// The ways in no order.
    fn ways(&self, ports: usize) -> Option<Vec<Pattern>> {
        // For each number of entries that are filled, the ways to do so with the entries looked at so far.
        let mut by_count: Vec<Vec<Pattern>> = vec![vec![Pattern::with_capacity(ports)]];
        for entry in &self.entries {
            let ways = match entry {
                Entry::Port(port) => {
                    let mut only = Pattern::with_capacity(ports);
                    only.insert(*port);
                    vec![only]
                }
                Entry::Group(group) => group.ways(ports)?,
            };
            let mut more: Vec<Vec<Pattern>> = vec![Vec::new(); by_count.len() + 1];
            for (count, before) in by_count.into_iter().enumerate() {
                for (way, filled) in before.iter().flat_map(|before| ways.iter().map(move |way| (before, way))) {
                    // A group that may be empty is satisfied when it is.
                    if count < self.max {
                        let mut both = way.clone();
                        both.union_with(filled);
                        more[count + 1].push(both);
                    }
                }
                more[count].extend(before);
            }
            if more.iter().map(Vec::len).sum::<usize>() > MOST_PATTERNS {
                return None;
            }
            by_count = more;
        }
        let mut patterns: Vec<Pattern> =
            by_count.into_iter().skip(self.min).take(self.max + 1 - self.min).flatten().collect();
        patterns.sort_unstable();
        patterns.dedup();
        Some(patterns)
    }
}

#[cfg(test)]
mod tests {
    use super::{Entry, Group, Pattern};

    fn patterns(group: &Group, ports: usize) -> Vec<Vec<usize>> {
        group.patterns(ports).unwrap().iter().map(|pattern| pattern.ones().collect()).collect()
    }

    #[test]
    fn the_most_first_then_the_leftmost() {
        assert_eq!(patterns(&Group::all_of(3), 3), [vec![0, 1, 2]]);
        let some = |min, max| Group { min, max, ..Group::all_of(3) };
        assert_eq!(patterns(&some(1, 1), 3), [[0], [1], [2]]);
        assert_eq!(patterns(&some(1, 2), 3), [vec![0, 1], vec![0, 2], vec![1, 2], vec![0], vec![1], vec![2]]);
        assert_eq!(patterns(&some(0, 0), 3), [[0; 0]]);
        // A port, and either another or the two after it.
        let both = Group { entries: vec![Entry::Port(2), Entry::Port(3)], min: 2, max: 2 };
        let either = Group { entries: vec![Entry::Port(1), Entry::Group(both)], min: 1, max: 1 };
        let all = Group { entries: vec![Entry::Port(0), Entry::Group(either)], min: 2, max: 2 };
        assert!(!all.is_mandatory());
        assert_eq!(patterns(&all, 4), [vec![0, 2, 3], vec![0, 1]]);
    }

    /// A group of ports from the next one on, and of groups of them.
    fn random(random: &mut fastrand::Rng, next: &mut usize, depth: usize) -> Group {
        let mut entries = Vec::new();
        for _ in 0..random.usize(1..4) {
            if depth > 0 && random.bool() {
                entries.push(Entry::Group(self::random(random, next, depth - 1)));
            } else {
                entries.push(Entry::Port(*next));
                *next += 1;
            }
        }
        let max = random.usize(0..=entries.len());
        Group { min: random.usize(0..=max), max, entries }
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
                let filled: Pattern = (0..ports).filter(|port| bits & (1 << port) != 0).collect();
                let is_pattern = patterns.iter().any(|pattern| pattern.ones().eq(filled.ones()));
                assert_eq!(group.is_satisfied_by(&filled), is_pattern, "{group:?} {filled:?}");
                satisfied += usize::from(is_pattern);
            }
        }
        assert!(satisfied > 300, "{satisfied}");
    }

    #[test]
    fn too_many_ways_are_refused() {
        let group = Group { min: 0, ..Group::all_of(40) };
        assert!(group.patterns(40).is_none());
    }

    #[test]
    fn an_optional_group_counts_when_it_is_empty() {
        let optional = Group { entries: vec![Entry::Port(1)], min: 0, max: 1 };
        let all = Group { entries: vec![Entry::Port(0), Entry::Group(optional)], min: 2, max: 2 };
        assert_eq!(patterns(&all, 2), [vec![0, 1], vec![0]]);
    }
}
