//! Preview of a transformation: the changed attributes, and the rules and flags that change them.

use std::io::Write;

use classad::ad::{Ad, Attribute, Name};
use classad::format::Form;
use classad::syntax::{Style, print, print_name};
use classad::transform::{Cause, Keyword};
use serde_json::{Value as Json, json};

use super::ResultOf;
use super::flags::{Origin, Pipeline};
use crate::cli::Failure;
use crate::cli::io::input::Identified;
use crate::cli::render::diagnostics;
use crate::cli::render::output::OutputForm;

/// Version of the schema of the JSON output.
const VERSION: u32 = 1;

/// A changed attribute: before (`None` if it is new), after (`None` if it is deleted), and what changed it.
struct Change<'a> {
    old: Option<Attribute<'a>>,
    new: Option<Attribute<'a>>,
    by: Vec<Cause>,
}

/// Writer of the preview, ad by ad.
pub struct Differences<'a> {
    pipeline: &'a Pipeline,
    form: Option<OutputForm>,
    colored: bool,
    count: usize,
}

impl<'a> Differences<'a> {
    /// Creates a writer of text, or of JSON.
    ///
    /// # Errors
    ///
    /// Refuses any other form.
    pub fn new(form: Option<OutputForm>, pipeline: &'a Pipeline, colored: bool) -> Result<Self, Failure> {
        match form {
            None | Some(OutputForm::Json | OutputForm::Jsonl) => Ok(Differences { pipeline, form, colored, count: 0 }),
            Some(_) => {
                Err(Failure::Refused(Some("differences are written as text, or with -o json or jsonl".to_owned())))
            }
        }
    }

    /// Whether any ad changed.
    pub fn any(&self) -> bool {
        self.count > 0
    }

    /// Writes the changes of an ad, if there are any.
    pub fn add(
        &mut self,
        out: &mut dyn Write,
        ad: &Identified,
        result: &ResultOf<'_>,
        quiet: bool,
    ) -> Result<(), Failure> {
        let changes = changes(result.before, &result.result.ad, &result.result.fired);
        if changes.is_empty() && result.copy.is_none() {
            return Ok(());
        }
        self.count += 1;
        let style = if result.text.block.form == Form::New { Style::New } else { Style::Long };
        if quiet {
            return Ok(());
        }
        match self.form {
            None => self.text(out, ad, result, &changes, style)?,
            Some(form) => {
                let before = match (form, self.count) {
                    (OutputForm::Jsonl, _) => "",
                    (_, 1) => "[\n",
                    _ => ",\n",
                };
                let object = self.object(ad, result, &changes, style);
                write!(out, "{before}{object}{}", if form == OutputForm::Jsonl { "\n" } else { "" })?;
            }
        }
        Ok(())
    }

    /// Writes the end of the output.
    pub fn finish(&self, out: &mut dyn Write, quiet: bool) -> Result<(), Failure> {
        if self.form == Some(OutputForm::Json) && !quiet {
            writeln!(out, "{}", if self.count == 0 { "[]" } else { "\n]" })?;
        }
        out.flush()?;
        Ok(())
    }

    fn text(
        &self,
        out: &mut dyn Write,
        ad: &Identified,
        result: &ResultOf<'_>,
        changes: &[Change<'_>],
        style: Style,
    ) -> Result<(), Failure> {
        let copy = result.copy.map_or(String::new(), |copy| format!(" (ad {copy} made of it)"));
        writeln!(out, "{}{copy}", ad.id())?;
        for change in changes {
            for (sign, attribute) in [('-', change.old), ('+', change.new)] {
                if let Some(attribute) = attribute {
                    let expression = print(attribute.expression, style);
                    let text = format!("{} = {}", print_name(attribute.name), String::from_utf8_lossy(&expression));
                    writeln!(out, "{}", diagnostics::signed_line(self.colored, "  ", sign, &text))?;
                }
            }
            for cause in &change.by {
                writeln!(
                    out,
                    "      {}",
                    self.origin(*cause).describe(&self.pipeline.sources, self.statement(*cause))
                )?;
            }
        }
        Ok(())
    }

    fn object(&self, ad: &Identified, result: &ResultOf<'_>, changes: &[Change<'_>], style: Style) -> Json {
        let text = |attribute: Option<Attribute<'_>>| match attribute {
            Some(attribute) => String::from_utf8_lossy(&print(attribute.expression, style)).into_owned().into(),
            None => Json::Null,
        };
        let name = |change: &Change<'_>| change.new.or(change.old).map(|attribute| attribute.name.as_str().to_owned());
        let changes = changes.iter().map(|change| {
            let by: Vec<Json> = change.by.iter().map(|cause| self.cause(*cause)).collect();
            json!({"attribute": name(change), "old": text(change.old), "new": text(change.new), "by": by})
        });
        json!({
            "version": VERSION,
            "id": ad.id(),
            "source": result.text.name.as_ref(),
            "ad": result.number,
            "copy": result.copy,
            "changes": changes.collect::<Vec<Json>>(),
        })
    }

    fn cause(&self, cause: Cause) -> Json {
        match self.origin(cause) {
            Origin::Flag(text) => json!({"flag": text}),
            Origin::File(file, name) => json!({
                "rule": name,
                "file": self.pipeline.sources[*file].name.as_ref(),
                "line": self.statement(cause).map(|statement| statement.line),
                "keyword": self.statement(cause).and_then(|s| s.action.keyword()).map(Keyword::as_str),
            }),
        }
    }

    fn origin(&self, cause: Cause) -> &Origin {
        &self.pipeline.origins[cause.rule]
    }

    fn statement(&self, cause: Cause) -> Option<&classad::transform::Statement> {
        self.pipeline.transform.rules.get(cause.rule)?.statements.get(cause.statement?)
    }
}

/// Returns the attributes that differ, in the order of the old ad and then of the new one, each with all its causes.
fn changes<'a>(old: &'a Ad, new: &'a Ad, fired: &[classad::transform::Fired]) -> Vec<Change<'a>> {
    let mut causes = std::collections::HashMap::<&Name, Vec<Cause>>::new();
    for one in fired {
        let all = causes.entry(&one.attribute).or_default();
        if all.last() != Some(&one.cause) {
            all.push(one.cause);
        }
    }
    let names = old.iter().chain(new.iter().filter(|attribute| old.get(attribute.name).is_none()));
    let in_new: std::collections::HashMap<&Name, Attribute<'a>> =
        new.iter().filter(|attribute| causes.contains_key(attribute.name)).map(|a| (a.name, a)).collect();
    let changed = names.filter_map(|attribute| {
        let by = causes.get(attribute.name)?.clone();
        let old = old.get(attribute.name).is_some().then_some(attribute);
        let new = in_new.get(attribute.name).copied();
        let same = old
            .zip(new)
            .is_some_and(|(old, new)| old.name.as_str() == new.name.as_str() && old.expression == new.expression);
        (!same).then_some(Change { old, new, by })
    });
    changed.collect()
}
