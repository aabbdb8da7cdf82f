//! Paths from the root to a value. Values below a path share it.

use std::fmt::Write;

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

/// An index into [`Paths`]. `None` is the root.
pub(super) type PathId = Option<usize>;

#[derive(Debug, Default)]
pub(super) struct Paths<'t> {
    steps: Vec<(PathId, Token<'t>)>,
}

impl<'t> Paths<'t> {
    /// Adds a path and returns its index.
    pub(super) fn join(&mut self, parent: PathId, token: Token<'t>) -> usize {
        self.steps.push((parent, token));
        self.steps.len() - 1
    }

    /// The steps from the root.
    pub(super) fn tokens(&self, path: PathId) -> Vec<Token<'t>> {
        let mut tokens = Vec::new();
        let mut at = path;
        while let Some((parent, token)) = at.and_then(|at| self.steps.get(at)) {
            tokens.push(*token);
            at = *parent;
        }
        tokens.reverse();
        tokens
    }
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
