//! Reads single fields of a snapshot and collects their faults.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Arc;

use super::read_requests::TablesRead;
use super::stop::Stop;
use super::{Anchor, Provenance, SnapshotSource};
use crate::json::{JsonStr, JsonText, Scanner};
use crate::model::Kind;
use crate::util::Fault;
use crate::util::limits::MAX_ORDER;

/// A scanner that keeps the path of the current value and collects faults.
pub(super) struct Fields<'a> {
    source: &'a Arc<String>,
    pub(super) scanner: Scanner<'a>,
    pub(super) path: Vec<Segment<'a>>,
    pub(super) faults: Vec<Fault>,
    /// Filled when the root has been read to its end.
    pub(super) requests: TablesRead,
    /// The kind of the call that was read last: most calls are of the same kind as the one before.
    last_kind: Option<Kind>,
}

/// One segment of the path to a value.
pub(super) enum Segment<'a> {
    Key(Cow<'a, str>),
    Index(usize),
}

impl<'a> Fields<'a> {
    pub(super) fn new(source: &'a Arc<String>) -> Self {
        let scanner = Scanner::new(source);
        Self {
            source,
            scanner,
            path: Vec::new(),
            faults: Vec::new(),
            requests: TablesRead::default(),
            last_kind: None,
        }
    }

    pub(super) fn path_text(&self) -> String {
        let mut text = String::new();
        for segment in &self.path {
            if !text.is_empty() {
                text.push('.');
            }
            match segment {
                Segment::Key(key) => text.push_str(key),
                // Writing to a String cannot fail.
                Segment::Index(index) => drop(write!(text, "{index}")),
            }
        }
        text
    }

    pub(super) fn fault_here(&mut self, message: &str) {
        let path = self.path_text();
        self.faults.push(Fault {
            path,
            message: message.to_owned(),
        });
    }

    /// Reports a field of the current object as missing, unless it has a fault already.
    pub(super) fn require(&mut self, name: &'static str) {
        self.path.push(Segment::Key(Cow::Borrowed(name)));
        let path = self.path_text();
        if !self
            .faults
            .iter()
            .any(|fault| fault.path == path || fault.path.starts_with(&format!("{path}.")))
        {
            self.fault_here("required");
        }
        self.path.pop();
    }

    /// The type of the next value, as error messages name it.
    pub(super) fn describe_next(&mut self) -> &'static str {
        match self.scanner.peek() {
            Some(b'{') => "an object",
            Some(b'[') => "an array",
            Some(b'"') => "a string",
            Some(b't' | b'f') => "a boolean",
            Some(b'n') => "null",
            Some(_) => "a number",
            None => "nothing",
        }
    }

    /// Reports the next value as unexpected and skips it.
    pub(super) fn unexpected(&mut self, expected: &str) -> Result<(), Stop> {
        let received = self.describe_next();
        self.fault_here(&format!("{expected}, received {received}"));
        self.scanner.skip_value()?;
        Ok(())
    }

    /// Enters the next value if it is an object. Otherwise reports a fault, skips the value and returns false.
    pub(super) fn object_opens(&mut self, expected: &str) -> Result<bool, Stop> {
        if self.scanner.peek() == Some(b'{') {
            self.scanner.enter_object()?;
            Ok(true)
        } else {
            self.unexpected(expected)?;
            Ok(false)
        }
    }

    /// The text of the next value, of any type.
    pub(super) fn span(&mut self) -> Result<JsonText, Stop> {
        let range = self.scanner.skip_value()?;
        Ok(JsonText::from_span(self.source, range))
    }

    pub(super) fn string(&mut self) -> Result<Option<JsonStr>, Stop> {
        let body = self.string_body()?;
        Ok(body.map(|body| JsonStr::from_normalized_body(&body)))
    }

    /// The body of a string, in the form that `JSON.stringify` writes.
    pub(super) fn string_body(&mut self) -> Result<Option<Cow<'a, str>>, Stop> {
        if self.scanner.peek() == Some(b'"') {
            return Ok(Some(self.scanner.string()?.normalized()));
        }
        self.unexpected("expected a string")?;
        Ok(None)
    }

    pub(super) fn kind(&mut self) -> Result<Option<Kind>, Stop> {
        let Some(name) = self.string_body()? else {
            return Ok(None);
        };
        if !matches!(&self.last_kind, Some(kind) if kind.name() == name) {
            self.last_kind = Some(Kind::from_name(JsonStr::from_normalized_body(&name)));
        }
        Ok(self.last_kind.clone())
    }

    pub(super) fn plain_string(&mut self) -> Result<Option<String>, Stop> {
        Ok(self.string()?.map(|text| text.to_display().into_owned()))
    }

    pub(super) fn number(&mut self) -> Result<Option<f64>, Stop> {
        if let Some(b'-' | b'0'..=b'9') = self.scanner.peek() {
            let number: Option<f64> = self.scanner.number()?.parse().ok();
            if !number.is_some_and(f64::is_finite) {
                self.fault_here("expected a number within the range of a double");
                return Ok(None);
            }
            return Ok(number);
        }
        self.unexpected("expected a number")?;
        Ok(None)
    }

    /// A position in the order of starts and ends.
    pub(super) fn order(&mut self) -> Result<Option<u64>, Stop> {
        self.count_up_to(MAX_ORDER)
    }

    /// A non-negative whole number, such as a generation id or an index.
    pub(super) fn count(&mut self) -> Result<Option<u64>, Stop> {
        self.count_up_to(u64::MAX)
    }

    fn count_up_to(&mut self, max: u64) -> Result<Option<u64>, Stop> {
        if let Some(b'-' | b'0'..=b'9') = self.scanner.peek() {
            let count: Option<u64> = self.scanner.number()?.parse().ok();
            let count = count.filter(|count| *count <= max);
            if count.is_none() {
                self.fault_here(&format!("expected a whole number from 0 to {max}"));
            }
            return Ok(count);
        }
        self.unexpected("expected a number")?;
        Ok(None)
    }

    pub(super) fn flag(&mut self) -> Result<bool, Stop> {
        if let Some(b't' | b'f') = self.scanner.peek() {
            let text = self.span()?;
            Ok(text.as_str() == "true")
        } else {
            self.unexpected("expected a boolean")?;
            Ok(false)
        }
    }

    /// Calls `read` for each member of an object. The path includes the member while `read` runs.
    pub(super) fn members(
        &mut self,
        expected: &str,
        mut read: impl FnMut(&mut Self, &str) -> Result<(), Stop>,
    ) -> Result<bool, Stop> {
        if !self.object_opens(expected)? {
            return Ok(false);
        }
        let mut first = true;
        while let Some(key) = self.scanner.next_member(&mut first)? {
            let key = key.normalized();
            self.path.push(Segment::Key(key.clone()));
            read(self, &key)?;
            self.path.pop();
        }
        Ok(true)
    }

    /// Calls `read` for each element of an array. The path includes the index while `read` runs.
    pub(super) fn elements(
        &mut self,
        expected: &str,
        mut read: impl FnMut(&mut Self) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        if self.scanner.peek() != Some(b'[') {
            return self.unexpected(expected);
        }
        self.scanner.enter_array()?;
        let (mut first, mut index) = (true, 0);
        while self.scanner.next_element(&mut first)? {
            self.path.push(Segment::Index(index));
            read(self)?;
            self.path.pop();
            index += 1;
        }
        Ok(())
    }

    /// Skips the value of an unknown member.
    pub(super) fn skip(&mut self) -> Result<(), Stop> {
        Ok(self.scanner.skip()?)
    }

    pub(super) fn provenance(&mut self) -> Result<Option<Provenance>, Stop> {
        let mut trace_id = None;
        let mut span_id = None;
        let mut anchor = None;
        let mut source = None;
        let mut first_run = None;
        let mut forked_from = None;
        let is_object = self.members("expected an object", |fields, key| {
            match key {
                "traceId" => trace_id = fields.plain_string()?,
                "spanId" => span_id = fields.plain_string()?,
                "anchor" => {
                    let anchors = [Anchor::Before, Anchor::After];
                    anchor = fields.choice(&anchors.map(|anchor| (anchor.name(), anchor)))?;
                }
                "source" => {
                    let sources = [SnapshotSource::Dump, SnapshotSource::Restore];
                    source = fields.choice(&sources.map(|source| (source.name(), source)))?;
                }
                "firstRun" => first_run = fields.plain_string()?,
                "forkedFrom" => forked_from = Some(fields.span()?),
                _ => fields.skip()?,
            }
            Ok(())
        })?;
        if is_object && trace_id.is_none() {
            self.require("traceId");
        }
        Ok(trace_id.map(|trace_id| Provenance {
            trace_id,
            span_id,
            anchor,
            source,
            first_run,
            forked_from,
        }))
    }

    /// One of the given strings.
    pub(super) fn choice<T: Copy>(&mut self, choices: &[(&str, T)]) -> Result<Option<T>, Stop> {
        let expected = || {
            choices
                .iter()
                .map(|(name, _)| format!("\"{name}\""))
                .collect::<Vec<_>>()
                .join(" | ")
        };
        if self.scanner.peek() != Some(b'"') {
            self.unexpected(&format!("expected {}", expected()))?;
            return Ok(None);
        }
        let text = self.scanner.string()?.normalized();
        let found = choices
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, value)| *value);
        if found.is_none() {
            self.fault_here(&format!("expected {}, received \"{text}\"", expected()));
        }
        Ok(found)
    }
}
