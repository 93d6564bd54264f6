//! Reader of the schedd's `job_queue.log`, of the negotiator's `Accountantnew.log`, and of other logs of the same kind.
//!
//! Each line of the log is an operation on an ad that a key names. Operations between 105 and 106 are a transaction:
//! they count together or not at all. The reader returns the ads that exist at the end of the log.

use std::ops::Range;

use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use crate::ad::{Ad, Dialect, Expression, Name, Value};
use crate::syntax::{ParseCache, ParseOptions, parse_expression};

use super::attribute_name::attribute_name;
use super::{AdEntry, Problem, ReadResult};

/// Type of the ads of submitters and groups in `Accountantnew.log`.
pub const ACCOUNT_TABLE: &str = "Customer";

/// Reads the ads that exist at the end of a log, in the order in which they were made.
///
/// An ad has its key as `Name`, unless it is a job or has a name; one of `Accountantnew.log` has the table of its key as
/// `MyType`, and the rest as `Name`.
///
/// A job has the attributes of its cluster, unless it has its own. Of the records whose keys are numbers, only jobs are
/// returned: the others are those of clusters and their private attributes, of job sets, of users and of the log itself.
pub fn read_job_queue_log(text: &[u8], dialect: Dialect) -> impl Iterator<Item = ReadResult> {
    let mut log = JobQueueLog { text, dialect, ads: FxHashMap::default(), count: 0, problems: Vec::new() };
    log.play();
    let problems = std::mem::take(&mut log.problems).into_iter().map(Err);
    problems.chain(log.into_ads())
}

/// The attributes that the schedd sets to the time of the operation.
const TIMES: [&[u8]; 8] = [
    b"QDate",
    b"EnteredCurrentStatus",
    b"LastMatchTime",
    b"LastRejMatchTime",
    b"LastJobLeaseRenewal",
    b"JobCurrentStartDate",
    b"JobCurrentStartExecutingDate",
    b"CompletionDate",
];

/// Returns the length of the part of a log that was written until a time, in seconds since 1970.
///
/// The log itself has no times. So a transaction counts as later if it sets one of a job's times, such as `QDate` or
/// `EnteredCurrentStatus`, to a later one; and all that follows is later, too.
#[must_use]
pub fn log_length_until(text: &[u8], time: i64) -> usize {
    let (mut begin, mut start) = (0, 0);
    let mut is_in_transaction = false;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        match line.get(..3) {
            Some(b"105") => (is_in_transaction, begin) = (true, start),
            Some(b"106") => is_in_transaction = false,
            Some(b"103") => {
                let mut words = line.split(u8::is_ascii_whitespace).skip(2);
                let name = words.next().filter(|name| TIMES.contains(name));
                let value = name.and_then(|_| std::str::from_utf8(words.next()?).ok()?.parse::<i64>().ok());
                if value.is_some_and(|value| value > time) {
                    return if is_in_transaction { begin } else { start };
                }
            }
            _ => {}
        }
        start += line.len();
    }
    text.len()
}

/// The ads of a log while it is read. The keys and the texts of values are places in the log.
struct JobQueueLog<'t> {
    text: &'t [u8],
    dialect: Dialect,
    ads: FxHashMap<&'t [u8], LoggedAd<'t>>,
    /// Number of ads made so far.
    count: usize,
    problems: Vec<Problem>,
}

/// An ad that the log has made.
struct LoggedAd<'t> {
    /// Number of ads made before it.
    order: usize,
    /// Byte offset of the line that makes the ad.
    offset: usize,
    /// The type of the ad. Empty if there is none.
    my_type: &'t [u8],
    /// The place of each value.
    attributes: IndexMap<Name, Range<usize>>,
}

/// An operation, with the place of its line.
struct LogOperation<'t> {
    line: Range<usize>,
    key: &'t [u8],
    action: LogAction<'t>,
}

enum LogAction<'t> {
    New(&'t [u8]),
    Destroy,
    Set(Name, Range<usize>),
    Delete(Name),
}

impl<'t> JobQueueLog<'t> {
    /// Carries out all operations.
    fn play(&mut self) {
        let mut transaction: Option<(usize, Vec<LogOperation<'t>>)> = None;
        let mut start = 0;
        while start < self.text.len() {
            let Some(length) = memchr::memchr(b'\n', &self.text[start..]) else {
                let message = "the last line is not complete and is ignored";
                self.problems.push(Problem::error_at(start..self.text.len(), 0, message).as_warning());
                break;
            };
            let line = start..start + length;
            start = line.end + 1;
            match (&self.text[line.clone()], self.parse_operation(line.clone())) {
                (text, _) if text.starts_with(b"105") => transaction = Some((line.start, Vec::new())),
                (text, _) if text.starts_with(b"106") => {
                    for operation in transaction.take().map(|(_, operations)| operations).into_iter().flatten() {
                        self.carry_out(operation);
                    }
                }
                (text, _) if text.starts_with(b"107") || text.trim_ascii().is_empty() => {}
                (_, Err(problem)) => self.problems.push(problem),
                (_, Ok(operation)) => match &mut transaction {
                    Some((_, operations)) => operations.push(operation),
                    None => self.carry_out(operation),
                },
            }
        }
        if let Some((begin, _)) = transaction {
            let message = "this transaction has no end and is ignored";
            self.problems.push(Problem::error_at(begin..begin + 3, 0, message).as_warning());
        }
    }

    /// Parses a line. The lines that begin and end transactions are not operations.
    fn parse_operation(&self, line: Range<usize>) -> Result<LogOperation<'t>, Problem> {
        let text = self.text;
        let mut at = line.start;
        let mut words = || {
            let begin = at + text[at..line.end].iter().take_while(|byte| **byte == b' ').count();
            at = begin + text[begin..line.end].iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
            begin..at
        };
        let (code, key, third) = (words(), words(), words());
        let fault = |message| {
            let help = "a line of the log reads `101 KEY TYPE`, `102 KEY`, `103 KEY NAME VALUE`, `104 KEY NAME`, `105`, \
                        `106` or `107 ...`";
            Problem::error_at(line.clone(), 0, message).with_help(help)
        };
        let code = &text[code];
        if matches!(code, b"101" | b"102" | b"103" | b"104") && key.is_empty() {
            return Err(fault("the key is missing in this line"));
        }
        let name = || {
            if third.is_empty() {
                return Err(fault("the name is missing in this line"));
            }
            attribute_name(&text[third.clone()], self.dialect, third.clone(), 0)
        };
        let action = match code {
            b"101" => LogAction::New(&text[third.clone()]),
            b"102" => LogAction::Destroy,
            b"103" => LogAction::Set(name()?, third.end..line.end),
            b"104" => LogAction::Delete(name()?),
            _ => return Err(fault("this line is not an operation of the log")),
        };
        Ok(LogOperation { key: &text[key], action, line })
    }

    fn carry_out(&mut self, LogOperation { line, key, action }: LogOperation<'t>) {
        if let LogAction::New(my_type) = action {
            let order = self.count;
            self.count += 1;
            let my_type = if matches!(my_type, b"(empty)" | b"*") { &[][..] } else { my_type };
            self.ads.insert(key, LoggedAd { order, offset: line.start, my_type, attributes: IndexMap::new() });
            return;
        }
        let is_known = match (self.ads.get_mut(key), action) {
            (Some(_), LogAction::Destroy) => self.ads.remove(key).is_some(),
            (Some(ad), LogAction::Set(name, value)) => {
                ad.attributes.insert(name, value);
                true
            }
            (Some(ad), LogAction::Delete(name)) => {
                ad.attributes.shift_remove(&name);
                true
            }
            (known, _) => known.is_some(),
        };
        if !is_known {
            let message = format!("ad {} does not exist at this line of the log", String::from_utf8_lossy(key));
            self.problems.push(Problem::error_at(line, 0, message).as_warning());
        }
    }

    /// Returns the ads that are left, and the problems of their values.
    fn into_ads(self) -> impl Iterator<Item = ReadResult> {
        let mut keys: Vec<&[u8]> = self.ads.keys().copied().filter(|key| job_of_key(key).is_none_or(is_job)).collect();
        keys.sort_unstable_by_key(|key| self.ads[key].order);
        let mut cache = ParseCache::<()>::new(ParseOptions::long(self.dialect));
        let mut items = Vec::new();
        for (index, key) in keys.into_iter().enumerate() {
            items.extend(self.build_ad(key, index + 1, &mut cache));
        }
        items.into_iter()
    }

    /// Builds an ad with the attributes of its cluster. Returns its problems if it has any.
    fn build_ad(&self, key: &[u8], number: usize, cache: &mut ParseCache<()>) -> Vec<ReadResult> {
        let logged = &self.ads[key];
        let cluster = key.iter().position(|byte| *byte == b'.').map(|dot| [b"0", &key[..dot], b".-1"].concat());
        let cluster = cluster.and_then(|cluster| self.ads.get(cluster.as_slice()));
        let mut problems = Vec::new();
        let mut attributes: Vec<(Name, Expression)> = Vec::new();
        let places = cluster.into_iter().flat_map(|cluster| &cluster.attributes);
        let inherited = places.filter(|(name, _)| !logged.attributes.contains_key(*name));
        for (index, (name, place)) in inherited.chain(&logged.attributes).enumerate() {
            let value = &self.text[place.clone()];
            let parsed = cache.parse(value, index).map(|parsed| parsed.expression);
            match parsed.map_or_else(|| parse_expression(value, ParseOptions::long(self.dialect)), Ok) {
                Ok(expression) => attributes.push((name.clone(), expression)),
                Err(error) => problems.push(Err(Problem::from_syntax(error, place.start, number))),
            }
        }
        if !problems.is_empty() {
            return problems;
        }
        let (my_type, name) = (Name::new("MyType"), Name::new("Name"));
        let mut ad: Ad = attributes.into_iter().collect();
        let (table, of_key) = split_key(key);
        if !of_key.is_empty() && ad.get(&name).is_none() {
            ad = ad.with(name, Expression::literal(Value::string(of_key)));
        }
        // The negotiator writes `*` as the type of its ads.
        let types = [table, logged.my_type, cluster.map_or(&[], |cluster| cluster.my_type)];
        if (!table.is_empty() || ad.get(&my_type).is_none())
            && let Some(found) = types.into_iter().find(|found| !found.is_empty())
        {
            ad = ad.with(my_type, Expression::literal(Value::string(found)));
        }
        vec![Ok(AdEntry { ad, number, offset: logged.offset, is_whole: true, banner_attributes: 0 })]
    }
}

/// Returns the cluster and the process of a key. `None` if the key is not two numbers: logs of other daemons have names.
fn job_of_key(key: &[u8]) -> Option<(i64, i64)> {
    let (cluster, process) = std::str::from_utf8(key).ok()?.split_once('.')?;
    Some((cluster.parse().ok()?, process.parse().ok()?))
}

/// Returns the table of the negotiator's accountant to which a key belongs, and the name in it: of a submitter or a group
/// (`Customer`), of a slot in use (`Resource`), or none. The key of another log is a name without a table, that of a job is
/// neither.
fn split_key(key: &[u8]) -> (&[u8], &[u8]) {
    let tables: [&[u8]; 3] = [ACCOUNT_TABLE.as_bytes(), b"Resource", b"Accountant"];
    match key.iter().position(|byte| *byte == b'.') {
        Some(dot) if tables.contains(&&key[..dot]) => (&key[..dot], &key[dot + 1..]),
        _ if job_of_key(key).is_some() => (&[], &[]),
        _ => (&[], key),
    }
}

/// Whether a record is a job. The schedd counts the private attributes of clusters, job sets and others down from -1, and
/// keeps its own records and those of users in cluster 0.
fn is_job((cluster, process): (i64, i64)) -> bool {
    cluster > 0 && process >= 0
}

#[cfg(test)]
mod tests {
    use super::{log_length_until, read_job_queue_log};
    use crate::ad::Dialect;
    use crate::format::{Position, Severity};
    use crate::syntax::{Style, print_ad};

    fn items(text: &str) -> Vec<String> {
        read_job_queue_log(text.as_bytes(), Dialect::Condor)
            .map(|item| match item {
                Ok(entry) => String::from_utf8(print_ad(&entry.ad, Style::New)).unwrap(),
                Err(problem) => {
                    let at = Position::of_offset(text.as_bytes(), problem.range.start);
                    let mark = if problem.severity == Severity::Warning { "~" } else { "!" };
                    format!("{mark}{}:{}: {}", at.line, at.column, problem.message)
                }
            })
            .collect()
    }

    #[test]
    fn the_state_at_the_end() {
        let log = "107 1 CreationTimestamp 1795390524\n101 0.0 Job Machine\n103 0.0 NextClusterNum 2\n105 \n\
                   101 01.-1 Job Machine\n103 01.-1 Cmd \"/bin/a b\"\n103 01.-1 JobStatus 1\n101 1.0 Job Machine\n\
                   103 1.0 ProcId 0\n101 1.1 (empty)\n103 1.1 ProcId 1\n103 1.1 Note \"C:\\dir\"\n106 \n\
                   105\n103 1.0 JobStatus 2\n104 1.1 Note\n106 # done\n";
        let first = "[ Cmd = \"/bin/a b\"; ProcId = 0; JobStatus = 2; MyType = \"Job\" ]";
        let second = "[ Cmd = \"/bin/a b\"; JobStatus = 1; ProcId = 1; MyType = \"Job\" ]";
        assert_eq!(items(log), [first, second]);
        assert_eq!(items(&format!("{log}102 1.0\n")), [second]);
        // A transaction without its end does not count.
        let warning = "~18:1: this transaction has no end and is ignored";
        assert_eq!(items(&format!("{log}105 \n102 1.0\n")), [warning, first, second]);
        let warning = "~18:1: the last line is not complete and is ignored";
        assert_eq!(items(&format!("{log}102 1.")), [warning, first, second]);
    }

    #[test]
    fn accounts_have_their_names() {
        for (log, expected) in [
            (
                "101 Customer.a.b@c * *\n103 Customer.a.b@c Priority 0.5\n",
                "[ Priority = 0.5; Name = \"a.b@c\"; MyType = \"Customer\" ]",
            ),
            ("101 Customer.a@c * *\n103 Customer.a@c MyType \"*\"\n", "[ MyType = \"Customer\"; Name = \"a@c\" ]"),
            ("101 Customer.<none> (empty)\n", "[ Name = \"<none>\"; MyType = \"Customer\" ]"),
            ("101 Resource.slot1@h@<1:2?a=b> * *\n", "[ Name = \"slot1@h@<1:2?a=b>\"; MyType = \"Resource\" ]"),
            (
                "101 Accountant. * *\n103 Accountant. LastUpdateTime 7\n",
                "[ LastUpdateTime = 7; MyType = \"Accountant\" ]",
            ),
            ("101 Customers.a * *\n103 Customers.a B 1\n", "[ B = 1; Name = \"Customers.a\" ]"),
            // OfflineLog of the collector.
            (
                "101 <slot1@h,192.0.2.1> Machine (empty)\n103 <slot1@h,192.0.2.1> Offline true\n",
                "[ Offline = true; Name = \"<slot1@h,192.0.2.1>\"; MyType = \"Machine\" ]",
            ),
            ("101 <slot1@h> Machine\n103 <slot1@h> Name \"slot1@h\"\n", "[ Name = \"slot1@h\"; MyType = \"Machine\" ]"),
        ] {
            assert_eq!(items(log), [expected]);
        }
    }

    #[test]
    fn only_jobs_are_ads_of_a_queue() {
        let log = "101 0.0 Job Machine\n101 0.1 Owner (unknown)\n103 0.1 Name \"alice\"\n101 01.-1 Job Machine\n\
                   103 01.-1 Owner \"alice\"\n101 1.-2 ClusterPvt (empty)\n103 1.-2 Secret \"s3cr3t\"\n\
                   101 1.-99 OCU (unknown)\n101 1.-100 JobSet (unknown)\n103 1.-100 JobSetName \"set\"\n\
                   101 1.0 Job Machine\n103 1.0 ProcId 0\n";
        assert_eq!(items(log), ["[ Owner = \"alice\"; ProcId = 0; MyType = \"Job\" ]"]);
        // Keys of other daemons are names, which may have a dot.
        for key in ["slot1@a.b", "1.x", "Resources.1", "1", "1.0.0"] {
            let expected = format!("[ Name = \"{key}\"; MyType = \"Machine\" ]");
            assert_eq!(items(&format!("101 {key} Machine\n")), [expected]);
        }
    }

    #[test]
    fn the_state_at_a_time() {
        let log = "101 1.0 Job\n103 1.0 QDate 100\n105\n103 1.0 JobStatus 2\n103 1.0 EnteredCurrentStatus 200\n106\n\
                   103 1.0 EnteredCurrentStatus 150\n103 1.0 CompletionDate 300\n";
        let until = |time| log_length_until(log.as_bytes(), time);
        assert_eq!((until(99), until(100), until(199)), (12, 30, 30));
        assert_eq!((&log[until(200)..], until(300)), ("103 1.0 CompletionDate 300\n", log.len()));
    }

    #[test]
    fn mistakes_have_their_places_and_the_rest_is_read() {
        let log = "101 1.0 Job\n103 1.0 A (\n101 2.0 Job\n103 2.0 B 1\nodd\n103 2.0\n103 9.0 A 1\n";
        assert_eq!(
            items(log),
            [
                "!5:1: this line is not an operation of the log",
                "!6:1: the name is missing in this line",
                "~7:1: ad 9.0 does not exist at this line of the log",
                "!2:12: expected an expression, found the end",
                "[ B = 1; MyType = \"Job\" ]",
            ]
        );
    }
}
