//! The marks of failures: which failures get them, and when.

use std::sync::Arc;

use super::causes::{causes, identity};
use super::verdict::{Evidence, Failed};
use crate::json::JsonText;
use crate::model::{Frame, Generation, Outcome, State};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// The program continued after the failure.
    Handled,
    /// The frame that the failure reached ended with it.
    Stopped { handled_when_recorded: bool },
    /// A fork keeps the failure: a replay does not retry it.
    Kept,
}

impl Mark {
    pub(crate) const STOPPED: Self = Self::Stopped {
        handled_when_recorded: false,
    };

    fn set(self, stopped: &mut bool, handled: &mut bool) {
        (*stopped, *handled) = match self {
            Self::Handled => (*stopped, true),
            Self::Stopped {
                handled_when_recorded,
            } => (true, handled_when_recorded),
            Self::Kept => (false, true),
        };
    }

    /// Marks the failure of a call. Does nothing if the call has not failed.
    pub(crate) fn set_in(self, outcome: &mut Outcome) {
        if let Outcome::Failure {
            stopped, handled, ..
        } = outcome
        {
            self.set(stopped, handled);
        }
    }

    /// Marks the failure of a frame, or the one that it will have.
    pub(crate) fn set_in_frame(self, frame: &mut Frame) {
        self.set(&mut frame.stopped, &mut frame.handled);
    }
}

/// Marks the failures of a restored frame as handled if it completed. `last_start`: as in
/// [`Ancestor::last_start`](super::Ancestor::last_start), with work that may not have started.
pub(crate) fn mark_handled_failures(
    generation: &mut Generation,
    completed: bool,
    last_start: Option<u64>,
) {
    let is_handled = |failed| {
        let evidence = Evidence::of(failed, completed, false, || last_start);
        matches!(evidence, Evidence::Completed | Evidence::Followed)
    };
    for position in 0..generation.calls.len() {
        let failed = generation
            .calls
            .get(position)
            .and_then(|call| Failed::call(call));
        if failed.is_some_and(is_handled)
            && let Some(call) = generation.calls.get_mut(position)
        {
            Mark::Handled.set_in(&mut Arc::make_mut(call).outcome);
        }
    }
    for position in 0..generation.children.len() {
        if let Some(child) = generation.children.get(position)
            && matches!(child.state, State::Failed(_))
            && is_handled(Failed::frame(child))
            && let Some(child) = generation.children.get_mut(position)
        {
            Mark::Handled.set_in_frame(Arc::make_mut(child));
        }
    }
}

/// The failure that a frame ended with. `failures`: those that reached the frame, each with its `ErrorInfo` and the order
/// of its end. If several equal the frame's error or one of its causes, it is the one that ended last: the frame
/// continued after the others.
pub(crate) fn failure_that_ended<'a, T>(
    frame_error: &JsonText,
    failures: impl Iterator<Item = (T, &'a JsonText, Option<u64>)>,
) -> Option<T> {
    let mut failures = failures.peekable();
    failures.peek()?;
    let causes = causes(frame_error);
    let equal = failures
        .filter(|(_, error, _)| identity(error).is_some_and(|failed| causes.contains(&failed)));
    let (failure, ..) = equal.max_by_key(|(_, _, end)| *end)?;
    Some(failure)
}
