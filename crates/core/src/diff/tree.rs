//! A document in canonical form as a flat list of values, parents before children.

use std::cmp::Ordering;
use std::hash::BuildHasher;

use foldhash::fast::FixedState;

use crate::json::{JsonError, Scanner, order_of_keys};

#[derive(Debug)]
pub(super) struct Tree<'a> {
    nodes: Vec<Node<'a>>,
}

#[derive(Debug)]
struct Node<'a> {
    kind: Kind,
    text: &'a str,
    /// The body of the key's literal. Empty for elements and the root.
    key: &'a str,
    /// The index of the first node outside this one.
    next: usize,
    /// Equal texts have equal hashes.
    hash: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    Array,
    String,
    Number,
    Boolean,
    Null,
}

/// A container that is being read.
struct Open {
    node: usize,
    start: usize,
    first: bool,
}

impl<'a> Tree<'a> {
    /// The text must be in canonical form, where equal values have equal texts.
    pub(super) fn read(canonical: &'a str) -> Result<Self, JsonError> {
        let mut scanner = Scanner::new(canonical);
        let mut nodes: Vec<Node<'a>> = Vec::new();
        let mut open: Vec<Open> = Vec::new();
        let mut key = "";
        loop {
            let kind = Kind::of(scanner.peek());
            let start = scanner.position();
            let node = nodes.len();
            nodes.push(Node {
                kind,
                text: "",
                key,
                next: node + 1,
                hash: kind as u64,
            });
            match kind {
                Kind::Object => scanner.enter_object()?,
                Kind::Array => scanner.enter_array()?,
                _ => {
                    let text = scanner.skip_value().map(|span| scanner.slice(span))?;
                    nodes[node].text = text;
                    nodes[node].hash = HASHING.hash_one(text);
                }
            }
            if matches!(kind, Kind::Object | Kind::Array) {
                open.push(Open {
                    node,
                    start,
                    first: true,
                });
            }
            key = loop {
                let Some(container) = open.last_mut() else {
                    scanner.finish()?;
                    return Ok(Self { nodes });
                };
                if nodes[container.node].kind == Kind::Object {
                    if let Some(key) = scanner.next_member(&mut container.first)? {
                        break key.body();
                    }
                } else if scanner.next_element(&mut container.first)? {
                    break "";
                }
                let (node, start) = (container.node, container.start);
                open.pop();
                close(&mut nodes, node, scanner.slice(start..scanner.position()));
            };
        }
    }

    pub(super) fn root(&self) -> Value<'_> {
        Value {
            nodes: &self.nodes,
            at: 0,
        }
    }
}

fn close<'a>(nodes: &mut [Node<'a>], node: usize, text: &'a str) {
    let next = nodes.len();
    let mut hash = nodes[node].hash;
    let mut at = node + 1;
    while at < next {
        hash = HASHING.hash_one((hash, nodes[at].key, nodes[at].hash));
        at = nodes[at].next;
    }
    let container = &mut nodes[node];
    (container.text, container.next, container.hash) = (text, next, hash);
}

/// A fast filter. Texts with equal hashes still have to be compared.
const HASHING: FixedState = FixedState::with_seed(0);

impl Kind {
    fn of(first: Option<u8>) -> Self {
        match first {
            Some(b'{') => Self::Object,
            Some(b'[') => Self::Array,
            Some(b'"') => Self::String,
            Some(b't' | b'f') => Self::Boolean,
            Some(b'n') => Self::Null,
            _ => Self::Number,
        }
    }
}

/// A value in a tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Value<'t> {
    nodes: &'t [Node<'t>],
    at: usize,
}

impl<'t> Value<'t> {
    pub(super) fn kind(self) -> Kind {
        self.nodes[self.at].kind
    }

    /// In canonical form.
    pub(super) fn text(self) -> &'t str {
        self.nodes[self.at].text
    }

    /// The text between the quotes of a string.
    pub(super) fn body(self) -> &'t str {
        let text = self.text();
        text.get(1..text.len().saturating_sub(1))
            .unwrap_or_default()
    }

    /// The body of the key of a member.
    pub(super) fn key(self) -> &'t str {
        self.nodes[self.at].key
    }

    pub(super) fn same(self, other: Self) -> bool {
        self.seems_same(other) && self.text() == other.text()
    }

    /// As [`Value::same`] but by hash: constant time, with rare false positives.
    pub(super) fn seems_same(self, other: Self) -> bool {
        self.nodes[self.at].hash == other.nodes[other.at].hash
    }

    /// An arbitrary total order that is consistent across trees.
    pub(super) fn order(self, other: Self) -> Ordering {
        let hashes = self.nodes[self.at].hash.cmp(&other.nodes[other.at].hash);
        hashes.then_with(|| self.text().cmp(other.text()))
    }

    /// The order of keys in canonical form.
    pub(super) fn order_of_key(self, other: Self) -> Ordering {
        if self.key() == other.key() {
            return Ordering::Equal;
        }
        order_of_keys(self.key(), other.key())
    }

    /// The members or elements.
    pub(super) fn children(self) -> impl Iterator<Item = Value<'t>> {
        let Self { nodes, at } = self;
        let end = nodes[at].next;
        let mut next = at + 1;
        std::iter::from_fn(move || {
            (next < end).then(|| {
                let child = Value { nodes, at: next };
                next = nodes[next].next;
                child
            })
        })
    }

    /// The member with this key, which must not need an escape.
    pub(super) fn member(self, key: &str) -> Option<Value<'t>> {
        let is_object = self.kind() == Kind::Object;
        self.children()
            .find(|member| is_object && member.key() == key)
    }
}
