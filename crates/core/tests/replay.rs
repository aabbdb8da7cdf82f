//! Answers from a recording, by the rules that keep a replay from being wrong.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail by panicking"
)]

use std::sync::Arc;

use agent_rewind_core::frame::{Course, State};
use agent_rewind_core::hash::{ContentHash, content_hash};
use agent_rewind_core::journal::{Kind, Outcome, RequestHash, Value};
use agent_rewind_core::json::{JsonStr, JsonText};
use agent_rewind_core::live::{Asked, Begun, FrameInput, LiveFrame, RunOptions};
use agent_rewind_core::replay::{Answer, Miss, Source, Verdict};
use agent_rewind_core::request::{PromptTail, Prompting, Request, Text};
use agent_rewind_core::run::Ended;
use agent_rewind_core::snapshot::{Provenance, Snapshot, read_snapshot, write_snapshot};

const RECORDING: RunOptions = RunOptions {
    recording: true,
    requests: true,
    failures: agent_rewind_core::replay::Failures::Auto,
    memory: agent_rewind_core::replay::MemoryChoice::Auto,
};

fn name(text: &str) -> JsonStr {
    JsonStr::from_plain(text)
}

fn value(json: &str) -> Value {
    Value::plain(JsonText::trusted(json.to_owned()))
}

fn hash(text: &str) -> ContentHash {
    content_hash(&format!("\"{text}\"")).unwrap()
}

fn input(call_id: &str, agent_id: &str, props: &str) -> FrameInput {
    FrameInput {
        call_id: name(call_id),
        agent_id: name(agent_id),
        hash: hash(props),
        props: Some(value(&format!("\"{props}\""))),
    }
}

fn start(source: Option<Source>) -> LiveFrame {
    LiveFrame::start_run(input("root", "", ""), source, RECORDING)
}

fn begin(frame: &LiveFrame, request: &str, foreign: Option<&str>) -> Begun {
    let asked = Asked {
        kind: Kind::Tool,
        call_id: name("t"),
        hash: hash(request),
        request: None,
    };
    frame.begin_call(asked, foreign.map(name))
}

fn end(frame: &LiveFrame, begun: &Begun, outcome: Outcome) {
    assert!(frame.end_call(
        begun.slot.unwrap(),
        Ended {
            outcome,
            meta: None
        }
    ));
}

fn tool(frame: &LiveFrame, request: &str, outcome: Outcome) {
    end(frame, &begin(frame, request, None), outcome);
}

fn output(json: &str) -> Outcome {
    Outcome::Output(value(json))
}

fn failure() -> Outcome {
    Outcome::Failure {
        error: JsonText::trusted(r#"{"name":"Error","message":"m"}"#.into()),
        stopped: false,
        handled: false,
    }
}

fn in_memory(frame: &LiveFrame) -> Snapshot {
    Snapshot::new(
        "p".into(),
        0.0,
        frame.dump(),
        frame.clock(),
        Provenance {
            trace_id: "t".into(),
            ..Provenance::default()
        },
    )
}

/// The dump, through its text: a handle and its copy must answer alike.
fn replayed(frame: &LiveFrame) -> Source {
    let snapshot = in_memory(frame);
    let copy = read_snapshot(&Arc::new(write_snapshot(&snapshot))).unwrap();
    assert_eq!(write_snapshot(&copy), write_snapshot(&snapshot));
    Source::of_snapshot(&copy)
}

fn ask(frame: &LiveFrame, request: &str) -> Answer {
    begin(frame, request, None).answer
}

fn text(answer: &Answer) -> &str {
    match &answer.verdict {
        Verdict::Output(value) => value.text.as_str(),
        Verdict::Failure(_) => "failure",
        Verdict::Miss(Miss::NoRecording) => "no recording",
        Verdict::Miss(Miss::NotRecorded) => "not recorded",
        Verdict::Miss(Miss::InFlight) => "in flight",
        Verdict::Miss(Miss::Tombstone) => "tombstone",
        Verdict::Miss(Miss::Retry) => "retry",
    }
}

#[test]
fn occurrences_answer_once_in_order_of_start() {
    let live = start(None);
    let first = begin(&live, "q", None);
    let second = begin(&live, "q", None);
    // They end the other way round.
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
        "the recorded order of ends is told: {ends:?}"
    );
}

#[test]
fn kinds_have_journals_of_their_own() {
    let live = start(None);
    tool(&live, "q", output("1"));
    let replay = start(Some(replayed(&live)));
    let asked = Asked {
        kind: Kind::Prompt,
        call_id: name("p"),
        hash: hash("q"),
        request: None,
    };
    let other = replay.begin_call(asked, None).answer;
    assert_eq!(text(&other), "not recorded");
    assert_eq!(text(&ask(&replay, "q")), "1");
}

#[test]
fn children_are_found_by_content_in_any_order() {
    let live = start(None);
    for (index, props) in ["x", "y", "x"].into_iter().enumerate() {
        let child = live.open_child(input(&format!("root/agent:a:{index}"), "a", props));
        tool(&child, "q", output(&format!("\"{props}{index}\"")));
        child.set_memory(
            name("who"),
            JsonText::trusted(format!("\"{props}{index}\"")),
            false,
        );
        child.end(State::Completed(value("null")));
    }
    let replay = start(Some(replayed(&live)));
    // Started in another order, so under other callIds.
    let y = replay.open_child(input("root/agent:a:0", "a", "y"));
    assert_eq!(text(&ask(&y, "q")), "\"y1\"");
    let x = replay.open_child(input("root/agent:a:1", "a", "x"));
    assert_eq!(text(&ask(&x, "q")), "\"x0\"");
    let same = replay.open_child(input("root/agent:a:2", "a", "x"));
    assert_eq!(text(&ask(&same, "q")), "\"x2\"");
}

#[test]
fn a_child_with_other_props_gets_entries_but_no_memory() {
    let live = start(None);
    let child = live.open_child(input("root/agent:a:0", "a", "x"));
    child.set_memory(name("k"), JsonText::trusted("1".into()), true);
    tool(&child, "same", output("1"));
    let replay = start(Some(replayed(&live)));
    let other = replay.open_child(input("root/agent:a:0", "a", "changed"));
    assert!(other.entry().is_none());
    assert_eq!(text(&ask(&other, "same")), "1");
    assert_eq!(
        text(&ask(&other, "same")),
        "not recorded",
        "an entry is still used once"
    );
    let stranger = replay.open_child(input("root/agent:b:0", "b", "x"));
    assert_eq!(text(&ask(&stranger, "same")), "no recording");
}

#[test]
fn failures_that_were_handled_replay_and_those_that_ended_the_run_are_tried_again() {
    // Handled: something was started after it.
    let live = start(None);
    tool(&live, "q", failure());
    tool(&live, "next", output("1"));
    assert_eq!(text(&ask(&start(Some(replayed(&live))), "q")), "failure");

    // The last thing before the dump.
    let live = start(None);
    tool(&live, "q", failure());
    assert_eq!(text(&ask(&start(Some(replayed(&live))), "q")), "retry");

    // It made the child fail, and the parent went on.
    let live = start(None);
    let child = live.open_child(input("root/agent:a:0", "a", ""));
    tool(&child, "q", failure());
    child.end(State::Failed(None));
    tool(&live, "next", output("1"));
    let replay = start(Some(replayed(&live)));
    assert_eq!(
        text(&ask(
            &replay.open_child(input("root/agent:a:0", "a", "")),
            "q"
        )),
        "failure"
    );

    // It made the child fail, and the parent with it, beside a sibling that went on a little longer.
    let live = start(None);
    let child = live.open_child(input("root/agent:a:0", "a", ""));
    let sibling = live.open_child(input("root/agent:b:0", "b", ""));
    let begun = begin(&child, "q", None);
    end(&child, &begun, failure());
    child.mark_stopped(begun.slot.unwrap());
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

    // The agent returned all the same.
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
fn what_was_in_flight_or_could_not_be_kept_is_made_again() {
    let live = start(None);
    assert_eq!(text(&ask(&live, "open")), "no recording");
    tool(&live, "buried", Outcome::Tombstone(name("/a: a function")));
    let replay = start(Some(replayed(&live)));
    assert_eq!(text(&ask(&replay, "open")), "in flight");
    assert_eq!(text(&ask(&replay, "buried")), "tombstone");
}

#[test]
fn memory_of_the_start_where_there_is_something_to_replay() {
    let key = name("count");
    let live = start(None);
    let counted = live.open_child(input("root/agent:a:0", "a", ""));
    counted.set_memory(key.clone(), JsonText::trusted("0".into()), true);
    counted.set_memory(key.clone(), JsonText::trusted("1".into()), false);
    tool(&counted, "q", output("1"));
    let idle = live.open_child(input("root/agent:b:0", "b", ""));
    idle.set_memory(key.clone(), JsonText::trusted("0".into()), true);
    idle.set_memory(key.clone(), JsonText::trusted("1".into()), false);
    let replay = start(Some(replayed(&live)));
    let memory = |frame: &LiveFrame| {
        frame
            .entry()
            .unwrap()
            .memory
            .get(&key)
            .map(|text| text.as_str().to_owned())
    };
    assert_eq!(
        memory(&replay.open_child(input("root/agent:a:0", "a", ""))).as_deref(),
        Some("0")
    );
    assert_eq!(
        memory(&replay.open_child(input("root/agent:b:0", "b", ""))).as_deref(),
        Some("1")
    );
}

#[test]
fn a_later_generation_is_entered_with_its_props() {
    let live = start(None);
    let child = live.open_child(input("root/agent:a:0", "a", "x"));
    tool(&child, "first", output("1"));
    child.next_generation(Some(value("\"again\"")));
    tool(&child, "second", output("2"));
    let replay = start(Some(replayed(&live)));
    let child = replay.open_child(input("root/agent:a:0", "a", "x"));
    let entry = child.entry().unwrap();
    assert_eq!(
        (
            entry.generation,
            entry.props.as_ref().unwrap().text.as_str()
        ),
        (1, "\"again\"")
    );
    assert_eq!(text(&ask(&child, "first")), "not recorded");
    assert_eq!(text(&ask(&child, "second")), "2");
    // The earlier generation is not lost to a dump of the replay.
    assert_eq!(
        replay
            .dump()
            .generation
            .children
            .get(0)
            .unwrap()
            .earlier
            .len(),
        1
    );
}

#[test]
fn hashes_of_another_recorder_are_looked_up_beside_ours() {
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
    let replay = start(Some(Source::of_snapshot(&snapshot)));
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
fn without_recording_a_run_still_replays_and_counts() {
    let live = start(None);
    tool(&live, "q", output("1"));
    let options = RunOptions {
        recording: false,
        ..RECORDING
    };
    let replay = LiveFrame::start_run(input("root", "", ""), Some(replayed(&live)), options);
    let begun = begin(&replay, "q", None);
    assert_eq!(text(&begun.answer), "1");
    assert_eq!(begun.slot, None);
    let usage = agent_rewind_core::usage::Usage {
        call_count: 1.0,
        ..Default::default()
    };
    let child = replay.open_child(input("root/agent:a:0", "a", ""));
    child.add_usage(&usage);
    assert!((replay.budget().aggregate.call_count - 1.0).abs() < f64::EPSILON);
    assert!(replay.dump().generation.children.is_empty());
}

#[test]
fn requests_are_kept_each_message_once() {
    let live = start(None);
    let tail = PromptTail::new(
        r#"{"model":{"id":"m"},"tools":[{"name":"a long tool list"}]}"#.into(),
        None,
    )
    .unwrap();
    let mut prompting = Prompting::new(true);
    let mut expected = Vec::new();
    for turn in 0..50 {
        prompting
            .append(
                format!(r#"[{{"role":"user","content":"message {turn}"}}]"#),
                None,
            )
            .unwrap();
        let request = prompting.request(&tail);
        expected.push(request.clone());
        let asked = Asked {
            kind: Kind::Prompt,
            call_id: name("p"),
            hash: prompting.hash(&tail),
            request,
        };
        end(&live, &live.begin_call(asked, None), output("1"));
        let asked = Asked {
            kind: Kind::Tool,
            call_id: name("t"),
            hash: hash("same"),
            request: Some(Request::Document(Text::Own(JsonText::trusted(
                r#"{"input":1,"name":"same"}"#.into(),
            )))),
        };
        end(&live, &live.begin_call(asked, None), output("2"));
    }
    let child = live.open_child(input("root/agent:a:0", "a", "x"));
    let asked = Asked {
        kind: Kind::Prompt,
        call_id: name("p"),
        hash: prompting.hash(&tail),
        request: prompting.request(&tail),
    };
    end(&child, &child.begin_call(asked, None), output("3"));
    let source = replayed(&live);
    let calls = &source.frame().generation.calls;
    let prompts: Vec<_> = calls
        .iter()
        .filter(|call| call.kind == Kind::Prompt)
        .map(|call| call.request.clone())
        .collect();
    assert_eq!(prompts, expected);
    let tools = calls.iter().filter(|call| call.kind == Kind::Tool);
    for call in tools {
        assert_eq!(
            call.request.as_ref().unwrap().pieces().concat(),
            r#"{"input":1,"name":"same"}"#
        );
    }
    let child = source.frame().generation.children.get(0).unwrap();
    assert_eq!(
        child.generation.calls.get(0).unwrap().request,
        *expected.last().unwrap()
    );
    let mut written = String::new();
    agent_rewind_core::snapshot::write_frame(source.frame(), &mut written);
    for once in [
        "a long tool list",
        "\"message 0\"",
        "\"message 49\"",
        r#"{"input":1,"name":"same"}"#,
    ] {
        assert_eq!(written.matches(once).count(), 1, "{once}");
    }
}

#[test]
fn what_was_not_asked_for_is_counted() {
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
    let place = |begun: &Begun| begun.answer.call.as_ref().unwrap().end;
    assert!(!in_order.release_call(fast.slot, place(&fast)));
    assert!(!in_order.release_call(slow.slot, place(&slow)));
    let source = replayed(&live);
    let changed = start(Some(source));
    let slow = begin(&changed, "slow", None);
    assert!(
        changed.release_call(slow.slot, place(&slow)),
        "the other one had started and ended before"
    );
}

#[test]
fn a_recorded_frame_can_be_adopted_whole() {
    let live = start(None);
    let child = live.open_child(input("root/agent:a:0", "a", "x"));
    tool(&child, "q", output("1"));
    child.end(State::Completed(value("\"done\"")));
    let replay = start(Some(replayed(&live)));
    let adopted = replay.open_child(input("root/agent:a:0", "a", "x"));
    assert!(
        matches!(&adopted.recorded().unwrap().state, State::Completed(output) if output.text.as_str() == "\"done\"")
    );
    assert!(adopted.adopt());
    let dump = replay.dump();
    let frame = dump.generation.children.get(0).unwrap();
    assert_eq!(frame.generation.calls.len(), 1);
    assert_eq!(frame.state, State::Completed(value("\"done\"")));
    assert!(frame.end.is_some());
}

#[test]
fn a_dump_amid_a_replay_keeps_what_was_not_reached() {
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

    // The resumed run comes no further than the middle of the first child, where it asks something new.
    let resumed = start(Some(first.clone()));
    let begun = begin(&resumed, "a", None);
    resumed.release_call(begun.slot, begun.answer.call.as_ref().unwrap().end);
    let child = resumed.open_child(input("root/agent:w:0", "w", "x"));
    let begun = begin(&child, "b", None);
    child.release_call(begun.slot, begun.answer.call.as_ref().unwrap().end);
    tool(&child, "new", output("6"));

    for source in [
        replayed(&resumed),
        Source::of_snapshot(&in_memory(&resumed)),
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
            "nothing is there twice"
        );
        let other = again.open_child(input("root/agent:w:1", "w", "y"));
        assert_eq!(text(&ask(&other, "d")), "4");
        assert_eq!(text(&ask(&again, "e")), "5");
        assert_eq!(text(&ask(&again, "e")), "not recorded");
    }
}

/// Start and end of each call of the run's frame, in the order of the list.
fn places(snapshot: &Snapshot) -> Vec<(u64, Option<u64>)> {
    let calls = &snapshot.tree().generation.calls;
    calls.iter().map(|call| (call.start, call.end)).collect()
}

fn release(frame: &LiveFrame, begun: &Begun) {
    frame.release_call(begun.slot, begun.answer.call.as_ref().unwrap().end);
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
    assert_eq!(places(&in_memory(&again)), places(&in_memory(&live)));
    assert_eq!(places(&in_memory(&again)), [(1, Some(4)), (2, Some(3))]);
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
    assert_eq!(places(&early), [(1, Some(4)), (2, Some(3)), (5, Some(6))]);
    let unreached = early.tree().generation.calls.iter();
    let unreached: Vec<bool> = unreached.map(|call| call.unreached).collect();
    assert_eq!(unreached, [false, false, true]);

    let c = begin(&resumed, "c", None);
    let pending = in_memory(&resumed);
    release(&resumed, &c);
    tool(&resumed, "new", output("3"));
    let dump = in_memory(&resumed);
    assert_eq!(
        places(&dump),
        [(1, Some(4)), (2, Some(3)), (5, Some(6)), (7, Some(8))]
    );
    assert_eq!(places(&pending), places(&dump)[..3]);
    let text = Arc::new(write_snapshot(&early));
    assert_eq!(places(&read_snapshot(&text).unwrap()), places(&early));
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
    let reached = places(&snapshot)[1].1.unwrap();
    let last = places(&snapshot)[2];
    let agent = snapshot.tree().generation.children.get(0).unwrap();
    let inner = agent.generation.calls.get(0).unwrap();
    assert!(agent.course == Course::Unreached && agent.start > Some(reached));
    assert!(agent.start < Some(inner.start) && inner.end < Some(last.0));
    assert!(last.0 < last.1.unwrap());
}

#[test]
fn what_was_not_reached_is_no_sign_that_a_failure_was_handled() {
    let live = start(None);
    for request in ["a", "b"] {
        tool(&live, request, output("1"));
    }
    let resumed = start(Some(replayed(&live)));
    tool(&resumed, "new", failure());
    for source in [
        replayed(&resumed),
        Source::of_snapshot(&in_memory(&resumed)),
    ] {
        let again = start(Some(source));
        assert_eq!(text(&ask(&again, "new")), "retry");
    }
}

#[test]
fn a_handled_failure_stays_handled_where_it_was_not_reached() {
    let live = start(None);
    tool(&live, "a", output("1"));
    let agent = live.open_child(input("root/agent:w:0", "w", "x"));
    tool(&agent, "fails", failure());
    // The run goes on beside it.
    tool(&live, "b", output("2"));
    let resumed = start(Some(replayed(&live)));
    release(&resumed, &begin(&resumed, "a", None));
    for source in [
        replayed(&resumed),
        Source::of_snapshot(&in_memory(&resumed)),
    ] {
        let again = start(Some(source));
        assert_eq!(text(&ask(&again, "a")), "1");
        let agent = again.open_child(input("root/agent:w:0", "w", "x"));
        assert_eq!(text(&ask(&agent, "fails")), "failure");
    }
}

/// A run whose one agent asks "b" and ends.
fn with_agent() -> LiveFrame {
    let live = start(None);
    let agent = live.open_child(input("root/agent:w:0", "w", "x"));
    tool(&agent, "b", output("1"));
    agent.end(State::Completed(value("2")));
    tool(&live, "c", output("3"));
    live
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
    assert_eq!(places(&snapshot), [(5, Some(6))]);

    tool(&agent, "new", output("4"));
    let snapshot = in_memory(&resumed);
    let changed = snapshot.tree().generation.children.get(0).unwrap();
    assert_eq!(changed.state, State::Running);
    assert_eq!(changed.end, None);
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
        source = Source::of_snapshot(&in_memory(&resumed));
    }
    let last = source.frame().generation.calls.iter();
    let last = last.filter_map(|call| call.end).max().unwrap();
    // Six calls, and the new ones of each round, which the next does not ask for.
    assert!(last < 200 * 20, "the last place is {last}");
}

#[test]
fn a_run_that_was_resumed_often_holds_no_earlier_one() {
    let live = with_agent();
    let mut source = replayed(&live);
    let mut earlier = Vec::new();
    for _ in 0..3 {
        let snapshot = {
            let resumed = start(Some(source));
            let agent = resumed.open_child(input("root/agent:w:0", "w", "x"));
            release(&agent, &begin(&agent, "b", None));
            agent.end(State::Completed(value("2")));
            release(&resumed, &begin(&resumed, "c", None));
            in_memory(&resumed)
        };
        source = Source::of_snapshot(&snapshot);
        earlier.push(Arc::downgrade(&snapshot.root));
        let agent = snapshot.root.generation.children.get(0).unwrap();
        earlier.push(Arc::downgrade(agent));
    }
    let held = earlier.iter().filter(|frame| frame.upgrade().is_some());
    assert_eq!(held.count(), 0);
}

#[test]
fn what_was_not_reached_has_callids_of_its_own() {
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
fn a_replay_leaves_nothing_of_its_recording_behind() {
    let root = start(None);
    let agent = root.open_child(input("root/agent:a:0", "a", "{}"));
    drop(agent.open_child(input("root/agent:a:0/agent:b:0", "b", "{}")));
    let text = Arc::new(write_snapshot(&in_memory(&root)));
    let snapshot = read_snapshot(&text).unwrap();
    let again = start(Some(Source::of_snapshot(&snapshot)));
    let agent = again.open_child(input("root/agent:a:0", "a", "{}"));
    drop(snapshot);
    // The parent may be gone before its child asks.
    drop(again);
    let child = agent.open_child(input("root/agent:a:0/agent:b:0", "b", "{}"));
    assert!(child.entry().is_some());
    drop((agent, child));
    assert_eq!(Arc::strong_count(&text), 1);
}
