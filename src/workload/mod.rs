//! Synthetic ads, generated from a seed: the workloads of the papers' experiments, and a modern pool.
//!
//! A workload is a struct of parameters; [`AdGenerator::ads`] generates its ads, kind by kind. The same seed gives the
//! same ads on every machine. Each kind has its own stream of random numbers, so that a larger number of jobs does not
//! change the machines.

mod gang;
mod generator;
mod index;
mod pool;
mod rng;
mod template;
#[cfg(test)]
mod tests;

pub use gang::{GangVariant, GangWorkload};
pub use generator::{AdGenerator, AdKind, GeneratedAds};
pub use index::{DomainMix, IndexWorkload};
pub use pool::PoolWorkload;
