use super::*;

fn group(lanes: &[&str]) -> Group {
    Group::new(&(0..).zip(lanes.iter().copied()).collect::<Vec<_>>())
}

fn positions(group: &mut Group, lane: &str) -> Option<Vec<u32>> {
    Some(group.calls(lane)?.iter().copied().collect())
}

#[test]
fn the_same_lane_finds_its_calls_in_order() {
    let mut group = group(&[
        "ask < all[0] < main",
        "ask < all[1] < main",
        "ask < all[0] < main",
    ]);
    assert_eq!(
        positions(&mut group, "ask < all[0] < main"),
        Some(vec![0, 2])
    );
    assert_eq!(positions(&mut group, "ask < all[1] < main"), Some(vec![1]));
    assert_eq!(positions(&mut group, "ask < all[2] < main"), None);
}

#[test]
fn another_function_may_start_the_program() {
    let recorded = [
        "ask < all[0] < main < record",
        "ask < all[1] < main < record",
    ];
    for outer in [
        "",
        " < main",
        " < main < record",
        " < main < record < test",
        " < other",
    ] {
        let found = positions(&mut group(&recorded), &format!("ask < all[1]{outer}"));
        assert_eq!(found, Some(vec![1]), "{outer:?}");
    }
    // Without an index, the outer names must fit.
    let mut named = group(&["ask < left < main", "ask < right < main"]);
    assert_eq!(
        positions(&mut named, "ask < right < main < test"),
        Some(vec![1])
    );
    assert_eq!(positions(&mut named, "ask < right"), Some(vec![1]));
    assert_eq!(positions(&mut named, "ask < right < other"), None);
}

#[test]
fn an_unknown_branch_finds_nothing() {
    let mut group = group(&["ask < main", "ask < branch < main"]);
    assert_eq!(positions(&mut group, "ask < main"), Some(vec![0]));
    assert_eq!(positions(&mut group, "ask < branch < main"), Some(vec![1]));
    assert_eq!(positions(&mut group, "ask < other < main"), None);
    assert_eq!(positions(&mut group, "other < main"), None);
}

#[test]
fn equal_lanes_count_up_to_their_outermost_index() {
    let mut indexed = group(&["ask < all[0] < b < all[1] < main"]);
    assert_eq!(
        positions(&mut indexed, "ask < all[0] < b < all[1] < test"),
        Some(vec![0])
    );
    assert_eq!(
        positions(&mut indexed, "ask < all[0] < b < all[2] < main"),
        None
    );
    let mut plain = group(&["ask < main", "ask < main"]);
    assert_eq!(positions(&mut plain, "ask < main"), Some(vec![0, 1]));
    assert_eq!(positions(&mut plain, "ask < test"), None);
}
