use super::*;

#[test]
fn reads_its_fields_and_ignores_the_rest() {
    let data = CallData::trusted(r#"{"other":[1],"meta":{"durationMs":2}}"#.to_owned());
    assert_eq!(
        data.to_json().as_deref(),
        Some(r#"{"meta":{"durationMs":2}}"#)
    );
    for text in ["{}", "[]", "", r#"{"meta""#] {
        assert_eq!(
            CallData::trusted(text.to_owned()),
            CallData::default(),
            "{text}"
        );
    }
    assert_eq!(CallData::default().to_json(), None);
}
