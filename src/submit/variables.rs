//! The variables of a submit file: its commands, macros and the items of its queue statements.

use std::cell::RefCell;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::{Name, closest_names};
use crate::eval::Context;
use crate::format::Problem;
use crate::transform::{FOLDER, IfCondition, MacroGap, MacroScope, ScopedExpansion};

use super::command_table::known_commands;

/// Where a variable got its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CommandPlace {
    /// Byte range of the name in the submit file.
    pub name: Range<usize>,
    /// Byte range of the value.
    pub value: Range<usize>,
    /// Whether the value stands there as it is, on one line.
    pub is_verbatim: bool,
}

/// The value of a command, with its macros expanded.
#[derive(Clone, Debug)]
pub(super) struct CommandValue {
    pub text: String,
    /// Name as HTCondor calls the command, for messages.
    pub name: String,
    pub place: CommandPlace,
}

impl CommandValue {
    /// Creates an error about the value.
    pub fn fault(&self, message: impl Into<String>) -> Problem {
        Problem::error_at(self.place.value.clone(), 0, message)
    }
}

/// Variables that each job sets.
const LIVE_VARIABLES: [&str; 6] = ["Process", "ProcId", "Row", "ItemIndex", "Step", "TaskId"];

/// Variables that may be set and not used.
const QUIET_VARIABLES: [&str; 9] = [
    "DAG_STATUS",
    "FAILED_COUNT",
    "JOB",
    "RETRY",
    "SubmitWarnEmptyMatches",
    "SubmitFailEmptyMatches",
    "SubmitWarnDuplicateMatches",
    "SubmitFailEmptyFields",
    "SubmitWarnEmptyFields",
];

/// The variables of a submit file, in its present state.
pub(super) struct SubmitVariables {
    pub scope: MacroScope,
    places: FxHashMap<Name, CommandPlace>,
    /// The variables in the order in which they first got values.
    order: Vec<Name>,
    /// The variables that differ from job to job.
    live: FxHashSet<Name>,
    /// The variables of queue statements, with the ranges of these.
    items: Vec<(Name, Range<usize>)>,
    used: RefCell<FxHashSet<Name>>,
    warnings: RefCell<Vec<Problem>>,
    warned: RefCell<FxHashSet<Name>>,
    context: Context,
}

impl SubmitVariables {
    pub fn new(scope: MacroScope, context: Context) -> Self {
        SubmitVariables {
            scope,
            places: FxHashMap::default(),
            order: Vec::new(),
            live: LIVE_VARIABLES.iter().map(|name| Name::new(name)).collect(),
            items: Vec::new(),
            used: RefCell::default(),
            warnings: RefCell::default(),
            warned: RefCell::default(),
            context,
        }
    }

    /// Assigns a text to a variable. `own` tells whether the variable in its own text stands for its text before.
    pub fn assign(&mut self, name: &str, text: &str, own: bool, place: CommandPlace) -> Result<(), Problem> {
        let key = Name::new(name);
        if own {
            let assigned = self.scope.assign(name, text);
            assigned.map_err(|reason| Problem::error_at(place.value.clone(), 0, format!("{name}: {reason}")))?;
        } else {
            self.scope.set(key.clone(), text);
        }
        if self.places.insert(key.clone(), place).is_none() {
            self.order.push(key);
        }
        Ok(())
    }

    /// Begins a queue statement, at `place`, that sets these variables for each item.
    pub fn begin_items(&mut self, names: &[String], place: &Range<usize>) {
        for name in names {
            let name = Name::new(name);
            self.live.insert(name.clone());
            self.items.push((name, place.clone()));
        }
    }

    /// Sets the initial directory, below which `$Ff()` makes full paths. `is_live` tells whether it differs from job to job.
    pub fn set_folder(&mut self, folder: &str, is_live: bool) {
        self.scope.folder = Some(folder.into());
        if is_live {
            self.live.insert(Name::new(FOLDER));
        }
    }

    /// Sets the number of a job, unless a command of this name exists.
    pub fn set_number(&mut self, name: &Name, text: &str) {
        if !self.places.contains_key(name) {
            self.scope.set(name.clone(), text);
        }
    }

    /// The commands in the order in which they first got values, with their spellings.
    pub fn names(&self) -> &[Name] {
        &self.order
    }

    /// Whether a variable has a value.
    pub fn is_set(&self, name: &str) -> bool {
        self.scope.has(&Name::new(name))
    }

    /// Returns the text of a variable, with its macros.
    pub fn raw(&self, name: &str) -> Option<String> {
        self.scope.get(&Name::new(name)).map(|text| String::from_utf8_lossy(text).into_owned())
    }

    /// Marks a variable as used.
    pub fn mark_used(&self, name: &Name) {
        self.used.borrow_mut().insert(name.clone());
    }

    /// Returns the value of the first of these commands that has one, with its macros expanded, and whether it differs from
    /// job to job. An empty value counts as none, and hides the others.
    pub fn value(&self, names: &[&str]) -> Result<(Option<CommandValue>, bool), Problem> {
        let found = names.iter().map(|name| Name::new(name)).find_map(|name| Some((self.scope.get(&name)?, name)));
        let Some((raw, name)) = found else { return Ok((None, false)) };
        let raw = String::from_utf8_lossy(raw).into_owned();
        let nowhere = || CommandPlace { name: 0..0, value: 0..0, is_verbatim: false };
        let written = || names.iter().find_map(|name| self.places.get(&Name::new(name)));
        let mut place = self.places.get(&name).or_else(written).cloned().unwrap_or_else(nowhere);
        place.is_verbatim &= !raw.contains('$');
        self.mark_used(&name);
        let (text, is_live) = self.expand(&raw, &place.value)?;
        let is_live = is_live || self.live.contains(&name);
        let shown = self.order.iter().find(|known| **known == name).unwrap_or(&name).as_str().to_owned();
        let value = CommandValue { text, name: shown, place };
        Ok((Some(value).filter(|value| !value.text.is_empty()), is_live))
    }

    /// Returns a text with its macros expanded, and whether it differs from job to job. `place` is that of the text.
    pub fn expand(&self, text: &str, place: &Range<usize>) -> Result<(String, bool), Problem> {
        let expansion = self.scope.expand(text, &self.context);
        let mut found = expansion.map_err(|reason| Problem::error_at(place.clone(), 0, reason))?;
        let text = std::mem::take(&mut found.text);
        let is_live = found.is_random || found.looked_up.iter().any(|name| self.live.contains(name));
        self.note(found, place);
        Ok((text, is_live))
    }

    /// Whether a condition holds.
    pub fn holds(&self, condition: &IfCondition, place: &Range<usize>) -> Result<bool, Problem> {
        let (holds, found) =
            self.scope.holds(condition, &self.context).map_err(|reason| Problem::error_at(place.clone(), 0, reason))?;
        self.note(ScopedExpansion { unknown: None, ..found }, place);
        Ok(holds)
    }

    /// Notes what an expansion used, and warns of what it lacked.
    fn note(&self, found: ScopedExpansion, place: &Range<usize>) {
        self.used.borrow_mut().extend(found.looked_up);
        let warn = |key: &str, message: String, help: Option<String>| {
            if self.warned.borrow_mut().insert(Name::new(key)) {
                let problem = Problem::error_at(place.clone(), 0, message).as_warning();
                self.warnings.borrow_mut().push(Problem { help, ..problem });
            }
        };
        for gap in found.gaps {
            match gap {
                MacroGap::Function(reason) => warn(&reason.clone(), reason, None),
                MacroGap::Environment(name) => warn(
                    &format!("$ENV({name})"),
                    format!("$ENV({name}) is not read: nothing takes its place"),
                    Some("with --allow-env the environment of this program counts".to_owned()),
                ),
            }
        }
        // HTCondor's own macros stand nowhere: `request_memory` is `$(RequestMemory)` if the submit file has neither.
        if let Some(name) = found.unknown.filter(|_| !place.is_empty()) {
            let near = closest_names(&name, self.order.iter().map(Name::as_str));
            let help = match near.first() {
                Some(near) => format!("did you mean $({near})?"),
                None => format!("write `$({name}:...)` to give a default"),
            };
            warn(
                &format!("$({name})"),
                format!("the variable {name} has no value: nothing takes its place"),
                Some(help),
            );
        }
    }

    /// Adds a warning.
    pub fn warn(&self, problem: Problem) {
        self.warnings.borrow_mut().push(problem.as_warning());
    }

    /// Returns the warnings so far.
    pub fn take_warnings(&self) -> Vec<Problem> {
        self.warnings.take()
    }

    /// Returns a warning for each variable that nothing used.
    pub fn unused(&self) -> Vec<Problem> {
        let used = self.used.borrow();
        let is_quiet = |name: &Name| {
            let text = name.as_str();
            used.contains(name)
                || text.contains('.')
                || QUIET_VARIABLES.iter().any(|quiet| text.eq_ignore_ascii_case(quiet))
        };
        let commands = self.order.iter().filter(|name| !is_quiet(name)).filter_map(|name| {
            let place = self.places.get(name)?;
            let near = closest_names(name.as_str(), known_commands());
            let is_known = near.first().is_some_and(|near| near.eq_ignore_ascii_case(name.as_str()));
            let (message, help) = match near.first() {
                _ if is_known => (format!("the command {name} has no effect on these jobs"), None),
                Some(near) => (format!("nothing uses {name}"), Some(format!("did you mean {near}?"))),
                None => (format!("nothing uses {name}"), Some(format!("`+{name} = ...` sets an attribute of the job"))),
            };
            let problem = Problem::error_at(place.name.clone(), 0, message).as_warning();
            Some(Problem { help, ..problem })
        });
        let items = self.items.iter().filter(|(name, _)| !used.contains(name)).map(|(name, place)| {
            let message = format!("nothing uses the variable {name} of this queue statement");
            Problem::error_at(place.clone(), 0, message).with_help(format!("write $({name}) in a command")).as_warning()
        });
        commands.chain(items).collect()
    }
}
