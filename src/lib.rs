//! Answers questions about the jobs and machines of HTCondor, from files: which slots match, why a job is idle, what a policy
//! does. ClassAds are the language in which HTCondor describes jobs, machines, licences and policies; this library reads,
//! evaluates, matches and explains them. The program `classad` is its command line.
//!
//! Each module is a floor that uses only the floors below it. From top to bottom:
//!
//! | floor | what is there |
//! |---|---|
//! | [`policy_test`] | unit tests of ads and policies: specs, their cases, and the results of the cases |
//! | [`explain`] | why a request is unmatched: clause counts, conflicts, refusals, verified changes |
//! | [`lint`] | probable mistakes in ads |
//! | [`query`] | queries of the ads of files, in several threads: scans, the needed attributes, orders |
//! | [`matching`] | queries, bilateral matches and their strategies, gangs, negotiation cycles under a policy, claims |
#![cfg_attr(
    feature = "workload",
    doc = "| [`workload`] | synthetic ads, generated from a seed: the experiments of the papers, a modern pool (feature `workload`) |"
)]
//! | [`pool`] | many ads: columns, the store, autoclusters, the census, differences |
//! | [`submit`] | submit files, and the jobs that `condor_submit` makes of them |
//! | [`configuration`] | HTCondor's configuration: dumps of it, policies, routes, maps of users |
//! | [`transform`] | HTCondor's transform language |
//! | [`constraint`] | the normal form of constraints: clauses, conditions, consistency |
//! | [`protocol`] | the advertising protocol: constraint and rank, ports and labels, identity and lifetime |
//! | [`mod@format`] | files of ads: detection, streams, reading, writing, positions, the formatter |
//! | [`eval`] | meaning: scope, evaluation, specialization, references, the built-in functions |
//! | [`syntax`] | text to tree and back |
//! | [`ad`] | the data model: names, values, times, expressions, ads, dialects |
//! | [`text`] | text for people: counts, lists, suggestions for misspelt names |
//!
//! What most programs need has short names at this door, in HTCondor's dialect:
//!
//! ```
//! use classad::{Ad, Explain, Match, Query};
//!
//! let slots: Vec<Ad> = ["Name = \"s1\"\nMemory = 2048\nStart = true", "Name = \"s2\"\nMemory = 64"]
//!     .into_iter()
//!     .map(|ad| Ad::parse(format!("{ad}\nRequirements = true")))
//!     .collect::<Result<_, _>>()?;
//! assert_eq!(slots[0].evaluate("Memory")?.as_integer(), Some(2048));
//! let large: Query = "Memory > 1000".parse()?;
//! assert!(large.accepts(&slots[0])? && !large.accepts(&slots[1])?);
//! let job = |memory: u32| format!("[ RequestMemory = {memory}; Requirements = TARGET.Memory >= RequestMemory ]").parse();
//! assert_eq!(Match::among(&slots).candidates(&job(100)?)[0].offer, 0);
//! let sentence = Explain::with(&slots).sentence(&job(4096)?);
//! assert_eq!(sentence, "it matches none of 2 slots: no slot has Memory >= 4096 (RequestMemory); the largest is 2048");
//! # Ok::<(), classad::Error>(())
//! ```
//!
//! Evaluating an expression in an ad:
//!
//! ```
//! use classad::ad::{Dialect, Value};
//! use classad::eval::{Context, Environment, Evaluator};
//! use classad::syntax::{ParseOptions, parse_ad, parse_expression};
//!
//! let rules = ParseOptions::new(Dialect::Classad);
//! let ad = parse_ad(b"[ Memory = 64M; Spare = Memory - 15M ]", rules)?;
//! let expression = parse_expression(b"Spare >= 40M", rules)?;
//! let (environment, scope) = Environment::single(ad);
//! let value = Evaluator::new(&environment, &Context::new(Dialect::Classad)).evaluate(&expression, &scope)?;
//! assert_eq!(value, Value::Boolean(true));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Specializing an expression to what is left of it when only one ad is known, and finding its references:
//!
//! ```
//! use classad::ad::Dialect;
//! use classad::eval::{Context, Environment, Knowledge, SpecializeOptions, ConstraintVerdict, references, specialize};
//! use classad::syntax::{ParseOptions, Style, parse_ad, parse_expression, print};
//!
//! let rules = ParseOptions::new(Dialect::Classad);
//! let context = Context::new(Dialect::Classad);
//! let (environment, scope) = Environment::partner_unknown(parse_ad(b"[ Memory = 64; Spare = Memory - 15 ]", rules)?,
//! Knowledge::Partial); let expression = parse_expression(b"Spare > 40 && other.Size < Spare", rules)?; let left =
//! specialize(&expression, &scope, &environment, &context, SpecializeOptions::default());
//! assert_eq!(print(&left.expression, Style::New), b"other.Size < 49"); assert_eq!(left.verdict,
//! ConstraintVerdict::Depends); let found = references(&expression, &scope, &environment, &context);
//! assert_eq!(found.external[0].to_string(), "other.Size");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Reading a file of ads, and finding the ads that meet a constraint:
//!
//! ```
//! use classad::ad::Dialect;
//! use classad::eval::Context;
//! use classad::format::{FileFormat, read};
//! use classad::matching::Query;
//! use classad::syntax::{ParseOptions, parse_expression};
//!
//! let constraint = parse_expression(b"Cpus >= 8", ParseOptions::new(Dialect::Condor))?;
//! let query = Query::new(constraint, Context::new(Dialect::Condor));
//! let pool = b"Name = \"small\"\nCpus = 4\n\nName = \"large\"\nCpus = 16\n";
//! let mut found = Vec::new();
//! for entry in read(pool, FileFormat::Long, Dialect::Condor).flatten() {
//!     if query.accepts(&entry.ad)? {
//!         found.push(entry.number);
//!     }
//! }
//! assert_eq!(found, [2]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Reading a stream of ads in any form, and writing the ads in another form. The memory needed does not grow with the
//! stream:
//!
//! ```
//! use classad::ad::Dialect;
//! use classad::format::{FileFormat, Stream, AdDocumentWriter};
//!
//! let mut stream = Stream::new(Box::new(&b"a = 1\n\nb = x + 1\n"[..]), None)?;
//! let (mut writer, mut out) = (AdDocumentWriter::new(FileFormat::JsonLines), Vec::new());
//! while let Some(block) = stream.next_block()? {
//!     for entry in block.ads(Dialect::Condor).flatten() {
//!         writer.write(&mut out, &entry.ad, |changes| changes.is_empty())?;
//!     }
//! }
//! writer.finish(&mut out)?;
//! assert_eq!(String::from_utf8(out)?, "{\"a\": 1}\n{\"b\": \"\\/Expr(x + 1)\\/\"}\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Formatting a file, which keeps its comments; changing an ad by rules; comparing the changed ad with the old one; and
//! counting the attributes of several ads:
//!
//! ```
//! use classad::ad::Dialect;
//! use classad::eval::Context;
//! use classad::pool::diff::{DiffMode, differences};
//! use classad::transform::{Transform, parse_rules};
//! use classad::format::{FileFormat, format_ads};
//! use classad::pool::Census;
//! use classad::syntax::{ParseOptions, parse_ad};
//!
//! let text = b"[a=1; // one\n]";
//! let laid = format_ads(text, FileFormat::Bracketed, Dialect::Classad, 80).map_err(|problem| problem.message)?;
//! assert_eq!(laid.text, b"[\n  a = 1; // one\n]\n");
//!
//! let before = parse_ad(b"[ Memory = 1000 ]", ParseOptions::new(Dialect::Condor))?;
//! let (rules, problems) = parse_rules(b"EVALSET Memory quantize(Memory, 512)\n", Dialect::Condor);
//! assert!(problems.is_empty());
//! let results = Transform { rules, ..Transform::default() }.apply(&before, &Context::new(Dialect::Condor));
//! let after = &results[0].ad;
//! assert_eq!(differences(&before, after, DiffMode::Meaning).len(), 1);
//!
//! let mut census = Census::values();
//! census.add(&before);
//! census.add(after);
//! let (_, memory) = census.attributes().next().unwrap();
//! assert_eq!((memory.ads(), memory.distinct().values), (2, 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Evaluating an expression in all ads of a pool. Ads that the expression cannot tell apart are evaluated once:
//!
//! ```
//! use classad::ad::{Dialect, Value};
//! use classad::eval::Context;
//! use classad::pool::Store;
//! use classad::syntax::{ParseOptions, parse_ad, parse_expression};
//!
//! let ads = ["[ Name = \"small\"; Cpus = 4 ]", "[ Name = \"large\"; Cpus = 16 ]"];
//! let ads = ads.map(|ad| parse_ad(ad.as_bytes(), ParseOptions::default()).unwrap());
//! let mut store = Store::new(ads.into(), Dialect::Classad);
//! let constraint = parse_expression(b"Cpus >= 8 && size(Name) == 5", ParseOptions::default())?;
//! let values = store.evaluate(&constraint, &Context::new(Dialect::Classad));
//! assert!(matches!(values.value(0), Ok(Value::Boolean(false))));
//! assert!(matches!(values.value(1), Ok(Value::Boolean(true))));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Matching requests with offers, one by one or under a policy, and searching for gangs:
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use classad::ad::Dialect;
//! use classad::protocol::Protocol;
//! use classad::eval::Context;
//! use classad::matching::negotiate::{NegotiationSettings, negotiate};
//! use classad::matching::policy::Policy;
//! use classad::matching::{GreedyMatcher, gang::Gangmatcher};
//! use classad::syntax::{ParseOptions, parse_ad};
//!
//! let ad = |text: &str| parse_ad(text.as_bytes(), ParseOptions::default()).unwrap();
//! let (protocol, context) = (Protocol::new(Dialect::Classad), Context::new(Dialect::Classad));
//!
//! let offers = [ad("[ Memory = 32; Constraint = true ]"), ad("[ Memory = 64; Constraint = true ]")];
//! let request = ad("[ Constraint = other.Memory >= 48 ]");
//! let best = GreedyMatcher::new(&offers, protocol.clone(), context.clone()).take_best(0, &request).unwrap();
//! assert_eq!(best.offer, 1);
//!
//! let policy = Policy::parse(b"docking: -label.Memory", Dialect::Classad).unwrap();
//! let settings = NegotiationSettings::new(policy, protocol.clone(), context.clone());
//! let requests = [ad("[ Constraint = other.Memory >= 16 ]")];
//! let outcome = negotiate(&settings, &requests, &offers, &|_| None, &mut |_| ControlFlow::Continue(()))?;
//! assert_eq!(outcome.grants[0].offers[0].offer, 0);
//!
//! let offers = [
//!     ad("[ Type = \"Machine\"; Name = \"foo\"; Constraint = true ]"),
//!     ad("[ Type = \"License\"; ValidHost = \"foo\"; Constraint = other.Host == ValidHost ]"),
//! ];
//! let request = ad("[ Ports = {
//!     [ Label = cpu; Constraint = cpu.Type == \"Machine\" ],
//!     [ Label = license; Host = cpu.Name; Constraint = license.Type == \"License\" ]
//! } ]");
//! let (mut matcher, _) = Gangmatcher::new(&offers, protocol, context);
//! let gang = matcher.marshal(0, &request)?.unwrap();
//! assert_eq!(gang.members().len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Generating ads for experiments from a seed (feature `workload`):
//!
//! ```
//! # #[cfg(feature = "workload")] {
//! use classad::workload::{AdGenerator, AdKind, PoolWorkload};
//!
//! let pool = PoolWorkload { machines: 3, jobs: 5, ..PoolWorkload::default() };
//! let jobs: Vec<_> = pool.ads(AdKind::Jobs, 1).collect();
//! assert_eq!(jobs.len(), 5);
//! assert_eq!(jobs, pool.ads(AdKind::Jobs, 1).collect::<Vec<_>>());
//! assert_eq!(pool.ads(AdKind::Licenses, 1).count(), 0);
//! # }
//! ```
//!
//! Grouping requests that no offer can tell apart:
//!
//! ```
//! use classad::ad::Dialect;
//! use classad::protocol::Protocol;
//! use classad::eval::Context;
//! use classad::pool::{RequestClusters, PolicyExpressions};
//! use classad::syntax::{ParseOptions, parse_ad};
//!
//! let ad = |text: &str| parse_ad(text.as_bytes(), ParseOptions::default()).unwrap();
//! let request = |size: i64, owner: &str| {
//!     ad(&format!("[ Size = {size}; Owner = \"{owner}\"; Constraint = other.Memory >= Size ]"))
//! };
//! let requests = [request(48, "a"), request(48, "b"), request(96, "a")];
//! let offers = [ad("[ Memory = 64; Constraint = other.Size > 0 ]")];
//! let (protocol, context) = (Protocol::new(Dialect::Classad), Context::new(Dialect::Classad));
//! let clusters = RequestClusters::new(&requests, &offers, &PolicyExpressions::default(), &protocol, &context);
//! assert_eq!(clusters.cluster_of, [0, 0, 1]);
//! ```
//!
//! Finding probable mistakes in an ad:
//!
//! ```
//! use classad::ad::Dialect;
//! use classad::protocol::Protocol;
//! use classad::eval::Context;
//! use classad::lint::Checker;
//! use classad::syntax::{ParseOptions, parse_ad};
//!
//! let mut checker = Checker::new(Protocol::new(Dialect::Classad), &Context::new(Dialect::Classad));
//! let ad = parse_ad(b"[ Constraint = other.x < 10 && other.x > 12 ]", ParseOptions::default())?;
//! let found = checker.check(&ad);
//! assert_eq!(found[0].1.rule.name, "contradiction");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Matching many requests at once, and claiming a match later, when the ads have changed:
//!
//! ```
//! use classad::ad::Dialect;
//! use classad::protocol::Protocol;
//! use classad::eval::Context;
//! use classad::matching::claim::Claimer;
//! use classad::matching::{Accelerations, Matchmaker, Notice, Party, maximum_matching};
//! use classad::syntax::{ParseOptions, parse_ad};
//!
//! let ad = |text: &str| parse_ad(text.as_bytes(), ParseOptions::default()).unwrap();
//! let (protocol, context) = (Protocol::new(Dialect::Classad), Context::new(Dialect::Classad));
//! let offers = [ad("[ Memory = 64; Constraint = true ]"), ad("[ Memory = 32; Constraint = true ]")];
//! let requests = [ad("[ Constraint = true ]"), ad("[ Constraint = other.Memory >= 48 ]")];
//!
//! let mut matcher = Matchmaker::new(&offers, protocol.clone(), context.clone(), Accelerations::ALL);
//! let lists: Vec<_> = requests.iter().map(|request| matcher.candidates(request)).collect();
//! let matches = maximum_matching(&lists);
//! assert_eq!(matches.len(), 2);
//!
//! let party = |index: usize| Party::from_offer(&offers[index], &index.to_string(), &context);
//! let notice = Notice::for_pair(&matches[1], Party::new(&requests[1], "r", &context), party, None);
//! let now = [requests[1].clone(), ad("[ Memory = 16; Constraint = true ]")];
//! let claim = Claimer::new(&now, protocol, context.clone(), None).claim(&notice, &[Ok(0), Ok(1)]);
//! assert!(!claim.is_committed());
//! assert_eq!(claim.vetoes[0].1.to_string(), "it requires other");
//! ```
//!
//! Explaining why a request matches nothing, and what would let it match:
//!
//! ```
//! use classad::ad::Dialect;
//! use classad::protocol::Protocol;
//! use classad::eval::Context;
//! use classad::explain::{AdReference, Explainer, SummaryWriter};
//! use classad::syntax::{ParseOptions, parse_ad};
//!
//! let ad = |text: &str| parse_ad(text.as_bytes(), ParseOptions::default()).unwrap();
//! let offers = [ad("[ Memory = 32; Constraint = true ]"), ad("[ Memory = 64; Constraint = true ]")];
//! let request = ad("[ Size = 96; Constraint = other.Memory >= Size ]");
//! let dialect = Dialect::Classad;
//! let explainer = Explainer::new(&offers, Protocol::new(dialect), Context::new(dialect));
//! let report = explainer.explain(&request);
//! assert_eq!(report.clauses[0].counts.is_false, 2);
//! assert_eq!((report.changes[0].text().as_str(), report.changes[0].matched.count), ("Size 96 -> 64", 1));
//! let ads = ["offer", "offers"];
//! let wording = SummaryWriter { subject: "it", is_plural: false, nouns: ads, names: &|_: AdReference| String::new(), dialect, max_clause_chars: 70, brevity: 0 };
//! let expected = "it matches none of 2 offers: no offer has Memory >= 96 (Size); the largest is 64";
//! assert_eq!(wording.summary(&report), expected);
//! ```

pub mod ad;
pub mod configuration;
pub mod constraint;
mod door;
pub mod eval;
pub mod explain;
pub mod format;
pub mod lint;
pub mod matching;
pub mod policy_test;
pub mod pool;
pub mod protocol;
pub mod query;
pub mod submit;
pub mod syntax;
pub mod text;
pub mod transform;
#[cfg(feature = "workload")]
pub mod workload;

pub use ad::{AbsoluteTime, Ad, Attribute, Dialect, Expression, Name, RelativeTime, Type, Value};
pub use door::{AdFile, Error, Explain, Match, read_file};
pub use eval::{Abort, Context};
pub use format::{FileFormat, Problem};
pub use matching::{Candidate, Query};
pub use protocol::Protocol;
pub use syntax::{ParseOptions, SyntaxError};
