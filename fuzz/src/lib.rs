//! Processes an input: no external input may panic, and everything that is read must be the same
//! after it was written. Used by cargo-fuzz and by the runner `mutate` on stable Rust.

use std::sync::Arc;

use agent_rewind_core::hash::{ContentHash, content_hash_any, legacy_hash};
use agent_rewind_core::json::{JsonStr, JsonText, canonicalize};
use agent_rewind_core::model::{Kind, RequestHash};
use agent_rewind_core::record::{CallInput, FrameInput, LiveFrame, RunOptions};
use agent_rewind_core::replay::ReplaySource;
use agent_rewind_core::restore::{Origin, RestoreOptions, restore as restore_trace};
use agent_rewind_core::snapshot::{Anchor, Snapshot, read_snapshot, write_frame, write_snapshot};

/// The canonical text of any JSON, its hashes, and explanations of differences.
pub fn canonical(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let _ = legacy_hash(&text);
    let Ok(canonical) = canonicalize(&text) else {
        assert!(
            content_hash_any(&text).is_err(),
            "text without a canonical form has a hash"
        );
        return;
    };
    assert_eq!(
        canonicalize(&canonical).as_ref(),
        Ok(&canonical),
        "the canonical form is not its own"
    );
    assert_eq!(
        content_hash_any(&text).ok(),
        content_hash_any(&canonical).ok(),
        "the canonical form has another hash"
    );
}

/// Reads a snapshot, writes it and replays it.
pub fn snapshot(data: &[u8]) {
    let text = Arc::new(String::from_utf8_lossy(data).into_owned());
    if let Ok(snapshot) = read_snapshot(&text) {
        written_and_read(&snapshot);
        replayed(&snapshot);
    }
}

/// Restores a trace. The first byte selects the moment and the form, the rest is the text.
pub fn restore(data: &[u8]) {
    let Some((choice, data)) = data.split_first() else {
        return;
    };
    let text = String::from_utf8_lossy(data).into_owned();
    let bit = |place: u8| choice & (1 << place) != 0;
    let options = RestoreOptions {
        span_id: bit(0).then(|| some_span(&text, *choice)),
        anchor: if bit(1) {
            Anchor::Before
        } else {
            Anchor::After
        },
        trace_id: None,
        metadata: None,
        now_ms: 1.0,
    };
    let origin = if bit(2) {
        Origin::Events
    } else {
        Origin::Lines
    };
    if let Ok(snapshot) = restore_trace(Arc::new(text), origin, &options) {
        written_and_read(&snapshot);
        replayed(&snapshot);
    }
}

/// A span that the text names, so that the search for it can succeed.
fn some_span(text: &str, choice: u8) -> String {
    let spans: Vec<&str> = text
        .split("\"spanId\":\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    match spans.get(usize::from(choice >> 3) % spans.len().max(1)) {
        Some(span) => (*span).to_owned(),
        None => "none".to_owned(),
    }
}

fn written_and_read(snapshot: &Snapshot) {
    let written = write_snapshot(snapshot);
    let again = match read_snapshot(&Arc::new(written.clone())) {
        Ok(again) => again,
        Err(error) => panic!("what was written cannot be read: {error}"),
    };
    let again = write_snapshot(&again);
    assert!(
        again == written,
        "it comes out otherwise when it is written again: {}",
        difference(&written, &again)
    );
}

/// The position where two texts differ.
fn difference(first: &str, second: &str) -> String {
    let same = first
        .bytes()
        .zip(second.bytes())
        .take_while(|(left, right)| left == right)
        .count();
    let around = |text: &str| {
        let (from, to) = (same.saturating_sub(80), (same + 80).min(text.len()));
        String::from_utf8_lossy(&text.as_bytes()[from..to]).into_owned()
    };
    format!("at byte {same}: {} | {}", around(first), around(second))
}

/// Requests everything that the root frame recorded, dumps in between, and dumps the result.
fn replayed(snapshot: &Snapshot) {
    let root = &snapshot.root;
    let input = FrameInput {
        call_id: root.call_id.clone(),
        agent_id: root.agent_id.clone(),
        within: root.within.clone(),
        hash: root
            .input_hash
            .unwrap_or_else(|| ContentHash::from_bytes([0; 32]).into()),
        props: None,
    };
    let options = RunOptions {
        recording: true,
        requests: true,
        ..RunOptions::default()
    };
    let frame = LiveFrame::start_run(
        input,
        Some(ReplaySource::of_tree(snapshot.tree(), snapshot.flags())),
        options,
    );
    let _ = frame.entry();
    for call in root.generation.calls.iter().take(50) {
        let RequestHash::Sha256(hash) = call.hash else {
            continue;
        };
        let begun = frame.begin_call(
            CallInput {
                kind: call.kind.clone(),
                call_id: call.call_id.clone(),
                within: call.within.clone(),
                hash,
                lane: call.data.lane.clone(),
                exact: true,
                request: None,
            },
            None,
        );
        let end = begun.answer.call.as_ref().and_then(|call| call.end);
        frame.release_call(begun.slot, end);
    }
    let _ = frame.explain(&Kind::Prompt, r#"{"messages":[],"tools":[]}"#);
    for child in root.generation.children.iter().take(20) {
        let child = frame.open_child(FrameInput {
            call_id: child.call_id.clone(),
            agent_id: child.agent_id.clone(),
            within: child.within.clone(),
            hash: child
                .input_hash
                .unwrap_or_else(|| ContentHash::from_bytes([0; 32]).into()),
            props: None,
        });
        let _ = (child.entry(), child.unused(), child.release_order());
        child.adopt();
    }
    frame.set_memory(
        JsonStr::from_plain("k"),
        JsonText::trusted("1".to_owned()),
        true,
    );
    let mut text = String::new();
    write_frame(&frame.dump(), &mut text);
}
