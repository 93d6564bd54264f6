//! Reads a spec from a YAML document.

use std::collections::HashSet;

use crate::ad::{Dialect, ExpressionKind, Value};
use crate::eval::{ConstraintVerdict, Context, Environment, EvaluationSettings, Evaluator, Knowledge, references};
use crate::format::Problem;
use crate::format::document_tree::{ConfigReader, YamlContent, YamlNode, YamlTree};
use crate::matching::policy::Policy;

use super::ads::{AdLibrary, OpenFile, SpecAd, report_in_file};
use super::expectation::CaseAnswer;
use super::normalize::normalize;
use super::runner::{CaseQuestion, REFUSING_SIDES, ScopedExpression};
use super::settings::{self, SETTINGS_KEYS};
use super::yaml_values::{read_expression, read_words};
use super::{Expectation, Spec, TestCase};

/// The keys of a spec, in addition to those of [`EvaluationSettings`].
const SPEC_KEYS: [&str; 3] = ["policy", "ads", "cases"];

/// The keys common to all cases, in addition to those of [`EvaluationSettings`].
const CASE_KEYS: [&str; 2] = ["name", "tags"];

/// A kind of question: the key that identifies the kind, the required and the optional keys, and the keys of
/// expectations. A case needs at least one expectation.
struct QuestionKind {
    key: &'static str,
    required: &'static [&'static str],
    optional: &'static [&'static str],
    expected: &'static [&'static str],
}

/// The kinds of questions.
const QUESTION_KINDS: [QuestionKind; 6] = [
    QuestionKind { key: "expression", required: &[], optional: &["my", "target"], expected: &["expect"] },
    QuestionKind {
        key: "match",
        required: &["request", "offer"],
        optional: &[],
        expected: &["match", "refused-by", "clause"],
    },
    QuestionKind { key: "query", required: &["pool"], optional: &[], expected: &["ids", "count"] },
    QuestionKind { key: "gang", required: &["request", "offers"], optional: &["policy"], expected: &["gang"] },
    QuestionKind { key: "matches", required: &["requests", "offers"], optional: &["policy"], expected: &["matches"] },
    QuestionKind {
        key: "specialize",
        required: &[],
        optional: &["my", "target", "closed"],
        expected: &["residue", "verdict"],
    },
];

impl QuestionKind {
    fn has(&self, key: &str) -> bool {
        self.key == key || [self.required, self.optional, self.expected].iter().any(|keys| keys.contains(&key))
    }
}

/// The verdicts that a case with `specialize` can expect.
const VERDICTS: [ConstraintVerdict; 3] =
    [ConstraintVerdict::Always, ConstraintVerdict::Never, ConstraintVerdict::Depends];

impl<'o> Spec<'o> {
    /// Reads a spec. Other files are read through `open`. Settings that the spec lacks are taken from `given`.
    ///
    /// # Errors
    ///
    /// All errors in the spec, in the order of the text: unknown, duplicate and missing keys, and unreadable values.
    pub fn read(
        outline: &'o YamlTree<'o>,
        given: &EvaluationSettings,
        open: &mut OpenFile<'_>,
    ) -> Result<Self, Vec<Problem>> {
        let mut settings = ConfigReader::new(outline, Dialect::default());
        let keys: Vec<&str> = SPEC_KEYS.into_iter().chain(SETTINGS_KEYS).collect();
        let entries = settings.known_entries(&outline.root, "a spec", &keys);
        let get = |wanted: &str| entries.iter().find(|(key, _)| *key == wanted).map(|(_, value)| *value);
        let mut own = EvaluationSettings::default();
        for (key, value) in entries.iter().filter(|(key, _)| SETTINGS_KEYS.contains(key)) {
            settings::read_setting(&mut own, &mut settings, key, value);
        }
        let mut reader =
            SpecReader { settings, library: AdLibrary::new(open), policy: get("policy"), names: HashSet::new() };
        if let Some(ads) = get("ads") {
            reader.library.register_named(&mut reader.settings, ads);
        }
        let mut conditions = own.with_defaults(given);
        if conditions.dialect.is_none() && reader.uses_condor_format(get("ads"), get("cases")) {
            conditions.dialect = Some(Dialect::Condor);
        }
        reader.settings.dialect = conditions.dialect.unwrap_or_default();
        reader.library.read_named(&mut reader.settings);
        let cases = if let Some(cases) = get("cases") {
            reader.read_cases(cases, &conditions)
        } else {
            // After an error in the keys, `cases` is probably the misspelt one.
            if reader.settings.problems.is_empty() {
                let help = "`cases:`, and below it `- name: ...` for each";
                reader.settings.report(&outline.root, "this spec has no `cases`", help);
            }
            Vec::new()
        };
        // Report each error once, even if several cases use the ad that contains it.
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

/// Reads the cases of a spec. Holds the reported problems, the ads of the spec, and what all cases share.
struct SpecReader<'o, 'f> {
    settings: ConfigReader<'o>,
    library: AdLibrary<'o, 'f>,
    /// The policy of cases that have none of their own.
    policy: Option<&'o YamlNode>,
    /// The names of the cases read so far.
    names: HashSet<&'o str>,
}

/// The key-value pairs of a case.
struct CaseEntries<'o> {
    node: &'o YamlNode,
    all: Vec<(&'static str, &'o YamlNode)>,
}

impl<'o> CaseEntries<'o> {
    fn get(&self, wanted: &str) -> Option<&'o YamlNode> {
        self.all.iter().find(|(key, _)| *key == wanted).map(|(_, value)| *value)
    }
}

impl<'o> SpecReader<'o, '_> {
    /// Whether any ad in `ads` or in the cases is in one of HTCondor's formats.
    fn uses_condor_format(&mut self, ads: Option<&'o YamlNode>, cases: Option<&'o YamlNode>) -> bool {
        const ADS: [&str; 7] = ["my", "target", "request", "requests", "offer", "offers", "pool"];
        let mut nodes = Vec::new();
        if let Some(YamlContent::Mapping(entries)) = ads.map(|node| &node.content) {
            nodes.extend(entries.iter().map(|(_, value)| value));
        }
        if let Some(YamlContent::Sequence(cases)) = cases.map(|node| &node.content) {
            for case in cases {
                let YamlContent::Mapping(entries) = &case.content else { continue };
                let is_ads = |key: &YamlNode| key.text().is_some_and(|key| ADS.contains(&key));
                nodes.extend(entries.iter().filter(|(key, _)| is_ads(key)).map(|(_, value)| value));
            }
        }
        nodes.into_iter().any(|node| self.library.uses_condor_format(node))
    }

    fn read_cases(&mut self, node: &'o YamlNode, conditions: &EvaluationSettings) -> Vec<TestCase<'o>> {
        let cases = match &node.content {
            YamlContent::Sequence(cases) if !cases.is_empty() => cases,
            YamlContent::Sequence(_) | YamlContent::Null => {
                self.settings.report(node, "this spec has no cases", "`- name: ...` begins one");
                return Vec::new();
            }
            _ => {
                self.settings.report(node, "`cases` must be a sequence", "`- name: ...` begins a case");
                return Vec::new();
            }
        };
        let dialect = self.settings.dialect;
        let mut found = Vec::new();
        for case in cases {
            found.extend(self.read_case(case, conditions));
            self.settings.dialect = dialect;
        }
        found
    }

    fn read_case(&mut self, node: &'o YamlNode, outer: &EvaluationSettings) -> Option<TestCase<'o>> {
        let mut keys: Vec<&'static str> = CASE_KEYS.into_iter().chain(SETTINGS_KEYS).collect();
        for way in &QUESTION_KINDS {
            for key in std::iter::once(&way.key).chain(way.required).chain(way.optional).chain(way.expected) {
                if !keys.contains(key) {
                    keys.push(key);
                }
            }
        }
        let before = self.settings.problems.len();
        let entries = CaseEntries { node, all: self.settings.known_entries(node, "a case", &keys) };
        if !matches!(node.content, YamlContent::Mapping(_)) {
            return None;
        }
        let mut own = EvaluationSettings::default();
        for (key, value) in entries.all.iter().filter(|(key, _)| SETTINGS_KEYS.contains(key)) {
            settings::read_setting(&mut own, &mut self.settings, key, value);
        }
        let conditions = own.with_defaults(outer);
        self.settings.dialect = conditions.dialect.unwrap_or_default();
        let name = self.read_name(&entries);
        let tags = entries.get("tags").map(|tags| read_words(&mut self.settings, tags)).unwrap_or_default();
        let is_unknown = self.settings.problems.len() > before;
        let way = self.question_kind(&entries, is_unknown)?;
        let question = self.read_question(way, &entries);
        let mut expectations = Vec::new();
        for (key, value) in entries.all.iter().filter(|(key, _)| way.expected.contains(key)) {
            let fact = self.read_expected(key, value, &conditions.to_context());
            expectations.extend(fact.map(|fact| Expectation { key, node: value, fact }));
        }
        if !way.expected.iter().any(|key| entries.get(key).is_some()) && !is_unknown {
            let help = format!("`{}: ...` says what is expected", way.expected.join(": ...` or `"));
            self.settings.report(node, "this case expects nothing", help);
        }
        Some(TestCase { name: name?, tags, node, settings: conditions, question: question?, expectations })
    }

    fn read_name(&mut self, entries: &CaseEntries<'o>) -> Option<String> {
        let Some(node) = entries.get("name") else {
            self.settings.report(entries.node, "this case has no name", "`name: students wait in the daytime`");
            return None;
        };
        let Some(text) = node.text().filter(|text| !text.trim().is_empty()) else {
            self.settings.report(node, "the name of a case is a text", "`name: students wait in the daytime`");
            return None;
        };
        if !self.names.insert(text) {
            self.settings.report(
                node,
                format!("two cases are called `{text}`"),
                "a name tells one case from all others",
            );
        }
        Some(text.to_owned())
    }

    /// Determines the kind of question, and reports missing and unexpected keys. `None` if there is not exactly one
    /// question.
    fn question_kind(&mut self, entries: &CaseEntries<'o>, is_unknown: bool) -> Option<&'static QuestionKind> {
        let mut ways = QUESTION_KINDS.iter().filter(|way| entries.get(way.key).is_some());
        let Some(way) = ways.next() else {
            if !is_unknown {
                let keys: Vec<&str> = QUESTION_KINDS.iter().map(|way| way.key).collect();
                let help = format!("one of `{}` says it", keys.join("`, `"));
                self.settings.report(entries.node, "this case asks nothing", help);
            }
            return None;
        };
        if let Some(other) = ways.next() {
            let message = format!("this case asks two things: `{}` and `{}`", way.key, other.key);
            self.settings.report(entries.node, message, "each has a case of its own");
            return None;
        }
        let others = entries
            .all
            .iter()
            .filter(|(key, _)| !way.has(key) && !CASE_KEYS.contains(key) && !SETTINGS_KEYS.contains(key));
        for (key, value) in others {
            let keys: Vec<&str> = [way.required, way.optional, way.expected].concat();
            let message = format!("`{key}` has no use in a case with `{}`", way.key);
            self.settings.report(value, message, format!("`{}` can stand beside it", keys.join("`, `")));
        }
        for key in way.required.iter().filter(|key| entries.get(key).is_none() && !is_unknown) {
            let message = format!("`{key}` is missing");
            self.settings.report(entries.node, message, format!("a case with `{}` needs it", way.key));
        }
        Some(way)
    }

    fn read_question(&mut self, way: &QuestionKind, entries: &CaseEntries<'o>) -> Option<CaseQuestion<'o>> {
        let mut one = |key: &str| entries.get(key).map(|node| self.library.single_ad(&mut self.settings, node));
        let (my, target) = (one("my"), one("target"));
        let (request, offer) = (one("request"), one("offer"));
        let mut several = |key: &str| entries.get(key).map(|node| self.library.ads(&mut self.settings, node));
        let (requests, offers, pool) = (several("requests"), several("offers"), several("pool"));
        let policy = match entries.get("policy").or(self.policy) {
            Some(policy) if way.has("policy") => self.read_policy(policy),
            _ => Policy::default(),
        };
        let closed = entries.get("closed").map(|node| self.read_boolean(node));
        let is_complete = |ad: &Option<Option<SpecAd>>| !matches!(ad, Some(None));
        let mut sighted = |key: &str| {
            let node = entries.get(key)?;
            let expression = self.settings.expression(node)?;
            if !is_complete(&my) || !is_complete(&target) {
                return None;
            }
            Some(ScopedExpression { node, expression, my: my.clone().flatten(), target: target.clone().flatten() })
        };
        Some(match way.key {
            "expression" => CaseQuestion::Value(sighted("expression")?),
            "match" => CaseQuestion::Match { request: request??, offer: offer?? },
            "query" => CaseQuestion::Query { constraint: sighted("query")?.expression, pool: pool? },
            "gang" => CaseQuestion::Gang { request: request??, offers: offers?, policy },
            "matches" => CaseQuestion::Cycle { requests: requests?, offers: offers?, policy },
            _ => CaseQuestion::Residue {
                sighted: sighted("specialize")?,
                is_closed: closed.flatten().unwrap_or_default(),
            },
        })
    }

    fn read_policy(&mut self, node: &'o YamlNode) -> Policy {
        if matches!(node.content, YamlContent::Mapping(_)) {
            return Policy::read(&mut self.settings, node);
        }
        let Some(bytes) = self.library.read_bytes(&mut self.settings, node) else { return Policy::default() };
        match Policy::parse(&bytes, self.settings.dialect) {
            Ok(policy) => policy,
            Err(problems) => {
                for problem in &problems {
                    let at = crate::format::Position::of_offset(&bytes, problem.range.start);
                    report_in_file(&mut self.settings, node, at, problem);
                }
                Policy::default()
            }
        }
    }

    fn read_boolean(&mut self, node: &YamlNode) -> Option<bool> {
        if let Some(Value::Boolean(is)) = node.value {
            return Some(is);
        }
        self.settings.report(node, "`true` or `false` is wanted here", "without quotes");
        None
    }

    /// Reads the expected result under `key`. `None` after reporting an error.
    fn read_expected(&mut self, key: &str, node: &'o YamlNode, context: &Context) -> Option<CaseAnswer> {
        Some(match key {
            "expect" => CaseAnswer::Value(self.read_value(node, context)?),
            "match" => CaseAnswer::Truth(self.read_boolean(node)?),
            "count" => CaseAnswer::Count(self.read_count(node)?),
            "refused-by" => CaseAnswer::Word(self.read_keyword(node, REFUSING_SIDES)?),
            "verdict" => CaseAnswer::Word(self.read_keyword(node, VERDICTS.map(ConstraintVerdict::as_str))?),
            "residue" => CaseAnswer::Residue(self.settings.expression(node)?),
            "clause" if is_none(node) => CaseAnswer::Clauses(Vec::new()),
            "clause" => CaseAnswer::Clauses(vec![self.settings.expression(node)?]),
            "ids" if is_none(node) => CaseAnswer::Ads(Vec::new()),
            "ids" => CaseAnswer::Ads(read_words(&mut self.settings, node)),
            "gang" if matches!(node.content, YamlContent::Sequence(_)) => {
                CaseAnswer::Members(read_words(&mut self.settings, node))
            }
            _ if is_none(node) => CaseAnswer::Places(Vec::new()),
            _ => CaseAnswer::Places(self.read_places(node, key)),
        })
    }

    /// Reads an expected value, which must not refer to any attribute. `None` after reporting an error.
    fn read_value(&mut self, node: &YamlNode, context: &Context) -> Option<crate::ad::Expression> {
        let expression = read_expression(&mut self.settings, node, true)?;
        let (environment, frame) = Environment::partner_unknown(crate::ad::Ad::default(), Knowledge::Complete);
        if !matches!(expression.kind(), ExpressionKind::Literal(_))
            && let Some(name) = references(&expression, &frame, &environment, context).external.first()
        {
            let help =
                "the names in it have no value there; a string needs no `!expr`, and quotes of its own behind it";
            self.settings.report(node, format!("an expected value stands by itself, but this refers to {name}"), help);
            return None;
        }
        let (environment, frame) = Environment::empty();
        let mut evaluator = Evaluator::new(&environment, context);
        let value = evaluator.evaluate(&expression, &frame).and_then(|value| normalize(value, &mut evaluator));
        if let Err(halt) = &value {
            self.settings.report(node, format!("the expected value cannot be found: {halt}"), "write it out");
        }
        value.ok()
    }

    fn read_count(&mut self, node: &YamlNode) -> Option<usize> {
        let count = node.text().and_then(|text| text.parse().ok());
        if count.is_none() {
            self.settings.report(node, "this is no number of ads", "`count: 3`");
        }
        count
    }

    fn read_keyword<const N: usize>(&mut self, node: &YamlNode, words: [&'static str; N]) -> Option<&'static str> {
        let found = words.into_iter().find(|word| node.text() == Some(word));
        if found.is_none() {
            self.settings.report(node, "this word has no meaning here", format!("`{}`", words.join("`, `")));
        }
        found
    }

    /// Reads a mapping of places to names of ads. Entries with `none` are left out.
    fn read_places(&mut self, node: &'o YamlNode, key: &str) -> Vec<(String, String)> {
        let mut places = Vec::new();
        for (place, who) in self.settings.entries(node, &format!("`{key}`")) {
            match who.text() {
                _ if is_none(who) => {}
                Some(who) => places.push((place.text().unwrap_or_default().to_owned(), who.to_owned())),
                None => self.settings.report(who, "the name of an ad is wanted here", "or `none`"),
            }
        }
        places
    }
}

/// Whether a node is empty or `none`.
fn is_none(node: &YamlNode) -> bool {
    node.content == YamlContent::Null || node.text() == Some("none")
}
