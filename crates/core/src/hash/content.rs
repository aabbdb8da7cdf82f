use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::json::{JsonError, Sink, write_canonical, write_canonical_trusted};

/// SHA-256 of the canonical form (RFC 8785) of a document. Written as 64 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash([u8; 32]);

/// A text is not 64 lower-case hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a content hash is 64 lower-case hex digits")]
pub struct ParseContentHashError;

/// The content hash of text that `JSON.stringify` made without indentation.
///
/// # Errors
/// As [`write_canonical_trusted`].
pub fn content_hash(trusted_text: &str) -> Result<ContentHash, JsonError> {
    let mut hasher = Sha256::new();
    write_canonical_trusted(trusted_text, &mut hasher)?;
    Ok(ContentHash::from_hasher(hasher))
}

/// The content hash of JSON text of any origin.
///
/// # Errors
/// As [`write_canonical`].
pub fn content_hash_any(text: &str) -> Result<ContentHash, JsonError> {
    let mut hasher = Sha256::new();
    write_canonical(text, &mut hasher)?;
    Ok(ContentHash::from_hasher(hasher))
}

impl Sink for Sha256 {
    fn write(&mut self, text: &str) {
        self.update(text.as_bytes());
    }
}

impl ContentHash {
    pub(super) fn from_hasher(hasher: Sha256) -> Self {
        Self(hasher.finalize().into())
    }

    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: [char; 16] = [
            '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
        ];
        let mut hex = String::with_capacity(64);
        for byte in self.0 {
            hex.push(DIGITS[usize::from(byte >> 4)]);
            hex.push(DIGITS[usize::from(byte & 15)]);
        }
        formatter.pad(&hex)
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ContentHash({self})")
    }
}

impl FromStr for ContentHash {
    type Err = ParseContentHashError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (pairs, []) = text.as_bytes().as_chunks::<2>() else {
            return Err(ParseContentHashError);
        };
        let mut bytes = [0; 32];
        if pairs.len() != bytes.len() {
            return Err(ParseContentHashError);
        }
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Ok(Self(bytes))
    }
}

fn digit(hex: u8) -> Result<u8, ParseContentHashError> {
    match hex {
        b'0'..=b'9' => Ok(hex - b'0'),
        b'a'..=b'f' => Ok(hex - b'a' + 10),
        _ => Err(ParseContentHashError),
    }
}
