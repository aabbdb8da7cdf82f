//! The order of starts and ends, in a replay and in a resumed run.

use std::sync::Arc;

use agent_rewind_core::model::{Divergence, Flags, State};
use agent_rewind_core::record::StartedCall;
use agent_rewind_core::replay::ReplaySource;
use agent_rewind_core::snapshot::{Snapshot, read_snapshot, write_snapshot};

use super::support::{
    begin, end, in_memory, input, output, release, replayed, start, tool, value, with_agent,
};

/// Start and end of each call of the run's frame, in the order of the list.
fn orders(snapshot: &Snapshot) -> Vec<(u64, Option<u64>)> {
    let calls = &snapshot.tree().generation.calls;
    calls.iter().map(|call| (call.start, call.end)).collect()
}

#[test]
fn a_release_that_overtakes_is_reported() {
    let live = start(None);
    let first = begin(&live, "slow", None);
    let second = begin(&live, "fast", None);
    end(&live, &second, output("2"));
    end(&live, &first, output("1"));
    let source = replayed(&live);
    let in_order = start(Some(source.clone()));
    let (slow, fast) = (
        begin(&in_order, "slow", None),
        begin(&in_order, "fast", None),
    );
    let order = |started: &StartedCall| started.answer.call.as_ref().unwrap().end;
    assert!(!in_order.release_call(fast.slot, order(&fast)));
    assert!(!in_order.release_call(slow.slot, order(&slow)));
    let source = replayed(&live);
    let changed = start(Some(source));
    let slow = begin(&changed, "slow", None);
    assert!(
        changed.release_call(slow.slot, order(&slow)),
        "the other call had started and ended before"
    );
}

#[test]
fn a_replay_in_the_recorded_order_has_the_recorded_orders() {
    let live = start(None);
    let [first, second] = ["a", "b"].map(|request| begin(&live, request, None));
    end(&live, &second, output("2"));
    end(&live, &first, output("1"));
    let again = start(Some(replayed(&live)));
    let [first, second] = ["a", "b"].map(|request| begin(&again, request, None));
    release(&again, &second);
    release(&again, &first);
    assert_eq!(orders(&in_memory(&again)), orders(&in_memory(&live)));
    assert_eq!(orders(&in_memory(&again)), [(1, Some(4)), (2, Some(3))]);
}

#[test]
fn orders_of_a_resumed_run_follow_what_happened_in_it() {
    let live = start(None);
    begin(&live, "in flight", None);
    for request in ["b", "c"] {
        tool(&live, request, output("1"));
    }
    let resumed = start(Some(replayed(&live)));
    let made = begin(&resumed, "in flight", None);
    let b = begin(&resumed, "b", None);
    release(&resumed, &b);
    end(&resumed, &made, output("0"));

    // Entries that were not reached yet come after everything that has happened.
    let early = in_memory(&resumed);
    assert_eq!(orders(&early), [(1, Some(4)), (2, Some(3)), (5, Some(6))]);
    let carried_over = early.tree().generation.calls.iter();
    let carried_over: Vec<bool> = carried_over.map(|call| call.carried_over).collect();
    assert_eq!(carried_over, [false, false, true]);

    let c = begin(&resumed, "c", None);
    let pending = in_memory(&resumed);
    release(&resumed, &c);
    tool(&resumed, "new", output("3"));
    let dump = in_memory(&resumed);
    assert_eq!(
        orders(&dump),
        [(1, Some(4)), (2, Some(3)), (5, Some(6)), (7, Some(8))]
    );
    assert_eq!(orders(&pending), orders(&dump)[..3]);
    let text = Arc::new(write_snapshot(&early));
    assert_eq!(orders(&read_snapshot(&text).unwrap()), orders(&early));
}

#[test]
fn skipped_entries_come_after_everything_that_has_happened() {
    let live = start(None);
    let agent = live.open_child(input("root/agent:w:0", "w", "x"));
    tool(&agent, "inner", output("0"));
    for request in ["a", "b", "c"] {
        tool(&live, request, output("1"));
    }
    let resumed = start(Some(replayed(&live)));
    for request in ["b", "c"] {
        release(&resumed, &begin(&resumed, request, None));
    }
    let snapshot = in_memory(&resumed);
    let reached = orders(&snapshot)[1].1.unwrap();
    let last = orders(&snapshot)[2];
    let agent = snapshot.tree().generation.children.get(0).unwrap();
    let inner = agent.generation.calls.get(0).unwrap();
    assert!(agent.divergence == Divergence::NotReplayedYet && agent.start > Some(reached));
    assert!(agent.start < Some(inner.start) && inner.end < Some(last.0));
    assert!(last.0 < last.1.unwrap());
}

#[test]
fn an_agent_keeps_its_recorded_end_as_long_as_its_requests_are_the_recorded_ones() {
    let live = with_agent();
    let resumed = start(Some(replayed(&live)));
    let agent = resumed.open_child(input("root/agent:w:0", "w", "x"));
    release(&agent, &begin(&agent, "b", None));
    let snapshot = in_memory(&resumed);
    let ended = snapshot.tree().generation.children.get(0).unwrap();
    assert_eq!(ended.state, State::Running);
    assert_eq!((ended.start, ended.end), (Some(1), Some(4)));
    assert_eq!(orders(&snapshot), [(5, Some(6))]);

    tool(&agent, "new", output("4"));
    let snapshot = in_memory(&resumed);
    let changed = snapshot.tree().generation.children.get(0).unwrap();
    assert_eq!(changed.state, State::Running);
    assert_eq!(changed.end, None);
}

#[test]
fn an_adopted_frame_keeps_the_order_inside_it() {
    let live = start(None);
    begin(&live, "in flight", None);
    let agent = live.open_child(input("root/agent:w:0", "w", "x"));
    tool(&agent, "inner", output("0"));
    agent.end(State::Completed(value("1")));
    let resumed = start(Some(replayed(&live)));
    let made = begin(&resumed, "in flight", None);
    end(&resumed, &made, output("0"));
    let agent = resumed.open_child(input("root/agent:w:0", "w", "x"));
    assert!(agent.adopt());
    let snapshot = in_memory(&resumed);
    let agent = snapshot.tree().generation.children.get(0).unwrap();
    let inner = agent.generation.calls.get(0).unwrap();
    let order = [agent.start, Some(inner.start), inner.end, agent.end];
    assert_eq!(order, [Some(3), Some(4), Some(5), Some(6)]);
}

#[test]
fn orders_stay_dense_however_often_a_run_is_resumed() {
    let live = start(None);
    for branch in ["a", "b"] {
        for index in 0..3 {
            tool(&live, &format!("{branch}{index}"), output("1"));
        }
    }
    let mut source = replayed(&live);
    for round in 0..200 {
        let resumed = start(Some(source));
        tool(&resumed, "new", output("2"));
        let branch = ["a", "b"][round % 2];
        for index in 0..3 {
            release(
                &resumed,
                &begin(&resumed, &format!("{branch}{index}"), None),
            );
        }
        source = ReplaySource::of_tree(in_memory(&resumed).tree(), Flags::CURRENT);
    }
    let last = source.frame().generation.calls.iter();
    let last = last.filter_map(|call| call.end).max().unwrap();
    // Six calls, and the new ones of each round, which the next round does not request.
    assert!(last < 200 * 20, "the last order is {last}");
}
