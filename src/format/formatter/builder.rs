//! Builder of layout trees from tokens.
//!
//! The text has been parsed before, so there are no syntax errors here. The builder uses an explicit stack, so deep
//! nesting cannot overflow the program's stack.

use crate::ad::{BinaryOperator, PRECEDENCE_UNARY};
use crate::syntax::Token;

use super::tree::{Bracket, LayoutNodeId, LayoutNodeKind, LayoutTree, Spacing};
use super::trivia::TriviaTokens;

/// Builds the layout tree of the ad or expression that begins with the token at index `first`. Returns the tree and its
/// root; the root is `None` if there are no tokens.
pub fn build_layout_tree<'p, 't>(
    pieces: &'p TriviaTokens<'t>,
    first: usize,
) -> (LayoutTree<'p, 't>, Option<LayoutNodeId>) {
    let mut builder = LayoutTreeBuilder {
        tree: LayoutTree::new(pieces),
        at: first,
        is_behind_operand: false,
        parts: Vec::new(),
        open_constructs: Vec::new(),
    };
    while let Some(token) = pieces.tokens[builder.at].token {
        if builder.is_behind_operand { builder.read_behind_operand(token) } else { builder.read_operand(token) }
    }
    builder.reduce(0);
    let root = builder.parts.pop();
    (builder.tree, root)
}

/// A construct whose right operand or closing bracket has not been read yet.
enum OpenConstruct {
    Unary,
    /// A binary operator with its precedence.
    Binary(u8),
    /// The `?` of `condition ? consequent : alternative`.
    Consequent,
    /// The `:` of `condition ? consequent : alternative`.
    Alternative,
    Attribute,
    /// An opening bracket: its kind, its index in `parts`, and whether it directly follows an operand, as in `f(1)` or
    /// `a[0]`.
    Open(Bracket, usize, bool),
}

/// Precedence of the elvis operator `?:` in this builder: above all others, because `?:` binds most tightly.
const ELVIS_PRECEDENCE: u8 = PRECEDENCE_UNARY + 1;

impl OpenConstruct {
    fn precedence(&self) -> Option<u8> {
        match self {
            OpenConstruct::Unary => Some(PRECEDENCE_UNARY),
            OpenConstruct::Binary(precedence) => Some(*precedence),
            OpenConstruct::Alternative => Some(1),
            OpenConstruct::Attribute => Some(0),
            OpenConstruct::Consequent | OpenConstruct::Open(..) => None,
        }
    }
}

struct LayoutTreeBuilder<'p, 't> {
    tree: LayoutTree<'p, 't>,
    /// Index of the next token to read.
    at: usize,
    /// Whether the previous token ends an operand.
    is_behind_operand: bool,
    /// The complete operands, and the tokens of the constructs that are still open, in the order of the text.
    parts: Vec<LayoutNodeId>,
    open_constructs: Vec<OpenConstruct>,
}

impl<'p, 't> LayoutTreeBuilder<'p, 't> {
    /// Reads one part of the text where an operand or an attribute can begin. The part is one token, `.name`,
    /// `name =`, or several adjacent strings.
    fn read_operand(&mut self, token: Token) {
        let next = self.tree.tokens.tokens.get(self.at + 1).and_then(|piece| piece.token);
        match token {
            Token::ParenthesisOpen => self.open(Bracket::Parentheses),
            Token::BraceOpen => self.open(Bracket::List),
            Token::BracketOpen => self.open(Bracket::Ad),
            _ if token.is_closing() => self.close(),
            _ if token.unary().is_some() => self.begin(OpenConstruct::Unary),
            Token::Name | Token::Quoted if next == Some(Token::Assign) => {
                self.push_token();
                self.begin(OpenConstruct::Attribute);
            }
            Token::Dot => {
                self.push_token();
                self.push_token();
                self.join(2, |tree, parts| tree.add_compound(LayoutNodeKind::Sequence, parts, 0));
                self.is_behind_operand = true;
            }
            Token::String if next == Some(Token::String) => {
                let start = self.parts.len();
                while self.tree.tokens.tokens[self.at].token == Some(Token::String) {
                    self.push_token();
                }
                self.join(self.parts.len() - start, |tree, parts| {
                    tree.add_compound(LayoutNodeKind::Strings, parts, parts.len() - 1)
                });
                self.is_behind_operand = true;
            }
            _ => {
                self.push_token();
                self.is_behind_operand = true;
            }
        }
    }

    /// Reads what follows an operand: an operator, a separator, a bracket, or the whole of `.name`.
    fn read_behind_operand(&mut self, token: Token) {
        match token {
            Token::ParenthesisOpen => self.open(Bracket::Parentheses),
            Token::BracketOpen => self.open(Bracket::Index),
            _ if token.is_closing() => self.close(),
            Token::Dot => {
                self.push_token();
                self.push_token();
                self.join(3, LayoutTree::add_suffix);
            }
            Token::Question => {
                self.reduce(2);
                self.begin(OpenConstruct::Consequent);
            }
            Token::Colon => {
                self.reduce(1);
                self.open_constructs.pop();
                self.begin(OpenConstruct::Alternative);
            }
            _ => {
                let operator = token.binary().map(BinaryOperator::precedence);
                if let Some(precedence) = operator.or((token == Token::Elvis).then_some(ELVIS_PRECEDENCE)) {
                    self.reduce(precedence);
                    self.begin(OpenConstruct::Binary(precedence));
                } else {
                    self.reduce(0);
                    self.push_token();
                    self.is_behind_operand = false;
                }
            }
        }
    }

    /// Reads the next token and appends it to `parts`.
    fn push_token(&mut self) -> LayoutNodeId {
        let node = self.tree.add_token(self.at);
        self.at += 1;
        self.parts.push(node);
        node
    }

    /// Reads the next token, which begins `construct`, and appends it to `parts`.
    fn begin(&mut self, construct: OpenConstruct) {
        self.push_token();
        self.open_constructs.push(construct);
        self.is_behind_operand = false;
    }

    fn open(&mut self, bracket: Bracket) {
        self.begin(OpenConstruct::Open(bracket, self.parts.len(), self.is_behind_operand));
    }

    fn close(&mut self) {
        self.reduce(0);
        self.push_token();
        if let Some(OpenConstruct::Open(bracket, start, is_suffix)) = self.open_constructs.pop() {
            self.join(self.parts.len() - start, |tree, parts| tree.add_bracketed(parts, bracket));
            if is_suffix {
                self.join(2, LayoutTree::add_suffix);
            }
        }
        self.is_behind_operand = true;
    }

    /// Completes the open constructs whose precedence is at least `precedence`, from the innermost outward.
    fn reduce(&mut self, precedence: u8) {
        while let Some(construct) = self.open_constructs.pop_if(|last| last.precedence() >= Some(precedence)) {
            match construct {
                OpenConstruct::Unary => self.join(2, |tree, parts| {
                    let space = usize::from(tree.spacing_between(parts[0], parts[1]) == Spacing::Space);
                    tree.add_compound(LayoutNodeKind::Sequence, parts, space)
                }),
                OpenConstruct::Binary(precedence) => self.join(3, |tree, parts| tree.add_binary(parts, precedence)),
                OpenConstruct::Alternative => self.join(5, LayoutTree::add_conditional),
                OpenConstruct::Attribute => {
                    self.join(3, |tree, parts| tree.add_compound(LayoutNodeKind::Attribute, parts, 2));
                }
                OpenConstruct::Consequent | OpenConstruct::Open(..) => {}
            }
        }
    }

    /// Replaces the last `count` elements of `parts` by one node, which `add` creates from them.
    fn join(&mut self, count: usize, add: impl FnOnce(&mut LayoutTree<'p, 't>, &[LayoutNodeId]) -> LayoutNodeId) {
        let start = self.parts.len() - count;
        let node = add(&mut self.tree, &self.parts[start..]);
        self.parts.truncate(start);
        self.parts.push(node);
    }
}
