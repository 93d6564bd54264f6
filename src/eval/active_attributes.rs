//! Attributes and list elements that are being evaluated, by which circular references are found (thesis 2.4.7).

use crate::ad::{Participant, ScopeFrame};

/// Attributes and list elements that are being evaluated; meeting one of them again is a circular reference.
#[derive(Default)]
pub(super) struct ActiveAttributes {
    /// In the order in which their evaluations began.
    stack: Vec<ActiveAttribute>,
    /// Number of circular references met so far.
    pub(super) circular_references: u64,
}

/// Attribute or list element that is being evaluated: the identity of its expression, the identity of its ad, and the
/// ad's participant.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ActiveAttribute {
    expression: usize,
    ad: usize,
    participant: Participant,
}

impl ActiveAttribute {
    fn new(expression: usize, frame: &ScopeFrame) -> Self {
        ActiveAttribute { expression, ad: frame.ad.identity(), participant: frame.participant }
    }
}

impl ActiveAttributes {
    /// Marks an expression, given by its identity, as being evaluated until [`ActiveAttributes::end`]. Returns false if
    /// it is marked already, which means a circular reference.
    pub(super) fn begin(&mut self, expression: usize, frame: &ScopeFrame) -> bool {
        let active = ActiveAttribute::new(expression, frame);
        let again = self.stack.contains(&active);
        self.mark_unless(again, active)
    }

    /// Marks an element of a list as [`ActiveAttributes::begin`] does. Returns false if it is marked twice.
    pub(super) fn begin_element(&mut self, element: usize, frame: &ScopeFrame) -> bool {
        // The second time around, an attribute in the circle is found to be active. The third time there is none.
        const MAX_ACTIVE: usize = 2;
        let active = ActiveAttribute::new(element, frame);
        let again = self.stack.iter().filter(|other| **other == active).count() == MAX_ACTIVE;
        self.mark_unless(again, active)
    }

    fn mark_unless(&mut self, is_circular: bool, active: ActiveAttribute) -> bool {
        if is_circular {
            self.circular_references += 1;
        } else {
            self.stack.push(active);
        }
        !is_circular
    }

    /// Unmarks the expression that was marked last.
    pub(super) fn end(&mut self) {
        self.stack.pop();
    }
}
