use super::*;

#[test]
fn characters_are_whole_escapes() {
    let found: Vec<&str> = characters(r"a\\n\né\ud83d中").collect();
    assert_eq!(found, ["a", r"\\", "n", r"\n", "é", r"\ud83d", "中"]);
}

#[test]
fn floors_to_the_start_of_a_character() {
    for body in [
        r"a\\n\né\ud83d中\\\\\\\n😀",
        r"\\\\",
        r"\u001f\u001f",
        "",
        "plain",
    ] {
        let mut starts: Vec<usize> = characters(body)
            .scan(0, |end, character| {
                *end += character.len();
                Some(*end)
            })
            .collect();
        starts.insert(0, 0);
        for at in 0..=body.len() {
            let wanted = starts.iter().rfind(|start| **start <= at).unwrap();
            assert_eq!(floor(body, at), *wanted, "{body} at {at}");
        }
    }
}

#[test]
fn windows_begin_and_end_with_whole_characters() {
    for (recorded, actual, wanted) in [
        ("abcd", "abXcd", (2, 2, 3)),
        ("aaa", "aa", (2, 3, 2)),
        (r"x\u0001y", r"x\u0011y", (1, 7, 7)),
        (r"x\n", r"x\\n", (1, 3, 4)),
        (r"\\n", r"\n", (0, 3, 2)),
        ("xéy", "xèy", (1, 3, 3)),
        ("é", "ũ", (0, 2, 2)),
        ("", "a", (0, 0, 1)),
    ] {
        let window = Window::of(recorded, actual);
        let found = (window.start, window.recorded_end, window.actual_end);
        assert_eq!(found, wanted, "{recorded} {actual}");
    }
}
