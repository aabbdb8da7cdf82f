//! The order of events: by number, else by time, else by position. Lists may be shuffled.

use agent_rewind_core::snapshot::Anchor;

use crate::support::{Log, Scramble, calls, codes, cut, frames, lines, scenarios, shape, trace_of};

/// Replaces the time or the number of each line according to its position.
fn with(text: &str, field: &str) -> Vec<String> {
    let place_of = |place: usize, line: &str| {
        let (before, rest) = line.split_once(r#""timestamp":"#).unwrap();
        let (time, after) = rest.split_once(',').unwrap();
        match field {
            "timestamp" => format!(r#"{before}"timestamp":{},{after}"#, 1_000 + place),
            _ => format!(r#"{before}"timestamp":{time},"{field}":{place},{after}"#),
        }
    };
    text.lines()
        .enumerate()
        .map(|(place, line)| place_of(place, line))
        .collect()
}

#[test]
fn a_shuffled_list_with_distinct_times_is_sorted() {
    for (name, _) in scenarios() {
        let ordered = with(&trace_of(&name), "timestamp");
        let wanted = shape(&lines(&ordered.join("\n")));
        for seed in 0..10 {
            let mut shuffled = ordered.clone();
            Scramble::new(seed).shuffle(&mut shuffled);
            let snapshot = lines(&shuffled.join("\n"));
            assert_eq!(shape(&snapshot), wanted, "{name} {seed}");
            assert_eq!(codes(&snapshot), [""; 0], "{name} {seed}");
        }
    }
}

#[test]
fn numbers_take_precedence_over_times() {
    for (name, _) in scenarios() {
        let ordered = with(&trace_of(&name), "_seq");
        let wanted = shape(&lines(&ordered.join("\n")));
        for seed in 0..10 {
            let mut shuffled = ordered.clone();
            Scramble::new(seed).shuffle(&mut shuffled);
            // A wrong clock has no effect.
            let shuffled =
                shuffled
                    .join("\n")
                    .replacen(r#""timestamp":1795"#, r#""timestamp":1"#, 7);
            let snapshot = lines(&shuffled);
            assert_eq!(shape(&snapshot), wanted, "{name} {seed}");
            assert_eq!(codes(&snapshot), [""; 0], "{name} {seed}");
        }
    }
}

#[test]
fn a_shuffled_list_with_equal_times_keeps_its_tree_and_warns() {
    let mut told = 0;
    for (name, _) in scenarios() {
        let text = trace_of(&name);
        let facts = |text: &str| {
            let snapshot = lines(text);
            let mut facts: Vec<String> = frames(&snapshot)
                .iter()
                .map(|(frame, parent)| {
                    let parent = parent.map(|parent| frames(&snapshot)[parent].0.input_hash);
                    let mut hashes: Vec<String> = calls(frame)
                        .iter()
                        .map(|call| call.hash.to_string())
                        .collect();
                    hashes.sort();
                    let state = crate::support::status(frame);
                    format!(
                        "{} {:?} {parent:?} {state} {hashes:?} {}",
                        frame.agent_id,
                        frame.input_hash,
                        crate::support::memory(frame)
                    )
                })
                .collect();
            facts.sort();
            (facts, codes(&snapshot))
        };
        let (wanted, _) = facts(&text);
        for seed in 0..10 {
            let mut shuffled: Vec<String> = text.lines().map(str::to_owned).collect();
            Scramble::new(seed).shuffle(&mut shuffled);
            let (found, codes) = facts(&shuffled.join("\n"));
            assert_eq!(found, wanted, "{name} {seed}");
            told += usize::from(codes == ["order-uncertain"]);
            assert!(codes.len() <= 1, "{name} {seed} {codes:?}");
        }
    }
    // With few events, some wrong orders cannot be detected.
    assert!(told > 60, "{told}");
}

#[test]
fn a_reversed_list_with_one_time_is_sorted_by_its_spans() {
    let mut log = Log::old();
    log.run()
        .agent("a", "run", "outer", "{}")
        .agent("b", "a.g0", "inner", "{}")
        .turn("t", "b.g0", "h", "x");
    log.agent_end("b", "a.g0", "1")
        .agent_end("a", "run", "2")
        .run_end(r#""success":true"#);
    let wanted = shape(&log.restore());
    let mut lines_backwards: Vec<String> = log.lines.iter().map(|line| same_time(line)).collect();
    lines_backwards.reverse();
    let snapshot = lines(&lines_backwards.join("\n"));
    assert_eq!(shape(&snapshot), wanted);
    assert_eq!(codes(&snapshot), ["order-uncertain"]);
    assert!(snapshot.warnings[0].line.is_some() && snapshot.warnings[0].span_id.is_some());
}

fn same_time(line: &str) -> String {
    let (before, rest) = line.split_once(r#""timestamp":"#).unwrap();
    let (_, after) = rest.split_once(',').unwrap();
    format!(r#"{before}"timestamp":5,{after}"#)
}

#[test]
fn a_sorted_list_with_equal_times_stays_as_it_is() {
    let mut log = Log::old();
    log.run()
        .agent("a", "run", "a", "{}")
        .turn("t", "a.g0", "h", "x")
        .turn("t2", "a.g0", "h", "y")
        .agent_end("a", "run", "1");
    let same: Vec<String> = log.lines.iter().map(|line| same_time(line)).collect();
    let snapshot = lines(&same.join("\n"));
    assert_eq!(codes(&snapshot), [""; 0]);
    assert_eq!(shape(&snapshot), shape(&log.restore()));
}

#[test]
fn events_without_a_time_keep_their_position() {
    let mut log = Log::old();
    log.run()
        .agent("a", "run", "a", "{}")
        .turn("t", "a.g0", "h", "x")
        .agent_end("a", "run", "1");
    let wanted = shape(&log.restore());
    let bare = log
        .text()
        .replace(r#""timestamp":1004,"#, "")
        .replace(r#""timestamp":1003,"#, r#""timestamp":"soon","#);
    assert_eq!(shape(&lines(&bare)), wanted);
    let all_bare: Vec<String> = log
        .lines
        .iter()
        .map(|line| same_time(line).replace(r#""timestamp":5,"#, ""))
        .collect();
    assert_eq!(shape(&lines(&all_bare.join("\n"))), wanted);
}

#[test]
fn numbered_and_other_events_are_merged_by_time() {
    let mut log = Log::own();
    log.run()
        .agent("a", "run", "a", "{}")
        .turn("t", "a.g0", "h", "x")
        .turn("t2", "a.g0", "h2", "x")
        .agent_end("a", "run", "1");
    let wanted = shape(&log.restore());
    // Some events have lost their numbers.
    let mixed: Vec<String> = log
        .lines
        .iter()
        .enumerate()
        .map(|(place, line)| {
            if place % 3 == 1 {
                line.replace(&format!(r#","_seq":{place}"#), "")
            } else {
                line.clone()
            }
        })
        .collect();
    assert_eq!(shape(&lines(&mixed.join("\n"))), wanted);
    let mut shuffled = mixed;
    Scramble::new(3).shuffle(&mut shuffled);
    assert_eq!(shape(&lines(&shuffled.join("\n"))), wanted);
}

#[test]
fn a_cut_in_a_shuffled_list_is_the_same_as_in_the_sorted_one() {
    let text = with(&trace_of("d-parallel-5"), "timestamp");
    let mut shuffled = text.clone();
    Scramble::new(11).shuffle(&mut shuffled);
    for anchor in [Anchor::Before, Anchor::After] {
        let wanted = shape(&cut(&text.join("\n"), "9aa5822e441e087b", anchor));
        assert_eq!(
            shape(&cut(&shuffled.join("\n"), "9aa5822e441e087b", anchor)),
            wanted
        );
    }
}
