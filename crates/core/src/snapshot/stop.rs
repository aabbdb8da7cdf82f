use crate::json::JsonError;

/// Why reading cannot go on.
pub(super) enum Stop {
    Json(JsonError),
    FramesTooDeep,
}

impl From<JsonError> for Stop {
    fn from(error: JsonError) -> Self {
        Self::Json(error)
    }
}
