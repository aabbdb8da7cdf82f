//! Which recorded frame an agent replays, and the state it starts with.

use agent_rewind_core::json::JsonText;
use agent_rewind_core::model::State;
use agent_rewind_core::record::LiveFrame;

use super::support::{ask, input, name, output, replayed, start, text, tool, value};

#[test]
fn children_are_found_by_input_in_any_order() {
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
    // They start in another order, so they have other callIds.
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
fn a_child_with_entries_starts_with_its_original_memory() {
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
    // A dump of the replay keeps the earlier generation.
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
fn a_recorded_frame_can_be_adopted_as_a_whole() {
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
