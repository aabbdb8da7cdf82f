//! Finds the entry that a change names.

use std::collections::{HashMap, HashSet};

use super::tree::{Entry, Listed, Tree};
use super::{Change, ForkError, Target};
use crate::json::JsonStr;
use crate::model::{Kind, RequestHash};
use crate::util::IdHashing;

/// Longest list of matches elsewhere in a message.
const SHOWN: usize = 5;

pub(super) struct Finder<'t> {
    tree: &'t Tree<'t>,
    /// The entries with the callIds that the changes name.
    by_call_id: HashMap<&'t JsonStr, Vec<Listed<'t>>, IdHashing>,
}

impl<'t> Finder<'t> {
    /// Reads the tree once, even for many changes by callId.
    pub(super) fn new(tree: &'t Tree<'t>, changes: &'t [Change]) -> Self {
        let mut by_call_id: HashMap<_, Vec<_>, _> = HashMap::with_hasher(IdHashing::new());
        for change in changes {
            if let Target::CallId(call_id) = &change.target {
                by_call_id.insert(call_id, Vec::new());
            }
        }
        if !by_call_id.is_empty() {
            for listed in tree.entries() {
                let found = listed.call_id.and_then(|id| by_call_id.get_mut(id));
                if let Some(found) = found {
                    found.push(listed);
                }
            }
        }
        Self { tree, by_call_id }
    }

    pub(super) fn find(&self, change: &Change) -> Result<Entry, ForkError> {
        let found = match &change.target {
            Target::CallId(call_id) => self.with_call_id(call_id)?,
            Target::Request { hash, frame, kind } => {
                with_request(self.tree, hash, frame.as_ref(), kind.as_ref())?
            }
        };
        let found = in_order(found, change.occurrence.is_none())?;
        let occurrence = change.occurrence.unwrap_or(found.len().saturating_sub(1));
        let entry = found.get(occurrence).map(|listed| listed.entry);
        entry.ok_or_else(|| {
            let numbers = match found.len() {
                1 => "is only one, number 0".to_owned(),
                count => format!("are {count}, from 0 to {}", count.saturating_sub(1)),
            };
            let message = format!("there is no match number {occurrence}: there {numbers}.");
            ForkError::new("at.occurrence", message)
        })
    }

    fn with_call_id(&self, call_id: &JsonStr) -> Result<Vec<Listed<'t>>, ForkError> {
        if let Some(found) = self.by_call_id.get(call_id)
            && !found.is_empty()
        {
            return Ok(found.clone());
        }
        let has_rows = self.tree.entries().any(|listed| listed.call_id.is_none());
        let hint = if has_rows {
            " Rows without a list of calls have no callId: use their contentHash."
        } else {
            ""
        };
        let message = format!(
            "no call or frame \"{}\" in the snapshot.{hint}",
            call_id.body()
        );
        let known = self.tree.entries();
        let known = known.filter_map(|listed| listed.call_id.cloned());
        Err(ForkError::new("at", message).listing(Some(call_id), known))
    }
}

fn with_request<'a>(
    tree: &Tree<'a>,
    hash: &RequestHash,
    frame: Option<&JsonStr>,
    kind: Option<&Kind>,
) -> Result<Vec<Listed<'a>>, ForkError> {
    let in_frame = |listed: &Listed<'_>| {
        listed.request.is_some() && frame.is_none_or(|frame| listed.frame.call_id == *frame)
    };
    let of_kind = |listed: &Listed<'_>| {
        let is_it = |kind: &Kind| {
            listed
                .request
                .is_some_and(|(of, _)| of.name() == kind.name())
        };
        in_frame(listed) && kind.is_none_or(is_it)
    };
    let has_hash = |listed: &Listed<'_>| listed.request.is_some_and(|(_, of)| of == hash);
    let found: Vec<_> = tree
        .entries()
        .filter(|listed| of_kind(listed) && has_hash(listed))
        .collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let requests = || tree.entries().filter(|listed| listed.request.is_some());
    if let Some(frame) = frame
        && !tree.entries().any(|listed| in_frame(&listed))
    {
        let message = format!("no frame \"{}\" with calls.", frame.body());
        let known = requests().map(|listed| listed.frame.call_id.clone());
        return Err(ForkError::new("at.frame", message).listing(Some(frame), known));
    }
    let named = |kind: &Kind| JsonStr::from_normalized_body(kind.name());
    if let Some(kind) = kind
        && !tree.entries().any(|listed| of_kind(&listed))
    {
        let message = format!("no call of kind \"{}\".", kind.name());
        let known = tree.entries().filter(in_frame);
        let known = known.filter_map(|listed| listed.request.map(|(kind, _)| named(kind)));
        return Err(ForkError::new("at.kind", message).listing(Some(&named(kind)), known));
    }
    let written = |hash: &RequestHash| {
        let mut body = String::new();
        hash.push_to(&mut body);
        JsonStr::from_normalized_body(&body)
    };
    let mut matches = HashSet::new();
    let elsewhere: Vec<String> = requests()
        .filter(has_hash)
        .filter_map(|listed| {
            let (kind, _) = listed.request?;
            let frame = listed.frame.call_id.body();
            Some(format!("kind \"{}\" in \"{frame}\"", kind.name()))
        })
        .filter(|found| matches.insert(found.clone()))
        .take(SHOWN)
        .collect();
    let wanted = written(hash);
    let message = format!(
        "no call with the contentHash \"{}\"{}",
        wanted.body(),
        if elsewhere.is_empty() {
            ".".to_owned()
        } else {
            format!(" here, but there are calls of {}.", elsewhere.join(", "))
        }
    );
    let known = tree.entries().filter(of_kind);
    let known = known.filter_map(|listed| listed.request.map(|(_, hash)| written(hash)));
    Err(ForkError::new("at", message).listing(Some(&wanted), known))
}

/// Sorts entries by their starts. If some have no recorded order, all stay in tree order, and the last one in several
/// frames is unknown.
fn in_order(mut found: Vec<Listed<'_>>, wants_last: bool) -> Result<Vec<Listed<'_>>, ForkError> {
    if found.iter().all(|listed| listed.start.is_some()) {
        found.sort_by_key(|listed| listed.start);
        return Ok(found);
    }
    let frames: HashSet<_> = found.iter().map(|listed| &listed.frame.call_id).collect();
    if wants_last && frames.len() > 1 {
        let message = format!(
            "{} entries match, and their order is not recorded: set at.frame or at.occurrence.",
            found.len()
        );
        let known = found.iter().map(|listed| listed.frame.call_id.clone());
        return Err(ForkError::new("at", message).listing(None, known));
    }
    Ok(found)
}
