//! Prints a layout tree on lines.
//!
//! The printer uses an explicit stack, so no nesting depth overflows the program's stack. Widths are computed bottom-up
//! beforehand, so deciding whether a node fits into its line is O(1).

use super::tree::{Bracket, Join, Node, Shape, Tree};
use super::trivia::{Comment, Pieces, columns};

/// Columns of one level of indentation.
pub const STEP: usize = 2;

/// Which blank lines of the source are kept before a token.
#[derive(Clone, Copy, Debug)]
pub struct Blanks {
    /// Before the first of its leading comments, or before the token itself if there is none.
    first: bool,
    /// Between its leading comments.
    between: bool,
    /// Between its last leading comment and the token.
    last: bool,
}

impl Blanks {
    pub const KEPT: Blanks = Blanks { first: true, between: true, last: true };
    const BEHIND_OPENING: Blanks = Blanks { first: false, ..Blanks::KEPT };
    pub const BEFORE_CLOSING: Blanks = Blanks { last: false, ..Blanks::KEPT };
    const IN_EMPTY: Blanks = Blanks { first: false, between: true, last: false };
    const DROPPED: Blanks = Blanks { first: false, between: false, last: false };
}

/// Where a token is to be printed.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Separation from the previous token.
    pub join: Join,
    /// Indentation in columns of the line, if the token begins one.
    pub indent: usize,
    /// Indentation in columns of leading comments that are on lines of their own.
    pub comments: usize,
    /// Whether comments on one line between the previous token and this one belong to this one.
    pub leads: bool,
    pub blanks: Blanks,
}

impl Place {
    /// A token that begins a line; comments before it belong to it.
    pub fn line(indent: usize, blanks: Blanks) -> Self {
        Place { join: Join::Line, indent, comments: indent, leads: true, blanks }
    }

    /// A token beside the previous one; if a comment intervenes, on the next line with one more level of indentation.
    fn beside(join: Join, indent: usize) -> Self {
        Place { join, indent: indent + STEP, comments: indent + STEP, leads: false, blanks: Blanks::DROPPED }
    }
}

/// An entry of the printer's stack.
#[derive(Clone, Copy)]
enum Task {
    Node {
        node: Node,
        place: Place,
        /// Indentation in columns of the line on which the node begins.
        base: usize,
        /// Whether operators on new lines are indented one more level, because the node begins inside another
        /// construct's line.
        is_nested: bool,
        /// Number of columns needed behind the node's last token on the same line.
        trailing: usize,
        /// Whether the node is known to fit on one line.
        is_flat: bool,
    },
    /// The semicolon that ends an attribute.
    Semicolon,
}

/// The printer: its output so far, and the current line.
pub struct Printer {
    pub out: Vec<u8>,
    /// Maximum number of columns of a line.
    width: usize,
    line_end: &'static [u8],
    /// Number of columns printed on the current line.
    column: usize,
}

impl Printer {
    pub fn new(width: usize, line_end: &'static [u8]) -> Self {
        Printer { out: Vec::new(), width, line_end, column: 0 }
    }

    /// Prints text unchanged and updates the column.
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

    /// Begins a new line with this indentation in columns; `blank` asks for a blank line before it.
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

    /// Limits indentation to half the width; otherwise the output of deep nests would grow quadratically.
    fn indentation(&self, indent: usize) -> usize {
        indent.min(self.width / 2 / STEP * STEP)
    }

    /// Ends the current line if anything is on it.
    pub fn end(&mut self) {
        if self.column > 0 {
            self.line(0, false);
        }
    }

    /// Prints the leading comments of a token, then the white space before the token as `place` requires.
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
        // The token may stand beside a comment that is not beside the previous token.
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

    /// Prints a comment. Its lines keep their indentation relative to the first one.
    fn comment(&mut self, text: &[u8], comment: &Comment) {
        let written = &text[comment.range.clone()];
        if !comment.is_high {
            return self.text(written);
        }
        let start = memchr::memrchr(b'\n', &text[..comment.range.start]).map_or(0, |end| end + 1);
        // Several comments on one line must not push one another further and further right.
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

    /// Prints the subtree of a node whose first token stands at `place`.
    pub fn tree(&mut self, tree: &Tree, node: Node, place: Place) {
        self.run(tree, Task::Node { node, place, base: place.indent, is_nested: false, trailing: 0, is_flat: false });
    }

    /// Prints the subtree of a node after a space, on the current line whatever its width.
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

    /// Whether a node fits into the line, with `trailing` columns behind it.
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

    /// Prints a token, or pushes the parts of a node as tasks, the first part first.
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
                    // The estimate includes the spaces between the parts; the error is harmless.
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
                    // `?` is indented one level more than the conditions and the `:` before them.
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

    /// Pushes the brackets and their content as tasks.
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

/// Returns the place of an operator: on a new line, unless the node is printed on one line.
fn broken(is_flat: bool, indent: usize) -> Place {
    let place = Place { leads: false, blanks: Blanks::DROPPED, ..Place::line(indent, Blanks::DROPPED) };
    if is_flat { Place { join: Join::Space, ..place } } else { place }
}
