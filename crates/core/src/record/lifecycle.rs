//! The life of a live frame: all of its states, and the transitions between them.

/// How the code of a frame has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Returned {
    Completed,
    Failed,
}

/// A generation is past the recording if it comes after the last recorded one. The recording then answers nothing, not
/// even after the frame has returned, when its streams may still send requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lifecycle {
    Running {
        past_recording: bool,
    },
    /// The frame's code has ended. Streams in the frame may still run.
    Returned {
        how: Returned,
        past_recording: bool,
    },
}

impl Lifecycle {
    pub(super) const START: Self = Self::Running {
        past_recording: false,
    };

    pub(super) fn is_past_recording(self) -> bool {
        let (Self::Running { past_recording } | Self::Returned { past_recording, .. }) = self;
        past_recording
    }

    pub(super) fn has_completed(self) -> bool {
        matches!(
            self,
            Self::Returned {
                how: Returned::Completed,
                ..
            }
        )
    }

    /// After the start of another generation.
    #[must_use]
    pub(super) fn next_generation(self, past_recording: bool) -> Self {
        match self {
            Self::Running { .. } => Self::Running { past_recording },
            Self::Returned { how, .. } => Self::Returned {
                how,
                past_recording,
            },
        }
    }

    /// After the end of the frame's code. `None` if that has ended before: the first end counts.
    #[must_use]
    pub(super) fn returned(self, how: Returned) -> Option<Self> {
        match self {
            Self::Running { past_recording } => Some(Self::Returned {
                how,
                past_recording,
            }),
            Self::Returned { .. } => None,
        }
    }
}
