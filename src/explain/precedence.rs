//! Why the requests that hold offers were served before another one.

use crate::matching::negotiate::priority_text;
use crate::text::with_commas;

/// How the requests that hold offers stand to a request that got none, as the shares of submitters decide.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Precedence {
    /// Priority of the submitter of the request; larger is worse.
    pub priority: f64,
    /// Number of holders of the same submitter, which stand earlier in its queue.
    pub own_queue: usize,
    /// Number of holders whose submitters have a better priority.
    pub better: usize,
    /// The best priority among these submitters.
    pub best: f64,
    /// Number of holders of other submitters with the same priority.
    pub equal: usize,
    /// Number of holders whose submitters have a worse priority, but a share of their own.
    pub worse: usize,
}

impl Precedence {
    /// Adds a holder. `is_own` tells whether it has the submitter of the request.
    pub fn add(&mut self, is_own: bool, priority: f64) {
        match priority.total_cmp(&self.priority) {
            _ if is_own => self.own_queue += 1,
            std::cmp::Ordering::Less => {
                self.best = if self.better == 0 { priority } else { self.best.min(priority) };
                self.better += 1;
            }
            std::cmp::Ordering::Equal => self.equal += 1,
            std::cmp::Ordering::Greater => self.worse += 1,
        }
    }

    /// Says why the holders were served first: ` (better priority: 500 before 2,000)`. Empty if there are no shares. `own`
    /// is `its own` or `their own`.
    #[must_use]
    pub fn phrase(&self, own: &str) -> String {
        let kinds = self.kinds(own);
        match kinds.as_slice() {
            [] => String::new(),
            [(_, kind)] if self.better > 0 => {
                format!(" ({kind}: {} before {})", priority_text(self.best), priority_text(self.priority))
            }
            [(_, kind)] => format!(" ({kind})"),
            kinds => {
                let counts: Vec<String> =
                    kinds.iter().map(|(count, kind)| format!("{} {kind}", with_commas(*count))).collect();
                format!(" ({})", counts.join(", "))
            }
        }
    }

    /// The ways in which holders precede the request, and how many do.
    fn kinds(&self, own: &str) -> Vec<(usize, String)> {
        let kinds = [
            (self.better, "better priority".to_owned()),
            (self.own_queue, format!("earlier in {own} queue")),
            (self.equal, "same priority".to_owned()),
            (self.worse, "a share of another submitter".to_owned()),
        ];
        kinds.into_iter().filter(|(count, _)| *count > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Precedence;

    /// The request has priority 2000. Negative numbers stand for holders of the same submitter.
    #[test]
    fn who_is_served_first() {
        for (holders, expected) in [
            (&[][..], ""),
            (&[500.0], " (better priority: 500 before 2,000)"),
            (&[-1.0, -1.0], " (earlier in its own queue)"),
            (&[2000.0], " (same priority)"),
            (&[9000.0], " (a share of another submitter)"),
            (&[700.0, 500.5, -1.0], " (2 better priority, 1 earlier in its own queue)"),
        ] {
            let mut precedence = Precedence { priority: 2000.0, ..Precedence::default() };
            for holder in holders {
                precedence.add(*holder < 0.0, *holder);
            }
            assert_eq!(precedence.phrase("its own"), expected);
        }
    }
}
