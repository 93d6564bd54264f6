//! The evaluation settings of a test: dialect, clock, random seed, budgets.

use crate::ad::{AbsoluteTime, Dialect};
use crate::eval::{Context, RandomStream};
use crate::format::document_tree::{ConfigReader, YamlNode};

/// Settings of an evaluation. The run, the spec and the case each set some of them; the case has precedence.
#[derive(Clone, Debug, Default)]
pub struct EvaluationSettings {
    /// The dialect of the ads.
    pub dialect: Option<Dialect>,
    /// The time in seconds since 1970; the system clock if `None`.
    pub now: Option<i64>,
    /// The random seed, applied to each case anew; no fixed seed if `None`.
    pub seed: Option<u64>,
    /// Maximum number of steps of one evaluation.
    pub max_steps: Option<u64>,
    /// Maximum nesting depth of evaluations.
    pub max_depth: Option<u32>,
}

/// The keys of these settings in a spec and in a case.
pub const SETTINGS_KEYS: [&str; 5] = ["dialect", "now", "seed", "max-steps", "max-depth"];

impl EvaluationSettings {
    /// Fills the settings that are `None` from `outer`.
    #[must_use]
    pub fn with_defaults(&self, outer: &EvaluationSettings) -> EvaluationSettings {
        EvaluationSettings {
            dialect: self.dialect.or(outer.dialect),
            now: self.now.or(outer.now),
            seed: self.seed.or(outer.seed),
            max_steps: self.max_steps.or(outer.max_steps),
            max_depth: self.max_depth.or(outer.max_depth),
        }
    }

    /// Builds the evaluation context for one case. Missing settings have their default.
    #[must_use]
    pub fn to_context(&self) -> Context {
        let usual = Context::new(self.dialect.unwrap_or_default());
        Context {
            now: self.now.or(usual.now),
            random: self.seed.map(RandomStream::new).or(usual.random.clone()),
            max_steps: self.max_steps.unwrap_or(usual.max_steps),
            max_depth: self.max_depth.unwrap_or(usual.max_depth),
            ..usual
        }
    }

    /// Reads the setting `key`. Reports an invalid value to `settings`.
    pub fn read(&mut self, settings: &mut ConfigReader<'_>, key: &str, node: &YamlNode) {
        let text = node.text().unwrap_or_default();
        let is_read = match key {
            "dialect" => {
                self.dialect = text.parse().ok();
                self.dialect.is_some()
            }
            "now" => {
                let time = AbsoluteTime::parse(text).or_else(|| AbsoluteTime::parse_asctime(text));
                self.now = text.parse().ok().or(time.map(|time| time.seconds));
                self.now.is_some()
            }
            "seed" => {
                self.seed = text.parse().ok();
                self.seed.is_some()
            }
            "max-steps" => {
                self.max_steps = text.parse().ok();
                self.max_steps.is_some()
            }
            _ => {
                self.max_depth = text.parse().ok();
                self.max_depth.is_some()
            }
        };
        if !is_read {
            let (what, help) = match key {
                "dialect" => ("dialect", "`classad` or `condor`"),
                "now" => ("time", "seconds since 1970, or `2026-01-15T22:00:00+01:00`"),
                _ => ("whole number", "zero or more, with digits only"),
            };
            settings.report(node, format!("this is no {what}"), help);
        }
    }
}
