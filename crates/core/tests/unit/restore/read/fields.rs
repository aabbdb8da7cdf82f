use super::*;
use crate::model::CallData;

#[test]
fn events_contain_every_field_of_call_data() {
    let names: Vec<&str> = Field::CALL_DATA.iter().map(|field| field.key()).collect();
    assert_eq!(names, CallData::NAMES);
}

#[test]
fn finds_every_field_by_its_key() {
    for field in Field::ALL {
        assert_eq!(
            Field::from_body(field.key()),
            Some(*field),
            "{}",
            field.key()
        );
    }
    for key in [
        "",
        "messages",
        "rawText",
        "__proto__",
        "a key that is longer than any other",
    ] {
        assert_eq!(Field::from_body(key), None, "{key}");
    }
}
