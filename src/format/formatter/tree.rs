//! Layout tree of an ad or expression: where lines may be broken, and the width of every part on one line.

use crate::syntax::Token;

use super::trivia::{TriviaTokens, display_columns};

/// Index of a node in [`LayoutTree`].
pub type LayoutNodeId = usize;

/// Kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayoutNodeKind {
    /// A token, by its index in the list of tokens. It has no parts.
    Token(usize),
    /// Parts that are never separated: an operator and its operand, an expression and a selection from it.
    Sequence,
    /// Operands and binary operators of this precedence, alternating.
    Chain(u8),
    /// `a ? b : c ? d : e`, in reverse order, so that a condition can be added at the front by appending.
    Conditional,
    /// Adjacent string literals, which are one string.
    Strings,
    /// A bracketed construct: the opening bracket, items and separators alternating, the closing bracket.
    Bracketed(Bracket),
    /// `name = expression`: name, `=`, value.
    Attribute,
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
    pub kind: LayoutNodeKind,
    pub parts: Vec<LayoutNodeId>,
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
    pub nodes: Vec<LayoutNode>,
}

impl<'p, 't> LayoutTree<'p, 't> {
    /// Creates a tree without nodes.
    pub fn new(tokens: &'p TriviaTokens<'t>) -> Self {
        LayoutTree { tokens, nodes: Vec::with_capacity(tokens.tokens.len() * 2) }
    }

    /// Forces an ad that has attributes to be printed on several lines.
    pub fn force_multiline(&mut self, ad: LayoutNodeId) {
        let node = &mut self.nodes[ad];
        node.is_multiline |= matches!(node.kind, LayoutNodeKind::Bracketed(_)) && node.parts.len() > 2;
    }

    /// Returns the number of columns of a node on one line, including the comments before it.
    pub fn width_with_comments(&self, node: LayoutNodeId) -> usize {
        self.nodes[node].width + self.nodes[node].comment_columns.0
    }

    /// Returns the separation between two neighbouring parts of a sequence.
    pub fn spacing_between(&self, left: LayoutNodeId, right: LayoutNodeId) -> Spacing {
        let LayoutNodeKind::Token(piece) = self.nodes[left].kind else { return Spacing::Touching };
        let next = &self.tokens.tokens[piece + 1];
        let is_number = |token: Option<Token>| token.is_some_and(Token::is_number);
        match self.tokens.tokens[piece].token {
            // `-5` is a number and `- 5` an operation, so the space is kept.
            Some(Token::Minus) if is_number(next.token) && !next.follows_directly => Spacing::Space,
            // `1.b` would be read as a malformed number, so a space separates the tokens.
            token if is_number(token) && matches!(self.nodes[right].kind, LayoutNodeKind::Token(_)) => Spacing::Space,
            _ => Spacing::Touching,
        }
    }

    /// Adds a leaf for a token.
    pub fn add_token(&mut self, piece: usize) -> LayoutNodeId {
        self.add(LayoutNode {
            kind: LayoutNodeKind::Token(piece),
            parts: Vec::new(),
            width: display_columns(self.tokens.token_text(piece)),
            comment_columns: self.tokens.comment_columns(piece),
            is_multiline: false,
            has_leading_comment_lines: self.tokens.forces_line_break(piece),
        })
    }

    fn add(&mut self, node: LayoutNode) -> LayoutNodeId {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Builds a node from consecutive parts; `between` is the total width of the separators in columns.
    pub fn add_compound(&mut self, kind: LayoutNodeKind, parts: &[LayoutNodeId], between: usize) -> LayoutNodeId {
        let node = self.add(LayoutNode { kind, parts: vec![parts[0]], ..self.nodes[parts[0]] });
        self.extend(node, &parts[1..], between);
        node
    }

    /// Appends parts to a node; `between` is the total width of the separators in columns.
    fn extend(&mut self, node: LayoutNodeId, parts: &[LayoutNodeId], between: usize) {
        for part in parts {
            let is_high = self.nodes[*part].is_multiline || self.nodes[*part].has_leading_comment_lines;
            self.nodes[node].width += self.width_with_comments(*part);
            self.nodes[node].is_multiline |= is_high;
        }
        self.nodes[node].width += between;
        self.nodes[node].parts.extend_from_slice(parts);
    }

    /// Builds an expression with a suffix: a selection, a subscript or the arguments of a call. The first part is the
    /// expression.
    pub fn add_suffix(&mut self, parts: &[LayoutNodeId]) -> LayoutNodeId {
        let base = parts[0];
        if self.nodes[base].kind == LayoutNodeKind::Sequence {
            self.extend(base, &parts[1..], 0);
            return base;
        }
        let space = usize::from(self.spacing_between(base, parts[1]) == Spacing::Space);
        self.add_compound(LayoutNodeKind::Sequence, parts, space)
    }

    /// Builds a binary operation. A left operand that is a chain of the same precedence is extended by the operator and
    /// the right operand.
    pub fn add_binary(&mut self, parts: &[LayoutNodeId], precedence: u8) -> LayoutNodeId {
        if self.nodes[parts[0]].kind == LayoutNodeKind::Chain(precedence) {
            self.extend(parts[0], &parts[1..], 2);
            return parts[0];
        }
        self.add_compound(LayoutNodeKind::Chain(precedence), parts, 2)
    }

    /// Builds `condition ? consequent : alternative` from its five parts. An alternative that is a conditional is
    /// extended at the front.
    pub fn add_conditional(&mut self, parts: &[LayoutNodeId]) -> LayoutNodeId {
        let node = self.add_compound(LayoutNodeKind::Conditional, parts, 4);
        let alternative = &mut self.nodes[parts[4]];
        let mut reversed = match alternative.kind {
            LayoutNodeKind::Conditional => std::mem::take(&mut alternative.parts),
            _ => vec![parts[4]],
        };
        reversed.extend(parts[..4].iter().rev());
        self.nodes[node].parts = reversed;
        node
    }

    /// Builds a bracketed construct from the brackets, items and separators.
    pub fn add_bracketed(&mut self, parts: &[LayoutNodeId], bracket: Bracket) -> LayoutNodeId {
        let separators = (parts.len() - 2) / 2;
        let inside = match (bracket.is_wide(), parts.len()) {
            (true, 2) => 1,
            (true, _) => 2,
            (false, _) => 0,
        };
        let node = self.add_compound(LayoutNodeKind::Bracketed(bracket), parts, separators + inside);
        // If the first item begins a line in the source, every item gets its own line.
        if let LayoutNodeKind::Token(opening) = self.nodes[parts[0]].kind
            && bracket.is_wide()
            && parts.len() > 2
        {
            self.nodes[node].is_multiline |= self.tokens.tokens[opening + 1].line_ends > 0;
        }
        node
    }
}
