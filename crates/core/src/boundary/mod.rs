//! The LLM call boundary, where requests are sent to a model: hashes that Python can recompute, token counts, and the
//! text of the context monitor.

mod document;
mod hashes;
mod human;
mod monitor;
mod number;
mod python;
mod request;
mod tokens;

pub use hashes::{element_hashes, python_hash, python_json};
pub use monitor::{MonitorError, format_human, format_json};
pub use number::Numbers;
pub use request::{RequestSpans, request_spans};
pub use tokens::{MessageTokens, count_tools, message_tokens, text_tokens};
