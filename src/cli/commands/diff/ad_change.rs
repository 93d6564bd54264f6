//! A difference between two ads, and how it is printed.

use std::io::{self, Write};

use classad::format::AdEntry;
use classad::pool::diff::Difference;
use classad::syntax::print_name;
use serde_json::{Value, json};

use super::{AdComparison, PRIVATE};
use crate::cli::render::diagnostics;

/// An ad that changed, or that only one file has. At least one of `before` and `after` is `Some`.
pub struct AdChange {
    /// The display name; `None` if the ad has none.
    pub name: Option<String>,
    pub before: Option<AdEntry>,
    pub after: Option<AdEntry>,
}

impl AdChange {
    pub fn differences<'a>(&'a self, comparison: &'a AdComparison) -> Vec<Difference<'a>> {
        comparison.differences(self.before.as_ref(), self.after.as_ref())
    }

    /// Returns the name of the ad, or `ad N` with the number of the ad in the file if it has no name.
    pub fn label(&self) -> String {
        match (&self.name, self.ad_numbers()) {
            (Some(name), _) => name.clone(),
            (None, (Some(before), Some(after))) if before != after => format!("ad {before} (now ad {after})"),
            (None, (before, after)) => format!("ad {}", before.or(after).unwrap_or_default()),
        }
    }

    /// Returns the 1-based numbers of the ad in the two files; `None` for a file without the ad.
    pub fn ad_numbers(&self) -> (Option<usize>, Option<usize>) {
        let number = |entry: &Option<AdEntry>| entry.as_ref().map(|entry| entry.number);
        (number(&self.before), number(&self.after))
    }

    /// Returns the kind of the change and its sign in the default output, such as `changed` and `~`.
    pub fn kind(&self) -> (&'static str, char) {
        match (&self.before, &self.after) {
            (Some(_), None) => ("removed", '-'),
            (None, _) => ("added", '+'),
            (Some(_), Some(_)) => ("changed", '~'),
        }
    }

    /// Writes the default output: lines with `~`, `-` and `+`.
    pub fn write(&self, out: &mut dyn Write, colored: bool, comparison: &AdComparison) -> io::Result<()> {
        let (kind, sign) = self.kind();
        writeln!(out, "{}", diagnostics::signed_line(colored, "", sign, &self.label()))?;
        let differences = if kind == "changed" { self.differences(comparison) } else { Vec::new() };
        for one in differences {
            let sides = match one {
                Difference::Changed(attribute, _) if comparison.hides(self, attribute.name) => {
                    [Some(('~', attribute)), None]
                }
                _ => [one.before().map(|old| ('-', old)), one.after().map(|new| ('+', new))],
            };
            for (sign, attribute) in sides.into_iter().flatten() {
                let shown = comparison.text(self, attribute).map_or(format!(" {PRIVATE}"), |text| format!(" = {text}"));
                let line = format!("{}{shown}", print_name(attribute.name));
                writeln!(out, "{}", diagnostics::signed_line(colored, "  ", sign, &line))?;
            }
        }
        Ok(())
    }

    pub fn json(&self, comparison: &AdComparison) -> Value {
        let attributes = self.differences(comparison).into_iter().map(|one| {
            let [before, after] =
                [one.before(), one.after()].map(|side| side.and_then(|attribute| comparison.text(self, attribute)));
            json!({ "name": one.name().as_str(), "before": before, "after": after })
        });
        let (before, after) = self.ad_numbers();
        json!({
            "id": self.name,
            "change": self.kind().0,
            "before": before,
            "after": after,
            "attributes": attributes.collect::<Value>(),
        })
    }
}
