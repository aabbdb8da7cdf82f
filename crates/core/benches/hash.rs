//! `content_hash` beside plain SHA-256 of the same bytes: the second is the floor of the first.
//! `Conversation` at growing histories: the time of a turn must not grow with them.
#![allow(clippy::expect_used, reason = "a bench may fail by panicking")]

use std::fmt::{self, Write};

use agent_rewind_core::hash::{
    Conversation, RequestTail, TextConversation, content_hash, content_hash_any,
};
use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use sha2::{Digest, Sha256};

fn main() {
    divan::main();
}

#[derive(Clone, Copy)]
enum Filling {
    /// English prose with line breaks and quotes.
    Ascii,
    /// Chinese prose.
    Cjk,
    /// An image in each message.
    Base64,
    /// Tool calls, whose arguments are JSON in a string.
    Tools,
}

struct Document {
    filling: Filling,
    kilobytes: usize,
}

impl fmt::Display for Document {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let filling = match self.filling {
            Filling::Ascii => "ascii",
            Filling::Cjk => "cjk",
            Filling::Base64 => "base64",
            Filling::Tools => "tools",
        };
        write!(formatter, "{filling} {} KB", self.kilobytes)
    }
}

const DOCUMENTS: [Document; 12] = {
    use Filling::{Ascii, Base64, Cjk, Tools};
    const fn of(filling: Filling, kilobytes: usize) -> Document {
        Document { filling, kilobytes }
    }
    [
        of(Ascii, 1),
        of(Ascii, 32),
        of(Ascii, 1_024),
        of(Cjk, 1),
        of(Cjk, 32),
        of(Cjk, 1_024),
        of(Base64, 1),
        of(Base64, 32),
        of(Base64, 1_024),
        of(Tools, 1),
        of(Tools, 32),
        of(Tools, 1_024),
    ]
};

const TAIL: &str = concat!(
    r#"{"model":{"id":"gpt-4o","provider":"openai"},"options":{"temperature":0.2},"schema":{"type":"object","properties":"#,
    r#"{"answer":{"type":"string"}},"required":["answer"],"additionalProperties":false}}"#
);

/// A message in the order in which programs write its keys, which is not the canonical one.
fn message(filling: Filling, number: usize, bytes: usize) -> String {
    let (sentence, role) = match filling {
        Filling::Ascii => (
            "The report of the second quarter shows that \\\"net\\\" revenue rose by 4.2 % over the year before.\\n",
            "user",
        ),
        Filling::Cjk => (
            "第二季度的报告显示，净收入比去年同期增长了百分之四点二，主要来自海外市场。",
            "user",
        ),
        Filling::Base64 => (
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg",
            "user",
        ),
        Filling::Tools => {
            return format!(
                concat!(
                    r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"call_{n}","type":"function","function":"#,
                    r#"{{"name":"search","arguments":"{{\"query\":\"revenue {n}\",\"limit\":10}}"}}}}]}},"#,
                    r#"{{"role":"tool","tool_call_id":"call_{n}","content":"[{{\"title\":\"Report {n}\",\"rank\":1,\"text\":\"{text}\"}}]"}}"#
                ),
                n = number,
                text = "Net revenue rose by 4.2 % over the year before. ".repeat(bytes / 100)
            );
        }
    };
    let mut text = format!(r#"{{"role":"{role}","content":"{number}: "#);
    while text.len() < bytes {
        text.push_str(sentence);
    }
    text.push_str("\"}");
    text
}

fn messages(filling: Filling, bytes: usize) -> String {
    let size = match filling {
        Filling::Base64 => bytes / 2,
        _ => (bytes / 4).min(1_200),
    };
    let mut text = String::from("[");
    let mut number = 0;
    while text.len() < bytes {
        let comma = if number == 0 { "" } else { "," };
        let _ = write!(text, "{comma}{}", message(filling, number, size));
        number += 1;
    }
    text.push(']');
    text
}

/// Made as a program would: the model first, the schema's keys in any order.
fn document(document: &Document) -> String {
    let bytes = document.kilobytes * 1_024;
    let messages = messages(document.filling, bytes.saturating_sub(TAIL.len() + 40));
    format!("{},\"messages\":{messages}}}", &TAIL[..TAIL.len() - 1])
}

#[divan::bench(args = DOCUMENTS)]
fn a_plain_sha256(bencher: Bencher, args: &Document) {
    let text = document(args);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| Sha256::digest(black_box(text.as_bytes())));
}

#[divan::bench(args = DOCUMENTS)]
fn b_content_hash(bencher: Bencher, args: &Document) {
    let text = document(args);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| content_hash(black_box(&text)));
}

#[divan::bench(args = DOCUMENTS)]
fn c_content_hash_any(bencher: Bencher, args: &Document) {
    let text = document(args);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| content_hash_any(black_box(&text)));
}

fn history(count: usize) -> String {
    let all: Vec<String> = (0..count)
        .map(|number| message(Filling::Ascii, number, 2_048))
        .collect();
    format!("[{}]", all.join(","))
}

/// Two new messages of 2 KB and the hash of the request, after `history` messages.
#[divan::bench(args = [10, 100, 1_000])]
fn d_conversation_turn(bencher: Bencher, messages: usize) {
    let mut before = Conversation::new();
    before.append(&history(messages)).expect("valid messages");
    let tail = RequestTail::new(TAIL).expect("a valid tail");
    let new = history(2);
    bencher
        .counter(BytesCount::new(new.len() + TAIL.len()))
        .bench(|| {
            let mut conversation = before.clone();
            conversation
                .append(black_box(&new))
                .map(|()| conversation.hash(&tail))
        });
}

/// The same for a client that sends the whole text each time.
#[divan::bench(args = [10, 100, 1_000])]
fn e_text_conversation_turn(bencher: Bencher, messages: usize) {
    let before_text = history(messages);
    let text = history(messages + 2);
    let mut before = TextConversation::new();
    before.update(&before_text).expect("valid messages");
    let tail = RequestTail::new(TAIL).expect("a valid tail");
    bencher
        .counter(BytesCount::of_str(&text))
        .with_inputs(|| before.clone())
        .bench_local_refs(|conversation| {
            conversation
                .update(black_box(&text))
                .map(|_| conversation.hash(&tail))
        });
}
