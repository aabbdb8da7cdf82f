use super::*;

#[test]
fn escapes_are_decoded_and_origins_kept() {
    let text = r#"a\u0062\n\"\ud83d\ude00é\ud83dz\q"#;
    let view = View::whole(text);
    let plain = view.unescaped(0..text.len());
    assert_eq!(plain.text, "ab\n\"😀é\u{FFFD}z\\q");
    for (at, character) in plain.text.char_indices() {
        let origin = &text[plain.origin(at)..];
        assert!(
            origin.starts_with(character) || origin.starts_with('\\'),
            "{character} {origin}"
        );
    }
    assert_eq!(plain.origin(plain.text.len()), text.len());
    assert_eq!(utf16_offset(text, text.find('é').unwrap_or(0)), 6);
}

#[test]
fn twice() {
    let text = r"x\\u0041y";
    let first = View::whole(text);
    let second = first.unescaped(0..text.len());
    assert_eq!(second.text, r"x\u0041y");
    let third = second.unescaped(1..8);
    assert_eq!(third.text, "Ay");
    assert_eq!(
        (third.origin(0), third.origin(1), third.origin(2)),
        (1, 8, 9)
    );
    assert_eq!(plain(text), "xAy");
}
