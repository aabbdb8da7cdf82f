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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::content_hash;

    #[test]
    fn is_the_content_hash_of_the_document() {
        let plain = content_hash(r#"{"input":{"a":1}}"#);
        assert_eq!(input_hash(r#"{ "a": 1 }"#, None), plain);
        let typed = content_hash(r#"{"input":"1","types":{"":"bigint"}}"#);
        assert_eq!(input_hash(r#""1""#, Some(r#"{"":"bigint"}"#)), typed);
        assert!(input_hash(r#"1,"types":2"#, None).is_err());
    }
}
