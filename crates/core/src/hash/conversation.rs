//! Incremental content hashes for growing conversations. In the canonical form of a request document
//! `{"messages":[…],"model":…,…}` the messages come first. The SHA-256 state after the known messages is kept, so a
//! turn hashes only its new messages and the tail of the document.

use std::cmp::Ordering;

use sha2::{Digest, Sha256};
use thiserror::Error;

use super::content::ContentHash;
use super::writer::HashWriter;
use crate::json::{Elements, JsonError, Scanner, Sink, order_of_keys, write_canonical_trusted};

const FIRST_KEY: &str = "messages";

/// The part of a request document after its messages. Built once and used in every turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestTail {
    /// From the bracket that closes the messages to the end of the document.
    text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RequestTailError {
    #[error("invalid request members: {0}")]
    Json(#[from] JsonError),
    #[error("the request members without `messages` must be a JSON object")]
    NotAnObject,
    #[error(
        "the request member {key} sorts before \"messages\", so this request cannot be hashed incrementally; hash the \
         whole document instead"
    )]
    KeyBeforeMessages {
        /// The key as a JSON string literal.
        key: String,
    },
}

impl RequestTail {
    /// From the request document without its messages, as `JSON.stringify` wrote it.
    ///
    /// # Errors
    /// Text that is not such an object, or a key that does not sort after `messages`.
    pub fn new(trusted_text: &str) -> Result<Self, RequestTailError> {
        let mut members = String::with_capacity(trusted_text.len());
        write_canonical_trusted(trusted_text, &mut members)?;
        let mut scanner = Scanner::new(&members);
        if scanner.peek() != Some(b'{') {
            return Err(RequestTailError::NotAnObject);
        }
        scanner.enter_object()?;
        // In canonical form, the first key is the smallest.
        match scanner.next_member(&mut true)? {
            None => Ok(Self {
                text: "]}".to_owned(),
            }),
            Some(key) if order_of_keys(key.body(), FIRST_KEY) == Ordering::Greater => Ok(Self {
                text: format!("],{}", &members[1..]),
            }),
            Some(key) => Err(RequestTailError::KeyBeforeMessages {
                key: format!("\"{}\"", key.body()),
            }),
        }
    }
}

/// An incremental hasher for a conversation that receives its messages as they are created.
#[derive(Debug, Clone)]
pub struct Conversation {
    /// The state after `{"messages":[` and the messages so far.
    state: Sha256,
    len: usize,
}

impl Default for Conversation {
    fn default() -> Self {
        Self::new()
    }
}

impl Conversation {
    pub fn new() -> Self {
        let mut state = Sha256::new();
        state.update(format!("{{\"{FIRST_KEY}\":["));
        Self { state, len: 0 }
    }

    /// Appends the messages of an array that `JSON.stringify` wrote. On an error, nothing is appended.
    pub fn append(&mut self, trusted_messages: &str) -> Result<(), JsonError> {
        let elements = Elements::of_trusted(trusted_messages)?;
        if elements.len() > 0 {
            let mut hasher = HashWriter::after(self.state.clone());
            if self.len > 0 {
                hasher.write(",");
            }
            elements.write(&mut hasher);
            self.state = hasher.into_state();
            self.len += elements.len();
        }
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The content hash of the request document with these messages and `tail`.
    pub fn hash(&self, tail: &RequestTail) -> ContentHash {
        let mut hasher = HashWriter::after(self.state.clone());
        hasher.write(&tail.text);
        hasher.finish()
    }
}
