//! Excerpts, pointers and explanations; equal documents and rejected texts.

use agent_rewind_core::diff::explain;
use agent_rewind_core::json::{JsonErrorKind, canonicalize};
use serde_json::{Value, json};

use super::*;

#[test]
fn equal_documents() {
    for (recorded, actual) in [
        (
            r#"{"a":1,"b":[{"c":1,"d":2}]}"#,
            r#"{"b":[{"d":2,"c":1}],"a":1}"#,
        ),
        ("[1,0,100,0.5]", "[1.0,-0,1e2,5E-1]"),
        (
            r#"["é/\n😀\"\u007f"]"#,
            "[\"\\u00e9\\/\\u000a\\uD83D\\ude00\\u0022\u{7f}\"]",
        ),
        (r#"{"a":1}"#, "\n{ \"\\u0061\" : 1 }\t"),
    ] {
        assert_eq!(compare(recorded, actual), Diff::default());
    }
    let document: Value = serde_json::from_str(REQUEST).unwrap();
    for actual in [
        document.to_string(),
        format!("{document:#}"),
        canonicalize(REQUEST).unwrap(),
    ] {
        assert!(compare(REQUEST, &actual).is_empty());
    }
}

#[test]
fn excerpts_are_short_and_show_the_place() {
    let long = |middle: &str| {
        let text = format!(
            "{}{middle}{}",
            "Früher war alles besser. ".repeat(40),
            " Ende".repeat(40)
        );
        json!({ "messages": [{ "role": "user", "content": text }] }).to_string()
    };
    let found = compare(&long("2026-11-28"), &long("2026-11-29"));
    let [found] = &*found.differences else {
        panic!("{found:#?}")
    };
    assert_eq!(found.nature, Nature::Date);
    for (excerpt, day) in [
        (&found.recorded, "2026-11-28 Ende"),
        (&found.actual, "2026-11-29 Ende"),
    ] {
        let excerpt = excerpt.as_ref().unwrap();
        assert!(excerpt.contains(day), "{excerpt}");
        assert!(
            excerpt.starts_with("\"…") && excerpt.ends_with("…\""),
            "{excerpt}"
        );
        assert!(excerpt.chars().count() <= 80, "{excerpt}");
    }
    // Escapes are never split.
    for shift in 0..8 {
        let start = "x".repeat(shift);
        let [recorded, actual] = ["a", "b"].map(|middle| {
            json!([format!(
                "{start}{}{middle}{}",
                "\u{1}\\\n".repeat(50),
                "\u{1}\\\n".repeat(50)
            )])
        });
        let found = compare(&recorded.to_string(), &actual.to_string());
        for excerpt in [&found.differences[0].recorded, &found.differences[0].actual] {
            let excerpt = excerpt.as_ref().unwrap();
            let decoded: String = serde_json::from_str(excerpt).unwrap();
            assert!(
                decoded.starts_with('…') && decoded.ends_with('…'),
                "{excerpt}"
            );
            assert!(excerpt.chars().count() <= 80, "{excerpt}");
        }
    }
}

#[test]
fn lone_surrogates_and_odd_keys() {
    let found = compare(
        r#"{"a\ud83d":"\ud83d x","":1}"#,
        r#"{"a\ud83d":"\ude00 x","":2}"#,
    );
    let pointers: Vec<&str> = found
        .differences
        .iter()
        .map(|found| &*found.pointer)
        .collect();
    assert_eq!(pointers, ["/", r"/a\ud83d"]);
    assert_eq!(found.differences[1].nature, Nature::Text);
    assert_eq!(
        found.differences[1].recorded.as_deref(),
        Some(r#""\ud83d x""#)
    );
    let found = compare(r#"{"__proto__":{"x":1}}"#, r#"{"__proto__":{"x":2}}"#);
    assert_eq!(found.differences[0].pointer, "/__proto__/x");
}

#[test]
fn bad_texts_are_errors() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for (text, kind) in [
        (&*deep, JsonErrorKind::TooDeep),
        ("", JsonErrorKind::UnexpectedEnd),
        ("[1,]", JsonErrorKind::UnexpectedCharacter),
        (r#"{"a":1,"\u0061":2}"#, JsonErrorKind::DuplicateKey),
    ] {
        for (recorded, actual) in [(text, "1"), ("1", text), (text, text)] {
            let error = diff(recorded, actual, MAX_DIFFERENCES).unwrap_err();
            assert_eq!(error.kind, kind);
        }
    }
    let nested = |inner: &str| format!("{}{inner}{}", "[".repeat(1_000), "]".repeat(1_000));
    let found = compare(&nested("1"), &nested("2"));
    assert_eq!(found.differences[0].pointer, "/0".repeat(1_000));
}

#[test]
fn explanations() {
    let unchanged = compare(REQUEST, REQUEST);
    assert_eq!(explain(&unchanged), "the request equals its recording");
    let found = compare(r#"{"options":{"seed":1}}"#, r#"{"options":{"seed":2}}"#);
    assert_eq!(
        explain(&found),
        "the request differs in 1 place: /options/seed: a model option (recorded 1, now 2)"
    );
    let at =
        |day: &str| json!({ "messages": [{ "content": format!("It is {day}.") }] }).to_string();
    assert_eq!(
        explain(&compare(&at("2026-11-28"), &at("2026-11-29"))),
        "the request differs in 1 place: /messages/0/content: a date (recorded \"It is 2026-11-28.\", \
         now \"It is 2026-11-29.\")"
    );
    let found = compare(
        r#"{"a":1,"b":[1,2],"c":3,"d":4,"e":5}"#,
        r#"{"b":[2,1],"c":3,"d":0,"e":0,"f":6}"#,
    );
    assert_eq!(
        explain(&found),
        "the request differs in 5 places: /a: a number, missing now (recorded 1); /b: the \
         order of a list (recorded [1,2], now [2,1]); /d: a number (recorded 4, now 0); … and 2 more"
    );
    let found = compare(r#"{"tools":[]}"#, r#"{"tools":[{"name":"calc"}]}"#);
    assert_eq!(
        explain(&found),
        r#"the request differs in 1 place: /tools/0: a tool, not recorded (now {"name":"calc"})"#
    );
    let unlisted = diff("[1,2]", "[3,4]", 0).unwrap();
    assert_eq!(explain(&unlisted), "the request differs in 2 places");
    let found = compare("1", "[]");
    assert_eq!(
        explain(&found),
        "the request differs in 1 place: the whole document: another type (recorded 1, now [])"
    );
}
