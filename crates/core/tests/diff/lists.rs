//! Lists: reordered, with added or removed elements, and long ones.

use serde_json::{Value, json};

use super::*;

#[test]
fn reordered_lists() {
    let cases = [
        (
            r#"["answer","sure"]"#,
            r#"["sure","answer"]"#,
            "/schema/required",
            Part::Schema,
        ),
        (
            r#"["END","STOP"]"#,
            r#"["STOP","END"]"#,
            "/options/stop",
            Part::Options,
        ),
    ];
    for (old, new, pointer, part) in cases {
        let found = only(REQUEST, &with(REQUEST, old, new));
        assert_eq!(
            summary(&found),
            (pointer, Change::Reordered, Nature::Order, part)
        );
        assert_eq!(
            (found.recorded.as_deref(), found.actual.as_deref()),
            (Some(old), Some(new))
        );
    }
    let mut document: Value = serde_json::from_str(REQUEST).unwrap();
    document["tools"].as_array_mut().unwrap().reverse();
    let found = only(REQUEST, &document.to_string());
    assert_eq!(
        summary(&found),
        ("/tools", Change::Reordered, Nature::Order, Part::Tools)
    );
    assert_eq!(found.recorded.as_deref(), Some(r#"["search","fetch"]"#));
    assert_eq!(found.actual.as_deref(), Some(r#"["fetch","search"]"#));
    let found = only("[0,1,2,3,4,5]", "[0,1,3,4,2,5]");
    assert_eq!((&*found.pointer, found.change), ("", Change::Reordered));
    assert_eq!(found.recorded.as_deref(), Some("[…,2,3,4,…]"));
}

#[test]
fn several_differences_in_order() {
    let mut document: Value = serde_json::from_str(REQUEST).unwrap();
    document["messages"].as_array_mut().unwrap().remove(2);
    document["messages"][0]["content"] = json!("New.");
    document["tools"][1]["name"] = json!("get");
    document["model"]["id"] = json!("other");
    let found = compare(REQUEST, &document.to_string());
    let summary: Vec<_> = found
        .differences
        .iter()
        .map(|found| (&*found.pointer, found.change))
        .collect();
    assert_eq!(
        summary,
        [
            ("/messages/0/content", Change::Changed),
            ("/messages/2", Change::Removed),
            ("/model/id", Change::Changed),
            ("/tools/1/name", Change::Changed),
        ]
    );
}

fn conversation(turns: usize, stamp: &str) -> Vec<Value> {
    (0..turns)
        .map(|turn| {
            let role = ["user", "assistant"][turn % 2];
            json!({ "role": role, "content": format!("{turn}. {stamp} {}", "words ".repeat(turn % 7)) })
        })
        .collect()
}

#[test]
fn messages_are_aligned() {
    let recorded = conversation(40, "");
    let request = |messages: &[Value]| json!({ "messages": messages }).to_string();
    let summary = |actual: &[Value]| -> Vec<(String, Change)> {
        let found = compare(&request(&recorded), &request(actual));
        found
            .differences
            .into_iter()
            .map(|found| (found.pointer, found.change))
            .collect()
    };
    // A sliding window.
    let mut slid = recorded[1..].to_vec();
    slid.push(json!({ "role": "user", "content": "new" }));
    let wanted = [
        ("/messages/0".into(), Change::Removed),
        ("/messages/39".into(), Change::Added),
    ];
    assert_eq!(summary(&slid), wanted);
    // Two distant insertions.
    let mut inserted = recorded.clone();
    inserted.insert(30, json!({ "role": "system", "content": "b" }));
    inserted.insert(5, json!({ "role": "system", "content": "a" }));
    let wanted = [
        ("/messages/5".into(), Change::Added),
        ("/messages/31".into(), Change::Added),
    ];
    assert_eq!(summary(&inserted), wanted);
    // A new date in every message, and one new message.
    let mut restamped = conversation(40, "2026-11-29");
    restamped.insert(20, json!({ "role": "system", "content": "inserted" }));
    let stamped = request(&conversation(40, "2026-11-28"));
    let limits = 100;
    let found = diff(&stamped, &request(&restamped), limits).unwrap();
    let added: Vec<&Difference> = found
        .differences
        .iter()
        .filter(|found| found.change == Change::Added)
        .collect();
    assert_eq!((found.differences.len(), added.len()), (41, 1));
    assert_eq!(added[0].pointer, "/messages/20");
    let others = found
        .differences
        .iter()
        .filter(|found| found.change != Change::Added);
    assert!(others.clone().all(|found| found.nature == Nature::Date));
    assert!(
        others
            .into_iter()
            .all(|found| found.change == Change::Changed)
    );
}

#[test]
fn long_lists_are_compared_by_position() {
    let numbers: Vec<usize> = (0..20_000).collect();
    let mut actual = numbers.clone();
    actual.insert(10_000, 7);
    let found = compare(&json!(numbers).to_string(), &json!(actual).to_string());
    let [added] = &*found.differences else {
        panic!("{found:#?}")
    };
    assert_eq!((&*added.pointer, added.change), ("/10000", Change::Added));
    actual.insert(0, 7);
    let found = compare(&json!(numbers).to_string(), &json!(actual).to_string());
    assert_eq!(found.differences.len() + found.more, 10_002);
    actual.sort_unstable();
    let mut reversed = actual.clone();
    reversed.reverse();
    let found = compare(&json!(actual).to_string(), &json!(reversed).to_string());
    assert_eq!(found.differences[0].change, Change::Reordered);
}

#[test]
fn lists_at_most_the_limit() {
    let recorded = json!((0..50).collect::<Vec<_>>()).to_string();
    let actual = json!((100..150).collect::<Vec<_>>()).to_string();
    for max_differences in [0, 1, 20, 50, 60] {
        let found = diff(&recorded, &actual, max_differences).unwrap();
        assert_eq!(found.differences.len(), max_differences.min(50));
        assert_eq!(found.more, 50 - found.differences.len());
        assert!(!found.is_empty());
    }
}
