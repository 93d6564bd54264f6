//! Options of SQL, jq, awk and other tools, and the options here that do the same.

use clap::error::{ContextKind, ContextValue};
use clap::{Arg, Command};

/// Names of options elsewhere, the option here, and the advice. The advice holds for commands that have the option.
const FOREIGN_OPTIONS: &[(&[&str], &str, &str)] = &[
    (&["select", "fields", "columns", "project", "cols"], "af", "print columns with `--af EXPR,...`"),
    (
        &["select", "fields", "columns", "project", "cols"],
        "attributes",
        "print attributes with `--attributes NAME,...`",
    ),
    (&["where", "filter"], "constraint", "give the constraint with `--constraint EXPR`"),
    (&["where", "filter", "constraint", "request", "job", "only"], "roots", "select requests with `--roots EXPR`"),
    (&["order-by", "orderby", "order"], "sort", "sort with `--sort EXPR`"),
    (&["order-by", "orderby", "sort"], "order", "set the order of requests with `--order EXPR`"),
    (&["descending", "reverse"], "desc", "sort in descending order with `--desc`"),
    (&["avg", "average"], "mean", "compute the mean with `--mean EXPR`"),
    (&["quantile", "percentiles", "quartile"], "percentile", "compute a percentile with `--percentile P:EXPR`"),
    (&["minimum", "least"], "min", "compute the least value with `--min EXPR`"),
    (&["maximum", "greatest"], "max", "compute the greatest value with `--max EXPR`"),
    (&["total"], "sum", "compute the sum with `--sum EXPR`"),
    (&["group", "groupby", "by"], "group-by", "group with `--group-by EXPR`"),
    (&["head", "first", "max-count", "take"], "limit", "limit the number of rows with `--limit N`"),
    (&["uniq", "unique"], "distinct", "print equal rows once with `--distinct`"),
    (&["not", "exclude"], "invert", "print the other ads with `--invert`"),
    (&["format", "output-format", "form"], "output", "set the output format with `-o FORM`"),
    (&["input-format", "type"], "from", "set the input format with `--from FORM`"),
    (&["delimiter", "separator", "field-separator"], "csv", "separate values with `-o csv` or `-o tsv`"),
    (
        &["offer-constraint", "slot-constraint"],
        "pool",
        "select the offers first: pipe the output of `classad query EXPR SLOTS` to `--pool -`",
    ),
    (&["owner", "user", "submitter"], "request", "select requests of a user with `--request USER`"),
    (&["offers", "slots", "machines"], "pool", "name files of offers with `--pool FILE`"),
];

/// Commands whose option of the same name does something else, which the advice would not fit.
const OTHER_MEANINGS: [(&str, &str); 4] =
    [("autocluster", "roots"), ("autocluster", "order"), ("census", "sort"), ("gangmatch", "limit")];

/// Replaces the suggestion of an error about an unknown option, if the option is one of another tool. `command` is the
/// command of the run, in the tree of all commands.
pub fn suggest(error: &mut clap::Error, tree: &Command, command: &Command) {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return };
    let name = option.trim_start_matches('-').split('=').next().unwrap_or_default().to_ascii_lowercase();
    let known: Vec<&str> = command.get_arguments().chain(tree.get_arguments()).filter_map(Arg::get_long).collect();
    let has = |long: &&str| known.contains(long) && !OTHER_MEANINGS.contains(&(command.get_name(), *long));
    let mut rows = FOREIGN_OPTIONS.iter().filter(|(names, ..)| names.contains(&name.as_str()));
    let Some((_, _, advice)) = rows.find(|(_, long, _)| has(long)) else { return };
    error.remove(ContextKind::SuggestedArg);
    // The usage shows the option that clap suggests.
    error.remove(ContextKind::Usage);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![(*advice).into()]));
}

/// Adds a tip to an error about the value of an option: rows of columns are not a form of ads.
pub fn suggest_query_for_columns(error: &mut clap::Error) {
    let of = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.as_str(),
        _ => "",
    };
    let is_form_of_ads = of(ContextKind::InvalidArg).starts_with("--to ");
    if is_form_of_ads && ["csv", "tsv", "table", "markdown"].contains(&of(ContextKind::InvalidValue)) {
        let tip = "print columns with `classad query true FILE --af NAME,... -o csv`";
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
}

#[cfg(test)]
mod tests {
    use super::FOREIGN_OPTIONS;

    #[test]
    fn each_option_is_one_of_a_command() {
        let mut tree = crate::cli::program::tree();
        tree.build();
        for (_, long, _) in FOREIGN_OPTIONS {
            let mut all = tree.get_subcommands().flat_map(clap::Command::get_arguments).chain(tree.get_arguments());
            assert!(all.any(|arg| arg.get_long() == Some(long)), "{long}");
        }
    }
}
