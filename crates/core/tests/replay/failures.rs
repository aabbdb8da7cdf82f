//! Which recorded failures are replayed, and which are retried.

use agent_rewind_core::model::{Flags, State};
use agent_rewind_core::replay::ReplaySource;

use super::support::{
    ask, begin, end, fail_frame, failure, in_memory, input, output, release, replayed, start, text,
    tool, value,
};

#[test]
fn handled_failures_are_replayed_and_those_that_ended_the_run_are_retried() {
    // Handled: a call was started after it.
    let live = start(None);
    tool(&live, "q", failure());
    tool(&live, "next", output("1"));
    assert_eq!(text(&ask(&start(Some(replayed(&live))), "q")), "failure");

    // The last thing before the dump.
    let live = start(None);
    tool(&live, "q", failure());
    assert_eq!(text(&ask(&start(Some(replayed(&live))), "q")), "retry");

    // The child failed with it, and the parent continued.
    let live = start(None);
    let child = live.open_child(input("root/agent:a:0", "a", ""));
    tool(&child, "q", failure());
    fail_frame(&child);
    tool(&live, "next", output("1"));
    let replay = start(Some(replayed(&live)));
    assert_eq!(
        text(&ask(
            &replay.open_child(input("root/agent:a:0", "a", "")),
            "q"
        )),
        "failure"
    );

    // The child and the parent failed with it, while a sibling continued a little longer.
    let live = start(None);
    let child = live.open_child(input("root/agent:a:0", "a", ""));
    let sibling = live.open_child(input("root/agent:b:0", "b", ""));
    let started = begin(&child, "q", None);
    end(&child, &started, failure());
    child.mark_stopped(started.slot.unwrap());
    child.end(State::Failed(None));
    tool(&sibling, "later", output("1"));
    child.mark_frame_stopped();
    live.end(State::Failed(None));
    let replay = start(Some(replayed(&live)));
    assert_eq!(
        text(&ask(
            &replay.open_child(input("root/agent:a:0", "a", "")),
            "q"
        )),
        "retry"
    );

    // The agent completed anyway.
    let live = start(None);
    let child = live.open_child(input("root/agent:a:0", "a", ""));
    tool(&child, "q", failure());
    child.end(State::Completed(value("\"fallback\"")));
    let replay = start(Some(replayed(&live)));
    assert_eq!(
        text(&ask(
            &replay.open_child(input("root/agent:a:0", "a", "")),
            "q"
        )),
        "failure"
    );
}

#[test]
fn carried_over_entries_do_not_prove_that_a_failure_was_handled() {
    let live = start(None);
    for request in ["a", "b"] {
        tool(&live, request, output("1"));
    }
    let resumed = start(Some(replayed(&live)));
    tool(&resumed, "new", failure());
    for source in [
        replayed(&resumed),
        ReplaySource::of_tree(in_memory(&resumed).tree(), resumed.flags()),
    ] {
        let again = start(Some(source));
        assert_eq!(text(&ask(&again, "new")), "retry");
    }
}

#[test]
fn a_carried_over_failure_stays_handled() {
    let live = start(None);
    tool(&live, "a", output("1"));
    let agent = live.open_child(input("root/agent:w:0", "w", "x"));
    tool(&agent, "fails", failure());
    // The run continues at the same time. Only recordings without the flag for seen failures count that.
    tool(&live, "b", output("2"));
    let old = ReplaySource::of_tree(in_memory(&live).tree(), Flags::NONE);
    let resumed = start(Some(old));
    release(&resumed, &begin(&resumed, "a", None));
    for source in [
        replayed(&resumed),
        ReplaySource::of_tree(in_memory(&resumed).tree(), resumed.flags()),
    ] {
        let again = start(Some(source));
        assert_eq!(text(&ask(&again, "a")), "1");
        let agent = again.open_child(input("root/agent:w:0", "w", "x"));
        assert_eq!(text(&ask(&agent, "fails")), "failure");
    }
}
