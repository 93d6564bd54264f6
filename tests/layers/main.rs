//! The drawing of the house, kept true: every floor uses only itself and those below it, the binary uses only what
//! `lib.rs` shows, commands do not use each other, the files of a floor use each other in no circle, no type is
//! scattered over many files, caches have one bound, and files and functions are small.

// All of this crate is tests; clippy exempts only their functions.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod caches;
mod circles;
mod commands;
mod contributing;
mod floors;
mod sizes;
mod sources;
mod tokens;
mod truths;
mod types;
