//! The input of an explanation: the ads to explain, the ads they could match, and the policy.

use std::sync::OnceLock;

use classad::ad::{Ad, ByteString, Name, Value};
use classad::eval::Context;
use classad::explain::{
    AdNames, AdReference, Explainer, JobReport, LastRejection, LastRejections, MAX_FIRST_LINE_CHARS, RequestChange,
    RequestReport, SummaryWriter, standing_phrase, tells_autocluster,
};
use classad::protocol::{AdvertisedState, JobState, Protocol, SlotState, evaluate_attribute, has_ports};
use classad::text::break_sentence;
use rustc_hash::FxHashMap;

use crate::cli::args::policy::LoadedPolicy;
use crate::cli::io::counted_offers::CountedOffers;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::io::parties::{Parties, any_ports};
use crate::cli::render::diagnostics::single_line;
use crate::cli::session::Session;

use super::access_point::AccessPoint;
use super::limits::MAX_LISTED_OFFERS;
use super::site_reasons::SiteReasons;

/// Maximum numbers of characters of a clause that brief summary sentences quote, in the order in which they are tried.
const BRIEF_CLAUSE_CHARS: [usize; 4] = [70, 55, 40, 32];

/// The same for the sentences of which none is as short as a line, and no part.
const BRIEFEST_CLAUSE_CHARS: [usize; 3] = [40, 25, 12];

/// The input of an explanation: the ads to explain, and those that they could match.
pub struct ExplanationInput<'c> {
    pub parties: &'c Parties,
    /// The offers that count. The others can be given away, too, but nothing tells of them.
    pub counted: &'c CountedOffers,
    pub subjects: &'c [NamedAd],
    pub partners: &'c [NamedAd],
    /// The noun for the ads of `partners`, singular and plural: `request` or `offer`.
    pub nouns: [&'static str; 2],
    pub protocol: Protocol,
    pub policy: &'c LoadedPolicy,
    /// Whether `--reverse` is given, so that offers are explained instead of requests.
    pub is_reverse: bool,
    /// Whether some offers have ports, so that requests are served by gangs.
    pub has_ports: bool,
    pub evidence_level: u8,
    /// Whether the states of jobs and slots count. False with `--all-states`.
    pub respects_states: bool,
    context: Context,
    /// Possible reasons for a missing match that neither the ads nor the policy shows, so that they are not examined.
    pub not_examined: Vec<&'static str>,
    /// What the site says of causes; `None` if nothing.
    pub reasons: Option<&'c SiteReasons>,
    /// What is known of the access point of jobs; `None` if it does not matter.
    pub(super) access_point: Option<&'c AccessPoint>,
    /// Why the negotiator found no slots last, for the jobs of the whole queue.
    rejections: Option<&'c LastRejections>,
    /// The last rejections of subjects that do not tell their autoclusters, by index: those of jobs that match alike.
    rejections_of_equivalent: OnceLock<FxHashMap<usize, LastRejection>>,
    /// See [`ExplanationInput::subject_noun`], which looks at all subjects once.
    subject_noun: OnceLock<&'static str>,
}

/// Which offers reports list.
#[derive(Clone, Copy, Debug, Default)]
pub struct OfferLists {
    /// Whether the lists are whole. Otherwise they end after [`MAX_LISTED_OFFERS`] offers.
    pub are_whole: bool,
    /// Whether slots that would match if drained are listed although free slots match.
    pub have_drained: bool,
}

impl<'c> ExplanationInput<'c> {
    /// Makes the input for explaining requests or, with `is_reverse`, offers.
    pub fn new(
        session: &Session,
        (parties, counted): (&'c Parties, &'c CountedOffers),
        is_reverse: bool,
        protocol: Protocol,
        policy: &'c LoadedPolicy,
        evidence_level: u8,
        respects_states: bool,
    ) -> Self {
        let context = session.context();
        let (requests, offers) = (parties.requests.as_slice(), &parties.offers[..counted.number]);
        let (subjects, partners) = if is_reverse { (offers, requests) } else { (requests, offers) };
        let nouns = match partners.is_empty() {
            true if is_reverse => ["request", "requests"],
            true => ["offer", "offers"],
            false => nouns_of(partners, is_reverse, &context),
        };
        let has_ports = !is_reverse && any_ports(partners);
        let by_rank = policy.policy.docking.is_empty().then_some("preemption by rank");
        let quotas = policy.policy.share.is_none().then_some("quotas and shares");
        let priorities = policy.accounts.is_none().then_some("user priorities");
        let always = ["claims made since the ads were written"];
        let not_examined = always.into_iter().chain(quotas).chain(priorities).chain(by_rank).collect();
        ExplanationInput {
            parties,
            counted,
            subjects,
            partners,
            nouns,
            protocol,
            policy,
            is_reverse,
            has_ports,
            evidence_level,
            respects_states,
            context,
            not_examined,
            reasons: None,
            access_point: None,
            rejections: None,
            rejections_of_equivalent: OnceLock::new(),
            subject_noun: OnceLock::new(),
        }
    }

    /// Tells what the site says of causes.
    pub fn with_reasons(self, reasons: Option<&'c SiteReasons>) -> Self {
        ExplanationInput { reasons, ..self }
    }

    /// Tells what is known of the access point of jobs.
    pub fn with_access_point(self, access_point: &'c AccessPoint) -> Self {
        ExplanationInput { access_point: Some(access_point), ..self }
    }

    /// Tells why the negotiator found no slots last, for the jobs of the whole queue.
    pub fn with_rejections(mut self, rejections: &'c LastRejections) -> Self {
        self.rejections = Some(rejections);
        self
    }

    /// Returns what the ad of a job tells of the job itself. `None` for another ad, and where states do not matter.
    pub fn job_report(&self, session: &Session, subject: usize) -> Option<JobReport> {
        let context = session.context();
        let subject = &self.subjects[subject];
        let is_job = self.respects_states && matches!(subject.state(&context), AdvertisedState::Job(_));
        if is_job { JobReport::new(subject.advertisement(), &context) } else { None }
    }

    /// Returns why the negotiator found no slot last for a waiting job or for one of its autocluster. `None` if the job was
    /// matched since.
    pub fn last_rejection(&self, session: &Session, subject: usize) -> Option<LastRejection> {
        let context = session.context();
        let named = &self.subjects[subject];
        if !self.respects_states || named.state(&context) != AdvertisedState::Job(JobState::Idle) {
            return None;
        }
        let job = named.advertisement();
        let shared = self.rejections.and_then(|rejections| {
            if rejections.has_others() && !tells_autocluster(job, &context) {
                let equivalent = self.rejections_of_equivalent.get_or_init(|| self.equivalent_rejections(session));
                return equivalent.get(&subject).cloned();
            }
            rejections.of_autocluster(job, named.header(&context).identity.as_ref(), &context)
        });
        let last = LastRejection::later(LastRejection::of_job(job, &context), shared);
        last.filter(|last| !last.is_outdated(job, &context))
    }

    /// Returns the last rejections of the subjects that do not tell their autoclusters, by index.
    fn equivalent_rejections(&self, session: &Session) -> FxHashMap<usize, LastRejection> {
        let context = session.context();
        let job = |subject: &usize| self.subjects[*subject].advertisement();
        let untold: Vec<usize> =
            (0..self.subjects.len()).filter(|subject| !tells_autocluster(job(subject), &context)).collect();
        let mut found = FxHashMap::default();
        for group in self.group_equivalent(session, &untold) {
            let rejections = group.iter().filter_map(|subject| LastRejection::of_job(job(subject), &context));
            let last = rejections.fold(None, |last, next| LastRejection::later(last, Some(next)));
            found.extend(last.into_iter().flat_map(|last| group.iter().map(move |subject| (*subject, last.clone()))));
        }
        found
    }

    /// Whether a subject is a job that does not wait for a slot.
    pub fn is_not_waiting(&self, session: &Session, subject: usize) -> bool {
        let state = self.subjects[subject].state(&session.context());
        self.respects_states && matches!(state, AdvertisedState::Job(state) if state != JobState::Idle)
    }

    /// Whether a subject waits for a slot, or runs in one.
    pub fn takes_part(&self, session: &Session, subject: usize) -> bool {
        use JobState::{Idle, Running, Suspended, TransferringOutput};
        match self.subjects[subject].state(&session.context()) {
            AdvertisedState::Job(state) if self.respects_states => {
                matches!(state, Idle | Running | Suspended | TransferringOutput)
            }
            _ => true,
        }
    }

    /// Returns the owner of a request; `None` if its ad does not tell, and for an offer.
    pub fn owner_of(&self, session: &Session, subject: usize) -> Option<String> {
        if self.is_reverse {
            return None;
        }
        let ad = self.subjects[subject].advertisement();
        match evaluate_attribute(ad, &Name::new("Owner"), &session.context()) {
            Some(Value::String(owner)) => Some(owner.to_str().into_owned()),
            _ => None,
        }
    }

    /// The noun for what is explained, singular.
    pub fn subject_noun(&self, session: &Session) -> &'static str {
        self.subject_noun.get_or_init(|| nouns_of(self.subjects, !self.is_reverse, &session.context())[0])
    }

    /// Returns the user of a group of jobs; `None` if they have several, or none.
    pub fn user_of(&self, session: &Session, group: &[usize]) -> Option<ByteString> {
        let mut users = group.iter().map(|job| self.job_report(session, *job)?.user);
        let first = users.next()??;
        users.all(|user| user.as_ref() == Some(&first)).then_some(first)
    }

    /// Makes the explainer of the subjects. Unless `all_offers`, a report holds only as many refusals as it shows.
    pub fn explainer(&self, session: &Session, lists: OfferLists) -> Explainer {
        self.explainer_builder(session, lists)(session.context())
    }

    /// Returns what makes the explainer of the subjects. It borrows nothing, so that another thread can call it.
    pub fn explainer_builder(
        &self,
        session: &Session,
        lists: OfferLists,
    ) -> impl FnOnce(Context) -> Explainer + Send + use<> {
        let context = session.context();
        let state_and_holder = |ad: &NamedAd| {
            let header = ad.header(&context);
            (header.state, header.holder.clone())
        };
        let ads: Vec<Ad> = self.partners.iter().map(|ad| ad.ad.clone()).collect();
        let partners = self.partners.iter().take_while(|_| !context.is_interrupted());
        let states: Option<Vec<_>> =
            (self.respects_states && !self.is_reverse).then(|| partners.map(state_and_holder).collect());
        // The docking vector orders offers for requests, not the other way round.
        let docking = if self.is_reverse { Vec::new() } else { self.policy.policy.docking.clone() };
        let (protocol, most) = (self.protocol.clone(), if lists.are_whole { usize::MAX } else { MAX_LISTED_OFFERS });
        move |context| {
            let explainer = Explainer::new(&ads, protocol, context).with_max_refusals(most).with_docking(docking);
            let explainer = explainer.with_drained_listed(lists.have_drained);
            match &states {
                Some(states) => explainer.with_slots(&ads, states),
                None => explainer,
            }
        }
    }

    /// Whether a request is served by gangs rather than by pairs: the request or some offer has ports.
    pub fn needs_gang(&self, request: usize) -> bool {
        !self.is_reverse && (self.has_ports || has_ports(&self.subjects[request].ad))
    }

    /// Returns the name of a group: `A`, `A and B`, or `A and 5 more`.
    pub fn group_name(&self, group: &[usize]) -> String {
        let first = self.subjects[group[0]].id();
        let subject = match group.len() {
            1 => first.to_owned(),
            2 => format!("{first} and {}", self.subjects[group[1]].id()),
            many => format!("{first} and {} more", many - 1),
        };
        single_line(&subject)
    }

    /// Returns the summary sentence about a group. `longest` is the maximum number of characters of a clause that the
    /// sentence quotes. If clauses are cut, a sentence that is too long for a line becomes a brief one, or one with a place to
    /// break it (see [`break_sentence`]).
    pub fn summary(&self, session: &Session, group: &[usize], report: &RequestReport, longest: usize) -> String {
        let whole = self.sentence(session, group, report, (0, longest));
        let fits = |text: &str| text.chars().count() <= MAX_FIRST_LINE_CHARS;
        if longest == usize::MAX || fits(&whole) {
            return whole;
        }
        let mut sentences = vec![whole];
        let brief = BRIEF_CLAUSE_CHARS.iter().map(|most| (2, (*most).min(longest)));
        for settings in [(1, longest)].into_iter().chain(brief) {
            sentences.push(self.sentence(session, group, report, settings));
            if sentences.last().is_some_and(|sentence| fits(sentence)) {
                return sentences.pop().unwrap_or_default();
            }
        }
        sentences.extend(BRIEFEST_CLAUSE_CHARS.map(|most| self.sentence(session, group, report, (3, most))));
        let is_breakable = |sentence: &&String| fits(break_sentence(sentence, MAX_FIRST_LINE_CHARS).0);
        sentences.iter().find(is_breakable).or(sentences.last()).cloned().unwrap_or_default()
    }

    fn sentence(
        &self,
        session: &Session,
        group: &[usize],
        report: &RequestReport,
        (brevity, longest): (u8, usize),
    ) -> String {
        let writer = |subject: &str| {
            let writer = self.summary_writer(session, subject, group, longest);
            SummaryWriter { brevity, ..writer }.summary(report)
        };
        let subject = self.group_name(group);
        let Some(state) = self.slot_phrase(session, group) else {
            return single_line(&writer(&subject));
        };
        let (it, is) = if group.len() == 1 { ("it", "is") } else { ("they", "are") };
        let summary = writer(it);
        single_line(&format!("{subject} {is} {state}; {summary}"))
    }

    /// Returns the state of a group of slots; `None` if they are free, or no slots.
    fn slot_phrase(&self, session: &Session, group: &[usize]) -> Option<String> {
        let (first, context) = (&self.subjects[group[0]], session.context());
        let header = first.header(&context);
        let AdvertisedState::Slot(state) = header.state else { return None };
        if !self.respects_states || matches!(state, SlotState::Free | SlotState::Untold) {
            return None;
        }
        // Slots of a group may have several users.
        let holder = header.holder.clone().filter(|_| group.len() == 1);
        standing_phrase(&first.ad, &(header.state, holder), None, &context)
    }

    /// Returns the writer of sentences about a group. `subject` is the name of the group in these sentences.
    pub fn summary_writer<'w>(
        &'w self,
        session: &Session,
        subject: &'w str,
        group: &[usize],
        max_clause_chars: usize,
    ) -> SummaryWriter<'w> {
        let (is_plural, nouns, dialect) = (group.len() > 1, self.nouns, session.dialect());
        SummaryWriter { subject, is_plural, nouns, names: self, dialect, max_clause_chars, brevity: 0 }
    }
}

impl AdNames for ExplanationInput<'_> {
    fn ad_name(&self, ad: AdReference) -> String {
        self.parties.ad_name(ad)
    }

    fn slot_state(&self, offer: usize, user: Option<&ByteString>) -> Option<String> {
        if !self.respects_states || self.is_reverse {
            return None;
        }
        let slot = &self.partners[offer];
        let header = slot.header(&self.context);
        standing_phrase(&slot.ad, &(header.state, header.holder.clone()), user, &self.context)
    }
}

/// The change of several that the table of causes and `--fix` prefer: the first one that wins a free partner, else the first
/// one that wins any. `None` if there is none.
pub fn best_change<'c>(changes: impl DoubleEndedIterator<Item = &'c RequestChange>) -> Option<&'c RequestChange> {
    let wins = |change: &&RequestChange| (change.matched.free().map(|free| free > 0), change.matched.count > 0);
    changes.rev().max_by_key(wins)
}

/// Returns the noun for the ads of a side, singular and plural.
fn nouns_of(ads: &[NamedAd], are_requests: bool, context: &Context) -> [&'static str; 2] {
    let all = |is_kind: fn(AdvertisedState) -> bool| {
        ads.iter().all(|ad| !context.is_interrupted() && is_kind(ad.state(context)))
    };
    match are_requests {
        true if all(|state| matches!(state, AdvertisedState::Job(_))) => ["job", "jobs"],
        true => ["request", "requests"],
        false if all(|state| matches!(state, AdvertisedState::Slot(_))) => ["slot", "slots"],
        false => ["offer", "offers"],
    }
}
