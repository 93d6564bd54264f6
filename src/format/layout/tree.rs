//! What of an ad or an expression may be broken over lines, and how wide it is on one.
//!
//! The text has been parsed before: here is no error to find.  Like the parser's loop over operators this
//! one has its own stack, so that no depth can harm it.

use crate::ad::PRECEDENCE_UNARY;
use crate::syntax::Token;

use super::pieces::{Pieces, columns};

/// A node of the tree, by its position in it.
pub type Node = usize;

/// What a node is made of.
#[derive(Debug)]
pub enum Shape {
    /// A token, by its position among the pieces.
    Token(usize),
    /// What stays together: an operator and its operand, an expression and what is selected from it.
    Sequence(Vec<Node>),
    /// Operands with the operators of one precedence between them.
    Chain(Vec<Node>, u8),
    /// `a ? b : c ? d : e`, from its end to its beginning.
    Conditional(Vec<Node>),
    /// Strings that are one because nothing stands between them.
    Strings(Vec<Node>),
    /// Something in brackets: the two brackets and what is between, commas and semicolons too.
    Bracketed(Vec<Node>, Bracket),
    /// `name = expression`: the three.
    Attribute([Node; 3]),
}

/// What brackets hold.
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
    /// Whether there is space inside.
    pub fn is_wide(self) -> bool {
        matches!(self, Bracket::Ad | Bracket::List)
    }
}

/// A node, and what decides whether it can stand on one line.
#[derive(Debug)]
pub struct Measured {
    pub shape: Shape,
    /// Columns on one line, without the comments before its first token.
    pub width: usize,
    /// Columns of these comments: of all, and of those on the token's line.
    pub before: (usize, usize),
    /// Whether something inside keeps it from standing on one line.
    pub is_high: bool,
    /// Whether the comments before its first token are on lines of their own.
    pub is_led: bool,
}

/// How a token stands beside the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    Touching,
    Space,
    Line,
}

/// The tree.
#[derive(Debug)]
pub struct Tree<'p, 't> {
    pub pieces: &'p Pieces<'t>,
    nodes: Vec<Measured>,
}

/// What waits for its right operand, or its closing bracket.
enum Waiting {
    Unary(Node),
    Binary(Node, u8),
    /// `condition ?`
    Consequent(Node),
    /// `condition ? consequent :`
    Alternative(Node, Node),
    Attribute(Node, Node),
    /// A bracket, where its content begins among the operands, and whether an operand stands before it.
    Open(Node, Bracket, usize, bool),
}

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

impl<'p, 't> Tree<'p, 't> {
    /// The tree of the ad or expression that begins with a piece, and its root.
    pub fn new(pieces: &'p Pieces<'t>, first: usize) -> (Self, Option<Node>) {
        let tree = Tree { pieces, nodes: Vec::with_capacity(pieces.list.len() * 2) };
        let mut builder = Builder { tree, operands: Vec::new(), waiting: Vec::new() };
        builder.build(first);
        (builder.tree, builder.operands.pop())
    }

    /// Keeps an ad that has attributes from standing on one line.
    pub fn spread(&mut self, ad: Node) {
        let node = &mut self.nodes[ad];
        node.is_high |= matches!(&node.shape, Shape::Bracketed(parts, _) if parts.len() > 2);
    }

    /// A node.
    pub fn get(&self, node: Node) -> &Measured {
        &self.nodes[node]
    }

    /// Columns of a node on one line with what stands before it.
    pub fn width_within(&self, node: Node) -> usize {
        self.nodes[node].width + self.nodes[node].before.0
    }

    /// The first token of a node.
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

    /// How two neighbours of a sequence stand beside each other.
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

    fn token(&mut self, piece: usize) -> Node {
        let (pieces, shape) = (self.pieces, Shape::Token(piece));
        let width = columns(pieces.written(piece));
        let before = pieces.columns_before(piece);
        self.add(Measured { shape, width, before, is_high: false, is_led: pieces.forces(piece) })
    }

    fn add(&mut self, node: Measured) -> Node {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// A node of these parts, which follow one another with so many columns between them in all.
    fn of(&mut self, shape: Shape, parts: &[Node], between: usize) -> Node {
        let width = parts.iter().map(|part| self.width_within(*part)).sum::<usize>() + between;
        let Measured { is_led, before, .. } = self.nodes[parts[0]];
        let width = width - before.0;
        let is_high = parts.iter().enumerate().any(|(at, part)| {
            let part = &self.nodes[*part];
            part.is_high || at > 0 && part.is_led
        });
        self.add(Measured { shape, width, before, is_high, is_led })
    }

    /// Lengthens a node by parts at its end.
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

    /// An expression with something behind it that belongs to it.
    fn suffixed(&mut self, base: Node, suffix: &[Node]) -> Node {
        let space = usize::from(self.join(base, suffix[0]) == Join::Space);
        if let Shape::Sequence(_) = self.nodes[base].shape {
            self.extend(base, suffix, 0);
            return base;
        }
        let mut parts = vec![base];
        parts.extend_from_slice(suffix);
        self.of(Shape::Sequence(parts.clone()), &parts, space)
    }

    fn binary(&mut self, left: Node, operator: Node, right: Node, precedence: u8) -> Node {
        if matches!(self.nodes[left].shape, Shape::Chain(_, same) if same == precedence) {
            self.extend(left, &[operator, right], 2);
            return left;
        }
        let parts = [left, operator, right];
        self.of(Shape::Chain(parts.to_vec(), precedence), &parts, 2)
    }

    /// `condition ? consequent : alternative`; if the alternative is one, it goes on with that.
    fn conditional(&mut self, parts: [Node; 5]) -> Node {
        let alternative = parts[4];
        let mut nodes = match &mut self.nodes[alternative].shape {
            Shape::Conditional(nodes) => std::mem::take(nodes),
            _ => vec![alternative],
        };
        nodes.extend(parts[..4].iter().rev());
        self.of(Shape::Conditional(nodes), &parts, 4)
    }

    fn bracketed(&mut self, parts: Vec<Node>, bracket: Bracket) -> Node {
        let separators = (parts.len() - 2) / 2;
        let inside = match (bracket.is_wide(), parts.len()) {
            (true, 2) => 1,
            (true, _) => 2,
            (false, _) => 0,
        };
        let node = self.of(Shape::Bracketed(Vec::new(), bracket), &parts, separators + inside);
        // A first item on a line of its own keeps the others on theirs, too.
        let first = &self.pieces.list[self.first_piece(parts[0]) + 1];
        if bracket.is_wide() && parts.len() > 2 && first.lines > 0 {
            self.nodes[node].is_high = true;
        }
        self.nodes[node].shape = Shape::Bracketed(parts, bracket);
        node
    }
}

struct Builder<'p, 't> {
    tree: Tree<'p, 't>,
    operands: Vec<Node>,
    waiting: Vec<Waiting>,
}

impl Builder<'_, '_> {
    fn build(&mut self, first: usize) {
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

    /// Reads on where an operand stands: how many tokens, and whether the operand ends with them.
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

    /// Reads on behind an operand.
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
            _ => match token.binary() {
                Some(operator) => self.binary(node, operator.precedence()),
                None => {
                    self.reduce(0);
                    self.operands.push(node);
                }
            },
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

    /// Gives their operands to all that waits and binds at least as tightly as `precedence`.
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
