use super::*;
use crate::restore::read::span_id::display;

#[test]
fn ids_are_equal_only_if_their_texts_are() {
    let mut spans = Spans::with_capacity(0);
    let ids = [
        "00000000000000ff",
        "00000000000000FF",
        "0000000000000ff",
        "ff",
        "",
        r#"a\"b"#,
        "ffffffffffffffff",
        "0ffffffffffffffff",
        "é",
    ];
    for (index, id) in (0..).zip(ids) {
        assert_eq!(spans.intern(SpanId::new(id.into())), index, "{id}");
    }
    for (index, id) in (0..).zip(ids) {
        assert_eq!(spans.find(id), Some(index));
        assert_eq!(spans.intern_parent(SpanId::new(id.into())), index);
        assert_eq!(spans.display(index), display(id));
    }
    assert_eq!(spans.find("00000000000000fe"), None);
}
