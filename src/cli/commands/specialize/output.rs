//! The output: ads, expressions, or a row for each verdict.

use std::io::Write;

use classad::ad::time::{iso_moment, local_moment};
use classad::constraint::MAX_SPAN_SECONDS;
use classad::eval::ConstraintVerdict;
use classad::format::FileFormat;

use crate::cli::io::input::report_error;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::outcome::Failure;
use crate::cli::render::output::{BufferedStdout, DocumentWriter, OutputForm, out};
use crate::cli::render::rows::{TableCell, TableWriter};
use crate::cli::session::Session;

use super::task::{Specialized, VerdictTimeline};
use super::{Specialize, SpecializeScope};

/// Writes what specialization leaves of the ads.
pub(super) struct SpecializeOutput<'c> {
    command: &'c Specialize,
    /// `None` if the output is ads or expressions.
    pub(super) rows: Option<TableWriter>,
    pub(super) documents: DocumentWriter,
    pub(super) out: BufferedStdout,
    /// Whether some constraint can be true, for `--verdict`.
    pub(super) any_possible: bool,
    /// Whether times are written for programs.
    is_for_programs: bool,
    /// Seconds between two samples, if bounds are seen in samples.
    pub(super) sampling: Option<i64>,
    /// The second up to which the search looked, if this is not all of the time.
    pub(super) end: Option<i64>,
}

impl<'c> SpecializeOutput<'c> {
    /// Begins the output of a command that specializes this scope.
    pub(super) fn new(command: &'c Specialize, scope: &SpecializeScope) -> Result<Self, Failure> {
        let has_ports = matches!(scope, SpecializeScope::Ports(_));
        let is_for_programs = matches!(command.output.form, Some(OutputForm::Json | OutputForm::Jsonl));
        let mut header = vec!["ad"];
        header.extend(has_ports.then_some("port"));
        header.extend::<&[&str]>(match command.over {
            Some(_) if is_for_programs => &["from", "from_time", "to", "to_time", "verdict", "rest"],
            Some(_) => &["from", "to", "verdict", "rest"],
            None if command.verdict => &["verdict", "unknowns"],
            None => &["value"],
        });
        let is_whole = matches!(scope, SpecializeScope::WholeAd);
        let has_rows = !is_whole && (command.verdict || command.output.form.is_some());
        let rows = has_rows.then(|| {
            let header = header.into_iter().map(str::to_owned).collect();
            TableWriter::new(header, command.output.form, !command.output.no_header)
        });
        Ok(SpecializeOutput {
            command,
            rows: rows.transpose()?,
            documents: DocumentWriter::new(command.output.form),
            out: out(),
            any_possible: false,
            is_for_programs,
            sampling: None,
            end: None,
        })
    }

    /// Tells the writer of ads in which form the next source is, because the ads are written in this form by default.
    pub(super) fn begin_source(&mut self, form: FileFormat) -> Result<(), Failure> {
        self.documents.begin_file(&mut self.out, form)
    }

    /// Adds what is left of an ad.
    pub(super) fn add(&mut self, session: &mut Session, id: &str, specialized: Specialized) -> Result<(), Failure> {
        match specialized {
            Specialized::Ad(ad) => {
                let ad = NamedAd::unnamed(ad).with_name(id.to_owned());
                return self.documents.write(session, &mut self.out, &ad);
            }
            Specialized::Verdict((verdict, unknowns)) => {
                self.any_possible |= verdict != ConstraintVerdict::Never;
                self.add_row(vec![id.into(), verdict.as_str().into(), unknowns.into()])?;
            }
            Specialized::PortVerdicts(ports) => {
                for (label, (verdict, unknowns)) in ports {
                    self.any_possible |= verdict != ConstraintVerdict::Never;
                    self.add_row(vec![id.into(), label.into(), verdict.as_str().into(), unknowns.into()])?;
                }
            }
            Specialized::Timeline(timeline) => self.add_timeline(&[id], timeline)?,
            Specialized::PortTimelines(ports) => {
                for (label, timeline) in ports {
                    self.add_timeline(&[id, &label], timeline)?;
                }
            }
            Specialized::BadPorts(fault) => report_error(session, &format!("{id}: {fault}"))?,
            Specialized::Residue(text) if self.rows.is_some() => {
                self.add_row(vec![id.into(), String::from_utf8_lossy(&text).into_owned().into()])?;
            }
            Specialized::Residue(text) if !session.options.quiet => {
                if self.command.each {
                    write!(self.out, "{id}\t")?;
                }
                self.out.write_all(&text)?;
                writeln!(self.out)?;
            }
            Specialized::Residue(_) => {}
        }
        Ok(())
    }

    /// Adds a row for each interval.
    fn add_timeline(&mut self, ids: &[&str], timeline: VerdictTimeline) -> Result<(), Failure> {
        self.sampling = self.sampling.max(timeline.sampling);
        let (start, over) = (timeline.intervals.first().map(|first| first.seconds.start), self.command.over);
        let whole = start.zip(over).map(|(start, over)| start.saturating_add(over.min(MAX_SPAN_SECONDS)));
        self.end = self.end.or(timeline.end().filter(|end| whole.is_some_and(|whole| *end < whole)));
        for interval in timeline.intervals {
            let (verdict, rest) = interval.value;
            self.any_possible |= verdict != ConstraintVerdict::Never;
            let mut row: Vec<TableCell> = ids.iter().map(|id| (*id).into()).collect();
            for seconds in [interval.seconds.start, interval.seconds.end] {
                if self.is_for_programs {
                    row.extend([TableCell::from(i128::from(seconds)), iso_moment(seconds).into()]);
                } else {
                    row.push(local_moment(seconds).into());
                }
            }
            row.extend([TableCell::from(verdict.as_str()), rest.into()]);
            self.add_row(row)?;
        }
        Ok(())
    }

    fn add_row(&mut self, row: Vec<TableCell>) -> Result<(), Failure> {
        self.rows.as_mut().map_or(Ok(()), |rows| rows.write(&mut self.out, row))
    }
}
