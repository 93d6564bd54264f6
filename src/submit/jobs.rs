//! The jobs of queue statements.
//!
//! The first job of a statement considers all commands. For the others, only those groups of commands are considered
//! again that read a value which differs from job to job, or an attribute that such a group sets. All other expressions
//! are shared.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::ad::{Ad, AdShape, Expression, Name};
use crate::format::{AdEntry, AttributeSpan, DescribedAds, Problem};

use super::SubmitSettings;
use super::command_table::{SIMPLE_COMMANDS, SimpleCommand};
use super::job_builder::{GroupTrace, JobAttributes, JobBuilder};
use super::job_kind::{JobKind, Universe};
use super::queue::QueueArguments;
use super::variables::SubmitVariables;
use super::{consequences, files, general, policies, requirements, resources, retries, streams, universe, words};

/// Group of commands that is considered as a whole.
#[derive(Clone)]
enum CommandGroup {
    Rule(JobRule),
    Simple(&'static SimpleCommand),
    /// The command `request_...` of this name.
    Request(Name),
    /// The command `+...` or `MY....`; the name has the prefix `MY.`.
    Custom(Name),
}

impl CommandGroup {
    fn apply(&self, job: &mut JobBuilder<'_>) -> Result<(), Problem> {
        match self {
            CommandGroup::Rule(rule) => rule(job),
            CommandGroup::Simple(command) => general::set_simple(job, command),
            CommandGroup::Request(name) => resources::set_request(job, name),
            CommandGroup::Custom(name) => general::set_custom(job, name),
        }
    }
}

/// Sets the attributes of a group of commands.
type JobRule = fn(&mut JobBuilder<'_>) -> Result<(), Problem>;

/// Groups before the requests, in HTCondor's order.
const FIRST_RULES: [JobRule; 24] = [
    general::set_header,
    universe::set_universe,
    files::set_initial_directory,
    files::set_executable,
    words::set_arguments,
    universe::set_grid,
    universe::set_virtual_machine,
    words::set_java_arguments,
    universe::set_machines,
    words::set_environment,
    policies::set_status,
    words::set_tool_daemon,
    streams::set_input,
    streams::set_output,
    streams::set_error,
    general::set_credentials,
    policies::set_notification,
    policies::set_rank,
    policies::set_periodic,
    retries::set_retries,
    policies::set_eviction,
    policies::set_signals,
    universe::set_container_services,
    general::set_max_materialize,
];

/// Groups between the requests and the simple commands.
const MIDDLE_RULES: [JobRule; 2] = [policies::set_concurrency_limits, policies::set_accounting];

/// Groups between the simple commands and the custom attributes.
const LATE_RULES: [JobRule; 5] = [
    policies::set_deferral,
    files::set_image_size,
    files::set_transfer,
    consequences::set_consequences,
    general::set_configured_attributes,
];

/// Groups behind the custom attributes.
const LAST_RULES: [JobRule; 2] = [resources::set_gpu_requirements, requirements::set_requirements];

/// Requests that every job makes.
const USUAL_REQUESTS: [&str; 4] = ["request_cpus", "request_gpus", "request_disk", "request_memory"];

/// Returns the groups of commands of a submit file in HTCondor's order.
fn groups_of(variables: &SubmitVariables) -> Vec<CommandGroup> {
    let mut groups: Vec<CommandGroup> = FIRST_RULES.into_iter().map(CommandGroup::Rule).collect();
    let usual = USUAL_REQUESTS.map(Name::new);
    let requests = variables.names().iter().filter(|name| name.starts_with("request_") && !usual.contains(name));
    groups.extend(requests.cloned().map(CommandGroup::Request));
    groups.extend(usual.clone().map(CommandGroup::Request));
    groups.extend(MIDDLE_RULES.into_iter().map(CommandGroup::Rule));
    let is_set = |command: &&SimpleCommand| command.names.iter().any(|name| variables.is_set(name));
    groups.extend(SIMPLE_COMMANDS.iter().filter(is_set).map(CommandGroup::Simple));
    groups.extend(LATE_RULES.into_iter().map(CommandGroup::Rule));
    groups.extend(variables.names().iter().filter(|name| name.starts_with("MY.")).cloned().map(CommandGroup::Custom));
    groups.extend(LAST_RULES.into_iter().map(CommandGroup::Rule));
    groups
}

/// Maximum number of values that the items of a queue statement give its variables: each item gives each variable one.
const MAX_ITEM_VALUES: usize = 10_000_000;

/// The jobs of a submit file as they are queued.
pub(super) struct JobMaker<'s> {
    settings: &'s SubmitSettings,
    kind: JobKind,
    /// The attributes of the cluster, which those of its first job are.
    cluster: JobAttributes,
    next_process: i64,
    described: DescribedAds,
}

impl<'s> JobMaker<'s> {
    pub fn new(settings: &'s SubmitSettings) -> Self {
        JobMaker {
            settings,
            kind: JobKind::default(),
            cluster: JobAttributes::default(),
            next_process: 0,
            described: DescribedAds::default(),
        }
    }

    /// Drops the jobs, because the submit file is refused.
    pub fn discard(&mut self) {
        self.described = DescribedAds::default();
    }

    /// Returns the jobs, and the problems after them.
    pub fn finish(self, problems: Vec<Problem>) -> DescribedAds {
        let DescribedAds { mut items, places } = self.described;
        items.extend(problems.into_iter().map(Err));
        DescribedAds { items, places }
    }

    /// Returns the number of jobs of each item.
    fn count(&self, arguments: &QueueArguments, statement: &Range<usize>) -> Result<i64, Problem> {
        let fault = |message: String| Problem::error_at(statement.clone(), 0, message);
        let count = match arguments.count.as_str() {
            "" => Some(1),
            text => super::job_builder::integer_of(text, &self.settings.context),
        };
        let count = count.filter(|count| (0..i64::from(i32::MAX)).contains(count)).ok_or_else(|| {
            fault(format!("`{}` is not a number of jobs", arguments.count))
                .with_help("write `queue 10`, or `queue x in (a, b)`")
        })?;
        // HTCondor makes a job of `queue 0`, too.
        Ok(count.max(1))
    }

    /// Queues the jobs of a statement at this byte range.
    pub fn queue(
        &mut self,
        variables: &mut SubmitVariables,
        arguments: &QueueArguments,
        statement: Range<usize>,
    ) -> Result<(), Problem> {
        let fault = |message: String| Problem::error_at(statement.clone(), 0, message);
        let count = self.count(arguments, &statement)?;
        let has_items = arguments.source != super::queue::ItemSource::None;
        // The items that the slice selects, each with its place.
        let items: Vec<(usize, &str)> = if has_items {
            let all = arguments.items.iter().map(String::as_str).enumerate();
            all.filter(|(row, _)| arguments.slice.has(*row, arguments.items.len())).collect()
        } else {
            vec![(0, "")]
        };
        let made = usize::try_from(self.next_process).unwrap_or(usize::MAX);
        let total = usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(items.len());
        if made.saturating_add(total) > self.settings.max_jobs {
            let message = format!("this makes more than {} jobs", self.settings.max_jobs);
            return Err(
                fault(message).with_help("queue fewer jobs: all have the same attributes but for their numbers")
            );
        }
        if arguments.variables.len().saturating_mul(items.len()) > MAX_ITEM_VALUES {
            let message = format!("its items give the variables more than {MAX_ITEM_VALUES} values");
            return Err(fault(message).with_help("queue fewer items, or with fewer variables"));
        }
        variables.begin_items(&arguments.variables, &statement);
        let mut statement_jobs = StatementJobs::new(self, statement);
        for (row, item) in items {
            // As in HTCondor, a blank item leaves the variables as they are.
            let is_blank = item.trim().is_empty() && statement_jobs.model.is_some();
            let values = arguments.table.split(item, Some(arguments.variables.len()));
            for (name, value) in arguments.variables.iter().zip(values).filter(|_| !is_blank) {
                variables.scope.set(Name::new(name), value);
            }
            for step in 0..count {
                statement_jobs.add(variables, row, step)?;
            }
        }
        for name in &arguments.variables {
            variables.scope.set(Name::new(name), "<Queue_item>");
        }
        Ok(())
    }
}

/// The jobs of one queue statement as they are made.
struct StatementJobs<'m, 's> {
    maker: &'m mut JobMaker<'s>,
    statement: Range<usize>,
    groups: Vec<CommandGroup>,
    /// What each group read and wrote in the first job.
    traces: Vec<GroupTrace>,
    /// The groups that are considered for each job, by their places.
    live: Vec<usize>,
    /// The first job; `None` before it.
    model: Option<Ad>,
    /// Whether the initial directory differs from job to job.
    has_live_folder: bool,
    names: LiveNames,
}

/// Names of the variables and attributes that each job sets.
struct LiveNames {
    process: [Name; 2],
    row: [Name; 2],
    step: Name,
    process_attribute: Name,
}

impl<'m, 's> StatementJobs<'m, 's> {
    fn new(maker: &'m mut JobMaker<'s>, statement: Range<usize>) -> Self {
        let names = LiveNames {
            process: ["Process", "ProcId"].map(Name::new),
            row: ["Row", "ItemIndex"].map(Name::new),
            step: Name::new("Step"),
            process_attribute: Name::new("ProcId"),
        };
        let (groups, traces, live) = (Vec::new(), Vec::new(), Vec::new());
        StatementJobs { maker, statement, groups, traces, live, model: None, has_live_folder: false, names }
    }

    /// Makes the job of an item, which is at `row` of the items, and of a step.
    fn add(&mut self, variables: &mut SubmitVariables, row: usize, step: i64) -> Result<(), Problem> {
        let process = self.maker.next_process;
        let names = &self.names;
        let (process_text, row_text) = (process.to_string(), row.to_string());
        let numbers = names.process.iter().map(|name| (name, &process_text));
        for (name, text) in numbers.chain(names.row.iter().map(|name| (name, &row_text))) {
            variables.set_number(name, text);
        }
        variables.set_number(&names.step, &step.to_string());
        if process == 0 {
            self.maker.kind = JobKind::of(variables, self.maker.settings)?;
            if self.maker.kind.universe == Universe::Parallel {
                // The shadow puts the number of the machine there.
                variables.set_number(&Name::new("Node"), "#pArAlLeLnOdE#");
            }
        }
        if self.model.is_none() || self.has_live_folder {
            let (folder, is_live, _) = files::initial_directory(variables, self.maker.settings)?;
            variables.set_folder(&folder, is_live);
            self.has_live_folder = is_live;
        }
        if self.model.is_none() {
            self.groups = groups_of(variables);
        }
        let all: Vec<usize> = (0..self.groups.len()).collect();
        let considered = if self.model.is_some() { std::mem::take(&mut self.live) } else { all.clone() };
        let (mut own, mut traces) = self.consider(variables, process, &considered)?;
        let is_model = self.model.is_none();
        if !is_model && self.writes_more(&considered, &traces) {
            (own, traces) = self.consider(variables, process, &all)?;
        } else if !is_model {
            self.live = considered;
        }
        if traces.len() == self.groups.len() {
            self.traces = traces;
            self.live = self.live_groups();
        }
        let ad = if is_model { self.first_ad(own, process) } else { self.next_ad(own, process) };
        self.maker.next_process += 1;
        let number = self.maker.described.items.len() + 1;
        let entry = AdEntry { ad, number, offset: self.statement.start, is_whole: true, banner_attributes: 0 };
        self.maker.described.items.push(Ok(entry));
        Ok(())
    }

    /// Considers groups of commands for a job. Returns the attributes that they set, and what each read and wrote.
    fn consider(
        &self,
        variables: &SubmitVariables,
        process: i64,
        groups: &[usize],
    ) -> Result<(JobAttributes, Vec<GroupTrace>), Problem> {
        let maker = &*self.maker;
        let scene = (variables, maker.settings, &maker.kind);
        let mut job = JobBuilder::new(scene, &maker.cluster, process, self.statement.clone());
        let mut traces = Vec::with_capacity(groups.len());
        for group in groups {
            self.groups[*group].apply(&mut job)?;
            traces.push(std::mem::take(&mut job.trace));
        }
        Ok((job.own, traces))
    }

    /// Whether groups wrote attributes that they did not write in the first job.
    fn writes_more(&self, groups: &[usize], traces: &[GroupTrace]) -> bool {
        groups
            .iter()
            .zip(traces)
            .any(|(group, trace)| trace.writes.iter().any(|name| !self.traces[*group].writes.contains(name)))
    }

    /// Returns the groups whose results may differ from job to job.
    fn live_groups(&self) -> Vec<usize> {
        let mut changed: FxHashSet<&Name> = FxHashSet::default();
        let mut live = Vec::new();
        for (group, trace) in self.traces.iter().enumerate() {
            let touches = trace.reads.iter().chain(&trace.writes).any(|name| changed.contains(name));
            if trace.is_live || touches {
                live.push(group);
                changed.extend(&trace.writes);
            }
        }
        live
    }

    /// Makes the ad of the first job of the statement, and remembers the places of its attributes.
    fn first_ad(&mut self, own: JobAttributes, process: i64) -> Ad {
        let maker = &mut *self.maker;
        let mut all = maker.cluster.clone();
        all.extend(own);
        let spans: Vec<AttributeSpan> = all.iter().filter_map(|(name, attribute)| attribute.span(name)).collect();
        maker.described.places.insert(self.statement.start, spans);
        let mut names: Vec<Name> = all.keys().cloned().collect();
        let mut expressions: Vec<Expression> = all.values().map(|attribute| attribute.expression.clone()).collect();
        names.push(self.names.process_attribute.clone());
        expressions.push(Expression::literal(process));
        if maker.cluster.is_empty() {
            maker.cluster = all;
        }
        let shape: AdShape = names.into_iter().collect();
        let ad = Ad::from_shape(Arc::new(shape), expressions);
        self.model = Some(ad.clone());
        ad
    }

    /// Makes the ad of another job of the statement.
    fn next_ad(&self, own: JobAttributes, process: i64) -> Ad {
        let Some(model) = &self.model else { return Ad::default() };
        let shape = model.shape();
        let mut expressions = model.expressions().to_vec();
        let mut others = Vec::new();
        let number = (self.names.process_attribute.clone(), Expression::literal(process));
        let own = own.into_iter().map(|(name, attribute)| (name, attribute.expression)).chain([number]);
        for (name, expression) in own {
            match shape.position(&name) {
                Some(position) => expressions[position] = expression,
                None => others.push((name, expression)),
            }
        }
        let ad = Ad::from_shape(Arc::clone(shape), expressions);
        others.into_iter().fold(ad, |ad, (name, expression)| ad.with(name, expression))
    }
}
