//! Arguments and environments of jobs, in the old syntax and in the new one.

use std::collections::BTreeMap;

use crate::eval::{quoted_word, quoted_words};
use crate::format::Problem;

use super::job_builder::{JobBuilder, truth_of};
use super::job_kind::Universe;
use super::variables::CommandValue;

/// Sets the arguments of the program.
pub(super) fn set_arguments(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    if let Some(shell) = job.value(&["shell"])? {
        let words = [quoted_word(b"-c"), quoted_word(shell.text.as_bytes())];
        job.assign_value("Arguments", lossy(&words.join(&b' ')).as_str(), &shell);
        return Ok(());
    }
    let is_set = set_words(job, &["arguments", "Args"], "arguments2", ["Args", "Arguments"], true)?;
    if job.kind.universe == Universe::Java && is_set == Some(0) {
        let place = job.source_of("Arguments");
        let problem = Problem::error_at(place, 0, "a job of the java universe needs the name of its class");
        return Err(problem.with_help("write arguments = CLASS"));
    }
    Ok(())
}

/// Sets the arguments of the Java machine.
pub(super) fn set_java_arguments(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    let names = ["java_vm_arguments", "java_vm_args", "JavaVMArgs"];
    set_words(job, &names, "java_vm_arguments2", ["JavaVMArgs", "JavaVMArguments"], false).map(drop)
}

/// Sets the attributes of a tool daemon.
pub(super) fn set_tool_daemon(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    let Some(command) = job.value(&["tool_daemon_cmd", "ToolDaemonCmd"])? else { return Ok(()) };
    job.assign_value("ToolDaemonCmd", command.text.as_str(), &command);
    for (name, attribute) in [
        ("tool_daemon_input", "ToolDaemonInput"),
        ("tool_daemon_output", "ToolDaemonOutput"),
        ("tool_daemon_error", "ToolDaemonError"),
    ] {
        if let Some(value) = job.value(&[name, attribute])? {
            job.assign_value(attribute, value.text.as_str(), &value);
        }
    }
    if let Some(is) = job.truth(&["suspend_job_at_exec", "SuspendJobAtExec"])? {
        job.assign("SuspendJobAtExec", is);
    }
    let names = ["tool_daemon_arguments", "tool_daemon_args", "ToolDaemonArgs"];
    set_words(job, &names, "tool_daemon_arguments2", ["ToolDaemonArgs", "ToolDaemonArguments"], false).map(drop)
}

/// Sets arguments in either syntax. `attributes` are those of the old and of the new syntax. Arguments that nobody gives
/// are set only if `is_needed`. Returns the number of arguments; `None` if the job keeps those of its cluster.
fn set_words(
    job: &mut JobBuilder<'_>,
    names: &[&str],
    new_name: &str,
    attributes: [&str; 2],
    is_needed: bool,
) -> Result<Option<usize>, Problem> {
    let (old, new) = (job.value(names)?, job.value(&[new_name])?);
    if let (Some(_), Some(new)) = (&old, &new)
        && job.truth(&["allow_arguments_v1"])? != Some(true)
    {
        let problem = new.fault(format!("{} and {new_name} exclude each other", names[0]));
        return Err(problem.with_help("leave out one of them, or write allow_arguments_v1 = true"));
    }
    let [old_attribute, new_attribute] = attributes;
    let Some(value) = new.as_ref().or(old.as_ref()) else {
        if job.has(old_attribute) || job.has(new_attribute) {
            return Ok(None);
        }
        if is_needed {
            job.assign(new_attribute, "");
        }
        return Ok(Some(0));
    };
    if new.is_some() || is_quoted(&value.text) {
        let words = quoted_words(new_syntax(value)?.as_bytes());
        let words = words.ok_or_else(|| value.fault("a single quote is not closed"))?;
        let text = words.iter().map(|word| quoted_word(word)).collect::<Vec<_>>().join(&b' ');
        if is_needed || !text.is_empty() {
            job.assign_value(new_attribute, lossy(&text).as_str(), value);
        }
        return Ok(Some(words.len()));
    }
    let words = old_words(value)?;
    if is_needed || !words.is_empty() {
        job.assign_value(old_attribute, words.join(" ").as_str(), value);
    }
    Ok(Some(words.len()))
}

/// Whether a text is in the new syntax: double quotes stand around it.
fn is_quoted(text: &str) -> bool {
    text.trim_start().starts_with('"')
}

/// Returns a text of the new syntax without the double quotes around it, which stand twice within it.
fn new_syntax(value: &CommandValue) -> Result<String, Problem> {
    let text = value.text.trim();
    let Some(inside) = text.strip_prefix('"') else { return Err(value.fault("double quotes must stand around this")) };
    let mut out = String::with_capacity(inside.len());
    let mut characters = inside.chars().peekable();
    while let Some(c) = characters.next() {
        if c != '"' {
            out.push(c);
        } else if characters.next_if_eq(&'"').is_some() {
            out.push('"');
        } else if characters.peek().is_none() {
            return Ok(out);
        } else {
            let help = "write a double quote twice within double quotes";
            return Err(value.fault("something follows the closing double quote").with_help(help));
        }
    }
    Err(value.fault("the double quote is not closed"))
}

/// Splits a text of the old syntax into words. A double quote has a backslash before it.
fn old_words(value: &CommandValue) -> Result<Vec<String>, Problem> {
    let text = value.text.replace("\\\"", "\u{0}");
    if text.contains('"') {
        let help = "write double quotes around all arguments, and a double quote within them twice";
        return Err(value.fault("a double quote stands within arguments of the old syntax").with_help(help));
    }
    Ok(text.split_ascii_whitespace().map(|word| word.replace('\u{0}', "\"")).collect())
}

fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

/// Variables of an environment by name; no value stands for a macro such as `$$(Arch)`.
type EnvironmentTable = BTreeMap<String, Option<String>>;

/// Sets the environment of the job.
pub(super) fn set_environment(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    let (old, new) = (job.value(&["environment", "env"])?, job.value(&["environment2"])?);
    if let (Some(_), Some(new)) = (&old, &new)
        && job.truth(&["allow_environment_v1"])? != Some(true)
    {
        let problem = new.fault("environment and environment2 exclude each other");
        return Err(problem.with_help("leave out one of them, or write allow_environment_v1 = true"));
    }
    let prefers_old = old.is_some() && new.is_none() && job.value(&["env"])?.is_some_and(|env| !is_quoted(&env.text));
    let mut table = EnvironmentTable::new();
    let value = new.as_ref().or(old.as_ref());
    if !job.is_first() {
        // The jobs of a cluster have the variables of its first job, too.
        let Some(value) = value else { return Ok(()) };
        let inherited = job.text("Environment").unwrap_or_default();
        for word in quoted_words(inherited.as_bytes()).unwrap_or_default() {
            set_variable(&mut table, value, &lossy(&word))?;
        }
    }
    let is_old_syntax = value.is_some_and(|value| new.is_none() && !is_quoted(&value.text));
    if let Some(value) = value {
        read_variables(&mut table, value, is_old_syntax)?;
    }
    import_environment(job, &mut table, is_old_syntax)?;
    let [has_old, has_new] = ["Env", "Environment"].map(|name| job.has(name));
    if value.is_none() && table.is_empty() && (has_old || has_new) {
        return Ok(());
    }
    let (writes_old, writes_new) = (prefers_old || has_old, !prefers_old || has_new);
    let entry = |(name, value): (&String, &Option<String>)| match value {
        Some(value) => format!("{name}={value}"),
        None => name.clone(),
    };
    let entries: Vec<String> = table.iter().map(entry).collect();
    let mut assign = |name: &str, text: &str| match value {
        Some(value) => job.assign_value(name, text, value),
        None => job.assign(name, text),
    };
    if writes_old {
        assign("Env", &entries.join(";"));
        assign("EnvDelim", ";");
    }
    if writes_new {
        let words: Vec<Vec<u8>> = entries.iter().map(|entry| quoted_word(entry.as_bytes())).collect();
        assign("Environment", &lossy(&words.join(&b' ')));
    }
    Ok(())
}

/// Adds the variables that a command sets.
fn read_variables(table: &mut EnvironmentTable, value: &CommandValue, is_old_syntax: bool) -> Result<(), Problem> {
    if !is_old_syntax {
        let words = quoted_words(new_syntax(value)?.as_bytes());
        for word in words.ok_or_else(|| value.fault("a single quote is not closed"))? {
            set_variable(table, value, &lossy(&word))?;
        }
        return Ok(());
    }
    // Another mark at the beginning separates the variables instead of `;`.
    let is_mark = |c: &char| "\u{1f}!#$%&*+,-/:<>?@^`|~".contains(*c);
    let mark = value.text.chars().next().filter(is_mark);
    let entries = &value.text[mark.map_or(0, char::len_utf8)..];
    let entries = entries.split([mark.unwrap_or(';'), '\n']).map(str::trim_start);
    entries.filter(|entry| !entry.is_empty()).try_for_each(|entry| set_variable(table, value, entry))
}

fn set_variable(table: &mut EnvironmentTable, value: &CommandValue, entry: &str) -> Result<(), Problem> {
    match entry.split_once('=') {
        Some(("", _)) => Err(value.fault(format!("a variable in `{entry}` has no name"))),
        Some((name, text)) => {
            table.insert(name.to_owned(), Some(text.to_owned()));
            Ok(())
        }
        None if entry.contains("$$") => {
            table.insert(entry.to_owned(), None);
            Ok(())
        }
        None => Err(value
            .fault(format!("`=` is missing after the variable {entry}"))
            .with_help(format!("write {entry}=VALUE"))),
    }
}

/// Adds the variables of the environment that `getenv` asks for, if it may be read.
fn import_environment(job: &mut JobBuilder<'_>, table: &mut EnvironmentTable, is_old: bool) -> Result<(), Problem> {
    let Some(value) = job.value(&["getenv", "get_env"])? else { return Ok(()) };
    let truth = truth_of(&value.text, job.context());
    if truth == Some(false) {
        return Ok(());
    }
    if truth == Some(true) && !job.settings.truth("SUBMIT_ALLOW_GETENV", true) {
        return Err(value
            .fault("the configuration forbids getenv = true")
            .with_help("list the variables that the job needs"));
    }
    if !job.settings.allows_environment {
        let problem = value.fault("the environment is not read: the job gets no variable of it");
        job.variables.warn(problem.with_help("with --allow-env the environment of this program counts"));
        return Ok(());
    }
    let patterns = if truth == Some(true) { Vec::new() } else { super::queue::words(&value.text) };
    let (refused, wanted): (Vec<&str>, Vec<&str>) =
        patterns.iter().map(String::as_str).partition(|name| name.starts_with('!'));
    let is_wanted = |name: &str| {
        !refused.iter().any(|pattern| super::items::matches_pattern(&pattern[1..], name))
            && (wanted.is_empty() || wanted.iter().any(|pattern| super::items::matches_pattern(pattern, name)))
    };
    for (name, text) in std::env::vars().filter(|(name, _)| is_wanted(name)) {
        if !(is_old && (text.contains(';') || text.contains('\n'))) {
            table.entry(name).or_insert(Some(text));
        }
    }
    Ok(())
}
