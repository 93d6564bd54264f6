//! No command uses another.

use crate::sources::{Sources, crate_sources, sources, uses};

/// The uses of a command by another command, or by what all commands share.
fn uses_of_commands(sources: &Sources) -> Vec<String> {
    let command = |module: &str| {
        let name = module.strip_prefix("cli/commands/")?.split('/').next()?;
        Some(name.to_owned())
    };
    let mut faults = Vec::new();
    for (module, used) in uses(sources) {
        // The table of all commands.
        if module == "cli/program" || !module.starts_with("cli/") {
            continue;
        }
        let others = used.iter().filter(|used| command(used).is_some() && command(used) != command(module));
        faults.extend(others.map(|used| format!("{module} uses the command {used}")));
    }
    faults
}

#[test]
fn no_command_uses_another() {
    let faults = uses_of_commands(&crate_sources());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_command_that_uses_another_is_caught() {
    let find = ("cli/commands/find/mod.rs", "pub fn run() {}");
    let show = "cli/commands/show.rs";
    for (file, text) in [
        (show, "use crate::cli::commands::find;"),
        (show, "use crate::cli::{Status, commands::{find::run}};"),
        (show, "fn f() { super::find::run() }"),
        ("cli/args/x.rs", "use crate::cli::commands::find::run;"),
        ("cli/io/x.rs", "fn f() { crate::cli::commands::find::run() }"),
        ("cli/render/x.rs", "use super::super::commands::find as other;"),
    ] {
        assert!(!uses_of_commands(&sources([find, (file, text)])).is_empty(), "{file}: {text}");
    }
    for (file, text) in [
        ("cli/program.rs", "use super::commands; fn f() { commands::find::run() }"),
        ("cli/commands/find/part.rs", "use super::run;"),
        (show, "#[cfg(test)] mod tests { use crate::cli::commands::find; }"),
    ] {
        assert!(uses_of_commands(&sources([find, (file, text)])).is_empty(), "{file}: {text}");
    }
}
