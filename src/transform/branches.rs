//! The open `if`s of a rule while its statements are executed.

use super::condition::IfCondition;
use super::rule::RuleAction;

/// The open `if`s around a statement, the innermost last.
#[derive(Default)]
pub(crate) struct OpenBranches(Vec<IfState>);

/// State of an open `if`.
#[derive(Clone, Copy, PartialEq)]
enum IfState {
    /// No branch has been executed so far. The next branch whose condition holds will be executed.
    Waiting,
    /// The lines of the current branch are executed.
    Active,
    /// No further branch will be executed. Either a branch was executed already, or the whole `if` is in lines that are
    /// not executed.
    Done,
}

impl OpenBranches {
    /// Takes a statement into account. Returns whether it is to be executed; `if`, `elif`, `else` and `endif` are not.
    /// `holds` is asked only for the conditions that decide.
    ///
    /// # Errors
    ///
    /// The error of `holds`.
    pub fn enter<E>(
        &mut self,
        action: &RuleAction,
        holds: impl FnOnce(&IfCondition) -> Result<bool, E>,
    ) -> Result<bool, E> {
        let is_active = self.0.last().is_none_or(|state| *state == IfState::Active);
        match (action, self.0.last_mut()) {
            (RuleAction::If(condition), _) => self.0.push(match is_active {
                true if holds(condition)? => IfState::Active,
                true => IfState::Waiting,
                false => IfState::Done,
            }),
            (RuleAction::ElseIf(condition), Some(branch @ IfState::Waiting)) => {
                *branch = if holds(condition)? { IfState::Active } else { IfState::Waiting };
            }
            (RuleAction::Else, Some(branch @ IfState::Waiting)) => *branch = IfState::Active,
            (RuleAction::ElseIf(_) | RuleAction::Else, Some(branch)) => *branch = IfState::Done,
            (RuleAction::EndIf, _) => {
                self.0.pop();
            }
            _ => return Ok(is_active),
        }
        Ok(false)
    }
}
