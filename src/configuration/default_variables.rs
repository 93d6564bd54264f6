//! The values of variables that no file sets.

use std::sync::LazyLock;

use crate::transform::VariableTable;

/// The values of variables that no file sets, as configuration.
const DEFAULTS: &str = include_str!("defaults.config");

/// The variables with these values.
pub(super) static DEFAULT_VARIABLES: LazyLock<VariableTable> = LazyLock::new(|| {
    let lines = DEFAULTS.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(" = ")).collect()
});

/// Returns the value of a variable that no file sets.
pub(super) fn default_value(name: &str) -> Option<String> {
    DEFAULT_VARIABLES.get(name).map(|value| String::from_utf8_lossy(value).into_owned())
}
