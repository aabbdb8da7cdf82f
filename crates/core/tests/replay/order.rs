//! Places of starts and ends, in a replay and in a run that was resumed.

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
fn a_release_that_overtakes_is_noticed() {
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
    let order = |begun: &StartedCall| begun.answer.call.as_ref().unwrap().end;
    assert!(!in_order.release_call(fast.slot, order(&fast)));
    assert!(!in_order.release_call(slow.slot, order(&slow)));
    let source = replayed(&live);
    let changed = start(Some(source));
    let slow = begin(&changed, "slow", None);
    assert!(
        changed.release_call(slow.slot, order(&slow)),
        "the other one had started and ended before"
    );
}

#[test]
fn a_replay_in_the_recorded_order_has_the_recorded_places() {
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
fn places_of_a_resumed_run_are_in_the_order_in_which_things_came() {
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

    // What was not reached yet comes after all that has happened.
    let early = in_memory(&resumed);
    assert_eq!(orders(&early), [(1, Some(4)), (2, Some(3)), (5, Some(6))]);
    let unreached = early.tree().generation.calls.iter();
    let unreached: Vec<bool> = unreached.map(|call| call.carried_over).collect();
    assert_eq!(unreached, [false, false, true]);

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
fn what_was_passed_over_comes_after_what_has_happened_too() {
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
fn an_agent_that_runs_again_ends_where_it_had_ended_as_long_as_it_asks_the_same() {
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
fn a_result_taken_over_keeps_the_order_inside_it() {
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
fn places_stay_close_together_however_often_a_run_is_resumed() {
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
    // Six calls, and the new ones of each round, which the next does not ask for.
    assert!(last < 200 * 20, "the last order is {last}");
}
