//! Layout tree of an ad or expression: where lines may be broken, and the width of every part on one line.

use crate::syntax::Token;

use super::trivia::{Pieces, columns};

/// Index of a node in [`Tree`].
pub type Node = usize;

/// The parts of a node.
#[derive(Debug)]
pub enum Shape {
    /// A token, by its index in the list of tokens.
    Token(usize),
    /// Parts that are never separated: an operator and its operand, an expression and a selection from it.
    Sequence(Vec<Node>),
    /// Operands and binary operators of one precedence, alternating; the precedence.
    Chain(Vec<Node>, u8),
    /// `a ? b : c ? d : e`, in reverse order, so that extending it at the front is cheap.
    Conditional(Vec<Node>),
    /// Adjacent string literals, which are one string.
    Strings(Vec<Node>),
    /// A bracketed construct: the opening bracket, items and separators alternating, the closing bracket.
    Bracketed(Vec<Node>, Bracket),
    /// `name = expression`: name, `=`, value.
    Attribute([Node; 3]),
}

/// Kind of a bracketed construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bracket {
    /// `[ a = 1; b = 2 ]`
    Ad,
    /// `{ 1, 2 }`
    List,
    /// `(1)`, and the arguments of a call.
    Parentheses,
    /// `[0]`
    Index,
}

impl Bracket {
    /// Whether a space follows the opening bracket and precedes the closing one.
    pub fn is_wide(self) -> bool {
        matches!(self, Bracket::Ad | Bracket::List)
    }
}

/// A node with its measures.
#[derive(Debug)]
pub struct Measured {
    pub shape: Shape,
    /// Number of columns on one line, without the comments before its first token.
    pub width: usize,
    /// Number of columns of these comments: of all, and of those on the token's line.
    pub before: (usize, usize),
    /// Whether something inside the node forces a line break.
    pub is_high: bool,
    /// Whether the comments before its first token are on lines of their own.
    pub is_led: bool,
}

/// Separation between a token and the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    Touching,
    Space,
    Line,
}

/// The layout tree. Nodes are stored bottom-up in one vector.
#[derive(Debug)]
pub struct Tree<'p, 't> {
    pub pieces: &'p Pieces<'t>,
    nodes: Vec<Measured>,
}

impl<'p, 't> Tree<'p, 't> {
    /// Creates a tree without nodes.
    pub fn new(pieces: &'p Pieces<'t>) -> Self {
        Tree { pieces, nodes: Vec::with_capacity(pieces.list.len() * 2) }
    }

    /// Forces an ad that has attributes to be printed on several lines.
    pub fn spread(&mut self, ad: Node) {
        let node = &mut self.nodes[ad];
        node.is_high |= matches!(&node.shape, Shape::Bracketed(parts, _) if parts.len() > 2);
    }

    /// Returns a node.
    pub fn get(&self, node: Node) -> &Measured {
        &self.nodes[node]
    }

    /// Returns the number of columns of a node on one line, including the comments before it.
    pub fn width_within(&self, node: Node) -> usize {
        self.nodes[node].width + self.nodes[node].before.0
    }

    /// Returns the index of the first token of a node.
    pub fn first_piece(&self, mut node: Node) -> usize {
        loop {
            node = match &self.nodes[node].shape {
                Shape::Token(piece) => return *piece,
                Shape::Conditional(nodes) => nodes[nodes.len() - 1],
                Shape::Sequence(nodes)
                | Shape::Chain(nodes, _)
                | Shape::Strings(nodes)
                | Shape::Bracketed(nodes, _) => nodes[0],
                Shape::Attribute(nodes) => nodes[0],
            };
        }
    }

    /// Returns the separation between two neighbouring parts of a sequence.
    pub fn join(&self, left: Node, right: Node) -> Join {
        let Shape::Token(piece) = self.nodes[left].shape else { return Join::Touching };
        let next = &self.pieces.list[piece + 1];
        let is_number = |token: Option<Token>| token.is_some_and(Token::is_number);
        match self.pieces.list[piece].token {
            // `-5` is a number, `- 5` an operation.
            Some(Token::Minus) if is_number(next.token) && !next.touches => Join::Space,
            // `1.b` would be a broken number.
            token if is_number(token) && matches!(self.nodes[right].shape, Shape::Token(_)) => Join::Space,
            _ => Join::Touching,
        }
    }

    /// Adds a leaf for a token.
    pub fn token(&mut self, piece: usize) -> Node {
        let (pieces, shape) = (self.pieces, Shape::Token(piece));
        let width = columns(pieces.written(piece));
        let before = pieces.columns_before(piece);
        self.add(Measured { shape, width, before, is_high: false, is_led: pieces.forces(piece) })
    }

    fn add(&mut self, node: Measured) -> Node {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Builds a node from consecutive parts; `between` is the total width of the separators in columns.
    pub fn of(&mut self, shape: Shape, parts: &[Node], between: usize) -> Node {
        let width = parts.iter().map(|part| self.width_within(*part)).sum::<usize>() + between;
        let Measured { is_led, before, .. } = self.nodes[parts[0]];
        let width = width - before.0;
        let is_high = parts.iter().enumerate().any(|(at, part)| {
            let part = &self.nodes[*part];
            part.is_high || at > 0 && part.is_led
        });
        self.add(Measured { shape, width, before, is_high, is_led })
    }

    /// Appends parts to a node; `between` is the total width of the separators in columns.
    fn extend(&mut self, node: Node, parts: &[Node], between: usize) {
        for part in parts {
            let is_high = self.nodes[*part].is_high || self.nodes[*part].is_led;
            self.nodes[node].width += self.width_within(*part);
            self.nodes[node].is_high |= is_high;
        }
        self.nodes[node].width += between;
        if let Shape::Sequence(nodes) | Shape::Chain(nodes, _) = &mut self.nodes[node].shape {
            nodes.extend_from_slice(parts);
        }
    }

    /// Builds an expression with a suffix: a selection, a subscript or the arguments of a call.
    pub fn suffixed(&mut self, base: Node, suffix: &[Node]) -> Node {
        let space = usize::from(self.join(base, suffix[0]) == Join::Space);
        if let Shape::Sequence(_) = self.nodes[base].shape {
            self.extend(base, suffix, 0);
            return base;
        }
        let mut parts = vec![base];
        parts.extend_from_slice(suffix);
        self.of(Shape::Sequence(parts.clone()), &parts, space)
    }

    /// Builds a binary operation. If the left operand is a chain of the same precedence it is extended.
    pub fn binary(&mut self, left: Node, operator: Node, right: Node, precedence: u8) -> Node {
        if matches!(self.nodes[left].shape, Shape::Chain(_, same) if same == precedence) {
            self.extend(left, &[operator, right], 2);
            return left;
        }
        let parts = [left, operator, right];
        self.of(Shape::Chain(parts.to_vec(), precedence), &parts, 2)
    }

    /// Builds `condition ? consequent : alternative`. If the alternative is a conditional it is extended.
    pub fn conditional(&mut self, parts: [Node; 5]) -> Node {
        let alternative = parts[4];
        let mut nodes = match &mut self.nodes[alternative].shape {
            Shape::Conditional(nodes) => std::mem::take(nodes),
            _ => vec![alternative],
        };
        nodes.extend(parts[..4].iter().rev());
        self.of(Shape::Conditional(nodes), &parts, 4)
    }

    /// Builds a bracketed construct from the brackets, items and separators.
    pub fn bracketed(&mut self, parts: Vec<Node>, bracket: Bracket) -> Node {
        let separators = (parts.len() - 2) / 2;
        let inside = match (bracket.is_wide(), parts.len()) {
            (true, 2) => 1,
            (true, _) => 2,
            (false, _) => 0,
        };
        let node = self.of(Shape::Bracketed(Vec::new(), bracket), &parts, separators + inside);
        // If the first item begins a line in the source, every item gets its own line.
        let first = &self.pieces.list[self.first_piece(parts[0]) + 1];
        if bracket.is_wide() && parts.len() > 2 && first.lines > 0 {
            self.nodes[node].is_high = true;
        }
        self.nodes[node].shape = Shape::Bracketed(parts, bracket);
        node
    }
}
