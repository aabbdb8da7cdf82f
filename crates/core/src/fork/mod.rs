//! Forks: a recorded tree with calls dropped, or with new outcomes or memory values. The source is not changed. The fork
//! shares all unchanged frames with it.

mod answer;
mod edit;
mod failures;
mod find;
mod inside;
mod rehash;
mod remove;
mod test_recording;
mod tree;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::json::{JsonStr, JsonText, Scanner};
use crate::model::{Flags, Frame, Kind, Memory, Outcome, RequestHash, Value};
use find::Finder;
pub use rehash::rehash;
use remove::{Dropped, Routes};
pub use test_recording::test_recording;
use tree::{Entry, Subject, Tree};

/// A change of one call or frame.
#[derive(Debug, Clone)]
pub struct Change {
    pub target: Target,
    /// The number of the match, from 0, in the order of the starts. The last match if `None`.
    pub occurrence: Option<usize>,
    /// Removes the target, everything inside it, and everything that was started after its end. With an `outcome`, the target itself stays.
    pub drop: bool,
    pub outcome: Option<NewOutcome>,
    pub memory: Option<MemoryEdits>,
}

#[derive(Debug, Clone)]
pub enum Target {
    /// A call or a frame.
    CallId(JsonStr),
    /// A call, or a row without a list of calls.
    Request {
        hash: RequestHash,
        /// The callId of its frame.
        frame: Option<JsonStr>,
        kind: Option<Kind>,
    },
}

#[derive(Debug, Clone)]
pub enum NewOutcome {
    Output(Value),
    /// An `ErrorInfo` object.
    Error(JsonText),
}

/// New values of memory keys.
#[derive(Debug, Clone, Default)]
pub struct MemoryEdits {
    /// All keys that are edited. Keys that `values` lacks are removed.
    pub keys: Vec<JsonStr>,
    pub values: Memory,
}

/// A change that cannot be applied to the recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkError {
    /// Position of the change in the list.
    pub change: usize,
    /// Path of the field in the change, such as `at.frame`. Empty for the change itself.
    pub field: &'static str,
    pub message: String,
    pub known: Known,
}

/// The names that the change could have used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    pub names: Vec<JsonStr>,
    /// The name that was given and not found.
    pub wanted: Option<JsonStr>,
    /// The message has to list the names.
    pub listed: bool,
}

/// A change and its target.
struct Edit<'c> {
    index: usize,
    change: &'c Change,
    entry: Entry,
}

/// Applies all changes to a recorded tree. All of them name entries of the given tree, so their order does not matter.
/// If several changes set an outcome of one entry, the last one counts. `flags`: the rules of the recording.
///
/// # Errors
/// Returns the first change that names no entry, cannot be applied to its entry, or changes an entry that another change
/// removes.
pub fn fork(root: &Arc<Frame>, flags: Flags, changes: &[Change]) -> Result<Arc<Frame>, ForkError> {
    let mut tree = Tree::load(root);
    tree.settle_memory();
    let finder = Finder::new(&tree, changes);
    let mut fitting = Vec::with_capacity(changes.len());
    for (index, change) in changes.iter().enumerate() {
        let found = finder
            .find(change)
            .and_then(|entry| Ok((entry, check_fits(&tree, change, entry)?)));
        fitting.push(found.map_err(|error| error.of(index))?);
    }
    let edits: Vec<Edit> = fitting
        .iter()
        .enumerate()
        .map(|(index, (entry, change))| Edit {
            index,
            change,
            entry: *entry,
        })
        .collect();
    let outcomes: Outcomes = edits
        .iter()
        .filter_map(|edit| Some((edit.entry, edit.change.outcome.as_ref()?)))
        .collect();
    let dropped: Vec<Dropped> = edits
        .iter()
        .filter(|edit| edit.change.drop)
        .map(|edit| Dropped {
            entry: edit.entry,
            stays: outcomes.contains_key(&edit.entry),
        })
        .collect();
    let routes = Routes::to(&tree, edits.iter().map(|edit| edit.entry));
    tree.remove(&dropped, &routes);
    check_kept(&tree, &edits)?;
    tree.apply(&edits, &outcomes);
    tree.reopen_outer_calls(&edits, &outcomes);
    tree.keep_handled(&outcomes, flags);
    Ok(tree.store())
}

/// The last outcome that the changes set for an entry.
type Outcomes<'c> = HashMap<Entry, &'c NewOutcome>;

impl ForkError {
    /// An error of a change whose position is not known yet.
    fn new(field: &'static str, message: String) -> Self {
        Self {
            change: 0,
            field,
            message,
            known: Known::default(),
        }
    }

    /// Adds the names that the message has to list.
    fn listing(self, wanted: Option<&JsonStr>, names: impl IntoIterator<Item = JsonStr>) -> Self {
        let mut seen = HashSet::new();
        let names = names.into_iter().filter(|name| seen.insert(name.clone()));
        let known = Known {
            names: names.collect(),
            wanted: wanted.cloned(),
            listed: true,
        };
        Self { known, ..self }
    }

    fn of(self, change: usize) -> Self {
        Self { change, ..self }
    }
}

/// Returns the change as it is applied.
fn check_fits<'c>(
    tree: &Tree<'_>,
    change: &'c Change,
    entry: Entry,
) -> Result<Cow<'c, Change>, ForkError> {
    let is_frame = entry.subject == Subject::Frame;
    if change.drop && is_frame && tree.parent(entry.node).is_none() {
        let message = "the root cannot be dropped, because nothing would be left. Run without a snapshot instead.";
        return Err(ForkError::new("drop", message.to_owned()));
    }
    if change.memory.is_some() && !is_frame {
        let frame = &tree.frame(entry.node).call_id;
        let message = format!(
            "a call has no memory. To change the memory of its frame, set at: \"{}\".",
            frame.body()
        );
        let mut error = ForkError::new("memory", message);
        error.known.names.push(frame.clone());
        return Err(error);
    }
    let Some(NewOutcome::Output(output)) = &change.outcome else {
        return Ok(Cow::Borrowed(change));
    };
    let Some((kind, Outcome::Output(recorded))) = tree.request_outcome(entry) else {
        return Ok(Cow::Borrowed(change));
    };
    if *kind == Kind::Prompt
        && is_assistant_message(&recorded.text)
        && !is_assistant_message(&output.text)
    {
        let message = r#"expected an assistant message, such as { role: "assistant", content: "…" }, like the recorded output of the prompt."#;
        return Err(ForkError::new("output", message.to_owned()));
    }
    let answer = answer::fitting(kind, recorded, output)
        .map_err(|message| ForkError::new("output", message))?;
    Ok(answer.map_or(Cow::Borrowed(change), |answer| {
        Cow::Owned(Change {
            outcome: Some(NewOutcome::Output(answer)),
            ..change.clone()
        })
    }))
}

fn is_assistant_message(text: &JsonText) -> bool {
    Scanner::new(text.as_str()).members(["role"]) == Ok([Some(r#""assistant""#)])
}

/// Rejects a change of an entry that another change removes.
fn check_kept(tree: &Tree<'_>, edits: &[Edit<'_>]) -> Result<(), ForkError> {
    for edit in edits {
        let changes_it = edit.change.outcome.is_some() || edit.change.memory.is_some();
        if changes_it && !tree.is_kept(edit.entry) {
            let message = format!(
                "{} is dropped by another change, directly or because it was started later. Remove one of the two changes.",
                tree.name_of(edit.entry)
            );
            return Err(ForkError::new("", message).of(edit.index));
        }
    }
    Ok(())
}
