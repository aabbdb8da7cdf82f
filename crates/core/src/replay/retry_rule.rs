//! Whether a failure ended its run, or the program went on after it.

use crate::model::{Call, Frame, Outcome, State};

/// A failure, as the frame has it that it came to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failed {
    /// The frame ended with it.
    stopped: bool,
    /// The frame, or one above it, went on after it.
    handled: bool,
    end: Option<u64>,
}

/// A recorded frame that a failure can come to.
pub(crate) trait Level {
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

    /// Follows the failure up the tree, from the frame that it came to first: it ended the run if it, or
    /// what it made fail, was the last thing in each frame; a frame that completed, or went on to something
    /// else, had handled it.
    pub(crate) fn ended_the_run<L: Level>(self, levels: impl Iterator<Item = L>) -> bool {
        let mut failed = self;
        for level in levels {
            let frame = level.frame();
            if matches!(frame.state, State::Completed(_)) {
                return false;
            }
            if !failed.stopped && (failed.handled || failed.is_followed_in(&level)) {
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

    fn is_followed_in(self, level: &impl Level) -> bool {
        match (level.last_start(), self.end) {
            (Some(last), Some(end)) => last > end,
            // Without an order the failure is taken for handled: a replay repeats nothing.
            (_, None) => true,
            (None, Some(_)) => false,
        }
    }
}
