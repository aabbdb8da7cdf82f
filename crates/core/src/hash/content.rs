use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};
use thiserror::Error;

use super::writer::HashWriter;
use crate::json::{JsonError, write_canonical, write_canonical_trusted};

/// SHA-256 of the canonical form (RFC 8785) of a document. Displayed as 64 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash([u8; 32]);

/// The text is not 64 lower-case hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a content hash is 64 lower-case hex digits")]
pub struct ParseContentHashError;

/// The content hash of text that `JSON.stringify` wrote without indentation.
///
/// # Errors
/// As [`write_canonical_trusted`].
pub fn content_hash(trusted_text: &str) -> Result<ContentHash, JsonError> {
    let mut hasher = HashWriter::new();
    write_canonical_trusted(trusted_text, &mut hasher)?;
    Ok(hasher.finish())
}

/// The content hash of any JSON text.
///
/// # Errors
/// As [`write_canonical`].
pub fn content_hash_any(text: &str) -> Result<ContentHash, JsonError> {
    let mut hasher = HashWriter::new();
    write_canonical(text, &mut hasher)?;
    Ok(hasher.finish())
}

impl ContentHash {
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The SHA-256 of a text as it is written, not of its canonical form.
    pub fn of_text(text: &str) -> Self {
        Self(Sha256::digest(text).into())
    }

    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl ContentHash {
    /// Appends the 64 hex digits. Much faster than `fmt`.
    pub fn push_hex(&self, out: &mut String) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut hex = [0; 64];
        for (digits, byte) in hex.as_chunks_mut::<2>().0.iter_mut().zip(self.0) {
            *digits = [byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)]);
        }
        // Always ASCII.
        out.push_str(str::from_utf8(&hex).unwrap_or_default());
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut hex = String::with_capacity(64);
        self.push_hex(&mut hex);
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
        let mut all = 0;
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            let (high, low) = (VALUES[usize::from(*high)], VALUES[usize::from(*low)]);
            all |= high | low;
            *byte = high << 4 | low & 15;
        }
        if all > 15 {
            return Err(ParseContentHashError);
        }
        Ok(Self(bytes))
    }
}

/// The value of each hex digit by its byte, 255 for all other bytes. A table, because a snapshot contains each hash
/// twice and a branch per digit is measurably slower.
static VALUES: [u8; 256] = {
    let mut values = [255; 256];
    let mut value = 0;
    while value < 16 {
        values[b"0123456789abcdef"[value as usize] as usize] = value;
        value += 1;
    }
    values
};
