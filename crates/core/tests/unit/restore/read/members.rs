use std::sync::Arc;

use super::*;

#[test]
fn ranges_are_positions_in_the_whole_text() {
    let text = Arc::new(r#"xx {"a":1,"b":"q\u0041" , "c":[true],"d":{"e":null}}"#.to_owned());
    let mut members = Members::enter(TraceText::shared(&text), 3..text.len()).unwrap();
    assert_eq!(members.next().unwrap().unwrap().body(), "a");
    assert_eq!(members.number(), Ok(1.0));
    members.next().unwrap();
    assert_eq!(members.string(), Ok(Ok("qA".into())));
    members.next().unwrap();
    let range = members.value().unwrap();
    assert_eq!(&text[range], "[true]");
    members.next().unwrap();
    let mut keys = Vec::new();
    members
        .enter_value(|inner, key| {
            keys.push(key.body());
            inner.value().map(|_| ())
        })
        .unwrap()
        .unwrap();
    assert_eq!(keys, ["e"]);
    assert_eq!(members.next(), Ok(None));
    members.finish().unwrap();
}

#[test]
fn skips_values_that_are_nested_too_deep() {
    let deep = format!("{}\"]\\\"\"{}", "[".repeat(100_000), "]".repeat(100_000));
    let text = Arc::new(format!(r#"{{"deep":{deep},"next":7}}"#));
    let mut members = Members::enter(TraceText::shared(&text), 0..text.len()).unwrap();
    members.next().unwrap();
    assert_eq!(members.value(), Ok(8..8));
    assert_eq!(members.next().unwrap().unwrap().body(), "next");
    assert_eq!(members.number(), Ok(7.0));
    let open = Arc::new(format!(r#"{{"deep":{}"#, "[".repeat(100_000)));
    let mut members = Members::enter(TraceText::shared(&open), 0..open.len()).unwrap();
    members.next().unwrap();
    assert!(members.value().is_err());
}
