use agent_rewind_core::diff::nearest;
use proptest::prelude::*;

#[test]
fn the_nearest_has_the_longest_prefix_and_suffix() {
    let candidates = [
        vec!["abc", "def", "ghi"],
        vec!["abc", "dxf", "ghi"],
        vec!["abcd", "e", "fghi"],
    ];
    let find = |actual: &str| nearest(candidates.iter().enumerate(), actual);
    assert_eq!(find("abcdefghi"), Some(0), "the earlier of equal ones");
    assert_eq!(find("abcdxfghi"), Some(1));
    assert_eq!(find("abcdxfgh"), Some(1));
    assert_eq!(find(""), Some(0));
    assert_eq!(nearest(std::iter::empty::<(usize, Vec<&str>)>(), "a"), None);
    // The length of the longer text counts.
    let candidates = [vec!["aaaaaaaaaaaaaaaaaaaa"], vec!["aab"]];
    assert_eq!(nearest(candidates.iter().enumerate(), "aaaa"), Some(1));
    // Bytes in both the prefix and the suffix count once.
    let candidates = [vec!["abab"], vec!["abXabab"]];
    assert_eq!(nearest(candidates.iter().enumerate(), "ababab"), Some(1));
}

/// The definition, on joined text.
fn nearest_of_joined(candidates: &[Vec<&str>], actual: &str) -> Option<usize> {
    let scores = candidates.iter().map(|pieces| {
        let text = pieces.concat();
        let prefix = text
            .bytes()
            .zip(actual.bytes())
            .take_while(|(a, b)| a == b)
            .count();
        let suffix = text
            .bytes()
            .rev()
            .zip(actual.bytes().rev())
            .take_while(|(a, b)| a == b)
            .count();
        let agreed = (prefix + suffix).min(text.len()).min(actual.len());
        (agreed, text.len().max(actual.len()).max(1))
    });
    let mut best: Option<(usize, (usize, usize))> = None;
    for (index, score) in scores.enumerate() {
        if best.is_none_or(|(_, known)| score.0 * known.1 > known.0 * score.1) {
            best = Some((index, score));
        }
    }
    best.map(|(index, _)| index)
}

proptest! {
    #[test]
    fn nearest_is_what_its_definition_says(
        texts in prop::collection::vec("[ab]{0,70}", 1..6),
        picks in prop::collection::vec(prop::collection::vec(0_usize..6, 0..6), 1..8),
        actual in "[ab]{0,200}",
        pick in any::<prop::sample::Index>(),
    ) {
        let candidates: Vec<Vec<&str>> = picks
            .iter()
            .map(|picks| picks.iter().map(|pick| &*texts[pick % texts.len()]).collect())
            .collect();
        let near = format!("{}a", pick.get(&candidates).concat());
        for actual in [&actual, &near] {
            let found = nearest(candidates.iter().enumerate(), actual);
            prop_assert_eq!(found, nearest_of_joined(&candidates, actual));
        }
    }
}
