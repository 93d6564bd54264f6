//! Reads the ads of a spec: written in the spec, in files beside it, or derived from others.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, Read};
use std::rc::Rc;

use crate::ad::{Ad, Dialect, Name};
use crate::eval::Context;
use crate::format::document_tree::{ConfigReader, YamlContent, YamlNode};
use crate::format::{FileFormat, Position, Problem, Stream, detect, read_document};
use crate::protocol::display_name;
use crate::text::closest_names;
use crate::transform::{Transform, parse_rules};

use super::yaml_values::{read_ad, read_words, value_of};

/// Opens a file that a spec names. The argument is the path as it stands in the spec.
pub type OpenFile<'f> = dyn FnMut(&str) -> io::Result<Box<dyn Read>> + 'f;

/// An ad of a spec, with its display name.
#[derive(Clone, Debug)]
pub struct SpecAd {
    /// The ad's identity. For an ad without identity, this is its name in the spec, or its position in its file or
    /// sequence, such as `#2`.
    pub id: String,
    /// The ad.
    pub ad: Ad,
    /// Whether `id` is the ad's identity.
    is_named: bool,
}

/// The keys that a derived ad may have in the spec.
const DERIVED_AD_KEYS: [&str; 6] = ["file", "like", "id", "with", "without", "transform"];

/// The help text of errors about a malformed ad.
const HELP: &str =
    "write attributes (`Memory: 64`), the text of an ad, `file: machines.long`, or the name of one of `ads`";

/// The ads of a spec. They are read when a case needs them, and cached.
pub struct AdLibrary<'o, 'f> {
    open: &'f mut OpenFile<'f>,
    /// The named ads, in the order of the spec.
    named: Vec<(&'o str, &'o YamlNode)>,
    /// Number of named ads in scope: a named ad may refer only to the named ads above it.
    visible_count: usize,
    /// Cache of the named ads. The key is the name, and whether the dialect is HTCondor's.
    named_cache: BTreeMap<(String, bool), Rc<Vec<SpecAd>>>,
    /// Cache of the files. The key is the path, and whether the dialect is HTCondor's.
    file_cache: BTreeMap<(String, bool), Rc<Vec<SpecAd>>>,
    /// Number of attributes of the derived ads so far.
    derived_attributes: usize,
}

/// Maximum number of attributes of all derived ads together. A chain of ads that are each like the one before has as many
/// attributes as the square of its length.
pub const MAX_DERIVED_ATTRIBUTES: usize = 2_000_000;

impl<'o, 'f> AdLibrary<'o, 'f> {
    /// Creates a library without ads. `open` opens the files that the spec names.
    pub fn new(open: &'f mut OpenFile<'f>) -> Self {
        let (named_cache, file_cache) = <_>::default();
        AdLibrary { open, named: Vec::new(), visible_count: 0, named_cache, file_cache, derived_attributes: 0 }
    }

    /// Registers the named ads of the mapping `node`.
    pub fn register_named(&mut self, reader: &mut ConfigReader<'o>, node: &'o YamlNode) {
        for (key, value) in reader.entries(node, "`ads`") {
            let name = key.text().unwrap_or_default();
            if !is_name(name) {
                let help = "write a name without `=`, `<` and brackets: `machine: ...`";
                reader.report(key, "this cannot be the name of an ad", help);
            }
            self.named.push((name, value));
        }
        self.visible_count = self.named.len();
    }

    /// Whether one of the ads of a node, or the file that the node names, is in one of HTCondor's formats. If so, the
    /// dialect is HTCondor's.
    pub fn uses_condor_format(&mut self, node: &'o YamlNode) -> bool {
        match &node.content {
            YamlContent::Null => false,
            YamlContent::Scalar(text) => {
                !is_name(text) && detect(text.as_bytes()).is_some_and(|form| form.facts().is_of_htcondor)
            }
            YamlContent::Sequence(elements) => elements.iter().any(|element| self.uses_condor_format(element)),
            YamlContent::Mapping(entries) => {
                let file = entries.iter().find(|(key, _)| key.text() == Some("file"));
                let path = file.and_then(|(_, value)| value.text());
                let stream = path.and_then(|path| (self.open)(path).ok()).and_then(|file| Stream::new(file, None).ok());
                stream.and_then(|stream| stream.form()).is_some_and(|form| form.facts().is_of_htcondor)
            }
        }
    }

    /// Reads all named ads, so that errors are reported even in ads that no case uses.
    pub fn read_named(&mut self, reader: &mut ConfigReader<'o>) {
        for (name, _) in self.named.clone() {
            self.by_name(reader, name);
        }
    }

    /// Returns the single ad of a node. `None` if the node has no ad or several, after reporting the error.
    pub fn single_ad(&mut self, reader: &mut ConfigReader<'o>, node: &'o YamlNode) -> Option<SpecAd> {
        let before = reader.problems.len();
        let ads = self.ads(reader, node);
        if let [one] = ads.as_slice() {
            return Some(one.clone());
        }
        if reader.problems.len() == before {
            let message = format!("expected one ad, not {}", ads.len());
            reader.report(node, message, "`{ file: machines.long, id: slot1@node01 }` selects one");
        }
        None
    }

    /// Returns the ads of a node. Errors are reported to `reader`.
    pub fn ads(&mut self, reader: &mut ConfigReader<'o>, node: &'o YamlNode) -> Vec<SpecAd> {
        let mut found = match &node.content {
            YamlContent::Null => {
                reader.report(node, "expected an ad", HELP);
                Vec::new()
            }
            YamlContent::Scalar(text) if is_name(text) => self.ads_by_name(reader, node, text),
            YamlContent::Scalar(text) => read_text(reader, node, text),
            YamlContent::Mapping(entries) if entries.iter().any(|(key, _)| is_derivation_key(key)) => {
                self.derived_ads(reader, node)
            }
            YamlContent::Mapping(_) => {
                let ad = read_ad(reader, node, false);
                ad.map(|ad| SpecAd::new(ad, reader.dialect, String::new)).into_iter().collect()
            }
            YamlContent::Sequence(elements) => elements.iter().flat_map(|element| self.ads(reader, element)).collect(),
        };
        for (position, known) in found.iter_mut().enumerate() {
            if known.id.is_empty() || (matches!(node.content, YamlContent::Sequence(_)) && known.id.starts_with('#')) {
                known.id = format!("#{}", position + 1);
            }
        }
        found
    }

    fn ads_by_name(&mut self, reader: &mut ConfigReader<'o>, node: &'o YamlNode, name: &str) -> Vec<SpecAd> {
        let names: Vec<&str> = self.named.iter().map(|(name, _)| *name).collect();
        let (visible, below) = names.split_at(self.visible_count);
        if visible.contains(&name) {
            return self.by_name(reader, name).to_vec();
        }
        let help = match closest_names(name, visible.iter().copied()).first() {
            Some(near) => format!("did you mean `{near}`?"),
            None if below.contains(&name) => "an ad can only use ads above it".to_owned(),
            None => HELP.to_owned(),
        };
        reader.report(node, format!("there is no ad called `{name}`"), help);
        Vec::new()
    }

    fn by_name(&mut self, reader: &mut ConfigReader<'o>, name: &str) -> Rc<Vec<SpecAd>> {
        let key = (name.to_owned(), reader.dialect.is_condor());
        if let Some(known) = self.named_cache.get(&key) {
            return Rc::clone(known);
        }
        let Some(at) = self.named.iter().position(|(other, _)| *other == name) else { return Rc::default() };
        let visible = std::mem::replace(&mut self.visible_count, at);
        let mut ads = self.ads(reader, self.named[at].1);
        self.visible_count = visible;
        if let [one] = ads.as_mut_slice()
            && !one.is_named
        {
            name.clone_into(&mut one.id);
        }
        let ads = Rc::new(ads);
        self.named_cache.insert(key, Rc::clone(&ads));
        ads
    }

    /// Reads ads that are derived from a file or from other ads, with changes.
    fn derived_ads(&mut self, reader: &mut ConfigReader<'o>, node: &'o YamlNode) -> Vec<SpecAd> {
        let entries = reader.known_entries(node, "an ad with `file` or `like`", &DERIVED_AD_KEYS);
        let get = |key: &str| value_of(&entries, key);
        if self.derived_attributes > MAX_DERIVED_ATTRIBUTES {
            return Vec::new();
        }
        let mut ads = match (get("file"), get("like")) {
            (Some(file), None) => self.ads_of_file(reader, file).to_vec(),
            (None, Some(like)) => self.ads(reader, like),
            _ => {
                reader.report(node, "this ad has both `file` and `like`", "delete one of them");
                return Vec::new();
            }
        };
        if let Some(id) = get("id") {
            let wanted = id.text().unwrap_or_default();
            let ids: Vec<String> = ads.iter().map(|known| known.id.clone()).collect();
            ads.retain(|known| known.id == wanted);
            if ads.is_empty() && !ids.is_empty() {
                let near = closest_names(wanted, ids.iter().map(String::as_str));
                let help = match near.first() {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the first ad is called `{}`", ids[0]),
                };
                reader.report(id, format!("no ad is called `{wanted}`"), help);
            }
        }
        if let Some(changes) = get("with").and_then(|with| read_ad(reader, with, false)) {
            for known in &mut ads {
                for change in changes.iter() {
                    known.ad = known.ad.with(change.name.clone(), change.expression.clone());
                }
            }
        }
        if let Some(without) = get("without") {
            let names: HashSet<Name> = read_words(reader, without).iter().map(|name| Name::new(name)).collect();
            for known in &mut ads {
                let kept = known.ad.iter().filter(|attribute| !names.contains(attribute.name));
                known.ad = kept.map(|attribute| (attribute.name.clone(), attribute.expression.clone())).collect();
            }
        }
        if let Some(rules) = get("transform") {
            ads = self.transform_ads(reader, rules, ads);
        }
        self.derived_attributes += ads.iter().map(|known| known.ad.len()).sum::<usize>();
        if self.derived_attributes > MAX_DERIVED_ATTRIBUTES {
            let message = format!("the ads with `file` or `like` have more than {MAX_DERIVED_ATTRIBUTES} attributes");
            reader.report(node, message, "this ad and those after it are not read");
        }
        ads.into_iter().map(|known| SpecAd::new(known.ad, reader.dialect, || known.id)).collect()
    }

    fn transform_ads(&mut self, reader: &mut ConfigReader<'o>, node: &'o YamlNode, ads: Vec<SpecAd>) -> Vec<SpecAd> {
        let text = node.text().unwrap_or_default();
        let is_path = !text.trim_end().contains('\n');
        let bytes = if is_path { self.read_bytes(reader, node) } else { Some(text.as_bytes().to_vec()) };
        let Some(bytes) = bytes else { return Vec::new() };
        let (rules, problems) = parse_rules(&bytes, reader.dialect);
        for problem in &problems {
            if is_path {
                report_in_file(reader, node, Position::of_offset(&bytes, problem.range.start), problem);
            } else {
                report_in_text(reader, node, problem);
            }
        }
        let transform = Transform { rules, ..Transform::default() };
        let context = Context::new(reader.dialect);
        let mut results = Vec::new();
        for known in ads {
            for result in transform.apply(&known.ad, &context) {
                for fault in &result.faults {
                    let message = format!("{} cannot be transformed: {}", known.id, fault.message);
                    reader.report(node, message, "`classad transform` shows what each rule does");
                }
                results.push(SpecAd { ad: result.ad, ..known.clone() });
            }
        }
        results
    }

    /// Reads a file that does not contain ads, such as rules or a policy. `None` after reporting an error.
    pub fn read_bytes(&mut self, reader: &mut ConfigReader<'o>, node: &'o YamlNode) -> Option<Vec<u8>> {
        let Some(path) = node.text() else {
            let help = "write a path from the folder of the spec: `site.rules`, `../policy.yaml`";
            reader.report(node, "expected the name of a file", help);
            return None;
        };
        let mut bytes = Vec::new();
        match (self.open)(path).and_then(|mut file| file.read_to_end(&mut bytes)) {
            Ok(_) => Some(bytes),
            Err(error) => {
                report_unreadable(reader, node, path, &error);
                None
            }
        }
    }

    fn ads_of_file(&mut self, reader: &mut ConfigReader<'o>, node: &'o YamlNode) -> Rc<Vec<SpecAd>> {
        let path = node.text().unwrap_or_default();
        let key = (path.to_owned(), reader.dialect.is_condor());
        if let Some(ads) = self.file_cache.get(&key) {
            return Rc::clone(ads);
        }
        let mut ads = Vec::new();
        match (self.open)(path).and_then(|file| Stream::new(file, None)) {
            Ok(stream) => read_stream(reader, node, stream, &mut ads),
            Err(error) => report_unreadable(reader, node, path, &error),
        }
        let ads = Rc::new(ads);
        self.file_cache.insert(key, Rc::clone(&ads));
        ads
    }
}

impl SpecAd {
    /// Makes an ad. `default_id` is called for an ad without identity.
    fn new(ad: Ad, dialect: Dialect, default_id: impl FnOnce() -> String) -> Self {
        let id = display_name(&ad, None, &Context::new(dialect));
        SpecAd { is_named: id.is_some(), id: id.unwrap_or_else(default_id), ad }
    }
}

/// Reads the ads of a stream into `ads`. Errors are reported at `node`, which names the file.
fn read_stream(reader: &mut ConfigReader<'_>, node: &YamlNode, mut stream: Stream, ads: &mut Vec<SpecAd>) {
    let path = node.text().unwrap_or_default();
    loop {
        let block = match stream.next_block() {
            Ok(Some(block)) => block,
            Ok(None) => break,
            Err(error) => return report_unreadable(reader, node, path, &error),
        };
        for item in block.ads(reader.dialect) {
            match item {
                Ok(entry) => {
                    let number = ads.len() + 1;
                    ads.push(SpecAd::new(entry.ad, reader.dialect, || format!("{path}:{number}")));
                }
                Err(problem) => report_in_file(reader, node, block.position(problem.range.start), &problem),
            }
        }
    }
    if ads.is_empty() {
        reader.report(node, format!("no ad can be read from {path}"), "`file` names a file of ads");
    }
}

/// Reads the ads of a text in the spec, in the format that is detected or else in brackets.
fn read_text(reader: &mut ConfigReader<'_>, node: &YamlNode, text: &str) -> Vec<SpecAd> {
    let form = detect(text.as_bytes()).unwrap_or(FileFormat::Bracketed);
    let mut ads = Vec::new();
    for item in read_document(text.as_bytes(), form, reader.dialect) {
        match item {
            Ok(entry) => ads.push(SpecAd::new(entry.ad, reader.dialect, String::new)),
            Err(problem) => report_in_text(reader, node, &problem),
        }
    }
    ads
}

fn report_unreadable(reader: &mut ConfigReader<'_>, node: &YamlNode, path: &str, error: &io::Error) {
    let reason = match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        _ => error.to_string().split(" (os error").next().unwrap_or_default().to_owned(),
    };
    reader.report(node, format!("cannot read {path}: {reason}"), "a relative path begins at the folder of the spec");
}

/// Reports an error in a file at `node`, which names the file.
pub fn report_in_file(reader: &mut ConfigReader<'_>, node: &YamlNode, at: Position, problem: &Problem) {
    let path = node.text().unwrap_or_default();
    let message = format!("{path}:{}:{}: {}", at.line, at.column, problem.message);
    let mut reported = reader.tree.problem(node, message);
    reported.help.clone_from(&problem.help);
    reader.problems.push(reported);
}

/// Reports an error in the text of `node` at its position in the spec.
fn report_in_text(reader: &mut ConfigReader<'_>, node: &YamlNode, problem: &Problem) {
    let part = |range: &std::ops::Range<usize>| reader.tree.scalar_part_range(node, range.clone());
    let mut reported = Problem::error_at(part(&problem.range), 0, problem.message.clone());
    reported.help.clone_from(&problem.help);
    reported.related = problem.related.as_ref().map(|(range, words)| (part(range), words.clone()));
    reader.problems.push(reported);
}

/// Whether a text is the name of an ad. A text with `=`, `<`, a bracket or a line feed is an ad itself.
fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.contains(['=', '[', ']', '{', '}', '\n', '<'])
}

/// Whether a key makes a mapping a derived ad. An ad that has an attribute of this name must be written as text
/// instead.
fn is_derivation_key(key: &YamlNode) -> bool {
    matches!(key.text(), Some("file" | "like"))
}
