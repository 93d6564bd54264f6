//! Cache of the offers that meet a condition, because requests repeat conditions such as `TARGET.OpSys == "LINUX"`.

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use crate::ad::{BinaryOperator, Name, Value};
use crate::pool::ValueKey;

/// Maximum memory for the cached bitmaps, in bytes. Further selections are not cached.
const MAX_BITMAP_BYTES: usize = 4 << 20;

/// A condition on one attribute of the offers.
#[derive(PartialEq, Eq, Hash)]
pub struct ColumnCondition {
    name: Name,
    /// The operator and the value with which the attribute is compared; `None` if the attribute itself must be true.
    comparison: Option<(BinaryOperator, ValueKey)>,
}

impl ColumnCondition {
    /// The condition that the attribute is true.
    pub fn truth(name: &Name) -> Self {
        ColumnCondition { name: name.clone(), comparison: None }
    }

    /// The condition `name operator value`. `None` for a list or an ad, whose key would be an address that another value
    /// may have later.
    pub fn comparison(name: &Name, operator: BinaryOperator, value: &Value) -> Option<Self> {
        let key = Some(ValueKey::of(value)).filter(|key| !matches!(key, ValueKey::Structure(_)))?;
        Some(ColumnCondition { name: name.clone(), comparison: Some((operator, key)) })
    }
}

/// Bitmaps of offers by condition. Its memory is bounded.
#[derive(Default)]
pub struct ConditionCache {
    bitmaps: FxHashMap<ColumnCondition, FixedBitSet>,
    bytes: usize,
}

impl ConditionCache {
    /// Returns the offers that meet a condition; `None` if they are not cached.
    pub fn get(&self, condition: &ColumnCondition) -> Option<&FixedBitSet> {
        self.bitmaps.get(condition)
    }

    /// Adds the offers that meet a condition, unless the cache is full.
    pub fn insert(&mut self, condition: ColumnCondition, offers: &FixedBitSet) {
        self.bytes += size_of_val(offers.as_slice());
        if self.bytes <= MAX_BITMAP_BYTES {
            self.bitmaps.insert(condition, offers.clone());
        }
    }
}
