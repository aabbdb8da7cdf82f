//! Walks JSON text, including JSON text within strings, and finds secrets in keys and values.

use crate::json::{Scanner, string_end};

use super::detect::{self, Hit, named};
use super::rule::{Builtin, Rule, RuleIndex, normalized_name};
use super::view::{MAX_LEVELS, View};

/// A span of the whole text to replace.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub start: usize,
    pub end: usize,
    pub rule: RuleIndex,
    /// For a number, which becomes a string: how often its quotes have to be escaped.
    pub quotes: Option<u8>,
    /// The number of keys of the object that were replaced before this one.
    pub ordinal: usize,
    /// Index in `places`.
    pub place: usize,
}

/// A string or number of the outermost JSON text.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub pointer: String,
    /// The start of its text, after the quote.
    pub start: usize,
    pub is_key: bool,
}

pub(super) struct Walk<'r> {
    rules: &'r [Rule],
    enabled: &'r [bool],
    has_keys: bool,
    pub found: Vec<Found>,
    pub places: Vec<Place>,
}

/// Knowledge about a value before it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    Nothing,
    Named(named::Named),
    /// From a user rule: every value below it is secret.
    Key(RuleIndex),
}

struct Container {
    is_object: bool,
    /// About the next member or element.
    next: Known,
    /// About all elements.
    all: Known,
    /// From a sibling: `{"name": "authorization", "value": …}`.
    sibling: Known,
    /// The span of the key, or the number of preceding elements.
    key: (usize, usize),
    index: usize,
    at_key: bool,
    replaced_keys: usize,
}

impl<'r> Walk<'r> {
    pub fn new(rules: &'r [Rule], enabled: &'r [bool]) -> Self {
        Self {
            rules,
            enabled,
            has_keys: rules.iter().any(|rule| !rule.keys.is_empty()),
            found: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Scans the text of a JSON value.
    pub fn json(&mut self, view: &View) {
        self.document(view, Known::Nothing);
    }

    /// Scans the content of a string: nested JSON text or plain text.
    pub fn content(&mut self, view: &View) {
        let first = view.bytes().iter().find(|byte| !byte.is_ascii_whitespace());
        if matches!(first, Some(b'{' | b'[' | b'"'))
            && view.level < MAX_LEVELS
            && is_json(&view.text)
        {
            self.document(view, Known::Nothing);
            return;
        }
        self.text(view);
    }

    /// Scans plain text, which may contain escapes of the text that it was cut from.
    pub fn text(&mut self, view: &View) {
        self.scan(view);
        if view.level < MAX_LEVELS && view.bytes().contains(&b'\\') {
            let next = view.unescaped(0..view.text.len());
            if next.text != view.text {
                self.text(&next);
            }
        }
    }

    fn scan(&mut self, view: &View) {
        let mut hits = Vec::new();
        detect::builtin(&view.text, &mut hits);
        detect::patterns(&view.text, self.rules, &mut hits);
        for hit in hits {
            self.add(view, hit, None);
        }
    }

    fn add(&mut self, view: &View, hit: Hit, quotes: Option<u8>) {
        if self.enabled.get(hit.rule).copied().unwrap_or(true) && hit.start < hit.end {
            self.found.push(Found {
                start: view.origin(hit.start),
                end: view.origin(hit.end),
                rule: hit.rule,
                quotes,
                ordinal: 0,
                place: 0,
            });
        }
    }

    /// Scans valid JSON text. Uses an explicit stack because data may be deeply nested.
    fn document(&mut self, view: &View, known: Known) {
        let bytes = view.bytes();
        let mut stack: Vec<Container> = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            match bytes[at] {
                byte @ (b'{' | b'[') => {
                    let all = match stack.last_mut() {
                        None => known,
                        Some(parent) => match parent.take_next() {
                            Known::Named(_) if byte == b'{' => Known::Nothing,
                            inherited => inherited,
                        },
                    };
                    stack.push(Container::new(byte == b'{', all));
                }
                b'}' | b']' => {
                    stack.pop();
                }
                b',' => {
                    if let Some(container) = stack.last_mut() {
                        container.index += 1;
                        container.at_key = container.is_object;
                    }
                }
                b'"' => {
                    let start = at + 1;
                    let end = string_end(bytes, start).unwrap_or(bytes.len());
                    self.string(view, &mut stack, start..end, known);
                    at = end;
                }
                b'-' | b'0'..=b'9' => {
                    let end = bytes[at..]
                        .iter()
                        .position(|byte| !(byte.is_ascii_digit() || b"+-.eE".contains(byte)))
                        .map_or(bytes.len(), |length| at + length);
                    self.number(view, &mut stack, at..end, known);
                    at = end - 1;
                }
                _ => {}
            }
            at += 1;
        }
    }

    fn string(
        &mut self,
        view: &View,
        stack: &mut [Container],
        range: std::ops::Range<usize>,
        known: Known,
    ) {
        let before = self.found.len();
        let value = view.unescaped(range.clone());
        let is_key = stack
            .last()
            .is_some_and(|container| container.is_object && container.at_key);
        if is_key {
            self.content(&value);
        } else {
            let known = stack.last_mut().map_or(known, Container::take_next);
            self.value(&value, known);
        }
        if self.found.len() > before {
            self.place(view, stack, before, range.start, is_key);
        }
        let Some(container) = stack.last_mut() else {
            return;
        };
        if is_key {
            container.key = (range.start, range.end);
            container.at_key = false;
            if self.found.len() > before {
                for found in &mut self.found[before..] {
                    found.ordinal = container.replaced_keys;
                }
                container.replaced_keys += 1;
            }
            container.next = self.known_from(&value.text, container);
        } else {
            let name = named::named(&value.text).map_or(Known::Nothing, Known::Named);
            if !container.is_object {
                // As in ["authorization", "Bearer …"], but not in ["authorization", "limit"].
                container.next = match name {
                    Known::Nothing => Known::Nothing,
                    _ => Known::Named(named::Named::Listed),
                };
            } else if matches!(
                view.text.get(container.key.0..container.key.1),
                Some("name" | "key" | "header")
            ) {
                container.sibling = name;
            }
        }
    }

    fn known_from(&self, key: &str, container: &Container) -> Known {
        if self.has_keys {
            let key = normalized_name(key);
            let rule = self.rules.iter().position(|rule| rule.keys.contains(&key));
            if let Some(rule) = rule {
                return Known::Key(rule);
            }
        }
        match named::named(key) {
            Some(name) => Known::Named(name),
            None if key == "value" => container.sibling,
            None => Known::Nothing,
        }
    }

    fn value(&mut self, value: &View, known: Known) {
        match known {
            Known::Key(rule) => self.add(
                value,
                Hit {
                    start: 0,
                    end: value.text.len(),
                    rule,
                },
                None,
            ),
            Known::Named(name) => {
                if let Some((start, end)) = named::in_value(name, &value.text) {
                    let rule = named::rule_of(name) as RuleIndex;
                    self.add(value, Hit { start, end, rule }, None);
                }
            }
            Known::Nothing => {}
        }
        self.content(value);
    }

    fn number(
        &mut self,
        view: &View,
        stack: &mut [Container],
        range: std::ops::Range<usize>,
        known: Known,
    ) {
        let known = stack.last_mut().map_or(known, Container::take_next);
        let digits = &view.bytes()[range.clone()];
        let rule = match known {
            Known::Key(rule) => rule,
            _ if detect::is_card_number(digits) => Builtin::CardNumber as RuleIndex,
            _ => return,
        };
        let before = self.found.len();
        let hit = Hit {
            start: range.start,
            end: range.end,
            rule,
        };
        self.add(view, hit, Some(view.level));
        if self.found.len() > before {
            self.place(view, stack, before, range.start, false);
        }
    }

    /// Records the place of the findings from index `from` on.
    fn place(&mut self, view: &View, stack: &[Container], from: usize, start: usize, is_key: bool) {
        let start = view.origin(start);
        if view.level > 0 {
            return;
        }
        for found in &mut self.found[from..] {
            found.place = self.places.len();
        }
        self.places.push(Place {
            pointer: pointer(view, stack, is_key),
            start,
            is_key,
        });
    }
}

impl Container {
    fn new(is_object: bool, all: Known) -> Self {
        Self {
            is_object,
            next: Known::Nothing,
            all,
            sibling: Known::Nothing,
            key: (0, 0),
            index: 0,
            at_key: is_object,
            replaced_keys: 0,
        }
    }

    fn take_next(&mut self) -> Known {
        let next = std::mem::replace(&mut self.next, Known::Nothing);
        if next == Known::Nothing || matches!(self.all, Known::Key(_)) {
            self.all
        } else {
            next
        }
    }
}

/// The pointer to a value. For a key, the pointer to its object.
fn pointer(view: &View, stack: &[Container], is_key: bool) -> String {
    let mut pointer = String::new();
    let above = stack.len() - usize::from(is_key);
    for container in stack.iter().take(above) {
        pointer.push('/');
        if container.is_object {
            let key = view.unescaped(container.key.0..container.key.1);
            pointer.push_str(&key.text.replace('~', "~0").replace('/', "~1"));
        } else {
            pointer.push_str(&container.index.to_string());
        }
    }
    pointer
}

fn is_json(text: &str) -> bool {
    let mut scanner = Scanner::new(text);
    scanner.skip_value().is_ok() && scanner.finish().is_ok()
}
