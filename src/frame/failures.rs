//! The failures of a frame: which ones the program has seen, and which ones end it.

use agent_rewind_core::json::{JsonStr, write_joined};
use napi_derive::napi;

use super::FrameHandle;
use super::objects::{call_slot, moment};

#[napi]
impl FrameHandle {
    /// Notes that the program receives the failure of a call. `awaiters`: the functions that wait for it up to the frame,
    /// from the inside out, one per line; absent if some are missing. `alone`: nothing else of the frame is open.
    #[napi(catch_unwind)]
    pub fn hand_out(&self, slot: f64, awaiters: Option<String>, turn: f64, alone: bool) {
        let moment = moment(awaiters.as_deref(), turn);
        self.frame.hand_out(call_slot(slot), moment, alone);
    }

    /// Notes that the program receives the failure of this frame. As [`Self::hand_out`], for the frame above.
    #[napi(catch_unwind)]
    pub fn hand_out_frame(&self, awaiters: Option<String>, turn: f64, alone: bool) {
        let moment = moment(awaiters.as_deref(), turn);
        self.frame.hand_out_frame(moment, alone);
    }

    /// Notes that the program starts something, so the earlier failures that it has seen were handled. Returns the callIds
    /// of their calls and frames, as a JSON array. `awaiters` as in [`Self::hand_out`].
    #[napi(catch_unwind)]
    pub fn continues(&self, awaiters: Option<String>, turn: f64) -> String {
        let handled = self.frame.continues(&moment(awaiters.as_deref(), turn));
        let mut out = String::from("[");
        write_joined(&handled, &mut out, JsonStr::write_quoted);
        out.push(']');
        out
    }

    /// True if [`Self::continues`] may have something to mark.
    #[napi(getter, catch_unwind)]
    pub fn has_pending_failures(&self) -> bool {
        self.frame.has_pending_failures()
    }

    /// True if the recorded failure of the frame was handled.
    #[napi(getter, catch_unwind)]
    pub fn was_handled(&self) -> bool {
        self.frame.was_handled()
    }

    /// The next dump shows the failure of this call as the end of the run.
    #[napi(catch_unwind)]
    pub fn name_call(&self, slot: f64) {
        self.frame.name_call(call_slot(slot));
    }

    /// The next dump shows the failure of this frame as the end of the run.
    #[napi(catch_unwind)]
    pub fn name_frame(&self) {
        self.frame.name_frame();
    }

    /// Marks that the failure of a call ended the frame.
    #[napi(catch_unwind)]
    pub fn mark_stopped(&self, slot: f64) {
        self.frame.mark_stopped(call_slot(slot));
    }

    /// Marks that the failure of this frame ended the frame above.
    #[napi(catch_unwind)]
    pub fn mark_frame_stopped(&self) {
        self.frame.mark_frame_stopped();
    }
}
