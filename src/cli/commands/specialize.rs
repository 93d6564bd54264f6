//! `classad specialize`: partial evaluation of ads that are known in part (thesis 2.6.1).

use std::io::Write;

use clap::Args;
use classad::ad::{Ad, Expression, Name};
use classad::eval::{Context, Liberties, Verdict, specialize, specialize_ad, specialize_attribute, unknowns};
use classad::format::Form;
use classad::syntax::{Style, print};

use crate::cli::args::partial_scope::{PartlyKnown, names_of};
use crate::cli::io::input::Identified;
use crate::cli::io::{cases, input};
use crate::cli::render::output::{AdWriter, Out, OutputForm, out};
use crate::cli::render::rows::Rows;
use crate::cli::session::Session;
use crate::cli::{Failure, Status};

const EXAMPLES: &str = "\
Examples:
  classad specialize --expr 'true && other.x > 10'
  classad specialize --loose --expr '3 + a + 7'
  classad specialize --attr Constraint samples/papers/thesis-figure-6-job.ad
  classad specialize --inline --verdict --attr Requirements samples/pool/machines.long

The result has the value of the original in every completion of the ad: whatever attributes are added to it,
and whomever it meets.  The clock is not known unless --now gives a time (`--now now` asks it).
With --verdict the exit status is 1 if no constraint can be true.
-o json: an array of {ad, value}, with --verdict of {ad, verdict, unknowns: [...]}; whole ads as `convert` has them.";

/// Evaluate as far as an ad is known, and keep the rest
#[derive(Args)]
#[command(after_help = EXAMPLES)]
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub struct Specialize {
    /// Files of ads that are known in part; whole ads are specialized unless --expr or --attr says what
    files: Vec<String>,
    /// The expression to specialize
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true, conflicts_with = "attr")]
    expr: Option<String>,
    /// The attribute to specialize
    #[arg(long, value_name = "NAME")]
    attr: Option<String>,
    /// The known ad: the first of a file
    #[arg(long, value_name = "FILE", conflicts_with = "files")]
    known: Option<String>,
    /// An attribute of the known ad
    #[arg(short = 'D', long = "define", value_name = "NAME=EXPR")]
    define: Vec<String>,
    /// Attributes to take for unknown; target.NAME for those of the other side
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    unknown: Vec<String>,
    /// The ad on the other side of a match: the first of a file
    #[arg(long, value_name = "FILE")]
    target: Option<String>,
    /// The known ads have no other attributes than those given
    #[arg(long)]
    closed: bool,
    /// Assume that no unknown is an error, and add sums up in any order, as the thesis prints it
    #[arg(long)]
    loose: bool,
    /// Assume that no unknown refers back, and replace attributes by what is left of them
    #[arg(long)]
    inline: bool,
    /// Print whether the constraint can be true (never, always, depends), and on what that depends
    #[arg(long)]
    verdict: bool,
    /// Put the identity of each ad before its result
    #[arg(long)]
    each: bool,
    /// Read cases {"id","ad","expr"} from a file of JSON lines
    #[arg(long, value_name = "FILE")]
    cases: Option<String>,
    /// The form of the output
    #[arg(short, long, value_name = "FORM")]
    output: Option<OutputForm>,
    /// Leave the heading out
    #[arg(long)]
    no_header: bool,
}

/// The part of each ad to specialize.
enum Question {
    Expression(Expression),
    Attribute(Name),
    WholeAd,
}

impl Specialize {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        if let Some(file) = &self.cases {
            return cases::run(session, file, cases::specialize);
        }
        if self.verdict && self.expr.is_none() && self.attr.is_none() {
            return Err(Failure::Refused(Some("--verdict wants --attr or --expr: which constraint?".to_owned())));
        }
        let alone = self.files.is_empty() && (self.expr.is_some() || self.known.is_some() || !self.define.is_empty());
        let mut sources = if alone { Vec::new() } else { input::open(session, &self.files)? };
        let known = input::one_source(session, self.known.as_ref())?;
        let target = input::one_source(session, self.target.as_ref())?;
        session.decide_dialect(sources.iter().chain(&known).chain(&target));
        let form = known.as_ref().map_or(Form::New, |known| known.form);
        let mut answers = Answers {
            command: self,
            question: self.question(session)?,
            partly: PartlyKnown { unknown: self.unknown.clone(), closed: self.closed },
            target: input::first_ad(session, target)?,
            context: Context { chance: None, now: session.options.now, ..session.context() },
            rows: Rows::new(if self.verdict { &["ad", "verdict", "unknowns"] } else { &["ad", "value"] }),
            writer: None,
            out: out(),
            possible: false,
        };
        if alone {
            let known = match known {
                Some(source) => input::first_ad(session, Some(source))?,
                None => Some(Ad::default()).filter(|_| !self.define.is_empty()),
            };
            answers.begin(form)?;
            answers.give(session, known.map(Identified::unnamed))?;
        }
        let name = match &answers.question {
            Question::Attribute(name) => Some(name.clone()),
            _ => None,
        };
        let mut asked = input::Asked::new(name.as_slice());
        for source in &mut sources {
            answers.begin(source.form)?;
            input::each_ad(session, source, |session, entry| {
                asked.look_into(&entry.ad);
                let ad = input::identify(session, entry, None);
                answers.give(session, Some(ad))?;
                Ok(true)
            })?;
        }
        asked.tell(session);
        answers.finish(session)
    }

    fn question(&self, session: &mut Session) -> Result<Question, Failure> {
        Ok(match (&self.expr, &self.attr) {
            (Some(text), _) => Question::Expression(input::expression(session, "expression", text)?),
            (None, Some(name)) => Question::Attribute(input::wanted_name(session, "--attr", name)?),
            (None, None) => Question::WholeAd,
        })
    }
}

/// State of a run: specializes ads and writes the results.
struct Answers<'c> {
    command: &'c Specialize,
    question: Question,
    partly: PartlyKnown,
    target: Option<Ad>,
    context: Context,
    rows: Rows,
    /// Writer of specialized ads; `None` between sources and where the results are values.
    writer: Option<AdWriter>,
    out: Out,
    /// Whether some constraint can be true, for `--verdict`.
    possible: bool,
}

impl Answers<'_> {
    /// Begins a source. With `-o` all sources go into one document; without it each gets one in its own form.
    fn begin(&mut self, form: Form) -> Result<(), Failure> {
        if matches!(self.question, Question::WholeAd) && (self.writer.is_none() || self.command.output.is_none()) {
            self.end()?;
            self.writer = Some(AdWriter::new(self.command.output, form)?);
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.writer.take().map_or(Ok(()), |writer| writer.finish(&mut self.out))
    }

    /// Specializes one ad and writes or keeps the result; `None` means that no ad is known.
    fn give(&mut self, session: &mut Session, ad: Option<Identified>) -> Result<(), Failure> {
        let ad = match ad {
            None if self.command.define.is_empty() => None,
            ad => {
                let ad = ad.unwrap_or_else(|| Identified::unnamed(Ad::default()));
                let defined = input::define(session, ad.ad.clone(), &self.command.define)?;
                Some(ad.with(defined))
            }
        };
        let (environment, frame) = self.partly.environment(ad.as_ref().map(|ad| &ad.ad), self.target.as_ref());
        let liberties = Liberties { loose: self.command.loose, inline: self.command.inline };
        let left = match &self.question {
            Question::WholeAd => {
                let left = specialize_ad(&frame, &environment, &self.context, liberties);
                let ad = ad.unwrap_or_else(|| Identified::unnamed(Ad::default()));
                return match &mut self.writer {
                    Some(writer) if !session.options.quiet => writer.write(session, &mut self.out, &ad.with(left)),
                    _ => Ok(()),
                };
            }
            Question::Expression(expression) => specialize(expression, &frame, &environment, &self.context, liberties),
            Question::Attribute(name) => specialize_attribute(name, &frame, &environment, &self.context, liberties),
        };
        let id = ad.as_ref().map(Identified::id).unwrap_or_default().to_owned();
        if self.command.verdict {
            self.possible |= left.verdict != Verdict::Never;
            let mut names = Vec::new();
            if left.verdict == Verdict::Depends {
                names = names_of(&unknowns(&left.expression, &frame, &environment, &self.context));
            }
            self.rows.rows.push(vec![id.into(), left.verdict.as_str().to_owned().into(), names.into()]);
            return Ok(());
        }
        if session.options.quiet {
            return Ok(());
        }
        let text = print(&left.expression, Style::New);
        if self.command.output.is_some() {
            self.rows.rows.push(vec![id.into(), String::from_utf8_lossy(&text).into_owned().into()]);
            return Ok(());
        }
        if self.command.each {
            write!(self.out, "{id}\t")?;
        }
        self.out.write_all(&text)?;
        writeln!(self.out)?;
        Ok(())
    }

    fn finish(mut self, session: &mut Session) -> Result<Status, Failure> {
        if !session.options.quiet {
            self.end()?;
        }
        let has_rows =
            !matches!(self.question, Question::WholeAd) && (self.command.verdict || self.command.output.is_some());
        if has_rows && !session.options.quiet {
            self.rows.write(&mut self.out, self.command.output, !self.command.no_header)?;
        }
        self.out.flush()?;
        Ok(Status::of(!self.command.verdict || self.possible))
    }
}
