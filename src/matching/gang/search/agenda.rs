//! The ports that a search still has to fill, as an immutable value that branches of the search share.
//!
//! The ports of the request come first, then the ports of each docked ad, in preorder of the ads.

use std::rc::Rc;

use crate::ad::Participant;
use crate::matching::gang::participants::PortPlace;

/// The ports still to be filled. Cloning takes O(1), because branches of a search share the lists.
#[derive(Clone)]
pub struct Agenda {
    /// The ad whose ports are being filled. `None` before the ports of the request have been chosen.
    current: Option<CurrentAd>,
    /// Ads whose ports are filled after those of `current`, the next ad first.
    later: JoiningAds,
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

/// An ad in the gang whose ports are not on the agenda yet. Ads docked at the same ad are ordered by the port at which
/// they are docked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct JoiningAd {
    /// Index of the parent's port at which this ad is docked. 0 for the request, which has no parent.
    parent_port: usize,
    pub participant: Participant,
    /// Index of this ad's own port that is docked to the parent. `None` for the request.
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
    /// Ads docked at `ports` so far that have ports besides their links. The last docked ad comes first.
    docked: JoiningAds,
}

impl Default for Agenda {
    /// Returns the agenda of an empty gang: the ports of the request.
    fn default() -> Self {
        let request = JoiningAd { parent_port: 0, participant: Participant::REQUEST, link: None };
        Agenda { current: None, later: JoiningAds::default().prepend(request) }
    }
}

impl Agenda {
    /// Returns the next task. If the current ad has no port left to fill, the task is to choose the ports of the next
    /// ad.
    pub fn goal(&self) -> Goal {
        if let Some(ad) = &self.current
            && let Some(port) = ad.ports.get(ad.next)
        {
            return Goal::Fill(PortPlace { participant: ad.participant, port: *port });
        }
        let docked = self.current.as_ref().and_then(|ad| ad.docked.iter().min());
        docked.or_else(|| self.later.iter().next()).map_or(Goal::Done, |newcomer| Goal::ChoosePorts(*newcomer))
    }

    /// Returns the agenda after the ports of `newcomer`, the ad of [`Goal::ChoosePorts`], have been chosen. `ports` are
    /// their indices in the order in which they are to be filled.
    pub fn with_ports_chosen(&self, newcomer: JoiningAd, ports: Rc<[usize]>) -> Self {
        let docked = self.current.iter().flat_map(|ad| ad.docked.iter());
        let mut docked: Vec<JoiningAd> = docked.copied().collect();
        docked.sort_unstable();
        let later = match docked.as_slice() {
            [] => self.later.rest(),
            [_, later @ ..] => later.iter().rev().fold(self.later.clone(), |list, ad| list.prepend(*ad)),
        };
        let participant = newcomer.participant;
        Agenda { current: Some(CurrentAd { participant, ports, next: 0, docked: JoiningAds::default() }), later }
    }

    /// Returns the agenda after a candidate has been docked at the port of [`Goal::Fill`]. `has_ports` says whether the
    /// candidate has ports besides its link.
    pub fn with_docked(&self, link: PortPlace, has_ports: bool) -> Self {
        let mut agenda = self.clone();
        if let Some(ad) = &mut agenda.current {
            if has_ports {
                let parent_port = ad.ports.get(ad.next).copied().unwrap_or_default();
                let newcomer = JoiningAd { parent_port, participant: link.participant, link: Some(link.port) };
                ad.docked = ad.docked.prepend(newcomer);
            }
            ad.next += 1;
        }
        agenda
    }

    /// Iterates over the ports of the current ad that are to be filled after the port of [`Goal::Fill`].
    pub fn remaining_ports(&self) -> impl Iterator<Item = PortPlace> + '_ {
        self.current.iter().flat_map(|ad| {
            let ports = ad.ports.iter().skip(ad.next + 1);
            ports.map(|port| PortPlace { participant: ad.participant, port: *port })
        })
    }
}

/// A persistent singly linked list of ads. Lists share their tails, so that a copy takes O(1).
#[derive(Clone, Default)]
struct JoiningAds(Option<Rc<JoiningAdNode>>);

struct JoiningAdNode {
    ad: JoiningAd,
    rest: JoiningAds,
}

impl JoiningAds {
    /// Returns the list with `ad` in front, in O(1).
    fn prepend(&self, ad: JoiningAd) -> Self {
        JoiningAds(Some(Rc::new(JoiningAdNode { ad, rest: self.clone() })))
    }

    /// Returns the list without its first ad, in O(1).
    fn rest(&self) -> Self {
        self.0.as_ref().map(|node| node.rest.clone()).unwrap_or_default()
    }

    fn iter(&self) -> impl Iterator<Item = &JoiningAd> {
        let nodes = std::iter::successors(self.0.as_deref(), |node| node.rest.0.as_deref());
        nodes.map(|node| &node.ad)
    }
}

impl Drop for JoiningAds {
    /// Drops without recursion: recursion along a long list could overflow the stack.
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

    /// Docks participants at the ports in the order of the agenda and returns their positions in this order.
    /// `children[p][q]` is the participant that docks at port `q` of participant `p`.
    fn walk(children: &[&[usize]], reversed: bool) -> String {
        let (mut agenda, mut log) = (Agenda::default(), String::new());
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
