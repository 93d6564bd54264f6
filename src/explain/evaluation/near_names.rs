//! The attributes of requests whose names are similar to one that a request lacks.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::ad::{Ad, AdShape, Bounded, ByIdentity, Name};
use crate::lint::similar_names;

/// Attributes with similar names, by name.
type NearByName = FxHashMap<Name, Vec<Name>>;

/// The attributes of requests with similar names, by the shape of the request and the name. Threads share them.
#[derive(Default)]
pub struct NearNames(Mutex<Bounded<ByIdentity<Arc<AdShape>, NearByName>>>);

impl NearNames {
    /// Returns the attributes of a request with names similar to one that it lacks. Requests of one shape share the answer.
    pub fn of(&self, request: &Ad, name: &Name) -> Vec<Name> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let shape = request.shape();
        let find = || {
            let own = request.iter().map(|attribute| attribute.name);
            similar_names(name, own, |_| 1).into_iter().map(|(near, _)| near).collect()
        };
        let of_shape = known.get_or_insert_with(shape, size_of_val(shape.names()), NearByName::default);
        of_shape.entry(name.clone()).or_insert_with(find).clone()
    }
}
