//! Reader of HTCondor's DAG files: an ad for each node, with its submit file, its parents and its children.
//!
//! A line is a command of `DAGMan`, such as `JOB A a.sub` or `PARENT A CHILD B`. A description of jobs in braces is kept as
//! text. Commands for the whole graph give no attributes.

mod command;

use std::ops::Range;

use indexmap::IndexMap;

use crate::ad::{Ad, Expression, ExpressionKind, Name, Value};

use super::{AdEntry, Problem, ReadResult};

use command::{DagCommand, NODE_COMMANDS, find, logical_lines};

/// Maximum number of dependencies, and of attributes for all nodes: a line with many parents and many children has the
/// product of both.
const MAX_RELATIONS: usize = 1_000_000;

/// The name that stands for each node.
const ALL_NODES: &str = "ALL_NODES";

/// Commands that give a node attributes: the attribute that has the rest of the line.
const ATTRIBUTE_COMMANDS: [(&str, &str); 7] = [
    ("RETRY", "Retry"),
    ("PRIORITY", "Priority"),
    ("CATEGORY", "Category"),
    ("PRE_SKIP", "PreSkip"),
    ("ABORT-DAG-ON", "AbortDagOn"),
    ("VARS", "Vars"),
    ("DONE", "Done"),
];

/// Commands for the whole graph.
const GRAPH_COMMANDS: [&str; 15] = [
    "CONFIG",
    "CONNECT",
    "DOT",
    "ENV",
    "INCLUDE",
    "JOBSTATE_LOG",
    "MAXJOBS",
    "NODE_STATUS_FILE",
    "PIN_IN",
    "PIN_OUT",
    "REJECT",
    "SAVE_POINT_FILE",
    "SET_JOB_ATTR",
    "SUBMIT-DESCRIPTION",
    "DATAFLOW",
];

/// Commands that, as the first one, show that a text is a DAG file: no ad and no submit file begins so.
const FIRST_COMMANDS: [&str; 11] = [
    "JOB",
    "NODE",
    "SUBDAG",
    "SPLICE",
    "PARENT",
    "MAXJOBS",
    "NODE_STATUS_FILE",
    "JOBSTATE_LOG",
    "SUBMIT-DESCRIPTION",
    "SET_JOB_ATTR",
    "CONFIG",
];

/// Whether a line is a command with which DAG files begin.
pub fn begins_dag(line: &[u8]) -> bool {
    let Ok(line) = std::str::from_utf8(line.trim_ascii()) else { return false };
    let Some((word, rest)) = line.split_once([' ', '\t']) else { return false };
    !rest.trim_start().starts_with(['=', ':', '?']) && find(&FIRST_COMMANDS, word).is_some()
}

/// Reads the nodes of a DAG file, in the order in which they are named. Problems come first.
pub fn read_dag(text: &[u8]) -> impl Iterator<Item = ReadResult> + use<> {
    let mut graph = Graph { text, nodes: IndexMap::new(), relations: 0, problems: Vec::new() };
    graph.read();
    let problems = std::mem::take(&mut graph.problems).into_iter().map(Err);
    let ads: Vec<ReadResult> = graph.into_ads().collect();
    problems.chain(ads)
}

/// The graph while its file is read.
struct Graph<'t> {
    text: &'t [u8],
    nodes: IndexMap<String, Node>,
    /// Number of dependencies and of attributes for all nodes so far.
    relations: usize,
    problems: Vec<Problem>,
}

/// A node of the graph.
struct Node {
    /// Byte offset of the command that makes the node.
    offset: usize,
    attributes: Vec<(&'static str, Value)>,
    variables: Vec<(Name, Expression)>,
    /// Places of the parents and of the children among the nodes.
    parents: Vec<usize>,
    children: Vec<usize>,
}

impl Graph<'_> {
    /// Carries out all commands. Nodes may be named before the command that makes them: they are made first.
    fn read(&mut self) {
        let lines = logical_lines(self.text);
        let mut commands = Vec::new();
        for line in &lines {
            match DagCommand::parse(line) {
                Ok(command) => commands.push(command),
                Err(problem) => self.problems.push(problem),
            }
        }
        let (making, others): (Vec<_>, Vec<_>) = commands.into_iter().partition(DagCommand::makes_node);
        for command in making {
            let made = self.make_node(&command);
            self.problems.extend(made.err());
        }
        for command in others {
            let done = self.carry_out(&command);
            self.problems.extend(done.err());
        }
        self.problems.sort_by_key(|problem| problem.range.start);
    }

    fn make_node(&mut self, command: &DagCommand<'_>) -> Result<(), Problem> {
        let (kind, words) = match &command.words[..] {
            [subdag, external, words @ ..] if subdag.eq_ignore_ascii_case("SUBDAG") => {
                if !external.eq_ignore_ascii_case("EXTERNAL") {
                    return Err(command.fault("the word `EXTERNAL` is missing after `SUBDAG`"));
                }
                ("SUBDAG", words)
            }
            [kind, words @ ..] => (find(&NODE_COMMANDS, kind).unwrap_or("JOB"), words),
            [] => return Ok(()),
        };
        let Some((name, words)) = words.split_first() else {
            return Err(command.fault("the name of the node is missing"));
        };
        let text = |text: &str| Value::string(text.as_bytes());
        let mut attributes = vec![("MyType", text("DagNode")), ("Node", text(name)), ("NodeType", text(kind))];
        let mut words = words.iter();
        match (&command.description, words.as_slice().first()) {
            (Some(description), _) => attributes.push(("SubmitDescription", text(description))),
            (None, Some(file)) => {
                let attribute = if matches!(kind, "SUBDAG" | "SPLICE") { "DagFile" } else { "SubmitFile" };
                attributes.push((attribute, text(file)));
                words.next();
            }
            (None, None) => return Err(command.fault("the submit file of the node is missing")),
        }
        while let Some(word) = words.next() {
            match (word.to_ascii_uppercase().as_str(), words.as_slice().first()) {
                ("DIR", Some(folder)) => {
                    attributes.push(("Dir", text(folder)));
                    words.next();
                }
                ("NOOP", _) => attributes.push(("Noop", Value::Boolean(true))),
                ("DONE", _) => attributes.push(("Done", Value::Boolean(true))),
                _ => return Err(command.fault(format!("`{word}` is not an option of a node"))),
            }
        }
        if self.nodes.contains_key(*name) {
            return Err(command.fault(format!("node {name} is defined twice")));
        }
        let (offset, variables) = (command.range.start, Vec::new());
        let node = Node { offset, attributes, variables, parents: Vec::new(), children: Vec::new() };
        self.nodes.insert((*name).to_owned(), node);
        Ok(())
    }

    /// Carries out a command that makes no node.
    fn carry_out(&mut self, command: &DagCommand<'_>) -> Result<(), Problem> {
        let Some((word, words)) = command.words.split_first() else { return Ok(()) };
        if word.eq_ignore_ascii_case("PARENT") {
            return self.add_dependencies(command, words);
        }
        if word.eq_ignore_ascii_case("SCRIPT") {
            return self.add_script(command, words);
        }
        if find(&GRAPH_COMMANDS, word).is_some() {
            return Ok(());
        }
        let Some((_, attribute)) = ATTRIBUTE_COMMANDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(word)) else {
            let help = "a line begins with a command such as JOB, PARENT, VARS, RETRY, SCRIPT, SUBDAG or CONFIG";
            return Err(command.fault(format!("`{word}` is not a command of a DAG file")).with_help(help));
        };
        let Some((name, words)) = words.split_first() else {
            return Err(command.fault("the name of the node is missing"));
        };
        if words.is_empty() && *attribute != "Done" {
            return Err(command.fault(format!("a value is missing after `{word} {name}`")));
        }
        for index in self.nodes_of(command, name)? {
            let node = &mut self.nodes[index];
            match *attribute {
                "Done" => node.set("Done", Value::Boolean(true)),
                "Vars" => node.set_variables(command, words)?,
                "Category" => node.set("Category", Value::string(words[0].as_bytes())),
                // `RETRY A 3 UNLESS-EXIT 2` and `ABORT-DAG-ON A 3 RETURN 1` have more than a number.
                attribute => {
                    let Ok(number) = words[0].parse() else {
                        return Err(command.fault(format!("`{}` is not a whole number", words[0])));
                    };
                    node.set(attribute, Value::Integer(number));
                }
            }
        }
        Ok(())
    }

    /// Returns the place of a node.
    fn node_of(&self, command: &DagCommand<'_>, name: &str) -> Result<usize, Problem> {
        let index = self.nodes.get_index_of(name);
        index.ok_or_else(|| command.fault(format!("there is no node {name} in this file")))
    }

    /// Returns the places of the nodes that a name or `ALL_NODES` stands for.
    fn nodes_of(&mut self, command: &DagCommand<'_>, name: &str) -> Result<Range<usize>, Problem> {
        if name.eq_ignore_ascii_case(ALL_NODES) {
            self.count_relations(command, self.nodes.len())?;
            return Ok(0..self.nodes.len());
        }
        self.node_of(command, name).map(|index| index..index + 1)
    }

    /// Counts what a line with several nodes gives. Fails if it is too much.
    fn count_relations(&mut self, command: &DagCommand<'_>, more: usize) -> Result<(), Problem> {
        self.relations = self.relations.saturating_add(more);
        if self.relations > MAX_RELATIONS {
            return Err(command.fault(format!("the file has more than {MAX_RELATIONS} dependencies up to this line")));
        }
        Ok(())
    }

    fn add_dependencies(&mut self, command: &DagCommand<'_>, words: &[&str]) -> Result<(), Problem> {
        let Some(child) = words.iter().position(|word| word.eq_ignore_ascii_case("CHILD")) else {
            return Err(command.fault("the word `CHILD` is missing after `PARENT`"));
        };
        let indexes = |names: &[&str]| -> Result<Vec<usize>, Problem> {
            names.iter().map(|name| self.node_of(command, name)).collect()
        };
        let (parents, children) = (indexes(&words[..child])?, indexes(&words[child + 1..])?);
        if parents.is_empty() || children.is_empty() {
            return Err(command.fault("a parent and a child must be named"));
        }
        self.count_relations(command, parents.len().saturating_mul(children.len()))?;
        for parent in &parents {
            self.nodes[*parent].children.extend(&children);
        }
        for child in &children {
            self.nodes[*child].parents.extend(&parents);
        }
        Ok(())
    }

    /// Reads `SCRIPT [DEFER STATUS TIME] [DEBUG FILE KIND] PRE|POST|HOLD NODE PROGRAM ...`.
    fn add_script(&mut self, command: &DagCommand<'_>, mut words: &[&str]) -> Result<(), Problem> {
        while let [option, _, _, rest @ ..] = words
            && find(&["DEFER", "DEBUG"], option).is_some()
        {
            words = rest;
        }
        let [when, name, program @ ..] = words else {
            return Err(command.fault("a script needs `PRE`, `POST` or `HOLD`, and a node"));
        };
        let scripts = [("PRE", "PreScript"), ("POST", "PostScript"), ("HOLD", "HoldScript")];
        let Some((_, attribute)) = scripts.iter().find(|(known, _)| known.eq_ignore_ascii_case(when)) else {
            return Err(command.fault(format!("`{when}` is not `PRE`, `POST` or `HOLD`")));
        };
        for index in self.nodes_of(command, name)? {
            self.nodes[index].set(attribute, Value::string(program.join(" ").as_bytes()));
        }
        Ok(())
    }

    /// Returns the ads of the nodes.
    fn into_ads(self) -> impl Iterator<Item = ReadResult> {
        let names: Vec<String> = self.nodes.keys().cloned().collect();
        let list = move |indexes: &[usize]| {
            let names = indexes.iter().map(|index| Expression::literal(Value::string(names[*index].as_bytes())));
            Expression::from(ExpressionKind::List(names.collect()))
        };
        self.nodes.into_values().enumerate().map(move |(index, node)| {
            let mut attributes: Vec<(Name, Expression)> = node
                .attributes
                .into_iter()
                .map(|(name, value)| (Name::new(name), Expression::literal(value)))
                .collect();
            attributes.push((Name::new("Parents"), list(&node.parents)));
            attributes.push((Name::new("Children"), list(&node.children)));
            if !node.variables.is_empty() {
                let variables: Ad = node.variables.into_iter().collect();
                attributes.push((Name::new("Vars"), ExpressionKind::Ad(variables).into()));
            }
            let ad = attributes.into_iter().collect();
            Ok(AdEntry { ad, number: index + 1, offset: node.offset, is_whole: true, banner_attributes: 0 })
        })
    }
}

impl Node {
    /// Sets an attribute.
    fn set(&mut self, name: &'static str, value: Value) {
        self.attributes.retain(|(known, _)| *known != name);
        self.attributes.push((name, value));
    }

    /// Adds variables, each written `NAME="VALUE"`.
    fn set_variables(&mut self, command: &DagCommand<'_>, words: &[&str]) -> Result<(), Problem> {
        let is_place = |word: &&&str| find(&["PREPEND", "APPEND"], word).is_some();
        for word in words.iter().skip(words.first().iter().filter(|word| is_place(word)).count()) {
            let quoted = word.split_once('=').and_then(|(name, value)| {
                Some((name, value.strip_prefix('"')?.strip_suffix('"')?)).filter(|(name, _)| !name.is_empty())
            });
            let Some((name, value)) = quoted else {
                return Err(command.fault(format!("`{word}` is not a variable")).with_help("write `NAME=\"VALUE\"`"));
            };
            let value = value.replace("\\\"", "\"").replace("\\\\", "\\");
            self.variables.push((Name::new(name), Expression::literal(Value::string(value.as_bytes()))));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
