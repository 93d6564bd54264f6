//! One request and one offer.

use classad::explain::Explainer;

use crate::cli::session::Session;
use crate::cli::{Failure, Status};

use super::Case;

/// Explains why a named offer and a request do not match.
pub fn explain(
    _session: &mut Session,
    _case: &Case<'_>,
    _explainer: &mut Explainer,
    _offer: &str,
    _request: Option<&str>,
) -> Result<Status, Failure> {
    Ok(Status::No)
}
