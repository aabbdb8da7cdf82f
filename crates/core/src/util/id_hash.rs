//! A fast keyed hash for ids. Every event names two spans. Hashing them with the standard hash would cost more than
//! all other work done with them.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Hashes with two random keys, so that nobody can construct a trace whose ids collide.
#[derive(Debug, Clone)]
pub(crate) struct IdHashing {
    seed: u64,
    factor: u64,
}

#[derive(Debug)]
pub(crate) struct IdHasher {
    state: u64,
    factor: u64,
}

impl Default for IdHashing {
    fn default() -> Self {
        Self::new()
    }
}

impl IdHashing {
    pub(crate) fn new() -> Self {
        let random = RandomState::new();
        // An odd factor keeps the product a bijection.
        Self {
            seed: random.hash_one(0_u8),
            factor: random.hash_one(1_u8) | 1,
        }
    }
}

impl BuildHasher for IdHashing {
    type Hasher = IdHasher;

    fn build_hasher(&self) -> IdHasher {
        IdHasher {
            state: self.seed,
            factor: self.factor,
        }
    }
}

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.write_u64(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.write_u64(u64::from_le_bytes(last) ^ (bytes.len() as u64) << 56);
    }

    fn write_u64(&mut self, word: u64) {
        let word = self.state ^ word;
        let high = (u128::from(word) * u128::from(self.factor)) >> 64;
        let low = word.wrapping_mul(self.factor);
        self.state = low ^ (high as u64).rotate_left(32);
    }

    fn write_u8(&mut self, byte: u8) {
        self.state = self.state.rotate_left(8) ^ u64::from(byte);
    }

    fn write_isize(&mut self, discriminant: isize) {
        self.state = self.state.rotate_left(8) ^ discriminant.unsigned_abs() as u64;
    }

    fn finish(&self) -> u64 {
        self.state
    }
}
