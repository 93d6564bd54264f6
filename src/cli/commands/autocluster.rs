//! `classad autocluster`: groups requests that no offer and no policy can distinguish.

use std::cmp::Reverse;
use std::io::Write as _;
use std::time::Instant;

use clap::Args;
use classad::ad::{Ad, Dialect, Expression, ExpressionKind, Name, Value};
use classad::eval::{Context, FreeNames, NameSet, transitive_closure};
use classad::format::FileFormat;
use classad::matching::negotiate::negotiation_names;
use classad::matching::policy::{Policy, with_attributes};
use classad::pool::{AUTOCLUSTER_ATTRIBUTES, AUTOCLUSTER_ID, AUTOCLUSTER_SIGNATURE, RequestClusters};
use classad::protocol::{IDLE_JOBS, RESOURCE_REQUESTS, SUBMITTER_TYPE, evaluate_attribute, identity, resource_count};
use classad::text::{counted, with_commas};
use indexmap::{IndexMap, IndexSet};

use crate::cli::args::advertising::retain_waiting;
use crate::cli::args::matching::{MatchArgs, ReadMode, with_nested_requests};
use crate::cli::args::policy::{PolicyArgs, PolicyConfigArgs};
use crate::cli::io::input;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::io::parties::{Parties, warn_of_invalid_counts};
use crate::cli::io::selective_load::LoadedAds;
use crate::cli::outcome::{Failure, Status};
use crate::cli::render::output::{self, DocumentWriter, out};
use crate::cli::render::rows::{MAX_CLUSTER_CELLS, ResultTable, TableCell};
use crate::cli::session::Session;

const EXAMPLES: &str = "\
Examples:
  classad autocluster samples/pool/jobs.long --pool samples/pool/machines.long
  classad autocluster --significant samples/pool/jobs.long --pool samples/pool/machines.long
  classad autocluster --requests samples/pool/jobs.long --pool samples/pool/machines.long \\
      --policy samples/policy.yaml
  classad autocluster --annotate samples/pool/jobs.long --pool samples/pool/machines.long
  classad autocluster --submitters samples/pool/jobs.long --pool samples/pool/machines.long -o new";

const STATS_HELP: &str = "Print the numbers of requests and autoclusters, and the elapsed seconds, on standard error";

/// Group requests that are equivalent for all offers and the policy
///
/// Requests are equivalent if the expressions of their significant attributes are the same. The constraint and the rank
/// of a request are significant. So are the attributes in the constraints and ranks of the offers and in the
/// policy. Attributes in significant attributes are significant, too.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("roots", |arg| arg.help("Expression `roots` of a policy: its attributes are significant")))]
#[command(mut_arg("order", |arg| arg.help("Expression for the order of requests; its attributes are significant")))]
#[command(mut_arg("dock", |arg| arg.help("Expression that ranks candidates; its attributes are significant")))]
#[command(mut_arg("stats", |arg| arg.help(STATS_HELP)))]
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub struct Autocluster {
    /// Files of requests; without files, read standard input
    requests: Vec<String>,
    /// Files of offers
    #[arg(long, value_name = "FILE", alias = "offers")]
    pool: Vec<String>,
    /// Print the names of the significant attributes
    #[arg(long, conflicts_with = "requests_of_clusters")]
    significant: bool,
    /// Print only the number of autoclusters
    #[arg(long, conflicts_with_all = ["significant", "requests_of_clusters", "annotate", "submitters"])]
    count: bool,
    /// Print an ad for each autocluster, with the number of its requests as `ResourceRequestCount`
    #[arg(long = "requests", id = "requests_of_clusters")]
    as_requests: bool,
    /// Print each request with its `AutoClusterId`, `AutoClusterAttrs` and `AutoClusterSignature`
    ///
    /// A request keeps its `AutoClusterId` if `AutoClusterAttrs` lists the attributes that are significant now. None of them
    /// may be edited since: `AutoClusterSignature` is a hash of them. Without signatures, most of the requests with a
    /// number keep it. Other requests get new numbers.
    #[arg(long, conflicts_with_all = ["significant", "requests_of_clusters", "submitters"])]
    annotate: bool,
    /// Print an ad for each submitter, with its `IdleJobs` and, in `ResourceRequests`, its autoclusters
    ///
    /// The submitter is the value of `share.by` in the policy, by default `Owner`. `negotiate` can read these ads as
    /// requests.
    #[arg(long, conflicts_with_all = ["significant", "requests_of_clusters"])]
    submitters: bool,
    #[command(flatten)]
    policy: PolicyArgs,
    #[command(flatten)]
    policy_config: PolicyConfigArgs,
    #[command(flatten)]
    common: MatchArgs,
}

/// Notes that the order of requests in the policy separates requests that are equivalent otherwise.
fn note_effect_of_order(session: &Session, clusters: usize, without_order: usize) {
    if without_order < clusters {
        session.note(&format!(
            "`order` of the policy makes {}; without it, as in HTCondor, the number is {}",
            counted(clusters, "autocluster"),
            with_commas(without_order)
        ));
    }
}

impl Autocluster {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let [requests, offers] = input::open_sides(session, &self.requests, &self.pool)?;
        let form = requests.first().map_or(FileFormat::Bracketed, |source| source.form);
        let policy = self.policy_config.read_policy(session, &self.policy)?.policy;
        let (policies, mut also) = (policy.request_policies(), negotiation_names(&policy, session.dialect()));
        also.names.extend([AUTOCLUSTER_ID, AUTOCLUSTER_ATTRIBUTES, AUTOCLUSTER_SIGNATURE].map(Name::new));
        let reading = if self.annotate || self.submitters { ReadMode::Whole } else { ReadMode::SelectiveWithErrors };
        let LoadedAds { requests, offers, .. } = self.common.read_ads(session, [requests, offers], reading, &also)?;
        let requests = with_nested_requests(requests);
        // Submitters advertise only the jobs for which they want slots.
        let requests = if self.submitters { retain_waiting(session, requests) } else { requests };
        let parties = Parties::new([requests, offers]);
        warn_of_invalid_counts(session, &parties.requests);
        let start = Instant::now();
        let ([requests, offers], protocol) = (parties.ads(), self.common.protocol(session));
        let clusters = RequestClusters::new(&requests, &offers, &policies, &protocol, &session.context());
        let ids = clusters.identifiers(&requests);
        let mut documents = Vec::new();
        if self.submitters {
            let by = policy
                .share
                .as_ref()
                .map_or_else(|| Expression::attribute("Owner"), |share| share.by.expression.clone());
            // The policy may add the attribute that names the submitter.
            let requests = with_attributes(&requests, &policy.request_attributes);
            let naming = names_of_submitters(&by, &policy, session.dialect());
            documents = submitter_ads(&clusters, &requests, &ids, (&by, &naming), &session.context());
        } else if self.as_requests {
            for (number, (cluster, id)) in clusters.clusters.iter().zip(&ids).enumerate() {
                let ad = NamedAd::unnamed(cluster.resource_request(*id, cluster.members));
                documents.push(ad.with_name(format!("cluster {}", number + 1)));
            }
        }
        self.print(session, &clusters, &parties.requests, (&ids, &documents, form))?;
        if self.common.stats {
            let counters = serde_json::json!({ "requests": requests.len(), "autoclusters": clusters.clusters.len() });
            output::print_counters(counters, start.elapsed().as_secs_f64());
        }
        if !policy.order.is_empty() && !session.options.quiet && !session.context().has_spent_run() {
            let unordered = Policy { order: Vec::new(), ..policy }.request_policies();
            let unordered = RequestClusters::new(&requests, &offers, &unordered, &protocol, &session.context());
            note_effect_of_order(session, clusters.clusters.len(), unordered.clusters.len());
        }
        Ok(Status::of(!clusters.clusters.is_empty()))
    }

    /// Prints what was asked for: a number, the significant attributes, ads in a form, or the table of autoclusters.
    fn print(
        &self,
        session: &mut Session,
        clusters: &RequestClusters,
        requests: &[NamedAd],
        (ids, documents, form): (&[i64], &[NamedAd], FileFormat),
    ) -> Result<(), Failure> {
        if self.count {
            writeln!(out(), "{}", clusters.clusters.len())?;
        } else if self.significant {
            let mut names: Vec<_> = clusters.significant().into_iter().collect();
            names.sort();
            let rows = names.into_iter().map(|name| vec![name.to_string().into()]);
            self.common.output.write(&ResultTable::with_rows(&["attribute"], rows))?;
        } else if self.annotate || self.submitters || self.as_requests {
            let mut writer = DocumentWriter::new(self.common.output.form);
            writer.begin_file(&mut out(), form)?;
            // Each annotated ad has the names of all significant attributes, so that they are written one by one.
            for (index, request) in requests.iter().enumerate().filter(|_| self.annotate) {
                let annotated = request.clone().with_ad(clusters.annotated(index, &request.ad, ids));
                writer.write(session, &mut out(), &annotated)?;
            }
            for ad in documents {
                writer.write(session, &mut out(), ad)?;
            }
            writer.finish(&mut out())?;
        } else {
            self.common.output.write(&cluster_table(session, clusters, requests, ids))?;
        }
        Ok(())
    }
}

/// Returns the attributes of requests on which the name of a submitter depends, also through attributes that the policy
/// adds.
fn names_of_submitters(by: &Expression, policy: &Policy, dialect: Dialect) -> NameSet {
    let added = &policy.request_attributes;
    let mut names = FreeNames::of(by, dialect).names;
    transitive_closure(&mut names, |name, names| {
        for (_, rule) in added.iter().filter(|(added, _)| added == name) {
            names.extend(FreeNames::of(&rule.expression, dialect).names);
        }
        Some(())
    });
    names.retain(|name| added.iter().all(|(added, _)| added != name));
    names
}

/// Returns an ad for each submitter, in the order of their first requests, with a nested ad for each of its
/// autoclusters (2006 paper 4.3). `by` is the expression whose value in a request names its submitter; `naming` holds the
/// attributes on which it depends, which the nested ads keep. Requests without a submitter have an ad without a name.
fn submitter_ads(
    clusters: &RequestClusters,
    requests: &[Ad],
    ids: &[i64],
    (by, naming): (&Expression, &NameSet),
    context: &Context,
) -> Vec<NamedAd> {
    // The number of units in each autocluster of a submitter, and the first request.
    let mut counts: IndexMap<String, IndexMap<usize, (usize, &Ad)>> = IndexMap::new();
    for (request, cluster) in requests.iter().zip(&clusters.cluster_of) {
        let submitter = identity(request, Some(by), context).unwrap_or_default();
        let of_submitter = counts.entry(submitter).or_default();
        of_submitter.entry(*cluster).or_insert((0, request)).0 += resource_count(request, context).unwrap_or(1);
    }
    let ad = |(name, of_clusters): (String, IndexMap<usize, (usize, &Ad)>)| {
        let nested = of_clusters.iter().map(|(cluster, (count, first))| {
            let ad = clusters.clusters[*cluster].resource_request(ids[*cluster], *count);
            let value = |name: &Name| evaluate_attribute(first, name, context);
            let named = naming.iter().filter_map(|name| value(name).map(|value| (name, value)));
            Expression::ad(named.fold(ad, |ad, (name, value)| ad.with(name.clone(), Expression::literal(value))))
        });
        let idle = of_clusters.values().map(|(count, _)| count).sum::<usize>();
        let idle = i64::try_from(idle).unwrap_or(i64::MAX);
        // The attribute that names the submitter tells a matchmaker whose requests these are.
        let of_name = match by.without_parentheses().kind() {
            ExpressionKind::Attribute(by) => vec![Name::new("Name"), by.clone()],
            _ => vec![Name::new("Name")],
        };
        let of_name = of_name.into_iter().filter(|_| !name.is_empty());
        let names = of_name.map(|of_name| (of_name, Expression::literal(Value::string(&name))));
        let rest = [
            (Name::new("MyType"), Expression::literal(Value::string(SUBMITTER_TYPE))),
            (Name::new(IDLE_JOBS), Expression::literal(Value::Integer(idle))),
            (RESOURCE_REQUESTS.clone(), Expression::list(nested)),
        ];
        NamedAd::unnamed(names.chain(rest).collect()).with_name(name)
    };
    counts.into_iter().map(ad).collect()
}

/// Returns a row for each cluster: its identifier, number of requests, identity of the first request, and the
/// significant attributes that all its requests share. The largest cluster comes first. Attributes that would make the
/// table too large are left out and reported.
fn cluster_table(session: &mut Session, clusters: &RequestClusters, requests: &[NamedAd], ids: &[i64]) -> ResultTable {
    let mut first = vec![None; clusters.clusters.len()];
    for (request, cluster) in requests.iter().zip(&clusters.cluster_of) {
        first[*cluster].get_or_insert(request.id());
    }
    let mut names: IndexSet<_> =
        clusters.clusters.iter().flat_map(|cluster| cluster.attributes().map(|(name, _)| name)).collect();
    let most = (MAX_CLUSTER_CELLS / clusters.clusters.len().max(1)).max(1);
    if names.len() > most {
        session.report_exceeded_budget(&format!(
            "the table has the first {most} of {} attributes; --requests prints all",
            names.len()
        ));
        names.truncate(most);
    }
    let mut rows = ResultTable::new(&["cluster", "requests", "first"]);
    rows.header.extend(names.iter().map(ToString::to_string));
    for (id, (cluster, first)) in ids.iter().zip(clusters.clusters.iter().zip(first)) {
        let first = first.unwrap_or_default();
        let mut row: Vec<TableCell> =
            vec![usize::try_from(*id).unwrap_or_default().into(), cluster.members.into(), first.into()];
        row.extend(names.iter().map(|name| {
            let bound = cluster.representative.get(name).filter(|_| cluster.significant.contains(name));
            bound.map_or_else(String::new, ToString::to_string).into()
        }));
        rows.rows.push(row);
    }
    // The sort is stable: clusters of one size stay in the order of their first requests.
    rows.rows.sort_by_key(|row| Reverse(row[1].number().map(f64::to_bits)));
    rows
}
