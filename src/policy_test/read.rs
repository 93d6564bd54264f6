//! Reads a spec from a YAML document.

use std::collections::HashSet;

use crate::ad::{Dialect, Kind, Value};
use crate::eval::{Context, Environment, Evaluator, Extent, Verdict, references};
use crate::format::Problem;
use crate::format::document_tree::{Content, Node, Outline, Settings};
use crate::matching::policy::Policy;

use super::ads::{Known, Library, Open, wrong_in_file};
use super::expectation::Fact;
use super::normalize::settle;
use super::runner::{Question, SIDES, Sighted};
use super::settings;
use super::settings::Conditions;
use super::yaml_values::{expression, words};
use super::{Case, Expectation, Spec};

/// The keys of a spec, in addition to those of [`Conditions`].
const SPEC_KEYS: [&str; 3] = ["policy", "ads", "cases"];

/// The keys common to all cases, in addition to those of [`Conditions`].
const CASE_KEYS: [&str; 2] = ["name", "tags"];

/// A kind of question: the key that identifies it, required keys, optional keys, and the keys of expectations, of which
/// at least one is required.
struct Way {
    key: &'static str,
    needs: &'static [&'static str],
    may: &'static [&'static str],
    expects: &'static [&'static str],
}

/// The kinds of questions.
const WAYS: [Way; 6] = [
    Way { key: "expression", needs: &[], may: &["my", "target"], expects: &["expect"] },
    Way { key: "match", needs: &["request", "offer"], may: &[], expects: &["match", "refused-by", "clause"] },
    Way { key: "query", needs: &["pool"], may: &[], expects: &["ids", "count"] },
    Way { key: "gang", needs: &["request", "offers"], may: &["policy"], expects: &["gang"] },
    Way { key: "matches", needs: &["requests", "offers"], may: &["policy"], expects: &["matches"] },
    Way { key: "specialize", needs: &[], may: &["my", "target", "closed"], expects: &["residue", "verdict"] },
];

impl Way {
    fn has(&self, key: &str) -> bool {
        self.key == key || [self.needs, self.may, self.expects].iter().any(|keys| keys.contains(&key))
    }
}

/// The verdicts that a case with `specialize` can expect.
const VERDICTS: [Verdict; 3] = [Verdict::Always, Verdict::Never, Verdict::Depends];

impl<'o> Spec<'o> {
    /// Reads a spec. Other files are read through `open`. Settings that the spec lacks are taken from `given`.
    ///
    /// # Errors
    ///
    /// All errors in the spec, in the order of the text: unknown, duplicate and missing keys, and unreadable values.
    pub fn read(outline: &'o Outline<'o>, given: &Conditions, open: &mut Open<'_>) -> Result<Self, Vec<Problem>> {
        let mut settings = Settings::new(outline, Dialect::default());
        let keys: Vec<&str> = SPEC_KEYS.into_iter().chain(settings::KEYS).collect();
        let entries = settings.settings(&outline.root, "a spec", &keys);
        let get = |wanted: &str| entries.iter().find(|(key, _)| *key == wanted).map(|(_, value)| *value);
        let mut own = Conditions::default();
        for (key, value) in entries.iter().filter(|(key, _)| settings::KEYS.contains(key)) {
            own.read(&mut settings, key, value);
        }
        let mut reader = Reader { settings, library: Library::new(open), policy: get("policy"), names: HashSet::new() };
        if let Some(ads) = get("ads") {
            reader.library.name(&mut reader.settings, ads);
        }
        let mut conditions = own.or(given);
        if conditions.dialect.is_none() && reader.speaks_condor(get("ads"), get("cases")) {
            conditions.dialect = Some(Dialect::Condor);
        }
        reader.settings.dialect = conditions.dialect.unwrap_or_default();
        reader.library.read_named(&mut reader.settings);
        let cases = if let Some(cases) = get("cases") {
            reader.cases(cases, &conditions)
        } else {
            // After an error in the keys, `cases` is probably the misspelt one.
            if reader.settings.problems.is_empty() {
                let help = "`cases:`, and below it `- name: ...` for each";
                reader.settings.wrong(&outline.root, "this spec has no `cases`", help);
            }
            Vec::new()
        };
        // Report an error in an ad that several cases use once.
        let mut told: Vec<Problem> = Vec::new();
        for problem in std::mem::take(&mut reader.settings.problems) {
            if !told.contains(&problem) {
                told.push(problem);
            }
        }
        reader.settings.problems = told;
        reader.settings.finish(Spec { outline, cases })
    }
}

/// The state while reading a spec.
struct Reader<'o, 'f> {
    settings: Settings<'o>,
    library: Library<'o, 'f>,
    /// The policy of cases that have none of their own.
    policy: Option<&'o Node>,
    /// The names of the cases read so far.
    names: HashSet<&'o str>,
}

/// The key-value pairs of a case.
struct Entries<'o> {
    node: &'o Node,
    all: Vec<(&'static str, &'o Node)>,
}

impl<'o> Entries<'o> {
    fn get(&self, wanted: &str) -> Option<&'o Node> {
        self.all.iter().find(|(key, _)| *key == wanted).map(|(_, value)| *value)
    }
}

impl<'o> Reader<'o, '_> {
    /// Whether any of the ads is in one of HTCondor's formats.
    fn speaks_condor(&mut self, ads: Option<&'o Node>, cases: Option<&'o Node>) -> bool {
        const ADS: [&str; 7] = ["my", "target", "request", "requests", "offer", "offers", "pool"];
        let mut nodes = Vec::new();
        if let Some(Content::Mapping(entries)) = ads.map(|node| &node.content) {
            nodes.extend(entries.iter().map(|(_, value)| value));
        }
        if let Some(Content::Sequence(cases)) = cases.map(|node| &node.content) {
            for case in cases {
                let Content::Mapping(entries) = &case.content else { continue };
                let is_ads = |key: &Node| key.text().is_some_and(|key| ADS.contains(&key));
                nodes.extend(entries.iter().filter(|(key, _)| is_ads(key)).map(|(_, value)| value));
            }
        }
        nodes.into_iter().any(|node| self.library.speaks_condor(node))
    }

    fn cases(&mut self, node: &'o Node, conditions: &Conditions) -> Vec<Case<'o>> {
        let cases = match &node.content {
            Content::Sequence(cases) if !cases.is_empty() => cases,
            Content::Sequence(_) | Content::Nothing => {
                self.settings.wrong(node, "this spec has no cases", "`- name: ...` begins one");
                return Vec::new();
            }
            _ => {
                self.settings.wrong(node, "`cases` must be a sequence", "`- name: ...` begins a case");
                return Vec::new();
            }
        };
        let dialect = self.settings.dialect;
        let mut found = Vec::new();
        for case in cases {
            found.extend(self.case(case, conditions));
            self.settings.dialect = dialect;
        }
        found
    }

    fn case(&mut self, node: &'o Node, outer: &Conditions) -> Option<Case<'o>> {
        let mut keys: Vec<&'static str> = CASE_KEYS.into_iter().chain(settings::KEYS).collect();
        for way in &WAYS {
            for key in std::iter::once(&way.key).chain(way.needs).chain(way.may).chain(way.expects) {
                if !keys.contains(key) {
                    keys.push(key);
                }
            }
        }
        let before = self.settings.problems.len();
        let entries = Entries { node, all: self.settings.settings(node, "a case", &keys) };
        if !matches!(node.content, Content::Mapping(_)) {
            return None;
        }
        let mut own = Conditions::default();
        for (key, value) in entries.all.iter().filter(|(key, _)| settings::KEYS.contains(key)) {
            own.read(&mut self.settings, key, value);
        }
        let conditions = own.or(outer);
        self.settings.dialect = conditions.dialect.unwrap_or_default();
        let name = self.name(&entries);
        let tags = entries.get("tags").map(|tags| words(&mut self.settings, tags)).unwrap_or_default();
        let is_unknown = self.settings.problems.len() > before;
        let way = self.way(&entries, is_unknown)?;
        let question = self.question(way, &entries);
        let mut expectations = Vec::new();
        for (key, value) in entries.all.iter().filter(|(key, _)| way.expects.contains(key)) {
            let fact = self.fact(key, value, &conditions.context());
            expectations.extend(fact.map(|fact| Expectation { key, node: value, fact }));
        }
        if !way.expects.iter().any(|key| entries.get(key).is_some()) && !is_unknown {
            let help = format!("`{}: ...` says what is expected", way.expects.join(": ...` or `"));
            self.settings.wrong(node, "this case expects nothing", help);
        }
        Some(Case { name: name?, tags, node, conditions, question: question?, expectations })
    }

    fn name(&mut self, entries: &Entries<'o>) -> Option<String> {
        let Some(node) = entries.get("name") else {
            self.settings.wrong(entries.node, "this case has no name", "`name: students wait in the daytime`");
            return None;
        };
        let Some(text) = node.text().filter(|text| !text.trim().is_empty()) else {
            self.settings.wrong(node, "the name of a case is a text", "`name: students wait in the daytime`");
            return None;
        };
        if !self.names.insert(text) {
            self.settings.wrong(
                node,
                format!("two cases are called `{text}`"),
                "a name tells one case from all others",
            );
        }
        Some(text.to_owned())
    }

    /// Determines the kind of question, and reports missing and unexpected keys. `None` if there is not exactly one
    /// question.
    fn way(&mut self, entries: &Entries<'o>, is_unknown: bool) -> Option<&'static Way> {
        let mut ways = WAYS.iter().filter(|way| entries.get(way.key).is_some());
        let Some(way) = ways.next() else {
            if !is_unknown {
                let keys: Vec<&str> = WAYS.iter().map(|way| way.key).collect();
                let help = format!("one of `{}` says it", keys.join("`, `"));
                self.settings.wrong(entries.node, "this case asks nothing", help);
            }
            return None;
        };
        if let Some(other) = ways.next() {
            let message = format!("this case asks two things: `{}` and `{}`", way.key, other.key);
            self.settings.wrong(entries.node, message, "each has a case of its own");
            return None;
        }
        let others = entries
            .all
            .iter()
            .filter(|(key, _)| !way.has(key) && !CASE_KEYS.contains(key) && !settings::KEYS.contains(key));
        for (key, value) in others {
            let keys: Vec<&str> = [way.needs, way.may, way.expects].concat();
            let message = format!("`{key}` has no use in a case with `{}`", way.key);
            self.settings.wrong(value, message, format!("`{}` can stand beside it", keys.join("`, `")));
        }
        for key in way.needs.iter().filter(|key| entries.get(key).is_none() && !is_unknown) {
            let message = format!("`{key}` is missing");
            self.settings.wrong(entries.node, message, format!("a case with `{}` needs it", way.key));
        }
        Some(way)
    }

    fn question(&mut self, way: &Way, entries: &Entries<'o>) -> Option<Question<'o>> {
        let mut one = |key: &str| entries.get(key).map(|node| self.library.one(&mut self.settings, node));
        let (my, target) = (one("my"), one("target"));
        let (request, offer) = (one("request"), one("offer"));
        let mut several = |key: &str| entries.get(key).map(|node| self.library.ads(&mut self.settings, node));
        let (requests, offers, pool) = (several("requests"), several("offers"), several("pool"));
        let policy = match entries.get("policy").or(self.policy) {
            Some(policy) if way.has("policy") => self.read_policy(policy),
            _ => Policy::default(),
        };
        let closed = entries.get("closed").map(|node| self.truth(node));
        let is_complete = |ad: &Option<Option<Known>>| !matches!(ad, Some(None));
        let mut sighted = |key: &str| {
            let node = entries.get(key)?;
            let expression = self.settings.expression(node)?;
            if !is_complete(&my) || !is_complete(&target) {
                return None;
            }
            Some(Sighted { node, expression, my: my.clone().flatten(), target: target.clone().flatten() })
        };
        Some(match way.key {
            "expression" => Question::Value(sighted("expression")?),
            "match" => Question::Match { request: request??, offer: offer?? },
            "query" => Question::Query { constraint: sighted("query")?.expression, pool: pool? },
            "gang" => Question::Gang { request: request??, offers: offers?, policy },
            "matches" => Question::Cycle { requests: requests?, offers: offers?, policy },
            _ => Question::Residue { sighted: sighted("specialize")?, is_closed: closed.flatten().unwrap_or_default() },
        })
    }

    fn read_policy(&mut self, node: &'o Node) -> Policy {
        if matches!(node.content, Content::Mapping(_)) {
            return Policy::read(&mut self.settings, node);
        }
        let Some(bytes) = self.library.bytes(&mut self.settings, node) else { return Policy::default() };
        match Policy::parse(&bytes, self.settings.dialect) {
            Ok(policy) => policy,
            Err(problems) => {
                for problem in &problems {
                    let at = crate::format::Position::of(&bytes, problem.range.start);
                    wrong_in_file(&mut self.settings, node, at, problem);
                }
                Policy::default()
            }
        }
    }

    fn truth(&mut self, node: &Node) -> Option<bool> {
        if let Some(Value::Boolean(is)) = node.value {
            return Some(is);
        }
        self.settings.wrong(node, "`true` or `false` is wanted here", "without quotes");
        None
    }

    /// Reads the expected result under `key`.
    fn fact(&mut self, key: &str, node: &'o Node, context: &Context) -> Option<Fact> {
        Some(match key {
            "expect" => Fact::Value(self.value(node, context)?),
            "match" => Fact::Truth(self.truth(node)?),
            "count" => Fact::Count(self.count(node)?),
            "refused-by" => Fact::Word(self.one_of(node, SIDES)?),
            "verdict" => Fact::Word(self.one_of(node, VERDICTS.map(Verdict::as_str))?),
            "residue" => Fact::Residue(self.settings.expression(node)?),
            "clause" if is_none(node) => Fact::Clauses(Vec::new()),
            "clause" => Fact::Clauses(vec![self.settings.expression(node)?]),
            "ids" if is_none(node) => Fact::Ads(Vec::new()),
            "ids" => Fact::Ads(words(&mut self.settings, node)),
            "gang" if matches!(node.content, Content::Sequence(_)) => Fact::Members(words(&mut self.settings, node)),
            _ if is_none(node) => Fact::Places(Vec::new()),
            _ => Fact::Places(self.places(node, key)),
        })
    }

    /// Reads an expected value, which must not refer to any attribute.
    fn value(&mut self, node: &Node, context: &Context) -> Option<crate::ad::Expression> {
        let expression = expression(&mut self.settings, node, true)?;
        let (environment, frame) = Environment::unmet(crate::ad::Ad::default(), Extent::Closed);
        if !matches!(expression.kind(), Kind::Literal(_))
            && let Some(name) = references(&expression, &frame, &environment, context).external.first()
        {
            let help =
                "the names in it have no value there; a string needs no `!expr`, and quotes of its own behind it";
            self.settings.wrong(node, format!("an expected value stands by itself, but this refers to {name}"), help);
            return None;
        }
        let (environment, frame) = Environment::nowhere();
        let mut evaluator = Evaluator::new(&environment, context);
        let value = evaluator.evaluate(&expression, &frame).and_then(|value| settle(value, &mut evaluator));
        if let Err(halt) = &value {
            self.settings.wrong(node, format!("the expected value cannot be found: {halt}"), "write it out");
        }
        value.ok()
    }

    fn count(&mut self, node: &Node) -> Option<usize> {
        let count = node.text().and_then(|text| text.parse().ok());
        if count.is_none() {
            self.settings.wrong(node, "this is no number of ads", "`count: 3`");
        }
        count
    }

    fn one_of<const N: usize>(&mut self, node: &Node, words: [&'static str; N]) -> Option<&'static str> {
        let found = words.into_iter().find(|word| node.text() == Some(word));
        if found.is_none() {
            self.settings.wrong(node, "this word has no meaning here", format!("`{}`", words.join("`, `")));
        }
        found
    }

    /// Reads a mapping of places to names of ads. Entries with `none` are left out.
    fn places(&mut self, node: &'o Node, key: &str) -> Vec<(String, String)> {
        let mut places = Vec::new();
        for (place, who) in self.settings.entries(node, &format!("`{key}`")) {
            match who.text() {
                _ if is_none(who) => {}
                Some(who) => places.push((place.text().unwrap_or_default().to_owned(), who.to_owned())),
                None => self.settings.wrong(who, "the name of an ad is wanted here", "or `none`"),
            }
        }
        places
    }
}

/// Whether a node is empty or `none`.
fn is_none(node: &Node) -> bool {
    node.content == Content::Nothing || node.text() == Some("none")
}
