//! Layout tree of an ad or expression. It shows where lines can be broken, and how wide each part is on one line.

use crate::syntax::Token;

use super::trivia::{TriviaTokens, display_columns};

/// Index of a node in [`LayoutTree`].
pub type LayoutNodeId = usize;

/// Kind of a node of a layout tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayoutNodeKind {
    /// A token, which has no parts. The number is its index in [`TriviaTokens::tokens`].
    Token(usize),
    /// Parts between which no line is broken: an operator and its operand (`-a`), an expression and its suffixes
    /// (`a.b[0]`).
    Sequence,
    /// `a + b - c`: operands alternating with binary operators of the same precedence. The number is this precedence.
    Chain(u8),
    /// `a ? b : c ? d : e`. The parts are stored in reverse order, so that an outer `x ? y :` can be appended to them.
    Conditional,
    /// Adjacent string literals, which are one string.
    Strings,
    /// A bracketed construct: the opening bracket, the items alternating with separators, and the closing bracket.
    Bracketed(Bracket),
    /// An attribute with three parts: name, `=` and expression.
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
    /// Whether a space separates the brackets from their content: `{ 1 }`, but `(1)`.
    pub fn is_wide(self) -> bool {
        matches!(self, Bracket::Ad | Bracket::List)
    }
}

/// A node of a layout tree, with its width and the line breaks that it forces.
#[derive(Debug)]
pub struct LayoutNode {
    pub kind: LayoutNodeKind,
    pub parts: Vec<LayoutNodeId>,
    /// Number of columns of the node on one line, without the comments before its first token.
    pub width: usize,
    /// Number of columns of all comments before the first token, and number of columns of those comments that are on
    /// the token's line.
    pub comment_columns: (usize, usize),
    /// Whether something inside the node forces a line break, such as a `//` comment.
    pub is_multiline: bool,
    /// Whether the comments before the node's first token force a line break.
    pub has_leading_comment_lines: bool,
}

/// What separates a token from the previous token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    Touching,
    Space,
    Line,
}

/// A layout tree. All nodes are in one vector, in which the parts of a node come before the node.
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

    /// Marks an ad to be printed on several lines, unless it has no attributes.
    pub fn force_multiline(&mut self, ad: LayoutNodeId) {
        let node = &mut self.nodes[ad];
        node.is_multiline |= matches!(node.kind, LayoutNodeKind::Bracketed(_)) && node.parts.len() > 2;
    }

    /// Returns the number of columns of a node on one line, including the comments before its first token.
    pub fn width_with_comments(&self, node: LayoutNodeId) -> usize {
        self.nodes[node].width + self.nodes[node].comment_columns.0
    }

    /// Returns what separates two neighbouring parts of a [`LayoutNodeKind::Sequence`].
    pub fn spacing_between(&self, left: LayoutNodeId, right: LayoutNodeId) -> Spacing {
        let LayoutNodeKind::Token(piece) = self.nodes[left].kind else { return Spacing::Touching };
        let next = &self.tokens.tokens[piece + 1];
        let is_number = |token: Option<Token>| token.is_some_and(Token::is_number);
        match self.tokens.tokens[piece].token {
            // `-5` is a number, but `- 5` is an operation. So a space behind `-` is kept.
            Some(Token::Minus) if is_number(next.token) && !next.follows_directly => Spacing::Space,
            // `1.b` would be read as a malformed number. So a space is printed: `1 .b`.
            token if is_number(token) && matches!(self.nodes[right].kind, LayoutNodeKind::Token(_)) => Spacing::Space,
            _ => Spacing::Touching,
        }
    }

    /// Adds a node for the token at index `piece`.
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

    /// Adds a node with these parts. `between` is the number of columns of all spaces between the parts.
    pub fn add_compound(&mut self, kind: LayoutNodeKind, parts: &[LayoutNodeId], between: usize) -> LayoutNodeId {
        let node = self.add(LayoutNode { kind, parts: vec![parts[0]], ..self.nodes[parts[0]] });
        self.extend(node, &parts[1..], between);
        node
    }

    /// Appends parts to a node. `between` is the number of columns of all spaces before and between the new parts.
    fn extend(&mut self, node: LayoutNodeId, parts: &[LayoutNodeId], between: usize) {
        for part in parts {
            let is_high = self.nodes[*part].is_multiline || self.nodes[*part].has_leading_comment_lines;
            self.nodes[node].width += self.width_with_comments(*part);
            self.nodes[node].is_multiline |= is_high;
        }
        self.nodes[node].width += between;
        self.nodes[node].parts.extend_from_slice(parts);
    }

    /// Adds an expression with a suffix: `a.b`, `a[0]` or `f(x)`. The first part is the expression before the suffix.
    pub fn add_suffix(&mut self, parts: &[LayoutNodeId]) -> LayoutNodeId {
        let base = parts[0];
        if self.nodes[base].kind == LayoutNodeKind::Sequence {
            self.extend(base, &parts[1..], 0);
            return base;
        }
        let space = usize::from(self.spacing_between(base, parts[1]) == Spacing::Space);
        self.add_compound(LayoutNodeKind::Sequence, parts, space)
    }

    /// Adds a binary operation. If the left operand is a chain of the same precedence, extends this chain.
    pub fn add_binary(&mut self, parts: &[LayoutNodeId], precedence: u8) -> LayoutNodeId {
        if self.nodes[parts[0]].kind == LayoutNodeKind::Chain(precedence) {
            self.extend(parts[0], &parts[1..], 2);
            return parts[0];
        }
        self.add_compound(LayoutNodeKind::Chain(precedence), parts, 2)
    }

    /// Adds `condition ? consequent : alternative`, which has five parts. If the alternative is itself a conditional,
    /// both become one node.
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

    /// Adds a bracketed construct. The parts are the brackets, items and separators.
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
