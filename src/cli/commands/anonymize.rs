//! `classad anonymize`: ads with pseudonyms.

use std::hash::{BuildHasher, RandomState};

use clap::Args;
use classad::ad::Ad;
use classad::eval::Context;
use classad::format::{AdEntry, FileFormat};
use classad::pool::anonymize::{Anonymizer, TextUses};
use classad::protocol::display_name;
use classad::text::join_and;

use crate::cli::args::ad_files::AdFilesArgs;
use crate::cli::io::ad_map::{AdTask, map_ads};
use crate::cli::io::input;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::io::whole_file::read_whole;
use crate::cli::outcome::{Failure, Status};
use crate::cli::render::output::{AdWriter, OutputForm, out};
use crate::cli::session::Session;

const EXAMPLES: &str = "\
Examples:
  classad anonymize --key secret samples/pool/jobs.long
  classad anonymize --key secret samples/pool/machines.long -o jsonl
  condor_status -long | classad anonymize --keep chtc -o jsonl > machines.jsonl

Words in strings, such as names, hosts and parts of paths, become pseudonyms of 13 letters or more. Addresses are
replaced, too. IPv4 addresses that begin with the same numbers still do so. With the same key, a word has the same
pseudonym everywhere. Without a key, each run draws a new one. Keep the key secret: with the key, anyone can check
whether the ads contain a word.

Names of attributes are kept, but identifiers in them get the pseudonyms that they have in strings, as in
GPUs_GPU_a0223334. With --replace, other words between `_` do so, too.

These are kept: numbers outside of strings, booleans, and words such as `true`, `LINUX`, `X86_64` and `slot1_2`. A whole
number is replaced if it is a string, or in a name or a path. Comments are dropped.

With the same key, constraints that only compare strings by `==` and `=?=` match as before. Attributes that do more with
strings are listed on standard error.

Exit status: 0 if the input has ads, 1 if it has none, 2 after an error.";

/// Replace names, hosts, paths and addresses in strings by pseudonyms
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct AnonymizeCommand {
    #[command(flatten)]
    input: AdFilesArgs,
    /// Key of the pseudonyms
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Read the key from this file; a newline at its end counts
    #[arg(long, value_name = "FILE", conflicts_with = "key")]
    key_file: Option<String>,
    /// Do not replace these words, in upper or lower case; they cannot be numbers
    #[arg(long, value_name = "WORD,...", value_delimiter = ',')]
    keep: Vec<String>,
    /// Replace these words in names of attributes, too, where they stand between `_`; use it for all ads that are to match
    /// each other
    #[arg(long, value_name = "WORD,...", value_delimiter = ',')]
    replace: Vec<String>,
    /// Format of the output
    #[arg(short, long, value_name = "FORM")]
    output: Option<OutputForm>,
}

/// Anonymizes each ad.
struct AnonymizeTask<'a> {
    key: Vec<u8>,
    keep: &'a [String],
    replace: &'a [String],
    context: Context,
}

/// The result of [`AnonymizeTask`].
#[derive(Default)]
struct AnonymousEntry {
    ad: Ad,
    /// The name of the ad in the input.
    name: Option<String>,
    /// The uses of strings that this thread had not found before.
    uses: TextUses,
}

impl AnonymizeCommand {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let key = self.key()?;
        let mut sources = input::open_decided(session, &self.input.paths()?)?;
        let form = sources.first().map_or(FileFormat::Bracketed, |source| source.form);
        let mut writer = AdWriter::new(self.output, form)?;
        let task = AnonymizeTask { key, keep: &self.keep, replace: &self.replace, context: session.context() };
        let (mut out, mut uses, mut count) = (out(), TextUses::default(), 0_usize);
        map_ads(session, &mut sources, None, &task, |session, mut mapped| {
            let AnonymousEntry { ad, name, uses: new_uses } = std::mem::take(&mut mapped.output);
            if !new_uses.is_empty() {
                uses.merge(new_uses);
            }
            count += 1;
            let name = name.unwrap_or_else(|| mapped.location());
            writer.write(session, &mut out, &NamedAd::unnamed(ad).with_name(name))?;
            Ok(true)
        })?;
        if !sources.is_empty() {
            writer.finish(&mut out)?;
        }
        for (name, found) in uses.beyond_equality() {
            let found: Vec<String> = found.into_iter().map(|found| format!("`{found}`")).collect();
            session.warning(&format!(
                "with pseudonyms, the value of {name} may differ, because {} may look into strings",
                join_and(&found)
            ));
        }
        if count > 0 {
            session.note("names of attributes are kept, but for identifiers; make sure that you may share them");
            if self.key.is_none() && self.key_file.is_none() {
                session.note(
                    "another run makes other pseudonyms; use the same --key for ads that are to match each other",
                );
            }
        }
        Ok(Status::of(count > 0))
    }

    /// Returns the key. Without one, makes a key from random numbers of the system.
    fn key(&self) -> Result<Vec<u8>, Failure> {
        if let Some(path) = &self.key_file {
            let key = read_whole(path).map_err(|error| Failure::unreadable(path, &error))?;
            return if key.is_empty() {
                Err(Failure::refused(format!("the key file {path} is empty")))
            } else {
                Ok(key)
            };
        }
        Ok(match &self.key {
            Some(key) if key.is_empty() => return Err(Failure::refused("--key is empty")),
            Some(key) => key.as_bytes().to_vec(),
            None => (0_u8..4).flat_map(|part| RandomState::new().hash_one(part).to_be_bytes()).collect(),
        })
    }
}

impl AdTask for AnonymizeTask<'_> {
    type State = Anonymizer;
    type Output = AnonymousEntry;

    fn new_state(&self) -> Anonymizer {
        let mut anonymizer = Anonymizer::new(&self.key);
        self.keep.iter().for_each(|text| anonymizer.keep(text));
        self.replace.iter().for_each(|text| anonymizer.replace_in_names(text));
        anonymizer
    }

    fn run(&self, anonymizer: &mut Anonymizer, AdEntry { ad, .. }: AdEntry) -> AnonymousEntry {
        let name = display_name(&ad, None, &self.context);
        AnonymousEntry { ad: anonymizer.anonymize(&ad), name, uses: anonymizer.take_uses() }
    }
}
