//! One workload of the core for counting instructions: `instructions NAME`. Only the work inside `measured` is
//! counted; preparation and cleanup are not.
#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "it may fail by panicking, and lists its names"
)]

mod workloads;

use std::hint::black_box;
use std::sync::Arc;

use agent_rewind_core::hash::{Conversation, RequestTail, content_hash};
use agent_rewind_core::json::{JsonStr, JsonText, canonicalize};
use agent_rewind_core::model::{CallData, Flags, Kind, Outcome, Value};
use agent_rewind_core::record::{CallInput, Ended, FrameInput, LiveFrame, RunOptions};
use agent_rewind_core::replay::{Failures, MemoryChoice, ReplaySource};
use agent_rewind_core::restore::{Origin, RestoreOptions, restore};
use agent_rewind_core::snapshot::{Provenance, Snapshot, read_snapshot, write_frame};
use workloads::request::{Filling, TAIL, document, history};
use workloads::trace::{SHAPES, trace};

const CALLS: usize = 1_000;
const EVENTS: usize = 2_000;

const WORKLOADS: [(&str, fn()); 9] = [
    ("canonical form, 32 KB of chat", || {
        canonical(Filling::Ascii);
    }),
    ("canonical form, 32 KB of tool calls", || {
        canonical(Filling::Tools);
    }),
    ("canonical form, 32 KB of images", || {
        canonical(Filling::Base64);
    }),
    ("a turn of a conversation", turn),
    ("recording of 1,000 calls", recording),
    ("replay of 1,000 calls", replaying),
    ("restore of 2,000 events", restoring),
    ("reading a snapshot of 1,000 calls", reading),
    ("writing a snapshot of 1,000 calls", writing),
];

fn main() {
    let wanted = std::env::args().nth(1);
    match WORKLOADS
        .iter()
        .find(|(name, _)| Some(*name) == wanted.as_deref())
    {
        Some((_, work)) => work(),
        None => WORKLOADS.iter().for_each(|(name, _)| println!("{name}")),
    }
}

#[inline(never)]
fn measured<R>(work: impl FnOnce() -> R) -> R {
    work()
}

fn canonical(filling: Filling) {
    let text = document(filling, 32);
    black_box(measured(|| canonicalize(black_box(&text))).expect("valid text"));
}

fn turn() {
    let mut conversation = Conversation::new();
    conversation.append(&history(100)).expect("valid messages");
    let tail = RequestTail::new(TAIL).expect("a valid tail");
    let new = history(2);
    let hash = measured(|| {
        conversation
            .append(black_box(&new))
            .map(|()| conversation.hash(&tail))
    });
    black_box(hash.expect("valid messages"));
}

fn recording() {
    let frame = start(None);
    let calls = calls();
    measured(|| record(&frame, calls));
}

fn replaying() {
    let frame = start(Some(ReplaySource::of_tree(
        snapshot().tree(),
        Flags::CURRENT,
    )));
    let calls = calls();
    measured(|| {
        for (call, _) in calls {
            let started = frame.begin_call(call, None);
            assert!(
                black_box(started).answer.call.is_some(),
                "the call is recorded"
            );
        }
    });
}

fn restoring() {
    let text = Arc::new(trace(SHAPES[1], EVENTS));
    let options = RestoreOptions::default();
    let restored = measured(|| restore(Arc::clone(&text), Origin::Lines, &options));
    black_box(restored.expect("a trace"));
}

fn reading() {
    let mut text = String::from(
        r#"{"processId":"p","timestamp":0,"version":1,"provenance":{"traceId":""},"root":"#,
    );
    write_frame(&snapshot().root, &mut text);
    text.push('}');
    let text = Arc::new(text);
    black_box(measured(|| read_snapshot(black_box(&text))).expect("a snapshot"));
}

fn writing() {
    let snapshot = snapshot();
    let mut out = String::with_capacity(4 << 20);
    measured(|| write_frame(&snapshot.root, &mut out));
    black_box(out);
}

fn start(source: Option<ReplaySource>) -> LiveFrame {
    let root = FrameInput {
        call_id: JsonStr::from_plain("root"),
        agent_id: JsonStr::from_plain(""),
        within: None,
        hash: content_hash("0").expect("a number").into(),
        props: None,
    };
    let options = RunOptions {
        recording: true,
        requests: false,
        failures: Failures::Auto,
        memory: MemoryChoice::Auto,
    };
    LiveFrame::start_run(root, source, options)
}

fn calls() -> Vec<(CallInput, JsonText)> {
    let text = "The quick brown fox says \\\"hello\\\". ".repeat(55);
    let call = |index: usize| {
        let call = CallInput {
            kind: Kind::Tool,
            call_id: JsonStr::from_plain(&format!("root/tool:search:{index}")),
            within: None,
            hash: content_hash(&index.to_string()).expect("a number"),
            lane: None,
            exact: true,
            request: None,
        };
        (
            call,
            JsonText::trusted(format!(r#"{{"rank":{index},"text":"{text}"}}"#)),
        )
    };
    (0..CALLS).map(call).collect()
}

fn record(frame: &LiveFrame, calls: Vec<(CallInput, JsonText)>) {
    for (call, output) in calls {
        let started = frame.begin_call(call, None);
        let ended = Ended {
            outcome: Outcome::Output(Value::plain(output)),
            data: CallData::default(),
        };
        assert!(
            frame.end_call(started.slot.expect("recording"), ended),
            "the call was open"
        );
    }
}

fn snapshot() -> Snapshot {
    let frame = start(None);
    record(&frame, calls());
    Snapshot::new(
        String::new(),
        0.0,
        frame.dump(),
        frame.clock(),
        Provenance::default(),
    )
}
