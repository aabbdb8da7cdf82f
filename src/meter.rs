//! What V8 is told of native memory: a handle is a few bytes to it, and without being told what hangs
//! on them it would let gigabytes of handles wait for a garbage collection.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use napi::Env;

/// Telling V8 costs as much as recording a small call does.
const STEP: i64 = 16 * 1024;

/// What a call, a frame or a memory key takes beside its texts, about.
pub const ENTRY: usize = 256;

/// The native memory of a run, shared by its frames and the snapshots that were taken of it, or of a
/// snapshot that was read.
#[derive(Clone, Default)]
pub struct Meter(Arc<Counts>);

#[derive(Default)]
struct Counts {
    held: AtomicI64,
    reported: AtomicI64,
}

impl Meter {
    /// A meter of something that holds so many bytes from the start.
    pub fn of(env: Env, bytes: usize) -> Self {
        let meter = Self::default();
        meter.grow(env, bytes);
        meter
    }

    pub fn grow(&self, env: Env, bytes: usize) {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX / 2);
        let held = self.0.held.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let more = held - self.0.reported.load(Ordering::Relaxed);
        if more >= STEP {
            self.0.reported.store(held, Ordering::Relaxed);
            tell(env, more);
        }
    }

    /// Gives one share up; with the last one the memory is free.
    pub fn release(self, env: Env) {
        if let Some(counts) = Arc::into_inner(self.0) {
            tell(env, -counts.reported.into_inner());
        }
    }
}

/// An estimate that could not be told harms nobody.
fn tell(env: Env, change: i64) {
    if change != 0 {
        let _ = env.adjust_external_memory(change);
    }
}
