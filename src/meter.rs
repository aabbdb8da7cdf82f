//! Reports native memory to V8. V8 sees a handle as a few bytes. Without the report it would let gigabytes of native
//! memory wait for a garbage collection.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use napi::Env;

/// Reporting costs as much as recording a small call.
const STEP: i64 = 16 * 1024;

/// The approximate size of a call, a frame or a memory key in addition to its texts.
pub const ENTRY: usize = 256;

/// The native memory of a run, shared by its frames and snapshots, or of a snapshot that was read.
#[derive(Clone, Default)]
pub struct Meter(Arc<Counts>);

#[derive(Default)]
struct Counts {
    allocated: AtomicI64,
    reported: AtomicI64,
}

impl Meter {
    /// A meter that starts with `bytes`.
    pub fn of(env: Env, bytes: usize) -> Self {
        let meter = Self::default();
        meter.grow(env, bytes);
        meter
    }

    pub fn grow(&self, env: Env, bytes: usize) {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX / 2);
        let allocated = self.0.allocated.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let more = allocated - self.0.reported.load(Ordering::Relaxed);
        if more >= STEP {
            self.0.reported.store(allocated, Ordering::Relaxed);
            report(env, more);
        }
    }

    /// Drops one share. The last one releases the memory.
    pub fn release(self, env: Env) {
        if let Some(counts) = Arc::into_inner(self.0) {
            report(env, -counts.reported.into_inner());
        }
    }
}

/// Errors are ignored: the number is only an estimate.
fn report(env: Env, change: i64) {
    if change != 0 {
        let _ = env.adjust_external_memory(change);
    }
}
