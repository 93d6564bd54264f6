//! The search for significant attributes: those that can tell requests apart (2006 paper 4.1).

use std::rc::Rc;
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::ad::{Ad, Expression, ExpressionKind, Name, Value};
use crate::constraint::is_scope_name;
use crate::eval::{Context, Environment, FreeNames, Knowledge, SpecializeOptions, specialize, transitive_closure};
use crate::protocol::{PORTS, Port, Protocol, port_list, read_ports};

use super::interner::{AutoclusterInterner, FreeNameIds, InternedId};
use super::port_names::{add_names_of_port, own_labels};
use super::{PolicyExpressions, RequestCluster, RequestClusters, SignificantNames, is_identifier};

/// Index of the requests' side in [`SignificantAttributes::reads`].
pub const REQUESTS: usize = 0;

/// Index of the offers' side in [`SignificantAttributes::reads`].
pub const OFFERS: usize = 1;

/// Names of the attributes that may be read from the ads of one side. `everything` means that any attribute may be
/// read.
#[derive(Default)]
struct SideReads {
    names: IndexSet<InternedId, FxBuildHasher>,
    everything: bool,
}

/// Names that are read of a request, and whether anything may be.
struct ReadNames {
    names: Vec<InternedId>,
    everything: bool,
}

/// Identifier that stands for the expression of an absent attribute in a [`RequestSignature`].
const ABSENT: InternedId = InternedId::MAX;

/// The significant attributes of an ad: pairs of the identifier of a name and the identifier of its expression, sorted.
/// Absent attributes that the other side or a policy reads are left out, because they are the same for all ads of a side.
type RequestSignature = Vec<(InternedId, InternedId)>;

/// What decides which names an ad mentions: for each attribute the identifiers of its name and of its expression, with
/// [`LITERAL`] for literals.
type AttributeIds = Vec<(InternedId, InternedId)>;

/// Identifier that stands for any literal in an [`AttributeIds`].
const LITERAL: InternedId = InternedId::MAX;

/// Computes the attributes that constraints, ranks and policies can read.
pub struct SignificantAttributes<'c> {
    protocol: &'c Protocol,
    interner: AutoclusterInterner,
    /// What is read from the ads of each side, at the indexes [`REQUESTS`] and [`OFFERS`].
    reads: [SideReads; 2],
    /// Names read from the current ad. The set is a field, so that its memory is reused for the next ad.
    reached: IndexSet<InternedId, FxBuildHasher>,
    /// Whether some offers have ports, at which other offers may be docked.
    pub has_nested_gangs: bool,
    /// What the offers' attributes read of requests, by the name of the attribute that a request reads; `None` if all that any request
    /// reads counts for all.
    reads_by_attribute: Option<FxHashMap<InternedId, Rc<ReadNames>>>,
    /// The names of all attributes of requests; `None` if what a request has is not what its offers see.
    request_names: Option<FxHashSet<Name>>,
    /// The context of offers that are known in part, without a clock.
    timeless: Context,
}

impl<'c> SignificantAttributes<'c> {
    pub fn new(protocol: &'c Protocol, context: &'c Context) -> Self {
        SignificantAttributes {
            protocol,
            interner: AutoclusterInterner::new(context.dialect),
            reads: [SideReads::default(), SideReads::default()],
            reached: IndexSet::default(),
            has_nested_gangs: false,
            reads_by_attribute: None,
            request_names: None,
            timeless: Context { now: None, random: None, ..context.clone() },
        }
    }

    /// Finds out what offers read of requests for their own constraints and ranks, and prepares to find out what they read for an
    /// attribute that a request reads. Then only the requests that read this attribute differ by what it reads.
    pub fn read_offers(&mut self, offers: &[&Ad]) {
        for offer in offers {
            self.signature(offer, OFFERS, &[]);
        }
        self.reads_by_attribute = Some(FxHashMap::default());
    }

    /// Whether what an offer's attribute reads counts for those requests alone that read the attribute.
    pub fn knows_requests(&self) -> bool {
        self.request_names.is_some() && !self.has_nested_gangs
    }

    /// Returns what offers read of a request for one of their attributes, directly or through others.
    fn reads_of_attribute(&mut self, name: InternedId, offers: &[&Ad]) -> Option<Rc<ReadNames>> {
        if let Some(known) = self.reads_by_attribute.as_ref()?.get(&name) {
            return Some(Rc::clone(known));
        }
        // As if it were the only attribute of the offers that is read.
        let before = std::mem::take(&mut self.reads);
        let known = self.reads_by_attribute.take()?;
        let root = self.interner.names[name as usize].clone();
        for offer in offers.iter().filter(|offer| offer.get(&root).is_some()) {
            let mut reached = std::mem::take(&mut self.reached);
            reached.clear();
            reached.insert(name);
            self.signature_of(offer, OFFERS, reached, &[]);
        }
        let [found, _] = std::mem::replace(&mut self.reads, before);
        let found = Rc::new(ReadNames { names: found.names.into_iter().collect(), everything: found.everything });
        self.reads_by_attribute = Some(known);
        self.reads_by_attribute.as_mut()?.insert(name, Rc::clone(&found));
        Some(found)
    }

    /// Takes note of which attributes requests have. Those with ports see the ads that are docked there, too.
    pub fn note_requests(&mut self, requests: &[Ad]) {
        let (mut shapes, mut names) = (FxHashSet::default(), FxHashSet::default());
        for request in requests {
            if request.get(&PORTS).is_some() {
                return;
            }
            if shapes.insert(Arc::as_ptr(request.shape())) {
                names.extend(request.iter().map(|attribute| attribute.name.clone()));
            }
        }
        self.request_names = Some(names);
    }

    /// Returns the number of names in `reads`, plus one for each `everything` that is set. At the fixpoint the result
    /// no longer grows.
    pub fn size(&self) -> usize {
        self.reads.iter().map(|reads| reads.names.len() + usize::from(reads.everything)).sum()
    }

    /// Returns the offers without those that mention the same names as an offer before: offers that differ only in the
    /// values of literals. Most offers of a pool do.
    pub fn distinct_shapes<'a>(&mut self, offers: &'a [Ad]) -> Vec<&'a Ad> {
        // Clones of one ad have the same identity and are looked at once.
        let distinct: IndexMap<usize, &Ad, FxBuildHasher> = offers.iter().map(|ad| (ad.identity(), ad)).collect();
        let mut known: FxHashSet<AttributeIds> = FxHashSet::default();
        let (mut shape, mut names) = (AttributeIds::new(), Vec::new());
        let mut is_new = |ad: &&Ad| {
            self.find_shape(ad, &mut names, &mut shape);
            !known.contains(&shape) && known.insert(shape.clone())
        };
        distinct.into_values().filter(|ad| is_new(ad)).collect()
    }

    /// Writes the shape of an ad to `shape`. `names` has the attributes of the ads before by their positions in an ad;
    /// they are tried first, because ads tend to have the same attributes in the same order.
    fn find_shape(&mut self, ad: &Ad, names: &mut Vec<InternedId>, shape: &mut AttributeIds) {
        shape.clear();
        for (position, attribute) in ad.iter().enumerate() {
            let guess = names.get(position).copied();
            let is_guessed = |name: &InternedId| self.interner.names[*name as usize] == *attribute.name;
            let name = match guess.filter(is_guessed) {
                Some(name) => name,
                None => self.interner.intern_name(attribute.name),
            };
            match names.get_mut(position) {
                Some(known) => *known = name,
                None => names.push(name),
            }
            let expression = match attribute.expression.kind() {
                ExpressionKind::Literal(value) if !matches!(value, Value::List(_) | Value::Ad(_)) => LITERAL,
                _ => self.interner.intern_expression(attribute.expression).0,
            };
            shape.push((name, expression));
        }
    }

    /// Records the names that policies read. At the ports of an offer, rules for requests are evaluated in the offer.
    pub fn add_policies(&mut self, policies: &PolicyExpressions) {
        for (side, expressions) in [(REQUESTS, &policies.in_requests), (OFFERS, &policies.in_offers)] {
            for expression in expressions {
                let mentions = self.interner.free_names_of_policy(expression);
                let sides = [(side, &mentions.mine), (1 - side, &mentions.theirs)];
                let nested = [(1 - side, &mentions.mine), (side, &mentions.theirs)];
                for (side, names) in sides.into_iter().chain(nested.into_iter().filter(|_| self.has_nested_gangs)) {
                    let wanted = &mut self.reads[side];
                    wanted.names.extend(names.iter().chain(&mentions.unqualified));
                    wanted.everything |= mentions.reads_anything;
                }
            }
        }
    }

    /// Puts into `roots` the names of the constraint, of the rank, and those of the ad that the other side or a policy reads.
    fn find_roots(&mut self, ad: &Ad, side: usize, roots: &mut IndexSet<InternedId, FxBuildHasher>) {
        roots.clear();
        for name in self.protocol.constraint_name(ad).into_iter().chain([self.protocol.rank_name()]) {
            roots.insert(self.interner.intern_name(name));
        }
        let read = &self.reads[side].names;
        if read.len() <= ad.len() {
            roots.extend(read.iter().filter(|name| ad.get(&self.interner.names[**name as usize]).is_some()));
        } else {
            let known = ad.iter().filter_map(|attribute| self.interner.known_name(attribute.name));
            let mut places: Vec<usize> = known.filter_map(|name| read.get_index_of(&name)).collect();
            places.sort_unstable();
            roots.extend(places.into_iter().filter_map(|place| read.get_index(place)));
        }
        if self.reads[side].everything {
            roots.extend(self.all_names(ad));
        }
    }

    /// Returns the names that an attribute of an ad with ports mentions. Labels of ports stand for other ads.
    fn names_beside_ports(
        &mut self,
        name: InternedId,
        expression: &Expression,
        ports: &[Port],
        labels: &[Name],
    ) -> FreeNameIds {
        let dialect = self.interner.dialect();
        let mut names = FreeNames::default();
        if self.interner.names[name as usize] == *PORTS {
            for port in ports {
                add_names_of_port(&mut names, port, labels, dialect);
            }
        } else {
            names.add_with_labels(expression, dialect, labels);
        }
        self.interner.intern_free_names(&names)
    }

    /// Returns the names that an expression of an offer still mentions where an attribute is undefined that neither the offer nor any
    /// request has: `TARGET[Key]` may read anything, and nothing where a condition on such an attribute keeps it away. Offers of
    /// one shape have the same answer. `None` if it is not known what requests have.
    fn names_if_absent(&mut self, ad: &Ad, expression: &Expression) -> Option<Rc<FreeNameIds>> {
        let known = self.request_names.as_ref().filter(|_| !self.has_nested_gangs)?;
        let names = FreeNames::of(expression, self.interner.dialect()).names;
        let undefined = |name: &Name| (name.clone(), Expression::literal(Value::Undefined));
        let [of_offer, of_requests]: [Ad; 2] = [true, false].map(|is_own| {
            let is_present = |name: &Name| known.contains(name) || is_own && ad.get(name).is_some();
            let is_absent = |name: &&Name| !is_present(name) && !is_scope_name(name);
            names.iter().filter(is_absent).map(undefined).collect()
        });
        let (mut environment, frames) = Environment::pair(of_offer, of_requests.clone());
        for frame in &frames {
            environment.member_mut(frame.participant)?.knowledge = Knowledge::Partial;
        }
        let options = SpecializeOptions::default();
        let residue = specialize(expression, &frames[0], &environment, &self.timeless, options).expression;
        let mut mentions = FreeNames::of(&residue, self.interner.dialect());
        // The condition itself is read.
        let [_, other] = self.interner.dialect().side_names();
        for absent in of_requests.iter() {
            let read = Expression::select(Expression::attribute(other), absent.name.clone());
            mentions.add(&read, self.interner.dialect());
        }
        Some(Rc::new(self.interner.intern_free_names(&mentions)))
    }

    /// Returns the significant attributes of an ad on this side. Records the names that their expressions read from the
    /// other side. `offers` are those whose attributes a request reads, after [`SignificantAttributes::read_offers`].
    pub fn signature(&mut self, ad: &Ad, side: usize, offers: &[&Ad]) -> RequestSignature {
        let mut reached = std::mem::take(&mut self.reached);
        self.find_roots(ad, side, &mut reached);
        self.signature_of(ad, side, reached, offers)
    }

    /// Returns the attributes of an ad that are `reached`, and those that they reach in turn.
    fn signature_of(
        &mut self,
        ad: &Ad,
        side: usize,
        mut reached: IndexSet<InternedId, FxBuildHasher>,
        offers: &[&Ad],
    ) -> RequestSignature {
        let mut signature = RequestSignature::new();
        let ports = port_list(ad).map(|_| read_ports(ad).map(|ports| ports.list).unwrap_or_default());
        if ports.is_some() {
            reached.insert(self.interner.intern_name(&PORTS));
        }
        let labels = own_labels(ad, ports.as_deref().unwrap_or_default());
        let mut everything = self.reads[side].everything;
        transitive_closure(&mut reached, |&name, reached| {
            let Some(expression) = ad.get(&self.interner.names[name as usize]) else {
                if !self.reads[side].names.contains(&name) {
                    signature.push((name, ABSENT));
                }
                return Some(());
            };
            let (number, plain) = self.interner.intern_expression(expression);
            signature.push((name, number));
            let mentions = match &ports {
                None if side == OFFERS && plain.reads_anything => self.names_if_absent(ad, expression).unwrap_or(plain),
                None => plain,
                Some(ports) => self.names_beside_ports(name, expression, ports, &labels).into(),
            };
            reached.extend(mentions.mine.iter().chain(&mentions.unqualified));
            // In an ad with ports, a name that is missing is not looked up on the other side.
            let missing = mentions
                .unqualified
                .iter()
                .filter(|name| ports.is_none() && ad.get(&self.interner.names[**name as usize]).is_none());
            let read: Vec<InternedId> = mentions.theirs.iter().chain(missing).copied().collect();
            self.record_reads(side, &read, mentions.reads_anything);
            let mut reads_anything = mentions.reads_anything;
            if side == REQUESTS && self.reads_by_attribute.is_some() {
                reads_anything |= self.reach_through_offers(read, mentions.reads_anything, offers, reached);
            }
            if reads_anything && !std::mem::replace(&mut everything, true) {
                reached.extend(self.all_names(ad));
            }
            Some(())
        });
        self.reached = reached;
        signature.sort_unstable();
        signature
    }

    /// Records the names that an attribute of an ad on this side reads from the other side.
    fn record_reads(&mut self, side: usize, read: &[InternedId], reads_anything: bool) {
        // What is docked at the port of an offer may be the request, or another offer.
        for other in if side == OFFERS && self.has_nested_gangs { 0..2 } else { 1 - side..2 - side } {
            self.reads[other].names.extend(read.iter().copied());
            self.reads[other].everything |= reads_anything;
        }
    }

    /// Adds to `reached` what the attributes of `offers` that a request reads read of the request in turn. Returns
    /// whether that may be anything.
    fn reach_through_offers(
        &mut self,
        mut read: Vec<InternedId>,
        reads_anything: bool,
        offers: &[&Ad],
        reached: &mut IndexSet<InternedId, FxBuildHasher>,
    ) -> bool {
        if reads_anything {
            read.extend(offers.iter().flat_map(|offer| self.all_names(offer)).collect::<Vec<_>>());
        }
        let mut may_be_anything = false;
        for of_offers in read {
            let Some(of_requests) = self.reads_of_attribute(of_offers, offers) else { continue };
            reached.extend(of_requests.names.iter().copied());
            may_be_anything |= of_requests.everything;
        }
        may_be_anything
    }

    /// Returns the names of all attributes of an ad that can tell it from others.
    fn all_names(&mut self, ad: &Ad) -> Vec<InternedId> {
        let names = ad.iter().map(|attribute| attribute.name).filter(|name| !is_identifier(name));
        names.map(|name| self.interner.intern_name(name)).collect()
    }

    /// Groups requests by their significant attributes. [`RequestCluster::members`] stays 0, and the caller must set
    /// it.
    pub fn group(&self, requests: &[Ad], signatures: &FxHashMap<usize, RequestSignature>) -> RequestClusters {
        let (mut numbers, mut by_ad) = (FxHashMap::<&RequestSignature, usize>::default(), FxHashMap::default());
        let mut found = RequestClusters::default();
        let sorted = |names: &mut dyn Iterator<Item = InternedId>| -> Arc<[Name]> {
            let mut names: Vec<Name> = names.map(|name| self.interner.names[name as usize].clone()).collect();
            names.sort();
            names.into()
        };
        let read = &self.reads[REQUESTS].names;
        let shared = sorted(&mut read.iter().copied());
        for request in requests {
            let Some(signature) = signatures.get(&request.identity()) else { continue };
            let number = *by_ad.entry(request.identity()).or_insert_with(|| {
                let next = found.clusters.len();
                *numbers.entry(signature).or_insert_with(|| {
                    let own = sorted(&mut signature.iter().map(|(name, _)| *name).filter(|name| !read.contains(name)));
                    let significant = SignificantNames { shared: Arc::clone(&shared), own };
                    found.clusters.push(RequestCluster { representative: request.clone(), members: 0, significant });
                    next
                })
            });
            found.cluster_of.push(number);
        }
        found
    }
}
