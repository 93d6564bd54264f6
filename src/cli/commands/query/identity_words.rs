//! Ads that are called by a name on the command line: jobs by their numbers, owners or users, slots by their names or
//! those of their machines.

use classad::ad::BinaryOperator::{Equal, Or};
use classad::ad::{Expression, Name, Value};

use super::tables::{TableChoice, TableSubject};
use crate::cli::io::wanted_ads::job_number;
use crate::cli::session::Session;

/// The attributes in the constraint of [`identity_constraint`].
pub const IDENTITY_ATTRIBUTES: [&str; 8] =
    ["ClusterId", "ProcId", "DAGManJobId", "Owner", "User", "RemoteUser", "Name", "Machine"];

/// Returns the constraint that selects the ads that are called one of these names; `None` without names.
pub fn identity_constraint(names: &[String], choice: &TableChoice) -> Option<Expression> {
    let constraints = names.iter().flat_map(|name| constraints_of(name, choice));
    constraints.reduce(|left, right| Expression::binary(Or, left, right))
}

/// Notes that the number of a job, given as the constraint, does not select the job.
pub fn note_job_number(session: &Session, constraints: &[String]) {
    if let [text] = constraints
        && let Some((cluster, process)) = job_number(text)
        && (cluster > 1 || process.is_some())
    {
        let process = process.map_or_else(String::new, |process| format!(" && ProcId == {process}"));
        session.note(&format!(
            "`{text}` as a constraint does not select job {text}: use `ClusterId == {cluster}{process}`"
        ));
    }
}

fn attribute(name: &str) -> Expression {
    Expression::attribute(name)
}

fn is(name: &str, value: impl Into<Value>) -> Expression {
    Expression::binary(Equal, attribute(name), Expression::literal(value.into()))
}

/// Whether the text value of an attribute begins with a text.
fn begins_with(name: &str, text: &str) -> Expression {
    let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    let arguments = [attribute(name), Expression::literal(0), Expression::literal(length)];
    let begin = Expression::call(Name::new("substr"), arguments);
    Expression::binary(Equal, begin, Expression::literal(Value::string(text)))
}

fn constraints_of(name: &str, choice: &TableChoice) -> Vec<Expression> {
    let text = || Value::string(name);
    if choice.subject != Some(TableSubject::Slots)
        && let Some((cluster, process)) = job_number(name)
    {
        let of_cluster = is("ClusterId", cluster);
        let Some(process) = process else { return with_nodes(of_cluster, cluster, choice) };
        let job = Expression::and(of_cluster, is("ProcId", process));
        return if process == 0 { with_nodes(job, cluster, choice) } else { vec![job] };
    }
    let owner = || is(if name.contains('@') { "User" } else { "Owner" }, text());
    let slot = || {
        let short = format!("{name}.");
        let own = [is("Name", text()), is("Machine", text())];
        own.into_iter().chain([begins_with(if name.contains('@') { "Name" } else { "Machine" }, &short)])
    };
    match choice.subject {
        Some(TableSubject::Jobs) => vec![owner()],
        Some(TableSubject::Slots) if choice.is_about_users() => vec![is("RemoteUser", text())],
        Some(TableSubject::Slots) => slot().collect(),
        None => std::iter::once(owner()).chain(slot()).collect(),
    }
}

/// Adds the nodes of a DAG to the constraint of its own job, where they are listed with it.
fn with_nodes(job: Expression, cluster: i64, choice: &TableChoice) -> Vec<Expression> {
    let is_with_nodes = choice.subject == Some(TableSubject::Jobs) && choice.includes_nodes();
    let nodes = is("DAGManJobId", cluster);
    if is_with_nodes { vec![job, nodes] } else { vec![job] }
}
