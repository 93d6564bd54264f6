//! Reads a spec from a YAML document.

use std::collections::HashSet;

use indexmap::IndexSet;

use crate::ad::{Ad, Dialect, Expression, ExpressionKind, Value};
use crate::eval::{ConstraintVerdict, Context, Environment, EvaluationSettings, Evaluator, Knowledge, references};
use crate::format::document_tree::{ConfigReader, YamlContent, YamlNode, YamlTree};
use crate::format::{Position, Problem};
use crate::matching::policy::{POLICY_KEYS, Policy};

use super::ads::{AdLibrary, OpenFile, SpecAd, report_in_file};
use super::case_kind::{CASE_KEYS, CASE_KINDS, CaseKind};
use super::configured::SpecConfiguration;
use super::expectation::CaseAnswer;
use super::normalize::normalize;
use super::runner::{CaseQuestion, REFUSING_SIDES, ScopedExpression};
use super::settings::{SETTINGS_KEYS, read_settings};
use super::yaml_values::{read_expression, read_words, value_of};
use super::{Expectation, Spec, TestCase};

/// The keys of a spec, in addition to those of [`EvaluationSettings`].
const SPEC_KEYS: [&str; 4] = ["policy", "config", "ads", "cases"];

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
        let mut reader = ConfigReader::new(outline, Dialect::default());
        if is_policy(&outline.root) {
            let help = "`match`, `negotiate` and `gangmatch` take a policy with --policy";
            reader.report(&outline.root, "this is a policy, not a spec: a spec has `cases`", help);
            return Err(reader.problems);
        }
        let keys: Vec<&str> = SPEC_KEYS.into_iter().chain(SETTINGS_KEYS).collect();
        let entries = reader.known_entries(&outline.root, "a spec", &keys);
        let get = |key: &str| value_of(&entries, key);
        let own = read_settings(&mut reader, &entries, given);
        let mut spec = SpecReader {
            reader,
            run: given,
            library: AdLibrary::new(open),
            policy: get("policy"),
            config: None,
            names: HashSet::new(),
        };
        if let Some(config) = get("config") {
            spec.config = SpecConfiguration::read(&mut spec.library, &mut spec.reader, config);
        }
        if let Some(ads) = get("ads") {
            spec.library.register_named(&mut spec.reader, ads);
        }
        let mut settings = own.with_defaults(given);
        let is_configured = get("config").is_some();
        if settings.dialect.is_none() && (is_configured || spec.uses_condor_format(get("ads"), get("cases"))) {
            settings.dialect = Some(Dialect::Condor);
        }
        spec.reader.dialect = settings.dialect.unwrap_or_default();
        spec.library.read_named(&mut spec.reader);
        let cases = if let Some(cases) = get("cases") {
            spec.read_cases(cases, &settings)
        } else {
            // Report missing `cases` only if there is no other problem: a key reported as unknown may be a misspelt
            // `cases`.
            if spec.reader.problems.is_empty() {
                let help = "`cases:`, and below it `- name: ...` for each";
                spec.reader.report(&outline.root, "this spec has no `cases`", help);
            }
            Vec::new()
        };
        // Report each error once, even if several cases use the ad that contains it.
        let mut problems: Vec<Problem> = Vec::new();
        for problem in spec.reader.problems {
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
        ConfigReader { problems, ..spec.reader }.finish(Spec { outline, cases })
    }
}

/// Whether a document has keys of a policy and no `cases`.
fn is_policy(root: &YamlNode) -> bool {
    let YamlContent::Mapping(entries) = &root.content else { return false };
    let has = |keys: &[&str]| entries.iter().any(|(key, _)| key.text().is_some_and(|key| keys.contains(&key)));
    has(&POLICY_KEYS) && !has(&SPEC_KEYS)
}

/// Reads the cases of a spec. Holds the problems reported so far, the ads of the spec, and its policy.
struct SpecReader<'o, 'f> {
    reader: ConfigReader<'o>,
    /// The settings of the run, whose limits the spec cannot raise.
    run: &'f EvaluationSettings,
    library: AdLibrary<'o, 'f>,
    /// The policy of cases that have none of their own.
    policy: Option<&'o YamlNode>,
    /// The configuration whose variables the cases name.
    config: Option<SpecConfiguration<'o>>,
    /// The names of the cases read so far.
    names: HashSet<&'o str>,
}

/// The key-value pairs of a case.
struct CaseEntries<'o> {
    node: &'o YamlNode,
    all: Vec<(&'static str, &'o YamlNode)>,
}

impl<'o> CaseEntries<'o> {
    fn get(&self, key: &str) -> Option<&'o YamlNode> {
        value_of(&self.all, key)
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

    fn read_cases(&mut self, node: &'o YamlNode, settings: &EvaluationSettings) -> Vec<TestCase<'o>> {
        let dialect = self.reader.dialect;
        let mut found = Vec::new();
        match &node.content {
            YamlContent::Sequence(cases) if !cases.is_empty() => {
                for case in cases {
                    found.extend(self.read_case(case, settings));
                    self.reader.dialect = dialect;
                }
            }
            YamlContent::Sequence(_) | YamlContent::Null => {
                self.reader.report(node, "this spec has no cases", "`- name: ...` begins one");
            }
            _ => self.reader.report(node, "`cases` must be a sequence", "`- name: ...` begins a case"),
        }
        found
    }

    /// Reports a problem at a node. Always returns `None`, so that callers can return the result of this function.
    fn reject<T>(&mut self, node: &YamlNode, message: impl Into<String>, help: impl Into<String>) -> Option<T> {
        self.reader.report(node, message, help);
        None
    }

    fn read_case(&mut self, node: &'o YamlNode, outer: &EvaluationSettings) -> Option<TestCase<'o>> {
        let mut keys: IndexSet<&'static str> = CASE_KEYS.into_iter().chain(SETTINGS_KEYS).collect();
        for kind in &CASE_KINDS {
            keys.extend([&[kind.key][..], kind.needs, kind.takes, kind.expects].concat());
        }
        let keys: Vec<&str> = keys.into_iter().collect();
        let before = self.reader.problems.len();
        let entries = CaseEntries { node, all: self.reader.known_entries(node, "a case", &keys) };
        if !matches!(node.content, YamlContent::Mapping(_)) {
            return None;
        }
        let settings = read_settings(&mut self.reader, &entries.all, self.run).with_defaults(outer);
        self.reader.dialect = settings.dialect.unwrap_or_default();
        let name = self.read_name(&entries);
        let tags = entries.get("tags").map(|tags| read_words(&mut self.reader, tags)).unwrap_or_default();
        let is_unknown = self.reader.problems.len() > before;
        let kind = self.case_kind(&entries, is_unknown)?;
        let question = self.read_question(kind, &entries);
        let mut expectations = Vec::new();
        for (key, value) in entries.all.iter().filter(|(key, _)| kind.expects.contains(key)) {
            let fact = self.read_expected(key, value, &settings.to_context());
            expectations.extend(fact.map(|fact| Expectation { key, node: value, fact }));
        }
        if !kind.expects.iter().any(|key| entries.get(key).is_some()) && !is_unknown {
            let help = format!("`{}: ...` says what is expected", kind.expects.join(": ...` or `"));
            self.reader.report(node, "this case expects nothing", help);
        }
        Some(TestCase { name: name?, tags, node, settings, question: question?, expectations })
    }

    fn read_name(&mut self, entries: &CaseEntries<'o>) -> Option<String> {
        const EXAMPLE: &str = "`name: students wait in the daytime`";
        let Some(node) = entries.get("name") else {
            return self.reject(entries.node, "this case has no name", EXAMPLE);
        };
        let Some(text) = node.text().filter(|text| !text.trim().is_empty()) else {
            return self.reject(node, "the name of a case must be a text that is not empty", EXAMPLE);
        };
        if !self.names.insert(text) {
            let message = format!("two cases are called `{text}`");
            self.reader.report(node, message, "give each case a name of its own");
        }
        Some(text.to_owned())
    }

    /// Determines the kind of a case by the key of its question. Reports missing and unexpected keys. `None` if the
    /// case asks no question or several.
    fn case_kind(&mut self, entries: &CaseEntries<'o>, is_unknown: bool) -> Option<&'static CaseKind> {
        let asked: Vec<&CaseKind> = CASE_KINDS.iter().filter(|kind| entries.get(kind.key).is_some()).collect();
        let kind = match asked[..] {
            [kind] => kind,
            [] if is_unknown => return None,
            [] => {
                let help = format!("one of `{}` says what the case asks", CASE_KINDS.map(|kind| kind.key).join("`, `"));
                return self.reject(entries.node, "this case asks nothing", help);
            }
            [kind, other, ..] => {
                let message = format!("this case asks two things: `{}` and `{}`", kind.key, other.key);
                return self.reject(entries.node, message, "write a case for each");
            }
        };
        let is_useless = |key: &str| !kind.has(key) && !CASE_KEYS.contains(&key) && !SETTINGS_KEYS.contains(&key);
        for (key, value) in entries.all.iter().filter(|(key, _)| is_useless(key)) {
            let keys: Vec<&str> = [kind.needs, kind.takes, kind.expects].concat();
            let message = format!("`{key}` has no use in a case with `{}`", kind.key);
            self.reader.report(value, message, format!("such a case can have `{}`", keys.join("`, `")));
        }
        for key in kind.needs.iter().filter(|key| entries.get(key).is_none() && !is_unknown) {
            let message = format!("`{key}` is missing");
            self.reader.report(entries.node, message, format!("a case with `{}` needs it", kind.key));
        }
        Some(kind)
    }

    fn read_question(&mut self, kind: &CaseKind, entries: &CaseEntries<'o>) -> Option<CaseQuestion<'o>> {
        let mut one = |key: &str| entries.get(key).map(|node| self.library.single_ad(&mut self.reader, node));
        let (my, target) = (one("my"), one("target"));
        let (request, offer) = (one("request"), one("offer"));
        let mut several = |key: &str| entries.get(key).map(|node| self.library.ads(&mut self.reader, node));
        let (requests, offers, pool) = (several("requests"), several("offers"), several("pool"));
        let policy = match entries.get("policy").or(self.policy) {
            Some(policy) if kind.has("policy") => self.read_policy(policy),
            _ => Policy::default(),
        };
        let closed = entries.get("closed").map(|node| self.read_boolean(node));
        let node = entries.get(kind.key)?;
        // Returns `None` if the expression, `my` or `target` has an error, which has been reported.
        let scoped = || {
            let expression = match kind.key {
                "knob" => self.knob(node)?,
                _ => self.reader.expression(node)?,
            };
            let optional = |ad: Option<Option<SpecAd>>| ad.map_or(Some(None), |ad| ad.map(Some));
            Some(ScopedExpression {
                node,
                is_in_node: kind.key != "knob",
                expression,
                my: optional(my)?,
                target: optional(target)?,
            })
        };
        Some(match kind.key {
            "expression" | "knob" => CaseQuestion::Value(scoped()?),
            "match" => CaseQuestion::Match { request: request??, offer: offer?? },
            "query" => CaseQuestion::Query { constraint: scoped()?.expression, pool: pool? },
            "gang" => CaseQuestion::Gang { request: request??, offers: offers?, policy },
            "matches" => CaseQuestion::Cycle { requests: requests?, offers: offers?, policy },
            _ => CaseQuestion::Residue { scoped: scoped()?, is_closed: closed.flatten().unwrap_or_default() },
        })
    }

    /// Returns the expression of the configuration's variable that `node` names. `None` after reporting an error.
    fn knob(&mut self, node: &'o YamlNode) -> Option<Expression> {
        if let Some(config) = &self.config {
            let context = Context::new(self.reader.dialect);
            return config.expression(&mut self.reader, node, &context);
        }
        let help = "write `config: FILE` at the top; FILE has the output of `condor_config_val -dump`";
        self.reject(node, "this spec names no configuration", help)
    }

    fn read_policy(&mut self, node: &'o YamlNode) -> Policy {
        if matches!(node.content, YamlContent::Mapping(_)) {
            return Policy::read(&mut self.reader, node);
        }
        let Some(bytes) = self.library.read_bytes(&mut self.reader, node) else { return Policy::default() };
        Policy::parse(&bytes, self.reader.dialect).unwrap_or_else(|problems| {
            for problem in &problems {
                let at = Position::of_offset(&bytes, problem.range.start);
                report_in_file(&mut self.reader, node, at, problem);
            }
            Policy::default()
        })
    }

    fn read_boolean(&mut self, node: &YamlNode) -> Option<bool> {
        match node.value {
            Some(Value::Boolean(is)) => Some(is),
            _ => self.reject(node, "expected `true` or `false`", "write the word without quotes"),
        }
    }

    /// Reads the expected result under `key`. `None` after reporting an error.
    fn read_expected(&mut self, key: &str, node: &'o YamlNode, context: &Context) -> Option<CaseAnswer> {
        Some(match key {
            "expect" => CaseAnswer::Value(self.read_value(node, context)?),
            "match" => CaseAnswer::Truth(self.read_boolean(node)?),
            "count" => CaseAnswer::Count(self.read_count(node)?),
            "refused-by" => CaseAnswer::Word(self.read_keyword(node, REFUSING_SIDES)?),
            "verdict" => CaseAnswer::Word(self.read_keyword(node, VERDICTS.map(ConstraintVerdict::as_str))?),
            "residue" => CaseAnswer::Residue(self.reader.expression(node)?),
            "clause" if is_none(node) => CaseAnswer::Clauses(Vec::new()),
            "clause" => CaseAnswer::Clauses(vec![self.reader.expression(node)?]),
            "ids" if is_none(node) => CaseAnswer::Ads(Vec::new()),
            "ids" => CaseAnswer::Ads(read_words(&mut self.reader, node)),
            "gang" if matches!(node.content, YamlContent::Sequence(_)) => {
                CaseAnswer::Members(read_words(&mut self.reader, node))
            }
            _ if is_none(node) => CaseAnswer::Places(Vec::new()),
            _ => CaseAnswer::Places(self.read_places(node, key)),
        })
    }

    /// Reads an expected value, which must not refer to any attribute. `None` after reporting an error.
    fn read_value(&mut self, node: &YamlNode, context: &Context) -> Option<Expression> {
        let expression = read_expression(&mut self.reader, node, true)?;
        let (environment, frame) = Environment::partner_unknown(Ad::default(), Knowledge::Complete);
        if !matches!(expression.kind(), ExpressionKind::Literal(_))
            && let Some(name) = references(&expression, &frame, &environment, context).external.first()
        {
            let message = format!("an expected value cannot read attributes, but this reads {name}");
            let help = "write a value; for a string, leave `!expr` out";
            return self.reject(node, message, help);
        }
        let (environment, frame) = Environment::empty();
        let mut evaluator = Evaluator::new(&environment, context);
        match evaluator.evaluate(&expression, &frame).and_then(|value| normalize(value, &mut evaluator)) {
            Ok(value) => Some(value),
            Err(halt) => {
                self.reject(node, format!("the expected value cannot be computed: {halt}"), "write the value itself")
            }
        }
    }

    fn read_count(&mut self, node: &YamlNode) -> Option<usize> {
        let count = node.text().and_then(|text| text.parse().ok());
        count.or_else(|| self.reject(node, "this is not a number of ads", "write `count: 3`"))
    }

    fn read_keyword<const N: usize>(&mut self, node: &YamlNode, words: [&'static str; N]) -> Option<&'static str> {
        let found = words.into_iter().find(|word| node.text() == Some(word));
        found.or_else(|| {
            self.reject(node, "this word has no meaning here", format!("write one of `{}`", words.join("`, `")))
        })
    }

    /// Reads a mapping whose keys are ports or requests, and whose values are the names of their offers. Leaves out
    /// keys whose value is `none`.
    fn read_places(&mut self, node: &'o YamlNode, key: &str) -> Vec<(String, String)> {
        let mut places = Vec::new();
        for (place, who) in self.reader.entries(node, &format!("`{key}`")) {
            match who.text() {
                _ if is_none(who) => {}
                Some(who) => places.push((place.text().unwrap_or_default().to_owned(), who.to_owned())),
                None => self.reader.report(who, "expected the name of an ad", "write a name, or `none`"),
            }
        }
        places
    }
}

/// Whether a node stands for no offer or no clause: it is empty, or the word `none`.
fn is_none(node: &YamlNode) -> bool {
    node.content == YamlContent::Null || node.text() == Some("none")
}
