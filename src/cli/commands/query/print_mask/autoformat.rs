//! The letters of `-autoformat`, and the columns that `-aaf` appends to other columns.

use classad::ad::Expression;
use classad::syntax::PrintfConversion;

use super::{MaskColumn, PrintMask};
use crate::cli::commands::query::format_string::FormatString;
use crate::cli::commands::query::print_function::find_function;
use crate::cli::io::argument_text;
use crate::cli::outcome::{Failure, refuse};
use crate::cli::session::Session;

/// Flags of `-autoformat:` that apply to each column that follows.
#[derive(Default)]
pub struct AutoformatFlags {
    labels: bool,
    /// The letter of the conversion, if any letter chooses one.
    conversion: Option<char>,
}

/// The letters that choose a conversion. The first of them that is given counts, as in HTCondor.
const CONVERSIONS: [(&str, char); 4] = [("ro", 'r'), ("V", 'V'), ("Y", 'Y'), ("T", 'T')];

impl AutoformatFlags {
    /// Parses the letters after `-autoformat:`. Sets the separators and the heading of the mask, and adds the column of
    /// the job id. Returns the flags of the columns that follow.
    pub fn parse(text: &str, mask: &mut PrintMask) -> Result<Self, Failure> {
        let mut flags = AutoformatFlags::default();
        let mut jobs = false;
        let separators = &mut mask.separators;
        separators.before_row.clear();
        separators.after.clear();
        (separators.before, separators.after_row) = (" ".to_owned(), "\n".to_owned());
        for letter in text.chars() {
            match letter {
                'j' => jobs = true,
                'h' => mask.has_heading = true,
                'l' => flags.labels = true,
                'n' => "\n".clone_into(&mut separators.after),
                ',' => ",".clone_into(&mut separators.after),
                't' => "\t".clone_into(&mut separators.before),
                'g' => {
                    "\n".clone_into(&mut separators.before_row);
                    separators.before.clear();
                }
                'r' | 'o' | 'V' | 'T' | 'Y' => {}
                other => {
                    let message =
                        format!("-autoformat does not support the letter `{other}`; see `classad help from-condor`");
                    return refuse(message);
                }
            }
        }
        flags.conversion =
            CONVERSIONS.iter().find(|(letters, _)| text.contains(|c| letters.contains(c))).map(|row| row.1);
        if jobs {
            let label = if flags.labels { "ID = " } else { "" };
            let format = FormatString {
                before: label.to_owned(),
                is_label: flags.labels,
                conversion: Some(PrintfConversion::of_letter('v', None)),
                ..FormatString::default()
            };
            let mut column = MaskColumn::new(" ID", Expression::attribute("ClusterId"), Some(format));
            column.function = find_function("JOB_ID");
            mask.columns.push(column);
        }
        Ok(flags)
    }

    /// Returns the format of an `-autoformat` column. `text` is the column's expression as written, which is the label.
    pub fn format(&self, text: &str) -> FormatString {
        let before = if self.labels { format!("{text} = ") } else { String::new() };
        let conversion = Some(PrintfConversion::of_letter(self.conversion.unwrap_or('v'), None));
        FormatString { before, is_label: self.labels, conversion, ..FormatString::default() }
    }
}

/// Appends the columns of `-aaf` to a mask. The values of `--append` are like those of `--mask`.
pub fn append_columns(session: &mut Session, mask: &mut PrintMask, parts: &[String]) -> Result<(), Failure> {
    // A last column without a width gets one, so that what follows is aligned.
    if let Some(last) = mask.columns.last_mut().filter(|last| last.width == 0) {
        (last.width, last.is_left_aligned, last.fits_cells) = (3, true, true);
        last.width = last.width.max(last.heading.chars().count());
    }
    let mut letter = None;
    for part in parts {
        match part.split_once(':') {
            Some(("columns", text)) => {
                letter = text.chars().next();
                if text.len() > 1 || letter.is_some_and(|letter| !"VrTY".contains(letter)) {
                    return refuse(format!("-aaf takes one letter of V, r, T and Y, not `{text}`"));
                }
            }
            Some((_, text)) => {
                let expression = argument_text::parse_condor_expression(session, "-aaf", text)?;
                let conversion = Some(PrintfConversion::of_letter(letter.unwrap_or('v'), None));
                let format = FormatString { conversion, ..FormatString::default() };
                let mut column = MaskColumn::new(text, expression, Some(format));
                column.fits_cells = true;
                column.is_left_aligned = true;
                column.width = text.chars().count();
                mask.columns.push(column);
            }
            None => {}
        }
    }
    Ok(())
}
