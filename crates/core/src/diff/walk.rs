//! Walks two trees in parallel, with an explicit stack.

use std::cmp::Ordering;

use super::align::{Alignment, MAX_PAIRS, Step, align};
use super::excerpt;
use super::nature::{self, Sides};
use super::path::{Path, Token, from_root, part, pointer};
use super::tree::{Kind, Tree, Value};
use super::{Change, Diff, Difference};

pub(super) fn compare(recorded: &Tree<'_>, actual: &Tree<'_>, max_differences: usize) -> Diff {
    let mut walk = Walk {
        max_differences,
        pairs_left: MAX_PAIRS,
        stack: Vec::new(),
        diff: Diff::default(),
    };
    walk.stack
        .push((Path::new(), Sides::Both(recorded.root(), actual.root())));
    while let Some((path, sides)) = walk.stack.pop() {
        walk.visit(&path, sides);
    }
    walk.diff
}

struct Walk<'t> {
    /// The most differences that are listed.
    max_differences: usize,
    pairs_left: usize,
    /// The pairs still to be compared, the next one last.
    stack: Vec<(Path<'t>, Sides<'t>)>,
    diff: Diff,
}

impl<'t> Walk<'t> {
    fn visit(&mut self, path: &Path<'t>, sides: Sides<'t>) {
        let Sides::Both(recorded, actual) = sides else {
            return self.found(path, sides, None);
        };
        if recorded.same(actual) {
            return;
        }
        let below = self.stack.len();
        match (recorded.kind(), actual.kind()) {
            (Kind::Object, Kind::Object) => self.members(path, recorded, actual),
            (Kind::Array, Kind::Array) => self.elements(path, recorded, actual),
            _ => self.found(path, sides, None),
        }
        self.stack[below..].reverse();
    }

    /// Both have their members in key order.
    fn members(&mut self, path: &Path<'t>, recorded: Value<'t>, actual: Value<'t>) {
        let mut recorded = recorded.children().peekable();
        let mut actual = actual.children().peekable();
        loop {
            let order = match (recorded.peek(), actual.peek()) {
                (Some(left), Some(right)) => left.order_of_key(*right),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return,
            };
            let left = recorded.next_if(|_| order != Ordering::Greater);
            let right = actual.next_if(|_| order != Ordering::Less);
            let (key, sides) = match (left, right) {
                (Some(left), Some(right)) if left.same(right) => continue,
                (Some(left), Some(right)) => (left.key(), Sides::Both(left, right)),
                (Some(left), None) => (left.key(), Sides::Recorded(left)),
                (None, Some(right)) => (right.key(), Sides::Actual(right)),
                (None, None) => return,
            };
            self.push(path, Token::Key(key), sides);
        }
    }

    fn elements(&mut self, path: &Path<'t>, recorded: Value<'t>, actual: Value<'t>) {
        let left: Vec<Value<'t>> = recorded.children().collect();
        let right: Vec<Value<'t>> = actual.children().collect();
        let steps = match align(&left, &right, &mut self.pairs_left) {
            Alignment::Reordered { from, length } => {
                let window = from..from + length;
                let order = [&left, &right].map(|list| excerpt::order(list, window.clone()));
                return self.found(path, Sides::Both(recorded, actual), Some(order));
            }
            Alignment::Steps(steps) => steps,
        };
        for step in steps {
            let (recorded, actual, sides) = match step {
                Step::Changed { recorded, actual } => {
                    (recorded, actual, Sides::Both(left[recorded], right[actual]))
                }
                Step::Removed { recorded } => (recorded, recorded, Sides::Recorded(left[recorded])),
                Step::Added { actual } => (actual, actual, Sides::Actual(right[actual])),
            };
            self.push(path, Token::Index { recorded, actual }, sides);
        }
    }

    fn push(&mut self, parent: &Path<'t>, token: Token<'t>, sides: Sides<'t>) {
        self.stack.push((parent.push_front(token), sides));
    }

    /// `order`: the excerpts of a reordered list.
    fn found(&mut self, path: &Path<'t>, sides: Sides<'t>, order: Option<[String; 2]>) {
        if self.diff.differences.len() >= self.max_differences {
            self.diff.more += 1;
            return;
        }
        let tokens = from_root(path);
        let change = match sides {
            _ if order.is_some() => Change::Reordered,
            Sides::Both(..) => Change::Changed,
            Sides::Recorded(_) => Change::Removed,
            Sides::Actual(_) => Change::Added,
        };
        let (recorded, actual) = match (order, sides) {
            (Some([recorded, actual]), _) => (Some(recorded), Some(actual)),
            (None, Sides::Both(recorded, actual)) => {
                let [recorded, actual] = excerpt::both(recorded, actual);
                (Some(recorded), Some(actual))
            }
            (None, Sides::Recorded(value)) => (Some(excerpt::start(value.text())), None),
            (None, Sides::Actual(value)) => (None, Some(excerpt::start(value.text()))),
        };
        self.diff.differences.push(Difference {
            pointer: pointer(&tokens, change),
            change,
            nature: nature::of(change, sides, &tokens),
            part: part(&tokens),
            recorded,
            actual,
        });
    }
}
