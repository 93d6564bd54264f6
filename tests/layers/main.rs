//! The drawing of the house, kept true: every floor uses only itself and those below it, the binary uses only what
//! `lib.rs` shows, commands do not use each other, and the files of a floor use each other in no circle.

mod circles;
mod commands;
mod floors;
mod sources;
mod tokens;
