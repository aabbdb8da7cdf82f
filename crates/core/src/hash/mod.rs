//! Hashes that identify requests: the content hash, its incremental form for conversations, and the hash in
//! recordings of `@rejelly/core`.

mod content;
mod conversation;
mod identity;
mod input;
mod legacy;
mod writer;

pub use content::{ContentHash, ParseContentHashError, content_hash, content_hash_any};
pub use conversation::{Conversation, RequestTail, RequestTailError};
pub use identity::identity;
pub use input::{InputHash, input_hash};
pub use legacy::legacy_hash;
pub(crate) use writer::HashWriter;
