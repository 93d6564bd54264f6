//! What keeps a slot from a request whose decisive clause is corrected, where no change makes the request match.

use crate::ad::{Expression, Truth};

use super::changes::RequestEdit;
use super::clauses::{ExplainedClause, text};
use super::closest_offers::closest_offer;
use super::corrected_slot::CorrectedSlot;
use super::evaluation::OfferTable;
use super::failure_reason::FailureReason;
use super::report::RequestVerdict;
use super::request_analysis::RequestAnalysis;

/// Finds the slot that comes closest to a match once the decisive clause is corrected. `None` if no correction is known that a slot meets.
pub fn find_corrected_slot(
    verdict: &RequestVerdict,
    analysis: &RequestAnalysis,
    table: &OfferTable,
) -> Option<CorrectedSlot> {
    let RequestVerdict::Unmet { clause, fault } = verdict else { return None };
    let written = &analysis.clauses[*clause].analysis.clause;
    let rewrite = |to: &Expression| {
        let edit = RequestEdit::Rewrite { clause: written.expression.clone(), to: to.clone() };
        (edit, ExplainedClause { expression: to.clone(), ..written.clone() }, to.clone())
    };
    let set =
        |name, from, to: &Expression| (RequestEdit::Set { name, from, to: to.clone() }, written.clone(), to.clone());
    let (edit, corrected, to) = match fault {
        FailureReason::Slip { corrected, offers, .. } if *offers > 0 => rewrite(corrected),
        FailureReason::Misplaced(found) => rewrite(&found.renamed),
        FailureReason::Setting { name, to, .. } => set(name.clone(), analysis.request.ad.get(name).cloned(), to),
        FailureReason::Nested(nested) => {
            let (name, from) = nested.holder.clone();
            set(name, Some(from), nested.relaxed.as_ref()?)
        }
        _ => return None,
    };
    let request = edit.apply(&analysis.request.ad)?;
    let analysis = RequestAnalysis::new(&request, table);
    let results = table.clause_results(&analysis.request, &corrected);
    let rows = (0..table.row_count()).filter(|row| results.outcome(*row) == Truth::True);
    let row = rows.min_by_key(|row| analysis.failures.mask_of(*row).count_ones())?;
    let found = closest_offer(table, &analysis, row);
    let unmet: Vec<String> =
        found.failed_clauses.iter().map(|(place, _)| analysis.clauses[*place].text.clone()).collect();
    let correction = text(&to, table.context.dialect);
    (!unmet.is_empty() || !found.unmet_demands.is_empty()).then_some(CorrectedSlot {
        correction,
        offer: found.offer,
        unmet,
        demands: found.unmet_demands,
    })
}
