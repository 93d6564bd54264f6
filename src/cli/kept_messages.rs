//! Messages that a run keeps instead of printing them, because its partial result has them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

/// A message that is kept instead of printed. `P` is a problem and the text in which it is.
pub enum KeptMessage<P> {
    Problem(P),
    /// Numbers of errors and of warnings that are only counted.
    Counted([usize; 2]),
    Text(MessageKind, String),
}

/// A kind of message about something other than a place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageKind {
    Error,
    /// An error: a budget was exceeded.
    Budget,
    Warning,
    Note,
}

impl MessageKind {
    /// The word before the message.
    pub fn word(self) -> &'static str {
        match self {
            MessageKind::Error | MessageKind::Budget => "error",
            MessageKind::Warning => "warning",
            MessageKind::Note => "note",
        }
    }
}

/// The messages that a run has kept, in their order. Threads can share them.
pub struct KeptMessages<P>(Mutex<Vec<KeptMessage<P>>>);

impl<P> Default for KeptMessages<P> {
    fn default() -> Self {
        KeptMessages(Mutex::default())
    }
}

impl<P> KeptMessages<P> {
    fn lock(&self) -> MutexGuard<'_, Vec<KeptMessage<P>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a message. Adjacent numbers of messages are added up.
    pub fn push(&self, message: KeptMessage<P>) {
        let mut kept = self.lock();
        match (kept.last_mut(), &message) {
            (Some(KeptMessage::Counted(counts)), KeptMessage::Counted([errors, warnings])) => {
                *counts = [counts[0] + errors, counts[1] + warnings];
            }
            _ => kept.push(message),
        }
    }

    /// Returns the messages that were added since the last call.
    pub fn take(&self) -> Vec<KeptMessage<P>> {
        std::mem::take(&mut self.lock())
    }
}

#[cfg(test)]
mod tests {
    use super::{KeptMessage, KeptMessages, MessageKind};

    #[test]
    fn adjacent_numbers_are_added_up() {
        let kept = KeptMessages::<&str>::default();
        for message in [
            KeptMessage::Counted([1, 0]),
            KeptMessage::Counted([2, 5]),
            KeptMessage::Problem("p"),
            KeptMessage::Counted([0, 1]),
            KeptMessage::Text(MessageKind::Note, "n".to_owned()),
        ] {
            kept.push(message);
        }
        let text = |message: KeptMessage<&str>| match message {
            KeptMessage::Problem(problem) => problem.to_owned(),
            KeptMessage::Counted([errors, warnings]) => format!("{errors} {warnings}"),
            KeptMessage::Text(kind, text) => format!("{}: {text}", kind.word()),
        };
        assert_eq!(kept.take().into_iter().map(text).collect::<Vec<_>>(), ["3 5", "p", "0 1", "note: n"]);
        assert!(kept.take().is_empty());
        let words = [MessageKind::Error, MessageKind::Budget, MessageKind::Warning].map(MessageKind::word);
        assert_eq!(words, ["error", "error", "warning"]);
    }
}
