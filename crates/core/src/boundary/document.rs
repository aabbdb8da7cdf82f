//! The document that the context monitor's file is written from.

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
    pub budget: TokenLimits,
    pub ledger: TokensUsed,
    pub warnings: Vec<String>,
    #[serde(borrow)]
    pub history: Vec<&'a RawValue>,
}

/// In tokens. `history` is not read: it is the remainder.
#[derive(Debug, Deserialize)]
// The names match the file.
#[allow(clippy::struct_field_names)]
pub(super) struct TokenLimits {
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
pub(super) struct TokensUsed {
    pub system_prompt: f64,
    pub rules: f64,
    pub skills: f64,
    pub memory: f64,
    pub tools_schema: f64,
    pub history: f64,
    pub tool_outputs: f64,
    pub buffer: f64,
}
