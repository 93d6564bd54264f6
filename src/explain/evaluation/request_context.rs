//! A request, with what is computed of it once.

use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ad::{Ad, Expression, Name, ScopeFrame};
use crate::constraint::has_scope_attribute;
use crate::matching::{Pair, PairSide};

use super::shared_cache::CacheKey;

/// What the results of a clause depend on.
#[derive(Clone)]
pub struct ClauseKey {
    /// Equal keys mean equal results, also of different clauses and requests.
    pub key: CacheKey,
    /// The attributes that the clause depends on. `None` if they are unknown; then rows cannot be grouped.
    pub names: Option<Arc<[Name]>>,
    /// Whether the value of the clause depends on an attribute that contains it.
    pub is_circular: bool,
}

/// Keys of clauses, each with its expression.
type ClauseKeys = FxHashMap<(usize, usize, bool), (Expression, ClauseKey)>;

/// A request with its caches.
pub struct RequestContext {
    pub ad: Ad,
    pub(super) frame: Arc<ScopeFrame>,
    pub(super) has_scope_attribute: bool,
    /// The expressions that the request binds to names. The key is the identifier of a name in the store. The value is
    /// the identifier of the bound expression, and whether this expression is not a literal.
    pub(super) bindings: RefCell<FxHashMap<usize, (usize, bool)>>,
    /// The keys of clauses. The key is the identity of the clause's expression, which is kept so
    /// that no other gets its identity, with the number of the side and whether the clause is whole.
    pub(super) clause_keys: RefCell<ClauseKeys>,
}

impl RequestContext {
    pub fn new(ad: &Ad) -> Self {
        RequestContext {
            ad: ad.clone(),
            frame: Pair::make_scope(ad.clone(), PairSide::Request),
            has_scope_attribute: has_scope_attribute(ad),
            bindings: RefCell::default(),
            clause_keys: RefCell::default(),
        }
    }
}
