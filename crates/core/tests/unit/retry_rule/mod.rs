//! One test for each row of the tables in the head of the module.

use std::sync::Arc;

use super::verdict::Evidence;
use super::*;
use crate::json::{JsonStr, JsonText};
use crate::model::{Call, CallData, Frame, Generation, Kind, Outcome, RequestHash, State, Value};

/// A frame that a failure reaches.
struct Reached {
    frame: Frame,
    last_start: Option<u64>,
    started_over: bool,
}

impl Ancestor for &Reached {
    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn last_start(&self) -> Option<u64> {
        self.last_start
    }

    fn started_over(&self) -> bool {
        self.started_over
    }
}

/// The failure was received at order 5, and nothing shows that it was handled.
const FAILED: Failed = Failed {
    stopped: false,
    handled: false,
    received: Some(5),
};
const STOPPED: Failed = Failed {
    stopped: true,
    ..FAILED
};
const HANDLED: Failed = Failed {
    handled: true,
    ..FAILED
};
const WITHOUT_ORDER: Failed = Failed {
    received: None,
    ..FAILED
};

fn reached(state: State, last_start: u64) -> Reached {
    let name = |text| JsonStr::from_plain(text);
    let mut frame = Frame::new(name("c"), name("a"), Generation::new(0, None, None));
    frame.state = state;
    Reached {
        frame,
        last_start: Some(last_start),
        started_over: false,
    }
}

fn failed_frame(end: Option<u64>) -> Frame {
    let mut frame = reached(State::Failed(None), 0).frame;
    frame.end = end;
    frame
}

fn completed() -> State {
    State::Completed(Value::undefined())
}

fn error(name: &str) -> JsonText {
    JsonText::trusted(format!(r#"{{"name":"{name}","message":"m"}}"#))
}

fn failure(stopped: bool, handled: bool) -> Outcome {
    Outcome::Failure {
        error: error("E"),
        stopped,
        handled,
    }
}

fn failed_call(end: Option<u64>, outcome: Outcome) -> Arc<Call> {
    Arc::new(Call {
        within: None,
        kind: Kind::Tool,
        hash: RequestHash::read("h"),
        call_id: JsonStr::from_plain("t"),
        start: 1,
        answered: None,
        end,
        outcome,
        request: None,
        data: CallData::default(),
        replays: None,
        carried_over: false,
        dropped: false,
    })
}

#[test]
fn the_first_row_that_applies_is_the_evidence() {
    let (early, late) = (Some(4), Some(6));
    for (failed, is_completed, started_over, last_start, evidence) in [
        (STOPPED, true, true, late, Evidence::Completed),
        (STOPPED, false, true, late, Evidence::StartedOver),
        (STOPPED, false, false, late, Evidence::EndedFrame),
        (HANDLED, false, false, early, Evidence::Marked),
        (WITHOUT_ORDER, false, false, None, Evidence::NoOrder),
        (FAILED, false, false, late, Evidence::Followed),
        (FAILED, false, false, Some(5), Evidence::Nothing),
        (FAILED, false, false, None, Evidence::Nothing),
    ] {
        let found = Evidence::of(failed, is_completed, started_over, || last_start);
        assert_eq!(found, evidence);
    }
}

#[test]
fn each_evidence_has_a_verdict() {
    let ended = |failed: Failed, frame: &Reached| failed.is_retried([frame].into_iter());
    let running = |last_start| reached(State::Running, last_start);
    let started_over = Reached {
        started_over: true,
        ..running(4)
    };
    assert!(!ended(STOPPED, &reached(completed(), 4)), "Completed");
    assert!(!ended(STOPPED, &started_over), "StartedOver");
    assert!(ended(STOPPED, &running(6)), "EndedFrame");
    assert!(!ended(HANDLED, &running(4)), "Marked");
    assert!(!ended(WITHOUT_ORDER, &running(4)), "NoOrder");
    assert!(!ended(FAILED, &running(6)), "Followed");
    assert!(ended(FAILED, &running(4)), "Nothing");
    assert!(
        FAILED.is_retried(std::iter::empty::<&Reached>()),
        "no frame above"
    );
}

#[test]
fn the_frame_above_decides_with_the_failure_of_its_child() {
    let mut child = reached(State::Failed(None), 4);
    let mut above = reached(State::Running, 7);
    let ended = |child: &Reached, above: &Reached, failed: Failed| {
        failed.is_retried([child, above].into_iter())
    };
    child.frame.end = Some(8);
    assert!(
        ended(&child, &above, STOPPED),
        "nothing started after the end of the child"
    );
    child.frame.end = None;
    assert!(
        !ended(&child, &above, STOPPED),
        "without an end, the order of the failure counts"
    );
    child.frame.end = Some(8);
    child.frame.handled = true;
    assert!(!ended(&child, &above, STOPPED), "the child is marked");
    child.frame.handled = false;
    let marked = Failed {
        handled: true,
        ..STOPPED
    };
    assert!(
        !ended(&child, &above, marked),
        "the mark of a call is that of a frame above"
    );
    child.frame.stopped = true;
    assert!(
        ended(&child, &above, marked),
        "the frame above ended with it"
    );
    above.frame.state = completed();
    assert!(
        !ended(&child, &above, marked),
        "a frame that completed handled it"
    );
}

#[test]
fn a_failure_that_nothing_is_known_of_has_no_proven_end() {
    let frames = |stopped| {
        let mut child = reached(State::Failed(None), 4);
        child.frame.stopped = stopped;
        [child, reached(State::Failed(None), 4)]
    };
    let verdict = |failed: Failed, frames: &[Reached; 2]| failed.verdict(frames.iter());
    assert_eq!(verdict(STOPPED, &frames(true)), FailureVerdict::EndedRun);
    assert_eq!(verdict(STOPPED, &frames(false)), FailureVerdict::Unknown);
    assert_eq!(verdict(FAILED, &frames(true)), FailureVerdict::Unknown);
    assert_eq!(verdict(HANDLED, &frames(true)), FailureVerdict::Handled);
}

#[test]
fn the_option_failures_decides_about_the_retry() {
    for (failures, after_handled, after_end) in [
        (Failures::Auto, false, true),
        (Failures::Replay, false, false),
        (Failures::Retry, true, true),
    ] {
        assert_eq!(failures.retries(FailureVerdict::Handled), after_handled);
        assert_eq!(failures.retries(FailureVerdict::EndedRun), after_end);
        assert_eq!(failures.retries(FailureVerdict::Unknown), after_end);
    }
}

#[test]
fn only_failures_can_have_been_handled() {
    let call = |outcome| failed_call(Some(5), outcome);
    let followed = reached(State::Running, 6);
    let handled = |call: &Call| call_was_handled(call, [&followed].into_iter());
    assert!(handled(&call(failure(false, false))));
    assert!(!handled(&call(failure(true, false))));
    assert!(handled(&call(failure(true, true))));
    assert!(!handled(&call(Outcome::Pending)));

    let was_handled = |frame: &Frame| frame_was_handled(frame, [&followed].into_iter());
    assert!(was_handled(&failed_frame(Some(5))));
    assert!(!was_handled(&failed_frame(Some(7))));
    let mut again = reached(State::Running, 0).frame;
    assert!(!was_handled(&again));
    again.handled = true;
    assert!(
        was_handled(&again),
        "its failure in the recording was handled"
    );
}

#[test]
fn marks_are_set_on_failures() {
    let marked = |mark: Mark, stopped, handled| {
        let mut outcome = failure(stopped, handled);
        mark.set_in(&mut outcome);
        let mut frame = failed_frame(None);
        (frame.stopped, frame.handled) = (stopped, handled);
        mark.set_in_frame(&mut frame);
        assert_eq!(outcome, failure(frame.stopped, frame.handled));
        (frame.stopped, frame.handled)
    };
    let handled_when_recorded = Mark::Stopped {
        handled_when_recorded: true,
    };
    assert_eq!(marked(Mark::Handled, false, false), (false, true));
    assert_eq!(marked(Mark::Handled, true, false), (true, true));
    assert_eq!(marked(Mark::STOPPED, false, true), (true, false));
    assert_eq!(marked(handled_when_recorded, false, false), (true, true));
    assert_eq!(marked(Mark::Kept, true, false), (false, true));
    let mut pending = Outcome::Pending;
    Mark::Handled.set_in(&mut pending);
    assert_eq!(pending, Outcome::Pending);
}

#[test]
fn restored_failures_are_marked_if_the_frame_continued_or_completed() {
    // In one frame: followed, not followed, stopped, without an order.
    let ends = [
        (Some(3), false),
        (Some(5), false),
        (Some(3), true),
        (None, false),
    ];
    let marks = |is_completed, last_start| {
        let mut generation = Generation::new(0, None, None);
        for (end, stopped) in ends {
            let call = failed_call(end, failure(stopped, false));
            generation.calls.push_back_mut(call);
            let mut child = failed_frame(end);
            (child.start, child.stopped) = (Some(4), stopped);
            generation.children.push_back_mut(Arc::new(child));
        }
        mark_handled_failures(&mut generation, is_completed, last_start);
        let calls: Vec<_> = generation
            .calls
            .iter()
            .map(|call| call.is_handled())
            .collect();
        let children: Vec<_> = generation
            .children
            .iter()
            .map(|child| child.handled)
            .collect();
        assert_eq!(calls, children);
        calls
    };
    assert_eq!(marks(false, None), [false; 4]);
    assert_eq!(marks(false, Some(4)), [true, false, false, false]);
    assert_eq!(marks(false, Some(6)), [true, true, false, false]);
    assert_eq!(marks(true, None), [true; 4]);
}

#[test]
fn a_frame_ended_with_the_last_failure_that_equals_its_error_or_a_cause() {
    let thrown = JsonText::trusted(format!(
        r#"{{"name":"Outer","message":"m","cause":{}}}"#,
        error("Cause").as_str()
    ));
    let ended_with = |failures: &[(&str, Option<u64>)]| {
        let errors: Vec<_> = failures.iter().map(|(name, _)| error(name)).collect();
        let listed = failures.iter().zip(&errors).enumerate();
        failure_that_ended(
            &thrown,
            listed.map(|(index, ((_, end), error))| (index, error, *end)),
        )
    };
    assert_eq!(ended_with(&[]), None);
    assert_eq!(ended_with(&[("Other", Some(9))]), None);
    assert_eq!(
        ended_with(&[("Outer", Some(1)), ("Other", Some(9))]),
        Some(0)
    );
    assert_eq!(
        ended_with(&[("Cause", Some(2)), ("Outer", Some(1))]),
        Some(0)
    );
    assert_eq!(ended_with(&[("Cause", None), ("Cause", None)]), Some(1));
}
