use crate::json::error::{JsonError, JsonErrorKind};
use crate::json::number::{is_lossless, write_number_token};
use crate::json::scan::Scanner;

/// The form in which numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    /// The form of `JSON.stringify`.
    Ecma,
    AsWritten,
    /// The form of `JSON.stringify`, if it has the value that is written.
    Lossless,
}

/// The text as `JSON.stringify` would write it if it kept the order of keys and duplicate keys.
pub(super) fn compact(text: &str, numbers: Numbers) -> Result<String, JsonError> {
    let mut scanner = Scanner::new(text);
    scanner.skip_value()?;
    scanner.finish()?;
    compact_until(text, numbers, usize::MAX).map(|(compact, _)| compact)
}

/// Maps a byte offset in the compact form of `text` to the start of that token in `text`.
pub(super) fn source_offset(text: &str, offset: usize) -> usize {
    compact_until(text, Numbers::Ecma, offset).map_or_else(|error| error.offset, |(_, at)| at)
}

/// Compacts valid JSON token by token, up to the token at offset `stop` of the result. Returns its position in `text`.
fn compact_until(text: &str, numbers: Numbers, stop: usize) -> Result<(String, usize), JsonError> {
    let mut scanner = Scanner::new(text);
    let mut out = String::with_capacity(text.len());
    while let Some(byte) = scanner.peek().filter(|_| out.len() < stop) {
        let offset = scanner.position();
        match byte {
            b'"' => {
                out.push('"');
                out.push_str(&scanner.string()?.normalized());
                out.push('"');
            }
            b'-' | b'0'..=b'9' => {
                let token = scanner.number()?;
                match numbers {
                    Numbers::AsWritten => out.push_str(token),
                    Numbers::Lossless if !is_lossless(token) => {
                        let kind = JsonErrorKind::NumberOutOfRange;
                        return Err(JsonError { kind, offset });
                    }
                    Numbers::Ecma | Numbers::Lossless => write_number_token(token, &mut out)
                        .map_err(|kind| JsonError { kind, offset })?,
                }
            }
            punctuation_or_letter => {
                scanner.advance();
                out.push(char::from(punctuation_or_letter));
            }
        }
    }
    Ok((out, scanner.position()))
}
