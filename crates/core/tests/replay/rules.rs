//! Which recorded call answers which request, and which requests miss.

use std::sync::Arc;

use agent_rewind_core::hash::InputHash;
use agent_rewind_core::model::{Flags, Kind, Outcome, RequestHash, State};
use agent_rewind_core::record::{CallInput, FrameInput, LiveFrame, RunOptions};
use agent_rewind_core::replay::{Answer, ReplaySource};
use agent_rewind_core::snapshot::{Provenance, Snapshot};

use super::support::{
    RECORDING, ask, begin, end, hash, in_memory, input, name, output, replayed, start, text, tool,
    value, with_agent,
};

#[test]
fn occurrences_answer_once_in_the_order_of_their_starts() {
    let live = start(None);
    let first = begin(&live, "q", None);
    let second = begin(&live, "q", None);
    // They end in the opposite order.
    end(&live, &second, output("2"));
    end(&live, &first, output("1"));
    let replay = start(Some(replayed(&live)));
    let answers: Vec<Answer> = (0..3).map(|_| ask(&replay, "q")).collect();
    assert_eq!(
        answers.iter().map(text).collect::<Vec<_>>(),
        ["1", "2", "not recorded"]
    );
    let ends: Vec<_> = answers
        .iter()
        .take(2)
        .map(|answer| answer.call.as_ref().unwrap().end)
        .collect();
    assert!(
        ends[0] > ends[1],
        "answers carry the recorded order of ends: {ends:?}"
    );
}

#[test]
fn an_inexact_request_is_answered_only_by_recordings_without_the_flag() {
    let inexact = || CallInput {
        within: None,
        kind: Kind::Tool,
        call_id: name("t"),
        hash: hash("q"),
        lane: None,
        exact: false,
        request: None,
    };
    let live = start(None);
    assert_eq!(live.flags(), Flags::CURRENT);
    tool(&live, "q", output("1"));
    let snapshot = in_memory(&live);
    let over = |flags| start(Some(ReplaySource::of_tree(snapshot.tree(), flags)));

    let old = over(Flags::NONE);
    assert_eq!(text(&old.begin_call(inexact(), None).answer), "1");
    // Additions are recorded under the rules of the recording, in sub-agents too.
    assert_eq!(old.flags(), Flags::NONE);
    let agent = old.open_child(input("root/agent:a:0", "a", ""));
    assert_eq!(agent.flags(), Flags::NONE);

    let new = over(Flags::CURRENT);
    let started = new.begin_call(inexact(), None);
    assert_eq!(text(&started.answer), "inexact");
    // The live call uses up the recorded one, which would otherwise be carried over next to it.
    assert!(started.answer.call.is_some());
    assert_eq!(new.unused(), Some((0, 0)));
    // A request that the recording does not contain is not recorded, whether or not its hash covers it.
    assert_eq!(
        text(&new.begin_call(inexact(), None).answer),
        "not recorded"
    );
    assert_eq!(text(&ask(&over(Flags::CURRENT), "q")), "1");
}

#[test]
fn each_kind_has_its_own_journal() {
    let live = start(None);
    tool(&live, "q", output("1"));
    let replay = start(Some(replayed(&live)));
    let call = CallInput {
        within: None,
        kind: Kind::Prompt,
        call_id: name("p"),
        hash: hash("q"),
        lane: None,
        exact: true,
        request: None,
    };
    let other = replay.begin_call(call, None).answer;
    assert_eq!(text(&other), "not recorded");
    assert_eq!(text(&ask(&replay, "q")), "1");
}

#[test]
fn calls_in_flight_and_tombstones_are_executed_again() {
    let live = start(None);
    assert_eq!(text(&ask(&live, "open")), "no recording");
    tool(&live, "buried", Outcome::Tombstone(name("/a: a function")));
    let replay = start(Some(replayed(&live)));
    assert_eq!(text(&ask(&replay, "open")), "in flight");
    assert_eq!(text(&ask(&replay, "buried")), "tombstone");
}

#[test]
fn hashes_of_another_recorder_are_looked_up_along_with_ours() {
    let live = start(None);
    tool(&live, "q", output("1"));
    let mut root = (*live.dump()).clone();
    let mut call = (**root.generation.calls.get(0).unwrap()).clone();
    call.hash = RequestHash::from_json_str(name("1a2b3c"));
    root.generation.calls.set_mut(0, Arc::new(call));
    let snapshot = Snapshot::new(
        "p".into(),
        0.0,
        Arc::new(root),
        live.clock(),
        Provenance {
            trace_id: "t".into(),
            ..Provenance::default()
        },
    );
    let replay = start(Some(ReplaySource::of_tree(snapshot.tree(), Flags::CURRENT)));
    assert!(replay.has_foreign_hashes());
    let answer = begin(&replay, "q", Some("1a2b3c")).answer;
    assert_eq!(text(&answer), "1");
    // The replay itself is recorded under our hash.
    assert!(matches!(
        replay.dump().generation.calls.get(0).unwrap().hash,
        RequestHash::Sha256(_)
    ));
}

#[test]
fn a_run_without_recording_still_replays_and_counts_usage() {
    let live = start(None);
    tool(&live, "q", output("1"));
    let options = RunOptions {
        recording: false,
        ..RECORDING
    };
    let replay = LiveFrame::start_run(input("root", "", ""), Some(replayed(&live)), options);
    let started = begin(&replay, "q", None);
    assert_eq!(text(&started.answer), "1");
    assert_eq!(started.slot, None);
    let usage = agent_rewind_core::model::Usage {
        call_count: 1.0,
        ..Default::default()
    };
    let child = replay.open_child(input("root/agent:a:0", "a", ""));
    child.add_usage(&usage);
    assert!((replay.budget().aggregate.call_count - 1.0).abs() < f64::EPSILON);
    assert!(replay.dump().generation.children.is_empty());
}

fn inexact(call_id: &str, agent_id: &str, props: &str) -> FrameInput {
    let input = input(call_id, agent_id, props);
    FrameInput {
        hash: InputHash {
            exact: false,
            ..input.hash
        },
        ..input
    }
}

/// Two sub-agents "a" with the same inexact props. Each asks one request of its own, one that both ask, and one in a
/// sub-agent of its own. Then another one with other props.
fn with_twins() -> LiveFrame {
    let live = start(None);
    for (id, props) in [("0", "p"), ("1", "p"), ("2", "other")] {
        let twin = live.open_child(inexact(&format!("root/agent:a:{id}"), "a", props));
        tool(&twin, &format!("own {id}"), output(id));
        tool(&twin, "shared", output(id));
        let inner = twin.open_child(input(&format!("root/agent:a:{id}/agent:b:0"), "b", "q"));
        tool(&inner, "inner", output(id));
        inner.end(State::Completed(value(id)));
        twin.end(State::Completed(value(id)));
    }
    live
}

#[test]
fn a_frame_with_inexact_props_is_found_by_its_call_id() {
    let live = with_twins();
    let replay = start(Some(replayed(&live)));
    // The second one starts first.
    let twin = replay.open_child(inexact("root/agent:a:1", "a", "p"));
    assert!(twin.recorded().is_some());
    assert!(twin.input_hash().to_string().starts_with("inexact:"));
    assert_eq!(text(&ask(&twin, "own 1")), "1");
    assert_eq!(text(&ask(&twin, "own 0")), "not recorded");
    // The agent, the callId and everything that its hash covers must be the same.
    for other in [
        inexact("root/agent:a:7", "a", "p"),
        inexact("root/agent:a:0", "x", "p"),
        inexact("root/agent:a:0", "a", "q"),
        input("root/agent:a:0", "a", "p"),
    ] {
        assert!(replay.open_child(other).recorded().is_none());
    }
}

#[test]
fn a_request_that_two_frames_with_equal_inexact_props_recorded_is_a_miss() {
    let live = with_twins();
    let replay = start(Some(replayed(&live)));
    let twin = replay.open_child(inexact("root/agent:a:0", "a", "p"));
    assert_eq!(text(&ask(&twin, "shared")), "inexact");
    assert_eq!(text(&ask(&twin, "own 0")), "0");
    let inner = twin.open_child(input("root/agent:a:0/agent:b:0", "b", "q"));
    assert_eq!(text(&ask(&inner, "inner")), "inexact");
    // Neither is a result that may be that of the other one.
    assert!(twin.reusable().is_none() && inner.reusable().is_none());
    // What the hash covers tells this one apart.
    let single = replay.open_child(inexact("root/agent:a:2", "a", "other"));
    assert_eq!(text(&ask(&single, "shared")), "2");
    let inner = single.open_child(input("root/agent:a:2/agent:b:0", "b", "q"));
    assert_eq!(text(&ask(&inner, "inner")), "2");
    assert!(inner.reusable().is_some() && single.reusable().is_none());
}

#[test]
fn inexact_props_identify_a_frame_in_recordings_without_the_flag() {
    let live = with_agent();
    let snapshot = in_memory(&live);
    let replay = start(Some(ReplaySource::of_tree(snapshot.tree(), Flags::NONE)));
    let agent = replay.open_child(inexact("root/agent:w:5", "w", "x"));
    assert!(agent.input_hash().exact && agent.reusable().is_some());
    assert_eq!(text(&ask(&agent, "b")), "1");
}

#[test]
fn an_input_hash_is_read_as_it_is_written() {
    for exact in [true, false] {
        let written = InputHash {
            hash: hash("p"),
            exact,
        };
        assert_eq!(written.to_string().parse(), Ok(written));
    }
    assert!("inexact:".parse::<InputHash>().is_err());
}
