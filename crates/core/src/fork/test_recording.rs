use std::sync::Arc;

use super::rehash::{edit_calls, edited};
use crate::hash::InputHash;
use crate::json::JsonStr;
use crate::model::{Frame, Generation, Memory, Request, Sharing};

/// The frames that a test records if it executes this run. `call_id` and `input_hash` are those of the first run in a
/// test. `requests` has the request documents of all calls, where they are known, in the order of the read model. Calls
/// that have a request keep it.
pub fn test_recording(
    run: &Arc<Frame>,
    call_id: JsonStr,
    input_hash: Option<InputHash>,
    requests: impl IntoIterator<Item = Option<String>>,
) -> Frame {
    let run = with_requests(run, requests);
    let mut frame = if run.agent_id.body().is_empty() {
        Frame::clone(&run)
    } else {
        frame_around(Arc::clone(&run))
    };
    frame.call_id = call_id;
    frame.start = frame.start.or(Some(0));
    frame.state = run.state.clone();
    frame.input_hash = frame.input_hash.or(input_hash);
    frame_around(Arc::new(frame))
}

/// The frame of a run that contains only this one.
fn frame_around(inner: Arc<Frame>) -> Frame {
    let mut generation = Generation::new(0, None, Some(Memory::default()));
    generation.children.push_back_mut(inner);
    Frame {
        start: Some(0),
        ..Frame::new(
            JsonStr::from_plain("root"),
            JsonStr::from_plain(""),
            generation,
        )
    }
}

fn with_requests(
    root: &Arc<Frame>,
    requests: impl IntoIterator<Item = Option<String>>,
) -> Arc<Frame> {
    let mut requests = requests.into_iter();
    let mut sharing = Sharing::default();
    edited(
        root,
        |_| (),
        |generation| {
            edit_calls(generation, |call| {
                let Some(document) = requests.next().flatten() else {
                    return;
                };
                if call.request.is_some() {
                    return;
                }
                call.request = Some(sharing.share(Request::document(document)));
            });
        },
    )
}
