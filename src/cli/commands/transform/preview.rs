//! Preview of a transformation: the changed attributes, and the rules and flags that change them.

use std::collections::HashMap;
use std::io::{self, Write};

use classad::ad::{Ad, Attribute, Name};
use classad::syntax::{Style, expression_text, print_name};
use classad::transform::{AppliedChange, Keyword, StatementPosition};
use serde_json::{Value as Json, json};

use super::flags::{Pipeline, RuleOrigin};
use super::transform_task::PipelineResult;
use crate::cli::outcome::{Failure, refuse};
use crate::cli::render::diagnostics;
use crate::cli::render::json::JsonValueWriter;
use crate::cli::render::output::OutputForm;

/// Version of the schema of the JSON output.
const SCHEMA_VERSION: u32 = 1;

/// A changed attribute: before (`None` if it is new), after (`None` if it is deleted), and the statements that changed
/// it.
struct PreviewChange<'a> {
    old: Option<Attribute<'a>>,
    new: Option<Attribute<'a>>,
    by: Vec<StatementPosition>,
}

/// The source of an ad.
#[derive(Clone, Copy)]
pub struct PreviewPlace<'a> {
    /// Name of the source.
    pub source: &'a str,
    /// Number of ads before the block of the ad.
    pub ads_before: usize,
    /// How the expressions of the source are printed.
    pub style: Style,
}

/// Writer of the preview, ad by ad.
pub struct PreviewWriter<'a> {
    pipeline: &'a Pipeline,
    /// Writer of JSON; `None` if the preview is text.
    json: Option<JsonValueWriter>,
    colored: bool,
    /// Number of ads that changed.
    pub changed: usize,
}

impl<'a> PreviewWriter<'a> {
    /// Creates a writer of text, or of JSON.
    ///
    /// # Errors
    ///
    /// Fails if `form` is neither JSON nor JSON lines.
    pub fn new(form: Option<OutputForm>, pipeline: &'a Pipeline, colored: bool) -> Result<Self, Failure> {
        match form {
            None | Some(OutputForm::Json | OutputForm::Jsonl) => {
                Ok(PreviewWriter { pipeline, json: form.map(JsonValueWriter::new), colored, changed: 0 })
            }
            Some(_) => refuse("-n prints text; -o can be json or jsonl"),
        }
    }

    /// Writes the changes of an ad, if there are any.
    pub fn write(
        &mut self,
        out: &mut dyn Write,
        is_quiet: bool,
        result: &PipelineResult,
        place: PreviewPlace<'_>,
    ) -> io::Result<()> {
        let changes = attribute_changes(&result.before, &result.after, &result.changes);
        if changes.is_empty() && result.copy.is_none() {
            return Ok(());
        }
        self.changed += 1;
        match &mut self.json {
            _ if is_quiet => Ok(()),
            Some(json) => json.write(out, &result_json(self.pipeline, result, place, &changes)),
            None => self.write_text(out, result, place, &changes),
        }
    }

    /// Writes the end of the output.
    pub fn finish(&self, out: &mut dyn Write) -> io::Result<()> {
        self.json.iter().try_for_each(|json| json.finish(out))?;
        out.flush()
    }

    fn write_text(
        &self,
        out: &mut dyn Write,
        result: &PipelineResult,
        place: PreviewPlace<'_>,
        changes: &[PreviewChange],
    ) -> io::Result<()> {
        let copy = result.copy.map_or(String::new(), |copy| format!(" (ad {copy} made of it)"));
        writeln!(out, "{}{copy}", result.original.name(place.source, place.ads_before))?;
        for change in changes {
            for (sign, attribute) in [('-', change.old), ('+', change.new)] {
                if let Some(attribute) = attribute {
                    let expression = expression_text(attribute.expression, place.style);
                    let text = format!("{} = {expression}", print_name(attribute.name));
                    writeln!(out, "{}", diagnostics::signed_line(self.colored, "  ", sign, &text))?;
                }
            }
            for cause in &change.by {
                writeln!(out, "      {}", self.pipeline.describe(*cause))?;
            }
        }
        Ok(())
    }
}

/// Returns the changes of an ad, as `-n -o json` prints them.
fn result_json(
    pipeline: &Pipeline,
    result: &PipelineResult,
    place: PreviewPlace<'_>,
    changes: &[PreviewChange<'_>],
) -> Json {
    let text = |attribute: Option<Attribute<'_>>| Some(expression_text(attribute?.expression, place.style));
    let changes = changes.iter().map(|change| {
        let by: Json = change.by.iter().map(|cause| cause_json(pipeline, *cause)).collect();
        let name = change.new.or(change.old).map(|attribute| attribute.name.as_str());
        json!({"attribute": name, "old": text(change.old), "new": text(change.new), "by": by})
    });
    json!({
        "version": SCHEMA_VERSION,
        "id": result.original.name(place.source, place.ads_before),
        "source": place.source,
        "ad": place.ads_before + result.original.number,
        "copy": result.copy,
        "changes": changes.collect::<Json>(),
    })
}

fn cause_json(pipeline: &Pipeline, cause: StatementPosition) -> Json {
    let statement = pipeline.statement(cause);
    match &pipeline.origins[cause.rule] {
        RuleOrigin::Flag(text) => json!({"flag": text}),
        RuleOrigin::File(file, name) => json!({
            "rule": name,
            "file": pipeline.sources[*file].name.as_ref(),
            "line": statement.map(|statement| statement.line),
            "keyword": statement.and_then(|statement| statement.action.keyword()).map(Keyword::as_str),
        }),
    }
}

/// Returns the attributes that differ, each with all statements that changed it. Attributes of `old` come first, then
/// those that only `new` has.
fn attribute_changes<'a>(old: &'a Ad, new: &'a Ad, applied: &[AppliedChange]) -> Vec<PreviewChange<'a>> {
    let mut causes = HashMap::<&Name, Vec<StatementPosition>>::new();
    for change in applied {
        let positions = causes.entry(&change.attribute).or_default();
        if positions.last() != Some(&change.position) {
            positions.push(change.position);
        }
    }
    let names = old.iter().chain(new.iter().filter(|attribute| old.get(attribute.name).is_none()));
    let changed = names.filter_map(|attribute| {
        let by = causes.get(attribute.name)?.clone();
        let (old, new) = (old.attribute(attribute.name), new.attribute(attribute.name));
        let same = old
            .zip(new)
            .is_some_and(|(old, new)| old.name.as_str() == new.name.as_str() && old.expression == new.expression);
        (!same).then_some(PreviewChange { old, new, by })
    });
    changed.collect()
}
