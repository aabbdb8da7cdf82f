use super::*;

fn chain(names: &str) -> Awaiters {
    Awaiters::read(&names.replace(" < ", "\n"))
}

fn at(turn: u64, awaiters: Option<Awaiters>) -> Moment {
    Moment { awaiters, turn }
}

/// True if a start in turn 2 shows that a failure of turn 1 was seen.
fn shows(failed: Option<Awaiters>, start: Option<Awaiters>, alone: bool) -> bool {
    let pending = PendingFailures::new();
    pending.add((), at(1, failed), alone);
    !pending.take_seen(&at(2, start)).is_empty()
}

#[test]
fn complete_chains_show_it_unless_they_are_in_two_branches_of_one_combinator() {
    for (failed, start, seen) in [
        ("ask < main", "ask < main", true),
        ("ask < main", "main", true),
        ("ask < step < main", "other < main", true),
        ("ask < all[0] < main", "ask < all[0] < main", true),
        ("ask < all[0] < main", "ask < all[1] < main", false),
        ("ask < a < all[0] < main", "ask < b < all[12] < main", false),
        ("ask < allSettled[0] < main", "ask < all[1] < main", true),
        ("ask < all[0] < main", "ask < main", true),
        (
            "ask < all[0] < a < all[0] < main",
            "ask < all[1] < b < all[1] < main",
            false,
        ),
        ("ask < f[x] < main", "ask < f[y] < main", true),
        ("ask < f[] < main", "ask < f[1] < main", true),
    ] {
        assert_eq!(
            shows(Some(chain(failed)), Some(chain(start)), false),
            seen,
            "{failed}, then {start}"
        );
    }
}

#[test]
fn without_both_chains_only_the_same_turn_or_an_idle_frame_shows_it() {
    let complete = || Some(chain("ask < main"));
    for (failed, start, alone, seen) in [
        (None, None, true, true),
        (None, None, false, false),
        (complete(), None, true, false),
        (None, complete(), true, false),
    ] {
        assert_eq!(shows(failed.clone(), start.clone(), alone), seen);
        let pending = PendingFailures::new();
        pending.add((), at(2, failed), alone);
        assert_eq!(
            pending.take_seen(&at(2, start)).len(),
            1,
            "in the same turn"
        );
        assert!(pending.is_empty());
    }
}

#[test]
fn only_the_first_start_after_a_failure_is_alone_with_it() {
    let pending = PendingFailures::new();
    pending.add("x", at(1, None), true);
    assert_eq!(
        pending.take_seen(&at(2, Some(chain("ask < main")))),
        [""; 0]
    );
    assert_eq!(pending.take_seen(&at(3, None)), [""; 0]);
    assert_eq!(pending.take_all(), ["x"]);
}
