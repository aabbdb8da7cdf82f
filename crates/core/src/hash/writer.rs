use sha2::{Digest, Sha256};

use super::ContentHash;
use crate::json::Sink;

const ROOM: usize = 1_024;

/// Hashes what is written to it. Short pieces are gathered first: to begin and end an update costs about as much as to
/// hash one of them.
pub(crate) struct HashWriter {
    state: Sha256,
    gathered: [u8; ROOM],
    len: usize,
}

impl HashWriter {
    pub(crate) fn new() -> Self {
        Self::after(Sha256::new())
    }

    /// Goes on after what `state` has hashed.
    pub(crate) fn after(state: Sha256) -> Self {
        Self {
            state,
            gathered: [0; ROOM],
            len: 0,
        }
    }

    #[inline]
    pub(crate) fn write_bytes(&mut self, bytes: &[u8]) {
        if self.len + bytes.len() > ROOM {
            self.flush();
        }
        match self.gathered.get_mut(self.len..self.len + bytes.len()) {
            Some(free) => {
                free.copy_from_slice(bytes);
                self.len += bytes.len();
            }
            None => self.state.update(bytes),
        }
    }

    fn flush(&mut self) {
        if let Some(gathered) = self.gathered.get(..self.len) {
            self.state.update(gathered);
        }
        self.len = 0;
    }

    /// The state after all that was written.
    pub(crate) fn into_state(mut self) -> Sha256 {
        self.flush();
        self.state
    }

    pub(crate) fn finish(self) -> ContentHash {
        ContentHash::from_bytes(self.into_state().finalize().into())
    }
}

impl Sink for HashWriter {
    #[inline]
    fn write(&mut self, text: &str) {
        self.write_bytes(text.as_bytes());
    }
}
