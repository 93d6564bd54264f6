//! A tree on lines.
//!
//! It keeps its own stack of what is left to print, so that no depth can harm it, and knows the width of
//! every node before, so that it decides in one look whether the node fits into its line.

use super::tree::{Bracket, Join, Node, Shape, Tree};
use super::trivia::{Comment, Pieces, columns};

/// Columns of one level of indentation.
pub const STEP: usize = 2;

/// Where blank lines of the source are kept before a token.
#[derive(Clone, Copy, Debug)]
pub struct Blanks {
    /// Before the first of the comments before it, or itself if there is none.
    first: bool,
    /// Between those comments.
    between: bool,
    /// Before itself.
    last: bool,
}

impl Blanks {
    pub const KEPT: Blanks = Blanks { first: true, between: true, last: true };
    const BEHIND_OPENING: Blanks = Blanks { first: false, ..Blanks::KEPT };
    pub const BEFORE_CLOSING: Blanks = Blanks { last: false, ..Blanks::KEPT };
    const IN_EMPTY: Blanks = Blanks { first: false, between: true, last: false };
    const DROPPED: Blanks = Blanks { first: false, between: false, last: false };
}

/// Where a token stands.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// How it stands beside the token before.
    pub join: Join,
    /// The indentation of its line, if it begins one.
    pub indent: usize,
    /// The indentation of comments before it that are on lines of their own.
    pub comments: usize,
    /// Whether comments between this token and the one before, all on one line, are about this one.
    pub leads: bool,
    pub blanks: Blanks,
}

impl Place {
    /// On a line of its own, with what is said about it before it.
    pub fn line(indent: usize, blanks: Blanks) -> Self {
        Place { join: Join::Line, indent, comments: indent, leads: true, blanks }
    }

    /// Beside the token before, or further in on the next line if a comment is in the way.
    fn beside(join: Join, indent: usize) -> Self {
        Place { join, indent: indent + STEP, comments: indent + STEP, leads: false, blanks: Blanks::DROPPED }
    }
}

/// What is left to print.
#[derive(Clone, Copy)]
enum Task {
    Node {
        node: Node,
        place: Place,
        /// The indentation of the line on which the node begins.
        base: usize,
        /// Whether its operators are one step further in, because it stands in something else's line.
        is_nested: bool,
        /// Columns of what follows on the line of its last token.
        trailing: usize,
        /// Whether it has been decided that it stands on one line.
        is_flat: bool,
    },
    /// The semicolon that ends an attribute.
    Semicolon,
}

/// What has been printed so far.
pub struct Printer {
    pub out: Vec<u8>,
    width: usize,
    line_end: &'static [u8],
    /// Columns printed on the line.
    column: usize,
}

impl Printer {
    pub fn new(width: usize, line_end: &'static [u8]) -> Self {
        Printer { out: Vec::new(), width, line_end, column: 0 }
    }

    /// Prints some text as it is.
    pub fn text(&mut self, text: &[u8]) {
        self.out.extend_from_slice(text);
        match memchr::memrchr(b'\n', text) {
            Some(end) => self.column = columns(&text[end + 1..]),
            None => self.column += columns(text),
        }
    }

    fn space(&mut self) {
        if self.column > 0 {
            self.text(b" ");
        }
    }

    /// Begins a line, after a blank one if that is wanted.
    pub fn line(&mut self, indent: usize, blank: bool) {
        if self.column > 0 {
            self.out.extend_from_slice(self.line_end);
        }
        if blank && !self.out.is_empty() {
            self.out.extend_from_slice(self.line_end);
        }
        let indent = self.indentation(indent);
        self.out.resize(self.out.len() + indent, b' ');
        self.column = indent;
    }

    /// Nothing is indented beyond the middle, so that deep nests do not grow with the square.
    fn indentation(&self, indent: usize) -> usize {
        indent.min(self.width / 2 / STEP * STEP)
    }

    /// Ends the last line.
    pub fn end(&mut self) {
        if self.column > 0 {
            self.line(0, false);
        }
    }

    /// Prints the comments before a piece, and goes where its token stands.
    pub fn reach(&mut self, pieces: &Pieces, at: usize, place: Place) {
        let piece = &pieces.list[at];
        let comments = &pieces.comments[piece.comments.clone()];
        let kept = |lines: usize, blanks: bool| lines > 1 && blanks;
        if comments.is_empty() {
            return match place.join {
                Join::Touching => {}
                Join::Space => self.space(),
                Join::Line => self.line(place.indent, kept(piece.lines, place.blanks.first && place.blanks.last)),
            };
        }
        let together = place.join == Join::Line && place.leads && !pieces.forces(at);
        // The token may stay beside a comment that does not stay beside the token before.
        let begins_line = self.column == 0 || comments.iter().any(|comment| comment.lines > 0 || comment.ends_line);
        let mut must_break = together;
        for (position, comment) in comments.iter().enumerate() {
            let blanks = if position == 0 { place.blanks.first } else { place.blanks.between };
            if comment.lines > 0 || must_break {
                self.line(place.comments, kept(comment.lines, blanks));
            } else {
                self.space();
            }
            self.comment(pieces.text, comment);
            must_break = comment.ends_line;
        }
        let is_beside = place.leads && (together || begins_line);
        if must_break || piece.lines > 0 || place.join == Join::Line && !is_beside {
            self.line(place.indent, kept(piece.lines, place.blanks.last));
        } else if place.join != Join::Touching {
            self.space();
        }
    }

    /// Prints a comment; its lines keep their indentation against its first one.
    fn comment(&mut self, text: &[u8], comment: &Comment) {
        let written = &text[comment.range.clone()];
        if !comment.is_high {
            return self.text(written);
        }
        let start = memchr::memrchr(b'\n', &text[..comment.range.start]).map_or(0, |end| end + 1);
        // Comments in a row must not drive one another further and further in.
        let old = columns(&text[start..comment.range.start]).min(self.width);
        let new = self.column.min(self.width);
        for (position, line) in written.split(|byte| *byte == b'\n').enumerate() {
            let line = line.trim_ascii_end();
            let blank = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count().min(old);
            if position > 0 {
                self.out.extend_from_slice(self.line_end);
                self.column = 0;
            }
            if position > 0 && !line.is_empty() {
                self.text(&[b' '].repeat(new));
                self.text(&line[blank..]);
            } else {
                self.text(line);
            }
        }
    }

    /// Prints a tree whose first token stands at a place.
    pub fn tree(&mut self, tree: &Tree, node: Node, place: Place) {
        self.run(tree, Task::Node { node, place, base: place.indent, is_nested: false, trailing: 0, is_flat: false });
    }

    /// Prints a tree behind a space, all of it on this line.
    pub fn flat_tree(&mut self, tree: &Tree, node: Node) {
        let place = Place::beside(Join::Space, 0);
        self.run(tree, Task::Node { node, place, base: 0, is_nested: false, trailing: 0, is_flat: true });
    }

    fn run(&mut self, tree: &Tree, root: Task) {
        let mut tasks = vec![root];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Semicolon => self.text(b";"),
                Task::Node { .. } => {
                    let start = tasks.len();
                    self.node(tree, task, &mut tasks);
                    tasks[start..].reverse();
                }
            }
        }
    }

    /// Whether a node and what follows fits into the line.
    fn fits(&self, tree: &Tree, node: Node, place: Place, trailing: usize) -> bool {
        let node = tree.get(node);
        let start = match place.join {
            _ if node.is_led => self.indentation(place.indent),
            Join::Line => self.indentation(place.indent),
            Join::Space => self.column + 1,
            Join::Touching => self.column,
        };
        !node.is_high && start + node.before.1 + node.width + trailing <= self.width
    }

    /// Prints a token, or leaves the parts of a node as tasks, first one first.
    fn node(&mut self, tree: &Tree, task: Task, tasks: &mut Vec<Task>) {
        let Task::Node { node, place, base, is_nested, trailing, is_flat } = task else { return };
        let flat = is_flat || self.fits(tree, node, place, trailing);
        let part =
            |node, place, base, trailing| Task::Node { node, place, base, is_nested: true, trailing, is_flat: flat };
        match &tree.get(node).shape {
            Shape::Token(piece) => {
                self.reach(tree.pieces, *piece, place);
                self.text(tree.pieces.written(*piece));
            }
            Shape::Sequence(nodes) => {
                let mut rest = tree.width_within(node);
                for (position, node) in nodes.iter().enumerate() {
                    // The spaces between are left in, and matter to no one.
                    rest -= tree.width_within(*node);
                    let place = match position.checked_sub(1) {
                        None => place,
                        Some(before) => Place::beside(tree.join(nodes[before], *node), base),
                    };
                    tasks.push(part(*node, place, base, rest + trailing));
                }
            }
            Shape::Chain(nodes, _) => {
                let operators = if is_nested { base + STEP } else { base };
                for (position, node) in nodes.iter().enumerate() {
                    let trailing = if position + 1 == nodes.len() { trailing } else { 0 };
                    tasks.push(match position {
                        0 => part(*node, place, base, trailing),
                        _ if position % 2 == 1 => part(*node, broken(flat, operators), operators, 0),
                        _ => part(*node, Place::beside(Join::Space, operators), operators, trailing),
                    });
                }
            }
            Shape::Conditional(nodes) => {
                let operators = if is_nested { base + STEP } else { base };
                for (position, node) in nodes.iter().rev().enumerate() {
                    let trailing = if position + 1 == nodes.len() { trailing } else { 0 };
                    // `?` one step further in than the conditions and the `:` before them.
                    let line = if matches!(position % 4, 1 | 2) { operators + STEP } else { operators };
                    tasks.push(match position {
                        0 => part(*node, place, base, trailing),
                        _ if position % 2 == 1 => part(*node, broken(flat, line), line, 0),
                        _ => part(*node, Place::beside(Join::Space, line), line, trailing),
                    });
                }
            }
            Shape::Strings(nodes) => {
                let lines = if is_nested { base + STEP } else { base };
                for (position, node) in nodes.iter().enumerate() {
                    let place = if position == 0 { place } else { broken(flat, lines) };
                    tasks.push(part(*node, place, base, if position + 1 == nodes.len() { trailing } else { 0 }));
                }
            }
            Shape::Bracketed(nodes, bracket) => {
                let flat = flat || nodes.len() == 2 && !tree.get(node).is_high;
                Self::bracketed(nodes, *bracket, task, flat, tasks);
            }
            Shape::Attribute([name, equals, value]) => {
                tasks.push(part(*name, place, base, 0));
                tasks.push(part(*equals, Place::beside(Join::Space, base), base, 0));
                let measured = tree.get(*value);
                let is_chain = matches!(measured.shape, Shape::Chain(..) | Shape::Conditional(_) | Shape::Strings(_));
                let goes_down = measured.is_led || is_chain && !self.fits(tree, node, place, trailing);
                let (place, base) = if goes_down && !flat {
                    (Place::line(base + STEP, Blanks::DROPPED), base + STEP)
                } else {
                    (Place::beside(Join::Space, base), base)
                };
                tasks.push(Task::Node { node: *value, place, base, is_nested: false, trailing, is_flat: flat });
            }
        }
    }

    /// Leaves what stands in brackets as tasks.
    fn bracketed(nodes: &[Node], bracket: Bracket, task: Task, flat: bool, tasks: &mut Vec<Task>) {
        let Task::Node { place, base, .. } = task else { return };
        let part =
            |node, place, base, trailing| Task::Node { node, place, base, is_nested: false, trailing, is_flat: flat };
        let last = nodes.len() - 1;
        let inner = if bracket.is_wide() { Join::Space } else { Join::Touching };
        for (position, node) in nodes.iter().enumerate() {
            let is_separator = position % 2 == 0;
            let beside = |join| Place::beside(join, base);
            let blanks = match (position, last) {
                (_, 1) => Blanks::IN_EMPTY,
                (1, _) => Blanks::BEHIND_OPENING,
                _ if position == last => Blanks::BEFORE_CLOSING,
                _ => Blanks::KEPT,
            };
            if position == last && bracket == Bracket::Ad && !flat && last > 1 {
                tasks.push(Task::Semicolon);
            }
            let place = match position {
                0 => place,
                _ if position == last && flat => beside(inner),
                _ if position == last => Place { leads: false, comments: base + STEP, ..Place::line(base, blanks) },
                _ if is_separator => beside(Join::Touching),
                1 if flat => beside(inner),
                _ if flat => beside(Join::Space),
                _ => Place::line(base + STEP, blanks),
            };
            let is_item = position > 0 && position < last && !is_separator;
            let trailing = usize::from(position + 1 < last || bracket == Bracket::Ad);
            tasks.push(if is_item { part(*node, place, base + STEP, trailing) } else { part(*node, place, base, 0) });
        }
    }
}

/// Before an operator: on a new line, unless it is decided that all stands on one.
fn broken(is_flat: bool, indent: usize) -> Place {
    let place = Place { leads: false, blanks: Blanks::DROPPED, ..Place::line(indent, Blanks::DROPPED) };
    if is_flat { Place { join: Join::Space, ..place } } else { place }
}
