//! A persistent map that keeps the order of insertion.

use std::hash::Hash;
use std::sync::Arc;

use rpds::{HashTrieMapSync, VectorSync};

/// Most maps have few entries. A list of this length is faster to search and to copy than a tree.
const MAX_FEW: usize = 8;

type More<K, V> = (VectorSync<(K, V)>, HashTrieMapSync<K, usize>);

/// Cloning is O(1) and shares all entries. A change copies the first entries, or only the path to a later one.
#[derive(Debug, Clone)]
pub struct OrderedMap<K: Eq + Hash + Clone, V: Clone> {
    few: Option<Arc<Vec<(K, V)>>>,
    /// The entries after the first [`MAX_FEW`], and their positions.
    more: Option<More<K, V>>,
}

impl<K: Eq + Hash + Clone, V: Clone> Default for OrderedMap<K, V> {
    fn default() -> Self {
        Self {
            few: None,
            more: None,
        }
    }
}

impl<K: Eq + Hash + Clone, V: Clone> OrderedMap<K, V> {
    fn few(&self) -> &[(K, V)] {
        self.few.as_ref().map_or(&[], |few| few.as_slice())
    }

    pub fn len(&self) -> usize {
        self.few().len() + self.more.as_ref().map_or(0, |(more, _)| more.len())
    }

    pub fn is_empty(&self) -> bool {
        self.few.is_none()
    }

    pub fn get(&self, key: &K) -> Option<&V> {
        if let Some((_, value)) = self.few().iter().find(|(known, _)| known == key) {
            return Some(value);
        }
        let (more, positions) = self.more.as_ref()?;
        more.get(*positions.get(key)?).map(|(_, value)| value)
    }

    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        if let Some(at) = self.few().iter().position(|(known, _)| known == key) {
            let few = Arc::make_mut(self.few.as_mut()?);
            return few.get_mut(at).map(|(_, value)| value);
        }
        let (more, positions) = self.more.as_mut()?;
        more.get_mut(*positions.get(key)?).map(|(_, value)| value)
    }

    /// Sets a key. An existing key keeps its position.
    pub fn insert(&mut self, key: K, value: V) {
        if let Some(known) = self.get_mut(&key) {
            *known = value;
        } else if self.few().len() < MAX_FEW {
            Arc::make_mut(self.few.get_or_insert_default()).push((key, value));
        } else {
            let empty = || (VectorSync::new_sync(), HashTrieMapSync::new_sync());
            let (more, positions) = self.more.get_or_insert_with(empty);
            positions.insert_mut(key.clone(), more.len());
            more.push_back_mut((key, value));
        }
    }

    /// In order of insertion.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        let more = self.more.iter().flat_map(|(more, _)| more.iter());
        let all = self.few().iter().chain(more);
        all.map(|(key, value)| (key, value))
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
