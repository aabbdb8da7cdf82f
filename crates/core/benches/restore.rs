//! Restores 100,000 events in trees of four shapes.

mod workloads;

use std::sync::Arc;

use agent_rewind_core::restore::{Origin, RestoreOptions, restore};
use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use workloads::trace::{SHAPES, trace};

const EVENTS: usize = 100_000;
fn main() {
    divan::main();
}

#[divan::bench(args = SHAPES, sample_count = 10)]
fn restores(bencher: Bencher, shape: &str) {
    let text = Arc::new(trace(shape, EVENTS));
    let options = RestoreOptions::default();
    bencher
        .counter(BytesCount::of_str(text.as_str()))
        .counter(ItemsCount::new(EVENTS))
        .bench(|| restore(Arc::clone(&text), Origin::Lines, &options));
}
