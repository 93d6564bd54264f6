//! How many of the explained subjects match, wait, and do not wait: the heading of the table of causes.

use classad::text::{counted, with_commas};
use serde_json::{Map, Value as Json};

use super::cause_entry::CauseEntry;
use super::verdict_codes::{CLAIMED, LIMITED, NOT_WAITING, PARTLY_SERVED, TAKEN};

/// Numbers of subjects, by what keeps them from partners.
#[derive(Default)]
pub struct QueueCounts {
    /// Number of subjects of all kinds below.
    pub all: usize,
    /// Number of those that match.
    pub matching: usize,
    /// Number of those that match nothing.
    nothing: usize,
    /// Number of those counted in `nothing` that would match full slots once the jobs there end.
    full: usize,
    /// Number of those that match only slots in use.
    in_use: usize,
    /// Number of those that match only what others take.
    taken: usize,
    /// Number of those that a limit or a quota keeps back.
    limited: usize,
    /// Number of those that get too few partners.
    partly: usize,
    /// Number of those that are held.
    held: usize,
    /// Number of those that do not wait, and are not held.
    not_waiting: usize,
}

impl QueueCounts {
    /// Counts the subjects of an entry. Damaged partial results may claim more subjects than there can be.
    pub fn add(&mut self, entry: &CauseEntry) {
        let kind = match entry.verdict.as_str() {
            _ if entry.matches => &mut self.matching,
            NOT_WAITING if entry.is_held => &mut self.held,
            NOT_WAITING => &mut self.not_waiting,
            TAKEN => &mut self.taken,
            LIMITED => &mut self.limited,
            PARTLY_SERVED => &mut self.partly,
            CLAIMED if entry.matches_none => {
                self.full = self.full.saturating_add(entry.subjects);
                &mut self.nothing
            }
            CLAIMED => &mut self.in_use,
            _ => &mut self.nothing,
        };
        *kind = kind.saturating_add(entry.subjects);
        self.all = self.all.saturating_add(entry.subjects);
    }

    /// Says how many subjects there are, how many of them match, and how many do not wait. `served` is the number of
    /// further subjects that get a partner; `None` unless the run gives partners away.
    pub fn sentence(&self, noun: &str, served: Option<usize>) -> String {
        let (article, partner) = if noun == "job" { ("a", "slot") } else { ("an", "offer") };
        let mut waiting = self.all.saturating_sub(self.held).saturating_sub(self.not_waiting);
        // Where partners are given away, those that match have got one.
        let all = self.all.saturating_add(served.unwrap_or_default());
        let mut matching = self.matching;
        let served = served.map(|served| {
            waiting = waiting.saturating_sub(matching);
            served.saturating_add(std::mem::take(&mut matching))
        });
        let others =
            [verb_phrase(self.held, ["is", "are"], "held"), verb_phrase(self.not_waiting, ["does", "do"], "not wait")];
        let others: Vec<String> = others.into_iter().flatten().collect();
        let (main, others) = match (waiting, served) {
            // Those with ports have reports of their own.
            (0, None) if others.is_empty() => (format!("no {noun} without ports"), others),
            (0, None) => (format!("{}: none waits", counted(self.all, noun)), others),
            (0, Some(0)) => (format!("no selected {noun} waits"), others),
            (0, Some(1)) => (format!("the {noun} gets {article} {partner}"), others),
            (0, Some(served)) => (format!("all {} get {article} {partner}", counted(served, noun)), others),
            (_, Some(served)) => {
                let verb = if waiting == 1 { "gets" } else { "get" };
                let too_few = if self.partly > 0 { " or too few" } else { "" };
                let total = counted(all, noun);
                let main = format!("{} of {total} {verb} no {partner}{too_few}", with_commas(waiting));
                let gets = verb_phrase(served, ["gets", "get"], "one").filter(|_| !others.is_empty());
                (
                    format!("{main}: {}", self.matching_phrase([waiting, matching], partner)),
                    gets.into_iter().chain(others).collect(),
                )
            }
            (_, None) => {
                (format!("{}: {}", counted(self.all, noun), self.matching_phrase([waiting, matching], partner)), others)
            }
        };
        if others.is_empty() { main } else { format!("{main}; {}", others.join(", ")) }
    }

    /// Says what the subjects that wait match, of which so many match.
    fn matching_phrase(&self, [waiting, matching]: [usize; 2], partner: &str) -> String {
        let match_verb = ["matches", "match"];
        match waiting {
            1 if matching == 1 => return "it matches".to_owned(),
            all if matching == all => return "all match".to_owned(),
            all if self.nothing == all && self.full == 0 => return "none matches".to_owned(),
            all if self.in_use == all => return format!("none matches a free {partner}"),
            _ => {}
        }
        let nothing = verb_phrase(self.nothing, match_verb, "nothing").map(|phrase| match self.full {
            0 => phrase,
            full => format!("{phrase} ({} of them only until jobs end)", with_commas(full)),
        });
        let phrases = [
            verb_phrase(matching, match_verb, "").map(|phrase| phrase.trim_end().to_owned()),
            nothing,
            verb_phrase(self.in_use, match_verb, "only slots in use"),
            verb_phrase(self.taken, match_verb, "only what others take"),
            verb_phrase(self.limited, ["is", "are"], "kept back by a limit or a quota"),
            verb_phrase(self.partly, ["gets", "get"], "too few"),
        ];
        phrases.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Adds the numbers to the totals of a JSON document.
    pub fn write_into(&self, totals: &mut Map<String, Json>) {
        for (name, number) in [
            ("match_nothing", self.nothing),
            ("match_in_use", self.in_use),
            ("match_taken", self.taken),
            ("limited", self.limited),
            ("partly_served", self.partly),
            ("held", self.held),
            ("not_waiting", self.not_waiting),
        ] {
            totals.insert(name.to_owned(), number.into());
        }
    }
}

/// Says what a number of subjects do: `2 match nothing`; `None` if there are none.
fn verb_phrase(number: usize, [singular, plural]: [&str; 2], object: &str) -> Option<String> {
    let verb = if number == 1 { singular } else { plural };
    (number > 0).then(|| format!("{} {verb} {object}", with_commas(number)))
}

#[cfg(test)]
mod tests {
    use super::QueueCounts;

    #[test]
    fn the_numbers_of_the_heading_add_up() {
        let none = QueueCounts::default;
        for (counts, served, expected) in [
            (none(), None, "no job without ports"),
            (none(), Some(0), "no selected job waits"),
            (none(), Some(1), "the job gets a slot"),
            (none(), Some(1200), "all 1,200 jobs get a slot"),
            (QueueCounts { all: 3, matching: 3, ..none() }, None, "3 jobs: all match"),
            (QueueCounts { all: 1, matching: 1, ..none() }, None, "1 job: it matches"),
            (QueueCounts { all: 3, nothing: 3, ..none() }, None, "3 jobs: none matches"),
            (QueueCounts { all: 3, in_use: 3, ..none() }, None, "3 jobs: none matches a free slot"),
            (
                QueueCounts { all: 5, matching: 1, nothing: 2, in_use: 2, ..none() },
                None,
                "5 jobs: 1 matches, 2 match nothing, 2 match only slots in use",
            ),
            (
                QueueCounts { all: 9, nothing: 5, full: 2, held: 3, not_waiting: 1, ..none() },
                None,
                "9 jobs: 5 match nothing (2 of them only until jobs end); 3 are held, 1 does not wait",
            ),
            (
                QueueCounts { all: 9, nothing: 4, taken: 1, held: 3, not_waiting: 1, ..none() },
                Some(6),
                "5 of 15 jobs get no slot: 4 match nothing, 1 matches only what others take; 6 get one, 3 are held, 1 does \
                 not wait",
            ),
            (
                QueueCounts { all: 4, limited: 1, partly: 3, ..none() },
                Some(1),
                "4 of 5 jobs get no slot or too few: 1 is kept back by a limit or a quota, 3 get too few",
            ),
            (
                QueueCounts { all: 4, held: 3, not_waiting: 1, ..none() },
                None,
                "4 jobs: none waits; 3 are held, 1 does not wait",
            ),
            (QueueCounts { all: 1, held: 1, ..none() }, Some(0), "no selected job waits; 1 is held"),
            (QueueCounts { all: 1, not_waiting: 1, ..none() }, Some(2), "all 2 jobs get a slot; 1 does not wait"),
        ] {
            assert_eq!(counts.sentence("job", served), expected);
        }
    }
}
