//! The ports that a search still has to fill, as an immutable value that branches of the search share.
//!
//! The ports of the request come first, then the ports of each docked ad. Docked ads are taken in preorder.

use std::rc::Rc;

use crate::ad::Participant;
use crate::matching::gang::participants::PortPlace;

/// The ports still to be filled. Cloning takes O(1), because branches of a search share the lists.
#[derive(Clone, Default)]
pub struct Agenda {
    /// The ad whose ports are being filled. `None` before the ports of the request have been chosen.
    current: Option<CurrentAd>,
    /// Ads whose ports are filled later, in order.
    later: PersistentList<JoiningAd>,
}

/// The next task of the search, as the agenda determines it.
pub enum Goal {
    /// Nothing is left: the gang is complete.
    Done,
    /// Choose which ports of the ad are filled, and in which order.
    ChoosePorts(JoiningAd),
    /// Dock a candidate at the port.
    Fill(PortPlace),
}

/// An ad in the gang whose ports are not on the agenda yet. The order of two ads docked at the same ad is that of their
/// parent ports.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct JoiningAd {
    /// Index of the port of the ad above at which it is docked.
    parent_port: usize,
    pub participant: Participant,
    /// Index of the ad's own port that is docked. `None` for the request.
    pub link: Option<usize>,
}

/// The ad whose ports are being filled.
#[derive(Clone)]
struct CurrentAd {
    participant: Participant,
    /// Indices of the ad's ports in the order in which they are filled.
    ports: Rc<[usize]>,
    /// Position in `ports` of the next port to fill.
    next: usize,
    /// Ads docked at `ports` so far that have ports of their own, the last docked ad first.
    docked: PersistentList<JoiningAd>,
}

impl Agenda {
    /// Returns the agenda of an empty gang: the ports of the request.
    pub fn new() -> Self {
        Agenda {
            current: None,
            later: PersistentList::default().prepend(JoiningAd {
                parent_port: 0,
                participant: Participant::REQUEST,
                link: None,
            }),
        }
    }

    /// Returns the next task: the next port of the current ad, or else the next ad whose ports are to be chosen.
    pub fn goal(&self) -> Goal {
        if let Some(block) = &self.current {
            if let Some(port) = block.ports.get(block.next) {
                return Goal::Fill(PortPlace { participant: block.participant, port: *port });
            }
            if let Some(first) = block.docked.iter().min() {
                return Goal::ChoosePorts(*first);
            }
        }
        self.later.iter().next().map_or(Goal::Done, |newcomer| Goal::ChoosePorts(*newcomer))
    }

    /// Returns the agenda after `ports` have been chosen for `newcomer`, the ad of [`Goal::ChoosePorts`]. The ports are
    /// filled in this order.
    pub fn with_ports_chosen(&self, newcomer: JoiningAd, ports: Rc<[usize]>) -> Self {
        let mut waiting: Vec<JoiningAd> = Vec::new();
        if let Some(block) = &self.current {
            waiting.extend(block.docked.iter());
            waiting.sort_unstable();
        }
        let later = if waiting.is_empty() {
            self.later.rest()
        } else {
            waiting.into_iter().skip(1).rev().fold(self.later.clone(), |later, newcomer| later.prepend(newcomer))
        };
        let block = CurrentAd { participant: newcomer.participant, ports, next: 0, docked: PersistentList::default() };
        Agenda { current: Some(block), later }
    }

    /// Returns the agenda after a candidate has been docked at the port of [`Goal::Fill`]. `has_ports` says whether the
    /// candidate has ports besides its link.
    pub fn with_docked(&self, link: PortPlace, has_ports: bool) -> Self {
        let mut agenda = self.clone();
        if let Some(block) = &mut agenda.current {
            if has_ports {
                let at = block.ports.get(block.next).copied().unwrap_or_default();
                let newcomer = JoiningAd { parent_port: at, participant: link.participant, link: Some(link.port) };
                block.docked = block.docked.prepend(newcomer);
            }
            block.next += 1;
        }
        agenda
    }

    /// Iterates over the ports of the current ad that are filled after the next port.
    pub fn remaining_ports(&self) -> impl Iterator<Item = PortPlace> + '_ {
        self.current.iter().flat_map(|block| {
            let ports = block.ports.iter().skip(block.next + 1);
            ports.map(|port| PortPlace { participant: block.participant, port: *port })
        })
    }
}

/// A persistent singly linked list: lists share their tails.
struct PersistentList<T>(Option<Rc<PersistentListNode<T>>>);

struct PersistentListNode<T> {
    item: T,
    rest: PersistentList<T>,
}

impl<T> Default for PersistentList<T> {
    fn default() -> Self {
        PersistentList(None)
    }
}

impl<T> Clone for PersistentList<T> {
    fn clone(&self) -> Self {
        PersistentList(self.0.clone())
    }
}

impl<T> PersistentList<T> {
    /// Returns the list with `item` in front, in O(1).
    fn prepend(&self, item: T) -> Self {
        PersistentList(Some(Rc::new(PersistentListNode { item, rest: self.clone() })))
    }

    /// Returns the list without its first item, in O(1).
    fn rest(&self) -> Self {
        self.0.as_ref().map_or_else(PersistentList::default, |node| node.rest.clone())
    }

    fn iter(&self) -> impl Iterator<Item = &T> {
        let mut node = self.0.as_deref();
        std::iter::from_fn(move || {
            let here = node?;
            node = here.rest.0.as_deref();
            Some(&here.item)
        })
    }
}

impl<T> Drop for PersistentList<T> {
    /// Drops iteratively: recursion over a long list would overflow the stack.
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some(node) = next {
            next = Rc::into_inner(node).and_then(|mut node| node.rest.0.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::{Agenda, Goal};
    use crate::ad::Participant;
    use crate::matching::gang::participants::PortPlace;

    /// Docks participants as the agenda demands and returns their positions in the order of docking. `children` holds
    /// for each participant which participant docks at each of its ports.
    fn walk(children: &[&[usize]], reversed: bool) -> String {
        let (mut agenda, mut log) = (Agenda::new(), String::new());
        loop {
            match agenda.goal() {
                Goal::Done => return log,
                Goal::ChoosePorts(newcomer) => {
                    let mut ports: Vec<usize> = (0..children[newcomer.participant.position()].len()).collect();
                    if reversed {
                        ports.reverse();
                    }
                    agenda = agenda.with_ports_chosen(newcomer, Rc::from(ports));
                }
                Goal::Fill(place) => {
                    let docked = children[place.participant.position()][place.port];
                    log += &docked.to_string();
                    log.push(' ');
                    let has_ports = !children[docked].is_empty();
                    agenda = agenda.with_docked(PortPlace { participant: Participant::at(docked), port: 9 }, has_ports);
                }
            }
        }
    }

    #[test]
    fn ports_of_an_ad_together_and_ads_in_preorder() {
        let children: [&[usize]; 8] = [&[1, 2, 3], &[4, 5], &[], &[6], &[7], &[], &[], &[]];
        assert_eq!(walk(&children, false), "1 2 3 4 5 7 6 ");
        assert_eq!(walk(&children, true), "3 2 1 5 4 7 6 ");
        assert_eq!(walk(&[&[]], false), "");
    }
}
