//! The operators: one table of symbols and precedences for the parser and the printer.

use super::dialect::Dialect;

/// The family of an operator, which decides the types of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperatorGroup {
    /// `+ - * / %`
    Arithmetic,
    /// `& | ^ << >> >>>`
    Bitwise,
    /// `< <= == != >= >`
    Comparison,
    /// `is isnt`
    Identity,
    /// `&& ||`
    Logic,
}

macro_rules! binary_operators {
    ($($name:ident $symbol:literal $precedence:literal $group:ident,)*) => {
        /// An operator between two operands. All binary operators associate to the left (thesis Figure 3).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum BinaryOperator {
            $(#[doc = concat!("`", $symbol, "`")] $name,)*
        }

        impl BinaryOperator {
            /// All binary operators, in the order of their table.
            pub const ALL: &'static [BinaryOperator] = &[$(BinaryOperator::$name,)*];

            /// Returns the symbol in bracketed ads and expressions, such as `is`.
            #[must_use]
            pub fn symbol(self) -> &'static str {
                match self { $(BinaryOperator::$name => $symbol,)* }
            }

            /// Returns the precedence: higher binds tighter.
            #[must_use]
            pub fn precedence(self) -> u8 {
                match self { $(BinaryOperator::$name => $precedence,)* }
            }

            /// Returns the kind of the operator: arithmetic, bitwise, comparison, identity or logic.
            #[must_use]
            pub fn group(self) -> OperatorGroup {
                match self { $(BinaryOperator::$name => OperatorGroup::$group,)* }
            }
        }
    };
}

// The precedences of HTCondor's parser: thesis Figure 3, with `=?=` and `=!=` as spellings of `is` and `isnt`.
// Precedence 1 is reserved for `? :`, 12 for the unary operators, 13 for `?:`.
binary_operators! {
    Or "||" 2 Logic,
    And "&&" 3 Logic,
    BitOr "|" 4 Bitwise,
    BitXor "^" 5 Bitwise,
    BitAnd "&" 6 Bitwise,
    Equal "==" 7 Comparison,
    NotEqual "!=" 7 Comparison,
    Is "is" 7 Identity,
    Isnt "isnt" 7 Identity,
    Less "<" 8 Comparison,
    LessEqual "<=" 8 Comparison,
    Greater ">" 8 Comparison,
    GreaterEqual ">=" 8 Comparison,
    ShiftLeft "<<" 9 Bitwise,
    ShiftRight ">>" 9 Bitwise,
    ShiftRightUnsigned ">>>" 9 Bitwise,
    Add "+" 10 Arithmetic,
    Subtract "-" 10 Arithmetic,
    Multiply "*" 11 Arithmetic,
    Divide "/" 11 Arithmetic,
    Remainder "%" 11 Arithmetic,
}

/// Precedence of the unary operators, on the scale of [`BinaryOperator::precedence`].
pub const PRECEDENCE_UNARY: u8 = 12;

/// The precedence of `? :`, below that of every binary operator.
pub const PRECEDENCE_CONDITIONAL: u8 = 1;

impl BinaryOperator {
    /// Returns the symbol in HTCondor's long form, such as `=?=`.
    #[must_use]
    pub fn condor_symbol(self) -> &'static str {
        match self {
            BinaryOperator::Is => "=?=",
            BinaryOperator::Isnt => "=!=",
            _ => self.symbol(),
        }
    }

    /// Returns the symbol in the expressions of a dialect, such as `is` or `=?=`.
    #[must_use]
    pub fn symbol_in(self, dialect: Dialect) -> &'static str {
        if dialect.is_condor() { self.condor_symbol() } else { self.symbol() }
    }

    /// Returns the operator with the same meaning for exchanged operands, as `a < b` is `b > a`; `None` unless it
    /// is a comparison or an identity.
    #[must_use]
    pub fn converse(self) -> Option<BinaryOperator> {
        use BinaryOperator::{Equal, Greater, GreaterEqual, Is, Isnt, Less, LessEqual, NotEqual};
        Some(match self {
            Less => Greater,
            LessEqual => GreaterEqual,
            Greater => Less,
            GreaterEqual => LessEqual,
            Equal | NotEqual | Is | Isnt => self,
            _ => return None,
        })
    }
}

/// A prefix operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOperator {
    /// `-`
    Minus,
    /// `+`
    Plus,
    /// `!`
    Not,
    /// `~`
    Complement,
}

impl UnaryOperator {
    /// Returns the symbol, which is the same in both dialects.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            UnaryOperator::Minus => "-",
            UnaryOperator::Plus => "+",
            UnaryOperator::Not => "!",
            UnaryOperator::Complement => "~",
        }
    }
}
