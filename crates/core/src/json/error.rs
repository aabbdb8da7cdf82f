use thiserror::Error;

/// A text that is not the expected JSON.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{kind} at byte {offset}")]
pub struct JsonError {
    pub kind: JsonErrorKind,
    /// Byte offset in the input.
    pub offset: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum JsonErrorKind {
    #[error("the text ends inside a JSON value")]
    UnexpectedEnd,
    #[error("unexpected character")]
    UnexpectedCharacter,
    #[error("invalid escape sequence in a string")]
    BadEscape,
    #[error("unescaped control character in a string")]
    ControlCharacter,
    #[error("invalid number")]
    BadNumber,
    #[error("number outside the range of a double")]
    NumberOutOfRange,
    #[error("nested more than 1,000 levels deep")]
    TooDeep,
    #[error("text after the end of the JSON value")]
    TrailingText,
    #[error("duplicate key in an object")]
    DuplicateKey,
    #[error("not valid UTF-8")]
    NotUtf8,
}
