pub mod ad;
pub mod constraint;
pub mod eval;
pub mod format;
pub mod matching;
pub mod syntax;
