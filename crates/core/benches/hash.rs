//! `content_hash` next to plain SHA-256 of the same bytes, which is the lower bound of the first.
//! `Conversation` with growing histories: the time of a turn must not grow with the history.
#![allow(clippy::expect_used, reason = "a bench may fail by panicking")]

mod workloads;

use std::fmt;

use agent_rewind_core::hash::{Conversation, RequestTail, content_hash, content_hash_any};
use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use sha2::{Digest, Sha256};
use workloads::request::{Filling, TAIL, document, history};

fn main() {
    divan::main();
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

#[divan::bench(args = DOCUMENTS)]
fn a_plain_sha256(bencher: Bencher, args: &Document) {
    let text = document(args.filling, args.kilobytes);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| Sha256::digest(black_box(text.as_bytes())));
}

#[divan::bench(args = DOCUMENTS)]
fn b_content_hash(bencher: Bencher, args: &Document) {
    let text = document(args.filling, args.kilobytes);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| content_hash(black_box(&text)));
}

#[divan::bench(args = DOCUMENTS)]
fn c_content_hash_any(bencher: Bencher, args: &Document) {
    let text = document(args.filling, args.kilobytes);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| content_hash_any(black_box(&text)));
}

/// Two new messages of 2 KB and the hash of the request after `history` messages.
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
