//! Texts compared line by line.

use agent_rewind_core::diff::lines;

fn marked(before: &str, after: &str) -> String {
    let all = lines(before, after).into_iter();
    all.map(|(mark, line)| [&mark.to_string(), line].concat())
        .collect::<Vec<_>>()
        .join(",")
}

#[test]
fn changed_added_and_removed_lines_are_marked() {
    assert_eq!(marked("a\nb\nc", "a\nB\nc"), " a,-b,+B, c");
    assert_eq!(marked("a\nc", "a\nb\nc\nd"), " a,+b, c,+d");
    assert_eq!(marked("a\nb\nc\nd", "b\nd"), "-a, b,-c, d");
    assert_eq!(marked("", "a"), "+a");
    assert_eq!(marked("a", ""), "-a");
    assert_eq!(marked("same\ntext", "same\ntext"), " same, text");
}

#[test]
fn long_texts_that_differ_everywhere_count_as_replaced() {
    let text = |name: &str| {
        let lines: Vec<String> = (0..3_000).map(|line| format!("{name}{line}")).collect();
        lines.join("\n")
    };
    let all = lines(&text("a"), &text("b")).len();
    assert_eq!(all, 6_000);
}
