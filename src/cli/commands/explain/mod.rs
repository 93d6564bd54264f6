//! `classad explain`: explains why requests match nothing.

mod configured_policies;
mod explained;
mod fixes;
mod groups;
mod help_text;
mod logged;
mod match_difference;
mod matched;
mod page;
mod preamble;
mod selection;
mod share;
mod suggestions;
mod when;
mod when_start;

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use classad::ad::Name;
use classad::configuration::JobPolicies;
use classad::constraint::CLOCK_TIMES;
use classad::explain::{CRON_ATTRIBUTES, DRAINING_ATTRIBUTES, Explainer, LastRejections};
use classad::matching::Query;
use classad::matching::negotiate::{NegotiationSettings, negotiation_names};
use classad::protocol::SLOT_KIND_ATTRIBUTES;

use crate::cli::args::advertising::{self, AdvertisingArgs, SlotSelection};
use crate::cli::args::matching::ReadMode;
use crate::cli::args::policy::{LoadedPolicy, PolicyArgs, cycle_times, read_settings};
use crate::cli::args::share::ShareArgs;
use crate::cli::io::accounts;
use crate::cli::io::argument_text;
use crate::cli::io::configuration::LoadedConfiguration;
use crate::cli::io::counted_offers::CountedOffers;
use crate::cli::io::input;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::io::partial::{ShareInput, ShareSet, ShareWriter};
use crate::cli::io::parties::{Parties, any_ports};
use crate::cli::io::source::AdSource;
use crate::cli::io::wanted_ads::WantedAds;
use crate::cli::io::what_if::WhatIf;
use crate::cli::outcome::{Failure, Status, refuse};
use crate::cli::rank_warnings::RankWarnings;
use crate::cli::render::diagnostics::single_line;
use crate::cli::render::explanation::{
    AccessPoint, Accounting, ExplanationInput, GangExplainer, OfferLists, ReportRenderer, START_ATTRIBUTES,
    SiteReasons, pair,
};
use crate::cli::render::output::{self, OutputForm};
use crate::cli::session::Session;
use configured_policies::JobEffects;
use explained::{GroupExplainer, GroupOutput};
use fixes::{FixTarget, write_fixes};
use groups::{allocate, group_requests};
use help_text::EXAMPLES;
use match_difference::{MatchDifference, matching_subjects};
use matched::matched_text;
use page::{CauseTableChoice, ExplanationFrame, ExplanationPage};
use preamble::preamble;
use selection::{
    SelectedSubjects, accepts, named_subjects, reads_slot_kinds, refuse_jobs_as_files, select_offers, select_subjects,
    served_and_unserved, with_policy_attributes,
};
use share::{ExplanationNotes, form_name, merge_shares};
use when::WhenArgs;
use when_start::{WhenStartArgs, has_left_queue};

const STATS_HELP: &str = "Print the number of evaluations and the elapsed seconds on standard error";

/// Explain why requests match nothing
///
/// The first line of each report gives the reason, such as a clause that no offer meets. Below this line are the
/// evidence and changes that would help. Each of these changes was tested.
#[derive(Args)]
#[command(after_help = EXAMPLES, visible_alias = "why")]
#[command(mut_arg("stats", |arg| arg.help(STATS_HELP)))]
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub struct ExplainCommand {
    /// Files of requests; without files, read standard input
    ///
    /// Of the event logs of jobs, explain what happened to each job last, and why. They need no --pool.
    requests: Vec<String>,
    /// Files of offers
    #[arg(long, value_name = "FILE", alias = "offers")]
    pool: Vec<String>,
    /// Explain the requests that get no offer when `match` serves all requests in order
    #[arg(long, conflicts_with_all = ["reverse", "offer"])]
    unmatched: bool,
    /// Explain why offers match no request
    #[arg(long)]
    reverse: bool,
    /// Explain only requests for which this expression is true
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    constraint: Vec<String>,
    /// Explain only these requests. For jobs, ID can also be a cluster, a range such as 105-110, a `GlobalJobId` or an
    /// `Owner`
    #[arg(long, value_name = "ID,...", aliases = ["job", "jobs"])]
    request: Vec<String>,
    /// Explain why requests and this offer do not match; with --reverse, explain only this offer or machine
    #[arg(long, value_name = "ID", visible_alias = "slot")]
    offer: Option<String>,
    /// Print only the totals and a table of causes, with the change that helps most requests
    #[arg(long)]
    summary: bool,
    /// List all causes in the table. Otherwise a line at its end counts causes with one or two requests, if there are many
    /// causes
    #[arg(long, alias = "all-causes")]
    list_all: bool,
    /// Explain only requests that match no offer, not even a used one
    #[arg(long)]
    unmatchable: bool,
    /// Use only offers for which this expression is true
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    offer_constraint: Vec<String>,
    /// Count dynamic slots, too. Otherwise they are parts of their partitionable slots, as for `condor_q`: no job can get
    /// one. They count in a pool without partitionable slots, and if --offer names them; also if --offer-constraint reads
    /// `DynamicSlot`, `PartitionableSlot`, `SlotType` or `DSlotID`
    #[arg(long)]
    all_slots: bool,
    /// Set an attribute of every request (offer.NAME: of every offer), and report what gains or loses a match.
    /// In EXPR, NAME is the old value
    #[arg(long, value_name = "NAME=EXPR", allow_hyphen_values = true)]
    what_if: Vec<String>,
    /// Apply the transforms, limits and quotas of a configuration, and report what its policies do to the jobs. DUMP is a
    /// file with the output of `condor_config_val -dump`
    #[arg(long, value_name = "DUMP")]
    config: Option<String>,
    /// Take priorities, usage, ceilings and floors of submitters from this file: the output of `condor_userprio -long`, or
    /// the negotiator's `Accountantnew.log`. Without --policy, the policy is `htcondor`
    #[arg(long, value_name = "FILE", conflicts_with = "reverse")]
    userprio: Option<String>,
    /// Add what a site says of causes to what to do: a YAML file with `advice`, `contact` and `link` below the identifiers of
    /// causes, which `classad help explain` lists
    #[arg(long, value_name = "FILE", conflicts_with = "reverse")]
    reasons: Option<String>,
    /// Set START and RANK of every offer to those of --config, and report what gains or loses a match
    #[arg(long, requires = "config")]
    what_if_config: bool,
    /// Print the best change of each report as a diff of the files of requests, instead of the reports. A change that
    /// asks for much less is left out
    #[arg(long, conflicts_with_all = ["summary", "offer", "what_if", "share"])]
    fix: bool,
    /// Write a script for each cause and owner into this directory: the commands that make the best change of each report.
    /// Nothing is run
    #[arg(long, value_name = "DIR", conflicts_with_all = ["fix", "summary", "offer", "reverse", "share"])]
    fix_scripts: Option<PathBuf>,
    /// List all offers and all reasons of refusal in JSON, not only the first 10
    #[arg(long)]
    all_offers: bool,
    #[command(flatten)]
    when: WhenArgs,
    #[command(flatten)]
    starts: WhenStartArgs,
    #[command(flatten)]
    policy: PolicyArgs,
    #[command(flatten)]
    share: ShareArgs,
    #[command(flatten)]
    ads: AdvertisingArgs,
}

/// The ads that take part.
struct ReadParties {
    parties: Parties,
    /// Which of the offers count.
    counted: CountedOffers,
    /// Why the negotiator found no slots last, for all jobs that were read.
    rejections: LastRejections,
    /// The constraint that selects requests.
    filter: Option<Query>,
    /// The jobs that have left the queue, for a forecast of starts.
    history: Vec<NamedAd>,
}

impl ExplainCommand {
    /// Refuses a form in which the explanation cannot be written.
    fn check_form(&self) -> Result<(), Failure> {
        let form = self.ads.common.output.form;
        let is_listed = form.is_some_and(OutputForm::has_lines_of_cells);
        if !is_listed
            && !matches!(form, None | Some(OutputForm::Table | OutputForm::Json | OutputForm::Jsonl | OutputForm::Svg))
        {
            return refuse("reports can be printed as table, json, jsonl, csv, tsv, markdown or svg");
        }
        if self.summary && form == Some(OutputForm::Jsonl) {
            return refuse("--summary can be printed as table, json, csv, tsv, markdown or svg");
        }
        if (is_listed || form == Some(OutputForm::Svg)) && self.offer.is_some() && !self.reverse {
            return refuse("the explanation of a pair can be printed as table, json or jsonl");
        }
        Ok(())
    }

    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let common = &self.ads.common;
        let form = common.output.form;
        self.check_form()?;
        self.starts.check()?;
        self.share.begin(session, self.share_refusal())?;
        refuse_jobs_as_files(&self.requests)?;
        session.use_submit_config(self.config.as_ref());
        let mut sources = input::open_sides(session, &self.requests, &self.pool)?;
        if !sources[0].is_empty() && logged::are_logs(session, &sources[0]) {
            let [logs, _] = sources;
            return logged::explain_logs(self, session, logs);
        }
        if self.pool.is_empty() {
            return refuse("explain needs the offers, such as the slots of a pool: give them with --pool FILE");
        }
        input::note_files_of_both_sides(session, &sources);
        if sources.iter().any(Vec::is_empty) {
            // Unreadable files have been reported. An explanation without them would be false.
            return Err(Failure::Refused(None));
        }
        let settings = self.policy.file().into_iter().chain(self.config.iter()).chain(&self.reasons);
        let settings = settings.chain(self.ads.matched.files());
        sources[0].extend(self.starts.open_history(session)?);
        let share = self.share.input(session, &sources, settings)?;
        let configuration = self.config.as_ref().map(|path| LoadedConfiguration::read(session, path)).transpose()?;
        let reasons = self.reasons.as_ref().map(|path| read_settings(session, path, SiteReasons::parse)).transpose()?;
        let reasons = reasons.map(|(reasons, _)| reasons);
        let start = Instant::now();
        let mut policy = self.read_policy(session, configuration.as_ref())?;
        let mut access_point = AccessPoint::read(session, configuration.as_ref())?;
        let ReadParties { mut parties, counted, rejections, filter, history } =
            self.read_parties(session, sources, (&policy, &mut access_point))?;
        // The ads decide the time of the accounts.
        if let Some(accounts) = &mut policy.accounts {
            accounts.advance(session.context().now.unwrap_or_default());
        }
        let context = session.context();
        let mut what_if = WhatIf::new(session, &self.what_if)?;
        what_if.note_misspelt(session, &parties);
        let configuration = configuration.as_ref();
        let replacing = configuration.filter(|_| self.what_if_config);
        let condition = configured_policies::add_to_offers(session, replacing, &mut what_if)?;
        let given = (configuration, &access_point.policies);
        let (effects, transformed) = self.apply_configuration(session, given, &parties, filter.as_ref());
        let mut difference = None;
        if !what_if.is_empty() || transformed.is_some() {
            let changed = what_if.apply_to_parties(transformed.as_ref().unwrap_or(&parties), &context);
            let [before, after] = [&parties, &changed].map(|parties| {
                matching_subjects(session, &self.case(session, parties, &counted, &policy, 0), self.unmatched)
            });
            let wanted = WantedAds::new(&self.request, &changed.requests, &context).filter(|_| !self.reverse);
            let is_wanted =
                |at: usize| wanted.as_ref().is_none_or(|wanted| wanted.selects(&changed.requests[at], &context));
            difference = Some(MatchDifference::new([&before?, &after?], self.unmatched, condition, is_wanted));
            parties = changed;
        }
        let case = self.case(session, &parties, &counted, &policy, session.options.verbose);
        let case = if self.reverse { case } else { case.with_rejections(&rejections).with_reasons(reasons.as_ref()) };
        let case = case.with_access_point(&access_point);
        if self.reverse && any_ports(&parties.requests) {
            session.note("some requests have Ports: leave out --reverse to explain gangs");
        }
        self.warn_of_ranks(session, &parties, &policy);
        let explainer = case.explainer(session, self.offer_lists(session));
        let status = match &self.offer {
            _ if self.starts.when_start => {
                let times = cycle_times(session, configuration)?;
                self.starts.explain(session, self, (&case, &explainer), filter.as_ref(), (&history, times))?
            }
            _ if self.when.when => self.when.explain(session, self, &case, filter.as_ref())?,
            Some(offer) if !self.reverse => {
                let wanted = WantedAds::new(&self.request, case.subjects, &context);
                pair::explain_pair(session, &case, &explainer, (offer, wanted.as_ref()), form)?
            }
            _ => {
                let changes = (difference.as_ref(), effects.as_ref());
                self.explain_each(session, (&case, &explainer), filter.as_ref(), changes, share)?
            }
        };
        if common.stats {
            let counters = serde_json::json!({ "evaluations": explainer.evaluations() });
            output::print_counters(counters, start.elapsed().as_secs_f64());
        }
        output::leak_on_exit((explainer, parties));
        Ok(status)
    }

    /// Reads the policy, with the accounts of submitters.
    fn read_policy(
        &self,
        session: &mut Session,
        configuration: Option<&LoadedConfiguration>,
    ) -> Result<LoadedPolicy, Failure> {
        let default = self.starts.when_start.then_some("htcondor");
        let Some(path) = &self.userprio else { return self.policy.read_or(session, configuration, default) };
        let accounts = accounts::read_userprio(session, path)?;
        let mut policy = self.policy.read_or(session, configuration, Some("htcondor"))?;
        policy.set_bounds(session, &accounts);
        policy.accounts = Some(accounts);
        Ok(policy)
    }

    /// Whether requests compete for offers, so that all of them take part.
    fn competes(&self, policy: &LoadedPolicy) -> bool {
        !self.reverse && (self.unmatched || self.starts.when_start || policy.has_accounting())
    }

    /// Reads the ads that take part.
    fn read_parties(
        &self,
        session: &mut Session,
        sources: [Vec<AdSource>; 2],
        (policy, access_point): (&LoadedPolicy, &mut AccessPoint),
    ) -> Result<ReadParties, Failure> {
        let protocol = self.ads.common.protocol(session);
        let constraint = argument_text::parse_constraints(session, &self.constraint)?;
        let offer_constraint = argument_text::parse_constraints(session, &self.offer_constraint)?;
        let mut also = negotiation_names(&policy.policy, session.dialect());
        if let Some(constraint) = &offer_constraint {
            also.add(constraint, session.dialect());
        }
        // A machine is not advised to have more of a resource.
        also.names.insert(Name::new("MyType"));
        let also_read = SLOT_KIND_ATTRIBUTES.into_iter().chain(DRAINING_ATTRIBUTES).chain(CRON_ATTRIBUTES);
        also.names.extend(also_read.chain(CLOCK_TIMES).map(Name::new));
        self.starts.add_names(session, &mut also)?;
        if !self.reverse {
            access_point.policies.add_queue_names(&mut also, session.dialect());
            also.names.extend(START_ATTRIBUTES.into_iter().chain(["DedicatedScheduler"]).map(Name::new));
        }
        also.names.extend(suggestions::similar_names(session, &sources, &protocol, &also, self.reverse));
        if let Some(constraint) = &constraint {
            also.add(constraint, session.dialect());
        }
        // The expressions of --what-if and of a configuration may refer to any attribute.
        let reads_whole = !self.what_if.is_empty() || self.config.is_some() || self.fix;
        let reading = if reads_whole { ReadMode::Whole } else { ReadMode::SelectiveForReports };
        let ([requests, offers], schedds) =
            self.ads.read_with_schedds(session, sources, reading, &also, SlotSelection::All)?;
        let has_left = |job: &NamedAd| self.starts.when_start && has_left_queue(job.state(&session.context()));
        let (history, requests): (Vec<NamedAd>, Vec<NamedAd>) = requests.into_iter().partition(has_left);
        let context = session.context();
        let identified = |job: &NamedAd| job.header(&context).identity.clone();
        let jobs = requests.iter().map(|job| (job.advertisement(), identified(job)));
        let rejections = LastRejections::new(jobs, &context);
        let mut requests = with_policy_attributes(requests, &policy.policy.request_attributes);
        let mut offers = with_policy_attributes(offers, &policy.policy.offer_attributes);
        let is_empty;
        let filter = constraint.map(|constraint| Query::new(constraint, session.context()));
        if !self.unmatched {
            if self.competes(policy) {
                is_empty = !requests.iter().any(|request| accepts(session, filter.as_ref(), request));
            } else {
                requests.retain(|request| accepts(session, filter.as_ref(), request));
                is_empty = requests.is_empty();
            }
            if filter.is_some() && is_empty {
                let constraint = single_line(&self.constraint.join(" && "));
                return refuse(format!("the constraint `{constraint}` is true for no request"));
            }
        }
        let context = session.context();
        if !self.reverse {
            access_point.take_ads([&requests, &offers], schedds, &context);
        }
        offers.retain(|offer| policy.policy.is_offer(&offer.ad, &context));
        let reads_kinds = offer_constraint.as_ref().is_some_and(|constraint| reads_slot_kinds(session, constraint));
        select_offers(session, offer_constraint, &mut offers)?;
        let respects_states = !self.ads.states.all_states;
        // Jobs that do not wait are not partners of slots.
        if respects_states && self.reverse && !self.starts.when_start {
            requests = advertising::retain_waiting(session, requests);
        }
        let has_gangs = any_ports(&requests) || any_ports(&offers);
        if respects_states && has_gangs {
            offers = advertising::retain_available(session, offers, SlotSelection::of_policy(&policy.policy));
        }
        let counted =
            if reads_kinds { CountedOffers::all(offers.len()) } else { self.count_offers(session, &mut offers) };
        if has_gangs {
            offers.truncate(counted.number);
        }
        Ok(ReadParties { parties: Parties::new([requests, offers]), counted, rejections, filter, history })
    }

    /// Finds out which offers count, and moves the others behind them.
    fn count_offers(&self, session: &Session, offers: &mut Vec<NamedAd>) -> CountedOffers {
        // A pair is explained whatever its offer is.
        if self.all_slots || (self.offer.is_some() && !self.reverse) {
            return CountedOffers::all(offers.len());
        }
        let named = if self.reverse { named_subjects(self) } else { Vec::new() };
        let is_named = |name: &str| named.iter().flat_map(|names| names.split(',')).any(|word| word.trim() == name);
        let (counted, note) = CountedOffers::move_dynamic_last(offers, is_named, &session.context());
        if let Some(note) = note {
            session.note(&note);
        }
        counted
    }

    /// Returns what is explained, if these are the ads.
    fn case<'c>(
        &self,
        session: &Session,
        parties: &'c Parties,
        counted: &'c CountedOffers,
        policy: &'c LoadedPolicy,
        evidence_level: u8,
    ) -> ExplanationInput<'c> {
        let (protocol, respects_states) = (self.ads.common.protocol(session), !self.ads.states.all_states);
        let (sides, is_reverse) = ((parties, counted), self.reverse);
        ExplanationInput::new(session, sides, is_reverse, protocol, policy, evidence_level, respects_states)
    }

    /// Warns of ranks of requests that count as 0.
    fn warn_of_ranks(&self, session: &Session, parties: &Parties, policy: &LoadedPolicy) {
        if !self.reverse {
            let protocol = self.ads.common.protocol(session);
            let settings = NegotiationSettings::new(policy.policy.clone(), protocol, session.context());
            RankWarnings::of_requests(parties, &settings).report(session);
        }
    }

    /// Applies the policies of a configuration about jobs. Returns their effects on the selected requests, and the parties with
    /// changed requests.
    fn apply_configuration(
        &self,
        session: &mut Session,
        (configuration, policies): (Option<&LoadedConfiguration>, &JobPolicies),
        parties: &Parties,
        filter: Option<&Query>,
    ) -> (Option<JobEffects>, Option<Parties>) {
        if configuration.is_none() {
            return (None, None);
        }
        let context = session.context();
        let wanted = WantedAds::new(&self.request, &parties.requests, &context).filter(|_| !self.reverse);
        let meets = |request: &NamedAd| filter.is_none_or(|filter| filter.accepts(&request.ad).unwrap_or(false));
        let is_selected = |request: &NamedAd| {
            wanted.as_ref().is_none_or(|wanted| wanted.selects(request, &context)) && meets(request)
        };
        let (effects, transformed) = configured_policies::apply(session, policies, parties, &is_selected);
        (Some(effects), transformed)
    }

    /// Which offers reports list. Lists of slots that would match if drained take time.
    fn offer_lists(&self, session: &Session) -> OfferLists {
        let is_data = matches!(self.ads.common.output.form, Some(OutputForm::Json | OutputForm::Jsonl));
        let shows_lists = self.all_offers || session.options.verbose > 0 || is_data;
        OfferLists { are_whole: self.all_offers, have_drained: shows_lists && !self.unmatched }
    }

    /// Prints notes of what the accounting does not know: weights of offers, and accounts of submitters.
    fn note_accounts(&self, session: &Session, case: &ExplanationInput<'_>, accounting: &Accounting) {
        LoadedPolicy::note_without_weight(session, accounting.without_weight);
        if let (Some(path), Some(accounts)) = (&self.userprio, &case.policy.accounts) {
            accounts::note_unknown_submitters(session, path, accounts, &accounting.submitters());
        }
    }

    /// Explains the requests that get no offer, group after group.
    fn explain_each(
        &self,
        session: &mut Session,
        (case, explainer): (&ExplanationInput<'_>, &Explainer),
        filter: Option<&Query>,
        changes: (Option<&MatchDifference>, Option<&JobEffects>),
        share: Option<ShareInput>,
    ) -> Result<Status, Failure> {
        let (roots, unserved) = served_and_unserved(self, session, case)?;
        let has_gangs = roots.iter().any(|request| case.needs_gang(*request));
        let gangs = if has_gangs { Some(GangExplainer::new(session, case)?) } else { None };
        let competes = self.competes(case.policy);
        let (allocation, accounting) = if competes { allocate(session, case, has_gangs)? } else { Default::default() };
        self.note_accounts(session, case, &accounting);
        let (allocation, accounting) =
            if self.unmatched { (Some(allocation), accounting) } else { (None, accounting.before_cycle()) };
        let subjects = select_subjects(self, session, case, filter, [roots, unserved], allocation.as_ref())?;
        let output = self.ads.common.output;
        let has_rows = output.form.is_some_and(OutputForm::has_lines_of_cells);
        let is_data = matches!(output.form, Some(OutputForm::Json | OutputForm::Jsonl));
        let fixes = self.fix || self.fix_scripts.is_some();
        let lists_reports = !self.summary && (has_rows || is_data) || fixes || has_gangs || session.options.verbose > 0;
        let taken = (allocation.as_ref(), &accounting);
        let groups = group_requests(session, case, gangs.as_ref(), taken, (&subjects.left, !lists_reports));
        let group_explainer = GroupExplainer {
            case,
            explainer,
            allocation,
            accounting,
            renderer: ReportRenderer::new(case, output.form, self.all_offers),
            output: match output.form {
                _ if has_rows && !self.summary => GroupOutput::Rows,
                Some(form) if has_rows || form == OutputForm::Svg => GroupOutput::Nothing,
                _ => GroupOutput::Report,
            },
            leaves_out_matching: self.unmatchable,
            tells_kinds: !lists_reports,
        };
        let target = self.fix_scripts.as_deref().map(FixTarget::Scripts);
        if let Some(target) = target.or(self.fix.then_some(FixTarget::Diff)) {
            return write_fixes(session, &group_explainer, &groups, &target);
        }
        let frame = self.frame(session, &group_explainer, &subjects, (&groups, has_gangs), changes)?;
        if let Some(input) = share {
            let own = &groups[input.share.slice(groups.len())];
            let mut writer = ShareWriter::begin(session, input, &frame)?;
            let notes = group_explainer
                .explain(session, gangs, own, &mut |session, group| writer.add_finding(session, &group))?;
            writer.finish(session, &notes)?;
            return Ok(Status::Yes);
        }
        let (all_served, are_jobs) = (frame.all_served, frame.noun == "job");
        let mut page = ExplanationPage::begin(frame, output, self.table_choice(), session.options.quiet)?;
        let notes = group_explainer.explain(session, gangs, &groups, &mut |_, group| page.add(group))?;
        page.finish()?;
        let is_selection = (!self.request.is_empty() || !self.constraint.is_empty()) && !groups.is_empty();
        if are_jobs && is_selection && !self.unmatched && !self.reverse && !notes.has_unmatched {
            session.note("slots that other jobs get also count as matches; with --unmatched, all jobs compete");
        }
        let has_unmatched = notes.has_unmatched;
        ExplanationNotes::report(&[notes], session);
        Ok(Status::of(all_served && !has_unmatched))
    }

    /// Returns what the output says beside the reports on groups.
    fn frame(
        &self,
        session: &Session,
        explainer: &GroupExplainer<'_>,
        subjects: &SelectedSubjects,
        (groups, has_gangs): (&[Vec<usize>], bool),
        (difference, effects): (Option<&MatchDifference>, Option<&JobEffects>),
    ) -> Result<ExplanationFrame, Failure> {
        let GroupExplainer { case, allocation, renderer, output, .. } = explainer;
        let SelectedSubjects { left, unserved, served, are_named } = subjects;
        // Without a job that waits there is nothing that matches.
        let is_waiting = |subject: &usize| !case.is_not_waiting(session, *subject);
        let mut opening = String::new();
        if !renderer.is_data() && *output == GroupOutput::Report && !session.options.quiet {
            opening = preamble(session, case, (difference, effects));
            if groups.is_empty() && unserved.is_empty() && *are_named {
                opening.push_str(&matched_text(session, case, allocation.as_ref(), served));
            }
        }
        let tells_unserved = !unserved.is_empty() && !session.options.quiet;
        let noun = case.subject_noun(session);
        let what_if = difference.map(|difference| ("what_if".to_owned(), difference.to_json(case)));
        let policies = effects.map(|effects| ("policies".to_owned(), effects.to_json()));
        Ok(ExplanationFrame {
            noun: noun.to_owned(),
            caption: difference.map_or(String::new(), |difference| difference.sentence(case, noun)),
            groups: groups.len(),
            served: allocation.is_some().then_some(served.len()),
            // The table of an empty queue is the sentence that every request gets an offer.
            has_cause_table: self.summary
                || groups.is_empty() && allocation.is_some() && !are_named
                || (groups.len() > 1 && session.options.verbose == 0 && !has_gangs)
                || groups.iter().any(|group| explainer.told(session, group) < group.len()),
            opening,
            unserved: if tells_unserved { Some(explainer.report_unserved(session, unserved)?) } else { None },
            totals: what_if.into_iter().chain(policies).collect(),
            all_served: unserved.is_empty() && (self.unmatched || left.is_empty() || left.iter().any(is_waiting)),
            form: form_name(self.ads.common.output),
        })
    }

    /// Prints what one run prints whose shares these are.
    pub fn merge(&self, session: &mut Session, shares: &ShareSet) -> Result<Status, Failure> {
        merge_shares(session, shares, self.ads.common.output, self.table_choice())
    }

    /// What the table of causes shows.
    fn table_choice(&self) -> CauseTableChoice {
        CauseTableChoice { is_summary: self.summary, lists_all: self.list_all }
    }

    /// Why the run has no shares, as it is.
    fn share_refusal(&self) -> Option<&'static str> {
        if self.offer.is_some() && !self.reverse {
            return Some("--share and --offer cannot be combined");
        }
        if self.starts.when_start {
            return Some("--share and --when-start cannot be combined");
        }
        self.ads.common.stats.then_some("--stats and --share cannot be combined")
    }

    /// Returns the files that each share reads, or why the run has no shares.
    pub fn input_of_shares(&self) -> Result<[&[String]; 2], Failure> {
        match self.share_refusal() {
            Some(reason) => refuse(format!("explain: {reason}")),
            None => Ok([&self.requests, &self.pool]),
        }
    }
}
