//! Messages about budgets that an evaluation, several of them or the whole run exceeded.

use classad::eval::{Abort, RunBudgets};

/// Says that the evaluation of `what` exceeded its budget, and which option raises the limit.
pub fn abort_text(abort: &Abort, what: &str) -> String {
    let hint = abort.setting().map_or_else(String::new, |name| format!("; --{name} raises the limit"));
    format!("{what}: {abort}{hint}")
}

/// Says how many evaluations and searches exceeded their budgets.
pub fn budget_failures_text(count: u64) -> String {
    let what = if count == 1 { "evaluation or search was" } else { "evaluations or searches were" };
    format!("{count} {what} stopped at a limit; see `classad help budgets`")
}

/// Returns a message for each budget of the run that is spent.
pub fn spent_budget_texts(run: &RunBudgets) -> Vec<String> {
    let mut texts = Vec::new();
    if run.steps.is_spent() {
        let abort = Abort::TooManyRunSteps(run.steps.granted());
        texts.push(abort_text(&abort, "some results are missing or incomplete"));
    }
    if run.comparisons.is_spent() {
        let most = run.comparisons.granted();
        texts.push(format!("some results are missing: comparing ads took more than {most} steps; --max-comparison-steps raises the limit"));
    }
    if run.held_bytes.is_spent() {
        let most = run.held_bytes.granted();
        texts.push(format!(
            "some results are missing: lists of candidates and rows about pairs of ads need more than {most} bytes; \
            --max-held-bytes raises the limit"
        ));
    }
    texts
}

#[cfg(test)]
mod tests {
    use classad::eval::Abort;

    use super::{abort_text, budget_failures_text};

    #[test]
    fn limits_are_told_with_what_raises_them() {
        assert!(abort_text(&Abort::TooManyRunSteps(7), "x").starts_with("x: "));
        assert!(abort_text(&Abort::TooManyRunSteps(7), "x").ends_with("; --max-run-steps raises the limit"));
        let end = "stopped at a limit; see `classad help budgets`";
        assert_eq!(budget_failures_text(1), format!("1 evaluation or search was {end}"));
        assert_eq!(budget_failures_text(2), format!("2 evaluations or searches were {end}"));
    }
}
