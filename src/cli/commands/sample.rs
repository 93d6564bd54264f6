//! `classad sample`: ads drawn at random.

use clap::Args;
use classad::eval::RandomStream;
use classad::format::{AdEntry, FileFormat};
use classad::protocol::display_name;
use classad::text::counted;

use crate::cli::args::ad_files::AdFilesArgs;
use crate::cli::io::ad_map::map_ads;
use crate::cli::io::input;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::outcome::{Failure, Status};
use crate::cli::render::output::{AdWriter, OutputForm, out};
use crate::cli::session::Session;

const EXAMPLES: &str = "\
Examples:
  classad sample -n 3 --seed 1 samples/pool/machines.long -o names
  condor_status -long | classad sample -n 100 > slots.long

Each ad is drawn with the same probability, at most once. The ads stay in the order of the input. The same --seed draws
the same ads from the same input.

Exit status: 0 if the input has ads, 1 if it has none, 2 for bad input.";

/// Draw a random sample of ads
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct SampleCommand {
    #[command(flatten)]
    input: AdFilesArgs,
    /// Number of ads to draw
    #[arg(short = 'n', long = "ads", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,
    /// Format of the output
    #[arg(short, long, value_name = "FORM")]
    output: Option<OutputForm>,
}

/// The ads that are drawn of those seen so far: algorithm R (Vitter, Random sampling with a reservoir, 1985).
struct Reservoir {
    /// Maximum number of ads.
    capacity: usize,
    /// The drawn ads, each with its 0-based number among all ads.
    ads: Vec<(usize, NamedAd)>,
    /// Number of ads seen so far.
    seen: usize,
    random: RandomStream,
}

impl SampleCommand {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let mut sources = input::open_decided(session, &self.input.paths()?)?;
        let mut writer =
            AdWriter::new(self.output, sources.first().map_or(FileFormat::Bracketed, |source| source.form))?;
        let context = session.context();
        let random = context.random.clone().unwrap_or_else(|| RandomStream::new(fastrand::u64(..)));
        let capacity = usize::try_from(self.count).unwrap_or(usize::MAX);
        let mut reservoir = Reservoir { capacity, ads: Vec::new(), seen: 0, random };
        map_ads(session, &mut sources, None, &|entry: AdEntry| entry.ad, |_, mut mapped| {
            reservoir.offer(|| {
                let ad = std::mem::take(&mut mapped.output);
                let name = display_name(&ad, None, &context).unwrap_or_else(|| mapped.location());
                NamedAd::unnamed(ad).with_name(name)
            });
            Ok(true)
        })?;
        if (1..capacity).contains(&reservoir.seen) {
            session.note(&format!("the input has only {}", counted(reservoir.seen, "ad")));
        }
        let mut out = out();
        reservoir.ads.sort_unstable_by_key(|(number, _)| *number);
        for (_, ad) in &reservoir.ads {
            writer.write(session, &mut out, ad)?;
        }
        if !sources.is_empty() {
            writer.finish(&mut out)?;
        }
        Ok(Status::of(!reservoir.ads.is_empty()))
    }
}

impl Reservoir {
    /// Draws the next ad with the chance of all ads before it. `ad` makes the ad if it is drawn.
    fn offer(&mut self, ad: impl FnOnce() -> NamedAd) {
        let number = self.seen;
        self.seen += 1;
        if self.ads.len() < self.capacity {
            self.ads.push((number, ad()));
            return;
        }
        let place = self.random.next().usize(..=number);
        if place < self.capacity {
            self.ads[place] = (number, ad());
        }
    }
}

#[cfg(test)]
mod tests {
    use classad::ad::Ad;
    use classad::eval::RandomStream;

    use super::{NamedAd, Reservoir};

    #[test]
    fn each_ad_has_the_same_chance() {
        let (ads, capacity, runs) = (20, 5, 8000);
        let mut counts = vec![0_u32; ads];
        for seed in 0..runs {
            let mut reservoir = Reservoir { capacity, ads: Vec::new(), seen: 0, random: RandomStream::new(seed) };
            (0..ads).for_each(|_| reservoir.offer(|| NamedAd::unnamed(Ad::default())));
            let mut drawn: Vec<usize> = reservoir.ads.iter().map(|(number, _)| *number).collect();
            drawn.sort_unstable();
            drawn.dedup();
            assert_eq!(drawn.len(), capacity);
            for number in &drawn {
                counts[*number] += 1;
            }
        }
        // Each is drawn 2000 times on average, with a standard deviation of 39.
        assert!(counts.iter().all(|count| count.abs_diff(2000) < 200), "{counts:?}");
    }
}
