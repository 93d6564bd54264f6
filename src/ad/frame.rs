//! The scope chain: the ads that enclose an expression.

use std::sync::Arc;

use super::Ad;

/// Index of a root ad among the root ads of one evaluation.  Index 0 is the request, `self` or the only ad; the offers
/// follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Participant(u32);

impl Participant {
    /// The first root ad: the request of a match or gang, `self`, or the only ad.
    pub const REQUEST: Participant = Participant(0);
    /// The second root ad: the other ad of a match.
    pub const PARTNER: Participant = Participant(1);
    /// Stands for an ad that is not a root ad of the evaluation, such as the ad of `ScopeFrame::outside_ads`.
    pub const NONE: Participant = Participant(u32::MAX);

    /// Returns the participant with a 0-based index; [`Participant::NONE`] if the index exceeds 32 bits.
    #[must_use]
    pub fn at(position: usize) -> Self {
        u32::try_from(position).map_or(Participant::NONE, Participant)
    }

    /// Returns the participant that is the offer with a 0-based index among the offers.  The offers follow the request.
    #[must_use]
    pub fn of_offer(offer: usize) -> Self {
        Participant::at(offer + 1)
    }

    /// Returns the 0-based index of this participant; the request has index 0.
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
    /// Index of the root ad of this chain.
    pub participant: Participant,
    /// 0-based index, in the root ad's port list, of the port that the ad belongs to; `None` if the ad belongs to no
    /// port.  The index decides which labels of ports are visible in the ad.
    pub port: Option<u32>,
    /// Whether names that are missing from this chain are looked up in the other ad of the match.  The papers' dialect
    /// ignores the flag.  True for a root ad, false in the frames that [`ScopeFrame::enter`] and [`ScopeFrame::dock`]
    /// create.
    pub falls_through: bool,
}

impl ScopeFrame {
    /// Creates the frame of a root ad, which no frame encloses.
    #[must_use]
    pub fn root(ad: Ad, participant: Participant) -> Arc<ScopeFrame> {
        Arc::new(ScopeFrame { ad, enclosing: None, participant, port: None, falls_through: true })
    }

    /// Creates the scope of an expression outside any ad: the frame of an empty root ad with the index
    /// [`Participant::NONE`].
    pub(crate) fn outside_ads() -> Arc<ScopeFrame> {
        ScopeFrame::root(Ad::default(), Participant::NONE)
    }

    /// Whether this is the scope of an expression outside any ad.
    pub(crate) fn is_outside_ads(&self) -> bool {
        self.participant == Participant::NONE && self.enclosing.is_none() && self.ad.is_empty()
    }

    /// Creates the frame of `ad`, which is nested in the ad of this frame and belongs to the same port.
    #[must_use]
    pub fn enter(self: &Arc<Self>, ad: Ad) -> Arc<ScopeFrame> {
        self.dock(ad, self.port)
    }

    /// Creates the frame of `record`, which is nested in the ad of this frame and describes a port or a group of ports.
    /// `position` is the 0-based index of the port in the root ad's port list, `None` outside ports.
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

    /// Returns a copy of this frame for evaluating an expression that is not written in the frame's ad, such as the
    /// first argument of `evalInEachContext`.  The copy takes `falls_through` from the enclosing frame; the frame of a
    /// root ad has `true`.  Without an enclosing frame, the copy has `true`.
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
