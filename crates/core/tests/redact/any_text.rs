//! Properties of redaction for arbitrary text.

use proptest::prelude::*;

use super::support::{quoted, redacted, redacted_json};

proptest! {
    #[test]
    fn any_text_is_redacted_once_for_all(text in "(sk-|Bearer |https://a:|@|[a-zA-Z0-9]{0,30}|[\\[\\]:\"\\\\{}, \n]|\\\\u0041|Authorization: ){0,12}") {
        let once = redacted(&text);
        prop_assert_eq!(redacted(&once), once.clone());
        let json = redacted_json(&quoted(&text));
        prop_assert!(serde_json::from_str::<String>(&json).is_ok());
        prop_assert_eq!(redacted_json(&json), json.clone());
    }
}

/// Repeated prefixes of secrets are scanned once. With quadratic time, this test would not finish.
#[test]
fn repeated_prefixes_take_linear_time() {
    for piece in [
        "eyJ",
        "eyJ-",
        "eyJx.aaaaaa.",
        "-----BEGIN PRIVATE KEY-----",
        "a:",
        "://",
        "@:",
        "[redacted:",
        "\\",
        "\\\"",
        "authorization: ",
        "authorization: bearer ",
        "authorization: digest a=",
        "4111-",
        "\"",
        "bearer ",
        "data:;base64,",
        "http://a:b",
        "api_key=",
        "api_key=aB3dE5gH7jK9mN1p:",
        "AKIA",
        "sk-proj-",
        "sk-proj-aB3dE5gH7j ",
        "glpat-",
        "[redacted:jwt]",
    ] {
        for start in ["", "x://", "{\"a\":\"", "Authorization: Bearer "] {
            let text = format!("{start}{}", piece.repeat(60_000 / piece.len()));
            let out = redacted(&text);
            assert!(!out.is_empty(), "{piece}");
        }
    }
}
