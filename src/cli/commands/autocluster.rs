//! `classad autocluster`: groups requests that no offer and no policy can distinguish.

use clap::Args;
use classad::format::FileFormat;
use classad::matching::negotiate::negotiation_names;
use classad::pool::RequestClusters;
use indexmap::IndexSet;

use crate::cli::args::matching::{MatchArgs, ReadMode};
use crate::cli::args::policy::PolicyArgs;
use crate::cli::io::input::{self, NamedAd};
use crate::cli::io::parties::{Parties, warn_of_invalid_counts};
use crate::cli::io::selective_load::LoadedAds;
use crate::cli::render::output::{DocumentWriter, out};
use crate::cli::render::rows::{ResultTable, TableCell};
use crate::cli::session::Session;
use crate::cli::{Failure, Status};

const EXAMPLES: &str = "\
Examples:
  classad autocluster samples/pool/jobs.long --offers samples/pool/machines.long
  classad autocluster --significant samples/pool/jobs.long --offers samples/pool/machines.long
  classad autocluster --requests samples/pool/jobs.long --offers samples/pool/machines.long \\
      --policy samples/policy.yaml";

/// Group requests that no offer and no policy can tell apart
///
/// Requests are alike if their significant attributes are written alike. Significant are the attributes of a request
/// that the constraints and ranks of the offers read, those that its own constraint and rank read, and those that the
/// policy reads. If a significant attribute is an expression, the attributes that it reads are significant too.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Autocluster {
    /// Files of requests; standard input if there are none
    requests: Vec<String>,
    /// Files of offers; without any, only the attributes that the requests and the policy read are significant
    #[arg(long, value_name = "FILE")]
    offers: Vec<String>,
    /// Print the names of the significant attributes
    #[arg(long, conflicts_with = "requests_of_clusters")]
    significant: bool,
    /// Print an ad for each cluster: its significant attributes, `AutoClusterId`, and how many requests it stands for
    /// in `ResourceRequestCount`
    #[arg(long = "requests", id = "requests_of_clusters")]
    as_requests: bool,
    #[command(flatten)]
    policy: PolicyArgs,
    #[command(flatten)]
    common: MatchArgs,
}

impl Autocluster {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let [requests, offers] = input::open_sides(session, &self.requests, &self.offers)?;
        let form = requests.first().map_or(FileFormat::Bracketed, |source| source.form);
        let policy = self.policy.read(session)?.policy;
        let (policies, also) = (policy.request_policies(), negotiation_names(&policy, session.dialect()));
        let LoadedAds { requests, offers, .. } =
            self.common.read_ads(session, [requests, offers], ReadMode::Selective, &also)?;
        let parties = Parties::new([requests, offers]);
        warn_of_invalid_counts(session, &parties.requests);
        let ([requests, offers], protocol) = (parties.ads(), self.common.protocol(session));
        let clusters = RequestClusters::new(&requests, &offers, &policies, &protocol, &session.context());
        if self.significant {
            let mut names: Vec<_> = clusters.significant().into_iter().collect();
            names.sort();
            let rows = names.into_iter().map(|name| vec![name.to_string().into()]);
            self.common.output.write(&ResultTable::with_rows(&["attribute"], rows))?;
        } else if self.as_requests {
            let mut writer = DocumentWriter::new(self.common.output.form);
            writer.begin_file(&mut out(), form)?;
            for (number, cluster) in clusters.clusters.iter().enumerate() {
                let ad = NamedAd::unnamed(cluster.resource_request(number + 1, cluster.members));
                writer.write(session, &mut out(), &ad.with_name(format!("cluster {}", number + 1)))?;
            }
            writer.finish(&mut out())?;
        } else {
            self.common.output.write(&cluster_table(&clusters, &parties.requests))?;
        }
        Ok(Status::of(!clusters.clusters.is_empty()))
    }
}

/// Returns a row for each cluster: 1-based number, number of requests, identity of the first request, and the
/// significant attributes that all its requests share.
fn cluster_table(clusters: &RequestClusters, requests: &[NamedAd]) -> ResultTable {
    let mut first = vec![None; clusters.clusters.len()];
    for (request, cluster) in requests.iter().zip(&clusters.cluster_of) {
        first[*cluster].get_or_insert(request.id());
    }
    let names: IndexSet<_> =
        clusters.clusters.iter().flat_map(|cluster| cluster.attributes().map(|(name, _)| name)).collect();
    let mut rows = ResultTable::new(&["cluster", "requests", "first"]);
    rows.header.extend(names.iter().map(ToString::to_string));
    for (number, (cluster, first)) in clusters.clusters.iter().zip(first).enumerate() {
        let first = first.unwrap_or_default();
        let mut row: Vec<TableCell> = vec![(number + 1).into(), cluster.members.into(), first.into()];
        row.extend(names.iter().map(|name| {
            let bound = cluster.significant.binary_search(name).ok().and_then(|_| cluster.representative.get(name));
            bound.map_or_else(String::new, ToString::to_string).into()
        }));
        rows.rows.push(row);
    }
    rows
}
