//! The advertisement in an ad: its agent, its state and its lifetime (thesis 3.4.2).

use std::sync::LazyLock;

use crate::ad::{Ad, ByteString, Expression, ExpressionKind, Name, Value};
use crate::eval::{Context, Environment, Evaluator};

use super::advertised_state::{AdvertisedState, StateAttribute};
use super::advertisement_header::AdvertisementHeader;
use super::{SUBMITTER_TYPE, rank_value};
use AdvertisementAttribute as Attribute;

/// Declares the attributes of advertisements twice in the same order: as a table of names and as an enum of indexes
/// into the table.
macro_rules! advertisement_attributes {
    ($($name:ident,)*) => {
        /// The attributes that identify an advertisement, its sender and its lifetime. [`IDENTITY_ATTRIBUTES`] and
        /// [`HEADER_ATTRIBUTES`] are prefixes of this list.
        pub const ADVERTISEMENT_ATTRIBUTES: [&str; 28] = [$(stringify!($name)),*];

        /// An index into [`ADVERTISEMENT_ATTRIBUTES`].
        #[derive(Clone, Copy)]
        enum AdvertisementAttribute {
            $($name),*
        }
    };
}

advertisement_attributes! {
    Name, GlobalJobId, ClusterId, ProcId, JobMaterializeNextProcId, MyAddress,
    MyType, Type, UpdateSequenceNumber, ExpirationTime, LastHeardFrom, ClassAdLifetime,
    JobStatus, JobUniverse, Managed, State, Activity, Offline, Draining, MyCurrentTime, ServerTime, ScheddName,
    RemoteUser, RemoteOwner,
    AddressV1, Address, ClaimId, CurrentRank,
}

/// The prefix of [`ADVERTISEMENT_ATTRIBUTES`] that determines an ad's identity.
pub const IDENTITY_ATTRIBUTES: &[&str] = ADVERTISEMENT_ATTRIBUTES.split_at(6).0;

/// The prefix of [`ADVERTISEMENT_ATTRIBUTES`] that determines an ad's [`AdvertisementHeader`].
pub const HEADER_ATTRIBUTES: &[&str] = ADVERTISEMENT_ATTRIBUTES.split_at(24).0;

/// The attributes of [`ADVERTISEMENT_ATTRIBUTES`] that may hold the current user of an offer. The first one that is a
/// string or an integer counts.
pub const USER_ATTRIBUTES: &[&str] = HEADER_ATTRIBUTES.split_at(22).1;

/// The attributes that tell the time at which an ad was true; see [`Advertisement::time`].
pub const TIME_ATTRIBUTES: [&str; 3] = ["LastHeardFrom", "MyCurrentTime", "ServerTime"];

static ATTRIBUTE_NAMES: LazyLock<[Name; 28]> = LazyLock::new(|| ADVERTISEMENT_ATTRIBUTES.map(Name::new));

/// The user who holds an offer at present. A new match of the offer preempts the user's job.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct OfferOccupant {
    /// The user's name; see [`Advertisement::user`].
    pub user: String,
    /// Identity of the user's job (`GlobalJobId`); `None` if the offer's ad lacks it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// Rank that the offer gives the user's job (`CurrentRank`); 0 if the offer's ad lacks it.
    pub rank: f64,
}

/// A view of an ad as an advertisement. An attribute is evaluated on each access, in the ad alone, without a partner.
pub struct Advertisement<'a>(AttributeSource<'a>);

/// Source of the values of [`ADVERTISEMENT_ATTRIBUTES`].
enum AttributeSource<'a> {
    Ad(&'a Ad, &'a Context),
    Values(&'a dyn Fn(usize) -> Option<Value>),
}

impl<'a> Advertisement<'a> {
    /// Views an ad as an advertisement; no attribute is evaluated yet.
    #[must_use]
    pub fn new(ad: &'a Ad, context: &'a Context) -> Self {
        Advertisement(AttributeSource::Ad(ad, context))
    }

    /// Creates an advertisement from the values of its attributes. `values` takes an index into
    /// [`ADVERTISEMENT_ATTRIBUTES`] and returns the value of the attribute, `None` if the attribute is absent.
    #[must_use]
    pub fn from_values(values: &'a dyn Fn(usize) -> Option<Value>) -> Self {
        Advertisement(AttributeSource::Values(values))
    }

    /// Returns identity, kind, sequence number, expiration and state together.
    #[must_use]
    pub fn header(&self) -> AdvertisementHeader {
        let state = self.state();
        let is_slot = matches!(state, AdvertisedState::Slot(_));
        AdvertisementHeader {
            identity: self.agent_identity(),
            kind: self.kind_text(),
            sequence: self.sequence(),
            expiration: self.expiration(),
            state,
            holder: if is_slot { self.user_text() } else { None },
        }
    }

    /// Returns the state of the job or slot, as the ad itself tells it.
    #[must_use]
    pub fn state(&self) -> AdvertisedState {
        let kind = self.first_text([Attribute::MyType]);
        AdvertisedState::of_kind(kind.as_ref(), |attribute| {
            self.get(match attribute {
                StateAttribute::ProcId => Attribute::ProcId,
                StateAttribute::JobStatus => Attribute::JobStatus,
                StateAttribute::JobUniverse => Attribute::JobUniverse,
                StateAttribute::JobMaterializeNextProcId => Attribute::JobMaterializeNextProcId,
                StateAttribute::Managed => Attribute::Managed,
                StateAttribute::State => Attribute::State,
                StateAttribute::Activity => Attribute::Activity,
                StateAttribute::Offline => Attribute::Offline,
                StateAttribute::Draining => Attribute::Draining,
                StateAttribute::RemoteUser => Attribute::RemoteUser,
            })
        })
    }

    /// Returns the time at which the ad was true, in seconds since 1970: the latest of `LastHeardFrom`,
    /// `MyCurrentTime` and `ServerTime`. `None` if the ad has none of them.
    #[must_use]
    pub fn time(&self) -> Option<i64> {
        let times = [Attribute::LastHeardFrom, Attribute::MyCurrentTime, Attribute::ServerTime];
        times.into_iter().filter_map(|attribute| whole_seconds(&self.get(attribute)?)).max()
    }

    /// Returns the identity of the agent: the first of `Name`, `GlobalJobId`, `ClusterId.ProcId` and `MyAddress` that
    /// is a string or an integer. `None` if there is none.
    #[must_use]
    pub fn identity(&self) -> Option<String> {
        self.identity_text().as_ref().map(string)
    }

    fn agent_identity(&self) -> Option<ByteString> {
        let own = self.identity_text()?;
        let is_submitter = self.kind_text().is_some_and(|kind| kind.to_str().eq_ignore_ascii_case(SUBMITTER_TYPE));
        match self.first_text([Attribute::ScheddName]).filter(|_| is_submitter) {
            Some(schedd) => Some([own.as_bytes(), b"\n", schedd.as_bytes()].concat().into()),
            None => Some(own),
        }
    }

    fn identity_text(&self) -> Option<ByteString> {
        self.first_text([Attribute::Name, Attribute::GlobalJobId])
            .or_else(|| self.job_number().map(Into::into))
            .or_else(|| self.first_text([Attribute::MyAddress]))
    }

    /// Returns the name of the ad for people: a job is called `ClusterId.ProcId`, a factory of jobs `ClusterId`, unless it has a `Name`; any other ad
    /// is called by its identity. Jobs of several access points can have one name.
    #[must_use]
    pub fn display_name(&self) -> Option<String> {
        self.job_name().or_else(|| self.identity())
    }

    /// Returns the name of a job for people, `ClusterId.ProcId`. `None` if the ad has a `Name`, or lacks one of the two
    /// numbers: then its identity is its name.
    #[must_use]
    pub fn job_name(&self) -> Option<String> {
        let has_name = self.first_text([Attribute::Name]).is_some();
        if has_name { None } else { self.job_number() }
    }

    /// Returns `ClusterId.ProcId`, and `ClusterId` for a factory of jobs; `None` if one of the two is neither an integer nor a
    /// string.
    fn job_number(&self) -> Option<String> {
        let number = |attribute| self.first_string([attribute]);
        let cluster = number(Attribute::ClusterId)?;
        match number(Attribute::ProcId) {
            Some(process) => Some(format!("{cluster}.{process}")),
            None => self.get(Attribute::JobMaterializeNextProcId).map(|_| cluster),
        }
    }

    /// Returns the kind of the advertised thing: `MyType`, else `Type`, which is the papers' name. `None` if neither is
    /// a string or an integer.
    #[must_use]
    pub fn kind(&self) -> Option<String> {
        self.kind_text().as_ref().map(string)
    }

    /// Returns the same as [`Advertisement::kind`], as the bytes of the ad.
    pub(super) fn kind_text(&self) -> Option<ByteString> {
        self.first_text([Attribute::MyType, Attribute::Type])
    }

    /// Returns the contact address of the agent: `MyAddress`, else `AddressV1`, else `Address`, as in thesis Figure 8.
    /// `None` if none is a string or an integer.
    #[must_use]
    pub fn address(&self) -> Option<String> {
        self.first_string([Attribute::MyAddress, Attribute::AddressV1, Attribute::Address])
    }

    /// Returns the authorization ticket that a claim must present: `ClaimId`. `None` if it is neither a string nor an
    /// integer.
    #[must_use]
    pub fn ticket(&self) -> Option<String> {
        self.first_string([Attribute::ClaimId])
    }

    /// Returns the name of the offer's current user: `RemoteUser`, else `RemoteOwner`. `None` if neither is a string or
    /// an integer.
    #[must_use]
    pub fn user(&self) -> Option<String> {
        self.user_text().as_ref().map(string)
    }

    fn user_text(&self) -> Option<ByteString> {
        self.first_text([Attribute::RemoteUser, Attribute::RemoteOwner])
    }

    /// Returns the offer's current user, with the user's job from `GlobalJobId` and the job's rank from `CurrentRank`.
    /// `None` if the offer has no current user.
    #[must_use]
    pub fn occupant(&self) -> Option<OfferOccupant> {
        Some(OfferOccupant {
            user: self.user()?,
            job: self.first_string([Attribute::GlobalJobId]),
            rank: self.get(Attribute::CurrentRank).map_or(0.0, |rank| rank_value(&rank)),
        })
    }

    /// Returns the sequence number of the advertisement: `UpdateSequenceNumber`. `None` if it is not an integer.
    #[must_use]
    pub fn sequence(&self) -> Option<i64> {
        let Value::Integer(number) = self.get(Attribute::UpdateSequenceNumber)? else { return None };
        Some(number)
    }

    /// Returns the time at which the collector heard of the advertisement, in seconds since 1970: `LastHeardFrom`.
    /// `None` if it is not a time.
    #[must_use]
    pub fn last_heard(&self) -> Option<i64> {
        whole_seconds(&self.get(Attribute::LastHeardFrom)?)
    }

    /// Returns the last second in which the advertisement is valid, in seconds since 1970: `ExpirationTime`, else
    /// `LastHeardFrom` plus `ClassAdLifetime`. `None` if these attributes give no time: the advertisement never
    /// expires.
    #[must_use]
    pub fn expiration(&self) -> Option<i64> {
        let at = |attribute| self.get(attribute).as_ref().and_then(whole_seconds);
        at(Attribute::ExpirationTime)
            .or_else(|| at(Attribute::LastHeardFrom)?.checked_add(at(Attribute::ClassAdLifetime)?))
    }

    /// Returns the text of the first attribute that is a string or an integer; `None` if there is none.
    fn first_text<const N: usize>(&self, attributes: [Attribute; N]) -> Option<ByteString> {
        attributes.into_iter().find_map(|attribute| text_of(self.get(attribute)?))
    }

    /// Returns the same as [`Advertisement::first_text`] as a `String`.
    fn first_string<const N: usize>(&self, attributes: [Attribute; N]) -> Option<String> {
        self.first_text(attributes).as_ref().map(string)
    }

    fn get(&self, attribute: Attribute) -> Option<Value> {
        match self.0 {
            AttributeSource::Ad(ad, context) => evaluate_attribute(ad, &ATTRIBUTE_NAMES[attribute as usize], context),
            AttributeSource::Values(values) => values(attribute as usize),
        }
    }
}

/// Returns the name of an ad for people: the value of `expression` in the ad or, without an expression,
/// [`Advertisement::display_name`].
///
/// Returns `None` if the value is neither a string nor an integer, or if the evaluation exceeds a budget of `context`.
#[must_use]
pub fn display_name(ad: &Ad, expression: Option<&Expression>, context: &Context) -> Option<String> {
    match expression {
        Some(expression) => text_in(ad, expression, context),
        None => Advertisement::new(ad, context).display_name(),
    }
}

/// Returns what tells an ad from others: as [`display_name`], but without an expression [`Advertisement::identity`].
#[must_use]
pub fn identity(ad: &Ad, expression: Option<&Expression>, context: &Context) -> Option<String> {
    match expression {
        Some(expression) => text_in(ad, expression, context),
        None => Advertisement::new(ad, context).identity(),
    }
}

/// Returns the value of an expression in an ad, if it is a string or an integer.
fn text_in(ad: &Ad, expression: &Expression, context: &Context) -> Option<String> {
    let (environment, frame) = Environment::single(ad.clone());
    let value = Evaluator::new(&environment, context).evaluate(expression, &frame).ok()?;
    text_of(value).as_ref().map(string)
}

/// Returns the text of a string or an integer; `None` for other values.
fn text_of(value: Value) -> Option<ByteString> {
    match value {
        Value::String(text) => Some(text),
        Value::Integer(integer) => Some(integer.to_string().into()),
        _ => None,
    }
}

fn string(text: &ByteString) -> String {
    text.to_str().into_owned()
}

/// Evaluates an attribute in the ad alone, without a partner. `None` if it is absent, or if the evaluation exceeds a
/// budget of `context`.
#[must_use]
pub fn evaluate_attribute(ad: &Ad, name: &Name, context: &Context) -> Option<Value> {
    let expression = ad.get(name)?;
    if let ExpressionKind::Literal(value) = expression.without_parentheses().kind() {
        return Some(value.clone());
    }
    let (environment, frame) = Environment::single(ad.clone());
    Evaluator::new(&environment, context).attribute(&frame, name).ok()
}

/// Converts a time or a duration to whole seconds, rounding down. `None` for NaN and for values of other types.
#[allow(clippy::cast_possible_truncation)] // what is beyond every time becomes the last one
fn whole_seconds(value: &Value) -> Option<i64> {
    match value {
        Value::Integer(seconds) => Some(*seconds),
        Value::Real(seconds) if !seconds.is_nan() => Some(seconds.floor() as i64),
        Value::AbsoluteTime(time) => Some(time.seconds),
        Value::RelativeTime(time) => Some(time.seconds.floor() as i64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{
        ADVERTISEMENT_ATTRIBUTES, Advertisement, AdvertisementAttribute, HEADER_ATTRIBUTES, IDENTITY_ATTRIBUTES,
        USER_ATTRIBUTES,
    };
    use crate::ad::{Ad, Dialect};
    use crate::eval::Context;
    use crate::syntax::{ParseOptions, parse_ad};

    fn ad(text: &str) -> Ad {
        parse_ad(text.as_bytes(), ParseOptions::default()).unwrap()
    }

    /// `user` and `occupant` must return the same user: negotiation calls `user`, and notices of matches call
    /// `occupant`.
    #[test]
    fn the_user_is_the_remote_user_or_owner() {
        let context = Context::new(Dialect::Condor);
        for (text, user) in [
            ("[ RemoteUser = \"group.dave\"; RemoteOwner = \"dave\" ]", Some("group.dave")),
            ("[ RemoteOwner = \"dave\"; CurrentRank = 2 ]", Some("dave")),
            ("[ RemoteUser = undefined; RemoteOwner = strcat(\"da\", \"ve\") ]", Some("dave")),
            ("[ CurrentRank = 2 ]", None),
        ] {
            let ad = ad(text);
            let advertisement = Advertisement::new(&ad, &context);
            assert_eq!(advertisement.user().as_deref(), user, "{text}");
            assert_eq!(advertisement.occupant().map(|occupant| occupant.user).as_deref(), user, "{text}");
        }
    }

    fn expiration(text: &str) -> Option<i64> {
        Advertisement::new(&ad(text), &Context::new(Dialect::Classad)).expiration()
    }

    #[test]
    fn the_table_and_its_places() {
        assert_eq!(AdvertisementAttribute::MyAddress as usize + 1, IDENTITY_ATTRIBUTES.len());
        assert_eq!(AdvertisementAttribute::RemoteOwner as usize + 1, HEADER_ATTRIBUTES.len());
        assert_eq!(USER_ATTRIBUTES, ["RemoteUser", "RemoteOwner"]);
        assert_eq!(AdvertisementAttribute::CurrentRank as usize + 1, ADVERTISEMENT_ATTRIBUTES.len());
    }

    #[test]
    fn lifetimes() {
        assert_eq!(expiration("[ ExpirationTime = 100; LastHeardFrom = 1; ClassAdLifetime = 2 ]"), Some(100));
        assert_eq!(expiration("[ LastHeardFrom = 100; ClassAdLifetime = 20 ]"), Some(120));
        assert_eq!(
            expiration("[ LastHeardFrom = absTime(\"1970-01-01T00:01:40Z\"); ClassAdLifetime = '00:00:20' ]"),
            Some(120)
        );
        assert_eq!(expiration("[ LastHeardFrom = 100 ]"), None);
        assert_eq!(expiration("[ ClassAdLifetime = 100 ]"), None);
        assert_eq!(expiration("[ LastHeardFrom = 9223372036854775807; ClassAdLifetime = 20 ]"), None);
        let ad = ad("[ ExpirationTime = 100 ]");
        let context = Context::new(Dialect::Classad);
        assert!(!Advertisement::new(&ad, &context).header().has_expired(100));
        assert!(Advertisement::new(&ad, &context).header().has_expired(101));
    }
}
