use super::*;

#[test]
fn normalizes_to_the_form_of_json_stringify() {
    for (body, wanted) in [
        (r"plain", r"plain"),
        (r"\u0041\/", "A/"),
        (r"\u000a\u0008\u000C\u0009\u000d", r"\n\b\f\t\r"),
        (r"\u001F", r"\u001f"),
        (r"\u0022\u005c", r#"\"\\"#),
        (r"\uD83D\uDE00", "😀"),
        (r"\uD83D", r"\ud83d"),
        (r"\uDE00\uD83D", r"\ude00\ud83d"),
        (r"\uD83Dx\uDE00", r"\ud83dx\ude00"),
        (r"\uD83D\uD83D\uDE00", r"\ud83d😀"),
        (r"\u007f\u2028", "\u{7f}\u{2028}"),
    ] {
        assert_eq!(normalize_body(body), wanted, "{body}");
    }
}

#[test]
fn plain_text_gets_its_escapes() {
    assert_eq!(
        JsonStr::from_plain("a\"\\\n\u{1}é").body(),
        r#"a\"\\\n\u0001é"#
    );
    assert_eq!(JsonStr::from_plain("a\"\n").to_display(), "a\"\n");
}
