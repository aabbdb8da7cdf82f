//! The document that the context monitor's file is written from.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

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
    /// In tokens.
    pub budget: HashMap<String, f64>,
    pub ledger: HashMap<String, f64>,
    pub warnings: Vec<String>,
    #[serde(borrow)]
    pub history: Vec<&'a RawValue>,
}
