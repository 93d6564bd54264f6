//! The names of ads in sentences.

use crate::ad::ByteString;

/// An ad that a sentence names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdReference {
    /// A request, given by its index.
    Request(usize),
    /// An offer as advertised, or a residual of the offer.
    Offer {
        /// Index of the offer.
        offer: usize,
        /// 1 for the offer as advertised, 2 for its first residual, 3 for its second residual, and so on.
        part: usize,
    },
}

/// Gives ads their names in sentences. Closures from [`AdReference`] to `String` implement it.
pub trait AdNames {
    /// Returns the name of an ad.
    fn ad_name(&self, ad: AdReference) -> String;

    /// Returns the name of an offer as advertised, given by its index.
    fn offer_name(&self, offer: usize) -> String {
        self.ad_name(AdReference::Offer { offer, part: 1 })
    }

    /// Returns the state of an offer in words, with `user` as the one who asks; `None` if it is no slot that tells it.
    fn slot_state(&self, _offer: usize, _user: Option<&ByteString>) -> Option<String> {
        None
    }
}

impl<F: Fn(AdReference) -> String> AdNames for F {
    fn ad_name(&self, ad: AdReference) -> String {
        self(ad)
    }
}
