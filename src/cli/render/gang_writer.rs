//! Writing of gangs one after the other, in the form of `--output`.

use std::io::Write;

use classad::format::FileFormat;
use classad::matching::gang::{Gang, environment_ad};

use crate::cli::args::output::TableOutputArgs;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::io::parties::Parties;
use crate::cli::outcome::Failure;
use crate::cli::render::diagnostics;
use crate::cli::render::gang::GangView;
use crate::cli::render::json::JsonValueWriter;
use crate::cli::render::output::{AdWriter, OutputForm, out};
use crate::cli::render::rows::{ResultTable, TableCell, TableWriter};
use crate::cli::render::svg::gang_trees::{GangTree, MAX_DRAWN_GANGS, gang_picture};
use crate::cli::session::Session;

/// Writes gangs, in one of the forms of output.
pub enum GangWriter {
    Tree {
        width: usize,
    },
    Json(JsonValueWriter),
    Ads(AdWriter),
    /// The evaluation environments of the gangs.
    Environments(AdWriter),
    /// A table, which is collected until all its rows are known.
    Table {
        rows: ResultTable,
        with_header: bool,
    },
    Rows(TableWriter),
    /// A picture of the first gangs.
    Picture {
        gangs: Vec<GangTree>,
        /// Number of all gangs.
        count: usize,
    },
}

/// The columns of the forms that have one row per gang.
const HEADER: [&str; 3] = ["request", "offers", "ranks"];

impl GangWriter {
    /// Makes a writer. If `--output` is not given, it writes trees on a terminal and tab-separated rows elsewhere.
    pub fn new(output: TableOutputArgs) -> Self {
        let form = output.form.unwrap_or(if Session::is_terminal() { OutputForm::Tree } else { OutputForm::Tsv });
        let (header, with_header) = (HEADER.map(str::to_owned).to_vec(), !output.no_header);
        match (form, form.ad_form()) {
            (OutputForm::Tree, _) => GangWriter::Tree { width: diagnostics::terminal_width() },
            (OutputForm::Svg, _) => GangWriter::Picture { gangs: Vec::new(), count: 0 },
            (OutputForm::Json | OutputForm::Jsonl, _) => GangWriter::Json(JsonValueWriter::new(form)),
            (OutputForm::Table, _) => {
                GangWriter::Table { rows: ResultTable { header, ..ResultTable::default() }, with_header }
            }
            (_, Some(format)) => GangWriter::Ads(AdWriter::with_form(format)),
            (_, None) => GangWriter::Rows(TableWriter::with_form(header, form, with_header)),
        }
    }

    /// Makes a writer of the evaluation environments of gangs, which are ads.
    ///
    /// # Errors
    ///
    /// Fails if `--output` is not a form of ads.
    pub fn of_environments(output: TableOutputArgs) -> Result<Self, Failure> {
        Ok(GangWriter::Environments(AdWriter::new(output.form, FileFormat::Bracketed)?))
    }

    /// Writes a gang, of one unit of its request if the request stands for several units.
    pub fn write(
        &mut self,
        session: &mut Session,
        gang: &Gang,
        unit: Option<usize>,
        parties: &Parties,
    ) -> Result<(), Failure> {
        let out = &mut out();
        let context = session.context();
        // Computing the identifier of the match takes time: only the forms that print the identifier call this closure.
        let view = || GangView::new(gang, unit, parties.gang_notice(gang, unit, &context, None).id, parties);
        match self {
            GangWriter::Tree { width } => out.write_all(view().tree(*width).as_bytes())?,
            GangWriter::Json(writer) => writer.write(out, &view().record())?,
            GangWriter::Ads(writer) => {
                let view = view();
                writer.write(session, out, &NamedAd::unnamed(view.ad()).with_name(view.id))?;
            }
            GangWriter::Environments(writer) => {
                let [requests, offers] = parties.ads();
                match environment_ad(&requests[gang.request], &offers, gang) {
                    Ok(environment) => {
                        let name = parties.request_name(gang.request, unit);
                        writer.write(session, out, &NamedAd::unnamed(environment).with_name(name))?;
                    }
                    Err(fault) => parties.requests[gang.request].report_bad_ports(session, &fault)?,
                }
            }
            GangWriter::Table { rows, .. } => {
                let unfilled = GangView::new(gang, unit, String::new(), parties).unfilled();
                rows.rows.push(gang_row(gang, unit, parties, ", ").into_iter().chain([unfilled.into()]).collect());
            }
            GangWriter::Rows(writer) => writer.write(out, gang_row(gang, unit, parties, ","))?,
            GangWriter::Picture { gangs, count } => {
                *count += 1;
                if gangs.len() < MAX_DRAWN_GANGS {
                    gangs.push(view().drawn());
                }
            }
        }
        Ok(())
    }

    /// Writes the end of the document, or the whole table.
    pub fn finish(self) -> Result<(), Failure> {
        let out = &mut out();
        match self {
            GangWriter::Tree { .. } => {}
            GangWriter::Json(writer) => writer.finish(out)?,
            GangWriter::Ads(writer) | GangWriter::Environments(writer) => writer.finish(out)?,
            GangWriter::Table { mut rows, with_header } => {
                // Unfilled ports are rare: drop the column `unfilled` if all its cells are empty.
                if rows.rows.iter().any(|row| row.last().is_some_and(|unfilled| !unfilled.text.is_empty())) {
                    rows.header.push("unfilled".to_owned());
                } else {
                    rows.rows.iter_mut().for_each(|row| row.truncate(HEADER.len()));
                }
                rows.write(out, Some(OutputForm::Table), with_header)?;
            }
            GangWriter::Rows(mut writer) => writer.finish(out)?,
            GangWriter::Picture { gangs, count } => out.write_all(gang_picture(&gangs, count).as_bytes())?,
        }
        Ok(out.flush()?)
    }
}

/// Returns three cells for a gang: the name of the request, the names of the offers, and two ranks for each offer, such
/// as `5/2`. The offer gets the first rank from the port at which it is docked. The second rank is the value of the
/// offer's own rank. The offers are in the depth-first order of the ports.
fn gang_row(gang: &Gang, unit: Option<usize>, parties: &Parties, between: &str) -> Vec<TableCell> {
    let members = gang.members();
    let ids: Vec<String> = members.iter().map(|docked| parties.offer_name(docked.offer, docked.part)).collect();
    let ranks: Vec<String> = members.iter().map(|docked| format!("{}/{}", docked.rank, docked.offer_rank)).collect();
    [parties.request_name(gang.request, unit), ids.join(between), ranks.join(between)].map(TableCell::from).into()
}
