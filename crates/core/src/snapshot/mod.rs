//! Snapshots. They are immutable and share their data with the run that was dumped.

mod error;
mod fields;
mod frame_draft;
mod generation_draft;
mod journal_draft;
mod memory;
mod out;
mod read;
mod read_model;
mod read_requests;
mod shared_requests;
mod stop;
mod write;
mod write_journal;
mod write_requests;

use std::sync::{Arc, OnceLock};

pub use error::SnapshotError;
pub use memory::write_memory;
pub use read::read_snapshot;
pub use read_model::ReadModel;
pub(crate) use shared_requests::EarlierRequests;
pub use write::{stream_frame, write_frame, write_snapshot, write_without_root};

use crate::json::{JsonStr, JsonText};
use crate::model::{Clock, Flags, Frame, Recorder};
use crate::replay::{detached, detached_with_carry_over, linked};

/// The only version of the format that readers accept. Additions are optional fields.
pub const VERSION: u32 = 1;

#[derive(Debug, Clone)]
pub struct Snapshot {
    pub process_id: String,
    /// Milliseconds since 1970.
    pub timestamp: f64,
    pub root: Arc<Frame>,
    /// The position of the dumped run in its order of starts and ends.
    pub clock: Clock,
    /// True to leave out the part of the earlier recording that the run has not requested.
    pub without_carry_over: bool,
    /// The tree without its links to the earlier recording, computed on first use.
    detached: OnceLock<Option<Arc<Frame>>>,
    pub provenance: Provenance,
    /// `None` for a recording that does not name it.
    pub recorder: Option<Recorder>,
    /// An object with the user's own tags.
    pub metadata: Option<JsonText>,
    pub warnings: Vec<Warning>,
    /// The warnings of a snapshot that was read, as JSON text.
    pub read_warnings: Option<JsonText>,
    /// The rules that normalized requests before they were hashed: a list.
    pub normalize: Option<JsonText>,
    /// The rules that redacted the run before it was recorded: an object.
    pub redact: Option<JsonText>,
}

impl Snapshot {
    /// Creates a snapshot without optional fields. `clock` is the position of the dumped run.
    pub fn new(
        process_id: String,
        timestamp: f64,
        root: Arc<Frame>,
        clock: Clock,
        provenance: Provenance,
    ) -> Self {
        Self {
            process_id,
            timestamp,
            root,
            clock,
            without_carry_over: false,
            detached: OnceLock::new(),
            provenance,
            recorder: None,
            metadata: None,
            warnings: Vec::new(),
            read_warnings: None,
            normalize: None,
            redact: None,
        }
    }

    /// The rules by which this recording answers.
    pub fn flags(&self) -> Flags {
        let recorder = self.recorder.as_ref();
        recorder.map_or(Flags::NONE, |recorder| recorder.flags)
    }

    /// A copy of this snapshot with another tree.
    #[must_use]
    pub fn around(&self, root: Arc<Frame>) -> Self {
        Self {
            root,
            clock: Clock::default(),
            without_carry_over: false,
            detached: OnceLock::new(),
            ..self.clone()
        }
    }

    /// The snapshot of one run inside a recording session, as if the run had been started outside of it: without the
    /// part of the session's recording that the run has not requested. `call_id`: the callId of the run's frame.
    #[must_use]
    pub fn of_run(mut self, call_id: &JsonStr) -> Self {
        self.without_carry_over = true;
        let mut runs = self.tree().generation.children.iter();
        let Some(run) = runs.find(|child| child.call_id == *call_id) else {
            return self;
        };
        let root = Frame {
            call_id: JsonStr::from_plain("root"),
            within: None,
            replays: None,
            ..Frame::clone(run)
        };
        self.around(Arc::new(root))
    }

    /// This snapshot of a resumed run together with what the run had not requested of the recording that it resumed.
    #[must_use]
    pub fn resumed_from(&self, recording: &Self) -> Self {
        let (root, clock) = linked(self.tree(), recording.tree(), recording.flags());
        Self {
            clock,
            ..self.around(Arc::new(root))
        }
    }

    /// The tree as it is written and replayed, with the carried-over part unless `without_carry_over` is set.
    pub fn tree(&self) -> &Arc<Frame> {
        let detached = self.detached.get_or_init(|| {
            let detached = if self.without_carry_over {
                detached(&self.root, self.clock)
            } else {
                detached_with_carry_over(&self.root, self.clock, self.flags())
            };
            detached.map(Arc::new)
        });
        detached.as_ref().unwrap_or(&self.root)
    }
}

/// The origin of a snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Provenance {
    pub trace_id: String,
    pub span_id: Option<String>,
    pub anchor: Option<Anchor>,
    pub source: Option<SnapshotSource>,
    /// Id of the run that was not resumed from another one. `None` in recordings that do not name it.
    pub first_run: Option<String>,
    /// An object that describes the snapshot that this one was forked from.
    pub forked_from: Option<JsonText>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Anchor {
    Before,
    #[default]
    After,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotSource {
    Dump,
    Restore,
}

impl Anchor {
    pub fn name(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Before, Self::After]
            .into_iter()
            .find(|anchor| anchor.name() == name)
    }
}

impl SnapshotSource {
    pub fn name(self) -> &'static str {
        match self {
            Self::Dump => "dump",
            Self::Restore => "restore",
        }
    }
}

/// A part of a trace that was missing, duplicated or unreadable, and how restore repaired it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    pub code: &'static str,
    pub message: String,
    /// Line of the trace file or position in the list of events, counted from 1.
    pub line: Option<usize>,
    pub span_id: Option<String>,
}
