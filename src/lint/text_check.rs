//! Checks of ads by their texts, without expression trees.

use std::sync::Arc;

use crate::ad::Expression;
use crate::format::AdText;
use crate::pool::{AdTextModels, ModelledAd};

use super::AdChecker;
use super::constants::{self, WatchedConstant};
use super::finding_register::AdFindings;
use super::linked_shape::LinkedShape;

/// An ad that was checked by its text.
pub struct CheckedText {
    /// Length of the text of the ad, in bytes. In the long form, the blank line after the ad counts.
    pub length: usize,
    /// The findings of the ad.
    pub findings: Arc<AdFindings>,
    /// The attribute `Owner` of an ad with findings; `None` if the ad lacks it.
    pub owner: Option<Expression>,
}

impl AdChecker {
    /// Checks the first ad of a text. `None` if the ad must be read and checked by [`AdChecker::check`].
    ///
    /// Only those values are parsed on which findings of the ad may depend, and its owner.
    pub fn check_text(&mut self, text: AdText) -> Option<CheckedText> {
        // Findings about a pool depend on more values than a class knows.
        if self.pool.is_some() {
            return None;
        }
        let dialect = self.context.dialect;
        let mut models = self.models.take().unwrap_or_else(|| AdTextModels::new(dialect, false));
        let found = models.read(text).and_then(|mut of_ad| {
            let shape = Arc::clone(of_ad.model.ad.shape());
            self.with_shape(&shape, |checker, linked| checker.check_model(&mut of_ad, linked))
        });
        self.models = Some(models);
        found
    }

    /// Checks an ad of a shape, as [`AdChecker::check_text`] does.
    fn check_model(&mut self, of_ad: &mut ModelledAd<'_>, linked: &mut LinkedShape) -> Option<CheckedText> {
        linked.link(&of_ad.model.ad, &of_ad.model.expressions, self);
        if !self.class(&of_ad.model.ad, linked).is_predictable() {
            return None;
        }
        let watched = Arc::clone(&linked.watched);
        let is_suspect = |constant: &&WatchedConstant| constant.may_be_suspect(of_ad.kind(constant.position));
        let suspects: Vec<&WatchedConstant> = watched.iter().filter(is_suspect).collect();
        let mut positions: Vec<usize> = suspects.iter().map(|constant| constant.position).collect();
        positions.extend(linked.kinds.iter().chain(&linked.closure.constants));
        let of_policies =
            linked.policy_closure.iter().flat_map(|closure| closure.constants.iter().chain(&linked.submitted));
        positions.extend(of_policies);
        positions.sort_unstable();
        positions.dedup();
        let value = |position: usize| Some((position, of_ad.value(position)?));
        let mut values: Vec<(usize, Expression)> = positions.into_iter().map(value).collect::<Option<_>>()?;
        let ad = &mut of_ad.model.ad;
        ad.exchange(&mut values);
        let whole = self.check_whole(ad, linked);
        let of_policies = self.check_policies(ad, linked);
        let of_constants = constants::check(ad, suspects, &self.context);
        let found = self.all_findings(ad, linked, &[Some(whole), of_policies], of_constants);
        // The model has no constants for the next ad.
        ad.exchange(&mut values);
        let owner = linked.owner.filter(|_| !found.is_empty()).and_then(|position| of_ad.value(position));
        Some(CheckedText { length: of_ad.length, findings: found, owner })
    }
}
