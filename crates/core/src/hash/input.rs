use super::ContentHash;
use super::writer::HashWriter;
use crate::json::{JsonError, Sink, write_canonical};

/// The hash of a frame's input: the content hash of `{"input":…}`, with a `"types"` member if `types` is given.
///
/// # Errors
/// As [`write_canonical`].
pub fn input_hash(input: &str, types: Option<&str>) -> Result<ContentHash, JsonError> {
    let mut hasher = HashWriter::new();
    hasher.write(r#"{"input":"#);
    write_canonical(input, &mut hasher)?;
    if let Some(types) = types {
        hasher.write(r#","types":"#);
        write_canonical(types, &mut hasher)?;
    }
    hasher.write("}");
    Ok(hasher.finish())
}
