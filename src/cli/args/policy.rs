//! The policy of a matchmaking run: from a file, from the command line, or from both.

use std::path::Path;

use clap::Args;
use clap::builder::PossibleValue;
use classad::configuration::{Configuration, JobPolicies};
use classad::eval::Context;
use classad::format::{FileFormat, Problem};
use classad::matching::gang::GangFault;
use classad::matching::policy::{
    Accountant, CycleTimes, Policy, PolicyFault, PolicyRule, READY_POLICIES, configure, ready_policy,
};
use classad::text::{counted, join_and};

use super::suggested_values::SuggestedValues;
use crate::cli::io::argument_text;
use crate::cli::io::configuration::LoadedConfiguration;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::io::source_text::SourceText;
use crate::cli::io::whole_file::read_text;
use crate::cli::outcome::{Failure, refuse};
use crate::cli::render::diagnostics;
use crate::cli::session::Session;

/// Returns the names of the ready policies.
fn ready_policies() -> Vec<PossibleValue> {
    READY_POLICIES.iter().map(|(name, _)| PossibleValue::new(*name).help("Built-in policy")).collect()
}

/// The options that set a policy: a file, or single keys of a policy.
#[derive(Args, Clone)]
pub struct PolicyArgs {
    // The path of a policy file. A name without dot and slash is that of a ready policy.
    /// A policy file in YAML, or the built-in policy `htcondor`: see `classad help policy`
    #[arg(long, value_name = "FILE|NAME")]
    #[arg(value_parser = SuggestedValues(ready_policies), hide_possible_values = true)]
    policy: Option<String>,
    // An expression: true in the requests to serve, and not true in the offers to give away.
    /// Serve only ads for which this expression is true; they are not used as offers
    #[arg(long, value_name = "EXPR")]
    roots: Option<String>,
    // Expressions evaluated in each request. The request with the greatest values is served first.
    /// Serve requests with the greatest EXPR first. The next --order decides ties
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    order: Vec<String>,
    // The docking vector: expressions evaluated in the request for each candidate. The greatest values win.
    /// Prefer the candidate with the greatest EXPR; in EXPR, `label` is the candidate. The next --dock decides ties
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    dock: Vec<String>,
}

/// The option `--config` of commands that read a configuration only for the policy.
#[derive(Args, Clone)]
pub struct PolicyConfigArgs {
    /// Read variables, groups and limits of the policy from FILE: HTCondor's configuration, or the output of
    /// `condor_config_val -dump`
    #[arg(long, value_name = "FILE", requires = "policy")]
    pub config: Option<String>,
}

/// A policy, and the text of the file from which it was read, so that faults can be shown there.
#[derive(Default)]
pub struct LoadedPolicy {
    pub policy: Policy,
    /// The priorities of submitters, if they are known.
    pub accounts: Option<Accountant>,
    text: Option<SourceText>,
    /// Whether it is a ready policy, in which the user has chosen no entry.
    is_ready: bool,
    /// Whether the configuration has transforms, which only some commands apply.
    has_transforms: bool,
    /// The configuration, if there is one.
    config: Option<LoadedConfiguration>,
}

impl PolicyConfigArgs {
    /// Reads the policy with this configuration. Prints a note about what the configuration says of the ads themselves.
    ///
    /// # Errors
    ///
    /// As for [`PolicyArgs::read`].
    pub fn read_policy(&self, session: &mut Session, policy: &PolicyArgs) -> Result<LoadedPolicy, Failure> {
        let config = self.config.as_ref().map(|file| LoadedConfiguration::read(session, file)).transpose()?;
        let mut read = policy.read(session, config.as_ref())?;
        if read.has_transforms {
            session.note(
                "this command does not apply JOB_TRANSFORM_NAMES of the configuration; `classad explain --config CONFIG` does",
            );
        }
        read.config = config;
        Ok(read)
    }
}

impl PolicyArgs {
    /// Returns the policy file; `None` for a ready policy, and without a policy.
    pub fn file(&self) -> Option<&String> {
        self.policy.as_ref().filter(|path| !is_ready(path))
    }

    /// Reads the policy. Options of the command line override the entries of the file. `config` has the variables, groups
    /// and limits of the policy.
    ///
    /// # Errors
    ///
    /// The file cannot be read or is not a policy, or an option is not an expression.
    pub fn read(&self, session: &mut Session, config: Option<&LoadedConfiguration>) -> Result<LoadedPolicy, Failure> {
        self.read_or(session, config, None)
    }

    /// Reads the policy as [`PolicyArgs::read`] does; `default` is the policy if none is named.
    pub fn read_or(
        &self,
        session: &mut Session,
        config: Option<&LoadedConfiguration>,
        default: Option<&str>,
    ) -> Result<LoadedPolicy, Failure> {
        let mut given = LoadedPolicy::default();
        if let Some(path) = self.policy.as_deref().or(default) {
            given = read_file(session, path, config)?;
        }
        if let Some(roots) = argument_text::parse_optional_expression(session, "--roots", self.roots.as_deref())? {
            given.policy.roots = Some(roots.into());
        }
        for (option, texts, vector) in
            [("--order", &self.order, &mut given.policy.order), ("--dock", &self.dock, &mut given.policy.docking)]
        {
            let mut rules = Vec::new();
            for text in texts {
                rules.extend(
                    PolicyRule::from(argument_text::parse_argument_expression(session, option, text)?).components(),
                );
            }
            if !rules.is_empty() {
                *vector = rules;
            }
        }
        Ok(given)
    }
}

impl LoadedPolicy {
    /// Returns the times of cycles that follow each other, as [`cycle_times`] does.
    pub fn cycle_times(&self, session: &mut Session) -> Result<CycleTimes, Failure> {
        cycle_times(session, self.config.as_ref())
    }

    /// Returns the policies of jobs in the queue: their own and those of the configuration. Those with an error are left out.
    pub fn job_policies(&self, context: &Context) -> (JobPolicies, Vec<Problem>) {
        let nothing = Configuration::default();
        JobPolicies::read(self.config.as_ref().map_or(&nothing, |config| &config.configuration), context)
    }

    /// Reports problems of the configuration, where they stand.
    pub fn report_settings(&self, session: &mut Session, problems: &[Problem]) -> Result<(), Failure> {
        let config = self.config.iter();
        config
            .flat_map(|config| problems.iter().map(move |problem| (config, problem)))
            .try_for_each(|(config, problem)| config.report(session, problem))
    }

    /// Removes the policy's shares of submitters, as only whole negotiation cycles use them. Prints a note if the
    /// user's policy or configuration has any.
    pub fn without_share(mut self, session: &Session) -> Self {
        // The first group is the root.
        let has_groups = self.policy.weighted_share().is_some_and(|share| share.groups.groups().len() > 1);
        if self.policy.share.take().is_some() {
            if !self.is_ready {
                session.note("the `share` of the policy is ignored: `negotiate` uses it");
            } else if has_groups {
                session.note("quotas of groups are ignored: `negotiate` uses them");
            }
        }
        self
    }

    /// Sets the ceilings and floors of submitters. Prints a note if the policy cannot apply them.
    pub fn set_bounds(&mut self, session: &Session, accountant: &Accountant) {
        match self.policy.share.as_mut().and_then(|share| share.weighted.as_mut()) {
            Some(weighted) => {
                weighted.floors.extend(accountant.floors.clone());
                weighted.ceilings.extend(accountant.ceilings.clone());
            }
            None if accountant.floors.is_empty() && accountant.ceilings.is_empty() => {}
            None => {
                session.note("ceilings and floors of submitters are not applied: the policy does not share by weight");
            }
        }
    }

    /// Prints a note of offers that have no weight, if there are any.
    pub fn note_without_weight(session: &Session, count: usize) {
        if count > 0 {
            let verb = if count == 1 { "has" } else { "have" };
            let offers = counted(count, "offer");
            session.note(&format!("{offers} {verb} no weight of at least 0; such a weight counts as 1"));
        }
    }

    /// Whether the policy has quotas, ceilings or limits, which can keep a request from offers that match it.
    pub fn has_accounting(&self) -> bool {
        let has_limits = self.policy.limits.as_ref().is_some_and(|limits| !limits.maxima.is_empty());
        // The first group is the root.
        let of_share = self.policy.weighted_share();
        has_limits || of_share.is_some_and(|share| share.groups.groups().len() > 1 || !share.ceilings.is_empty())
    }

    /// Prints a note about each component of the docking vector that discarded every candidate, as this component most
    /// likely misspells a name.
    ///
    /// `components` are indexes into the docking vector.
    pub fn note_discarding_components(&self, session: &Session, components: &[usize]) {
        for rule in components.iter().filter_map(|component| self.policy.docking.get(*component)) {
            note_discarding_component(session, &rule.expression.to_string());
        }
    }

    /// Returns the failure for a policy that cannot be followed. If the fault is in the policy file, prints the fault
    /// with the lines around it.
    pub fn report_fault(&self, session: &mut Session, fault: PolicyFault) -> Failure {
        match (&self.text, fault.range) {
            (Some(text), Some(range)) => {
                diagnostics::print_problem(&session.options, text, &Problem::error_at(range, 0, fault.reason));
                Failure::Refused(None)
            }
            _ => Failure::refused(fault.reason),
        }
    }

    /// Reports why a request gets no gang. Malformed ports concern this request alone, so that the run goes on; a
    /// policy that cannot be followed ends the run.
    pub fn report_gang_fault(&self, session: &mut Session, request: &NamedAd, fault: GangFault) -> Result<(), Failure> {
        match fault {
            GangFault::Ports(fault) => request.report_bad_ports(session, &fault),
            GangFault::Policy(fault) => Err(self.report_fault(session, fault)),
        }
    }
}

/// Returns the times of cycles that follow each other, by the configuration if there is one.
///
/// # Errors
///
/// The configuration has others than numbers of at least 1.
pub fn cycle_times(session: &mut Session, config: Option<&LoadedConfiguration>) -> Result<CycleTimes, Failure> {
    let Some(config) = config else { return Ok(CycleTimes::default()) };
    CycleTimes::read(&config.configuration, &session.context()).map_err(|problems| {
        session.print_setting_problems(&config.text, &problems);
        Failure::Refused(None)
    })
}

/// Prints a note that a component of the docking vector discarded every candidate. `text` is its expression.
pub fn note_discarding_component(session: &Session, text: &str) {
    session.note(&format!(
        "all candidates are discarded: in the docking vector, `{text}` is undefined or cannot be compared"
    ));
}

/// Whether the value of `--policy` may be the name of a ready policy, rather than a path.
fn is_name(path: &str) -> bool {
    !path.contains(['.', '/'])
}

/// Whether the value of `--policy` names a ready policy.
fn is_ready(path: &str) -> bool {
    is_name(path) && ready_policy(path).is_some()
}

/// Reads a policy file or a ready policy, with the variables, groups and limits of a
/// configuration.
fn read_file(session: &mut Session, path: &str, config: Option<&LoadedConfiguration>) -> Result<LoadedPolicy, Failure> {
    let context = session.context();
    let is_name = is_name(path);
    let ready = ready_policy(path).filter(|_| is_name);
    let (name, bytes) = match ready {
        Some(text) => (format!("policy {path}"), text.as_bytes().to_vec()),
        None if is_name && !Path::new(path).exists() => {
            let known = join_and(&READY_POLICIES.map(|(name, _)| name.to_owned()));
            return refuse(format!("there is no file `{path}`, and the only built-in policy is {known}"));
        }
        None => (path.to_owned(), read_text(path).map_err(|error| Failure::unreadable(path, &error))?),
    };
    let nothing = Configuration::default();
    let configuration = config.map_or(&nothing, |config| &config.configuration);
    let parsed = Policy::parse_configured(&bytes, configuration, &context);
    let text = SourceText::from_file(&name, bytes, FileFormat::Yaml);
    let mut policy = parsed.map_err(|problems| {
        if let Some(config) = config {
            session.print_setting_problems(&config.text, &problems.in_configuration);
        }
        session.print_setting_problems(&text, &problems.in_policy);
        Failure::Refused(None)
    })?;
    if let Some(config) = config {
        match configure(&mut policy, &config.configuration, &context) {
            Ok(left_out) => left_out
                .iter()
                .for_each(|fault| session.warning(&format!("GROUP_NAMES: {fault}: this entry is ignored"))),
            Err(problems) => {
                session.print_setting_problems(&config.text, &problems);
                return Err(Failure::Refused(None));
            }
        }
    }
    let has_transforms = config.is_some_and(|config| config.configuration.entry("JOB_TRANSFORM_NAMES").is_some());
    Ok(LoadedPolicy {
        policy,
        accounts: None,
        text: Some(text),
        is_ready: ready.is_some(),
        has_transforms,
        config: None,
    })
}

/// Reads and parses a file of settings. Also returns the text of the file, so that faults found later can be shown
/// there. The text is always `Some`: a [`LoadedPolicy`] stores it as an optional text.
///
/// # Errors
///
/// The file cannot be read, or `parse` finds problems, which are printed.
pub fn read_settings<T>(
    session: &mut Session,
    path: &str,
    parse: impl FnOnce(&[u8]) -> Result<T, Vec<Problem>>,
) -> Result<(T, Option<SourceText>), Failure> {
    let bytes = read_text(path).map_err(|error| Failure::unreadable(path, &error))?;
    let parsed = parse(&bytes);
    let text = SourceText::from_file(path, bytes, FileFormat::Yaml);
    match parsed {
        Ok(settings) => Ok((settings, Some(text))),
        Err(problems) => {
            session.print_setting_problems(&text, &problems);
            Err(Failure::Refused(None))
        }
    }
}

#[cfg(test)]
mod tests {
    use classad::ad::Dialect;
    use classad::matching::policy::{Accountant, Policy};

    use super::{LoadedPolicy, is_ready};
    use crate::cli::session::Session;

    const BY_NUMBER: &str = "share: { by: User }";
    const BY_WEIGHT: &str = "share: { by: User, weight: Weight, in-use-by: UsedBy }";
    const WITH_GROUPS: &str = "share: { by: User, weight: Weight, in-use-by: UsedBy, groups: { bio: 1 } }";

    fn policy(text: &str, is_ready: bool) -> LoadedPolicy {
        let policy = Policy::parse(text.as_bytes(), Dialect::Condor).unwrap_or_else(|problems| panic!("{problems:?}"));
        LoadedPolicy { policy, is_ready, ..LoadedPolicy::default() }
    }

    #[test]
    fn what_is_left_out_of_shares_is_told() {
        let ignored = "note: the `share` of the policy is ignored: `negotiate` uses it";
        let quotas = "note: quotas of groups are ignored: `negotiate` uses them";
        for (text, is_ready, expected) in [
            ("order: [Prio]", false, ""),
            (BY_NUMBER, false, ignored),
            (BY_NUMBER, true, ""),
            (BY_WEIGHT, false, ignored),
            (BY_WEIGHT, true, ""),
            (WITH_GROUPS, false, ignored),
            (WITH_GROUPS, true, quotas),
        ] {
            let session = Session::keeping("");
            let left = policy(text, is_ready).without_share(&session);
            assert!(left.policy.share.is_none());
            assert_eq!(session.told().concat(), expected, "{text} {is_ready}");
        }
    }

    #[test]
    fn quotas_ceilings_and_limits_are_accounting() {
        for (text, expected) in [("order: [Prio]", false), (BY_NUMBER, false), (BY_WEIGHT, false), (WITH_GROUPS, true)]
        {
            assert_eq!(policy(text, false).has_accounting(), expected, "{text}");
        }
        let bound = || [("ann".to_owned(), 2.0)].into();
        let none = Accountant::default;
        let not_applied =
            "note: ceilings and floors of submitters are not applied: the policy does not share by weight";
        for (text, accountant, expected, note) in [
            (BY_WEIGHT, none(), [0, 0], ""),
            (BY_WEIGHT, Accountant { ceilings: bound(), ..none() }, [0, 1], ""),
            (BY_WEIGHT, Accountant { floors: bound(), ..none() }, [1, 0], ""),
            (BY_NUMBER, none(), [0, 0], ""),
            (BY_NUMBER, Accountant { ceilings: bound(), ..none() }, [0, 0], not_applied),
            (BY_NUMBER, Accountant { floors: bound(), ..none() }, [0, 0], not_applied),
            ("order: [Prio]", Accountant { floors: bound(), ..none() }, [0, 0], not_applied),
        ] {
            let session = Session::keeping("");
            let mut policy = policy(text, false);
            policy.set_bounds(&session, &accountant);
            let share = policy.policy.weighted_share();
            assert_eq!(share.map_or([0, 0], |share| [share.floors.len(), share.ceilings.len()]), expected);
            // A floor keeps nothing from a request.
            assert_eq!(policy.has_accounting(), expected[1] > 0);
            assert_eq!(session.told().concat(), note, "{text}");
        }
    }

    #[test]
    fn offers_without_a_weight_are_counted() {
        let session = Session::keeping("");
        for (count, expected) in [
            (0, ""),
            (1, "note: 1 offer has no weight of at least 0; such a weight counts as 1"),
            (2, "note: 2 offers have no weight of at least 0; such a weight counts as 1"),
        ] {
            LoadedPolicy::note_without_weight(&session, count);
            assert_eq!(session.told().concat(), expected);
        }
        let docking = policy("docking: [label.Memory, label.Nmae]", false);
        docking.note_discarding_components(&session, &[1, 7]);
        let expected = "note: all candidates are discarded: in the docking vector, `label.Nmae` is undefined or cannot be compared";
        assert_eq!(session.told(), [expected]);
        let names = ["htcondor", "htcondor2", "./htcondor", "htcondor.yaml", "a/htcondor"].map(is_ready);
        assert_eq!(names, [true, false, false, false, false]);
    }
}
