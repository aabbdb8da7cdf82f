use sha2::{Digest, Sha256};

use super::ContentHash;
use crate::json::Sink;

const ROOM: usize = 1_024;

/// Hashes the text written to it. Short pieces are buffered: starting and ending an update costs about as much as
/// hashing one of them.
pub(crate) struct HashWriter {
    state: Sha256,
    gathered: [u8; ROOM],
    len: usize,
}

impl HashWriter {
    pub(crate) fn new() -> Self {
        Self::after(Sha256::new())
    }

    /// Continues from `state`.
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

    /// The state after everything written so far.
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
