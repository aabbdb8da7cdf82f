//! Redacted JSON documents and the positions of findings.

use agent_rewind_core::redact::{Options, Redactor};

use super::support::{quoted, redacted_json, redactor};

#[test]
fn numbers_become_strings_with_the_quotes_of_their_level() {
    let card = ["4111", "1111", "1111", "1111"].concat();
    let json = format!("{{\"n\":{card},\"m\":[{card},1]}}");
    let wanted = r#"{"n":"[redacted:card-number]","m":["[redacted:card-number]",1]}"#;
    assert_eq!(redacted_json(&json), wanted);
    assert_eq!(redacted_json(&quoted(&json)), quoted(wanted));
    assert_eq!(
        redacted_json(&quoted(&quoted(&json))),
        quoted(&quoted(wanted))
    );
}

#[test]
fn keys_stay_unique() {
    let cards = [
        ["4111", "1111", "1111", "1111"],
        ["5555", "5555", "5555", "4444"],
    ]
    .map(|groups| groups.concat());
    let out = redacted_json(&format!("{{\"{}\":1,\"{}\":2}}", cards[0], cards[1]));
    assert_eq!(
        out,
        r#"{"[redacted:card-number]":1,"[redacted:card-number]~2":2}"#
    );
    assert_eq!(redacted_json(&out), out);
}

#[test]
fn files_are_replaced_by_size_and_hash() {
    let bytes: String = (0..100)
        .map(|at| ["QUJD", "x9Zk", "0a+/"][at % 3])
        .collect();
    let out = redacted_json(&format!(
        "{{\"data\":\"{bytes}\",\"url\":\"data:image/png;base64,{bytes}\"}}"
    ));
    let hash = out
        .split("[base64:300:")
        .nth(1)
        .unwrap()
        .split(']')
        .next()
        .unwrap();
    assert_eq!(hash.len(), 64);
    assert_eq!(
        out,
        format!(
            "{{\"data\":\"[base64:300:{hash}]\",\"url\":\"data:image/png;base64,[base64:300:{hash}]\"}}"
        )
    );
    assert_eq!(redacted_json(&out), out);
    let keep = Redactor::new(&Options {
        without: vec!["base64".to_owned()],
        ..Options::default()
    });
    assert_eq!(keep.unwrap().redact_text(&bytes), None);
}

#[test]
fn findings_name_rule_place_and_span() {
    let card = ["4111", "1111", "1111", "1111"].concat();
    let findings = redactor()
        .find_json(&format!(
            "{{\"a/b\":[0,{{\"c\":\"\\u00e9😀 {card}\"}}],\"{card}\":{card}}}"
        ))
        .unwrap();
    let seen: Vec<_> = findings
        .iter()
        .map(|finding| {
            (
                finding.pointer.as_str(),
                finding.is_key,
                finding.span.clone(),
            )
        })
        .collect();
    let number = format!("/{card}");
    assert_eq!(
        seen,
        [
            ("/a~1b/1/c", false, 4..20),
            ("", true, 0..16),
            (number.as_str(), false, 0..16)
        ]
    );
    assert!(redactor().find_json("{").is_err());
}
