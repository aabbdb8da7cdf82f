use super::*;

/// Compares two bodies, each followed by `behind`.
fn order(left: &str, right: &str, behind: &str) -> Ordering {
    let text = format!("{left}{right}{behind}");
    let [a, b] = [0..left.len(), left.len()..left.len() + right.len()]
        .map(|body| Key::new(text.as_bytes(), body));
    a.order(&b, &text, KeyOrder::Utf16Unit)
}

#[test]
fn orders_by_utf16_unit() {
    let ascending = [
        "",
        r"\u0000",
        r"\u0001",
        r"\b",
        r"\t",
        r"\n",
        r"\u000b",
        r"\r",
        r"\u001f",
        " ",
        "!",
        r#"\""#,
        "#",
        "1",
        "10",
        "2",
        "A",
        "Z",
        r"\\",
        "_",
        "__proto__",
        "a",
        "aa",
        "aaaaaaa",
        "aaaaaaaa",
        "aaaaaaaaa",
        "aaaaaaaaaaaaaaaaaa",
        r"aaaaaaaaaaaaaaaaaa\t",
        "aaaaaaaaab",
        r"aaaaaaaaab\n",
        "aaaaaaaaabé",
        "aaaaaaaaaé",
        "aaaaaaaab",
        "ab",
        "abé",
        r"b\n",
        "b ",
        "\u{7f}",
        "é",
        "中",
        "\u{d7ff}",
        r"\ud7ffx",
        "\u{10000}",
        r"\ud83d",
        r"\ud83dz",
        "😀",
        r"\udc00",
        "\u{e000}",
        "\u{ffff}",
    ];
    for (i, left) in ascending.iter().enumerate() {
        for (j, right) in ascending.iter().enumerate() {
            for behind in ["", "\"", "\\", "é", "        "] {
                assert_eq!(order(left, right, behind), i.cmp(&j), "{left} {right}");
            }
        }
    }
}

#[test]
fn plain_keys_have_a_prefix() {
    for (body, wanted) in [
        ("role", Some(*b"role\0\0\0\0")),
        ("messages", Some(*b"messages")),
        ("tool_call_id", Some(*b"tool_cal")),
        ("", None),
        ("é", None),
        (r"\n", None),
        ("12345678é", None),
        (r"12345678\n", None),
        (r"0123456789012345\\", None),
        ("012345678901234567890123é", None),
    ] {
        for behind in ["", "\":1", "\\\\\\\\\\\\\\\\", "éééééééé"] {
            let text = format!("{body}{behind}");
            let found = plain_prefix(text.as_bytes(), &(0..body.len()));
            assert_eq!(
                found,
                wanted.map(u64::from_be_bytes),
                "{body} before {behind}"
            );
        }
    }
}
