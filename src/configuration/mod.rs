//! HTCondor's configuration, as far as ads meet it: dumps of it, its policies, transforms and routes, and map files.
//!
//! [`Configuration::read`] reads what `condor_config_val -dump` prints.

mod bracketed;
mod configuration_folder;
mod constants;
mod default_policies;
mod default_variables;
mod defragmentation;
mod dump;
mod included_files;
mod job_policies;
mod knobs;
mod map_file;
mod metaknobs;
mod number_settings;
mod periodic_policies;
#[cfg(test)]
mod periodic_policies_tests;
mod periodic_policy;
mod policy;
mod policy_effect;
mod reader;
#[cfg(test)]
mod reader_tests;
mod route;
mod route_load;
mod router;
mod rules;
#[cfg(test)]
mod rules_tests;
mod texts;
mod unused_settings;

pub use configuration_folder::configuration_files;
pub use constants::{constant_number, constant_truth};
pub use defragmentation::{Defragmentation, DrainingObstacle, DrainingPlan};
pub use dump::{Configuration, ExpandedValue};
pub use job_policies::JobPolicies;
pub use knobs::{KnobKind, POLICY_KNOBS, PolicyKnob};
pub use map_file::{MapFileItem, MapFileReader, includes_file};
pub use number_settings::{number_problems, unread_rules};
pub use periodic_policies::{policy_attributes, system_policy};
pub use periodic_policy::JobPolicy;
pub use policy::ConfiguredPolicy;
pub use policy_effect::{PolicyEffect, PolicyEffectKind};
pub use reader::ConfigurationSettings;
pub use route::{JobRoute, RouteObstacle};
pub use route_load::RouteLoads;
pub use router::{JobRouter, RoutingDecision};
pub use rules::{ConfiguredRule, RulesWithProblems, is_bracketed_rules, parse_bracketed_rules};
pub use texts::{ConfigurationEntry, ConfigurationTexts};
pub use unused_settings::unused_settings;
