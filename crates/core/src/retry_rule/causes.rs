//! The identity of recorded errors: their name and message.

use crate::json::{JsonError, JsonText, Scanner};

/// Name and message of an error, as bodies of JSON strings.
pub(super) type Identity = (String, String);

/// The length up to which a chain of causes is followed.
const MAX_CAUSES: usize = 100;

/// Name and message of an `ErrorInfo`. `None` if it lacks one of them.
pub(super) fn identity(error: &JsonText) -> Option<Identity> {
    read(error.as_str()).ok()?.0
}

/// The identities of an error and of its causes, the outermost first.
pub(super) fn causes(error: &JsonText) -> Vec<Identity> {
    let mut identities = Vec::new();
    let mut text = error.as_str();
    for _ in 0..MAX_CAUSES {
        let Ok((identity, cause)) = read(text) else {
            break;
        };
        identities.extend(identity);
        match cause {
            Some(cause) => text = cause,
            None => break,
        }
    }
    identities
}

fn read(text: &str) -> Result<(Option<Identity>, Option<&str>), JsonError> {
    let [name, message, cause] = Scanner::new(text).members(["name", "message", "cause"])?;
    let body = |value: Option<&str>| {
        let literal = Scanner::new(value?).string().ok()?;
        Some(literal.normalized().into_owned())
    };
    Ok((body(name).zip(body(message)), cause))
}

#[cfg(test)]
#[path = "../../tests/unit/retry_rule/causes.rs"]
mod tests;
