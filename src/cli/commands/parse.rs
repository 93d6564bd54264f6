//! `classad parse`: checks that files parse and prints their ads.

use std::io::{self, Write};

use clap::Args;
use classad::syntax::print_name;

use crate::cli::args::ad_files::AdFilesArgs;
use crate::cli::io::ad_copy::copy_ads;
use crate::cli::io::source::AdSource;
use crate::cli::io::{cases, input};
use crate::cli::outcome::{Failure, Status};
use crate::cli::render::expression_tree;
use crate::cli::render::output::{DocumentWriter, OutputForm, out};
use crate::cli::session::Session;

const EXAMPLES: &str = "\
Examples:
  classad parse samples/pool/machines.long
  classad parse --count samples/pool/*.long
  classad parse --ast samples/papers/thesis-figure-2-job.ad";

/// Check that files parse, and print their ads
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Parse {
    #[command(flatten)]
    input: AdFilesArgs,
    /// Print only the name of each file and the number of its ads
    #[arg(long)]
    count: bool,
    /// Print the tree of each expression
    #[arg(long, conflicts_with = "output")]
    ast: bool,
    /// Parse the texts in FILE, and print a line of JSON for each. Each line of FILE looks like `{"id": 1, "text": "a +
    /// 1", "form": "expr"}`; form can also be a format of --from
    #[arg(long, value_name = "FILE")]
    cases: Option<String>,
    /// Format of the output
    #[arg(short, long, value_name = "FORM")]
    output: Option<OutputForm>,
}

impl Parse {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        if let Some(file) = &self.cases {
            return cases::run(session, file, cases::parse);
        }
        let mut sources = input::open_decided(session, &self.input.paths()?)?;
        let (mut stdout, mut nowhere) = (out(), io::sink());
        let ads_out: &mut dyn Write = if self.count || self.ast { &mut nowhere } else { &mut stdout };
        let mut has_ads = false;
        let mut documents = DocumentWriter::new(self.output);
        for source in &mut sources {
            documents.begin_file(ads_out, source.form)?;
            if !self.ast && self.output != Some(OutputForm::Names) {
                let is_printed = !self.count && !session.options.quiet;
                let document = documents.document().filter(|_| is_printed);
                let count = copy_ads(session, source, document, ads_out)?;
                self.end_file(source, count)?;
                has_ads |= count > 0;
                continue;
            }
            let mut count = 0;
            input::for_each_ad(session, [&mut *source], |session, text, entry| {
                count += 1;
                if session.options.quiet || self.count {
                    return Ok(true);
                }
                let ad = input::name_ad(session, text, entry, None);
                if self.ast {
                    let mut out = out();
                    writeln!(out, "{}", ad.id())?;
                    for attribute in ad.ad.printed(session.dialect()).iter() {
                        write!(out, "  {} = ", print_name(attribute.name))?;
                        expression_tree::write_tree(&mut out, attribute.expression, 2)?;
                    }
                }
                documents.write(session, ads_out, &ad)?;
                Ok(true)
            })?;
            self.end_file(source, count)?;
            has_ads |= count > 0;
        }
        documents.finish(ads_out)?;
        Ok(Status::of(has_ads))
    }

    /// Prints the number of ads of a file with `--count`.
    fn end_file(&self, source: &AdSource, count: usize) -> Result<(), Failure> {
        if self.count {
            writeln!(out(), "{}\t{count}", source.name)?;
        }
        Ok(())
    }
}
