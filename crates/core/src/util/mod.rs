//! Helpers that are independent of runs: id hashing, files, limits and faults.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;

mod fault;
pub mod file;
pub mod limits;

pub use fault::{Fault, Faults};

/// Hashes ids fast and with random keys, so that nobody can construct a trace whose ids collide.
#[derive(Debug, Clone, Default)]
pub(crate) struct IdHashing(RandomState);

impl IdHashing {
    pub(crate) fn new() -> Self {
        Self::default()
    }
}

impl BuildHasher for IdHashing {
    type Hasher = <RandomState as BuildHasher>::Hasher;

    fn build_hasher(&self) -> Self::Hasher {
        self.0.build_hasher()
    }
}
