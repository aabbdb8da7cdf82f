//! The life of a live frame: all of its states, and the transitions between them.

/// How the code of a frame has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Returned {
    Completed,
    Failed,
}

/// A generation is past the recording if it comes after the last recorded one. The recording then answers nothing, not
/// even after the frame has returned, when leftover code may still begin calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lifecycle {
    Running {
        past_recording: bool,
    },
    /// The frame's code has ended. Its calls may still run, and begin.
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
        self.how() == Some(Returned::Completed)
    }

    pub(super) fn has_failed(self) -> bool {
        self.how() == Some(Returned::Failed)
    }

    fn how(self) -> Option<Returned> {
        match self {
            Self::Running { .. } => None,
            Self::Returned { how, .. } => Some(how),
        }
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
