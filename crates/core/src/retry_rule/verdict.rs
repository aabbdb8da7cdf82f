//! The verdict on a failure, from the evidence in the frames that it reached.

use crate::model::{Call, Frame, Outcome, State};

/// How a recorded failure is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Failures {
    /// Execute the call again if the failure ended the run. Replay the failure if it was handled.
    #[default]
    Auto,
    Replay,
    Retry,
}

impl Failures {
    pub(crate) fn retries(self, ended_the_run: bool) -> bool {
        match self {
            Self::Auto => ended_the_run,
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

    /// Start of the last call or child of its last generation.
    fn last_start(&self) -> Option<u64>;

    /// True if the failure reached an earlier generation. A replay reaches only the last one.
    fn started_over(&self) -> bool {
        false
    }
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

    /// `ancestors`: the frames from the one that the failure reached first up to the root.
    pub(crate) fn ended_the_run<A: Ancestor>(self, ancestors: impl Iterator<Item = A>) -> bool {
        let mut failed = self;
        for ancestor in ancestors {
            let frame = ancestor.frame();
            let completed = matches!(frame.state, State::Completed(_));
            let last_start = || ancestor.last_start();
            if Evidence::of(failed, completed, ancestor.started_over(), last_start).is_handled() {
                return false;
            }
            let above = Self::frame(frame);
            failed = Self {
                stopped: above.stopped,
                handled: failed.handled || above.handled,
                received: above.received.or(failed.received),
            };
        }
        true
    }
}

/// True if the call failed and the program continued after that. `ancestors`: as in [`Failed::ended_the_run`].
pub(crate) fn call_was_handled<A: Ancestor>(
    call: &Call,
    ancestors: impl Iterator<Item = A>,
) -> bool {
    Failed::call(call).is_some_and(|failed| failed.handled || !failed.ended_the_run(ancestors))
}

/// True if the frame failed, or had failed before it was executed again, and the program continued after that.
/// `above`: the frames from its parent up to the root.
pub(crate) fn frame_was_handled<A: Ancestor>(
    frame: &Frame,
    above: impl Iterator<Item = A>,
) -> bool {
    let failed = matches!(frame.state, State::Failed(_));
    frame.handled || failed && !Failed::frame(frame).ended_the_run(above)
}
