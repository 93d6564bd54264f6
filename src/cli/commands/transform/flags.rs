//! Flags of `transform` that change ads. Their order on the command line matters, so they are parsed by hand.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use classad::ad::{Ad, Name};
use classad::configuration::{JobRoute, JobRouter, is_bracketed_rules, parse_bracketed_rules};
use classad::format::{FileFormat, Problem, Severity};
use classad::text::{closest_names, suggestion};
use classad::transform::{
    Keyword, RuleAction, RuleOperand, RuleStatement, RuleTarget, StatementPosition, Transform, TransformRule,
    parse_rules, parse_target, rule_slips,
};

use crate::cli::io::argument_text;
use crate::cli::io::configuration::LoadedConfiguration;
use crate::cli::io::slip_notes::{find_error, slip_text};
use crate::cli::io::source_text::SourceText;
use crate::cli::outcome::{Failure, refuse};
use crate::cli::render::diagnostics;
use crate::cli::session::Session;

const RULES_FLAG: &str = "rules";
const CONFIGURATION_FLAG: &str = "config";

/// The flags: name, placeholder of the value, and help text.
const FLAGS: [(&str, &str, &str); 8] = [
    ("set", "NAME=EXPR", "Set an attribute to an expression; --eval-set stores its value"),
    ("default", "NAME=EXPR", "Set an attribute if the ad does not have it"),
    ("eval-set", "NAME=EXPR", "Evaluate an expression in the ad, and store its value in an attribute"),
    ("copy", "OLD=NEW", "Copy an attribute to a second name"),
    ("rename", "OLD=NEW", "Give attributes another name"),
    ("delete", "NAME", "Delete attributes"),
    (
        RULES_FLAG,
        "FILE",
        "Apply a file of HTCondor's transform rules, or of rules as in old job routes: `[ set_NAME = EXPR; ]`",
    ),
    (
        CONFIGURATION_FLAG,
        "CONFIG",
        "Apply the transforms of a configuration, or a route (--route). CONFIG is a file or a folder of it, or the \
        output of `condor_config_val -dump`",
    ),
];

/// The flags and their values, in the order of the command line.
pub struct TransformFlags(Vec<(&'static str, String)>);

impl Args for TransformFlags {
    fn augment_args(command: Command) -> Command {
        command.args(FLAGS.map(|(name, value, help)| {
            let order = if name == "set" { ". Flags and rules are applied in the given order" } else { "" };
            Arg::new(name)
                .long(name)
                .value_name(value)
                .help(format!("{help}{order}"))
                .action(ArgAction::Append)
                .allow_hyphen_values(!matches!(name, RULES_FLAG | CONFIGURATION_FLAG))
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for TransformFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut steps = Vec::new();
        for (name, ..) in FLAGS {
            let places = matches.indices_of(name).into_iter().flatten();
            let values = matches.get_many::<String>(name).into_iter().flatten();
            steps.extend(places.zip(values).map(|(place, value)| (place, name, value.clone())));
        }
        steps.sort_by_key(|(place, ..)| *place);
        Ok(TransformFlags(steps.into_iter().map(|(_, name, value)| (name, value)).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The flag or the file that a rule comes from.
pub enum RuleOrigin {
    /// A flag with its value, as written.
    Flag(String),
    /// A file of rules: its index into [`Pipeline::sources`], and the name of the rule if it has one.
    File(usize, Option<String>),
}

/// All rules of the command line in their order, with their origins.
pub struct Pipeline {
    pub transform: Transform,
    /// Origin of each rule of `transform`, by index.
    pub origins: Vec<RuleOrigin>,
    /// The files of rules.
    pub sources: Vec<SourceText>,
    /// Whether rules have errors, so that they must not be used.
    has_errors: bool,
}

impl Pipeline {
    /// Returns the statement at a position; `None` if the position means a whole rule.
    pub fn statement(&self, position: StatementPosition) -> Option<&RuleStatement> {
        self.transform.rules.get(position.rule)?.statements.get(position.statement?)
    }

    /// Describes where a statement comes from: the flag, or the rule's name, file, line and keyword.
    pub fn describe(&self, position: StatementPosition) -> String {
        match &self.origins[position.rule] {
            RuleOrigin::Flag(text) => text.clone(),
            RuleOrigin::File(file, name) => {
                let name = name.as_ref().map_or(String::new(), |name| format!("{name}, "));
                let place = self.statement(position).map_or(String::new(), |statement| {
                    format!(":{}: {}", statement.line, statement.action.keyword().map_or("", Keyword::as_str))
                });
                format!("{name}{}{place}", self.sources[*file].name)
            }
        }
    }
}

impl TransformFlags {
    /// Reads the files of rules.
    pub fn read_rule_files(&self) -> Result<Vec<SourceText>, Failure> {
        let mut sources = Vec::new();
        for (_, path) in self.0.iter().filter(|(name, _)| *name == RULES_FLAG) {
            let bytes = std::fs::read(path).map_err(|error| Failure::unreadable(path, &error))?;
            // Rules are written for HTCondor: like the long form, they imply HTCondor's dialect.
            sources.push(SourceText::from_file(path, bytes, FileFormat::Long));
        }
        Ok(sources)
    }

    /// Reads the configurations of the flags `--config`.
    pub fn read_configurations(&self, session: &mut Session) -> Result<Vec<LoadedConfiguration>, Failure> {
        let paths = self.0.iter().filter(|(name, _)| *name == CONFIGURATION_FLAG);
        paths.map(|(_, path)| LoadedConfiguration::read(session, path)).collect()
    }

    /// Builds the rules from the flags, the files in `sources` and the configurations. Reports all errors in rules
    /// here, before any ad is changed. `route` names the route of a configuration that is applied instead of its
    /// transforms, and tells whether the rules begin with what the router itself does.
    pub fn build_pipeline(
        &self,
        session: &mut Session,
        sources: Vec<SourceText>,
        configurations: Vec<LoadedConfiguration>,
        route: Option<(&str, bool)>,
    ) -> Result<Pipeline, Failure> {
        let mut pipeline =
            Pipeline { transform: Transform::default(), origins: Vec::new(), sources: Vec::new(), has_errors: false };
        let (mut files, mut configurations) = (sources.into_iter(), configurations.into_iter());
        for (flag, value) in &self.0 {
            match *flag {
                RULES_FLAG => {
                    let Some(source) = files.next() else { continue };
                    let text = &source.block.text;
                    let (rules, problems) = if is_bracketed_rules(text) {
                        parse_bracketed_rules(text, "", &Ad::default(), &session.context())
                    } else {
                        parse_rules(text, session.dialect())
                    };
                    note_rule_slips(session, &source, &rules)?;
                    pipeline.add_file(session, source, rules, &problems);
                }
                CONFIGURATION_FLAG => {
                    let Some(loaded) = configurations.next() else { continue };
                    let (transform, problems) = configured_rules(session, &loaded, route)?;
                    pipeline.transform.variables = transform.variables;
                    pipeline.transform.condition = transform.condition;
                    pipeline.add_file(session, loaded.text, transform.rules, &problems);
                }
                _ => {
                    let action = parse_action(session, flag, value)?;
                    pipeline.transform.rules.push(TransformRule::from_action(action));
                    pipeline.origins.push(RuleOrigin::Flag(format!("--{flag} {value}")));
                }
            }
        }
        if pipeline.has_errors { Err(Failure::Refused(None)) } else { Ok(pipeline) }
    }
}

/// Returns the rules of a configuration: its transforms, or with `route` what its router does for this route.
fn configured_rules(
    session: &Session,
    loaded: &LoadedConfiguration,
    route: Option<(&str, bool)>,
) -> Result<(Transform, Vec<Problem>), Failure> {
    let (configuration, context) = (&loaded.configuration, session.context());
    let Some((route, sets_universe)) = route else {
        let (rules, problems) = configuration.job_transforms(&context);
        if rules.is_empty() && problems.is_empty() {
            session.note(&format!("{} names no transforms in JOB_TRANSFORM_NAMES", loaded.text.name));
        }
        let rules = rules.into_iter().map(|rules| rules.rule).collect();
        let variables = configuration.variables().clone();
        return Ok((Transform { rules, variables, ..Transform::default() }, problems));
    };
    let (router, problems) = JobRouter::read(configuration, &context);
    let found = router.as_ref().and_then(|router| Some((router, router.find(route)?)));
    if let Some((router, index)) = found {
        // Faults of other routes do not matter to this one, which has none.
        let own = &router.routes[index];
        let obstacle = own.obstacle.as_ref().map(|obstacle| obstacle.problem(&own.rules.knob));
        let problems = problems.into_iter().map(Problem::as_warning).chain(obstacle).collect();
        return Ok((router.transform(index, configuration, sets_universe), problems));
    }
    for problem in &problems {
        diagnostics::print_problem(&session.options, &loaded.text, problem);
    }
    let known = router.iter().flat_map(|router| &router.routes);
    let near = suggestion(&closest_names(route, known.map(JobRoute::name)));
    refuse(format!("{} has no route {route}{near}", loaded.text.name))
}

impl Pipeline {
    /// Adds the rules of a file, and prints what is wrong with them.
    fn add_file(&mut self, session: &Session, source: SourceText, rules: Vec<TransformRule>, problems: &[Problem]) {
        for problem in problems {
            diagnostics::print_problem(&session.options, &source, problem);
            self.has_errors |= problem.severity == Severity::Error;
        }
        let file = self.sources.len();
        self.origins.extend(rules.iter().map(|rule| RuleOrigin::File(file, rule.name.clone())));
        self.transform.rules.extend(rules);
        self.sources.push(source);
    }
}

/// Parses the value of a flag into the rule action that the flag stands for.
fn parse_action(session: &mut Session, flag: &str, value: &str) -> Result<RuleAction, Failure> {
    let refuse = |reason: &str| Failure::refused(format!("--{flag} {value}: {reason}"));
    let (target, rest) = parse_target(value, session.dialect()).map_err(|reason| refuse(&reason))?;
    if flag == "delete" {
        return if rest.is_empty() {
            Ok(RuleAction::Delete(target))
        } else {
            Err(refuse("write only a name or a regular expression"))
        };
    }
    let Some(text) = rest.trim_start().strip_prefix('=').map(str::trim) else {
        return Err(refuse("a `=` is missing after the name"));
    };
    if matches!(flag, "copy" | "rename") {
        if !matches!(target, RuleTarget::Pattern(_)) && !Name::new(text).is_identifier() {
            return Err(refuse(&format!("`{text}` is not an attribute name")));
        }
        let text = text.to_owned();
        return Ok(if flag == "copy" { RuleAction::Copy(target, text) } else { RuleAction::Rename(target, text) });
    }
    let RuleTarget::Name(name) = target else {
        return Err(refuse("only --copy, --rename and --delete take a regular expression"));
    };
    let operand =
        RuleOperand::of(text, argument_text::parse_argument_expression(session, &format!("--{flag} {name}"), text)?);
    if let Some(slip) = operand.expression().and_then(|expression| find_error(session, expression)) {
        session.warning(&format!("--{flag} {name}: {}", slip_text(&slip)));
    }
    Ok(match flag {
        "set" => {
            if operand.refers_to(&name) {
                session.warning(&format!(
                    "--set {name}: {name} refers to itself, not to its old value; --eval-set {name} uses the old value"
                ));
            }
            RuleAction::Set(name, operand)
        }
        "default" => RuleAction::Default(name, operand),
        _ => RuleAction::EvaluateSet(name, operand),
    })
}

/// Warns of rules that set an attribute to an expression that refers to it or is an error, and of a file that changes
/// nothing.
fn note_rule_slips(session: &mut Session, source: &SourceText, rules: &[TransformRule]) -> Result<(), Failure> {
    let (mut changes_something, mut knob) = (false, None);
    for problem in rules.iter().flat_map(rule_slips) {
        session.report_problem(source, &problem)?;
    }
    for statement in rules.iter().flat_map(|rule| &rule.statements) {
        if let RuleAction::Set(_, operand) | RuleAction::Default(_, operand) | RuleAction::EvaluateSet(_, operand) =
            &statement.action
            && let Some(slip) = operand.expression().and_then(|expression| find_error(session, expression))
        {
            let problem = Problem::error_at(statement.range.clone(), 0, slip.message).as_warning();
            session.report_problem(source, &Problem { help: slip.help, ..problem })?;
        }
        match &statement.action {
            RuleAction::Assign(variable, _) => {
                let name = variable.to_ascii_uppercase();
                let is_knob = name.starts_with("JOB_TRANSFORM_") || name.starts_with("JOB_ROUTER_");
                knob = knob.or(is_knob.then_some(variable));
            }
            RuleAction::EvaluateMacro(..) => {}
            _ => changes_something = true,
        }
    }
    let has_effect = changes_something || rules.iter().any(|rule| rule.iteration.is_some());
    if let Some(knob) = knob.filter(|_| !has_effect) {
        session.warning(&format!(
            "{} changes nothing: {knob} is a variable of a configuration; read the file with --config",
            source.name
        ));
    }
    Ok(())
}
