use crate::json::JsonError;

/// A reason to stop reading.
pub(super) enum Stop {
    Json(JsonError),
    FramesTooDeep,
}

impl From<JsonError> for Stop {
    fn from(error: JsonError) -> Self {
        Self::Json(error)
    }
}
