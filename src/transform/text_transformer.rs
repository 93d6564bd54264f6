//! Transformation of ads attribute by attribute. Only the values that the rules need are read.
//!
//! Bench row `transform --set A=1 machines.long`: 1.23 times as many instructions without the results of ads that are
//! alike.

use std::sync::Arc;

use crate::ad::{AdShape, Bounded, ByIdentity};
use crate::eval::Context;
use crate::format::{AdBatch, AdText, AdTextPlan, FileFormat, LazyAd, LazyAdReader};

use super::MAX_MADE_BYTES;
use super::interpreter::{Transform, TransformCache};

/// Applies rules to ads and writes the resulting ads. It copies the texts of values that do not change.
pub struct TextTransformer<'t> {
    transform: &'t Transform,
    context: Context,
    form: Option<FileFormat>,
    finds_changes: bool,
    cache: TransformCache,
    reader: LazyAdReader,
    /// The results for shapes whose ads all become the same but for the copied texts.
    alike: Bounded<ByIdentity<Arc<AdShape>, TextResults>>,
}

/// The texts of the ads that the rules make of one ad.
struct TextResults {
    plans: Vec<AdTextPlan>,
    is_changed: bool,
}

impl<'t> TextTransformer<'t> {
    /// Creates a transformer that writes the resulting ads in a form. Without a form, it writes nothing.
    /// `finds_changes` tells whether [`TextTransformer::push_ads`] must find out exactly whether an ad changes.
    #[must_use]
    pub fn new(
        transform: &'t Transform,
        context: &Context,
        form: Option<FileFormat>,
        finds_changes: bool,
    ) -> TextTransformer<'t> {
        TextTransformer {
            transform,
            context: context.clone(),
            form,
            finds_changes,
            cache: TransformCache::default(),
            reader: LazyAdReader::new(context.dialect, form),
            alike: Bounded::default(),
        }
    }

    /// Applies the rules to the first ad of a text and appends the resulting ads to a batch. Returns the length of the
    /// ad, with the blank line behind it in the long form, and whether the ad changes.
    ///
    /// `None` if the ad must be read whole: it cannot be read attribute by attribute, a rule fails, the form cannot
    /// represent a value, or the text becomes very long. Then nothing is appended.
    pub fn push_ads(&mut self, text: AdText, batch: &mut AdBatch) -> Option<(usize, bool)> {
        let (ad, length) = self.reader.read(text)?;
        let shape = ad.ad.shape();
        if let Some(results) = self.alike.get(shape) {
            results.push(&ad, self.form, batch)?;
            return Some((length, results.is_changed));
        }
        let made = self.transform.apply_to_unread(&ad, &self.context, &mut self.cache, self.finds_changes);
        if made.iter().any(|result| !result.faults.is_empty()) {
            return None;
        }
        let is_changed = made.len() > 1 || made.iter().any(|result| !result.changes.is_empty());
        let plans = made.iter().map(|result| ad.plan_text(&result.ad)).collect::<Option<_>>()?;
        let results = TextResults { plans, is_changed };
        results.push(&ad, self.form, batch)?;
        if !ad.depends_on_values() {
            self.alike.make_room(shape.names().len() * size_of::<AdTextPlan>());
            self.alike.insert(Arc::clone(shape), results);
        }
        Some((length, is_changed))
    }
}

impl TextResults {
    fn push(&self, ad: &LazyAd<'_>, form: Option<FileFormat>, batch: &mut AdBatch) -> Option<()> {
        let bytes: usize = self.plans.iter().map(|plan| ad.text_length(plan)).max().unwrap_or(0);
        if bytes > MAX_MADE_BYTES {
            return None;
        }
        for plan in &self.plans {
            batch.push(form, |out| {
                ad.push_text(plan, out);
                Some(())
            });
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::TextTransformer;
    use crate::ad::Dialect;
    use crate::eval::Context;
    use crate::format::testing::attribute_block;
    use crate::format::{AdBatch, AdBatchWriter, AdText, BlockAds, BlockItem, FileFormat, ReadCache, StreamBlock};
    use crate::transform::{Transform, parse_rules};

    /// The texts of the resulting ads, what was reported, and whether an ad changed.
    #[derive(Debug, Default, PartialEq)]
    struct Transformed {
        text: String,
        reports: Vec<String>,
        is_changed: bool,
    }

    /// Transforms the ads of a block, with trees where `lines` is `None` or does not take an ad. Returns the number of
    /// ads that `lines` took, too.
    fn transformed(
        block: &StreamBlock,
        transform: &Transform,
        form: FileFormat,
        mut lines: Option<&mut TextTransformer<'_>>,
    ) -> (Transformed, usize) {
        let (mut result, mut batch, mut taken) = (Transformed::default(), AdBatch::default(), 0);
        let (mut cache, mut writer) = (ReadCache::new(Dialect::Condor), AdBatchWriter::new(form));
        let mut ads = BlockAds::new(block, &mut cache);
        loop {
            let take = |text: AdText| {
                let (length, is_changed) = lines.as_mut()?.push_ads(text, &mut batch)?;
                result.is_changed |= is_changed;
                Some(length)
            };
            match ads.next(take) {
                None => break,
                Some(BlockItem::Taken(number)) => {
                    taken += 1;
                    result.reports.push(number.to_string());
                }
                Some(BlockItem::Read(Ok(entry))) => {
                    let made = transform.apply(&entry.ad, &Context::new(Dialect::Condor));
                    result.is_changed |= made.len() > 1;
                    result.reports.push(entry.number.to_string());
                    for ad in made {
                        result.is_changed |= !ad.changes.is_empty();
                        let lossy = writer.push(&mut batch, &ad.ad, |_| true);
                        result.reports.extend(lossy.iter().map(|change| format!("{change:?}")));
                        result.reports.extend(ad.faults.iter().map(|fault| fault.message.clone()));
                    }
                }
                Some(BlockItem::Read(Err(problem))) => result.reports.push(problem.message),
            }
        }
        result.text = String::from_utf8_lossy(batch.text()).into_owned();
        (result, taken)
    }

    fn block(text: &str) -> StreamBlock {
        StreamBlock::from_complete_text(text, FileFormat::Long)
    }

    fn transform(rules: &str) -> Transform {
        let (rules, problems) = parse_rules(rules.as_bytes(), Dialect::Condor);
        assert!(problems.iter().all(|problem| problem.severity != crate::format::Severity::Error), "{problems:?}");
        Transform { rules, ..Transform::default() }
    }

    const FORMS: [FileFormat; 5] =
        [FileFormat::Long, FileFormat::Bracketed, FileFormat::Json, FileFormat::JsonLines, FileFormat::Xml];

    #[test]
    fn values_of_each_ad_are_copied() {
        let text = "a = 1\nb = \"x\"\n\na = 2\nb = \"y\"\n\na = 3\nb = \"z\"\n\n";
        for (rules, expected) in [
            ("SET c 1", "a = 1\nb = \"x\"\nc = 1\n\na = 2\nb = \"y\"\nc = 1\n\na = 3\nb = \"z\"\nc = 1\n\n"),
            ("DELETE a\nRENAME b d", "d = \"x\"\n\nd = \"y\"\n\nd = \"z\"\n\n"),
            ("EVALSET b a + 1", "a = 1\nb = 2\n\na = 2\nb = 3\n\na = 3\nb = 4\n\n"),
            (
                "REQUIREMENTS a == 2\nCOPY b c",
                "a = 1\nb = \"x\"\n\na = 2\nb = \"y\"\nc = \"y\"\n\na = 3\nb = \"z\"\n\n",
            ),
            ("SET c \"$(MY.a)\"\nDELETE /^[ab]$/", "c = \"1\"\n\nc = \"2\"\n\nc = \"3\"\n\n"),
            ("DELETE a\nDELETE b", "\n\n\n"),
        ] {
            let (transform, context) = (transform(rules), Context::new(Dialect::Condor));
            let mut lines = TextTransformer::new(&transform, &context, Some(FileFormat::Long), true);
            let (done, taken) = transformed(&block(text), &transform, FileFormat::Long, Some(&mut lines));
            assert_eq!((done.text.as_str(), done.is_changed, taken), (expected, true, 3), "{rules}");
        }
    }

    #[test]
    fn each_ad_draws_its_own_random_number() {
        let (text, context) = ("a = 1\n\n".repeat(9), Context::new(Dialect::Condor));
        let transform = transform("EVALMACRO x 1\nSET r $RANDOM_INTEGER(1,1000000000)");
        let mut lines = TextTransformer::new(&transform, &context, Some(FileFormat::Long), true);
        let (done, taken) = transformed(&block(&text), &transform, FileFormat::Long, Some(&mut lines));
        let drawn: std::collections::BTreeSet<&str> = done.text.lines().filter(|line| line.starts_with('r')).collect();
        assert!(taken == 9 && drawn.len() > 5, "{}", done.text);
    }

    #[test]
    fn an_ad_with_a_fault_or_a_long_result_is_not_taken() {
        let long = format!("b = \"{}\"\n\n", "x".repeat(1 << 20));
        for (rules, text, expected) in [
            ("SET c 1", "b = 1\n\nb = 2\n\n", 2),
            ("SET c $INT(MY.b)", "b = 1\n\nb = x\n\nb = 2\n\n", 2),
            ("COPY b c\nCOPY b d", &*long, 1),
            ("COPY /b/ c\nCOPY b d\nCOPY b e\nCOPY b f\nCOPY b g\nCOPY b h\nCOPY b i", &long, 0),
        ] {
            let (transform, context) = (transform(rules), Context::new(Dialect::Condor));
            let mut lines = TextTransformer::new(&transform, &context, Some(FileFormat::Long), true);
            let (done, taken) = transformed(&block(text), &transform, FileFormat::Long, Some(&mut lines));
            assert_eq!((taken, done.is_changed), (expected, true), "{rules}");
        }
    }

    proptest! {
        #[test]
        fn the_results_are_those_of_the_trees(
            blocks in prop::collection::vec(
                attribute_block(&[
                    "1", "2.50", "\"x\"", "\"x\\ty\"", "\"\u{e9}\"", "TRUE", "a + 1", "b", "{ 1, a }", "[ x = 1 ]",
                    "eval(\"a\")", "1 +", "undefined", "\"\u{1}\"", "",
                ]),
                1..3,
            ),
            rules in prop::collection::vec(prop::sample::select(vec![
                "SET a 1", "SET n b + 1", "SET b \"x\"", "EVALSET e a + b", "EVALSET a eval(\"b\")", "DELETE a",
                "COPY a b", "COPY b z", "RENAME a b", "RENAME e f", "DELETE /^[ae]$/", "COPY /^(.)$/ Old_\\1",
                "DEFAULT e 1", "DEFAULT a 1", "SET m \"$(MY.a)\"", "if defined MY.b\nSET x 1\nelse\nDELETE e\nendif",
                "REQUIREMENTS a == 1", "EVALMACRO v size(\"x\")\nSET v \"$(v)\"", "EVALSET w size(MY)",
                "SET s \"\\x01\"", "if $(MY.e) > 1\nSET y a\nendif", "TRANSFORM 2\n",
            ]), 0..4),
        ) {
            // A TRANSFORM line ends a rule.
            let mut has_requirements = false;
            let rules: Vec<&str> = rules
                .into_iter()
                .filter(|line| !line.starts_with("REQ") || !std::mem::replace(&mut has_requirements, true))
                .collect();
            let rules = match rules.iter().position(|line| line.starts_with("TRANSFORM")) {
                Some(at) => rules[..=at].join("\n"),
                None => rules.join("\n"),
            };
            let (transform, context) = (transform(&rules), Context::new(Dialect::Condor));
            for form in FORMS {
                for finds_changes in [false, true] {
                    let mut lines = TextTransformer::new(&transform, &context, Some(form), finds_changes);
                    for block in &blocks {
                        let (mut by_lines, _) = transformed(block, &transform, form, Some(&mut lines));
                        let (by_trees, _) = transformed(block, &transform, form, None);
                        if !finds_changes && by_lines.is_changed {
                            by_lines.is_changed = by_trees.is_changed;
                        }
                        prop_assert_eq!(by_lines, by_trees, "{:?} {}", form, &rules);
                    }
                }
            }
        }
    }
}
