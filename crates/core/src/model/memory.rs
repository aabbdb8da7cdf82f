//! An agent's memory: JSON values by key.

use super::ordered::OrderedMap;
use crate::json::{JsonStr, JsonText};

pub type Memory = OrderedMap<JsonStr, JsonText>;
