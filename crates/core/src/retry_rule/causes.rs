//! The identity of recorded errors: their name and message.

use std::ops::Range;

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
            Some(cause) => text = &text[cause],
            None => break,
        }
    }
    identities
}

fn read(text: &str) -> Result<(Option<Identity>, Option<Range<usize>>), JsonError> {
    let mut scanner = Scanner::new(text);
    let (mut name, mut message, mut cause) = (None, None, None);
    scanner.enter_object()?;
    let mut first = true;
    while let Some(key) = scanner.next_member(&mut first)? {
        let is_text = scanner.peek() == Some(b'"');
        if key.is("name") && is_text {
            name = Some(scanner.string()?.normalized().into_owned());
        } else if key.is("message") && is_text {
            message = Some(scanner.string()?.normalized().into_owned());
        } else if key.is("cause") && scanner.peek() == Some(b'{') {
            cause = Some(scanner.skip_value()?);
        } else {
            scanner.skip_value()?;
        }
    }
    Ok((name.zip(message), cause))
}

#[cfg(test)]
#[path = "../../tests/unit/retry_rule/causes.rs"]
mod tests;
