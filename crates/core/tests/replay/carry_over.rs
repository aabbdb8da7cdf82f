//! Entries that a replay has not requested: they are counted, and carried over to the next replay.

use agent_rewind_core::model::{Flags, State};
use agent_rewind_core::replay::ReplaySource;

use super::support::{
    ask, begin, end, in_memory, input, output, replayed, start, text, tool, value,
};

#[test]
fn unused_entries_are_counted() {
    let live = start(None);
    tool(&live, "a", output("1"));
    tool(&live, "b", output("2"));
    let _child = live.open_child(input("root/agent:a:0", "a", "x"));
    let replay = start(Some(replayed(&live)));
    assert_eq!(replay.unused(), Some((2, 1)));
    ask(&replay, "b");
    assert_eq!(replay.unused(), Some((1, 1)));
    let _child = replay.open_child(input("root/agent:a:0", "a", "x"));
    assert_eq!(replay.unused(), Some((1, 0)));
    assert_eq!(start(None).unused(), None);
}

#[test]
fn a_dump_during_a_replay_keeps_entries_that_were_not_reached() {
    let live = start(None);
    tool(&live, "a", output("1"));
    let child = live.open_child(input("root/agent:w:0", "w", "x"));
    tool(&child, "b", output("2"));
    tool(&child, "c", output("3"));
    child.end(State::Completed(value("\"x\"")));
    let other = live.open_child(input("root/agent:w:1", "w", "y"));
    tool(&other, "d", output("4"));
    other.end(State::Completed(value("\"y\"")));
    tool(&live, "e", output("5"));
    let first = replayed(&live);

    // The resumed run stops in the middle of the first child, after a new request.
    let resumed = start(Some(first.clone()));
    let started = begin(&resumed, "a", None);
    resumed.release_call(started.slot, started.answer.call.as_ref().unwrap().end);
    let child = resumed.open_child(input("root/agent:w:0", "w", "x"));
    let started = begin(&child, "b", None);
    child.release_call(started.slot, started.answer.call.as_ref().unwrap().end);
    tool(&child, "new", output("6"));

    for source in [
        replayed(&resumed),
        ReplaySource::of_tree(in_memory(&resumed).tree(), Flags::CURRENT),
    ] {
        let again = start(Some(source));
        assert_eq!(text(&ask(&again, "a")), "1");
        let child = again.open_child(input("root/agent:w:0", "w", "x"));
        assert_eq!(text(&ask(&child, "b")), "2");
        assert_eq!(text(&ask(&child, "new")), "6");
        assert_eq!(text(&ask(&child, "c")), "3");
        assert_eq!(
            text(&ask(&child, "c")),
            "not recorded",
            "no entry is duplicated"
        );
        let other = again.open_child(input("root/agent:w:1", "w", "y"));
        assert_eq!(text(&ask(&other, "d")), "4");
        assert_eq!(text(&ask(&again, "e")), "5");
        assert_eq!(text(&ask(&again, "e")), "not recorded");
    }
}

#[test]
fn carried_over_entries_get_free_call_ids() {
    let live = start(None);
    tool(&live, "old", output("1"));
    let agent = live.open_child(input("id", "w", "x"));
    tool(&agent, "inner", output("2"));
    let resumed = start(Some(replayed(&live)));
    tool(&resumed, "new", output("3"));
    let _other = resumed.open_child(input("id", "w", "y"));
    let snapshot = in_memory(&resumed);
    let generation = &snapshot.tree().generation;
    let calls = generation.calls.iter().map(|call| call.call_id.body());
    assert_eq!(calls.collect::<Vec<_>>(), ["t", "t:1"]);
    let children = generation.children.iter();
    let children: Vec<_> = children.map(|child| child.call_id.body()).collect();
    assert_eq!(children, ["id", "id:1"]);
}

#[test]
fn a_completed_frame_carries_over_only_what_its_leftover_code_began() {
    let live = start(None);
    let child = live.open_child(input("root/agent:w:0", "w", "x"));
    let left = begin(&child, "left", None);
    tool(&child, "dropped", output("0"));
    child.end(State::Completed(value("\"x\"")));
    end(&child, &left, output("1"));
    tool(&child, "late", output("2"));

    // The resumed run is dumped after the end of the frame, and before the end of its left call.
    let resumed = start(Some(replayed(&live)));
    let child = resumed.open_child(input("root/agent:w:0", "w", "x"));
    begin(&child, "left", None);
    child.end(State::Completed(value("\"x\"")));

    let again = start(Some(replayed(&resumed)));
    let child = again.open_child(input("root/agent:w:0", "w", "x"));
    let left = ask(&child, "left");
    assert_eq!(text(&left), "1");
    let late = ask(&child, "late");
    assert_eq!(text(&late), "2");
    assert_eq!(text(&ask(&child, "dropped")), "not recorded");
    let (left, late) = (left.call.unwrap(), late.call.unwrap());
    assert!(child.recorded().unwrap().end < left.end && left.end < Some(late.start));
}
