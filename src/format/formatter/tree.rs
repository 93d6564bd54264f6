//! Layout tree of an ad or expression: where lines may be broken, and the width of every part on one line.

use crate::syntax::Token;

use super::trivia::{TriviaTokens, display_columns};

/// Index of a node in [`LayoutTree`].
pub type LayoutNodeId = usize;

/// Kind of a node, with its parts.
#[derive(Debug)]
pub enum LayoutShape {
    /// A token, by its index in the list of tokens.
    Token(usize),
    /// Parts that are never separated: an operator and its operand, an expression and a selection from it.
    Sequence(Vec<LayoutNodeId>),
    /// Operands and binary operators, alternating. All operators have the precedence in the second field.
    Chain(Vec<LayoutNodeId>, u8),
    /// `a ? b : c ? d : e`, in reverse order, so that a condition can be added at the front by appending.
    Conditional(Vec<LayoutNodeId>),
    /// Adjacent string literals, which are one string.
    Strings(Vec<LayoutNodeId>),
    /// A bracketed construct: the opening bracket, items and separators alternating, the closing bracket.
    Bracketed(Vec<LayoutNodeId>, Bracket),
    /// `name = expression`: name, `=`, value.
    Attribute([LayoutNodeId; 3]),
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

/// A node with its width and the line breaks that are forced in it.
#[derive(Debug)]
pub struct LayoutNode {
    pub shape: LayoutShape,
    /// Number of columns on one line, without the comments before its first token.
    pub width: usize,
    /// Number of columns of the comments before the first token: of all, and of those on the line of this token.
    pub comment_columns: (usize, usize),
    /// Whether something inside the node forces a line break.
    pub is_multiline: bool,
    /// Whether the comments before its first token are on lines of their own.
    pub has_leading_comment_lines: bool,
}

/// Separation between a token and the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    Touching,
    Space,
    Line,
}

/// The layout tree. Nodes are stored in one vector, the parts of a node before the node.
#[derive(Debug)]
pub struct LayoutTree<'p, 't> {
    pub tokens: &'p TriviaTokens<'t>,
    nodes: Vec<LayoutNode>,
}

impl<'p, 't> LayoutTree<'p, 't> {
    /// Creates a tree without nodes.
    pub fn new(tokens: &'p TriviaTokens<'t>) -> Self {
        LayoutTree { tokens, nodes: Vec::with_capacity(tokens.tokens.len() * 2) }
    }

    /// Forces an ad that has attributes to be printed on several lines.
    pub fn force_multiline(&mut self, ad: LayoutNodeId) {
        let node = &mut self.nodes[ad];
        node.is_multiline |= matches!(&node.shape, LayoutShape::Bracketed(parts, _) if parts.len() > 2);
    }

    /// Returns a node.
    pub fn get(&self, node: LayoutNodeId) -> &LayoutNode {
        &self.nodes[node]
    }

    /// Returns the number of columns of a node on one line, including the comments before it.
    pub fn width_with_comments(&self, node: LayoutNodeId) -> usize {
        self.nodes[node].width + self.nodes[node].comment_columns.0
    }

    /// Returns the index of the first token of a node.
    pub fn first_token(&self, mut node: LayoutNodeId) -> usize {
        loop {
            node = match &self.nodes[node].shape {
                LayoutShape::Token(piece) => return *piece,
                LayoutShape::Conditional(nodes) => nodes[nodes.len() - 1],
                LayoutShape::Sequence(nodes)
                | LayoutShape::Chain(nodes, _)
                | LayoutShape::Strings(nodes)
                | LayoutShape::Bracketed(nodes, _) => nodes[0],
                LayoutShape::Attribute(nodes) => nodes[0],
            };
        }
    }

    /// Returns the separation between two neighbouring parts of a sequence.
    pub fn spacing_between(&self, left: LayoutNodeId, right: LayoutNodeId) -> Spacing {
        let LayoutShape::Token(piece) = self.nodes[left].shape else { return Spacing::Touching };
        let next = &self.tokens.tokens[piece + 1];
        let is_number = |token: Option<Token>| token.is_some_and(Token::is_number);
        match self.tokens.tokens[piece].token {
            // `-5` is a number and `- 5` an operation, so the space is kept.
            Some(Token::Minus) if is_number(next.token) && !next.follows_directly => Spacing::Space,
            // `1.b` would be read as a malformed number, so a space separates the tokens.
            token if is_number(token) && matches!(self.nodes[right].shape, LayoutShape::Token(_)) => Spacing::Space,
            _ => Spacing::Touching,
        }
    }

    /// Adds a leaf for a token.
    pub fn add_token(&mut self, piece: usize) -> LayoutNodeId {
        let (pieces, shape) = (self.tokens, LayoutShape::Token(piece));
        let width = display_columns(pieces.token_text(piece));
        let before = pieces.comment_columns(piece);
        self.add(LayoutNode {
            shape,
            width,
            comment_columns: before,
            is_multiline: false,
            has_leading_comment_lines: pieces.forces_line_break(piece),
        })
    }

    fn add(&mut self, node: LayoutNode) -> LayoutNodeId {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Builds a node from consecutive parts; `between` is the total width of the separators in columns.
    pub fn add_compound(&mut self, shape: LayoutShape, parts: &[LayoutNodeId], between: usize) -> LayoutNodeId {
        let width = parts.iter().map(|part| self.width_with_comments(*part)).sum::<usize>() + between;
        let LayoutNode { has_leading_comment_lines: is_led, comment_columns: before, .. } = self.nodes[parts[0]];
        let width = width - before.0;
        let is_high = parts.iter().enumerate().any(|(at, part)| {
            let part = &self.nodes[*part];
            part.is_multiline || at > 0 && part.has_leading_comment_lines
        });
        self.add(LayoutNode {
            shape,
            width,
            comment_columns: before,
            is_multiline: is_high,
            has_leading_comment_lines: is_led,
        })
    }

    /// Appends parts to a node; `between` is the total width of the separators in columns.
    fn extend(&mut self, node: LayoutNodeId, parts: &[LayoutNodeId], between: usize) {
        for part in parts {
            let is_high = self.nodes[*part].is_multiline || self.nodes[*part].has_leading_comment_lines;
            self.nodes[node].width += self.width_with_comments(*part);
            self.nodes[node].is_multiline |= is_high;
        }
        self.nodes[node].width += between;
        if let LayoutShape::Sequence(nodes) | LayoutShape::Chain(nodes, _) = &mut self.nodes[node].shape {
            nodes.extend_from_slice(parts);
        }
    }

    /// Builds an expression with a suffix: a selection, a subscript or the arguments of a call.
    pub fn add_suffix(&mut self, base: LayoutNodeId, suffix: &[LayoutNodeId]) -> LayoutNodeId {
        let space = usize::from(self.spacing_between(base, suffix[0]) == Spacing::Space);
        if let LayoutShape::Sequence(_) = self.nodes[base].shape {
            self.extend(base, suffix, 0);
            return base;
        }
        let mut parts = vec![base];
        parts.extend_from_slice(suffix);
        self.add_compound(LayoutShape::Sequence(parts.clone()), &parts, space)
    }

    /// Builds a binary operation. A left operand that is a chain of the same precedence is extended by the operator and
    /// the right operand.
    pub fn add_binary(
        &mut self,
        left: LayoutNodeId,
        operator: LayoutNodeId,
        right: LayoutNodeId,
        precedence: u8,
    ) -> LayoutNodeId {
        if matches!(self.nodes[left].shape, LayoutShape::Chain(_, same) if same == precedence) {
            self.extend(left, &[operator, right], 2);
            return left;
        }
        let parts = [left, operator, right];
        self.add_compound(LayoutShape::Chain(parts.to_vec(), precedence), &parts, 2)
    }

    /// Builds `condition ? consequent : alternative`. An alternative that is a conditional is extended at the front.
    pub fn add_conditional(&mut self, parts: [LayoutNodeId; 5]) -> LayoutNodeId {
        let alternative = parts[4];
        let mut nodes = match &mut self.nodes[alternative].shape {
            LayoutShape::Conditional(nodes) => std::mem::take(nodes),
            _ => vec![alternative],
        };
        nodes.extend(parts[..4].iter().rev());
        self.add_compound(LayoutShape::Conditional(nodes), &parts, 4)
    }

    /// Builds a bracketed construct from the brackets, items and separators.
    pub fn add_bracketed(&mut self, parts: Vec<LayoutNodeId>, bracket: Bracket) -> LayoutNodeId {
        let separators = (parts.len() - 2) / 2;
        let inside = match (bracket.is_wide(), parts.len()) {
            (true, 2) => 1,
            (true, _) => 2,
            (false, _) => 0,
        };
        let node = self.add_compound(LayoutShape::Bracketed(Vec::new(), bracket), &parts, separators + inside);
        // If the first item begins a line in the source, every item gets its own line.
        let first = &self.tokens.tokens[self.first_token(parts[0]) + 1];
        if bracket.is_wide() && parts.len() > 2 && first.line_ends > 0 {
            self.nodes[node].is_multiline = true;
        }
        self.nodes[node].shape = LayoutShape::Bracketed(parts, bracket);
        node
    }
}
