//! Content hashes of documents and of inputs.

use agent_rewind_core::hash::{ContentHash, content_hash, content_hash_any, input_hash};
use agent_rewind_core::json::JsonErrorKind;
use sha2::{Digest, Sha256};

use super::generator::Generator;

fn sha256(text: &str) -> String {
    let digest: [u8; 32] = Sha256::digest(text).into();
    digest.map(|byte| format!("{byte:02x}")).concat()
}

#[test]
fn content_hash_is_sha256_of_the_canonical_form() {
    assert_eq!(
        content_hash("{}").unwrap().to_string(),
        "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    );
    let mut generator = Generator::new(7);
    for _ in 0..2_000 {
        let json = generator.document();
        let wanted = sha256(&json.canonical());
        assert_eq!(
            content_hash(&json.stringified()).unwrap().to_string(),
            wanted
        );
        assert_eq!(
            content_hash_any(&json.randomly_formatted(&mut generator))
                .unwrap()
                .to_string(),
            wanted
        );
    }
    assert_eq!(
        content_hash("[1,").unwrap_err().kind,
        JsonErrorKind::UnexpectedEnd
    );
    assert_eq!(
        content_hash_any("[1e999]").unwrap_err().kind,
        JsonErrorKind::NumberOutOfRange
    );
}

#[test]
fn content_hash_as_text() {
    let hash = content_hash(r#"{"name":"search","input":{"q":"x"}}"#).unwrap();
    let text = hash.to_string();
    assert_eq!(text, sha256(r#"{"input":{"q":"x"},"name":"search"}"#));
    assert_eq!(text.parse(), Ok(hash));
    assert_eq!(ContentHash::from_bytes(*hash.as_bytes()), hash);
    for wrong in [
        "",
        &text[1..],
        &format!("{text}0"),
        &text.to_uppercase(),
        &format!("{}g", &text[1..]),
    ] {
        assert!(wrong.parse::<ContentHash>().is_err(), "{wrong}");
    }
}

#[test]
fn input_hash_is_the_hash_of_a_document() {
    let input = r#"{"q":"x","at":"2026-01-01"}"#;
    let plain = content_hash(r#"{"input":{"at":"2026-01-01","q":"x"}}"#).unwrap();
    assert_eq!(input_hash(input, None), Ok(plain));
    let types = r#"{"/at":"date"}"#;
    let tagged = content_hash(&format!(r#"{{"input":{input},"types":{types}}}"#)).unwrap();
    assert_eq!(input_hash(input, Some(types)), Ok(tagged));
    for wrong in ["", "{}}", "{"] {
        assert!(input_hash(wrong, None).is_err(), "{wrong}");
        assert!(input_hash("{}", Some(wrong)).is_err(), "{wrong}");
    }
}

#[test]
fn input_hash_is_that_of_the_document_with_types() {
    let plain = content_hash(r#"{"input":{"a":1}}"#);
    assert_eq!(input_hash(r#"{ "a": 1 }"#, None), plain);
    let typed = content_hash(r#"{"input":"1","types":{"":"bigint"}}"#);
    assert_eq!(input_hash(r#""1""#, Some(r#"{"":"bigint"}"#)), typed);
    assert!(input_hash(r#"1,"types":2"#, None).is_err());
}
