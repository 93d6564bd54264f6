//! Classified advertisements: the language in which HTCondor and its descendants describe jobs,
//! machines, licences and policies, and the matchmaking that brings them together.
//!
//! The house has floors; each uses only those below it.
//!
//! | floor | what is there |
//! |---|---|
//! | [`matching`] | queries, bilateral matches, gangs |
//! | [`pool`] | many ads at once: the census |
//! | [`constraint`] | the advertising protocol: constraint and rank, ports and labels, identity |
//! | [`mod@format`] | files of ads: detection, reading, writing, positions, differences |
//! | [`eval`] | meaning: scope, evaluation, references, the built-in functions |
//! | [`syntax`] | text to tree and back |
//! | [`ad`] | what things are: names, values, expressions, ads, dialects |
//!
//! Evaluating an expression in an ad:
//!
//! ```
//! use classad::ad::{Dialect, Value};
//! use classad::eval::{Context, Environment, Evaluator};
//! use classad::syntax::{Rules, parse_ad, parse_expression};
//!
//! let rules = Rules::new(Dialect::Classad);
//! let ad = parse_ad(b"[ Memory = 64M; Spare = Memory - 15M ]", rules)?;
//! let expression = parse_expression(b"Spare >= 40M", rules)?;
//! let (environment, scope) = Environment::alone(ad);
//! let value = Evaluator::new(&environment, &Context::new(Dialect::Classad)).evaluate(&expression, &scope)?;
//! assert_eq!(value, Value::Boolean(true));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Reading a file of ads and asking it a question:
//!
//! ```
//! use classad::ad::Dialect;
//! use classad::eval::Context;
//! use classad::format::{Form, read};
//! use classad::matching::Query;
//! use classad::syntax::{Rules, parse_expression};
//!
//! let constraint = parse_expression(b"Cpus >= 8", Rules::new(Dialect::Condor))?;
//! let query = Query::new(constraint, Context::new(Dialect::Condor));
//! let pool = b"Name = \"small\"\nCpus = 4\n\nName = \"large\"\nCpus = 16\n";
//! let mut found = Vec::new();
//! for entry in read(pool, Form::Long, Dialect::Condor).flatten() {
//!     if query.accepts(&entry.ad)? {
//!         found.push(entry.number);
//!     }
//! }
//! assert_eq!(found, [2]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Matching requests with offers, and gangs:
//!
//! ```
//! use classad::ad::Dialect;
//! use classad::constraint::Protocol;
//! use classad::eval::Context;
//! use classad::matching::{Greedy, gang::Gangmatcher};
//! use classad::syntax::{Rules, parse_ad};
//!
//! let ad = |text: &str| parse_ad(text.as_bytes(), Rules::default()).unwrap();
//! let (protocol, context) = (Protocol::new(Dialect::Classad), Context::new(Dialect::Classad));
//!
//! let offers = [ad("[ Memory = 32; Constraint = true ]"), ad("[ Memory = 64; Constraint = true ]")];
//! let request = ad("[ Constraint = other.Memory >= 48 ]");
//! let best = Greedy::new(&offers, protocol.clone(), context.clone()).best(0, &request).unwrap();
//! assert_eq!(best.offer, 1);
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

pub mod ad;
pub mod constraint;
pub mod eval;
pub mod format;
pub mod matching;
pub mod pool;
pub mod syntax;
