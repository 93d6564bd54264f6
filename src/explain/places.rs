//! Attributes that name places: machines, sites and clusters.

use crate::ad::Name;

/// The attributes of slots that name a machine, and the ends of names of those that name a site or a cluster. A job that
/// asks for one has its reasons.
const NAMES_OF_PLACES: [&str; 3] = ["Machine", "Name", "UtsnameNodename"];
const ENDS_OF_PLACES: [&str; 7] =
    ["Site", "SiteName", "ResourceName", "ClusterName", "Cluster", "HostName", "PoolName"];

/// Whether an attribute of slots names a machine, a site or a cluster.
pub fn names_place(name: &Name) -> bool {
    NAMES_OF_PLACES.iter().any(|known| name.is(known)) || ENDS_OF_PLACES.iter().any(|end| name.ends_with(end))
}

/// Whether an attribute of a job names the places that it wants: `DESIRED_Sites`.
pub fn names_wanted_place(name: &Name) -> bool {
    name.starts_with("DESIRED_")
}
