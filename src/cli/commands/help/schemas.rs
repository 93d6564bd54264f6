//! The JSON Schemas of JSON outputs.

use classad::text::{closest_names, suggestion};

/// A JSON Schema: its name, and its text.
pub struct OutputSchema {
    pub name: &'static str,
    pub text: &'static str,
}

macro_rules! schemas {
    ($($name:literal)*) => {
        /// All schemas, in alphabetical order.
        pub const SCHEMAS: &[OutputSchema] =
            &[$(OutputSchema { name: $name, text: include_str!(concat!("schemas/", $name, ".json")) },)*];
    };
}

schemas! {
    "ads" "census" "check" "cycles" "diff" "explain" "explain-pair" "explain-starts" "explain-times" "gang-reports" "gangs" "notices" "parts"
    "route" "rows"
    "test" "transform"
}

impl OutputSchema {
    /// Returns what the schema describes: its title.
    pub fn about(&self) -> &'static str {
        let title = self.text.lines().find_map(|line| line.trim().strip_prefix("\"title\": \""));
        title.and_then(|title| title.split_once('"')).map_or("", |(title, _)| title)
    }
}

/// Which outputs have a version.
const RULE: &str = "
Documents have a version in `version`, `schema` or `classad_plan`. Rows and ads have none. The version grows if a key
changes its meaning or goes away.
`classad help schema NAME` prints a JSON Schema.
";

/// Returns the text of a schema; without a name, a list of the schemas.
///
/// # Errors
///
/// The reason, if there is no schema of this name.
pub fn schema_text(name: Option<&str>) -> Result<String, String> {
    let Some(name) = name else {
        let width = SCHEMAS.iter().map(|schema| schema.name.len()).max().unwrap_or(0);
        let lines = SCHEMAS.iter().map(|schema| format!("  {:width$}  {}\n", schema.name, schema.about()));
        return Ok(lines.collect::<String>() + RULE);
    };
    let found = SCHEMAS.iter().find(|schema| schema.name.eq_ignore_ascii_case(name));
    found.map(|schema| schema.text.to_owned()).ok_or_else(|| {
        let near = closest_names(name, SCHEMAS.iter().map(|schema| schema.name));
        let hint = if near.is_empty() { "; `classad help schema` lists them".to_owned() } else { suggestion(&near) };
        format!("there is no schema {name}{hint}")
    })
}
