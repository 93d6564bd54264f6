//! `classad explain`: explains why requests match nothing.

mod configured_policies;
mod explained;
mod fixes;
mod frame;
mod groups;
mod help_text;
mod job_results;
mod live_queue;
mod logged;
mod match_difference;
mod matched;
mod page;
mod preamble;
mod reading;
mod selection;
mod share;
mod suggestions;
#[cfg(test)]
mod tests;
mod when;
mod when_start;

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use classad::explain::Explainer;
use classad::matching::Query;
use classad::matching::negotiate::NegotiationSettings;

use crate::cli::args::advertising::AdvertisingArgs;
use crate::cli::args::policy::{LoadedPolicy, PolicyArgs, cycle_times, read_settings};
use crate::cli::args::share::ShareArgs;
use crate::cli::io::accounts;
use crate::cli::io::configuration::LoadedConfiguration;
use crate::cli::io::counted_offers::CountedOffers;
use crate::cli::io::input;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::io::partial::{ShareInput, ShareSet, ShareWriter};
use crate::cli::io::parties::{Parties, any_ports};
use crate::cli::io::source::AdSource;
use crate::cli::io::wanted_ads::WantedAds;
use crate::cli::outcome::{Failure, Status, refuse};
use crate::cli::rank_warnings::RankWarnings;
use crate::cli::render::explanation::{
    AccessPoint, Accounting, ExplanationInput, GangExplainer, OfferLists, SiteReasons, pair,
};
use crate::cli::render::output::{self, OutputForm};
use crate::cli::session::Session;
use explained::GroupExplainer;
use fixes::{FixTarget, write_fixes};
use frame::frame;
use groups::{allocate, group_requests};
use help_text::EXAMPLES;
use match_difference::{PartyChanges, change_parties};
use page::{CauseTableChoice, ExplanationPage};
use reading::{ReadParties, read_parties, read_policy};
use selection::{select_subjects, served_and_unserved};
use share::{ExplanationNotes, merge_shares};
use when::WhenArgs;
use when_start::WhenStartArgs;

const STATS_HELP: &str = "Print the number of evaluations and the elapsed seconds on standard error";

/// Explain why requests match nothing
///
/// The first line of each report gives the reason, such as a clause that no offer meets. Below this line are the
/// evidence and changes that would help. Each of these changes was tested.
#[derive(Args, Clone)]
#[command(after_help = EXAMPLES, visible_alias = "why")]
#[command(mut_arg("stats", |arg| arg.help(STATS_HELP)))]
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub struct ExplainCommand {
    /// Files of requests; without files, read standard input
    ///
    /// `1234.0`, `1234` or an owner, if there is no such file: ask HTCondor's tools for these jobs and for the slots of the
    /// pool. See `classad help live`.
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
    /// Apply the transforms, limits and quotas of a configuration, and report what its policies do to the jobs. CONFIG
    /// is a file or a folder of HTCondor's configuration, several with commas between them, or the output of
    /// `condor_config_val -dump`
    #[arg(long, value_name = "CONFIG")]
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

impl ExplainCommand {
    /// Refuses a form in which the explanation cannot be written.
    fn check_form(&self) -> Result<(), Failure> {
        let form = self.ads.common.output.form;
        let is_listed = form.is_some_and(OutputForm::has_lines_of_cells);
        if self.summary && form == Some(OutputForm::Jsonl) {
            return refuse("--summary can be printed as table, json, csv, tsv, markdown or svg");
        }
        if (is_listed || form == Some(OutputForm::Svg)) && self.offer.is_some() && !self.reverse {
            return refuse("the explanation of a pair can be printed as table, json or jsonl");
        }
        Ok(())
    }

    /// Refuses to explain without offers, or without a file that could not be read.
    fn check_sources(&self, session: &Session, sources: &[Vec<AdSource>; 2]) -> Result<(), Failure> {
        if self.pool.is_empty() {
            return refuse("explain needs the offers, such as the slots of a pool: give them with --pool FILE");
        }
        input::note_files_of_both_sides(session, sources);
        if sources.iter().any(Vec::is_empty) {
            // Unreadable files have been reported. An explanation without them would be false.
            return Err(Failure::Refused(None));
        }
        Ok(())
    }

    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        match live_queue::ask_queue(self, session)? {
            Some(command) => command.explain(session),
            None => self.explain(session),
        }
    }

    /// Explains the requests of files.
    fn explain(&self, session: &mut Session) -> Result<Status, Failure> {
        let common = &self.ads.common;
        self.check_form()?;
        self.starts.check()?;
        self.share.begin(session, self.share_refusal())?;
        session.use_submit_config(self.config.as_ref());
        let mut sources = input::open_sides(session, &self.requests, &self.pool)?;
        if !sources[0].is_empty() && logged::are_logs(session, &sources[0]) {
            let [logs, _] = sources;
            return logged::explain_logs(self, session, logs);
        }
        self.check_sources(session, &sources)?;
        let settings = self.policy.file().into_iter().chain(self.config.iter()).chain(&self.reasons);
        let settings = settings.chain(self.ads.matched.files());
        sources[0].extend(self.starts.open_history(session)?);
        let share = self.share.input(session, &sources, settings)?;
        let configuration = self.config.as_ref().map(|path| LoadedConfiguration::read(session, path)).transpose()?;
        let reasons = self.reasons.as_ref().map(|path| read_settings(session, path, SiteReasons::parse)).transpose()?;
        let reasons = reasons.map(|(reasons, _)| reasons);
        let start = Instant::now();
        let mut policy = read_policy(self, session, configuration.as_ref())?;
        let mut access_point = AccessPoint::read(session, configuration.as_ref())?;
        let ReadParties { mut parties, counted, rejections, filter, history } =
            read_parties(self, session, sources, (&policy, &mut access_point))?;
        // The ads decide the time of the accounts.
        if let Some(accounts) = &mut policy.accounts {
            accounts.advance(session.context().now.unwrap_or_default());
        }
        let configuration = configuration.as_ref();
        let given = (configuration, &access_point.policies);
        let changes = change_parties(self, session, given, (&mut parties, &counted, &policy), filter.as_ref())?;
        let case = self.case(session, &parties, &counted, &policy, session.options.verbose);
        let case = if self.reverse { case } else { case.with_rejections(&rejections).with_reasons(reasons.as_ref()) };
        let case = case.with_access_point(&access_point);
        if self.reverse && any_ports(&parties.requests) {
            session.note("some requests have Ports: leave out --reverse to explain gangs");
        }
        self.warn_of_ranks(session, &parties, &policy);
        let explainer = case.explainer(session, self.offer_lists(session));
        let of_case = (&case, &explainer);
        let status = match &self.offer {
            _ if self.starts.when_start => {
                let times = cycle_times(session, configuration)?;
                self.starts.explain(session, self, of_case, filter.as_ref(), (&history, times))?
            }
            _ if self.when.when => self.when.explain(session, self, &case, filter.as_ref())?,
            Some(offer) if !self.reverse => {
                let wanted = WantedAds::new(&self.request, case.subjects, &session.context());
                pair::explain_pair(session, &case, &explainer, (offer, wanted.as_ref()), common.output.form)?
            }
            _ => self.explain_each(session, of_case, filter.as_ref(), &changes, share)?,
        };
        if common.stats {
            let counters = serde_json::json!({ "evaluations": explainer.evaluations() });
            output::print_counters(counters, start.elapsed().as_secs_f64());
        }
        output::leak_on_exit((explainer, parties));
        Ok(status)
    }

    /// Whether requests compete for offers, so that all of them take part.
    fn competes(&self, policy: &LoadedPolicy) -> bool {
        !self.reverse && (self.unmatched || self.starts.when_start || policy.has_accounting())
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

    /// Warns of ranks of the requests to explain that count as 0.
    fn warn_of_ranks(&self, session: &Session, parties: &Parties, policy: &LoadedPolicy) {
        if !self.reverse {
            let protocol = self.ads.common.protocol(session);
            let settings = NegotiationSettings::new(policy.policy.clone(), protocol, session.context());
            let wanted = WantedAds::new(&self.request, &parties.requests, &settings.context);
            let is_wanted = |ad: &NamedAd| wanted.as_ref().is_none_or(|wanted| wanted.selects(ad, &settings.context));
            RankWarnings::of_requests(parties, &settings, is_wanted).report(session);
        }
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
        changes: &PartyChanges,
        share: Option<ShareInput>,
    ) -> Result<Status, Failure> {
        let (roots, unserved) = served_and_unserved(self, session, case)?;
        let has_gangs = roots.iter().any(|request| case.needs_gang(*request));
        let gangs = if has_gangs { Some(GangExplainer::new(session, case)?) } else { None };
        let (competes, of_case) = (self.competes(case.policy), (case, Some(explainer)));
        let (allocation, accounting) =
            if competes { allocate(session, of_case, has_gangs)? } else { Default::default() };
        self.note_accounts(session, case, &accounting);
        let (allocation, accounting) =
            if self.unmatched { (Some(allocation), accounting) } else { (None, accounting.before_cycle()) };
        let subjects = select_subjects(self, session, case, filter, [roots, unserved], allocation.as_ref())?;
        let output = self.ads.common.output;
        let lists_reports = self.lists_reports() || has_gangs || session.options.verbose > 0;
        let taken = (allocation.as_ref(), &accounting);
        let groups = group_requests(session, case, gangs.as_ref(), taken, (&subjects.left, !lists_reports));
        let group_explainer = GroupExplainer::new(self, (case, explainer), (allocation, accounting), lists_reports);
        let target = self.fix_scripts.as_deref().map(FixTarget::Scripts);
        if let Some(target) = target.or(self.fix.then_some(FixTarget::Diff)) {
            return write_fixes(session, &group_explainer, &groups, &target);
        }
        let frame = frame(
            self,
            session,
            &group_explainer,
            &subjects,
            (&groups, has_gangs),
            (changes.difference.as_ref(), changes.effects.as_ref()),
        )?;
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

    /// Whether the report of each group is printed, so that groups of one kind are not joined.
    fn lists_reports(&self) -> bool {
        let form = self.ads.common.output.form;
        let has_rows = form.is_some_and(OutputForm::has_lines_of_cells);
        let is_data = matches!(form, Some(OutputForm::Json | OutputForm::Jsonl));
        !self.summary && (has_rows || is_data) || self.fix || self.fix_scripts.is_some()
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
