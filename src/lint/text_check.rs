//! Checks of ads by their texts, without expression trees.

use std::sync::Arc;

use crate::ad::{Ad, Expression};
use crate::format::AdText;
use crate::pool::{AdTextMemo, TextClass};

use super::AdChecker;
use super::ad_class::AdClass;
use super::constants::{self, WatchedConstant};
use super::finding_register::AdFindings;

/// A class of ads that are checked by their texts.
pub(super) struct TextAdClass {
    class: AdClass,
    /// An ad of the class whose scalars are all undefined. During a check it has those of the ad that is checked.
    model: Ad,
}

impl AdChecker {
    /// Returns the length of the first ad of a text, and the findings of the ad. In the long form, the blank line after
    /// the ad counts. `None` if the ad must be read and checked by [`AdChecker::check`].
    ///
    /// Only those values are parsed on which findings of the ad may depend.
    pub fn check_text(&mut self, text: AdText) -> Option<(usize, Arc<AdFindings>)> {
        // Findings about a pool depend on more values than a class knows.
        if self.pool.is_some() {
            return None;
        }
        self.forget_if_many();
        // The memo is taken out, so that the rest of the checker can be used with a class of it.
        let mut classes = self.text_classes.take().unwrap_or_else(|| AdTextMemo::new(self.context.dialect));
        let class = classes.class(text, |model| {
            let class = AdClass::new(model, self);
            self.class_entries += class.entries();
            TextAdClass { class, model: model.clone() }
        });
        let found = class.and_then(|mut class| self.check_in_class(&mut class));
        self.text_classes = Some(classes);
        found
    }

    /// Checks an ad of a class, as [`AdChecker::check_text`] does.
    fn check_in_class(&mut self, of_ad: &mut TextClass<'_, TextAdClass>) -> Option<(usize, Arc<AdFindings>)> {
        let watched = Arc::clone(&of_ad.class.class.watched);
        let is_suspect = |constant: &&WatchedConstant| constant.may_be_suspect(of_ad.kind(constant.position));
        let suspects: Vec<&WatchedConstant> = watched.iter().filter(is_suspect).collect();
        let mut positions: Vec<usize> = suspects.iter().map(|constant| constant.position).collect();
        positions.extend(of_ad.class.class.positions()?);
        positions.sort_unstable();
        positions.dedup();
        let value = |position: usize| Some((position, of_ad.value(position)?));
        let mut values: Vec<(usize, Expression)> = positions.into_iter().map(value).collect::<Option<_>>()?;
        let mut ad = std::mem::take(&mut of_ad.class.model);
        ad.exchange(&mut values);
        let class = &mut of_ad.class.class;
        let whole = self.check_whole(&ad, class);
        let of_constants = constants::check(&ad, suspects, &self.context);
        let entries = class.entries();
        let found = class.all_findings(&ad, &whole, of_constants);
        self.class_entries += class.entries() - entries;
        // The scalars are undefined again for the next ad of the class.
        ad.exchange(&mut values);
        of_ad.class.model = ad;
        Some((of_ad.length, found))
    }
}
