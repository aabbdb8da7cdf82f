//! Decides if a failure ended its run, or if the program handled it.

use crate::model::{Call, Frame, Outcome, State};

/// A failure, as seen by the frame that it has reached.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failed {
    /// The frame ended with it.
    stopped: bool,
    /// The frame, or one above it, continued after it.
    handled: bool,
    end: Option<u64>,
}

/// A recorded frame that a failure can reach.
pub(crate) trait Ancestor {
    fn frame(&self) -> &Frame;

    /// Start of the last call or child of its last generation.
    fn last_start(&self) -> Option<u64>;
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
        let end = call.known_from();
        Some(Self {
            stopped,
            handled,
            end,
        })
    }

    pub(crate) fn frame(frame: &Frame) -> Self {
        Self {
            stopped: frame.stopped,
            handled: frame.handled,
            end: frame.end,
        }
    }

    /// Follows the failure up the tree, starting with the frame that it reached first. It ended the run if it, or
    /// the failure that it caused, was the last event in each frame. A frame that completed, or that started
    /// something else, had handled it.
    pub(crate) fn ended_the_run<A: Ancestor>(self, ancestors: impl Iterator<Item = A>) -> bool {
        let mut failed = self;
        for ancestor in ancestors {
            let frame = ancestor.frame();
            if matches!(frame.state, State::Completed(_)) {
                return false;
            }
            if !failed.stopped && (failed.handled || failed.is_followed_in(&ancestor)) {
                return false;
            }
            failed = Self {
                stopped: frame.stopped,
                handled: failed.handled || frame.handled,
                end: frame.end.or(failed.end),
            };
        }
        true
    }

    fn is_followed_in(self, ancestor: &impl Ancestor) -> bool {
        match (ancestor.last_start(), self.end) {
            (Some(last), Some(end)) => last > end,
            // If the recording has no order (old dumps), assume the program handled the failure, so that a replay
            // does not repeat the call.
            (_, None) => true,
            (None, Some(_)) => false,
        }
    }
}
