//! The scope chain: the ads that enclose an expression.

use std::sync::Arc;

use super::Ad;

/// Number of a root ad among the root ads of one evaluation: the request, a single ad or `self` comes first, then the
/// offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Participant(u32);

impl Participant {
    /// A single ad, `self`, or the request of a match or gang.
    pub const REQUEST: Participant = Participant(0);
    /// The other side of a match.
    pub const PARTNER: Participant = Participant(1);
    /// No root ad of the evaluation, such as in [`ScopeFrame::outside_ads`].
    pub const NONE: Participant = Participant(u32::MAX);

    /// Returns the participant at a 0-based position; [`Participant::NONE`] if the position exceeds 32 bits.
    #[must_use]
    pub fn at(position: usize) -> Self {
        u32::try_from(position).map_or(Participant::NONE, Participant)
    }

    /// Returns the participant that is the offer with this 0-based index: offers follow the request.
    #[must_use]
    pub fn of_offer(offer: usize) -> Self {
        Participant::at(offer + 1)
    }

    /// Returns the 0-based position of this participant; the request is at 0.
    #[must_use]
    pub fn position(self) -> usize {
        self.0 as usize
    }

    /// Returns the 0-based index of this participant among the offers.  Must not be called for the request.
    #[must_use]
    pub fn offer(self) -> usize {
        self.position() - 1
    }

    /// Whether this is the request.
    #[must_use]
    pub fn is_request(self) -> bool {
        self == Participant::REQUEST
    }
}

/// A frame of the scope chain: an ad and the frames that enclose it (thesis 2.3: a classad value indicates its parent
/// scope).
#[derive(Debug)]
pub struct ScopeFrame {
    /// The innermost ad of the chain.
    pub ad: Ad,
    /// The frame of the enclosing ad; `None` for a root ad.
    pub enclosing: Option<Arc<ScopeFrame>>,
    /// Number of the root ad of this chain.
    pub participant: Participant,
    /// 0-based index in the root ad's port list, if this ad is a port or nested in one; the labels of earlier ports are
    /// visible.
    pub port: Option<u32>,
    /// Whether HTCondor's lookup continues from here in the other ad of a match: true for a root, false for an ad
    /// nested in it.
    pub falls_through: bool,
}

impl ScopeFrame {
    /// Creates the frame of a root ad, which no frame encloses.
    #[must_use]
    pub fn root(ad: Ad, participant: Participant) -> Arc<ScopeFrame> {
        Arc::new(ScopeFrame { ad, enclosing: None, participant, port: None, falls_through: true })
    }

    /// Creates the scope of an expression outside any ad: an empty root with the number [`Participant::NONE`].
    pub(crate) fn outside_ads() -> Arc<ScopeFrame> {
        ScopeFrame::root(Ad::default(), Participant::NONE)
    }

    /// Whether this is the scope of an expression outside any ad.
    pub(crate) fn is_outside_ads(&self) -> bool {
        self.participant == Participant::NONE && self.enclosing.is_none() && self.ad.is_empty()
    }

    /// Creates the frame of an ad nested in the ad of `self`.
    #[must_use]
    pub fn enter(self: &Arc<Self>, ad: Ad) -> Arc<ScopeFrame> {
        self.dock(ad, self.port)
    }

    /// Creates the frame of `record`, which belongs to a port of this ad; `position` is the 0-based index of the port
    /// in the port list.
    #[must_use]
    pub fn dock(self: &Arc<Self>, record: Ad, position: Option<u32>) -> Arc<ScopeFrame> {
        Arc::new(ScopeFrame {
            ad: record,
            participant: self.participant,
            port: position,
            enclosing: Some(Arc::clone(self)),
            falls_through: false,
        })
    }

    /// Returns a copy of this frame for a separate evaluation in its ad.  The copy takes `falls_through` from the
    /// enclosing frame; for a root ad it is true.
    pub(crate) fn as_context(&self) -> Arc<ScopeFrame> {
        Arc::new(ScopeFrame {
            ad: self.ad.clone(),
            participant: self.participant,
            port: self.port,
            enclosing: self.enclosing.clone(),
            falls_through: self.enclosing.as_ref().is_none_or(|enclosing| enclosing.falls_through),
        })
    }

    /// Returns the frame of the root ad.  O(n) in the depth of the chain.
    #[must_use]
    pub fn outermost(self: &Arc<Self>) -> &Arc<ScopeFrame> {
        let mut frame = self;
        while let Some(enclosing) = &frame.enclosing {
            frame = enclosing;
        }
        frame
    }
}

impl Drop for ScopeFrame {
    /// Drops the chain iteratively, so that deeply nested ads cannot overflow the call stack.
    fn drop(&mut self) {
        let mut next = self.enclosing.take();
        while let Some(frame) = next {
            next = Arc::into_inner(frame).and_then(|mut frame| frame.enclosing.take());
        }
    }
}
