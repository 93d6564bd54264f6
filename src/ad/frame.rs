//! The scope chain: the ads that enclose an expression.

use std::sync::Arc;

use super::Ad;

/// 0-based number of a root ad among those that take part in one evaluation: 0 for a single ad or `self`, 1 for
/// the other side of a match, further ones for the ads of a gang.
pub type Participant = u32;

/// A link of the scope chain, innermost first (thesis 2.3: a classad value indicates its parent scope).
#[derive(Debug)]
pub struct ScopeFrame {
    /// The ad of this link.
    pub ad: Ad,
    /// The enclosing link; `None` for a root ad.
    pub enclosing: Option<Arc<ScopeFrame>>,
    /// Number of the root ad of this chain.
    pub participant: Participant,
    /// 0-based index in the root's port list, if this ad is one of its ports; labels of earlier ports are visible.
    pub port: Option<u32>,
    /// Whether HTCondor's lookup continues from here in the other ad of a match: true for a root, false for an ad
    /// nested in it.
    pub falls_through: bool,
}

impl ScopeFrame {
    /// Creates the link of a root ad.
    #[must_use]
    pub fn root(ad: Ad, participant: Participant) -> Arc<ScopeFrame> {
        Arc::new(ScopeFrame { ad, enclosing: None, participant, port: None, falls_through: true })
    }

    /// Creates the scope of an expression outside any ad: an empty root with the number `Participant::MAX`.
    #[must_use]
    pub fn outside_ads() -> Arc<ScopeFrame> {
        ScopeFrame::root(Ad::default(), Participant::MAX)
    }

    /// Whether this is the scope of an expression outside any ad.
    #[must_use]
    pub fn is_outside_ads(&self) -> bool {
        self.participant == Participant::MAX && self.enclosing.is_none() && self.ad.is_empty()
    }

    /// Creates the link of an ad nested in `self`.
    #[must_use]
    pub fn enter(self: &Arc<Self>, ad: Ad) -> Arc<ScopeFrame> {
        Arc::new(ScopeFrame {
            ad,
            participant: self.participant,
            port: self.port,
            enclosing: Some(Arc::clone(self)),
            falls_through: false,
        })
    }

    /// Creates the link of a port of this ad; `position` is its 0-based index in the port list.
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

    /// Returns a copy of this link for a separate evaluation in its ad; it inherits `falls_through` from the
    /// enclosing link.
    #[must_use]
    pub fn as_context(&self) -> Arc<ScopeFrame> {
        Arc::new(ScopeFrame {
            ad: self.ad.clone(),
            participant: self.participant,
            port: self.port,
            enclosing: self.enclosing.clone(),
            falls_through: self.enclosing.as_ref().is_none_or(|enclosing| enclosing.falls_through),
        })
    }

    /// Returns the root link.  O(n) in the depth of the chain.
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
    /// Drops the chain iteratively, so that a deep nest cannot overflow the call stack.
    fn drop(&mut self) {
        let mut next = self.enclosing.take();
        while let Some(frame) = next {
            next = Arc::into_inner(frame).and_then(|mut frame| frame.enclosing.take());
        }
    }
}
