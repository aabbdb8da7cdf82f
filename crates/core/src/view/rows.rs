//! The rows of the tree of a run: frames, generations and calls, in the order of their starts.

use std::sync::Arc;

use crate::model::{Call, Frame, Generation, Row as JournalRow};

#[derive(Debug)]
pub(super) struct Row {
    pub item: Item,
    pub depth: usize,
    /// True for the last row under its frame.
    pub last: bool,
    /// The row of the frame around it.
    pub parent: Option<usize>,
}

#[derive(Debug, Clone)]
pub(super) enum Item {
    Frame(Arc<Frame>),
    Generation(u64),
    Call(Arc<Call>),
    /// An entry of a recording without lists of calls.
    Entry(Arc<JournalRow>),
}

/// Not recursive, because frames can be nested deeply.
pub(super) fn rows_of(root: &Arc<Frame>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    // The frames that are open: their rows, and the items that follow, in reverse.
    let mut open: Vec<(Option<usize>, Vec<Item>)> =
        vec![(None, vec![Item::Frame(Arc::clone(root))])];
    while let Some((parent, items)) = open.last_mut() {
        let Some(item) = items.pop() else {
            open.pop();
            continue;
        };
        let row = Row {
            last: items.is_empty(),
            parent: *parent,
            depth: open.len() - 1,
            item,
        };
        let inside = match &row.item {
            Item::Frame(frame) => Some(items_of(frame)),
            _ => None,
        };
        rows.push(row);
        if let Some(items) = inside {
            open.push((Some(rows.len() - 1), items));
        }
    }
    rows
}

fn items_of(frame: &Frame) -> Vec<Item> {
    let mut items = Vec::new();
    let earlier = frame.earlier.iter().map(AsRef::as_ref);
    for generation in earlier.chain([&frame.generation]) {
        if !frame.earlier.is_empty() {
            items.push(Item::Generation(generation.id));
        }
        add_in_order(generation, &mut items);
    }
    items.reverse();
    items
}

/// Entries without an order come first, frames without an order last.
fn add_in_order(generation: &Generation, items: &mut Vec<Item>) {
    items.extend(
        generation
            .rows
            .iter()
            .map(|row| Item::Entry(Arc::clone(row))),
    );
    let calls = generation.calls.iter();
    let frames = generation.children.iter();
    let mut ordered: Vec<(u64, Item)> = calls
        .map(|call| (call.start, Item::Call(Arc::clone(call))))
        .chain(frames.map(|frame| {
            let start = frame.start.unwrap_or(u64::MAX);
            (start, Item::Frame(Arc::clone(frame)))
        }))
        .collect();
    ordered.sort_by_key(|(start, _)| *start);
    items.extend(ordered.into_iter().map(|(_, item)| item));
}
