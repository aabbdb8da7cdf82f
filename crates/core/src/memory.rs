//! An agent's memory: JSON values by key.

use crate::json::{JsonStr, JsonText};
use crate::ordered::OrderedMap;

pub type Memory = OrderedMap<JsonStr, JsonText>;
