//! The content hash of a conversation that grows. In the canonical form of a request document
//! `{"messages":[…],"model":…,…}` the messages come first, so the SHA-256 state after those already
//! seen is kept, and a turn reads only the new messages and what stands behind them.

use std::cmp::Ordering;

use sha2::{Digest, Sha256};
use thiserror::Error;

use super::content::ContentHash;
use super::writer::HashWriter;
use crate::json::{Elements, JsonError, Scanner, Sink, order_of_keys, write_canonical_trusted};

const FIRST_KEY: &str = "messages";

/// What stands in a request document behind its messages. Made once, used in every turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestTail {
    /// From the bracket that closes the messages to the end of the document.
    text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RequestTailError {
    #[error("the members of a request besides its messages: {0}")]
    Json(#[from] JsonError),
    #[error("the members of a request besides its messages must be an object")]
    NotAnObject,
    #[error(
        "a request cannot have a member {key} beside its messages: only keys that sort after \"messages\" leave the \
         messages first in canonical form; hash the whole document instead"
    )]
    KeyBeforeMessages {
        /// The key as a JSON string literal.
        key: String,
    },
}

impl RequestTail {
    /// From the request document without its messages, in text that `JSON.stringify` made.
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
        // In canonical form the first key is the smallest.
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

/// The continuing hasher of a conversation whose messages come in as they are made.
#[derive(Debug, Clone)]
pub struct Conversation {
    /// After `{"messages":[` and the messages so far.
    state: Sha256,
    len: usize,
}

impl Default for Conversation {
    fn default() -> Self {
        Self::new()
    }
}

impl Conversation {
    #[must_use]
    pub fn new() -> Self {
        let mut state = Sha256::new();
        state.update(format!("{{\"{FIRST_KEY}\":["));
        Self { state, len: 0 }
    }

    /// Adds the messages of an array, in text that `JSON.stringify` made. Adds all or, on an error, none.
    pub fn append(&mut self, trusted_messages: &str) -> Result<(), JsonError> {
        self.append_from(trusted_messages, 0)
    }

    /// Adds the messages from byte `from` of the array on: 0, or where a message ends.
    fn append_from(&mut self, trusted_messages: &str, from: usize) -> Result<(), JsonError> {
        let elements = Elements::of_trusted(trusted_messages, from)?;
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

    /// The number of messages so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The content hash of the request document of these messages and `tail`.
    #[must_use]
    pub fn hash(&self, tail: &RequestTail) -> ContentHash {
        let mut hasher = HashWriter::after(self.state.clone());
        hasher.write(&tail.text);
        hasher.finish()
    }
}

/// The continuing hasher for a client that sends the whole history as text each time. Only the text
/// behind the longest known prefix is hashed; the last text is kept once, for the comparison.
#[derive(Debug, Clone, Default)]
pub struct TextConversation {
    text: String,
    /// The state at the end of each turn that `text` still begins with.
    turns: Vec<Turn>,
}

#[derive(Debug, Clone)]
struct Turn {
    /// Where the last message of the turn ends.
    end: usize,
    state: Conversation,
}

impl TextConversation {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the whole array of messages, in text that `JSON.stringify` made, and gives the number
    /// of its bytes that did not have to be hashed again. On an error the conversation stays as it was.
    pub fn update(&mut self, trusted_messages: &str) -> Result<usize, JsonError> {
        let common = common_prefix(self.text.as_bytes(), trusted_messages.as_bytes());
        let known = self.turns.iter().rposition(|turn| {
            // Not inside a message that goes on, as 1 does in 12.
            turn.end <= common
                && matches!(trusted_messages.as_bytes().get(turn.end), Some(b',' | b']'))
        });
        let (mut state, reused) = match known.and_then(|index| self.turns.get(index)) {
            Some(turn) => (turn.state.clone(), turn.end),
            None => (Conversation::new(), 0),
        };
        state.append_from(trusted_messages, reused)?;
        self.turns.truncate(known.map_or(0, |index| index + 1));
        let end = trusted_messages.len() - 1;
        if end > reused && !state.is_empty() {
            self.turns.push(Turn { end, state });
        }
        self.text.truncate(reused);
        self.text.push_str(&trusted_messages[reused..]);
        Ok(reused)
    }

    /// The number of messages in the last text.
    #[must_use]
    pub fn len(&self) -> usize {
        self.turns.last().map_or(0, |turn| turn.state.len())
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// The content hash of the request document of the last text and `tail`.
    #[must_use]
    pub fn hash(&self, tail: &RequestTail) -> ContentHash {
        self.turns.last().map_or_else(
            || Conversation::new().hash(tail),
            |turn| turn.state.hash(tail),
        )
    }
}

/// The number of bytes that both begin with.
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    const BLOCK: usize = 4_096;
    let equal_blocks = a
        .chunks(BLOCK)
        .zip(b.chunks(BLOCK))
        .take_while(|(a, b)| a == b)
        .count();
    let from = (equal_blocks * BLOCK).min(a.len()).min(b.len());
    from + a[from..]
        .iter()
        .zip(&b[from..])
        .take_while(|(a, b)| a == b)
        .count()
}
