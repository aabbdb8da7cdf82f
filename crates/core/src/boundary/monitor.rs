//! The two formats of the context monitor's file, written from one document.

use serde::Deserialize;
use serde_json::value::RawValue;
use thiserror::Error;

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

/// What the monitor shows.
#[derive(Debug, Deserialize)]
pub(super) struct Document<'a> {
    pub timestamp: String,
    pub message_hash: String,
    pub tools_hash: String,
    #[serde(borrow)]
    pub session_id: &'a RawValue,
    #[serde(borrow)]
    pub agent_name: &'a RawValue,
    #[serde(borrow)]
    pub model_name: &'a RawValue,
    pub budget: Budget,
    pub ledger: Ledger,
    pub warnings: Vec<String>,
    #[serde(borrow)]
    pub history: Vec<&'a RawValue>,
}

/// In tokens; `history` of the budget is what is left, so it is not read.
#[derive(Debug, Deserialize)]
// The names are those of the file.
#[allow(clippy::struct_field_names)]
pub(super) struct Budget {
    pub model_limit: f64,
    pub output_reserve: f64,
    pub system_prompt: f64,
    pub rules: f64,
    pub skills: f64,
    pub memory: f64,
    pub tools_schema: f64,
    pub tool_outputs: f64,
    pub usable: f64,
    pub history_budget: f64,
}

/// In tokens.
#[derive(Debug, Deserialize)]
pub(super) struct Ledger {
    pub system_prompt: f64,
    pub rules: f64,
    pub skills: f64,
    pub memory: f64,
    pub tools_schema: f64,
    pub history: f64,
    pub tool_outputs: f64,
    pub buffer: f64,
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
/// Text that is not JSON, or not a monitor document.
pub fn format_human(document: &str) -> Result<String, MonitorError> {
    let document: Document<'_> = serde_json::from_str(document)?;
    human::write(&document).map_err(MonitorError::from)
}
