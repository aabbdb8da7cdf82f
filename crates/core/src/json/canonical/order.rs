use std::cmp::Ordering;
use std::ops::Range;

use super::Sink;
use super::key::{Key, KeyOrder};
use super::pieces::{List, Pieces};
use crate::json::error::{JsonError, JsonErrorKind};
use crate::json::number::is_normal_number;
use crate::json::scan::{MAX_OPEN, Scanner};

type Result<T> = std::result::Result<T, JsonError>;

/// The canonical form as pieces of the original text. Objects whose keys are already in order leave no edit.
pub(super) struct Layout {
    /// The part of the text to write.
    span: Range<usize>,
    /// The outermost objects that were out of order, first to last.
    edits: Vec<Edit>,
    pieces: Pieces,
    elements: usize,
}

/// A reordered object: replaces `span`, the text between its braces, with `pieces`.
struct Edit {
    span: Range<usize>,
    pieces: List,
}

struct Member {
    key: Key,
    end: usize,
    /// The edits inside the value.
    edits: Range<usize>,
}

impl Member {
    /// The opening quote of the key.
    fn start(&self) -> usize {
        self.key.start() - 1
    }
}

/// An open container.
struct Frame {
    is_object: bool,
    sorted: bool,
    start: usize,
    first_member: usize,
}

impl Layout {
    /// The layout of one value.
    pub(super) fn of_value(text: &str, by: KeyOrder) -> Result<Self> {
        let mut orderer = Orderer::new(text, by);
        orderer.value()?;
        orderer.finish(0..text.len())
    }

    /// The layout of one value, if the text is exactly as `JSON.stringify` writes it. `None` does not mean that the
    /// text is invalid; the caller then takes a slower path.
    pub(super) fn of_normal_value(text: &str, by: KeyOrder) -> Option<Self> {
        let mut orderer = Orderer::new(text, by);
        orderer.normal_numbers = true;
        orderer.value().ok()?;
        if !orderer.scanner.has_normal_strings() {
            return None;
        }
        orderer.finish(0..text.len()).ok()
    }

    /// The layout of an array's elements without its brackets.
    pub(super) fn of_elements(text: &str) -> Result<Self> {
        let mut orderer = Orderer::new(text, KeyOrder::Utf16Unit);
        if orderer.scanner.byte() != Some(b'[') {
            return orderer.scanner.unexpected();
        }
        orderer.value()?;
        orderer.finish(1..text.len() - 1)
    }

    pub(super) fn elements(&self) -> usize {
        self.elements
    }

    pub(super) fn write(&self, text: &str, sink: &mut impl Sink) {
        let mut from = self.span.start;
        for edit in &self.edits {
            sink.write(&text[from..edit.span.start]);
            for span in self.pieces.iter(edit.pieces) {
                sink.write(&text[span]);
            }
            from = edit.span.end;
        }
        sink.write(&text[from..self.span.end]);
    }
}

struct Orderer<'a> {
    scanner: Scanner<'a>,
    by: KeyOrder,
    /// If true, numbers must be as `JSON.stringify` writes them.
    normal_numbers: bool,
    frames: Vec<Frame>,
    /// The members read so far of all open objects.
    members: Vec<Member>,
    edits: Vec<Edit>,
    pieces: Pieces,
    elements: usize,
}

impl<'a> Orderer<'a> {
    fn new(text: &'a str, by: KeyOrder) -> Self {
        Self {
            scanner: Scanner::new(text),
            by,
            normal_numbers: false,
            frames: Vec::with_capacity(8),
            members: Vec::with_capacity(16),
            edits: Vec::with_capacity(8),
            pieces: Pieces::new(),
            elements: 0,
        }
    }

    fn finish(self, span: Range<usize>) -> Result<Layout> {
        if self.scanner.byte().is_some() {
            return self.scanner.error(JsonErrorKind::TrailingText);
        }
        Ok(Layout {
            span,
            edits: self.edits,
            pieces: self.pieces,
            elements: self.elements,
        })
    }

    /// Reads values until the outermost container is closed.
    fn value(&mut self) -> Result<()> {
        loop {
            let entered = self.begin_value()?;
            if !entered && !self.next_item()? {
                return Ok(());
            }
        }
    }

    /// Reads a scalar or enters a container. Returns true if it entered a container that has items.
    fn begin_value(&mut self) -> Result<bool> {
        match self.scanner.byte() {
            Some(b'"') => self.scanner.string_here().map(|_| false),
            Some(b'{') => {
                self.open(true)?;
                let is_empty = self.scanner.byte() == Some(b'}');
                if !is_empty {
                    self.key()?;
                }
                Ok(!is_empty)
            }
            Some(b'[') => {
                self.open(false)?;
                let is_empty = self.scanner.byte() == Some(b']');
                self.elements += usize::from(!is_empty && self.frames.len() == 1);
                Ok(!is_empty)
            }
            Some(b'-' | b'0'..=b'9') if self.normal_numbers => {
                let token = self.scanner.number()?;
                if !is_normal_number(token) {
                    return self.scanner.error(JsonErrorKind::BadNumber);
                }
                Ok(false)
            }
            _ => self.scanner.number_or_literal().map(|()| false),
        }
    }

    /// Closes the containers that end here. Returns true if another value follows in the container that is then open.
    fn next_item(&mut self) -> Result<bool> {
        while let Some(frame) = self.frames.last() {
            match (self.scanner.byte(), frame.is_object) {
                (Some(b','), true) => {
                    self.scanner.advance();
                    self.key()?;
                    return Ok(true);
                }
                (Some(b','), false) => {
                    self.scanner.advance();
                    self.elements += usize::from(self.frames.len() == 1);
                    return Ok(true);
                }
                (Some(b'}'), true) => self.close_object()?,
                (Some(b']'), false) => {
                    self.frames.pop();
                }
                _ => return self.scanner.unexpected(),
            }
            self.scanner.advance();
        }
        Ok(false)
    }

    fn open(&mut self, is_object: bool) -> Result<()> {
        self.scanner.advance();
        if self.frames.len() == MAX_OPEN {
            return self.scanner.error(JsonErrorKind::TooDeep);
        }
        let start = self.scanner.position();
        self.frames.push(Frame {
            is_object,
            sorted: true,
            start,
            first_member: self.members.len(),
        });
        Ok(())
    }

    fn key(&mut self) -> Result<()> {
        let body = self.scanner.string_here()?;
        if self.scanner.byte() != Some(b':') {
            return self.scanner.unexpected();
        }
        self.scanner.advance();
        let key = Key::new(self.scanner.bytes(), body);
        self.members.push(Member {
            key,
            end: 0,
            edits: self.edits.len()..0,
        });
        if let (Some(frame), [.., previous, member]) =
            (self.frames.last_mut(), self.members.as_slice())
            && frame.sorted
            && self.members.len() - frame.first_member > 1
        {
            match previous
                .key
                .order(&member.key, self.scanner.text(), self.by)
            {
                Ordering::Less => {}
                Ordering::Greater => frame.sorted = false,
                Ordering::Equal => {
                    return Err(JsonError {
                        kind: JsonErrorKind::DuplicateKey,
                        offset: member.start(),
                    });
                }
            }
        }
        Ok(())
    }

    fn close_object(&mut self) -> Result<()> {
        let Some(frame) = self.frames.pop() else {
            return Ok(());
        };
        if !frame.sorted {
            self.reorder(&frame)?;
        }
        self.members.truncate(frame.first_member);
        Ok(())
    }

    /// Replaces the edits inside an object with a single edit for the whole object.
    fn reorder(&mut self, frame: &Frame) -> Result<()> {
        let close = self.scanner.position();
        let members = &mut self.members[frame.first_member..];
        let first_edit = members
            .first()
            .map_or(self.edits.len(), |member| member.edits.start);
        let (mut end, mut edits_end) = (close, self.edits.len());
        for member in members.iter_mut().rev() {
            (member.end, member.edits.end) = (end, edits_end);
            // Minus the comma before it.
            (end, edits_end) = (member.start() - 1, member.edits.start);
        }
        let (text, by) = (self.scanner.text(), self.by);
        let comma = members.first().map_or(close, |member| member.end);
        members.sort_unstable_by(|a, b| a.key.order(&b.key, text, by));
        if let Some(offset) = duplicate_key(members, text, by) {
            return Err(JsonError {
                kind: JsonErrorKind::DuplicateKey,
                offset,
            });
        }
        let mut list = List::default();
        let mut members = members.iter().peekable();
        while let Some(member) = members.next() {
            let mut from = member.start();
            for edit in &self.edits[member.edits.clone()] {
                self.pieces.append(&mut list, from..edit.span.start);
                self.pieces.join(&mut list, edit.pieces);
                from = edit.span.end;
            }
            let comma_follows = usize::from(members.peek().is_some() && member.end < close);
            self.pieces
                .append(&mut list, from..member.end + comma_follows);
            if members.peek().is_some() && comma_follows == 0 {
                self.pieces.append(&mut list, comma..comma + 1);
            }
        }
        self.edits.truncate(first_edit);
        self.edits.push(Edit {
            span: frame.start..close,
            pieces: list,
        });
        Ok(())
    }
}

fn duplicate_key(sorted: &[Member], text: &str, by: KeyOrder) -> Option<usize> {
    let duplicate_key = sorted
        .windows(2)
        .find(|pair| pair[0].key.order(&pair[1].key, text, by) == Ordering::Equal)?;
    duplicate_key.iter().map(Member::start).max()
}
