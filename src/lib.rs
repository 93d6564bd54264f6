pub mod ad;
pub mod eval;
pub mod syntax;
