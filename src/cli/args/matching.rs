//! The arguments that bilateral and gang matching share.

use clap::Args;
use classad::eval::FreeNames;
use classad::protocol::{Advertisement, JOB_REPORT_ATTRIBUTES, Protocol, RESOURCE_REQUESTS, nested_requests};

use super::output::TableOutputArgs;
use crate::cli::io::argument_text;
use crate::cli::io::input;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::io::parties::runs_of_shared_ads;
use crate::cli::io::selective_load::{self, KeptLabels, LoadRequirements, LoadedAds};
use crate::cli::io::source::AdSource;
use crate::cli::outcome::Failure;
use crate::cli::session::Session;

/// Which attributes of the ads are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadMode {
    /// All attributes.
    Whole,
    /// All attributes, and a content identity of each ad without a name, for records of matches.
    WholeForRecords,
    /// The attributes that bilateral matching needs, if they can be determined; else all.
    Selective,
    /// As in `Selective`; syntax errors in other attributes are reported, too.
    SelectiveWithErrors,
    /// The attributes that bilateral matching needs, as in `SelectiveWithErrors`, and [`JOB_REPORT_ATTRIBUTES`] of
    /// requests. If some ad has ports, all attributes of all ads.
    SelectiveForReports,
    /// The attributes that bilateral matching needs, as in `Selective`, and those of the advertising protocol.
    SelectiveWithAdvertisements,
}

/// The options that bilateral and gang matching share.
#[derive(Args, Clone)]
pub struct MatchArgs {
    /// Attribute with the constraint of an ad [default: Requirements or Constraint]
    #[arg(long, value_name = "NAME")]
    constraint_attr: Option<String>,
    /// Attribute with the rank of an ad [default: Rank]
    #[arg(long, value_name = "NAME")]
    rank_attr: Option<String>,
    // An expression. Its value in an ad is the ad's display name.
    /// Expression for the names of ads
    #[arg(long, value_name = "EXPR")]
    pub id: Option<String>,
    /// Print numbers of evaluations and other steps, and the elapsed seconds, on standard error
    #[arg(long)]
    pub stats: bool,
    #[command(flatten)]
    pub output: TableOutputArgs,
    /// Parse every ad completely, and report all syntax errors
    #[arg(long)]
    strict_input: bool,
}

impl MatchArgs {
    pub fn protocol(&self, session: &Session) -> Protocol {
        Protocol::new(session.dialect()).with_attributes(self.constraint_attr.as_deref(), self.rank_attr.as_deref())
    }

    /// Reads the requests and the offers. `also` holds further names that the caller looks up in the ads. The ads of
    /// submitters are among the requests; see [`with_nested_requests`].
    ///
    /// # Errors
    ///
    /// `--id` is not an expression, or an ad is bad and `--fail-fast` is given.
    pub fn read_ads(
        &self,
        session: &mut Session,
        [requests, offers]: [Vec<AdSource>; 2],
        reading: ReadMode,
        also: &FreeNames,
    ) -> Result<LoadedAds, Failure> {
        let id = argument_text::parse_optional_expression(session, "--id", self.id.as_deref())?;
        let requirements = LoadRequirements {
            id: id.as_ref(),
            kept_labels: match reading {
                ReadMode::SelectiveWithAdvertisements => KeptLabels::All,
                ReadMode::SelectiveForReports => KeptLabels::OfRequests,
                ReadMode::Whole | ReadMode::WholeForRecords | ReadMode::Selective | ReadMode::SelectiveWithErrors => {
                    KeptLabels::None
                }
            },
            reports_all_errors: matches!(reading, ReadMode::SelectiveWithErrors | ReadMode::SelectiveForReports),
            label_names: if reading == ReadMode::SelectiveForReports { &JOB_REPORT_ATTRIBUTES } else { &[] },
            additional_names: also,
            protocol: self.protocol(session),
            context: session.context(),
        };
        if !matches!(reading, ReadMode::Whole | ReadMode::WholeForRecords)
            && !self.strict_input
            && let Some(ads) = selective_load::load_selectively(session, [&requests, &offers], &requirements)?
        {
            return Ok(ads);
        }
        let requests = input::read_named_ads(session, requests, id.as_ref())?;
        let offers = input::read_named_ads(session, offers, id.as_ref())?;
        let context = session.context();
        let time = |ad: &NamedAd| Advertisement::new(&ad.ad, &context).time();
        let newest_time = requests.iter().chain(&offers).filter_map(time).max();
        Ok(LoadedAds { requests, offers, newest_time })
    }
}

/// Replaces the ads of submitters by the requests nested in them, called by the submitter's name and their numbers.
pub fn with_nested_requests(requests: Vec<NamedAd>) -> Vec<NamedAd> {
    // Nearly always there are none, and the requests may be many.
    if !runs_of_shared_ads(&requests).any(|run| run[0].ad.get(&RESOURCE_REQUESTS).is_some()) {
        return requests;
    }
    let nested = |ad: NamedAd| {
        let Some(nested) = nested_requests(&ad.ad) else { return vec![ad] };
        let numbered = nested.into_iter().zip(1..);
        numbered.map(|(request, number)| NamedAd::unnamed(request).with_name(format!("{}/{number}", ad.id()))).collect()
    };
    requests.into_iter().flat_map(nested).collect()
}
