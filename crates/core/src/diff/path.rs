//! Paths from the root to a value.

use std::fmt::Write;

use rpds::List;

use super::{Change, Part};
use crate::json::JsonStr;

/// A step into a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// The body of the key's literal.
    Key(&'t str),
    /// The position of the element in each document.
    Index { recorded: usize, actual: usize },
}

/// The steps from a value up to the root. Values below a path share it.
pub(super) type Path<'t> = List<Token<'t>>;

/// The steps from the root.
pub(super) fn from_root<'t>(path: &Path<'t>) -> Vec<Token<'t>> {
    let mut tokens: Vec<Token<'t>> = path.iter().copied().collect();
    tokens.reverse();
    tokens
}

/// The RFC 6901 pointer into one of the documents. Lone surrogates in keys stay escapes because no Rust string can
/// contain them.
pub(super) fn pointer(tokens: &[Token<'_>], change: Change) -> String {
    let mut pointer = String::new();
    for token in tokens {
        pointer.push('/');
        match token {
            Token::Index { recorded, actual } => {
                let index = if change == Change::Removed {
                    recorded
                } else {
                    actual
                };
                let _ = write!(pointer, "{index}");
            }
            Token::Key(body) => {
                let key = JsonStr::from_normalized_body(body);
                pointer.push_str(&key.to_display().replace('~', "~0").replace('/', "~1"));
            }
        }
    }
    pointer
}

pub(super) fn part(tokens: &[Token<'_>]) -> Part {
    match tokens.first() {
        Some(Token::Key("messages")) => Part::Messages,
        Some(Token::Key("tools")) => Part::Tools,
        Some(Token::Key("schema")) => Part::Schema,
        Some(Token::Key("options")) => Part::Options,
        Some(Token::Key("model")) => Part::Model,
        Some(Token::Key("input")) => Part::Input,
        _ => Part::Other,
    }
}
