use std::borrow::Cow;

use super::number::Numbers;
use super::python::PythonWriter;
use crate::hash::{ContentHash, HashWriter};
use crate::json::{JsonError, KeyOrder, Scanner, Sink, compact_keeping_numbers, write_ordered};

/// SHA-256 of the output of Python's `json.dumps(value, sort_keys=True, default=str)`.
///
/// # Errors
/// Text that is not JSON, a duplicate key, or too deep nesting. Text of [`Numbers::JavaScript`] must be compact, as
/// `JSON.stringify` writes it.
pub fn python_hash(text: &str, numbers: Numbers) -> Result<ContentHash, JsonError> {
    let mut hasher = HashWriter::new();
    write_python(text, numbers, |bytes| hasher.write_bytes(bytes))?;
    Ok(hasher.finish())
}

/// The text that [`python_hash`] hashes. It is pure ASCII.
///
/// # Errors
/// As [`python_hash`].
pub fn python_json(text: &str, numbers: Numbers) -> Result<String, JsonError> {
    let mut out = Vec::with_capacity(text.len() + text.len() / 8);
    write_python(text, numbers, |bytes| out.extend_from_slice(bytes))?;
    Ok(String::from_utf8(out).unwrap_or_default())
}

/// [`python_hash`] of each element of an array. Empty if the value is not an array.
///
/// # Errors
/// As [`python_hash`].
pub fn element_hashes(text: &str, numbers: Numbers) -> Result<Vec<ContentHash>, JsonError> {
    let elements = Scanner::new(text).elements()?;
    elements
        .into_iter()
        .map(|element| python_hash(element, numbers))
        .collect()
}

fn write_python(text: &str, numbers: Numbers, out: impl FnMut(&[u8])) -> Result<(), JsonError> {
    let mut writer = PythonWriter::new(numbers, out);
    match numbers {
        Numbers::JavaScript => write_ordered(text, KeyOrder::CodePoint, &mut writer)?,
        Numbers::Source => {
            let compact = compact_keeping_numbers(text)?;
            write_ordered(&compact, KeyOrder::CodePoint, &mut writer)?;
        }
    }
    writer.finish();
    Ok(())
}

/// The length of the output of Python's `json.dumps(value)`, with the keys in the order of the text, which must be
/// valid JSON.
pub(super) fn python_length(text: &str, numbers: Numbers) -> Result<usize, JsonError> {
    let compact = match numbers {
        Numbers::JavaScript => Cow::Borrowed(text),
        Numbers::Source => Cow::Owned(compact_keeping_numbers(text)?),
    };
    let mut length = 0;
    let mut writer = PythonWriter::new(numbers, |bytes: &[u8]| length += bytes.len());
    writer.write(&compact);
    writer.finish();
    Ok(length)
}
