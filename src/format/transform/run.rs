//! Rules at work.

use crate::ad::{Ad, Expression, Kind, List, Name, Value};
use crate::eval::{Context, Halt};
use crate::syntax::{Style, parse_expression, print_value};

use super::condition::truth;
use super::draft::Draft;
use super::iteration::{Iteration, MOST};
use super::macros::{Expander, Failure, Variables, evaluate, expand_self};
use super::rename;
use super::rule::{Action, Operand, Rule, Target};

/// Rules that are applied one after the other.
#[derive(Clone, Debug, Default)]
pub struct Transform {
    /// The rules.
    pub rules: Vec<Rule>,
    /// What must be true of an ad; any other is left as it is.
    pub only: Option<Expression>,
}

/// An ad that came of another.
#[derive(Clone, Debug)]
pub struct Transformed {
    /// The ad.
    pub ad: Ad,
    /// What was changed, in the order in which it was.
    pub fired: Vec<Fired>,
    /// What could not be done.
    pub faults: Vec<Fault>,
}

/// A statement that changed an attribute.
#[derive(Clone, Debug)]
pub struct Fired {
    /// Which statement.
    pub cause: Cause,
    /// The attribute.
    pub attribute: Name,
    /// What was bound to it before.
    pub before: Option<Expression>,
    /// What is bound to it now.
    pub after: Option<Expression>,
}

/// A statement of one of the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The position of the rule.
    pub rule: usize,
    /// The position of the statement in it; none for what is said of the rule as a whole.
    pub statement: Option<usize>,
}

/// What a statement could not do with an ad.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Which statement; none for [`Transform::only`].
    pub cause: Option<Cause>,
    /// Why, as a phrase.
    pub message: String,
    /// The budget that was exceeded, if that is why.
    pub halt: Option<Halt>,
    /// Whether the ad was therefore left as it was; otherwise only this statement was left out.
    pub fatal: bool,
}

impl Fault {
    fn new(cause: Option<Cause>, failure: Failure, fatal: bool) -> Self {
        match failure {
            Failure::Reason(message) => Fault { cause, message, halt: None, fatal },
            Failure::Halt(halt) => Fault { cause, message: halt.to_string(), halt: Some(halt), fatal },
        }
    }
}

impl Transform {
    /// The ads that come of one: one, unless a rule has a TRANSFORM line that makes more.
    ///
    /// The variables of a rule are still there in the next.  A statement that cannot be executed is left
    /// out; if a condition cannot be decided, the ad stays as it was.
    #[must_use]
    pub fn apply(&self, ad: &Ad, context: &Context) -> Vec<Transformed> {
        let unchanged = |faults| vec![Transformed { ad: ad.clone(), fired: Vec::new(), faults }];
        let mut flights = vec![Flight {
            draft: Draft::new(ad),
            variables: Variables::default(),
            fired: Vec::new(),
            faults: Vec::new(),
        }];
        if let Some(only) = &self.only {
            match evaluate(only, &mut flights[0].draft, context) {
                Ok(Value::Boolean(true)) => {}
                Ok(value) if context.dialect.is_condor() && truth(&value) == Some(true) => {}
                Ok(_) => return unchanged(Vec::new()),
                Err(halt) => return unchanged(vec![Fault::new(None, halt.into(), true)]),
            }
        }
        for (number, rule) in self.rules.iter().enumerate() {
            let mut after = Vec::new();
            for flight in flights {
                if let Err(fault) = (Run { rule, number, context }).rule(flight, &mut after) {
                    return unchanged(vec![fault]);
                }
            }
            flights = after;
        }
        let finished = flights.into_iter().map(|mut flight| Transformed {
            ad: flight.draft.ad(),
            fired: flight.fired,
            faults: flight.faults,
        });
        finished.collect()
    }
}

/// An ad on its way through the rules.
#[derive(Clone)]
struct Flight {
    draft: Draft,
    variables: Variables,
    fired: Vec<Fired>,
    faults: Vec<Fault>,
}

impl Flight {
    fn expander<'a>(&'a mut self, context: &'a Context) -> Expander<'a> {
        Expander::new(&self.variables, &mut self.draft, context)
    }
}

/// One rule at work.
#[derive(Clone, Copy)]
struct Run<'r> {
    rule: &'r Rule,
    number: usize,
    context: &'r Context,
}

/// Where an `if` stands.
struct Branch {
    /// Whether its lines are executed now.
    enabled: bool,
    /// Whether any of its conditions held before.
    taken: bool,
    /// Whether the lines around it are executed.
    outer: bool,
}

impl Run<'_> {
    /// Sends an ad through the rule.
    fn rule(self, mut flight: Flight, after: &mut Vec<Flight>) -> Result<(), Fault> {
        let whole = Cause { rule: self.number, statement: None };
        if let Some(expression) = self.rule.requirements.as_ref().and_then(Operand::expression) {
            let value = evaluate(expression, &mut flight.draft, self.context);
            let value = value.map_err(|halt| Fault::new(Some(whole), halt.into(), true))?;
            if truth(&value) != Some(true) {
                after.push(flight);
                return Ok(());
            }
        }
        match &self.rule.iteration {
            Some(iteration) if iteration.total() > 1 || iteration.items.is_some() => {
                self.iterate(iteration, flight, after, whole)
            }
            _ => {
                for (name, value) in
                    [("Row", "0"), ("Step", "0"), ("ItemIndex", "0"), ("Iterating", "0"), ("XFormId", "0")]
                {
                    flight.variables.insert(Name::new(name), value.into());
                }
                self.statements(&mut flight)?;
                after.push(flight);
                Ok(())
            }
        }
    }

    /// Makes several ads of one.
    fn iterate(
        self,
        iteration: &Iteration,
        flight: Flight,
        after: &mut Vec<Flight>,
        whole: Cause,
    ) -> Result<(), Fault> {
        if after.len() + iteration.total() > MOST {
            let reason = format!("more than {MOST} ads would be made of one");
            return Err(Fault::new(Some(whole), Failure::Reason(reason), true));
        }
        let no_item = [String::new()];
        let items = iteration.items.as_ref().map_or(&no_item[..], |items| items.all());
        let mut made = 0_usize;
        for (row, item) in items.iter().enumerate() {
            // What a variable is given in one ad is still there in the next of the same item.
            let mut variables = flight.variables.clone();
            for step in 0..iteration.count {
                let mut copy = Flight { variables, ..flight.clone() };
                let mut bind = |name: &str, value: String| copy.variables.insert(Name::new(name), value.into_bytes());
                for (name, number) in [("Row", row), ("ItemIndex", row), ("Step", step), ("XFormId", made)] {
                    bind(name, number.to_string());
                }
                bind("Iterating", "1".to_owned());
                for (name, value) in iteration.values(item) {
                    bind(name, value.to_owned());
                }
                self.statements(&mut copy)?;
                variables = copy.variables.clone();
                after.push(copy);
                made += 1;
            }
        }
        Ok(())
    }

    /// Executes the statements for one ad.
    fn statements(self, flight: &mut Flight) -> Result<(), Fault> {
        let mut branches: Vec<Branch> = Vec::new();
        for (position, statement) in self.rule.statements.iter().enumerate() {
            let cause = Cause { rule: self.number, statement: Some(position) };
            let enabled = branches.last().is_none_or(|branch| branch.enabled);
            let fatal = |failure| Fault::new(Some(cause), failure, true);
            match &statement.action {
                Action::If(condition) => {
                    let holds = enabled && condition.holds(&mut flight.expander(self.context)).map_err(fatal)?;
                    branches.push(Branch { enabled: holds, taken: holds, outer: enabled });
                }
                Action::ElseIf(condition) => {
                    let open = branches.last().is_some_and(|branch| branch.outer && !branch.taken);
                    let holds = open && condition.holds(&mut flight.expander(self.context)).map_err(fatal)?;
                    if let Some(branch) = branches.last_mut() {
                        branch.enabled = holds;
                        branch.taken |= holds;
                    }
                }
                Action::Else => {
                    if let Some(branch) = branches.last_mut() {
                        branch.enabled = branch.outer && !branch.taken;
                        branch.taken = true;
                    }
                }
                Action::EndIf => {
                    branches.pop();
                }
                _ if !enabled => {}
                action => {
                    if let Err(failure) = self.execute(action, cause, flight) {
                        flight.faults.push(Fault::new(Some(cause), failure, false));
                    }
                }
            }
        }
        Ok(())
    }

    /// Executes a statement that is no `if`.
    fn execute(self, action: &Action, cause: Cause, flight: &mut Flight) -> Result<(), Failure> {
        match action {
            Action::Assign(variable, text) => {
                let value = expand_self(text, variable, &flight.variables)?;
                flight.variables.insert(Name::new(variable), value);
            }
            Action::EvaluateMacro(variable, operand) => {
                let expression = self.expression(operand, flight)?;
                let text = match evaluate(&expression, &mut flight.draft, self.context)? {
                    Value::String(text) => text.as_bytes().to_vec(),
                    value => print_value(&value, Style::Long),
                };
                flight.variables.insert(Name::new(variable), text);
            }
            Action::Default(name, _) if flight.draft.get(name).is_some() => {}
            Action::Set(name, operand) | Action::Default(name, operand) => {
                let expression = self.expression(operand, flight)?;
                set(flight, cause, name.clone(), expression);
            }
            Action::EvaluateSet(name, operand) => {
                let expression = self.expression(operand, flight)?;
                let value = evaluate(&expression, &mut flight.draft, self.context)?;
                set(flight, cause, name.clone(), written(value));
            }
            Action::Copy(target, names) | Action::Rename(target, names) => {
                let names = flight.expander(self.context).expand(names.as_bytes())?;
                let copy = matches!(action, Action::Copy(..));
                for (from, to) in self.named(target, &names, flight)? {
                    // One bad name does not keep the others from theirs.
                    match rename::new_name(&to) {
                        Ok(to) if copy => copied(flight, cause, &from, to),
                        Ok(to) => renamed(flight, cause, &from, to),
                        Err(reason) => {
                            let failure = Failure::Reason(format!("{from} keeps its name: {reason}"));
                            flight.faults.push(Fault::new(Some(cause), failure, false));
                        }
                    }
                }
            }
            Action::Delete(target) => {
                for (name, _) in self.named(target, b"", flight)? {
                    if let Some(before) = flight.draft.remove(&name) {
                        flight.fired.push(Fired { cause, attribute: name, before: Some(before), after: None });
                    }
                }
            }
            Action::If(_) | Action::ElseIf(_) | Action::Else | Action::EndIf => {}
        }
        Ok(())
    }

    /// The expression that an operand is for this ad.
    fn expression(self, operand: &Operand, flight: &mut Flight) -> Result<Expression, Failure> {
        if let Some(expression) = operand.expression() {
            return Ok(expression.clone());
        }
        let text = flight.expander(self.context).expand(operand.text().as_bytes())?;
        parse_expression(&text, operand.rules()).map_err(|error| {
            let shown: String = String::from_utf8_lossy(&text).chars().take(200).collect();
            Failure::Reason(format!("with its macros expanded it is `{shown}`: {error}"))
        })
    }

    /// The attributes that a target names, and their new names.
    fn named(self, target: &Target, names: &[u8], flight: &Flight) -> Result<Vec<(Name, Vec<u8>)>, Failure> {
        Ok(match target {
            Target::Name(name) => vec![(name.clone(), names.to_vec())],
            Target::Pattern(pattern) => rename::matches(&flight.draft, pattern, names)?,
        })
    }
}

fn set(flight: &mut Flight, cause: Cause, attribute: Name, expression: Expression) {
    let before = flight.draft.set(attribute.clone(), expression.clone());
    if before.as_ref() != Some(&expression) {
        flight.fired.push(Fired { cause, attribute, before, after: Some(expression) });
    }
}

fn copied(flight: &mut Flight, cause: Cause, from: &Name, to: Name) {
    if let Some(expression) = flight.draft.get(from).cloned() {
        set(flight, cause, to, expression);
    }
}

fn renamed(flight: &mut Flight, cause: Cause, from: &Name, to: Name) {
    let Some(expression) = flight.draft.get(from).cloned() else { return };
    if from.as_str() == to.as_str() {
        return;
    }
    let before = flight.draft.rename(from, to.clone());
    let gone = Fired { cause, attribute: from.clone(), before: Some(expression.clone()), after: None };
    flight.fired.extend([gone, Fired { cause, attribute: to, before, after: Some(expression) }]);
}

/// The expression that writes a value.
fn written(value: Value) -> Expression {
    let kind = match value {
        Value::List(List { elements, .. }) => Kind::List(elements),
        Value::Ad(nested) => Kind::Ad(nested.ad().clone()),
        scalar => Kind::Literal(scalar),
    };
    Expression::new(kind, crate::ad::Span::default())
}
