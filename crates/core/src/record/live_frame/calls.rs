//! The calls of a live frame: from the start, with the answer of the recording, to the end.

use super::{Included, LiveFrame};
use crate::hash::{ContentHash, identity};
use crate::json::{JsonStr, JsonText};
use crate::model::{Flag, Flags, Kind, Outcome, Request, RequestHash};
use crate::record::run::{CallSlot, Ended, NewCall};
use crate::replay::{Answer, Explanation, Miss, ReplaySource, Verdict};
use crate::retry_rule::Mark;

/// A call to be started.
#[derive(Debug, Clone)]
pub struct CallInput {
    pub kind: Kind,
    pub call_id: JsonStr,
    /// The callId of the call of this frame that it is asked inside of.
    pub within: Option<JsonStr>,
    pub hash: ContentHash,
    /// The functions that wait for the call, as a JSON string. Only if [`LiveFrame::has_lanes`].
    pub lane: Option<JsonText>,
    /// True if the hash covers the whole request.
    pub exact: bool,
    /// Kept with the call if the run keeps requests.
    pub request: Option<Request>,
}

/// A call that has been started.
#[derive(Debug)]
pub struct StartedCall {
    /// `None` if the run records nothing.
    pub slot: Option<CallSlot>,
    pub answer: Answer,
    /// The tick in which the recorded call ended, if others ended in the same one: the recorded end of the first.
    pub tick: Option<u64>,
    /// The number of earlier calls with the same request in this generation of the frame.
    pub occurrence: u32,
    /// What was recorded inside the call, if its recorded answer is returned.
    pub included: Option<Included>,
}

impl LiveFrame {
    /// The rules that the run replays and records under.
    #[must_use]
    pub fn flags(&self) -> Flags {
        self.shared.flags
    }

    /// The key of the digests of secrets in the run's requests.
    #[must_use]
    pub fn salt(&self) -> Option<String> {
        self.shared.salt.borrow().clone()
    }

    pub fn set_salt(&self, salt: Option<String>) {
        self.shared.salt.replace(salt);
    }

    #[must_use]
    pub fn has_foreign_hashes(&self) -> bool {
        self.source
            .as_ref()
            .is_some_and(ReplaySource::has_foreign_hashes)
    }

    /// True if the recording needs the lane of each call to find its answer.
    #[must_use]
    pub fn has_lanes(&self) -> bool {
        self.answering().is_some_and(ReplaySource::has_lanes)
    }

    /// Starts a call: looks for its answer in the recording, and journals its start. `foreign`: the hash that another
    /// recorder would compute for the request.
    pub fn begin_call(&self, input: CallInput, foreign: Option<JsonStr>) -> StartedCall {
        let hash = RequestHash::Sha256(input.hash);
        let answer = self.answer(&input, &hash, foreign);
        let occurrence =
            self.identity
                .open_call(input.within.as_ref(), input.kind.name(), input.hash);
        let included = self.include(&input.call_id, &answer);
        let slot = if self.shared.options.recording {
            self.journal_start(input, hash, &answer)
        } else {
            None
        };
        let recorded_end = answer.call.as_ref().and_then(|call| call.end);
        let tick = recorded_end
            .filter(|_| self.flags().has(Flag::SharedTicks))
            .and_then(|end| self.shared.progress.tick_of(end));
        StartedCall {
            slot,
            answer,
            tick,
            occurrence,
            included,
        }
    }

    /// The id of a call that was started, which stays the same in runs that resume this one and execute it again.
    #[must_use]
    pub fn idempotency_key(
        &self,
        within: Option<&JsonStr>,
        kind: &Kind,
        hash: &str,
        generation: u64,
        occurrence: u32,
    ) -> ContentHash {
        let kind = self.identity.kind(within, kind.name());
        identity(self.identity(), generation, &kind, hash, occurrence)
    }

    /// Looks for the answer in the recording, and notes the recorded orders that the replay reaches with it.
    fn answer(&self, input: &CallInput, hash: &RequestHash, foreign: Option<JsonStr>) -> Answer {
        let CallInput {
            kind,
            exact,
            within,
            ..
        } = input;
        let lane = input.lane.as_ref();
        let failures = self.shared.options.failures;
        let take = |source: &ReplaySource, keys: &[RequestHash]| match self.place(within.as_ref()) {
            Some(place) => source.take(&place, kind, keys, lane, *exact, failures),
            None => Answer::miss(Miss::NotRecorded),
        };
        let answer = match (self.answering(), foreign) {
            (None, _) => Answer::miss(Miss::NoRecording),
            (Some(source), None) => take(source, std::slice::from_ref(hash)),
            (Some(source), Some(foreign)) => {
                take(source, &[hash.clone(), RequestHash::Foreign(foreign)])
            }
        };
        let progress = &self.shared.progress;
        let missed = matches!(answer.verdict, Verdict::Miss(_));
        if let Some(call) = &answer.call {
            progress.reach(Some(call.start));
            if missed {
                progress.reach(call.answered);
                // The call is executed now, so its recorded end will not come.
                progress.reach(call.end);
            } else {
                progress.open(call.end);
            }
        }
        let is_retry = matches!(answer.verdict, Verdict::Miss(Miss::Retry { .. }));
        if is_retry || missed && answer.call.is_none() {
            self.note_divergence();
        }
        answer
    }

    fn journal_start(
        &self,
        input: CallInput,
        hash: RequestHash,
        answer: &Answer,
    ) -> Option<CallSlot> {
        let outcome = match &answer.verdict {
            Verdict::Output(value) => Outcome::Output(value.clone()),
            Verdict::Failure(error) => Outcome::Failure {
                error: error.clone(),
                stopped: false,
                handled: answer.handled,
            },
            Verdict::Miss(_) => Outcome::Pending,
        };
        let recorded = answer.call.as_ref();
        let request = input
            .request
            .filter(|_| self.shared.options.requests)
            .map(|request| self.shared.sharing.borrow_mut().share(request));
        let call = NewCall {
            kind: input.kind,
            hash,
            call_id: input.call_id,
            within: input.within,
            outcome,
            request,
            data: recorded.map(|call| call.data.clone()).unwrap_or_default(),
            replays: answer.position,
            start: recorded.map(|call| call.start),
        };
        let slot = self.run().begin_call(&self.path, call);
        if answer.handled {
            self.handled_when_recorded.borrow_mut().extend(slot);
        }
        slot
    }

    /// Notes that something in this frame is not in the recording.
    fn note_divergence(&self) {
        let is_first = self.shared.progress.has_recording() && !self.ledger.has_diverged();
        if is_first && self.shared.options.recording {
            self.run().mark_diverged(&self.path);
        }
        self.ledger.mark_diverged();
    }

    /// Notes the lane of an open call. `lane`: a JSON string.
    pub fn set_lane(&self, slot: CallSlot, lane: JsonText) {
        self.run().set_lane(&self.path, slot, lane);
    }

    /// Journals the end of a call that was executed.
    pub fn end_call(&self, slot: CallSlot, ended: Ended) -> bool {
        self.note_divergence();
        let mut run = self.run();
        let is_journaled = run.end_call(&self.path, slot, ended);
        if self.lifecycle.get().has_completed() {
            run.mark_call(&self.path, slot, Mark::Handled);
        }
        is_journaled
    }

    /// Journals that the program receives a call's answer before the call's end. `recorded`: the recorded order of that.
    /// `true` if it overtook an earlier recorded start or end.
    pub fn answer_call(&self, slot: Option<CallSlot>, recorded: Option<u64>) -> bool {
        if let Some(slot) = slot {
            self.run().answer_call(&self.path, slot, recorded);
        }
        self.shared.progress.reach(recorded)
    }

    /// Journals the end of a replayed call. `end`: its recorded order. `true` if it overtook an earlier recorded
    /// start or end.
    pub fn release_call(&self, slot: Option<CallSlot>, end: Option<u64>) -> bool {
        if let Some(slot) = slot {
            self.run().release_call(&self.path, slot, end);
            self.adopt_inside(slot);
        }
        self.shared.progress.close(end);
        self.shared.progress.reach(end)
    }

    /// Notes that a call is executed again because only a part of its answer was recorded. Its recorded `answered` and
    /// `end` will not be reached.
    pub fn reopen_call(&self, slot: Option<CallSlot>, answered: Option<u64>, end: Option<u64>) {
        if let Some(slot) = slot {
            // It is executed again, so its recorded failure no longer counts.
            self.handled_when_recorded.borrow_mut().remove(&slot);
            self.run().reopen_call(&self.path, slot);
        }
        self.shared.progress.close(end);
        self.shared.progress.reach(answered);
        self.shared.progress.reach(end);
    }

    /// Explains why the recording has no answer for a request document: how it differs from the nearest recorded
    /// request of its kind. `None` if no request was kept.
    #[must_use]
    pub fn explain(&self, kind: &Kind, actual: &str) -> Option<Explanation> {
        Explanation::of(&self.source.as_ref()?.candidates(kind), actual)
    }
}
