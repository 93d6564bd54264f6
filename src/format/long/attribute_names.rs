//! Collects the attribute names of a text in the long form without parsing the values.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use crate::ad::Name;

use super::line_kind::LineKind;
use super::scan::line_ends;

/// The distinct attribute names of ads in the long form. Names that differ only in case are distinct here.
#[derive(Default)]
pub struct AttributeNameCollector {
    names: IndexSet<Box<[u8]>, FxBuildHasher>,
    /// For each name, the index of the name that last came after it. This index predicts the next name without hashing,
    /// because most ads have their names in the same order.
    successors: Vec<usize>,
}

impl AttributeNameCollector {
    /// Adds the names of a text. A name is everything before the first `=` of a line that is not a comment.
    pub fn collect(&mut self, text: &[u8]) {
        let mut ends = Vec::new();
        line_ends(text, &mut ends);
        let (mut at, mut last) = (0, None);
        for end in ends {
            let line = &text[at..end];
            at = end + 1;
            let expected = last.and_then(|last: usize| self.successors.get(last).copied());
            if let Some(expected) = expected.filter(|expected| self.begins_with_name(line, *expected)) {
                last = Some(expected);
                continue;
            }
            let Some(name) = bound_name(line) else { continue };
            let place = match self.names.get_index_of(name) {
                Some(place) => place,
                None => self.names.insert_full(name.into()).0,
            };
            self.successors.resize(self.names.len(), 0);
            if let Some(last) = last {
                self.successors[last] = place;
            }
            last = Some(place);
        }
    }

    /// Returns the names in the order of their first occurrence.
    pub fn names(&self) -> impl Iterator<Item = Name> + '_ {
        self.names.iter().map(|name| Name::new(&String::from_utf8_lossy(name)))
    }

    /// Whether a line begins with the name at index `place`, followed by `=` or ` =`.
    fn begins_with_name(&self, line: &[u8], place: usize) -> bool {
        let Some(name) = self.names.get_index(place) else { return false };
        let behind = line.strip_prefix(&**name);
        behind.is_some_and(|behind| behind.starts_with(b" =") || behind.starts_with(b"="))
    }
}

/// Returns the name before the first `=` of a line. `None` for a comment, and for a line without `=` or without a name.
fn bound_name(line: &[u8]) -> Option<&[u8]> {
    let name = line[..memchr::memchr(b'=', line)?].trim_ascii();
    (LineKind::of(name) == LineKind::Attribute).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::AttributeNameCollector;

    #[test]
    fn each_name_once_as_it_is_spelt() {
        let mut found = AttributeNameCollector::default();
        found.collect(b"# a = 1\nName = \"a\"\nCpus=4\nLoad = Cpus == 4\n\nName = \"b\"\n  cpus = 2\nodd\n");
        found.collect(b"Name = \"c\"\nCpus = 4\nCpusTotal = 5\n//x = 1\n");
        let names: Vec<String> = found.names().map(|name| name.to_string()).collect();
        assert_eq!(names, ["Name", "Cpus", "Load", "cpus", "CpusTotal"]);
    }
}
