//! Optional settings of an evaluation.

use std::sync::Arc;

use crate::ad::Dialect;

use super::context::{Context, RandomStream};
use super::run_budgets::RunBudgets;
use super::user_maps::UserMaps;

/// Settings of an evaluation, as a command line, a test spec or a case of a spec gives them.
#[derive(Clone, Debug, Default)]
pub struct EvaluationSettings {
    /// The dialect of the ads; the default dialect if `None`.
    pub dialect: Option<Dialect>,
    /// The time in seconds since 1970; the system clock if `None`.
    pub now: Option<i64>,
    /// Seed of the random numbers; if `None`, each run draws different numbers.
    pub seed: Option<u64>,
    /// Maximum number of steps of one evaluator; the default of [`Context::new`] if `None`.
    pub max_steps: Option<u64>,
    /// Maximum nesting depth of evaluations; the default of [`Context::new`] if `None`.
    pub max_depth: Option<u32>,
    /// Maximum number of bytes of the values of one evaluator; the default of [`Context::new`] if `None`.
    pub max_value_bytes: Option<u64>,
    /// Maximum number of candidates that a search for one gang tests; the default of [`Context::new`] if `None`.
    pub max_search_tests: Option<u64>,
    /// What all evaluations and comparisons of a run may take together; any number if `None`.
    pub run_budgets: Option<Arc<RunBudgets>>,
    /// Maps of users, for `userMap()`.
    pub user_maps: UserMaps,
}

impl EvaluationSettings {
    /// Returns a copy of these settings. A setting that is `None` is taken from `outer`.
    #[must_use]
    pub fn with_defaults(&self, outer: &EvaluationSettings) -> EvaluationSettings {
        EvaluationSettings {
            dialect: self.dialect.or(outer.dialect),
            now: self.now.or(outer.now),
            seed: self.seed.or(outer.seed),
            max_steps: self.max_steps.or(outer.max_steps),
            max_depth: self.max_depth.or(outer.max_depth),
            max_value_bytes: self.max_value_bytes.or(outer.max_value_bytes),
            max_search_tests: self.max_search_tests.or(outer.max_search_tests),
            run_budgets: self.run_budgets.clone().or_else(|| outer.run_budgets.clone()),
            user_maps: if self.user_maps.is_empty() { outer.user_maps.clone() } else { self.user_maps.clone() },
        }
    }

    /// Builds the evaluation context. A setting that is `None` takes the default of [`Context::new`].
    #[must_use]
    pub fn to_context(&self) -> Context {
        let usual = Context::new(self.dialect.unwrap_or_default());
        Context {
            now: self.now.or(usual.now),
            random: self.seed.map(RandomStream::new).or(usual.random.clone()),
            max_steps: self.max_steps.unwrap_or(usual.max_steps),
            max_depth: self.max_depth.unwrap_or(usual.max_depth),
            max_value_bytes: self.max_value_bytes.unwrap_or(usual.max_value_bytes),
            max_search_tests: self.max_search_tests.unwrap_or(usual.max_search_tests),
            run_budgets: self.run_budgets.clone(),
            user_maps: self.user_maps.clone(),
            ..usual
        }
    }
}
