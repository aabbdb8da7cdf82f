//! The two formats of the context monitor's file. Both are written from the same document.

use thiserror::Error;

use super::document::Document;
use super::human;
use super::number::Numbers;
use super::python::PythonWriter;
use crate::json::{JsonError, Sink, compact_keeping_numbers};

const INDENT: usize = 2;

#[derive(Debug, Error)]
pub enum MonitorError {
    #[error(transparent)]
    Json(#[from] JsonError),
    #[error("not a monitor document: {0}")]
    Shape(#[from] serde_json::Error),
}

/// The document as Python's `json.dumps(…, indent=2)` writes it.
///
/// # Errors
/// Text that is not JSON.
pub fn format_json(document: &str) -> Result<String, MonitorError> {
    let compact = compact_keeping_numbers(document)?;
    let mut out = Vec::with_capacity(document.len() * 2);
    let mut writer = PythonWriter::indented(Numbers::Source, INDENT, |bytes: &[u8]| {
        out.extend_from_slice(bytes);
    });
    writer.write(&compact);
    writer.finish();
    Ok(String::from_utf8(out).unwrap_or_default())
}

/// The document as tables and lines for people.
///
/// # Errors
/// Text that is not JSON or not a monitor document.
pub fn format_human(document: &str) -> Result<String, MonitorError> {
    let document: Document<'_> = serde_json::from_str(document)?;
    human::write(&document).map_err(MonitorError::from)
}
