use super::*;

fn skip(text: &str) -> Result<&str> {
    let mut scanner = Scanner::new(text);
    let range = scanner.skip_value()?;
    scanner.finish()?;
    Ok(&text[range])
}

#[test]
fn skips_whole_values() {
    for text in [
        "null",
        "true",
        "false",
        "0",
        "-1.5e+10",
        r#""""#,
        r#""a\"b\\ \u00e9\ud83d""#,
        "[]",
        "{}",
        r#"[1,[2,{"a":[]}],{}]"#,
        r#"{"a":{"b":[{"c":null}]},"d":""}"#,
    ] {
        assert_eq!(skip(text), Ok(text));
        assert_eq!(skip(&format!(" \n{text}\t ")), Ok(text));
    }
}

#[test]
fn rejects_text_that_is_not_json() {
    use JsonErrorKind::{
        BadEscape, BadNumber, ControlCharacter, TrailingText, UnexpectedCharacter, UnexpectedEnd,
    };
    for (text, kind) in [
        ("", UnexpectedEnd),
        ("[1", UnexpectedEnd),
        ("\"a", UnexpectedEnd),
        ("[1,]", UnexpectedCharacter),
        ("{\"a\":1,}", UnexpectedCharacter),
        ("{a:1}", UnexpectedCharacter),
        ("[1 2]", UnexpectedCharacter),
        ("01", TrailingText),
        ("1.", BadNumber),
        ("-", BadNumber),
        ("1e", BadNumber),
        (r#""\x""#, BadEscape),
        (r#""\u12g4""#, BadEscape),
        ("\"a\nb\"", ControlCharacter),
        ("nul", UnexpectedCharacter),
        ("{]", UnexpectedCharacter),
        ("[}", UnexpectedCharacter),
        ("1 1", TrailingText),
    ] {
        assert_eq!(skip(text).map_err(|error| error.kind), Err(kind), "{text}");
    }
}

#[test]
fn bounds_the_depth() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(skip(&nested(MAX_OPEN)).is_ok());
    assert_eq!(
        skip(&nested(100_000)).map_err(|error| error.kind),
        Err(JsonErrorKind::TooDeep)
    );
}

#[test]
fn finds_control_characters_past_the_first_bytes() {
    let text = format!("\"{}\u{1}\"", "x".repeat(40));
    assert_eq!(
        skip(&text),
        Err(JsonError {
            kind: JsonErrorKind::ControlCharacter,
            offset: 41
        })
    );
}

#[test]
fn pulls_members_and_elements() {
    let mut scanner = Scanner::new(r#"{"a\u0062":1,"list":[true,"x"]}"#);
    scanner.enter_object().unwrap();
    let mut first = true;
    let key = scanner.next_member(&mut first).unwrap().unwrap();
    assert!(key.is("ab"));
    assert_eq!(scanner.number().unwrap(), "1");
    assert!(scanner.next_member(&mut first).unwrap().unwrap().is("list"));
    scanner.enter_array().unwrap();
    let mut first_element = true;
    assert!(scanner.next_element(&mut first_element).unwrap());
    scanner.skip_value().unwrap();
    assert!(scanner.next_element(&mut first_element).unwrap());
    assert!(scanner.string().unwrap().is("x"));
    assert!(!scanner.next_element(&mut first_element).unwrap());
    assert_eq!(scanner.next_member(&mut first).unwrap(), None);
    scanner.finish().unwrap();
}
