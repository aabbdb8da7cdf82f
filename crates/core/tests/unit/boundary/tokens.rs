use super::*;

fn literal(text: &str) -> Characters {
    let mut scanner = Scanner::new(text);
    scanner
        .string()
        .map(Characters::of_literal)
        .unwrap_or_default()
}

#[test]
fn counts_characters_however_they_are_written() {
    for (text, ascii, other) in [
        (r#""""#, 0, 0),
        (r#""abc""#, 3, 0),
        (r#""a\n\"\\\u0007\u0041""#, 6, 0),
        (r#""é\u00e9""#, 0, 2),
        (r#""😀\ud83d\ude00""#, 0, 2),
        (r#""\ud83d\ud83d\ude00\ude00x""#, 1, 3),
        ("\"\u{7f}\u{80}\"", 1, 1),
    ] {
        assert_eq!(literal(text), Characters { ascii, other }, "{text}");
    }
}
