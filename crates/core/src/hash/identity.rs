use super::ContentHash;
use crate::json::quoted;

/// The id of a call, or of a frame under another frame. It does not depend on the order in which unequal calls start,
/// so a run that executes the call again computes the same id.
///
/// It is the SHA-256 of this JSON text without spaces: `["<above>",<generation>,"<kind>","<hash>",<occurrence>]`.
///
/// - `above`: the id of the frame around it. The id of the root is that of the first run.
/// - `generation`: the generation of that frame.
/// - `kind`: the kind of the call, or `agent:` and the id of the agent. If it is inside a call, after the callId of that
///   call in the frame and `>`. The body of a JSON string.
/// - `hash`: the hash of the request or of the frame's input.
/// - `occurrence`: the number of earlier calls or frames of that generation with the same `kind` and hash.
pub fn identity(
    above: &str,
    generation: u64,
    kind: &str,
    hash: &str,
    occurrence: u32,
) -> ContentHash {
    let above = quoted(above);
    ContentHash::of_text(&format!(
        r#"[{above},{generation},"{kind}","{hash}",{occurrence}]"#
    ))
}
