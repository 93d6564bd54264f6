//! Attribute names of the command line that no ad has. They are most likely misspelt.

use std::fs::File;

use classad::ad::Name;
use classad::format::{AttributeNameCollector, FileFormat, Stream};
use classad::lint::StandardType;
use classad::pool::Census;
use classad::protocol::closest_attributes;
pub use classad::query::UnseenNames;
use classad::text::suggestion;

use super::source::AdSource;
use super::source_text::SourceText;
use crate::cli::io::argument_text;
use crate::cli::session::Session;

/// Maximum number of ads, of other forms than the long one, whose attribute names are candidates for suggestions.
const MAX_SAMPLED_ADS: usize = 100;

/// Reports of names that no ad has.
pub trait ReportUnseen {
    /// Reports the names that no ad had. Suggests similar names from `first`, the beginning of the first source.
    /// Reports nothing if `first` has no attribute.
    fn report(&self, session: &Session, first: &SourceText);

    /// Reports the names that no ad had. Suggests similar ones of the `known` names. Reports nothing if there are none.
    fn report_among(&self, session: &Session, known: &[String]);

    /// Reports the names of columns that no selected ad had, and to which one of the `known` names is similar.
    /// Attributes that HTCondor's daemons write may be missing without a mistake. Reports each of the `needed` names.
    fn report_columns(&self, session: &Session, known: &[String], needed: &[&Name]);
}

impl ReportUnseen for UnseenNames {
    fn report(&self, session: &Session, first: &SourceText) {
        if self.has_unseen() {
            self.report_among(session, &attribute_name_texts(session, first));
        }
    }

    fn report_among(&self, session: &Session, known: &[String]) {
        for name in self.unseen().filter(|_| !known.is_empty()) {
            argument_text::note_unknown_attribute(session, known.iter().map(String::as_str), name);
        }
    }

    fn report_columns(&self, session: &Session, known: &[String], needed: &[&Name]) {
        for name in self.unseen() {
            let near = closest_attributes(name.as_str(), known.iter().map(String::as_str));
            let may_be_missing = near.is_empty() || StandardType::of(name).is_some();
            if !may_be_missing || needed.contains(&name) {
                session.note(&format!("no selected ad has the attribute {name}{}", suggestion(&near)));
            }
        }
    }
}

/// Notes the names that are not among the `known` names of the first ads, and to which one of these is similar. Later
/// ads may have them.
pub fn note_misspelt_names<'n>(session: &Session, names: impl IntoIterator<Item = &'n Name>, known: &[String]) {
    let known = || known.iter().map(String::as_str);
    for name in names.into_iter().filter(|name| known().all(|known| !name.as_str().eq_ignore_ascii_case(known))) {
        let near = closest_attributes(name.as_str(), known());
        if !near.is_empty() {
            session.note(&format!("the first ads have no attribute {name}{}", suggestion(&near)));
        }
    }
}

/// Returns the attribute names of a text. In the long form bad ads count, too: an ad may be bad only where it was not
/// read.
pub fn attribute_names(session: &Session, text: &SourceText) -> Vec<Name> {
    if text.block.form == FileFormat::Long {
        let mut names = AttributeNameCollector::default();
        names.collect(&text.block.text);
        return names.names().collect();
    }
    let mut census = Census::names();
    text.block.ads(session.dialect()).flatten().take(MAX_SAMPLED_ADS).for_each(|entry| census.add(&entry.ad));
    census.attributes().map(|(name, _)| name.clone()).collect()
}

/// Returns the attribute names of a text as [`attribute_names`] does, as texts.
pub fn attribute_name_texts(session: &Session, text: &SourceText) -> Vec<String> {
    attribute_names(session, text).iter().map(ToString::to_string).collect()
}

/// Returns the attribute names at the beginning of the first file that is not empty, if its beginning was read.
pub fn first_names(session: &Session, sources: &[AdSource]) -> Option<Vec<String>> {
    let from = session.options.from;
    sources.iter().filter(|source| source.part.as_ref().is_none_or(|part| part.start == 0)).find_map(|source| {
        let mut stream = Stream::new(Box::new(File::open(source.path()).ok()?), from).ok()?;
        let text = SourceText::of_block(&source.name, stream.next_block().ok()??);
        Some(attribute_name_texts(session, &text))
    })
}
