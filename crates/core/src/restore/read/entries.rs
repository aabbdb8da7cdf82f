//! A map that is optimized for few entries and stays fast with many.

use std::collections::HashMap;
use std::hash::Hash;

/// Values by key, in the order of insertion.
#[derive(Debug, Clone)]
pub(crate) struct Entries<K, V> {
    pub list: Vec<(K, V)>,
    /// Positions in the list, once it is too long for a linear search.
    positions: HashMap<K, usize>,
}

impl<K, V> Default for Entries<K, V> {
    fn default() -> Self {
        Self {
            list: Vec::new(),
            positions: HashMap::new(),
        }
    }
}

/// Up to this length, the list is searched.
const MAX_SEARCHED: usize = 8;

impl<K: Clone + Eq + Hash, V: Default> Entries<K, V> {
    pub(crate) fn clear(&mut self) {
        self.list.clear();
        self.positions.clear();
    }

    /// The value of a key. Inserts a default value for a new key.
    pub(crate) fn entry(&mut self, key: K) -> &mut V {
        let known = if self.list.len() <= MAX_SEARCHED {
            self.list.iter().position(|(known, _)| *known == key)
        } else {
            if self.positions.is_empty() {
                self.positions = self
                    .list
                    .iter()
                    .enumerate()
                    .map(|(position, (key, _))| (key.clone(), position))
                    .collect();
            }
            self.positions.get(&key).copied()
        };
        let position = known.unwrap_or_else(|| {
            let position = self.list.len();
            if position > MAX_SEARCHED {
                self.positions.insert(key.clone(), position);
            }
            self.list.push((key, V::default()));
            position
        });
        &mut self.list[position].1
    }
}
