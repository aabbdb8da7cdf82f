//! The cost of a missed request: finding the nearest of 10,000 recorded ones and the diff to it.
#![allow(clippy::expect_used, reason = "a bench may fail by panicking")]

use agent_rewind_core::diff::{MAX_DIFFERENCES, diff, explain, nearest};
use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

const CANDIDATES: usize = 10_000;
const TAIL: &str =
    r#"],"model":{"id":"gpt-4o","provider":"openai"},"options":{"temperature":0.2}}"#;
const SENTENCE: &str = "The report of the second quarter shows that revenue rose by 4.2 %.\\n";

fn message(role: &str, start: &str, bytes: usize) -> String {
    let text = SENTENCE.repeat(bytes.saturating_sub(start.len() + 30) / SENTENCE.len());
    format!(r#"{{"role":"{role}","content":"{start} {text}"}}"#)
}

/// A request in pieces with different texts.
fn request(system: &str, question: &str) -> [String; 5] {
    let [system, question] = [system, question].map(str::to_owned);
    [
        r#"{"messages":["#.to_owned(),
        system,
        ",".to_owned(),
        question,
        TAIL.to_owned(),
    ]
}

fn pieces(request: &[String]) -> Vec<&str> {
    request.iter().map(String::as_str).collect()
}

fn nearest_and_diff(requests: &[Vec<&str>], actual: &str) -> Option<String> {
    let found = nearest(requests.iter().enumerate(), actual)?;
    let recorded = requests.get(found)?.concat();
    Some(explain(&diff(&recorded, actual, MAX_DIFFERENCES).ok()?))
}

fn bench_nearest(bencher: Bencher, requests: &[Vec<&str>], actual: &str) {
    let bytes: usize = requests.iter().flatten().map(|piece| piece.len()).sum();
    bencher
        .counter(ItemsCount::new(requests.len()))
        .counter(BytesCount::new(bytes))
        .bench(|| nearest_and_diff(black_box(requests), black_box(actual)));
}

/// 2 KB each, of which a system prompt of the given size is the same in all.
#[divan::bench(args = [0, 1_000, 1_500, 1_900])]
fn a_ten_thousand_requests(bencher: Bencher, shared: usize) {
    let recorded: Vec<_> = (0..CANDIDATES)
        .map(|number| {
            let system = message("system", "Today is 2026-11-28.", shared);
            request(
                &system,
                &message("user", &format!("Question {number}:"), 1_900 - shared),
            )
        })
        .collect();
    let requests: Vec<_> = recorded.iter().map(|request| pieces(request)).collect();
    let system = message("system", "Today is 2026-11-28.", shared);
    let actual = request(&system, &message("user", "Question 9000?", 1_900 - shared)).concat();
    bench_nearest(bencher, &requests, &actual);
}

/// The date in the shared prompt differs, so each request is compared from the end.
#[divan::bench]
fn b_ten_thousand_requests_with_another_date(bencher: Bencher) {
    let questions = |number| message("user", &format!("Question {number}:"), 1_000);
    let recorded: Vec<_> = (0..CANDIDATES)
        .map(|number| {
            request(
                &message("system", "Today is 2026-11-28.", 900),
                &questions(number),
            )
        })
        .collect();
    let requests: Vec<_> = recorded.iter().map(|request| pieces(request)).collect();
    let actual = request(
        &message("system", "Today is 2026-11-29.", 900),
        &questions(9_000),
    );
    bench_nearest(bencher, &requests, &actual.concat());
}

/// The turns of one conversation, 2 KB each: every request begins with the pieces of the one
/// before.
#[divan::bench(args = [100, 1_000])]
fn c_turns_of_a_conversation(bencher: Bencher, turns: usize) {
    let messages: Vec<String> = (0..turns)
        .map(|turn| message("user", &format!("Turn {turn}:"), 2_048))
        .collect();
    let turn = |count: usize| {
        let mut pieces = vec![r#"{"messages":["#];
        for (index, message) in messages[..count].iter().enumerate() {
            pieces.extend([if index == 0 { "" } else { "," }, message.as_str()]);
        }
        pieces.push(TAIL);
        pieces
    };
    let requests: Vec<_> = (1..=turns).map(turn).collect();
    let actual = requests
        .last()
        .expect("turns")
        .concat()
        .replace("Turn 50:", "Turn fifty:");
    bench_nearest(bencher, &requests, &actual);
}

/// A date in every message of 1 KB.
#[divan::bench(args = [2, 32, 1_024])]
fn d_diff(bencher: Bencher, kilobytes: usize) {
    let messages: Vec<String> = (0..kilobytes)
        .map(|number| message("user", &format!("Message {number} of 2026-11-28:"), 1_024))
        .collect();
    let recorded = format!(r#"{{"messages":[{}{TAIL}"#, messages.join(","));
    let actual = recorded.replace("2026-11-28", "2026-11-29");
    bencher
        .counter(BytesCount::new(recorded.len() + actual.len()))
        .bench(|| diff(black_box(&recorded), black_box(&actual), MAX_DIFFERENCES));
}

/// The slowest lists to align.
#[divan::bench]
fn e_diff_of_long_lists(bencher: Bencher) {
    let list = |shift: usize| -> String {
        let rows: Vec<String> = (0..1_000)
            .map(|row| {
                let numbers: Vec<String> = (0..256)
                    .map(|column| (row * 131 + column * 7 + shift).to_string())
                    .collect();
                format!("[{}]", numbers.join(","))
            })
            .collect();
        format!(r#"{{"input":{{"rows":[{}]}}}}"#, rows.join(","))
    };
    let (recorded, actual) = (list(0), list(1));
    bencher
        .counter(BytesCount::new(recorded.len() + actual.len()))
        .bench(|| diff(black_box(&recorded), black_box(&actual), MAX_DIFFERENCES));
}
