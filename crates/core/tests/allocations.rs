//! The number of allocations on the hot paths. Every additional allocation fails a test.
#![allow(
    clippy::unwrap_used,
    unsafe_code,
    reason = "a test may fail by panicking, and an allocator is unsafe to write"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use agent_rewind_core::hash::{ContentHash, content_hash, content_hash_any};
use agent_rewind_core::json::{JsonStr, JsonText};
use agent_rewind_core::model::{CallData, Flags, Kind, Outcome, Value};
use agent_rewind_core::record::{CallInput, Ended, FrameInput, LiveFrame, RunOptions};
use agent_rewind_core::replay::{Failures, MemoryChoice, ReplaySource};
use agent_rewind_core::snapshot::{Provenance, Snapshot};

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// Counts the allocations of each thread, because tests run in parallel.
struct Counting;

// SAFETY: every call is forwarded to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations<R>(work: impl FnOnce() -> R) -> (u64, R) {
    let before = COUNT.with(Cell::get);
    let result = work();
    (COUNT.with(Cell::get) - before, result)
}

fn hash_of(index: usize) -> ContentHash {
    content_hash(&index.to_string()).unwrap()
}

fn start(source: Option<ReplaySource>) -> LiveFrame {
    let root = FrameInput {
        within: None,
        call_id: JsonStr::from_plain("root"),
        agent_id: JsonStr::from_plain(""),
        hash: hash_of(0).into(),
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

fn call_input(index: usize) -> CallInput {
    CallInput {
        within: None,
        kind: Kind::Tool,
        call_id: JsonStr::from_plain("t"),
        hash: hash_of(index),
        lane: None,
        exact: true,
        request: None,
    }
}

fn record(frame: &LiveFrame, call: CallInput, output: JsonText) {
    let started = frame.begin_call(call, None);
    let ended = Ended {
        outcome: Outcome::Output(Value::plain(output)),
        data: CallData::default(),
    };
    assert!(frame.end_call(started.slot.unwrap(), ended));
}

fn output() -> JsonText {
    JsonText::trusted(format!("\"{}\"", "x".repeat(2000)))
}

fn dumped(frame: &LiveFrame) -> Snapshot {
    Snapshot::new(
        String::new(),
        0.0,
        frame.dump(),
        frame.clock(),
        Provenance::default(),
    )
}

fn recorded(calls: usize) -> LiveFrame {
    let frame = start(None);
    for index in 0..calls {
        record(&frame, call_input(index), output());
    }
    frame
}

#[test]
fn hashing_a_document_in_order_allocates_no_more_for_a_long_one() {
    let document = |count: usize| format!("[{}]", vec![r#"{"a":1,"b":"text"}"#; count].join(","));
    let (short, long) = (document(10), document(10_000));
    let of_short = allocations(|| content_hash(&short)).0;
    let of_long = allocations(|| content_hash(&long)).0;
    assert_eq!((of_short, of_long), (4, 4));
    // The same for any text in the form of `JSON.stringify`, which is not copied.
    assert_eq!(allocations(|| content_hash_any(&long)).0, 4);
}

#[test]
fn recording_a_call_allocates_at_most_a_little_more_at_10_000_entries() {
    let [few, many] = [10, 10_000].map(|calls| {
        let frame = recorded(calls);
        let (call, text) = (call_input(calls), output());
        allocations(|| record(&frame, call, text)).0
    });
    // The list of calls is a tree, which is one level deeper at 10,000 calls.
    assert_eq!((few, many), (2, 3));
}

#[test]
fn a_dump_and_a_start_from_it_allocate_nothing_for_entries() {
    let [few, many] = [10, 10_000].map(|calls| {
        let frame = recorded(calls);
        let (dump, snapshot) = allocations(|| dumped(&frame));
        let (begin, _run) =
            allocations(|| start(Some(ReplaySource::of_tree(snapshot.tree(), Flags::CURRENT))));
        (dump, begin)
    });
    assert_eq!(few, many);
    assert_eq!(few, (0, 19));
}

#[test]
fn replaying_a_call_copies_no_output() {
    let snapshot = dumped(&recorded(100));
    let run = start(Some(ReplaySource::of_tree(snapshot.tree(), Flags::CURRENT)));
    // The first call builds the index.
    run.begin_call(call_input(0), None);
    let call = call_input(1);
    let (count, started) = allocations(|| run.begin_call(call, None));
    assert!(started.answer.call.is_some());
    assert_eq!(count, 2);
}
