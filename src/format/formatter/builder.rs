//! Builds layout trees from tokens.
//!
//! The text has been parsed before, so there are no syntax errors to handle. Like the parser's operator loop, the
//! builder uses an explicit stack, so no nesting depth overflows the program's stack.

use crate::ad::PRECEDENCE_UNARY;
use crate::syntax::Token;

use super::tree::{Bracket, Join, Node, Shape, Tree};
use super::trivia::Pieces;

/// Builds the tree of the ad or expression that begins with the token at index `first`. Returns the tree and its root;
/// the root is `None` if there are no tokens.
pub fn build<'p, 't>(pieces: &'p Pieces<'t>, first: usize) -> (Tree<'p, 't>, Option<Node>) {
    let mut builder = Builder { tree: Tree::new(pieces), operands: Vec::new(), waiting: Vec::new() };
    builder.run(first);
    let root = builder.operands.pop();
    (builder.tree, root)
}

/// A construct that waits for its right operand or its closing bracket.
enum Waiting {
    Unary(Node),
    Binary(Node, u8),
    /// `condition ?`
    Consequent(Node),
    /// `condition ? consequent :`
    Alternative(Node, Node),
    Attribute(Node, Node),
    /// An opening bracket, the index into `operands` where its content begins, and whether an operand precedes it.
    Open(Node, Bracket, usize, bool),
}

/// Precedence of the elvis operator in this builder: above all others.
const ELVIS: u8 = PRECEDENCE_UNARY + 1;

impl Waiting {
    fn precedence(&self) -> Option<u8> {
        Some(match self {
            Waiting::Unary(_) => PRECEDENCE_UNARY,
            Waiting::Binary(_, precedence) => *precedence,
            Waiting::Alternative(..) => 1,
            Waiting::Attribute(..) => 0,
            Waiting::Consequent(_) | Waiting::Open(..) => return None,
        })
    }
}

struct Builder<'p, 't> {
    tree: Tree<'p, 't>,
    operands: Vec<Node>,
    waiting: Vec<Waiting>,
}

impl Builder<'_, '_> {
    /// Reads all tokens from index `first` on.
    fn run(&mut self, first: usize) {
        let mut at = first;
        // Whether an operand has just ended.
        let mut behind_operand = false;
        while let Some(token) = self.tree.pieces.list[at].token {
            let taken = if behind_operand { self.behind_operand(at, token) } else { self.operand(at, token) };
            behind_operand = taken.1;
            at += taken.0;
        }
        self.reduce(0);
    }

    fn next(&self, at: usize) -> Option<Token> {
        self.tree.pieces.list.get(at + 1).and_then(|piece| piece.token)
    }

    /// Reads a token where an operand is expected. Returns the number of tokens read, and whether an operand ends with
    /// them.
    fn operand(&mut self, at: usize, token: Token) -> (usize, bool) {
        let node = self.tree.token(at);
        match token {
            Token::ParenthesisOpen => self.open(node, Bracket::Parentheses, false),
            Token::BraceOpen => self.open(node, Bracket::List, false),
            Token::BracketOpen => self.open(node, Bracket::Ad, false),
            _ if token.is_closing() => self.close(node),
            _ if token.unary().is_some() => {
                self.waiting.push(Waiting::Unary(node));
                (1, false)
            }
            Token::Dot => {
                let name = self.tree.token(at + 1);
                let sequence = self.tree.of(Shape::Sequence(vec![node, name]), &[node, name], 0);
                self.operands.push(sequence);
                (2, true)
            }
            Token::Name | Token::Quoted if self.next(at) == Some(Token::Assign) => {
                let equals = self.tree.token(at + 1);
                self.waiting.push(Waiting::Attribute(node, equals));
                (2, false)
            }
            Token::String if self.next(at) == Some(Token::String) => {
                let mut strings = vec![node];
                while self.next(at + strings.len() - 1) == Some(Token::String) {
                    strings.push(self.tree.token(at + strings.len()));
                }
                let node = self.tree.of(Shape::Strings(strings.clone()), &strings, strings.len() - 1);
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
        let node = self.tree.token(at);
        match token {
            Token::ParenthesisOpen => return self.open(node, Bracket::Parentheses, true),
            Token::BracketOpen => return self.open(node, Bracket::Index, true),
            _ if token.is_closing() => return self.close(node),
            Token::Dot => {
                let name = self.tree.token(at + 1);
                if let Some(base) = self.operands.pop() {
                    let selected = self.tree.suffixed(base, &[node, name]);
                    self.operands.push(selected);
                }
                return (2, true);
            }
            Token::Question => {
                self.reduce(2);
                self.waiting.push(Waiting::Consequent(node));
            }
            Token::Colon => {
                self.reduce(1);
                if let Some(Waiting::Consequent(question)) = self.waiting.pop() {
                    self.waiting.push(Waiting::Alternative(question, node));
                }
            }
            Token::Elvis => self.binary(node, ELVIS),
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

    fn binary(&mut self, operator: Node, precedence: u8) {
        self.reduce(precedence);
        self.waiting.push(Waiting::Binary(operator, precedence));
    }

    fn open(&mut self, node: Node, bracket: Bracket, behind_operand: bool) -> (usize, bool) {
        self.waiting.push(Waiting::Open(node, bracket, self.operands.len(), behind_operand));
        (1, false)
    }

    fn close(&mut self, closing: Node) -> (usize, bool) {
        self.reduce(0);
        if let Some(Waiting::Open(opening, bracket, start, behind_operand)) = self.waiting.pop() {
            let mut parts = vec![opening];
            parts.extend(self.operands.drain(start..));
            parts.push(closing);
            let mut node = self.tree.bracketed(parts, bracket);
            if behind_operand && let Some(base) = self.operands.pop() {
                node = self.tree.suffixed(base, &[node]);
            }
            self.operands.push(node);
        }
        (1, true)
    }

    /// Completes all waiting constructs that bind at least as tightly as `precedence`.
    fn reduce(&mut self, precedence: u8) {
        while self.waiting.last().and_then(Waiting::precedence).is_some_and(|last| last >= precedence) {
            let (Some(waiting), Some(right)) = (self.waiting.pop(), self.operands.pop()) else { return };
            let made = match waiting {
                Waiting::Unary(operator) => {
                    let space = usize::from(self.tree.join(operator, right) == Join::Space);
                    Some(self.tree.of(Shape::Sequence(vec![operator, right]), &[operator, right], space))
                }
                Waiting::Binary(operator, precedence) => {
                    self.operands.pop().map(|left| self.tree.binary(left, operator, right, precedence))
                }
                Waiting::Alternative(question, colon) => self
                    .operands
                    .pop()
                    .zip(self.operands.pop())
                    .map(|(middle, condition)| self.tree.conditional([condition, question, middle, colon, right])),
                Waiting::Attribute(name, equals) => {
                    let parts = [name, equals, right];
                    Some(self.tree.of(Shape::Attribute(parts), &parts, 2))
                }
                Waiting::Consequent(_) | Waiting::Open(..) => None,
            };
            self.operands.extend(made);
        }
    }
}
