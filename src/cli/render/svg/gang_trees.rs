//! A picture of gangs: trees from the request at the left to the offers at the right.

use classad::text::{counted, with_commas};

use super::{Anchor, Drawing, Fill, LINE_PIXELS, MARGIN_PIXELS, TextStyle, cut, text_pixels};

/// Maximum number of gangs in a picture; further ones are counted.
pub const MAX_DRAWN_GANGS: usize = 12;

/// Maximum number of ports of a gang in a picture; further ones are counted.
const MAX_DRAWN_PORTS: usize = 60;

/// Maximum length of a name, in characters.
const MAX_NAME_CHARS: usize = 36;

/// Height of a box, and distance from the top of one box to that of the next, in pixels.
const BOX_PIXELS: usize = 44;
const ROW_PIXELS: usize = 56;

/// Distance between two columns of boxes, in pixels.
const COLUMN_GAP_PIXELS: usize = 48;

/// A gang to draw.
pub struct GangTree {
    pub request: String,
    /// The identifier of the match.
    pub id: String,
    /// The ports in depth-first order: each is followed by the ports of the offer docked there.
    pub ports: Vec<GangTreePort>,
}

/// A port to draw.
pub struct GangTreePort {
    /// 1 for a port of the request.
    pub depth: usize,
    /// The label, and what is to be said of the offer.
    pub label: String,
    /// The offer; `None` if the port is not filled.
    pub offer: Option<String>,
}

/// Returns the picture of some gangs. `count` is the number of all gangs.
pub fn gang_picture(gangs: &[GangTree], count: usize) -> String {
    let title = if count == 0 { "no gangs".to_owned() } else { counted(count, "gang") };
    let line = "from left to right: a request, and the offer at each of its ports";
    let mut drawing = Drawing::new(&title, if count == 0 { "" } else { line });
    for gang in gangs.iter().take(MAX_DRAWN_GANGS) {
        draw_gang(&mut drawing, gang);
    }
    let rest = count.saturating_sub(MAX_DRAWN_GANGS);
    if rest > 0 {
        let text = format!("and {} more gang{}", with_commas(rest), if rest == 1 { "" } else { "s" });
        let y = drawing.bottom() + 2 * LINE_PIXELS;
        drawing.text([MARGIN_PIXELS, y], TextStyle::Dim, Anchor::Start, &text, usize::MAX);
    }
    drawing.finish()
}

fn draw_gang(drawing: &mut Drawing, gang: &GangTree) {
    let top = drawing.bottom() + LINE_PIXELS;
    let ports = &gang.ports[..gang.ports.len().min(MAX_DRAWN_PORTS)];
    let (root_y, rows) = heights(ports);
    let columns = columns(gang, ports);
    let middle = |y: usize| top + y + BOX_PIXELS / 2;
    // The last port of each depth, which is the parent of what follows one level deeper.
    let mut parents = vec![root_y];
    for (port, &y) in ports.iter().zip(&rows) {
        parents.truncate(port.depth);
        let parent = parents.last().copied().unwrap_or(root_y);
        parents.push(y);
        let [from, to] = [columns[port.depth - 1], columns[port.depth]];
        drawing.step([from[0] + from[1], middle(parent)], [to[0], middle(y)]);
        let fill = if port.offer.is_some() { Fill::Box } else { Fill::Empty };
        let offer = port.offer.as_deref().unwrap_or("(unfilled)");
        draw_box(drawing, fill, [to[0], top + y], to[1], [&port.label, offer]);
    }
    let [x, width] = columns[0];
    draw_box(drawing, Fill::Root, [x, top + root_y], width, [&format!("match {}", gang.id), &gang.request]);
    let rest = gang.ports.len() - ports.len();
    if rest > 0 {
        let text = format!("and {} more port{}", with_commas(rest), if rest == 1 { "" } else { "s" });
        let y = drawing.bottom() + LINE_PIXELS;
        drawing.text(
            [columns.get(1).map_or(x, |column| column[0]), y],
            TextStyle::Dim,
            Anchor::Start,
            &text,
            usize::MAX,
        );
    }
}

fn draw_box(drawing: &mut Drawing, fill: Fill, [x, y]: [usize; 2], width: usize, [label, name]: [&str; 2]) {
    drawing.rectangle(fill, [x, y], [width, BOX_PIXELS]);
    drawing.text([x + 10, y + 17], TextStyle::Dim, Anchor::Start, label, MAX_NAME_CHARS);
    drawing.text([x + 10, y + 35], TextStyle::Heading, Anchor::Start, name, MAX_NAME_CHARS);
}

/// Returns how far below the top of the tree the request is, and each port. A port is beside the middle of the ports
/// that follow from it.
fn heights(ports: &[GangTreePort]) -> (usize, Vec<usize>) {
    let is_leaf = |at: usize| ports.get(at + 1).is_none_or(|next| next.depth <= ports[at].depth);
    let leaves = (0..ports.len()).filter(|at| is_leaf(*at)).count();
    let mut next = leaves * ROW_PIXELS;
    let mut heights = vec![0; ports.len()];
    // For each depth, the first and the last height of the ports that have been seen and have one parent.
    let mut spans: Vec<Option<[usize; 2]>> = Vec::new();
    for at in (0..ports.len()).rev() {
        let depth = ports[at].depth;
        spans.resize(spans.len().max(depth + 2), None);
        let height = if let Some([first, last]) = spans[depth + 1].take() {
            usize::midpoint(first, last)
        } else {
            next -= ROW_PIXELS;
            next
        };
        heights[at] = height;
        let last = spans[depth].map_or(height, |[_, last]| last);
        spans[depth] = Some([height, last]);
    }
    let root = spans.get(1).copied().flatten().map_or(0, |[first, last]| usize::midpoint(first, last));
    (root, heights)
}

/// Returns for each depth where its boxes begin, and how wide they are.
fn columns(gang: &GangTree, ports: &[GangTreePort]) -> Vec<[usize; 2]> {
    let deepest = ports.iter().map(|port| port.depth).max().unwrap_or(0);
    let mut widths = vec![0; deepest + 1];
    let mut fit = |depth: usize, text: &str| {
        let width: &mut usize = &mut widths[depth];
        *width = (*width).max(text_pixels(&cut(text, MAX_NAME_CHARS)) + 20);
    };
    fit(0, &gang.request);
    fit(0, &format!("match {}", gang.id));
    for port in ports {
        fit(port.depth, &port.label);
        fit(port.depth, port.offer.as_deref().unwrap_or("(unfilled)"));
    }
    let mut x = MARGIN_PIXELS;
    let columns = widths.into_iter().map(|width| {
        let column = [x, width];
        x += width + COLUMN_GAP_PIXELS;
        column
    });
    columns.collect()
}

#[cfg(test)]
mod tests {
    use super::{GangTreePort, ROW_PIXELS, heights};

    fn tree(depths: &[usize]) -> (usize, Vec<usize>) {
        let port = |depth: &usize| GangTreePort { depth: *depth, label: String::new(), offer: None };
        let (root, rows) = heights(&depths.iter().map(port).collect::<Vec<_>>());
        (root * 2 / ROW_PIXELS, rows.iter().map(|y| y * 2 / ROW_PIXELS).collect())
    }

    /// Heights are in halves of a row.
    #[test]
    fn parents_are_beside_the_middle_of_their_children() {
        assert_eq!(tree(&[]), (0, vec![]));
        assert_eq!(tree(&[1]), (0, vec![0]));
        assert_eq!(tree(&[1, 1]), (1, vec![0, 2]));
        assert_eq!(tree(&[1, 2, 2, 1]), (2, vec![1, 0, 2, 4]));
        assert_eq!(tree(&[1, 2, 3, 1, 2]), (1, vec![0, 0, 0, 2, 2]));
    }
}
