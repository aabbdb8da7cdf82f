use super::*;

fn text(json: &str) -> JsonText {
    JsonText::parse(json.to_owned()).unwrap()
}

fn of(name: &str, message: &str) -> Identity {
    (name.to_owned(), message.to_owned())
}

#[test]
fn causes_are_followed() {
    let error = text(
        r#"{"name":"A","message":"a","cause":{"message":"b","name":"B","stack":"x","cause":{"name":"C","message":"\u0063"}}}"#,
    );
    assert_eq!(causes(&error), [of("A", "a"), of("B", "b"), of("C", "c")]);
    assert_eq!(identity(&error), Some(of("A", "a")));
}

#[test]
fn other_values_have_no_identity() {
    for json in [
        "null",
        "\"text\"",
        "{}",
        r#"{"name":"A"}"#,
        r#"{"name":1,"message":"x"}"#,
    ] {
        assert_eq!(identity(&text(json)), None, "{json}");
        assert!(causes(&text(json)).is_empty());
    }
}

#[test]
fn a_long_chain_is_cut() {
    let depth = 900;
    let error = format!(
        "{}null{}",
        r#"{"name":"A","message":"a","cause":"#.repeat(depth),
        "}".repeat(depth)
    );
    assert_eq!(causes(&text(&error)).len(), MAX_CAUSES);
}
