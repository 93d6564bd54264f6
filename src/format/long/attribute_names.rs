//! Collects the attribute names of a text in the long form without parsing the values.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use crate::ad::Name;
use crate::format::attribute_predictor::AttributePredictor;

use super::line_kind::LineKind;
use super::scan::line_ends;

/// The distinct attribute names of ads in the long form. Names that differ only in case are distinct here.
#[derive(Default)]
pub struct AttributeNameCollector {
    /// The names, by what is written up to and including `=`.
    names: AttributePredictor<()>,
}

impl AttributeNameCollector {
    /// Adds the names of a text. A name is everything before the first `=` of a line that is not a comment.
    pub fn collect(&mut self, text: &[u8]) {
        let mut ends = Vec::new();
        line_ends(text, &mut ends);
        let mut at = 0;
        for end in ends {
            let line = &text[at..end];
            at = end + 1;
            let length = || Some(memchr::memchr(b'=', line)? + 1);
            let known = self.names.find(line, length).map(|(number, _)| number);
            if let Some(number) = known.or_else(|| self.insert(&line[..length()?])) {
                self.names.follow(number);
            }
        }
    }

    /// Adds the name before an `=` and returns its number. `None` for a comment, and if there is no name.
    fn insert(&mut self, beginning: &[u8]) -> Option<usize> {
        let name = beginning[..beginning.len() - 1].trim_ascii();
        let is_name = LineKind::of(name) == LineKind::Attribute;
        is_name.then(|| self.names.insert(beginning, true, Name::new(&String::from_utf8_lossy(name)), ()))
    }

    /// Returns the names in the order of their first occurrence.
    pub fn names(&self) -> impl Iterator<Item = Name> + '_ {
        let names: IndexSet<&str, FxBuildHasher> = self.names.names().map(Name::as_str).collect();
        names.into_iter().map(Name::new)
    }
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
