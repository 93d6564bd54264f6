//! The offers that remain while a probe applies one clause after another.

use fixedbitset::FixedBitSet;

use crate::ad::{Truth, Value};
use crate::pool::{SparseRows, WORD_BITS, code};

use super::columns::ClassRows;
use super::request::ProbedRequest;
use super::residue::Residue;

/// The offers that no clause has excluded so far. The clauses are applied one by one.
#[derive(Default)]
pub struct RemainingOffers {
    /// All remaining offers; out of date as long as `few` has them.
    all: FixedBitSet,
    /// All remaining offers, ascending, once they are so few that testing each costs less than passes over bitmaps.
    few: Option<Vec<u32>>,
    /// Offers with a clause or a rank that only evaluation of the pair can tell. May include offers that were excluded.
    /// Empty, and without capacity, as long as there are none.
    pub unsure: FixedBitSet,
}

/// Divisor of the number of offers: if fewer remain, they are tested one by one.
const FEW_DIVISOR: usize = 64;

/// Number of words of a bitmap by which the number of remaining offers is estimated.
const SAMPLED_WORDS: usize = 8;

impl RemainingOffers {
    /// Starts with all of these offers.
    pub fn new(all: FixedBitSet, unsure: FixedBitSet) -> Self {
        RemainingOffers { all, few: None, unsure }
    }

    /// Wraps offers that certainly match.
    pub fn all_of(offers: FixedBitSet) -> Self {
        RemainingOffers::new(offers, FixedBitSet::new())
    }

    /// Returns the remaining offers if no clause needs evaluation of a pair; else the offers themselves.
    pub fn into_sure(mut self) -> Result<FixedBitSet, RemainingOffers> {
        self.bitmap();
        if self.all.is_disjoint(&self.unsure) { Ok(self.all) } else { Err(self) }
    }

    /// Whether no offer remains.
    pub fn is_clear(&self) -> bool {
        self.few.as_ref().map_or_else(|| self.all.is_clear(), Vec::is_empty)
    }

    /// Whether the remaining offers are so few that they are tested one by one, by [`RemainingOffers::retain_if`].
    pub fn are_few(&self) -> bool {
        self.few.is_some()
    }

    /// Returns all remaining offers as a bitmap. What is removed from the bitmap no longer remains.
    pub fn bitmap(&mut self) -> &mut FixedBitSet {
        if let Some(few) = self.few.take() {
            self.all.clear();
            self.all.extend(few.into_iter().map(|offer| offer as usize));
        }
        &mut self.all
    }

    /// Returns all remaining offers, and those that are unsure.
    pub fn into_bitmaps(mut self) -> (FixedBitSet, FixedBitSet) {
        self.bitmap();
        (self.all, self.unsure)
    }

    /// Returns the remaining offers if they are few and none of them is unsure.
    pub fn certain_few(&self) -> Option<&[u32]> {
        self.few.as_deref().filter(|_| self.unsure.is_clear())
    }

    /// Excludes the offers that are not in `admitted`.
    pub fn intersect_with(&mut self, admitted: &FixedBitSet) {
        if let Some(few) = &mut self.few {
            few.retain(|offer| admitted.contains(*offer as usize));
        } else {
            self.all.intersect_with(admitted);
            self.list_if_few();
        }
    }

    /// Excludes the offers in `excluded`.
    pub fn difference_with(&mut self, excluded: &FixedBitSet) {
        self.bitmap().difference_with(excluded);
    }

    /// Excludes the offers for which `is_met` is false. Does nothing unless the offers are few.
    pub fn retain_if(&mut self, is_met: impl Fn(u32) -> bool) {
        let Some(few) = &mut self.few else { return };
        let mut kept = 0;
        // Writes every offer and counts those to keep: which ones they are cannot be predicted, so a branch would cost
        // more than the writing.
        for index in 0..few.len() {
            let offer = few[index];
            few[kept] = offer;
            kept += usize::from(is_met(offer));
        }
        few.truncate(kept);
    }

    /// Makes all remaining offers unsure.
    pub fn doubt_all(&mut self) {
        self.bitmap();
        self.unsure.union_with(&self.all);
    }

    /// Lists the remaining offers if they are few.
    fn list_if_few(&mut self) {
        let words = self.all.as_slice();
        let most = self.all.len() / FEW_DIVISOR;
        let step = (words.len() / SAMPLED_WORDS).max(1);
        let sampled: u32 = words.iter().step_by(step).map(|word| word.count_ones()).sum();
        if sampled as usize * step > most {
            return;
        }
        let mut few = Vec::with_capacity(most);
        for (position, word) in words.iter().enumerate() {
            let mut word = *word;
            while word != 0 {
                if few.len() == most {
                    return;
                }
                few.push(code(position * WORD_BITS) + word.trailing_zeros());
                word &= word - 1;
            }
        }
        self.few = Some(few);
    }

    /// Evaluates a residue for the remaining offers, or only for those in `offers` if it is given. Excludes the offers
    /// that do not meet the residue. Marks an offer as unsure if only evaluation of the pair can decide the residue.
    pub fn apply_residue(
        &mut self,
        residue: &mut Residue<bool>,
        request: &mut ProbedRequest<'_, '_>,
        offers: Option<&SparseRows>,
    ) {
        self.bitmap();
        self.unsure.grow(self.all.len());
        let (all, unsure) = (self.all.as_mut_slice(), self.unsure.as_mut_slice());
        // The words of the offers to which the residue applies, with their positions.
        let words: Vec<(usize, usize)> = match offers {
            Some(offers) => {
                offers.words().map(|(at, word)| (at, word & all[at])).filter(|(_, word)| *word != 0).collect()
            }
            None => all.iter().copied().enumerate().filter(|(_, word)| *word != 0).collect(),
        };
        if words.is_empty() {
            return;
        }
        let Some(classes) = residue.offer_classes(request) else {
            return words.iter().for_each(|(at, word)| unsure[*at] |= word);
        };
        let dialect = request.context.dialect;
        let met = |value: &Value| Truth::of(value, dialect).is_true();
        let count: usize = words.iter().map(|(_, word)| word.count_ones() as usize).sum();
        let rows = (classes.partition.first_rows().len() <= count / MIN_OFFERS_PER_CLASS).then(|| classes.rows());
        if let Some(rows) = rows.filter(|rows| rows.word_count <= count) {
            let value = |place| residue.class_value(request, place, met);
            return exclude_classes(rows, &words, [all, unsure], value);
        }
        let mut verdicts: Vec<Option<Option<bool>>> = vec![None; classes.partition.first_rows().len()];
        for (at, word) in words {
            let mut rest = word;
            while rest != 0 {
                let bit = rest & rest.wrapping_neg();
                rest ^= bit;
                let offer = at * WORD_BITS + bit.trailing_zeros() as usize;
                let class = classes.partition.group(offer);
                let verdict = class.and_then(|class| {
                    *verdicts[class].get_or_insert_with(|| residue.class_value(request, (offer, class), met))
                });
                match verdict {
                    Some(true) => {}
                    Some(false) => all[at] &= !bit,
                    None => unsure[at] |= bit,
                }
            }
        }
    }
}

/// Excludes the offers of the classes that do not meet a residue, a word of offers at a time. `words` are the offers that
/// count. `met` takes an offer and its class. `None` makes the offers of the class unsure.
fn exclude_classes(
    rows: &ClassRows,
    words: &[(usize, usize)],
    [all, unsure]: [&mut [usize]; 2],
    mut met: impl FnMut((usize, usize)) -> Option<bool>,
) {
    let mut concerned = vec![0; all.len()];
    for (at, word) in words {
        concerned[*at] = *word;
    }
    for (class, rows) in rows.of_class.iter().enumerate() {
        let mut common = rows.words().map(|(at, word)| (at, word & concerned[at]));
        let Some((at, word)) = common.find(|(_, word)| *word != 0) else { continue };
        match met((at * WORD_BITS + word.trailing_zeros() as usize, class)) {
            Some(true) => {}
            Some(false) => rows.words().for_each(|(at, word)| all[at] &= !(word & concerned[at])),
            None => rows.words().for_each(|(at, word)| unsure[at] |= word & concerned[at]),
        }
    }
    rows.without_class.words().for_each(|(at, word)| unsure[at] |= word & concerned[at]);
}

/// Minimum number of offers per class, on average, for which the offers of a class are excluded at once.
const MIN_OFFERS_PER_CLASS: usize = 4;

#[cfg(test)]
mod tests {
    use fixedbitset::FixedBitSet;

    use super::RemainingOffers;

    fn set(capacity: usize, offers: impl IntoIterator<Item = usize>) -> FixedBitSet {
        let mut set = FixedBitSet::with_capacity(capacity);
        set.extend(offers);
        set
    }

    /// Of 1280 offers, 20 are few; the words of each second are looked at first.
    #[test]
    fn few_offers_are_listed() {
        let capacity = 1280;
        for (kept, are_few) in [
            ((0..20).map(|at| at * 64).collect::<Vec<usize>>(), true),
            ((0..20).map(|at| at * 64 + 63).collect(), true),
            ((0..20).collect(), false),
            ((0..10).collect(), true),
            ((0..11).collect(), false),
            ((64..84).collect(), true),
            ((64..85).collect(), false),
            ((1..21).map(|at| at * 61).collect(), true),
            (vec![1279], true),
            (vec![], true),
            ((0..1280).collect(), false),
        ] {
            let mut left = RemainingOffers::all_of(set(capacity, 0..capacity));
            assert!(!left.are_few() && left.certain_few().is_none());
            left.intersect_with(&set(capacity, kept.iter().copied()));
            assert_eq!(left.are_few(), are_few, "{kept:?}");
            assert_eq!(left.is_clear(), kept.is_empty(), "{kept:?}");
            if are_few {
                let listed: Vec<usize> =
                    left.certain_few().unwrap_or_default().iter().map(|offer| *offer as usize).collect();
                assert_eq!(listed, kept);
            }
            assert_eq!(left.bitmap().ones().collect::<Vec<_>>(), kept);
            assert!(!left.are_few());
        }
    }

    /// Without a whole few, nothing is few but nothing.
    #[test]
    fn few_depends_on_the_number_of_offers() {
        for (capacity, kept, are_few) in [
            (63, 0, true),
            (63, 1, false),
            (64, 1, true),
            (64, 2, false),
            (127, 2, false),
            (128, 2, true),
            (128, 3, false),
        ] {
            let mut left = RemainingOffers::all_of(set(capacity, 0..capacity));
            left.intersect_with(&set(capacity, (0..kept).map(|at| at * 40)));
            assert_eq!(left.are_few(), are_few, "{kept} of {capacity}");
        }
    }

    #[test]
    fn few_offers_are_tested_one_by_one() {
        let few = || {
            let mut left = RemainingOffers::all_of(set(640, 0..640));
            left.intersect_with(&set(640, [3, 70, 200, 639]));
            left
        };
        let mut left = few();
        left.retain_if(|offer| offer != 70 && offer != 639);
        assert_eq!(left.certain_few(), Some(&[3, 200][..]));
        left.intersect_with(&set(640, [200, 201]));
        assert_eq!((left.certain_few(), left.is_clear()), (Some(&[200][..]), false));
        left.retain_if(|_| false);
        assert!(left.is_clear() && left.are_few());
        let mut left = few();
        left.difference_with(&set(640, [3, 4]));
        assert_eq!(left.bitmap().ones().collect::<Vec<_>>(), [70, 200, 639]);
        // Where they are many, nothing is tested.
        let mut many = RemainingOffers::all_of(set(640, 0..640));
        many.retain_if(|_| false);
        assert!(!many.is_clear());
    }

    #[test]
    fn offers_in_doubt_are_not_sure() {
        let mut left = RemainingOffers::new(set(640, 0..640), set(640, [9]));
        left.intersect_with(&set(640, [3, 70]));
        assert_eq!((left.are_few(), left.certain_few()), (true, None));
        assert_eq!(left.into_sure().ok().map(|sure| sure.ones().collect()), Some(vec![3, 70]));
        let mut left = RemainingOffers::new(set(640, 0..640), set(640, [70]));
        left.intersect_with(&set(640, [3, 70]));
        let Err(left) = left.into_sure() else { panic!("70 is in doubt") };
        let (all, unsure) = left.into_bitmaps();
        assert_eq!([all, unsure].map(|of| of.ones().collect::<Vec<_>>()), [vec![3, 70], vec![70]]);
        let mut left = RemainingOffers::all_of(set(640, 0..640));
        left.intersect_with(&set(640, [3, 70]));
        left.doubt_all();
        assert_eq!(left.unsure.ones().collect::<Vec<_>>(), [3, 70]);
        assert!(left.into_sure().is_err());
    }
}
