//! Printer of layout trees.
//!
//! The printer uses an explicit stack, so deep nesting cannot overflow the program's stack. The builder has computed
//! the width of every node, so deciding whether a node fits on a line is O(1).

use super::tree::{Bracket, LayoutNode, LayoutNodeId, LayoutNodeKind, LayoutTree, Spacing};
use super::trivia::{Comment, TriviaTokens, display_columns};

/// Number of columns of one level of indentation.
pub const INDENT_COLUMNS: usize = 2;

/// Which blank lines around a token's leading comments are kept.
#[derive(Clone, Copy, Debug)]
pub struct KeptBlankLines {
    /// Whether blank lines before the first leading comment are kept.
    first: bool,
    /// Whether blank lines between the leading comments are kept.
    between: bool,
    /// Whether blank lines between the last leading comment and the token are kept. For a token without leading
    /// comments, blank lines are kept only if `first` and `last` are true.
    last: bool,
}

impl KeptBlankLines {
    pub const KEPT: KeptBlankLines = KeptBlankLines { first: true, between: true, last: true };
    const AFTER_OPENING: KeptBlankLines = KeptBlankLines { first: false, ..KeptBlankLines::KEPT };
    pub const BEFORE_CLOSING: KeptBlankLines = KeptBlankLines { last: false, ..KeptBlankLines::KEPT };
    const IN_EMPTY: KeptBlankLines = KeptBlankLines { first: false, between: true, last: false };
    const DROPPED: KeptBlankLines = KeptBlankLines { first: false, between: false, last: false };
}

/// Where a token is to be printed: beside the previous token or on a new line.
#[derive(Clone, Copy, Debug)]
pub struct TokenPlacement {
    /// Separation from the previous token.
    pub spacing: Spacing,
    /// If the token begins a line: number of columns by which this line is indented.
    pub indent: usize,
    /// Number of columns by which leading comments on their own lines are indented.
    pub comment_indent: usize,
    /// Whether the comments before the token belong to it. If so, the comment in `a = 1; /* b */ c = 2` moves to the
    /// new line of the token `c`. Otherwise the comment stays behind the previous token.
    pub owns_comments: bool,
    pub blanks: KeptBlankLines,
}

impl TokenPlacement {
    /// Returns the placement of a token that begins a line. The comments before the token belong to it.
    pub fn new_line(indent: usize, blanks: KeptBlankLines) -> Self {
        TokenPlacement { spacing: Spacing::Line, indent, comment_indent: indent, owns_comments: true, blanks }
    }

    /// Returns the placement of a token on the line of the previous token. If comments between the two tokens force a
    /// line break, the second token is indented one level more.
    fn inline(spacing: Spacing, indent: usize) -> Self {
        TokenPlacement {
            spacing,
            indent: indent + INDENT_COLUMNS,
            comment_indent: indent + INDENT_COLUMNS,
            owns_comments: false,
            blanks: KeptBlankLines::DROPPED,
        }
    }
}

/// Something to print: an entry of the printer's stack.
#[derive(Clone, Copy)]
enum LayoutTask {
    Node(NodeTask),
    /// The semicolon that ends an attribute.
    Semicolon,
}

/// A node that is still to be printed.
#[derive(Clone, Copy)]
struct NodeTask {
    node: LayoutNodeId,
    place: TokenPlacement,
    /// Number of columns before the first character of the line on which the node begins.
    base: usize,
    /// Whether operators on new lines are indented one level more, because the node is a part of another operation.
    is_nested: bool,
    /// Number of columns to leave free behind the node's last token, for the separator or bracket that follows.
    trailing: usize,
    /// Whether the node is printed on one line, because it fits or because lines must not be broken.
    is_flat: bool,
}

/// Printer of layout trees: the text printed so far, and the column at its end.
pub struct LayoutPrinter {
    pub out: Vec<u8>,
    /// Maximum number of columns of a line.
    width: usize,
    line_end: &'static [u8],
    /// Number of columns printed on the current line.
    column: usize,
}

impl LayoutPrinter {
    pub fn new(width: usize, line_end: &'static [u8]) -> Self {
        LayoutPrinter { out: Vec::new(), width, line_end, column: 0 }
    }

    /// Prints text unchanged.
    pub fn write_text(&mut self, text: &[u8]) {
        self.out.extend_from_slice(text);
        match memchr::memrchr(b'\n', text) {
            Some(end) => self.column = display_columns(&text[end + 1..]),
            None => self.column += display_columns(text),
        }
    }

    fn space(&mut self) {
        if self.column > 0 {
            self.write_text(b" ");
        }
    }

    /// Begins a new line and indents it by `indent` columns. If `blank` is true, leaves a blank line before it.
    pub fn begin_line(&mut self, indent: usize, blank: bool) {
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

    /// Limits an indentation to half the width of a line. Without a limit, the size of the output would be quadratic in
    /// the nesting depth.
    fn indentation(&self, indent: usize) -> usize {
        indent.min(self.width / 2 / INDENT_COLUMNS * INDENT_COLUMNS)
    }

    /// Ends the current line unless it is empty.
    pub fn end_line(&mut self) {
        if self.column > 0 {
            self.begin_line(0, false);
        }
    }

    /// Prints the comments before the token at index `at`, and the white space between them and the token.
    pub fn print_comments_before(&mut self, pieces: &TriviaTokens, at: usize, place: TokenPlacement) {
        let piece = &pieces.tokens[at];
        let comments = &pieces.comments[piece.comments.clone()];
        let kept = |lines: usize, blanks: bool| lines > 1 && blanks;
        if comments.is_empty() {
            return match place.spacing {
                Spacing::Touching => {}
                Spacing::Space => self.space(),
                Spacing::Line => {
                    self.begin_line(place.indent, kept(piece.line_ends, place.blanks.first && place.blanks.last));
                }
            };
        }
        let together = place.spacing == Spacing::Line && place.owns_comments && !pieces.forces_line_break(at);
        // Whether the previous token is on an earlier line, because a comment begins or ends a line. If so, this token
        // can stand beside the last comment.
        let begins_line = self.column == 0 || comments.iter().any(|comment| comment.line_ends > 0 || comment.ends_line);
        let mut must_break = together;
        for (position, comment) in comments.iter().enumerate() {
            let blanks = if position == 0 { place.blanks.first } else { place.blanks.between };
            if comment.line_ends > 0 || must_break {
                self.begin_line(place.comment_indent, kept(comment.line_ends, blanks));
            } else {
                self.space();
            }
            self.comment(pieces.text, comment);
            must_break = comment.ends_line;
        }
        let is_beside = place.owns_comments && (together || begins_line);
        if must_break || piece.line_ends > 0 || place.spacing == Spacing::Line && !is_beside {
            self.begin_line(place.indent, kept(piece.line_ends, place.blanks.last));
        } else if place.spacing != Spacing::Touching {
            self.space();
        }
    }

    /// Prints a comment. In a comment of several lines, all lines keep their indentation relative to the first line.
    fn comment(&mut self, text: &[u8], comment: &Comment) {
        let written = &text[comment.range.clone()];
        if !comment.is_multiline {
            return self.write_text(written);
        }
        let start = memchr::memrchr(b'\n', &text[..comment.range.start]).map_or(0, |end| end + 1);
        // `old` and `new` are the columns at which the comment begins before and after formatting. They are limited to
        // the width of a line. Otherwise many comments on one line would be indented further and further.
        let old = display_columns(&text[start..comment.range.start]).min(self.width);
        let new = self.column.min(self.width);
        for (position, line) in written.split(|byte| *byte == b'\n').enumerate() {
            let line = line.trim_ascii_end();
            let blank = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count().min(old);
            if position > 0 {
                self.out.extend_from_slice(self.line_end);
                self.column = 0;
            }
            if position > 0 && !line.is_empty() {
                self.write_text(&[b' '].repeat(new));
                self.write_text(&line[blank..]);
            } else {
                self.write_text(line);
            }
        }
    }

    /// Prints a node with everything in it. `place` is the placement of its first token.
    pub fn print_node(&mut self, tree: &LayoutTree, node: LayoutNodeId, place: TokenPlacement) {
        self.run(tree, NodeTask { node, place, base: place.indent, is_nested: false, trailing: 0, is_flat: false });
    }

    /// Prints a space and a node with everything in it on the current line, even if the line gets longer than the
    /// width.
    pub fn print_flat(&mut self, tree: &LayoutTree, node: LayoutNodeId) {
        let place = TokenPlacement::inline(Spacing::Space, 0);
        self.run(tree, NodeTask { node, place, base: 0, is_nested: false, trailing: 0, is_flat: true });
    }

    fn run(&mut self, tree: &LayoutTree, root: NodeTask) {
        let mut tasks = vec![LayoutTask::Node(root)];
        while let Some(task) = tasks.pop() {
            match task {
                LayoutTask::Semicolon => self.write_text(b";"),
                LayoutTask::Node(node) => {
                    let start = tasks.len();
                    self.expand_node(tree, node, &mut tasks);
                    tasks[start..].reverse();
                }
            }
        }
    }

    /// Whether a node fits on one line if its first token is printed at `place` and `trailing` more columns follow.
    fn fits(&self, tree: &LayoutTree, node: LayoutNodeId, place: TokenPlacement, trailing: usize) -> bool {
        let node = &tree.nodes[node];
        let start = match place.spacing {
            _ if node.has_leading_comment_lines => self.indentation(place.indent),
            Spacing::Line => self.indentation(place.indent),
            Spacing::Space => self.column + 1,
            Spacing::Touching => self.column,
        };
        !node.is_multiline && start + node.comment_columns.1 + node.width + trailing <= self.width
    }

    /// Prints a node that is a token. For any other node, pushes its parts as tasks in the order of the text.
    fn expand_node(&mut self, tree: &LayoutTree, task: NodeTask, tasks: &mut Vec<LayoutTask>) {
        let NodeTask { node, place, base, is_nested, trailing, is_flat } = task;
        let flat = is_flat || self.fits(tree, node, place, trailing);
        let part = |node, place, base, trailing| {
            LayoutTask::Node(NodeTask { node, place, base, is_nested: true, trailing, is_flat: flat })
        };
        let operators = if is_nested { base + INDENT_COLUMNS } else { base };
        let LayoutNode { kind, parts: nodes, is_multiline, .. } = &tree.nodes[node];
        match *kind {
            LayoutNodeKind::Token(piece) => {
                self.print_comments_before(tree.tokens, piece, place);
                self.write_text(tree.tokens.token_text(piece));
            }
            LayoutNodeKind::Sequence => {
                let mut rest = tree.width_with_comments(node);
                for (position, node) in nodes.iter().enumerate() {
                    // From here on, `rest` is the width of the parts behind this part, plus the spaces between all
                    // parts. Because of these spaces, a part that just fits may be broken. This is harmless.
                    rest -= tree.width_with_comments(*node);
                    let place = match position.checked_sub(1) {
                        None => place,
                        Some(before) => TokenPlacement::inline(tree.spacing_between(nodes[before], *node), base),
                    };
                    tasks.push(part(*node, place, base, rest + trailing));
                }
            }
            kind @ (LayoutNodeKind::Chain(_) | LayoutNodeKind::Conditional) => {
                let is_conditional = kind == LayoutNodeKind::Conditional;
                Self::expand_chain(nodes, is_conditional, NodeTask { is_flat: flat, ..task }, tasks);
            }
            LayoutNodeKind::Strings => {
                for (position, node) in nodes.iter().enumerate() {
                    let place = if position == 0 { place } else { operator_placement(flat, operators) };
                    tasks.push(part(*node, place, base, if position + 1 == nodes.len() { trailing } else { 0 }));
                }
            }
            LayoutNodeKind::Bracketed(bracket) => {
                let flat = flat || nodes.len() == 2 && !is_multiline;
                Self::expand_brackets(nodes, bracket, NodeTask { is_flat: flat, is_nested: false, ..task }, tasks);
            }
            LayoutNodeKind::Attribute => {
                let [name, equals, value] = [nodes[0], nodes[1], nodes[2]];
                tasks.push(part(name, place, base, 0));
                tasks.push(part(equals, TokenPlacement::inline(Spacing::Space, base), base, 0));
                let fits = flat || self.fits(tree, node, place, trailing);
                tasks.push(attribute_value(tree, value, NodeTask { is_flat: flat, ..task }, fits));
            }
        }
    }

    /// Pushes the tasks of a chain of operators and operands, or of a conditional expression, whose parts are listed from
    /// the last to the first.
    fn expand_chain(nodes: &[LayoutNodeId], is_conditional: bool, task: NodeTask, tasks: &mut Vec<LayoutTask>) {
        let NodeTask { place, base, is_nested, trailing, is_flat, .. } = task;
        let operators = if is_nested { base + INDENT_COLUMNS } else { base };
        let part = |node, place, base, trailing| {
            LayoutTask::Node(NodeTask { node, place, base, is_nested: true, trailing, is_flat })
        };
        let last = nodes.len() - 1;
        for position in 0..=last {
            let node = nodes[if is_conditional { last - position } else { position }];
            let trailing = if position == last { trailing } else { 0 };
            // `? consequent` is indented one level more than `: alternative`.
            let is_deeper = is_conditional && matches!(position % 4, 1 | 2);
            let line = if is_deeper { operators + INDENT_COLUMNS } else { operators };
            tasks.push(match position {
                0 => part(node, place, base, trailing),
                _ if position % 2 == 1 => part(node, operator_placement(is_flat, line), line, 0),
                _ => part(node, TokenPlacement::inline(Spacing::Space, line), line, trailing),
            });
        }
    }

    /// Pushes the tasks of a bracketed construct: its brackets, items and separators.
    fn expand_brackets(nodes: &[LayoutNodeId], bracket: Bracket, task: NodeTask, tasks: &mut Vec<LayoutTask>) {
        let NodeTask { place, base, is_flat: flat, .. } = task;
        let part = |node, place, base, trailing| LayoutTask::Node(NodeTask { node, place, base, trailing, ..task });
        let last = nodes.len() - 1;
        let inner = if bracket.is_wide() { Spacing::Space } else { Spacing::Touching };
        for (position, node) in nodes.iter().enumerate() {
            let is_separator = position % 2 == 0;
            let inline = |join| TokenPlacement::inline(join, base);
            let blanks = match (position, last) {
                (_, 1) => KeptBlankLines::IN_EMPTY,
                (1, _) => KeptBlankLines::AFTER_OPENING,
                _ if position == last => KeptBlankLines::BEFORE_CLOSING,
                _ => KeptBlankLines::KEPT,
            };
            if position == last && bracket == Bracket::Ad && !flat && last > 1 {
                tasks.push(LayoutTask::Semicolon);
            }
            let place = match position {
                0 => place,
                _ if position == last && flat => inline(inner),
                _ if position == last => TokenPlacement {
                    owns_comments: false,
                    comment_indent: base + INDENT_COLUMNS,
                    ..TokenPlacement::new_line(base, blanks)
                },
                _ if is_separator => inline(Spacing::Touching),
                1 if flat => inline(inner),
                _ if flat => inline(Spacing::Space),
                _ => TokenPlacement::new_line(base + INDENT_COLUMNS, blanks),
            };
            let is_item = position > 0 && position < last && !is_separator;
            let trailing = usize::from(position + 1 < last || bracket == Bracket::Ad);
            tasks.push(if is_item {
                part(*node, place, base + INDENT_COLUMNS, trailing)
            } else {
                part(*node, place, base, 0)
            });
        }
    }
}

/// Returns the task of the value of an attribute, which `task` prints. `fits` tells whether the attribute fits on one line.
fn attribute_value(tree: &LayoutTree, value: LayoutNodeId, task: NodeTask, fits: bool) -> LayoutTask {
    let measured = &tree.nodes[value];
    let is_chain =
        matches!(measured.kind, LayoutNodeKind::Chain(_) | LayoutNodeKind::Conditional | LayoutNodeKind::Strings);
    let goes_down = measured.has_leading_comment_lines || is_chain && !fits;
    let (place, base) = if goes_down && !task.is_flat {
        let base = task.base + INDENT_COLUMNS;
        (TokenPlacement::new_line(base, KeptBlankLines::DROPPED), base)
    } else {
        (TokenPlacement::inline(Spacing::Space, task.base), task.base)
    };
    LayoutTask::Node(NodeTask { node: value, place, base, is_nested: false, ..task })
}

/// Returns the placement of an operator: beside its left operand if the node is printed on one line, otherwise on a new
/// line.
fn operator_placement(is_flat: bool, indent: usize) -> TokenPlacement {
    let spacing = if is_flat { Spacing::Space } else { Spacing::Line };
    TokenPlacement { spacing, owns_comments: false, ..TokenPlacement::new_line(indent, KeptBlankLines::DROPPED) }
}
