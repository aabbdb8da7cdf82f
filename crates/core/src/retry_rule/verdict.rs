//! The verdict on a failure, from the evidence in the frames that it reached.

use crate::model::{Call, Frame, Outcome, State};

/// How a recorded failure is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Failures {
    /// Replay the failure if it was handled. Otherwise execute the call again.
    #[default]
    Auto,
    Replay,
    Retry,
}

impl Failures {
    pub(crate) fn retries(self, verdict: FailureVerdict) -> bool {
        match self {
            Self::Auto => verdict != FailureVerdict::Handled,
            Self::Replay => false,
            Self::Retry => true,
        }
    }
}

/// A failure, as seen by the frame that it has reached.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failed {
    /// The frame ended with it.
    pub(super) stopped: bool,
    /// The frame, or one above it, continued after it.
    pub(super) handled: bool,
    /// The order at which the frame received it.
    pub(super) received: Option<u64>,
}

/// A recorded frame that a failure can reach.
pub(crate) trait Ancestor {
    fn frame(&self) -> &Frame;

    /// Start of the last call or child of its last generation. `None` if the recording has marks for what the program
    /// had seen.
    fn last_start(&self) -> Option<u64>;

    /// True if the failure reached an earlier generation. A replay reaches only the last one.
    fn started_over(&self) -> bool {
        false
    }
}

/// How a recorded failure ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureVerdict {
    Handled,
    EndedRun,
    /// Nothing shows that the program had seen it.
    Unknown,
}

/// The evidence about a failure in one frame, in the order of the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Evidence {
    Completed,
    StartedOver,
    EndedFrame,
    Marked,
    NoOrder,
    Followed,
    Nothing,
}

impl Evidence {
    pub(super) fn of(
        failed: Failed,
        completed: bool,
        started_over: bool,
        last_start: impl FnOnce() -> Option<u64>,
    ) -> Self {
        if completed {
            return Self::Completed;
        }
        if started_over {
            return Self::StartedOver;
        }
        if failed.stopped {
            return Self::EndedFrame;
        }
        if failed.handled {
            return Self::Marked;
        }
        match failed.received {
            None => Self::NoOrder,
            received if last_start() > received => Self::Followed,
            Some(_) => Self::Nothing,
        }
    }

    pub(super) fn is_handled(self) -> bool {
        !matches!(self, Self::EndedFrame | Self::Nothing)
    }
}

impl Failed {
    /// `None` for a call that has not failed.
    pub(crate) fn call(call: &Call) -> Option<Self> {
        let Outcome::Failure {
            stopped, handled, ..
        } = call.outcome
        else {
            return None;
        };
        Some(Self {
            stopped,
            handled,
            received: call.known_from(),
        })
    }

    pub(crate) fn frame(frame: &Frame) -> Self {
        Self {
            stopped: frame.stopped,
            handled: frame.handled,
            received: frame.end,
        }
    }

    /// True if the first frame has marked it already.
    pub(crate) fn is_marked(self) -> bool {
        self.handled || self.stopped
    }

    /// `ancestors`: the frames from the one that the failure reached first up to the root.
    pub(crate) fn verdict<A: Ancestor>(self, ancestors: impl Iterator<Item = A>) -> FailureVerdict {
        let mut failed = self;
        let mut verdict = FailureVerdict::EndedRun;
        for ancestor in ancestors {
            let frame = ancestor.frame();
            let completed = matches!(frame.state, State::Completed(_));
            let last_start = || ancestor.last_start();
            let evidence = Evidence::of(failed, completed, ancestor.started_over(), last_start);
            if evidence.is_handled() {
                return FailureVerdict::Handled;
            }
            if evidence == Evidence::Nothing {
                verdict = FailureVerdict::Unknown;
            }
            let above = Self::frame(frame);
            failed = Self {
                stopped: above.stopped,
                handled: failed.handled || above.handled,
                received: above.received.or(failed.received),
            };
        }
        verdict
    }

    /// True if a resumed run does not replay the failure. `ancestors`: as in [`Self::verdict`].
    pub(crate) fn is_retried<A: Ancestor>(self, ancestors: impl Iterator<Item = A>) -> bool {
        self.verdict(ancestors) != FailureVerdict::Handled
    }
}

/// True if the call failed and the program continued after that. `ancestors`: as in [`Failed::verdict`].
pub(crate) fn call_was_handled<A: Ancestor>(
    call: &Call,
    ancestors: impl Iterator<Item = A>,
) -> bool {
    Failed::call(call).is_some_and(|failed| failed.handled || !failed.is_retried(ancestors))
}

/// True if the frame failed, or had failed before it was executed again, and the program continued after that.
/// `above`: the frames from its parent up to the root.
pub(crate) fn frame_was_handled<A: Ancestor>(
    frame: &Frame,
    above: impl Iterator<Item = A>,
) -> bool {
    let failed = matches!(frame.state, State::Failed(_));
    frame.handled || failed && !Failed::frame(frame).is_retried(above)
}
