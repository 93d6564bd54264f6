pub mod ad;
pub mod syntax;
