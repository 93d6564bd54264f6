//! Why ads do not do what they were meant to do.

pub mod check;
