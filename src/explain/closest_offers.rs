//! Finds the offers that come closest to a match.

use super::clauses::Clause;
use super::conflicts::positions;
use super::distance::distance;
use super::evaluation::{Outcome, Survey};
use super::explainer::Situation;
use super::refusals::{asked_of_request, lacking};
use super::report::{Demand, Near};

/// Maximum number of offers returned.
const MOST: usize = 3;

/// Maximum number of rows whose own constraints are evaluated, too.
const CLOSELY: usize = 100;

/// Returns the offers with the fewest unmet clauses on both sides. Ties are broken by the distance of their values from
/// the bounds, then by position.
pub fn nearest(survey: &mut Survey, situation: &Situation) -> Vec<Near> {
    let mut measured: Vec<(u32, f64, usize)> = Vec::with_capacity(survey.rows());
    let fewest = situation.failing.iter().map(|failing| failing.count_ones()).min().unwrap_or_default();
    for row in 0..survey.rows() {
        let unmet = situation.failing[row].count_ones();
        if unmet <= fewest + 1 {
            measured.push((unmet, how_far(survey, situation, row), row));
        }
    }
    let order =
        |a: &(u32, f64, usize), b: &(u32, f64, usize)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2));
    measured.sort_by(order);
    measured.truncate(CLOSELY);
    let mut found: Vec<((u32, f64, usize), Near)> = Vec::new();
    for (unmet, far, row) in measured {
        let dialect = survey.context.dialect;
        let demanding = survey.demanding(&situation.asking, row);
        let no_constraint = demanding.is_empty().then(|| Demand { clause: String::new(), lacking: Vec::new() });
        let refuses = demanding.into_iter().filter(|(_, is)| *is != Outcome::True).map(|(clause, _)| {
            let attributes = asked_of_request(&clause, survey, row);
            Demand { clause: clause.text(dialect), lacking: lacking(&attributes, &situation.asking.ad) }
        });
        let refuses: Vec<Demand> = refuses.chain(no_constraint).collect();
        let fails = positions(situation.failing[row]).into_iter().map(|place| {
            let clause = &situation.clauses[place].examined.clause;
            (place, survey.answers(&situation.asking, clause).at(row).unwrap_or(Outcome::Error))
        });
        let fails = fails.collect();
        let refusing = u32::try_from(refuses.len()).unwrap_or(u32::MAX);
        found.push(((unmet + refusing, far, row), Near { offer: survey.first[row], fails, refuses }));
    }
    found.sort_by(|(a, _), (b, _)| order(a, b));
    found.into_iter().take(MOST).map(|(_, near)| near).collect()
}

/// The sum of the distances of a row's values from the bounds of the clauses that it does not meet. A clause without a
/// constant bound counts 1.
fn how_far(survey: &mut Survey, situation: &Situation, row: usize) -> f64 {
    let mut far = 0.0;
    for place in positions(situation.failing[row]) {
        let asked = situation.clauses[place].examined.asked.as_ref();
        far += asked.map_or(1.0, |asked| {
            let answers = survey.answers(&situation.asking, &Clause::of(asked.what.clone()));
            distance(&answers.values[answers.group(row)], &asked.bound)
        });
    }
    far
}
