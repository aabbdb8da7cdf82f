//! Sums of usage. Their items are sorted by first use, whatever the order of addition.

use crate::json::JsonError;
use crate::model::{ItemKey, OrderedMap, Usage};

#[derive(Debug, Clone, Default)]
pub(crate) struct UsageSum {
    usage: Usage,
    first_use: OrderedMap<ItemKey, u64>,
}

impl UsageSum {
    /// Adds a `UsageStats` object. A missing value or a value of another type counts as zero.
    pub(crate) fn add_json(&mut self, text: &str) -> Result<(), JsonError> {
        self.usage.add(&Usage::read_loosely(text)?);
        Ok(())
    }

    pub(crate) fn set_order(&mut self, order: u64) {
        let keys = self.usage.items.iter();
        self.first_use = keys.map(|(key, _)| (key.clone(), order)).collect();
    }

    pub(crate) fn add(&mut self, below: &Self) {
        self.usage.add(&below.usage);
        for (key, order) in below.first_use.iter() {
            match self.first_use.get_mut(key) {
                Some(first) => *first = *order.min(first),
                None => self.first_use.insert(key.clone(), *order),
            }
        }
    }

    pub(crate) fn to_usage(&self) -> Usage {
        let mut usage = self.usage.clone();
        let order = |key: &ItemKey| self.first_use.get(key);
        if !usage.items.iter().is_sorted_by_key(|(key, _)| order(key)) {
            let mut items: Vec<_> = self.usage.items.iter().collect();
            items.sort_by_key(|(key, _)| order(key));
            let items = items.into_iter();
            usage.items = items
                .map(|(key, item)| (key.clone(), item.clone()))
                .collect();
        }
        usage
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/restore/read/usage_sum.rs"]
mod tests;
