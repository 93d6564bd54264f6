//! The users of the pool workload, and the groups, sites, labs and time that its requests, jobs and machines share.

use super::super::rng::SeededRng;

pub const GROUPS: [&str; 8] = ["physics", "chemistry", "biostat", "astro", "cs", "econ", "engr", "climate"];
pub const SITES: [&str; 7] = ["Wisc", "UCSD", "Purdue", "Nebraska", "MIT", "Caltech", "UChicago"];
pub const LABS: [&str; 5] = ["hep", "chtc", "stat", "bio", "lab"];

/// Current time of the generated pool, in seconds since 1970.
pub const NOW_SECONDS: i64 = 1_760_000_000;

/// A user with an accounting group.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct PoolUser {
    pub number: u32,
    pub name: String,
    pub group: &'static str,
}

/// Generates `count` users, at least one.
pub fn users(count: u32, seed: u64) -> Vec<PoolUser> {
    let mut rng = SeededRng::new(seed, "pool users");
    let user = |number| PoolUser { number, name: format!("user{number:02}"), group: rng.choose::<&str>(&GROUPS) };
    (0..count.max(1)).map(user).collect()
}
