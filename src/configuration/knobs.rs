//! Table of the variables of a configuration that hold policies.

/// What a variable with a policy is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KnobKind {
    /// Expression of a machine, evaluated with a job as its partner.
    MachinePolicy,
    /// Expression of the negotiator, evaluated in a machine's ad with a job as its partner.
    NegotiatorPolicy,
    /// Expression of the daemon that drains, wakes up or puts to sleep machines, evaluated in a machine's ad.
    PoolPolicy,
    /// Expression of a job queue, evaluated in a job's ad.
    JobPolicy,
    /// Condition that each job must satisfy to be accepted, or the text for a job that does not.
    SubmitRequirement,
    /// Condition under which a job is held, released, removed or vacated, or its reason or code.
    PeriodicPolicy,
    /// Rules that change jobs when they are submitted, or before or behind a route.
    Transform,
    /// Rules that make a job for another system.
    Route,
}

/// Variable, or a family of variables with a common beginning, that holds policies.
#[derive(Debug)]
pub struct PolicyKnob {
    /// The name. A `*` at its end stands for the name that the configuration gives one of a family.
    pub pattern: &'static str,
    /// What it is about.
    pub kind: KnobKind,
}

/// The variables that hold policies. Of several patterns the first that fits counts.
pub const POLICY_KNOBS: &[PolicyKnob] = &[
    machine("START"),
    machine("SUSPEND"),
    machine("CONTINUE"),
    machine("PREEMPT"),
    machine("PREEMPT_VANILLA"),
    machine("KILL"),
    machine("KILL_VANILLA"),
    machine("RANK"),
    machine("IS_OWNER"),
    machine("ISOWNER"),
    machine("WANT_SUSPEND"),
    machine("WANT_VACATE"),
    machine("WANT_HOLD"),
    machine("WANT_HOLD_REASON"),
    machine("WANT_HOLD_SUBCODE"),
    machine("MAXJOBRETIREMENTTIME"),
    machine("MACHINEMAXVACATETIME"),
    machine("HIBERNATE"),
    machine("UNHIBERNATE"),
    machine("START_BACKFILL"),
    machine("EVICT_BACKFILL"),
    negotiator("PREEMPTION_REQUIREMENTS"),
    negotiator("PREEMPTION_RANK"),
    negotiator("NEGOTIATOR_PRE_JOB_RANK"),
    negotiator("NEGOTIATOR_POST_JOB_RANK"),
    pool("NEGOTIATOR_SLOT_CONSTRAINT"),
    pool("DEFRAG_REQUIREMENTS"),
    pool("DEFRAG_WHOLE_MACHINE_EXPR"),
    pool("DEFRAG_RANK"),
    pool("DEFRAG_CANCEL_REQUIREMENTS"),
    pool("ROOSTER_UNHIBERNATE"),
    pool("ROOSTER_UNHIBERNATE_RANK"),
    job("NEGOTIATOR_JOB_CONSTRAINT"),
    job("APPEND_REQUIREMENTS"),
    job("APPEND_REQ_VANILLA"),
    job("APPEND_RANK"),
    job("SYSTEM_ON_VACATE_COOL_DOWN"),
    job("JOB_ROUTER_SOURCE_JOB_CONSTRAINT"),
    knob("SUBMIT_REQUIREMENT_*", KnobKind::SubmitRequirement),
    knob("SYSTEM_PERIODIC_HOLD*", KnobKind::PeriodicPolicy),
    knob("SYSTEM_PERIODIC_RELEASE*", KnobKind::PeriodicPolicy),
    knob("SYSTEM_PERIODIC_REMOVE*", KnobKind::PeriodicPolicy),
    knob("SYSTEM_PERIODIC_VACATE*", KnobKind::PeriodicPolicy),
    knob("JOB_TRANSFORM_*", KnobKind::Transform),
    knob("JOB_ROUTER_TRANSFORM_*", KnobKind::Transform),
    knob("JOB_ROUTER_ROUTE_*", KnobKind::Route),
    knob("JOB_ROUTER_ENTRIES", KnobKind::Route),
];

/// Ends of the names of variables whose values are ranks, reasons, codes and times.
const VALUE_ENDS: [&str; 6] = ["RANK", "_REASON", "_SUBCODE", "TIME", "CODE", "COOL_DOWN"];

/// Whether the policy that a variable holds is a condition. Another policy is a value.
pub fn is_condition(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    !VALUE_ENDS.iter().any(|end| name.ends_with(end))
}

const fn knob(pattern: &'static str, kind: KnobKind) -> PolicyKnob {
    PolicyKnob { pattern, kind }
}

const fn machine(pattern: &'static str) -> PolicyKnob {
    knob(pattern, KnobKind::MachinePolicy)
}

const fn negotiator(pattern: &'static str) -> PolicyKnob {
    knob(pattern, KnobKind::NegotiatorPolicy)
}

const fn pool(pattern: &'static str) -> PolicyKnob {
    knob(pattern, KnobKind::PoolPolicy)
}

const fn job(pattern: &'static str) -> PolicyKnob {
    knob(pattern, KnobKind::JobPolicy)
}

/// The daemons that read the settings with some beginnings of names. The first that fits counts.
const READERS: &[(&str, &str)] = &[
    ("APPEND_", "SUBMIT"),
    ("CONCURRENCY_LIMIT_DEFAULT", "NEGOTIATOR"),
    ("DEFAULT_PRIO_FACTOR", "NEGOTIATOR"),
    ("DEFRAG_", "DEFRAG"),
    ("GROUP_", "NEGOTIATOR"),
    ("JOB_ROUTER_", "JOB_ROUTER"),
    ("JOB_TRANSFORM_", "SCHEDD"),
    ("MAX_JOBS_", "SCHEDD"),
    ("NEGOTIATOR_", "NEGOTIATOR"),
    ("NUM_SLOTS", "STARTD"),
    ("PREEMPTION_", "NEGOTIATOR"),
    ("PRIORITY_HALFLIFE", "NEGOTIATOR"),
    ("ROOSTER_", "ROOSTER"),
    ("SCHEDD_", "SCHEDD"),
    ("SLOT_", "STARTD"),
    ("STARTD_", "STARTD"),
    ("SUBMIT_REQUIREMENT_", "SCHEDD"),
    ("SYSTEM_", "SCHEDD"),
];

/// Returns the daemon that reads a setting, and so prefers `DAEMON.NAME` to `NAME`; `None` if several do.
pub fn reading_daemon(name: &str) -> Option<&'static str> {
    let starts = |start: &str| name.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start));
    let by_start = READERS.iter().find(|(start, _)| starts(start)).map(|(_, daemon)| *daemon);
    let is_of_machine = || PolicyKnob::find(name).is_some_and(|knob| knob.kind == KnobKind::MachinePolicy);
    by_start.or_else(|| is_of_machine().then_some("STARTD"))
}

impl KnobKind {
    /// Whether the expression is evaluated in a job's ad. Others are evaluated in a machine's ad, with a job as TARGET if
    /// there is one.
    #[must_use]
    pub fn is_of_job(self) -> bool {
        !matches!(self, KnobKind::MachinePolicy | KnobKind::NegotiatorPolicy | KnobKind::PoolPolicy)
    }

    /// Whether the values are rules rather than an expression.
    #[must_use]
    pub fn is_rules(self) -> bool {
        matches!(self, KnobKind::Transform | KnobKind::Route)
    }
}

impl PolicyKnob {
    /// Returns the knob that a variable is; `None` if it holds no policy. The name may begin with that of a daemon, as
    /// in `STARTD.START`.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static PolicyKnob> {
        let name = name.rsplit_once('.').map_or(name, |(_, name)| name);
        let ends_with = |end: &str| {
            name.len()
                .checked_sub(end.len())
                .and_then(|at| name.get(at..))
                .is_some_and(|tail| tail.eq_ignore_ascii_case(end))
        };
        // These belong to a family, but hold lists of names, and whether a requirement only warns.
        if ends_with("_NAMES") || ends_with("_IS_WARNING") {
            return None;
        }
        POLICY_KNOBS.iter().find(|knob| match knob.pattern.strip_suffix('*') {
            Some(start) => name.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start)),
            None => name.eq_ignore_ascii_case(knob.pattern),
        })
    }
}
