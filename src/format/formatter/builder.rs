//! Builds layout trees from tokens.
//!
//! The text has been parsed before, so there are no syntax errors to handle. Like the parser's operator loop, the
//! builder uses an explicit stack, so no nesting depth overflows the program's stack.

use crate::ad::PRECEDENCE_UNARY;
use crate::syntax::Token;

use super::tree::{Bracket, LayoutNodeId, LayoutNodeKind, LayoutTree, Spacing};
use super::trivia::TriviaTokens;

/// Builds the tree of the ad or expression that begins with the token at index `first`. Returns the tree and its root;
/// the root is `None` if there are no tokens.
pub fn build_layout_tree<'p, 't>(
    pieces: &'p TriviaTokens<'t>,
    first: usize,
) -> (LayoutTree<'p, 't>, Option<LayoutNodeId>) {
    let mut builder =
        LayoutTreeBuilder { tree: LayoutTree::new(pieces), operands: Vec::new(), open_constructs: Vec::new() };
    builder.run(first);
    let root = builder.operands.pop();
    (builder.tree, root)
}

/// A construct that waits for its right operand or its closing bracket.
enum OpenConstruct {
    Unary(LayoutNodeId),
    Binary(LayoutNodeId, u8),
    /// `condition ?`
    Consequent(LayoutNodeId),
    /// `condition ? consequent :`
    Alternative(LayoutNodeId, LayoutNodeId),
    Attribute(LayoutNodeId, LayoutNodeId),
    /// An opening bracket, its kind, the index into `operands` where its content begins, and whether an operand
    /// precedes the bracket.
    Open(LayoutNodeId, Bracket, usize, bool),
}

/// Precedence of the elvis operator in this builder: above all others.
const ELVIS_PRECEDENCE: u8 = PRECEDENCE_UNARY + 1;

impl OpenConstruct {
    fn precedence(&self) -> Option<u8> {
        Some(match self {
            OpenConstruct::Unary(_) => PRECEDENCE_UNARY,
            OpenConstruct::Binary(_, precedence) => *precedence,
            OpenConstruct::Alternative(..) => 1,
            OpenConstruct::Attribute(..) => 0,
            OpenConstruct::Consequent(_) | OpenConstruct::Open(..) => return None,
        })
    }
}

struct LayoutTreeBuilder<'p, 't> {
    tree: LayoutTree<'p, 't>,
    operands: Vec<LayoutNodeId>,
    open_constructs: Vec<OpenConstruct>,
}

impl LayoutTreeBuilder<'_, '_> {
    /// Reads all tokens from index `first` on.
    fn run(&mut self, first: usize) {
        let mut at = first;
        // Whether an operand has just ended.
        let mut behind_operand = false;
        while let Some(token) = self.tree.tokens.tokens[at].token {
            let taken = if behind_operand { self.behind_operand(at, token) } else { self.operand(at, token) };
            behind_operand = taken.1;
            at += taken.0;
        }
        self.reduce(0);
    }

    fn next(&self, at: usize) -> Option<Token> {
        self.tree.tokens.tokens.get(at + 1).and_then(|piece| piece.token)
    }

    /// Reads a token where an operand is expected. Returns the number of tokens read, and whether an operand ends with
    /// them.
    fn operand(&mut self, at: usize, token: Token) -> (usize, bool) {
        let node = self.tree.add_token(at);
        match token {
            Token::ParenthesisOpen => self.open(node, Bracket::Parentheses, false),
            Token::BraceOpen => self.open(node, Bracket::List, false),
            Token::BracketOpen => self.open(node, Bracket::Ad, false),
            _ if token.is_closing() => self.close(node),
            _ if token.unary().is_some() => {
                self.open_constructs.push(OpenConstruct::Unary(node));
                (1, false)
            }
            Token::Dot => {
                let name = self.tree.add_token(at + 1);
                let sequence = self.tree.add_compound(LayoutNodeKind::Sequence, &[node, name], 0);
                self.operands.push(sequence);
                (2, true)
            }
            Token::Name | Token::Quoted if self.next(at) == Some(Token::Assign) => {
                let equals = self.tree.add_token(at + 1);
                self.open_constructs.push(OpenConstruct::Attribute(node, equals));
                (2, false)
            }
            Token::String if self.next(at) == Some(Token::String) => {
                let mut strings = vec![node];
                while self.next(at + strings.len() - 1) == Some(Token::String) {
                    strings.push(self.tree.add_token(at + strings.len()));
                }
                let node = self.tree.add_compound(LayoutNodeKind::Strings, &strings, strings.len() - 1);
                self.operands.push(node);
                (strings.len(), true)
            }
            _ => {
                self.operands.push(node);
                (1, true)
            }
        }
    }

    /// Reads a token behind an operand. Returns the number of tokens read, and whether an operand ends with them.
    fn behind_operand(&mut self, at: usize, token: Token) -> (usize, bool) {
        let node = self.tree.add_token(at);
        match token {
            Token::ParenthesisOpen => return self.open(node, Bracket::Parentheses, true),
            Token::BracketOpen => return self.open(node, Bracket::Index, true),
            _ if token.is_closing() => return self.close(node),
            Token::Dot => {
                let name = self.tree.add_token(at + 1);
                if let Some(base) = self.operands.pop() {
                    let selected = self.tree.add_suffix(base, &[node, name]);
                    self.operands.push(selected);
                }
                return (2, true);
            }
            Token::Question => {
                self.reduce(2);
                self.open_constructs.push(OpenConstruct::Consequent(node));
            }
            Token::Colon => {
                self.reduce(1);
                if let Some(OpenConstruct::Consequent(question)) = self.open_constructs.pop() {
                    self.open_constructs.push(OpenConstruct::Alternative(question, node));
                }
            }
            Token::Elvis => self.binary(node, ELVIS_PRECEDENCE),
            _ => {
                if let Some(operator) = token.binary() {
                    self.binary(node, operator.precedence());
                } else {
                    self.reduce(0);
                    self.operands.push(node);
                }
            }
        }
        (1, false)
    }

    fn binary(&mut self, operator: LayoutNodeId, precedence: u8) {
        self.reduce(precedence);
        self.open_constructs.push(OpenConstruct::Binary(operator, precedence));
    }

    fn open(&mut self, node: LayoutNodeId, bracket: Bracket, behind_operand: bool) -> (usize, bool) {
        self.open_constructs.push(OpenConstruct::Open(node, bracket, self.operands.len(), behind_operand));
        (1, false)
    }

    fn close(&mut self, closing: LayoutNodeId) -> (usize, bool) {
        self.reduce(0);
        if let Some(OpenConstruct::Open(opening, bracket, start, behind_operand)) = self.open_constructs.pop() {
            let mut parts = vec![opening];
            parts.extend(self.operands.drain(start..));
            parts.push(closing);
            let mut node = self.tree.add_bracketed(&parts, bracket);
            if behind_operand && let Some(base) = self.operands.pop() {
                node = self.tree.add_suffix(base, &[node]);
            }
            self.operands.push(node);
        }
        (1, true)
    }

    /// Completes all waiting constructs that bind at least as tightly as `precedence`.
    fn reduce(&mut self, precedence: u8) {
        while let Some(construct) = self.open_constructs.pop_if(|last| last.precedence() >= Some(precedence))
            && let Some(right) = self.operands.pop()
        {
            let made = match construct {
                OpenConstruct::Unary(operator) => {
                    let space = usize::from(self.tree.spacing_between(operator, right) == Spacing::Space);
                    Some(self.tree.add_compound(LayoutNodeKind::Sequence, &[operator, right], space))
                }
                OpenConstruct::Binary(operator, precedence) => {
                    self.operands.pop().map(|left| self.tree.add_binary([left, operator, right], precedence))
                }
                OpenConstruct::Alternative(question, colon) => {
                    self.operands.pop().zip(self.operands.pop()).map(|(middle, condition)| {
                        self.tree.add_conditional([condition, question, middle, colon, right])
                    })
                }
                OpenConstruct::Attribute(name, equals) => {
                    Some(self.tree.add_compound(LayoutNodeKind::Attribute, &[name, equals, right], 2))
                }
                OpenConstruct::Consequent(_) | OpenConstruct::Open(..) => None,
            };
            self.operands.extend(made);
        }
    }
}
