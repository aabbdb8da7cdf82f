//! Helpers that build runs by hand and read their answers.

use std::sync::Arc;

use agent_rewind_core::hash::{ContentHash, content_hash};
use agent_rewind_core::json::{JsonStr, JsonText};
use agent_rewind_core::model::{CallData, Kind, Outcome, Recorder, State, Value};
use agent_rewind_core::record::{
    CallInput, Ended, FrameInput, LiveFrame, Moment, RunOptions, StartedCall,
};
use agent_rewind_core::replay::{Answer, Miss, ReplaySource, Verdict};
use agent_rewind_core::snapshot::{Provenance, Snapshot, read_snapshot, write_snapshot};

pub const RECORDING: RunOptions = RunOptions {
    recording: true,
    requests: true,
    failures: agent_rewind_core::replay::Failures::Auto,
    memory: agent_rewind_core::replay::MemoryChoice::Auto,
};

pub fn name(text: &str) -> JsonStr {
    JsonStr::from_plain(text)
}

pub fn value(json: &str) -> Value {
    Value::plain(JsonText::trusted(json.to_owned()))
}

pub fn hash(text: &str) -> ContentHash {
    content_hash(&format!("\"{text}\"")).unwrap()
}

pub fn input(call_id: &str, agent_id: &str, props: &str) -> FrameInput {
    FrameInput {
        within: None,
        call_id: name(call_id),
        agent_id: name(agent_id),
        hash: hash(props).into(),
        props: Some(value(&format!("\"{props}\""))),
    }
}

pub fn start(source: Option<ReplaySource>) -> LiveFrame {
    LiveFrame::start_run(input("root", "", ""), source, RECORDING)
}

/// A moment of a program whose awaiters are unknown. Nothing else is open in its frame.
pub fn moment() -> Moment {
    Moment::default()
}

pub fn fail_frame(frame: &LiveFrame) {
    frame.end(State::Failed(None));
    frame.hand_out_frame(moment(), true);
}

/// Begins a call, which shows that the program has seen its earlier failures.
pub fn begin(frame: &LiveFrame, request: &str, foreign: Option<&str>) -> StartedCall {
    frame.continues(&moment());
    let call = CallInput {
        within: None,
        kind: Kind::Tool,
        call_id: name("t"),
        hash: hash(request),
        lane: None,
        exact: true,
        request: None,
    };
    frame.begin_call(call, foreign.map(name))
}

pub fn end(frame: &LiveFrame, started: &StartedCall, outcome: Outcome) {
    let slot = started.slot.unwrap();
    assert!(frame.end_call(
        slot,
        Ended {
            outcome,
            data: CallData::default(),
        }
    ));
    frame.hand_out(slot, moment(), true);
}

pub fn tool(frame: &LiveFrame, request: &str, outcome: Outcome) {
    end(frame, &begin(frame, request, None), outcome);
}

pub fn output(json: &str) -> Outcome {
    Outcome::Output(value(json))
}

pub fn failure() -> Outcome {
    Outcome::Failure {
        error: JsonText::trusted(r#"{"name":"Error","message":"m"}"#.into()),
        stopped: false,
        handled: false,
    }
}

pub fn in_memory(frame: &LiveFrame) -> Snapshot {
    let mut snapshot = Snapshot::new(
        "p".into(),
        0.0,
        frame.dump(),
        frame.clock(),
        Provenance {
            trace_id: "t".into(),
            ..Provenance::default()
        },
    );
    snapshot.recorder = Some(Recorder::this(frame.flags(), frame.salt()));
    snapshot
}

/// The dump, after a round trip through its text, which must be lossless.
pub fn replayed(frame: &LiveFrame) -> ReplaySource {
    let snapshot = in_memory(frame);
    let copy = read_snapshot(&Arc::new(write_snapshot(&snapshot))).unwrap();
    assert_eq!(write_snapshot(&copy), write_snapshot(&snapshot));
    ReplaySource::of_tree(copy.tree(), copy.flags())
}

pub fn ask(frame: &LiveFrame, request: &str) -> Answer {
    begin(frame, request, None).answer
}

pub fn text(answer: &Answer) -> &str {
    match &answer.verdict {
        Verdict::Output(value) => value.text.as_str(),
        Verdict::Failure(_) => "failure",
        Verdict::Miss(Miss::NoRecording) => "no recording",
        Verdict::Miss(Miss::NotRecorded) => "not recorded",
        Verdict::Miss(Miss::InFlight) => "in flight",
        Verdict::Miss(Miss::Tombstone) => "tombstone",
        Verdict::Miss(Miss::Retry { .. }) => "retry",
        Verdict::Miss(Miss::Inexact) => "inexact",
    }
}

pub fn release(frame: &LiveFrame, started: &StartedCall) {
    frame.release_call(started.slot, started.answer.call.as_ref().unwrap().end);
}

/// A run with one agent, which calls "b" and ends.
pub fn with_agent() -> LiveFrame {
    let live = start(None);
    let agent = live.open_child(input("root/agent:w:0", "w", "x"));
    tool(&agent, "b", output("1"));
    agent.end(State::Completed(value("2")));
    tool(&live, "c", output("3"));
    live
}
