//! Why a job is held, and which request was too small.

use crate::ad::{Ad, Dialect, Expression, Name, Value};
use crate::eval::Context;
use crate::protocol::evaluate_attribute;
use crate::syntax::{ParseOptions, parse_expression};
use crate::text::{shorten_middle, shorten_words};

use super::distance::as_number;

/// Why a job is held.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HoldReason {
    /// The reason in words (`HoldReason`); empty if the ad has none.
    pub text: String,
    /// `HoldReasonCode` and `HoldReasonSubCode`, as far as the ad has them.
    pub codes: [Option<i64>; 2],
    /// The resource of which the job used too much; `None` if it is held for another reason.
    pub exceeded: Option<ExceededResource>,
    /// Whether the policy that held it, the job's own or that of the access point, would hold it again once it is released.
    pub holds_again: bool,
    /// Who held the job by hand, if it is not its owner.
    pub held_by: Option<String>,
    /// How long the job says that it runs (`JobDurationCategory`), where pools have such categories.
    pub duration: Option<String>,
}

/// A resource of which a job used more than it had.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ExceededResource {
    /// The attribute with which the job asks for the resource.
    pub request: String,
    /// The value of the attribute, as text; `None` if it is no number.
    pub requested: Option<String>,
    /// How much the job had, or used if that was measured to be more, in the unit of the attribute; `None` if the ad does not tell.
    pub limit: Option<String>,
    /// Whether the job asks for more by now, so that it can be released.
    pub asks_for_more: bool,
    /// What to ask for instead: nobody knows how much the job needs. `None` without a limit. [`HoldReason::new`] takes the first of
    /// [`ExceededResource::larger`].
    pub enough: Option<i64>,
    /// Whether no slot that the job matches has more. [`HoldReason::new`] does not set this.
    pub is_most: bool,
}

impl ExceededResource {
    /// The limit as a number.
    fn limit(&self) -> Option<f64> {
        self.limit.as_ref()?.parse().ok()
    }

    /// Returns amounts that may be enough, the one to try first first: twice the limit, and less. Of processors, the limit is what
    /// the job used.
    pub fn larger(&self) -> impl Iterator<Item = i64> + use<> {
        const FACTORS: [f64; 3] = [2.0, 1.5, 1.25];
        let factors = if self.request == "RequestCpus" { &[1.0][..] } else { &FACTORS };
        let limit = self.limit().into_iter();
        limit.flat_map(move |limit| factors.iter().map(move |factor| whole(limit * factor)))
    }

    /// Returns the least amount above the limit. `None` without a limit.
    #[must_use]
    pub fn least(&self) -> Option<i64> {
        self.limit().map(|limit| whole(limit).saturating_add(1))
    }
}

/// The least whole number that is no less than an amount.
#[expect(clippy::cast_possible_truncation, reason = "amounts of resources are far below 2^53")]
fn whole(amount: f64) -> i64 {
    amount.ceil() as i64
}

/// A resource for which jobs are held.
struct LimitedResource {
    /// `HoldReasonSubCode` of a job that is held for it.
    subcode: i64,
    /// The name of the resource: `Memory` of `RequestMemory`, `MemoryProvisioned` and `MemoryUsage`.
    name: &'static str,
    /// Bytes of the unit of these attributes; `None` for what is counted.
    unit: Option<f64>,
    /// Whether the reason tells the limit more exactly than what was provisioned. That of a disk is rounded.
    is_limit_exact: bool,
}

/// The resources for which jobs are held, with HTCondor's subcodes (`condor_holdcodes.h`, `HOLD_IF_*_EXCEEDED`).
const LIMITED_RESOURCES: [LimitedResource; 3] = [
    LimitedResource { subcode: 102, name: "Memory", unit: Some(1_048_576.0), is_limit_exact: true },
    LimitedResource { subcode: 104, name: "Disk", unit: Some(1024.0), is_limit_exact: false },
    LimitedResource { subcode: 101, name: "Cpus", unit: None, is_limit_exact: true },
];

/// What stands in a reason before the user who held the job.
const BY_USER: &str = "(by user ";

/// `JobStatus` of a job that waits.
const IDLE: i64 = 1;

/// `HoldReasonCode` of a job that someone held (`UserRequest`), and of one that was submitted on hold (`SubmittedOnHold`).
const BY_HAND: [i64; 2] = [1, 15];

/// `HoldReasonCode` of a job whose input files are not there yet (`SpoolingInput`).
pub(super) const SPOOLING_INPUT: i64 = 16;

/// `HoldReasonCode` of a job that a policy of the job (`JobPolicy`) or of the access point (`SystemPolicy`) held.
pub(super) const POLICIES: [i64; 2] = [3, 26];

/// `HoldReasonCode` of a job that used more of a resource than it had (`JobOutOfResources`), and of one that the
/// execution point held by its own policy (`StartdHeldJob`). Versions before 9 give no subcode.
const EXECUTION_POINT: [i64; 2] = [34, 21];

/// Words of a reason that say that a job used too much.
const EXCESS_WORDS: [&str; 6] = ["exceed", "gone over", "limit", "out-of-memory", "out of memory", "more than"];

/// Words before the limit in a reason, in lower case.
const LIMIT_OPENINGS: [&str; 3] = ["limit of ", "limit: ", "allocated disk ("];

/// First letters of the words for units, in lower case: each is 1024 times the one before, the first 1024 bytes.
const UNITS: &str = "kmgtp";

/// Beginnings of words for bytes, in lower case.
const BYTES: [&str; 4] = ["b)", "b.", "b ", "bytes"];

impl HoldReason {
    /// Whether the job must ask for more of a resource before it is released.
    #[must_use]
    pub fn needs_more(&self) -> bool {
        self.exceeded.as_ref().is_some_and(|exceeded| !exceeded.asks_for_more)
    }

    /// Reads the ad of a held job.
    #[must_use]
    pub fn new(ad: &Ad, context: &Context) -> Self {
        let value = |name: &str| evaluate_attribute(ad, &name.into(), context);
        let text_of = |name: &str| match value(name) {
            Some(Value::String(text)) => Some(text.to_str().trim().to_owned()),
            _ => None,
        };
        let text = text_of("HoldReason").unwrap_or_default();
        let codes = ["HoldReasonCode", "HoldReasonSubCode"].map(|name| match value(name) {
            Some(Value::Integer(number)) => Some(number),
            _ => None,
        });
        let resource = LIMITED_RESOURCES.iter().find(|resource| resource.is_cause(&text.to_ascii_lowercase(), codes));
        let number = |name: &str| value(name).as_ref().and_then(as_number).filter(|number| number.is_finite());
        let exceeded = resource.map(|resource| {
            let request = format!("Request{}", resource.name);
            let [provided, usage] = ["Provisioned", "Usage"].map(|what| number(&format!("{}{what}", resource.name)));
            let given = [resource.limit_in(&text.to_ascii_lowercase()), provided];
            let [first, second] = if resource.is_limit_exact { given } else { [given[1], given[0]] };
            let (limit, requested) = (first.or(second), number(&request));
            // A measured usage may lag behind the limit that was exceeded.
            let used = usage.filter(|used| requested.is_none_or(|requested| *used >= requested));
            let most = limit.into_iter().chain(used).reduce(f64::max);
            let exceeded = ExceededResource {
                request,
                requested: requested.map(|number| number.to_string()),
                limit: most.map(|number| number.to_string()),
                asks_for_more: requested.zip(limit.and(most)).is_some_and(|(requested, most)| requested > most),
                enough: None,
                is_most: false,
            };
            ExceededResource { enough: exceeded.larger().next(), ..exceeded }
        });
        let (owner, duration) = (text_of("Owner").unwrap_or_default(), text_of("JobDurationCategory"));
        let user = text.split_once(BY_USER).and_then(|(_, behind)| behind.split([')', '@']).next());
        let is_other = |user: &&str| codes[0] == Some(BY_HAND[0]) && !owner.is_empty() && *user != owner;
        let held_by = user.filter(is_other).map(ToOwned::to_owned);
        let hold = HoldReason { text, codes, exceeded, holds_again: false, held_by, duration };
        HoldReason { holds_again: hold.holds_again(ad, context), ..hold }
    }

    /// Whether the policy that held a job would hold it again once it is idle.
    fn holds_again(&self, ad: &Ad, context: &Context) -> bool {
        let name = Name::new("PeriodicHold");
        let idle = ad.with(Name::new("JobStatus"), Expression::literal(Value::Integer(IDLE)));
        let options = ParseOptions::new(Dialect::Condor);
        let job = match self.told_policy().map(|told| parse_expression(told.as_bytes(), options)) {
            Some(Ok(told)) => idle.with(name.clone(), told),
            None if self.codes[0] == Some(POLICIES[0]) => idle,
            _ => return false,
        };
        evaluate_attribute(&job, &name, context) == Some(Value::Boolean(true))
    }

    /// Returns the expression of the access point's policy that held the job, as the reason tells it: `NumJobStarts > 10` of
    /// `expression 'NumJobStarts > 10' evaluated to TRUE`. `None` if something else held it.
    #[must_use]
    pub fn told_policy(&self) -> Option<&str> {
        let (_, rest) = self.text.split_once("expression '").filter(|_| self.codes[0] == Some(POLICIES[1]))?;
        rest.rsplit_once("' evaluated").map(|(expression, _)| expression)
    }

    /// Returns the address of mail to which the reason sends the user. `None` if it names none.
    #[must_use]
    pub fn contact(&self) -> Option<&str> {
        let words = self.text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_ascii_alphanumeric()));
        let is_address = |word: &&str| word.split_once('@').is_some_and(|(_, host)| host.contains('.'));
        // The words before name who did it.
        words.skip_while(|word| *word != "user").skip(2).find(is_address)
    }

    /// Whether the job waits for its input files, and is released without anyone's doing.
    #[must_use]
    pub fn is_spooling(&self) -> bool {
        self.codes[0] == Some(SPOOLING_INPUT)
    }

    /// Returns the reason without the slot or the daemon that HTCondor names first: `Error from slot1@host: `.
    fn told(&self) -> &str {
        match self.text.split_once(": ") {
            Some((from, told)) if from.contains('@') && from.split(' ').count() == 3 => told,
            _ => &self.text,
        }
    }

    /// Returns what jobs that are held for one reason have in common, and the reason in a few words: codes and words, with
    /// names of hosts and files, numbers and users left out.
    #[must_use]
    pub fn kind(&self) -> (String, String) {
        let [code, subcode] = self.codes;
        let codes = match (code, subcode.filter(|subcode| *subcode != 0)) {
            (Some(code), Some(subcode)) => format!("{code}.{subcode}"),
            (Some(code), None) => code.to_string(),
            (None, _) => String::new(),
        };
        let told = self.told();
        let (mut words, mut is_user): (Vec<&str>, bool) = (Vec::new(), false);
        for word in told.trim_end_matches('.').split_whitespace() {
            let is_left_out = is_user || word.contains(|c: char| c.is_ascii_digit() || "/\\@".contains(c));
            is_user = word == "user";
            if !is_left_out {
                words.push(word);
            } else if words.last() != Some(&"...") {
                words.push("...");
            }
        }
        // A job that asks for more by now can be released.
        let asks = self.exceeded.as_ref().filter(|exceeded| exceeded.asks_for_more).map(|_| "asks for more by now");
        let codes: Vec<&str> = [codes.as_str()].into_iter().filter(|codes| !codes.is_empty()).chain(asks).collect();
        let about = if codes.is_empty() { String::new() } else { format!(" ({})", codes.join(", ")) };
        let text = format!("held{about}{}{}", if words.is_empty() { "" } else { ": " }, words.join(" "));
        (format!("{} {}", codes.join(" "), words.join(" ")).trim().to_owned(), text)
    }

    /// Returns `: memory usage exceeded (code 34, subcode 102)`, with the reason cut between words to `most` characters in all;
    /// nothing if neither reason nor code is known.
    #[must_use]
    pub fn phrase(&self, most: usize) -> String {
        let [code, subcode] = self.codes;
        let codes = match (code, subcode.filter(|subcode| *subcode != 0)) {
            (Some(code), Some(subcode)) => format!(" (code {code}, subcode {subcode})"),
            (Some(code), None) => format!(" (code {code})"),
            (None, _) => String::new(),
        };
        let room = most.saturating_sub(codes.len() + 2);
        let fits = self.text.trim_end_matches('.').chars().count() <= room;
        match if fits { self.text.trim_end_matches('.') } else { self.told().trim_end_matches('.') } {
            "" => codes,
            text => {
                let shortened = shorten_words(text, room);
                // The error of the system, and what a server says, stand at the end, behind the names of the daemons.
                let is_cut = ["errno", "Details:", "Not Found", "Unable"]
                    .iter()
                    .any(|word| text.contains(word) && !shortened.contains(word));
                format!(": {}{codes}", if is_cut { shorten_middle(text, room) } else { shortened })
            }
        }
    }

    /// Whether someone held the job, or nobody says why it is held.
    #[must_use]
    pub fn is_by_hand(&self) -> bool {
        self.codes[0].is_none_or(|code| BY_HAND.contains(&code))
    }
}

impl LimitedResource {
    /// Whether a job is held for using too much of the resource. `text` is the reason, in lower case.
    fn is_cause(&self, text: &str, [code, subcode]: [Option<i64>; 2]) -> bool {
        let Some(code) = code else { return false };
        let has_word = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let word = self.name.trim_end_matches('s').to_ascii_lowercase();
        let is_told = text.contains(&word) && has_word(&EXCESS_WORDS) && !text.contains("expression '");
        if EXECUTION_POINT.contains(&code) {
            return match subcode.filter(|subcode| *subcode != 0) {
                Some(subcode) if code == EXECUTION_POINT[0] => subcode == self.subcode,
                Some(subcode) => subcode == self.subcode && (text.is_empty() || is_told),
                None => is_told,
            };
        }
        // A policy may have a limit of its own, which no request shifts.
        POLICIES.contains(&code) && is_told && text.contains("request")
    }

    /// Returns the limit that a reason tells, in the unit of the request: `cgroup memory limit of 2048 megabytes`.
    fn limit_in(&self, text: &str) -> Option<f64> {
        let rest = LIMIT_OPENINGS.iter().find_map(|opening| Some(text.split_once(opening)?.1))?;
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number: f64 = rest[..end].trim_end_matches('.').parse().ok()?;
        let Some(own) = self.unit else { return Some(number) };
        let behind = rest[end..].trim_start();
        let power = behind.chars().next().and_then(|first| UNITS.find(first));
        let is_bytes = BYTES.iter().any(|word| behind.starts_with(word));
        let unit = power.map(|power| (0..=power).fold(1.0, |unit, _| unit * 1024.0));
        let unit = unit.unwrap_or(if is_bytes { 1.0 } else { own });
        Some((number * unit / own).floor())
    }
}

#[cfg(test)]
mod tests {
    use super::HoldReason;
    use crate::ad::Dialect;
    use crate::eval::Context;
    use crate::syntax::{ParseOptions, parse_ad};

    #[test]
    fn one_reason_has_one_kind_whatever_the_host_and_the_file_are() {
        for (held, expected) in [
            (
                "HoldReasonCode = 13; HoldReasonSubCode = 2; HoldReason = \"Error from slot1_3@n0359.x.edu: Transfer input files \
                 failure at access point ap1 while sending files: reading from file /home/ann/a.dat: (errno 2) No such file.\"",
                "held (13.2): Transfer input files failure at access point ... while sending files: reading from file ... (errno ... No such file",
            ),
            (
                "HoldReasonCode = 1; HoldReason = \"via condor_hold (by user ann)\"",
                "held (1): via condor_hold (by user ...",
            ),
            (
                "HoldReasonCode = 34; HoldReasonSubCode = 0; HoldReason = \"Job has gone over memory limit of 2048 megabytes.\"",
                "held (34): Job has gone over memory limit of ... megabytes",
            ),
            ("HoldReason = \"why not\"", "held: why not"),
            ("HoldReasonCode = 7", "held (7)"),
            ("JobStatus = 5", "held"),
        ] {
            let ad = parse_ad(format!("[ {held} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
            let (_, text) = HoldReason::new(&ad, &Context::new(Dialect::Condor)).kind();
            assert_eq!(text, expected);
        }
    }

    /// Returns what the ad of a job that is held tells of the resource of which it used too much.
    fn exceeded(held: &str, request: &str) -> String {
        let text = format!("[ {held}; {request} ]");
        let ad = parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
        let Some(of) = HoldReason::new(&ad, &Context::new(Dialect::Condor)).exceeded else { return "-".to_owned() };
        let [requested, limit] = [of.requested, of.limit].map(|number| number.unwrap_or_else(|| "-".to_owned()));
        let advice = if of.asks_for_more { "asks for more" } else { "larger" };
        format!("{} {requested} of {limit}: {advice}", of.request)
    }

    #[test]
    fn the_request_is_compared_with_the_limit() {
        let cgroup = |limit: &str| {
            format!(
                "HoldReasonCode = 34; HoldReasonSubCode = 102; HoldReason = \"Error from slot1_2@w: Job has gone over cgroup \
                 memory limit of {limit}. Last measured usage: 9471 megabytes.  Consider resubmitting with a higher request_memory.\""
            )
        };
        let reason = |codes: &str, text: &str| {
            let [code, subcode] = codes.split_once('/').map(|(code, subcode)| [code, subcode]).unwrap();
            format!("HoldReasonCode = {code}; HoldReasonSubCode = {subcode}; HoldReason = \"{text}\"")
        };
        let over = "memory usage exceeded request_memory";
        for (held, request, expected) in [
            (cgroup("9472 megabytes"), "RequestMemory = 9472", "RequestMemory 9472 of 9472: larger"),
            (cgroup("9472 megabytes"), "RequestMemory = 28416", "RequestMemory 28416 of 9472: asks for more"),
            (
                cgroup("9472 megabytes"),
                "MemoryUsage = 9471; RequestMemory = MemoryUsage * 2",
                "RequestMemory 18942 of 9472: asks for more",
            ),
            // What was used beyond the limit counts, too.
            (
                cgroup("2048 megabytes"),
                "RequestMemory = 2048; MemoryUsage = 9100",
                "RequestMemory 2048 of 9100: larger",
            ),
            (
                cgroup("2048 megabytes"),
                "RequestMemory = 9000; MemoryUsage = 2048",
                "RequestMemory 9000 of 2048: asks for more",
            ),
            (cgroup("9472 megabytes"), "RequestMemory = undefined", "RequestMemory - of 9472: larger"),
            (cgroup("9 GB"), "RequestMemory = 9300", "RequestMemory 9300 of 9216: asks for more"),
            (
                reason("34/0", "Docker job has gone over memory limit of 16384 Mb"),
                "RequestMemory = 16000; MemoryProvisioned = 16000",
                "RequestMemory 16000 of 16384: larger",
            ),
            (
                reason("34/0", "Job has gone over memory limit of 2048 megabytes. Peak usage: 2040 megabytes."),
                "RequestMemory = 4096",
                "RequestMemory 4096 of 2048: asks for more",
            ),
            (
                reason("34/102", "Job has encountered an out-of-memory event."),
                "RequestMemory = 3000; MemoryProvisioned = 2048",
                "RequestMemory 3000 of 2048: asks for more",
            ),
            (
                reason("34/102", "Job has encountered an out-of-memory event."),
                "RequestMemory = 2048; MemoryUsage = 2047",
                "RequestMemory 2048 of -: larger",
            ),
            (reason("21/102", over), "RequestMemory = 1; MemoryUsage = 3", "RequestMemory 1 of 3: larger"),
            (reason("26/0", over), "RequestMemory = 1", "RequestMemory 1 of -: larger"),
            (
                reason(
                    "26/102",
                    "The system macro SYSTEM_PERIODIC_HOLD expression 'MemoryUsage > RequestMemory' evaluated to TRUE",
                ),
                "RequestMemory = 1",
                "-",
            ),
            (reason("26/0", "due to memory usage 3000000"), "RequestMemory = 1", "-"),
            (reason("21/103", "runtime exceeded maximum (86400 seconds)"), "RequestMemory = 1", "-"),
            (reason("13/28", "No space left on device, disk limit exceeded"), "RequestDisk = 1", "-"),
            (
                reason(
                    "34/104",
                    "Job has exceeded allocated disk (1.00 GB). Consider increasing the value of request_disk.",
                ),
                "RequestDisk = 1048576",
                "RequestDisk 1048576 of 1048576: larger",
            ),
            (
                reason(
                    "34/104",
                    "Job has exceeded allocated disk (1003.50 MB). Consider increasing the value of request_disk.",
                ),
                "RequestDisk = 1048576; DiskProvisioned = 1048576",
                "RequestDisk 1048576 of 1048576: larger",
            ),
            (
                reason("21/104", "disk usage exceeded allocated disk"),
                "RequestDisk = 3000000; DiskProvisioned = 1048576",
                "RequestDisk 3000000 of 1048576: asks for more",
            ),
            (
                reason("21/101", "CPU usage exceeded request_cpus"),
                "RequestCpus = 1; CpusProvisioned = 1",
                "RequestCpus 1 of 1: larger",
            ),
            ("HoldReasonCode = 1".to_owned(), "RequestMemory = 1", "-"),
        ] {
            assert_eq!(exceeded(&held, request), expected, "{held}; {request}");
        }
    }
}
