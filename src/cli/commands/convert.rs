//! `classad convert`: rewrites ads in another form.

use clap::Args;

use crate::cli::args::ad_files::AdFilesArgs;
use crate::cli::io::ad_copy::copy_ads;
use crate::cli::io::input;
use crate::cli::outcome::{Failure, Status, refuse};
use crate::cli::render::output::{AdWriter, OutputForm, out};
use crate::cli::session::Session;

const EXAMPLES: &str = "\
Examples:
  classad convert --to json samples/pool/machines.long
  classad convert --to xml --strict samples/license/*.ad
  condor_status -long | classad convert --to jsonl | gzip > pool.jsonl.gz
  condor_status -long | classad convert --to parquet --columns Name,Memory \\
      --schema types.json > pool.parquet

Files of gzip, zstd, xz and bzip2 are unpacked. Values that the output format cannot represent are changed and reported.
With --strict, the exit status is then 2, and the ad is skipped; in Parquet, the ad is kept.

A Parquet file has columns of evaluated values: see `classad help formats`.";

/// Convert ads to another format
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Convert {
    #[command(flatten)]
    input: AdFilesArgs,
    /// Format of the output
    #[arg(long, short = 'o', visible_alias = "output", value_name = "FORM")]
    to: OutputForm,
    /// Columns of the Parquet file; `NAME=EXPR` names a column
    #[arg(long, value_name = "[NAME=]EXPR,...")]
    columns: Vec<String>,
    /// Read the types of the columns from this file, as with `query --schema`
    #[arg(long, value_name = "FILE", requires = "columns")]
    schema: Option<String>,
}

impl Convert {
    /// Returns the files, the columns and the schema of the query that writes columns. `None` if whole ads are written.
    pub fn columns(&self) -> Option<(AdFilesArgs, Vec<String>, Option<String>)> {
        let writes_columns = self.to.ad_form().is_none() && !self.columns.is_empty();
        writes_columns.then(|| (self.input.clone(), self.columns.clone(), self.schema.clone()))
    }

    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let Some(form) = self.to.ad_form() else {
            return refuse("--to parquet needs columns, such as --columns Name,Memory");
        };
        if !self.columns.is_empty() {
            return refuse("--columns needs --to parquet; for other formats, use `query true --attributes NAME,...`");
        }
        let mut sources = input::open_decided(session, &self.input.paths()?)?;
        let mut out = out();
        let mut writer = AdWriter::with_form(form);
        let mut count = 0_usize;
        for source in &mut sources {
            let document = writer.document().filter(|_| !session.options.quiet);
            count += copy_ads(session, source, document, &mut out)?;
        }
        if !sources.is_empty() {
            writer.finish(&mut out)?;
        }
        Ok(Status::of(count > 0))
    }
}
