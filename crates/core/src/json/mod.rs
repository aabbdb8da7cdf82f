//! JSON as text: scanned, sliced and brought into canonical form without building trees.

mod canonical;
mod error;
mod find;
mod number;
mod scan;
mod string;
mod text;

pub(crate) use canonical::{
    Elements, KeyOrder, compact_keeping_numbers, order_of_keys, write_ordered,
};
pub use canonical::{Sink, canonicalize, lossless, write_canonical, write_canonical_trusted};
pub use error::{JsonError, JsonErrorKind};
pub use number::{write_count, write_number, write_number_token};
pub use scan::{RawStr, Scanner};
pub use string::{JsonStr, quoted};
pub(crate) use string::{decode_escape, string_end};
pub use text::{JsonText, write_joined};
