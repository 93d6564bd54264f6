//! Where an expression stands: the nest of ads around it.

use std::sync::Arc;

use super::Ad;

/// The number of an ad among those that meet in one evaluation: 0 alone or for `self`, 1 for the
/// other side of a match, one for each ad of a gang.
pub type Participant = u32;

/// A link of the chain of ads around an expression, innermost first (thesis §2.3: a classad value
/// indicates its parent scope).
#[derive(Debug)]
pub struct Frame {
    /// The ad of this link.
    pub ad: Ad,
    /// The ad around it; none for a root.
    pub enclosing: Option<Arc<Frame>>,
    /// Which of the ads that meet the root of this chain is.
    pub participant: Participant,
    /// The position in the port list, if this ad is a port of the root; labels are seen from there.
    pub port: Option<u32>,
    /// Whether HTCondor falls through from here to the other ad of a match: from a root, not from an ad
    /// nested in it.
    pub falls_through: bool,
}

impl Frame {
    /// The outermost link for an ad that is not nested.
    #[must_use]
    pub fn root(ad: Ad, participant: Participant) -> Arc<Frame> {
        Arc::new(Frame { ad, enclosing: None, participant, port: None, falls_through: true })
    }

    /// The scope of an expression that stands in no ad.
    #[must_use]
    pub fn nowhere() -> Arc<Frame> {
        Frame::root(Ad::default(), Participant::MAX)
    }

    /// Whether there is no ad around what is evaluated here.
    #[must_use]
    pub fn is_nowhere(&self) -> bool {
        self.participant == Participant::MAX && self.enclosing.is_none() && self.ad.is_empty()
    }

    /// The link for an ad nested in `self`.
    #[must_use]
    pub fn enter(self: &Arc<Self>, ad: Ad) -> Arc<Frame> {
        Arc::new(Frame {
            ad,
            participant: self.participant,
            port: self.port,
            enclosing: Some(Arc::clone(self)),
            falls_through: false,
        })
    }

    /// The link for a port of the ad that `self` is.
    #[must_use]
    pub fn dock(self: &Arc<Self>, record: Ad, position: Option<u32>) -> Arc<Frame> {
        Arc::new(Frame {
            ad: record,
            participant: self.participant,
            port: position,
            enclosing: Some(Arc::clone(self)),
            falls_through: false,
        })
    }

    /// The same link as the place of an evaluation of its own, which falls through as the ad around it.
    #[must_use]
    pub fn as_context(&self) -> Arc<Frame> {
        Arc::new(Frame {
            ad: self.ad.clone(),
            participant: self.participant,
            port: self.port,
            enclosing: self.enclosing.clone(),
            falls_through: self.enclosing.as_ref().is_none_or(|enclosing| enclosing.falls_through),
        })
    }

    /// The outermost link.
    #[must_use]
    pub fn outermost(self: &Arc<Self>) -> &Arc<Frame> {
        let mut frame = self;
        while let Some(enclosing) = &frame.enclosing {
            frame = enclosing;
        }
        frame
    }
}

impl Drop for Frame {
    /// A deep nest is taken apart link by link: dropping it must not recurse.
    fn drop(&mut self) {
        let mut next = self.enclosing.take();
        while let Some(frame) = next {
            next = Arc::into_inner(frame).and_then(|mut frame| frame.enclosing.take());
        }
    }
}
