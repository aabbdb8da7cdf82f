//! A persistent map that keeps the order of insertion.

use std::hash::Hash;

use rpds::{HashTrieMapSync, VectorSync};

/// Cloning is O(1) and shares all entries. A change copies only the path to the changed entry.
#[derive(Debug, Clone)]
pub struct OrderedMap<K: Eq + Hash + Clone, V: Clone> {
    entries: VectorSync<(K, V)>,
    positions: HashTrieMapSync<K, usize>,
}

impl<K: Eq + Hash + Clone, V: Clone> Default for OrderedMap<K, V> {
    fn default() -> Self {
        Self {
            entries: VectorSync::new_sync(),
            positions: HashTrieMapSync::new_sync(),
        }
    }
}

impl<K: Eq + Hash + Clone, V: Clone> OrderedMap<K, V> {
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    #[must_use]
    pub fn get(&self, key: &K) -> Option<&V> {
        let position = *self.positions.get(key)?;
        self.entries.get(position).map(|(_, value)| value)
    }

    /// Sets a key. An existing key keeps its position.
    pub fn insert(&mut self, key: K, value: V) {
        if let Some(position) = self.positions.get(&key).copied() {
            self.entries.set_mut(position, (key, value));
        } else {
            self.positions.insert_mut(key.clone(), self.entries.len());
            self.entries.push_back_mut((key, value));
        }
    }

    /// In order of insertion.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.entries.iter().map(|(key, value)| (key, value))
    }
}

impl<K: Eq + Hash + Clone, V: Clone> FromIterator<(K, V)> for OrderedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(items: I) -> Self {
        let mut map = Self::default();
        for (key, value) in items {
            map.insert(key, value);
        }
        map
    }
}
