//! `classad specialize`: partial evaluation of ads that are known in part (thesis 2.6.1).

use std::borrow::Cow;
use std::io::Write;
use std::sync::Arc;

use clap::Args;
use classad::ad::time::{iso_moment, local_moment};
use classad::ad::{Ad, Expression, Name, Participant, ScopeFrame};
use classad::constraint::{ClockBreaks, MAX_SPAN_SECONDS, Timeline, with_moving_clock};
use classad::eval::{
    ConstraintVerdict, Context, Environment, FreeNames, SpecializeOptions, SpecializedExpression, specialize,
    specialize_ad, specialize_attribute, unknowns,
};
use classad::format::{AdEntry, FileFormat};
use classad::matching::gang::OpenPorts;
use classad::protocol::{PortFault, Protocol, check_port_list, display_name, has_ports};
use classad::syntax::{Style, print};

use crate::cli::args::ad_files::AdFilesArgs;
use crate::cli::args::global;
use crate::cli::args::output::TableOutputArgs;
use crate::cli::args::partial_scope::{PartialKnowledge, dependency_names};
use crate::cli::io::ad_map::{AdTask, map_ads};
use crate::cli::io::argument_text;
use crate::cli::io::input::report_error;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::io::unseen_names::{ReportUnseen, UnseenNames};
use crate::cli::io::{cases, input};
use crate::cli::outcome::{Failure, Status};
use crate::cli::render::output::{BufferedStdout, DocumentWriter, OutputForm, out};
use crate::cli::render::rows::{TableCell, TableWriter};
use crate::cli::session::Session;

const EXAMPLES: &str = "\
Examples:
  classad specialize --expr 'true && other.x > 10'
  classad specialize --loose --expr '3 + a + 7'
  classad specialize --attr Constraint samples/papers/thesis-figure-6-job.ad
  classad specialize --inline --verdict --attr Requirements samples/pool/machines.long
  classad specialize --verdict samples/papers/thesis-figure-30-job.ad
  classad specialize --verdict --over 24h samples/papers/thesis-figure-4-machine.ad

Without --closed and --loose, the result has the same value as the original, whatever attributes are added to the ads.
Without --target, the other ad can be any ad. The time is unknown unless --now sets it.

With --verdict, a contradiction such as `x > 5 && x < 3` counts as `depends` if x is unknown. The exit status is 1 if
every verdict is `never`.

With --expr or --attr, -o json prints an array of {ad, value}. With --verdict, it prints an array of {ad, verdict,
unknowns: [NAME, ...]}, without --expr and --attr also with port.

With --over, each line has the time from which and up to which the verdict holds, and what is left of the expression
then. JSON has seconds since 1970 (from, to) and ISO times (from_time, to_time).";

const FILES_HELP: &str = "Files of ads with the known attributes; without --expr and --attr, whole ads are specialized";

/// Evaluate expressions as far as the known attributes allow, and print the rest as expressions
#[derive(Args)]
#[command(after_help = EXAMPLES, mut_arg("files", |arg| arg.help(FILES_HELP)))]
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub struct Specialize {
    #[command(flatten)]
    input: AdFilesArgs,
    /// The expression to specialize
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true, conflicts_with = "attr")]
    expr: Option<String>,
    /// The attribute to specialize
    #[arg(long, value_name = "NAME")]
    attr: Option<String>,
    /// Take the known attributes from the first ad of this file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["files", "files_from"])]
    known: Option<String>,
    /// Set a known attribute in each ad
    #[arg(short = 'D', long = "define", value_name = "NAME=EXPR")]
    define: Vec<String>,
    /// Treat these attributes as unknown; target.NAME is an attribute of the ad in --target
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    unknown: Vec<String>,
    /// Use the first ad of this file as TARGET, the other ad of a match
    #[arg(long, value_name = "FILE")]
    target: Option<String>,
    /// Assume that the ads have no other attributes than those in the files
    #[arg(long)]
    closed: bool,
    /// Simplify more, as the thesis does: assume that no unknown value is an error, and reorder sums and products
    #[arg(long)]
    loose: bool,
    /// Also replace an attribute whose value depends on unknown attributes by the rest of its expression
    #[arg(long)]
    inline: bool,
    /// Print whether the expression is always true, never true, or depends on unknown attributes. Without --expr and
    /// --attr, judge the constraint of each port, or of an ad without ports
    #[arg(long)]
    verdict: bool,
    /// Judge each time from now (see --now) up to so much later, such as 24h or 7d. The intervals with the same verdict and
    /// rest are printed. The clock attributes of slots go with the clock
    #[arg(long, value_name = "DURATION", requires = "verdict", value_parser = global::duration)]
    over: Option<i64>,
    /// With --expr or --attr, print the name of each ad before its result
    #[arg(long)]
    each: bool,
    /// Specialize the expressions in FILE, and print a line of JSON for each. Each line of FILE looks like `{"id": 1,
    /// "expr": "A + TARGET.B", "ad": "[A = 1]"}`
    #[arg(long, value_name = "FILE")]
    cases: Option<String>,
    #[command(flatten)]
    output: TableOutputArgs,
}

/// The part of each ad to specialize.
enum SpecializeScope {
    Expression(Expression),
    Attribute(Name),
    /// The constraint of each port. An ad without a port list has one port, `other`.
    Ports(Protocol),
    WholeAd,
}

impl Specialize {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        if let Some(file) = &self.cases {
            return cases::run(session, file, cases::specialize);
        }
        let alone = self.input.is_empty() && (self.expr.is_some() || self.known.is_some() || !self.define.is_empty());
        let mut sources = if alone { Vec::new() } else { input::open_sources(session, &self.input.paths()?)? };
        let known = input::open_optional(session, self.known.as_ref())?;
        let target = input::open_optional(session, self.target.as_ref())?;
        input::decide_dialect_and_time(session, sources.iter().chain(&known).chain(&target));
        let form = known.as_ref().map_or(FileFormat::Bracketed, |known| known.form);
        let scope = self.scope(session)?;
        let mut definitions = Ad::default();
        argument_text::add_definitions(session, &mut definitions, &self.define)?;
        let task = SpecializeTask {
            command: self,
            partial_scope: PartialKnowledge { unknown: self.unknown.clone(), is_complete: self.closed },
            definitions,
            target: input::read_first_ad(session, target)?,
            context: Context {
                random: None,
                now: session.context().now.filter(|_| session.options.now.is_some() || self.over.is_some()),
                ..session.context()
            },
            unseen_names: UnseenNames::new(match &scope {
                SpecializeScope::Attribute(name) => Some(name.clone()),
                _ => None,
            }),
            scope,
        };
        let is_whole = matches!(task.scope, SpecializeScope::WholeAd);
        let mut output = self.begin_output(&task.scope)?;
        if self.over.is_some_and(|over| over > MAX_SPAN_SECONDS) {
            session.note(&format!("--over looks {} days ahead at most", MAX_SPAN_SECONDS / 86_400));
        }
        if alone {
            if is_whole {
                output.begin_source(form)?;
            }
            let known = input::read_first_ad(session, known)?;
            output.add(session, "", task.specialize(known))?;
        }
        let (needed, mut first_text) = (task.needed_names(), None);
        for source in &mut sources {
            if is_whole {
                output.begin_source(source.form)?;
            }
            map_ads(session, [source], needed.as_ref(), &task, |session, mut mapped| {
                first_text.get_or_insert_with(|| mapped.text.clone());
                let id = mapped.output.0.take().unwrap_or_else(|| mapped.location());
                output.add(session, &id, mapped.output.1)?;
                Ok(true)
            })?;
        }
        if let Some(first) = first_text {
            task.unseen_names.report(session, &first);
        }
        if let Some(seconds) = output.sampling {
            session.note(&format!("some bounds are seen in samples every {seconds} s"));
        }
        if let Some(end) = output.end {
            session
                .note(&format!("some expressions take too many steps: the search looked up to {}", local_moment(end)));
        }
        output.documents.finish(&mut output.out)?;
        if let Some(mut rows) = output.rows {
            rows.finish(&mut output.out)?;
        }
        Ok(Status::of(!self.verdict || output.any_possible))
    }

    /// Returns what of each ad is specialized.
    fn scope(&self, session: &mut Session) -> Result<SpecializeScope, Failure> {
        Ok(match (&self.expr, &self.attr) {
            (Some(text), _) => {
                SpecializeScope::Expression(argument_text::parse_argument_expression(session, "expression", text)?)
            }
            (None, Some(name)) => {
                SpecializeScope::Attribute(argument_text::parse_required_name(session, "--attr", name)?)
            }
            (None, None) if self.verdict => SpecializeScope::Ports(Protocol::new(session.dialect())),
            (None, None) => SpecializeScope::WholeAd,
        })
    }

    fn begin_output(&self, scope: &SpecializeScope) -> Result<SpecializeOutput<'_>, Failure> {
        let has_ports = matches!(scope, SpecializeScope::Ports(_));
        let is_for_programs = matches!(self.output.form, Some(OutputForm::Json | OutputForm::Jsonl));
        let mut header = vec!["ad"];
        header.extend(has_ports.then_some("port"));
        header.extend::<&[&str]>(match self.over {
            Some(_) if is_for_programs => &["from", "from_time", "to", "to_time", "verdict", "rest"],
            Some(_) => &["from", "to", "verdict", "rest"],
            None if self.verdict => &["verdict", "unknowns"],
            None => &["value"],
        });
        let is_whole = matches!(scope, SpecializeScope::WholeAd);
        let has_rows = !is_whole && (self.verdict || self.output.form.is_some());
        let rows = has_rows.then(|| {
            let header = header.into_iter().map(str::to_owned).collect();
            TableWriter::new(header, self.output.form, !self.output.no_header)
        });
        Ok(SpecializeOutput {
            command: self,
            rows: rows.transpose()?,
            documents: DocumentWriter::new(self.output.form),
            out: out(),
            any_possible: false,
            is_for_programs,
            sampling: None,
            end: None,
        })
    }
}

/// Specializes each ad, or the selected part of it.
struct SpecializeTask<'c> {
    command: &'c Specialize,
    scope: SpecializeScope,
    partial_scope: PartialKnowledge,
    /// The attributes of `--define`.
    definitions: Ad,
    target: Option<Ad>,
    context: Context,
    /// The attribute of `--attr`, with whether some ad has it.
    unseen_names: UnseenNames,
}

/// What specialization leaves of an ad.
enum Specialized {
    Ad(Ad),
    /// The residue of an expression, printed.
    Residue(Vec<u8>),
    /// The verdict on a constraint.
    Verdict(Verdict),
    /// The verdicts over time on a constraint.
    Timeline(VerdictTimeline),
    /// The label of each port, with the verdicts over time on its constraint.
    PortTimelines(Vec<(String, VerdictTimeline)>),
    /// The label of each port, with the verdict on its constraint.
    PortVerdicts(Vec<(String, Verdict)>),
    /// The ports of the ad cannot be used.
    BadPorts(PortFault),
}

/// A verdict on a constraint, with the unknown names on which it depends.
type Verdict = (ConstraintVerdict, Vec<String>);

/// The verdicts on a constraint over time, with what is left of it.
type VerdictTimeline = Timeline<(ConstraintVerdict, String)>;

impl SpecializeTask<'_> {
    /// Returns the names that are looked up in each ad. `None` if that may be any name.
    fn needed_names(&self) -> Option<FreeNames> {
        if self.target.is_some() {
            return None;
        }
        let mut needed = input::identity_names();
        match &self.scope {
            SpecializeScope::WholeAd | SpecializeScope::Ports(_) => return None,
            SpecializeScope::Attribute(name) => drop(needed.names.insert(name.clone())),
            SpecializeScope::Expression(expression) => needed.add(expression, self.context.dialect),
        }
        for definition in self.definitions.expressions() {
            needed.add(definition, self.context.dialect);
        }
        Some(needed)
    }

    /// Specializes an ad. `None` if no ad is known.
    fn specialize(&self, ad: Option<Ad>) -> Specialized {
        let is_known = ad.is_some() || !self.definitions.is_empty();
        let mut ad = argument_text::with_definitions(ad.unwrap_or_default(), &self.definitions);
        if self.command.over.is_some() {
            ad = with_moving_clock(&ad, &self.context).unwrap_or(ad);
        }
        if let SpecializeScope::Ports(protocol) = &self.scope {
            if let Err(fault) = check_port_list(&ad, self.context.dialect) {
                return Specialized::BadPorts(fault);
            } else if has_ports(&ad) {
                return self.ports(&ad, protocol).unwrap_or_else(Specialized::BadPorts);
            }
        }
        let known = [Some(&ad), self.target.as_ref()].map(|side| side.map(|side| self.shown(side)));
        let [own, target] = &known;
        let (environment, frame) =
            self.partial_scope.environment(own.as_deref().filter(|_| is_known), target.as_deref());
        let options = SpecializeOptions { loose: self.command.loose, inline: self.command.inline };
        let context = &self.context;
        if self.command.over.is_some()
            && let Some(timelines) = self.timelines(&frame, &environment)
        {
            return timelines;
        }
        let residue = match &self.scope {
            SpecializeScope::WholeAd => {
                return Specialized::Ad(specialize_ad(&frame, &environment, context, options));
            }
            SpecializeScope::Expression(expression) => specialize(expression, &frame, &environment, context, options),
            SpecializeScope::Attribute(name) => specialize_attribute(name, &frame, &environment, context, options),
            SpecializeScope::Ports(protocol) => {
                let name = protocol.constraint_name(&frame.ad).unwrap_or(&protocol.constraint_names()[0]);
                let residue = specialize_attribute(name, &frame, &environment, context, options);
                let label = Name::new("other").to_string();
                return Specialized::PortVerdicts(vec![(label, self.verdict(&residue, &frame, &environment))]);
            }
        };
        if !self.command.verdict {
            return Specialized::Residue(print(&residue.expression, Style::New));
        }
        Specialized::Verdict(self.verdict(&residue, &frame, &environment))
    }

    /// Returns an ad without the values that are not printed, so that their names stay. All values count if only a
    /// verdict is printed; a private attribute that the command line names counts, too.
    fn shown<'a>(&self, ad: &'a Ad) -> Cow<'a, Ad> {
        let is_named = match &self.scope {
            SpecializeScope::Attribute(name) => name.is_private(),
            SpecializeScope::Expression(expression) => {
                FreeNames::of(expression, self.context.dialect).names.iter().any(Name::is_private)
            }
            SpecializeScope::Ports(_) | SpecializeScope::WholeAd => false,
        };
        if self.command.verdict || is_named { Cow::Borrowed(ad) } else { ad.printed(self.context.dialect) }
    }

    /// Returns the verdict on a specialized constraint.
    fn verdict(&self, residue: &SpecializedExpression, frame: &Arc<ScopeFrame>, environment: &Environment) -> Verdict {
        let depends = residue.verdict == ConstraintVerdict::Depends;
        let unknowns = || unknowns(&residue.expression, frame, environment, &self.context);
        (residue.verdict, if depends { dependency_names(&unknowns()) } else { Vec::new() })
    }

    /// Returns the verdicts over time on the selected part of an ad without ports. `None` for a whole ad.
    fn timelines(&self, frame: &Arc<ScopeFrame>, environment: &Environment) -> Option<Specialized> {
        let attribute =
            |name: &Name| frame.ad.get(name).cloned().unwrap_or_else(|| Expression::attribute(name.clone()));
        let over = |expression: &Expression| self.timeline(expression, frame, environment);
        Some(match &self.scope {
            SpecializeScope::Expression(expression) => Specialized::Timeline(over(expression)),
            SpecializeScope::Attribute(name) => Specialized::Timeline(over(&attribute(name))),
            SpecializeScope::Ports(protocol) => {
                let name = protocol.constraint_name(&frame.ad).unwrap_or(&protocol.constraint_names()[0]);
                Specialized::PortTimelines(vec![(Name::new("other").to_string(), over(&attribute(name)))])
            }
            SpecializeScope::WholeAd => return None,
        })
    }

    /// Returns the verdicts on a constraint over time. What is left of it names the clock where it changes with each second.
    fn timeline(&self, expression: &Expression, frame: &Arc<ScopeFrame>, environment: &Environment) -> VerdictTimeline {
        let options = SpecializeOptions { loose: self.command.loose, inline: self.command.inline };
        let at = |now: Option<i64>| {
            let context = Context { now, ..self.context.clone() };
            let residue = specialize(expression, frame, environment, &context, options);
            let text = print(&residue.expression, Style::New);
            (residue.verdict, String::from_utf8_lossy(&text).into_owned())
        };
        let start = self.context.now.unwrap_or_default();
        let span = start..start.saturating_add(self.command.over.unwrap_or_default());
        let breaks = ClockBreaks::of(expression, frame, environment, &self.context, span);
        breaks.timeline(|seconds| {
            let first = at(Some(seconds.start));
            let is_same = seconds.end - seconds.start == 1 || at(Some(seconds.end - 1)).1 == first.1;
            Some(if is_same { first } else { (first.0, at(None).1) })
        })
    }

    /// Returns the verdicts on the constraints of the ports of an ad. A port without a constraint accepts nothing.
    fn ports(&self, ad: &Ad, protocol: &Protocol) -> Result<Specialized, PortFault> {
        let OpenPorts { mut environment, ports } = OpenPorts::of(&self.partial_scope.known_attributes(ad, false))?;
        if let Some(member) = environment.member_mut(Participant::REQUEST) {
            member.knowledge = self.partial_scope.knowledge();
        }
        let options = SpecializeOptions { loose: self.command.loose, inline: self.command.inline };
        let never = Expression::literal(false);
        let constraint = |frame: &Arc<ScopeFrame>| protocol.constraint_expression(&frame.ad).unwrap_or(&never).clone();
        if self.command.over.is_some() {
            let over = |(label, frame): (Name, Arc<ScopeFrame>)| {
                (label.to_string(), self.timeline(&constraint(&frame), &frame, &environment))
            };
            return Ok(Specialized::PortTimelines(ports.into_iter().map(over).collect()));
        }
        let verdict = |(label, frame): (Name, Arc<ScopeFrame>)| {
            let residue = specialize(&constraint(&frame), &frame, &environment, &self.context, options);
            (label.to_string(), self.verdict(&residue, &frame, &environment))
        };
        Ok(Specialized::PortVerdicts(ports.into_iter().map(verdict).collect()))
    }
}

impl AdTask for SpecializeTask<'_> {
    type State = ();
    /// The identity of the ad in the advertising protocol, and what is left of the ad.
    type Output = (Option<String>, Specialized);

    fn new_state(&self) {}

    fn run(&self, (): &mut (), entry: AdEntry) -> Self::Output {
        self.unseen_names.mark_present(|name| entry.ad.get(name).is_some());
        (display_name(&entry.ad, None, &self.context), self.specialize(Some(entry.ad)))
    }
}

/// Writes what specialization leaves of the ads.
struct SpecializeOutput<'c> {
    command: &'c Specialize,
    /// `None` if the output is ads or expressions.
    rows: Option<TableWriter>,
    documents: DocumentWriter,
    out: BufferedStdout,
    /// Whether some constraint can be true, for `--verdict`.
    any_possible: bool,
    /// Whether times are written for programs.
    is_for_programs: bool,
    /// Seconds between two samples, if bounds are seen in samples.
    sampling: Option<i64>,
    /// The second up to which the search looked, if this is not all of the time.
    end: Option<i64>,
}

impl SpecializeOutput<'_> {
    /// Tells the writer of ads in which form the next source is, because the ads are written in this form by default.
    fn begin_source(&mut self, form: FileFormat) -> Result<(), Failure> {
        self.documents.begin_file(&mut self.out, form)
    }

    /// Adds what is left of an ad.
    fn add(&mut self, session: &mut Session, id: &str, specialized: Specialized) -> Result<(), Failure> {
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
