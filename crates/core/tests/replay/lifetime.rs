//! A replay keeps no earlier recording in memory.

use std::sync::Arc;

use agent_rewind_core::model::{Flags, State};
use agent_rewind_core::replay::ReplaySource;
use agent_rewind_core::snapshot::{read_snapshot, write_snapshot};

use super::support::{begin, in_memory, input, release, replayed, start, value, with_agent};

#[test]
fn a_run_that_was_resumed_often_keeps_no_earlier_run() {
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
        source = ReplaySource::of_tree(snapshot.tree(), Flags::CURRENT);
        earlier.push(Arc::downgrade(&snapshot.root));
        let agent = snapshot.root.generation.children.get(0).unwrap();
        earlier.push(Arc::downgrade(agent));
    }
    let held = earlier.iter().filter(|frame| frame.upgrade().is_some());
    assert_eq!(held.count(), 0);
}

#[test]
fn a_replay_releases_its_recording() {
    let root = start(None);
    let agent = root.open_child(input("root/agent:a:0", "a", "{}"));
    drop(agent.open_child(input("root/agent:a:0/agent:b:0", "b", "{}")));
    let text = Arc::new(write_snapshot(&in_memory(&root)));
    let snapshot = read_snapshot(&text).unwrap();
    let again = start(Some(ReplaySource::of_tree(snapshot.tree(), Flags::CURRENT)));
    let agent = again.open_child(input("root/agent:a:0", "a", "{}"));
    drop(snapshot);
    // The parent may be dropped before its child is used.
    drop(again);
    let child = agent.open_child(input("root/agent:a:0/agent:b:0", "b", "{}"));
    assert!(child.entry().is_some());
    drop((agent, child));
    assert_eq!(Arc::strong_count(&text), 1);
}
