//! Writing the partial result of a share of the work.

use serde::Serialize;

use super::writer::{PartialLines, describe, describe_setting, header, map_paths};
use super::{PartialEvent, PartialFile, PartialProblem, PlacedProblem};
use crate::cli::io::share::WorkShare;
use crate::cli::io::source::AdSource;
use crate::cli::kept_messages::{KeptMessage, MessageKind};
use crate::cli::outcome::{Failure, refuse, refuse_contradictions};
use crate::cli::session::{ProblemInText, Session};

/// The share of a run, and its files.
pub struct ShareInput {
    pub share: WorkShare,
    files: Vec<PartialFile>,
}

impl ShareInput {
    /// Describes the files of a run that does a share of the work. `settings` are the files that options name.
    ///
    /// # Errors
    ///
    /// An option contradicts shares, or a source or a setting is not a file.
    pub fn new<'p>(
        session: &'p Session,
        share: WorkShare,
        sources: &[Vec<AdSource>; 2],
        settings: impl IntoIterator<Item = &'p String>,
    ) -> Result<Self, Failure> {
        refuse_contradictions(&[
            (session.options.quiet, "--quiet and --partial cannot be combined: give --quiet to `merge`"),
            (session.options.seed.is_some(), "--share and --seed cannot be combined"),
            (Session::is_terminal(), "a partial result cannot go to a terminal: write it to a file"),
        ])?;
        let mut files = sources.iter().flatten().map(describe).collect::<Result<Vec<_>, _>>()?;
        for path in settings.into_iter().map(String::as_str).chain(map_paths(session)) {
            files.push(describe_setting(path)?);
        }
        Ok(ShareInput { share, files })
    }
}

/// Writes the partial result of a share to standard output. The session keeps its messages, which become a part of the
/// result.
pub struct ShareWriter(PartialLines);

impl ShareWriter {
    /// Begins the partial result, after everything that each share does. `common` is what all shares have in common.
    ///
    /// # Errors
    ///
    /// Something other than an ad was bad, each share has another time, or the output cannot be written.
    pub fn begin(session: &mut Session, input: ShareInput, common: &impl Serialize) -> Result<Self, Failure> {
        let messages = session.take_kept_messages();
        if messages.iter().any(|message| matches!(message, KeptMessage::Text(MessageKind::Error, _))) {
            session.print_messages(messages);
            return Err(Failure::Refused(None));
        }
        if !session.has_given_time() {
            return refuse("give all shares the same --now TIME");
        }
        let header = header(session, &[], Some(input.share), input.files)?;
        let mut writer = ShareWriter(PartialLines::new());
        writer.0.write_line(&header)?;
        writer.write_messages(messages)?;
        let common = serde_json::to_value(common).map_err(std::io::Error::from)?;
        writer.0.write(&PartialEvent::Common(common))?;
        Ok(writer)
    }

    /// Writes what the command found, after the messages that the session has kept since.
    pub fn add_finding(&mut self, session: &Session, finding: &impl Serialize) -> Result<(), Failure> {
        self.write_messages(session.take_kept_messages())?;
        self.0.write_line(&PartialEvent::Finding(finding))
    }

    /// Ends the partial result. The run exits with 0, as what it has reported is reported by the merge.
    pub fn finish(mut self, session: &mut Session, notes: &impl Serialize) -> Result<(), Failure> {
        self.write_messages(session.take_kept_messages())?;
        session.reset_status();
        self.0.finish(notes)
    }

    fn write_messages(&mut self, messages: Vec<KeptMessage<ProblemInText>>) -> Result<(), Failure> {
        for message in messages {
            let event = match message {
                KeptMessage::Problem((text, problem)) => PartialEvent::PlacedProblem(PlacedProblem {
                    file: text.name.to_string(),
                    form: super::form_name(text.block.form),
                    problem: PartialProblem::new(&text, &problem),
                }),
                KeptMessage::Counted([errors, warnings]) => PartialEvent::MoreProblems(errors, warnings),
                KeptMessage::Text(kind, text) => PartialEvent::Message(kind, text),
            };
            self.0.write(&event)?;
        }
        Ok(())
    }
}
