//! A map for few entries that stays fast with many.

use std::collections::HashMap;
use std::hash::Hash;

/// Values by key, in the order in which the keys came.
#[derive(Debug, Clone)]
pub(crate) struct Entries<K, V> {
    pub list: Vec<(K, V)>,
    /// Places in the list, once that is too long to be searched.
    places: HashMap<K, usize>,
}

impl<K, V> Default for Entries<K, V> {
    fn default() -> Self {
        Self {
            list: Vec::new(),
            places: HashMap::new(),
        }
    }
}

const SEARCHED: usize = 8;

impl<K: Clone + Eq + Hash, V: Default> Entries<K, V> {
    pub(crate) fn clear(&mut self) {
        self.list.clear();
        self.places.clear();
    }

    /// The value of a key, a new one if there is none yet.
    pub(crate) fn entry(&mut self, key: K) -> &mut V {
        let known = if self.list.len() <= SEARCHED {
            self.list.iter().position(|(known, _)| *known == key)
        } else {
            if self.places.is_empty() {
                self.places = self
                    .list
                    .iter()
                    .enumerate()
                    .map(|(place, (key, _))| (key.clone(), place))
                    .collect();
            }
            self.places.get(&key).copied()
        };
        let place = known.unwrap_or_else(|| {
            let place = self.list.len();
            if place > SEARCHED {
                self.places.insert(key.clone(), place);
            }
            self.list.push((key, V::default()));
            place
        });
        &mut self.list[place].1
    }
}
