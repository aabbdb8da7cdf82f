//! Reads snapshots of any origin, in one pass and without recursion. Every fault is reported with its path.

use std::sync::Arc;

use super::error::SnapshotError;
use super::fields::{Fields, Segment};
use super::frame_draft::FrameFields;
use super::generation_draft::BodyDraft;
use super::stop::Stop;
use super::{Snapshot, VERSION};
use crate::json::{JsonErrorKind, JsonText};
use crate::model::{Clock, Frame, Generation, Recorder};
use crate::util::Faults;
use crate::util::limits::{MAX_FRAME_DEPTH, MAX_JSON_DEPTH};

/// Reads the text of a snapshot. Values are not copied: they refer to spans of `source`.
///
/// # Errors
/// All faults of the shape at once, or the position where the text is not JSON or nested too deep.
pub fn read_snapshot(source: &Arc<String>) -> Result<Snapshot, SnapshotError> {
    let mut reader = SnapshotReader {
        fields: Fields::new(source),
        stack: Vec::new(),
    };
    let read = reader.snapshot();
    let SnapshotReader { fields, .. } = reader;
    match read {
        Ok(snapshot) => match snapshot {
            Some(snapshot) if fields.faults.is_empty() => Ok(snapshot),
            _ => Err(SnapshotError::Invalid(Faults(fields.faults))),
        },
        Err(Stop::FramesTooDeep) => Err(SnapshotError::FramesTooDeep {
            path: fields.path_text(),
            limit: MAX_FRAME_DEPTH,
        }),
        Err(Stop::Json(error)) if error.kind == JsonErrorKind::TooDeep => {
            Err(SnapshotError::JsonTooDeep {
                path: fields.path_text(),
                limit: MAX_JSON_DEPTH,
            })
        }
        Err(Stop::Json(error)) => Err(SnapshotError::NotJson {
            path: fields.path_text(),
            error,
        }),
    }
}

struct SnapshotReader<'a> {
    fields: Fields<'a>,
    stack: Vec<Level>,
}

/// An object or list that has been entered, with the part of it that has been read.
enum Level {
    Frame {
        draft: Box<FrameFields>,
        first: bool,
    },
    Generation {
        draft: Box<BodyDraft>,
        first: bool,
    },
    /// Children of the frame or generation below it on the stack.
    Children {
        first: bool,
    },
    /// Generations of the frame below it on the stack.
    Generations {
        first: bool,
        index: usize,
    },
}

impl SnapshotReader<'_> {
    fn snapshot(&mut self) -> Result<Option<Snapshot>, Stop> {
        if self.fields.scanner.peek() != Some(b'{') {
            let received = self.fields.describe_next();
            self.fields
                .fault_here(&format!("expected a snapshot object, received {received}"));
            self.fields.scanner.skip_value()?;
            return Ok(None);
        }
        let mut process_id = None;
        let mut timestamp = None;
        let mut root = None;
        let mut provenance = None;
        let mut version = false;
        let mut recorder = None;
        let mut metadata = None;
        let mut normalize = None;
        let mut redact = None;
        let mut read_warnings = None;
        let mut seen_root = false;
        self.fields.scanner.enter_object()?;
        let mut first = true;
        while let Some(key) = self.fields.scanner.next_member(&mut first)? {
            let key = key.normalized();
            self.fields.path.push(Segment::Key(key.clone()));
            match &*key {
                "processId" => process_id = self.fields.plain_string()?,
                "timestamp" => timestamp = self.fields.number()?,
                "root" => {
                    seen_root = true;
                    root = self.frame()?;
                }
                "provenance" => provenance = self.fields.provenance()?,
                "version" => version = self.version()?,
                "recorder" => recorder = self.recorder()?,
                "metadata" => metadata = self.metadata()?,
                "normalize" => normalize = Some(self.fields.span()?),
                "redact" => redact = Some(self.fields.span()?),
                "warnings" if self.fields.scanner.peek() == Some(b'[') => {
                    read_warnings = Some(self.fields.span()?);
                }
                _ => self.fields.skip()?,
            }
            self.fields.path.pop();
        }
        self.fields.scanner.finish()?;
        for (name, missing) in [
            ("processId", process_id.is_none()),
            ("timestamp", timestamp.is_none()),
            ("root", !seen_root),
            ("provenance", provenance.is_none()),
            ("version", !version),
        ] {
            if missing {
                self.fields.require(name);
            }
        }
        let (Some(process_id), Some(timestamp), Some(root), Some(provenance)) =
            (process_id, timestamp, root, provenance)
        else {
            return Ok(None);
        };
        Ok(Some(Snapshot {
            recorder,
            metadata,
            read_warnings,
            normalize,
            redact,
            ..Snapshot::new(process_id, timestamp, root, Clock::default(), provenance)
        }))
    }

    fn version(&mut self) -> Result<bool, Stop> {
        let span = self.fields.scanner.skip_value()?;
        let text = self.fields.scanner.slice(span);
        let number: Option<f64> = text.parse().ok();
        match number {
            Some(number) if (number - f64::from(VERSION)).abs() < f64::EPSILON => return Ok(true),
            Some(number) if number > f64::from(VERSION) => self.fields.fault_here(&format!(
                "expected {VERSION}, received {text}: written by a newer version, update agent-rewind to read it"
            )),
            _ => self.fields.fault_here(&format!("expected {VERSION}, received {text}")),
        }
        Ok(false)
    }

    fn recorder(&mut self) -> Result<Option<Recorder>, Stop> {
        let text = self.fields.span()?;
        match Recorder::read(text.as_str(), &self.fields.path_text()) {
            Ok(recorder) => Ok(Some(recorder)),
            Err(faults) => {
                self.fields.faults.extend(faults);
                Ok(None)
            }
        }
    }

    fn metadata(&mut self) -> Result<Option<JsonText>, Stop> {
        let opens = self.fields.scanner.peek();
        let text = self.fields.span()?;
        match opens {
            Some(b'{') => Ok(Some(text)),
            Some(b'n') => Ok(None),
            _ => {
                self.fields.fault_here("expected an object");
                Ok(None)
            }
        }
    }

    /// Reads the frame at the current position and all frames under it.
    fn frame(&mut self) -> Result<Option<Arc<Frame>>, Stop> {
        if !self.fields.object_opens("expected a frame object")? {
            return Ok(None);
        }
        self.stack.push(Level::Frame {
            draft: Box::default(),
            first: true,
        });
        loop {
            let Some(mut level) = self.stack.pop() else {
                return Ok(None);
            };
            match &mut level {
                Level::Frame { draft, first } => {
                    let Some(key) = self.fields.scanner.next_member(first)? else {
                        let Level::Frame { draft, .. } = level else {
                            continue;
                        };
                        let frame = draft.finish(&mut self.fields);
                        if self.stack.is_empty() {
                            if let Some(root) = &frame {
                                self.fields.requests.fill(root);
                            }
                            return Ok(frame.map(Arc::new));
                        }
                        self.fields.path.pop();
                        self.attach_frame(frame);
                        continue;
                    };
                    let key = key.normalized();
                    self.fields.path.push(Segment::Key(key.clone()));
                    let enter = match &*key {
                        "children" => self.enter_children(&mut draft.body)?,
                        "generations" => self.enter_generations()?,
                        _ => {
                            draft.read_field(&key, &mut self.fields)?;
                            None
                        }
                    };
                    self.keep(level, enter);
                }
                Level::Generation { draft, first } => {
                    let Some(key) = self.fields.scanner.next_member(first)? else {
                        let Level::Generation { draft, .. } = level else {
                            continue;
                        };
                        let generation = draft.finish_generation(&mut self.fields);
                        self.fields.path.pop();
                        self.attach_generation(generation);
                        continue;
                    };
                    let key = key.normalized();
                    self.fields.path.push(Segment::Key(key.clone()));
                    let enter = if key == "children" {
                        self.enter_children(draft)?
                    } else {
                        draft.read_field(&key, &mut self.fields)?;
                        None
                    };
                    self.keep(level, enter);
                }
                Level::Children { first } => {
                    let Some(key) = self.fields.scanner.next_member(first)? else {
                        self.fields.path.pop();
                        continue;
                    };
                    self.fields.path.push(Segment::Key(key.normalized()));
                    let enter = if self.fields.object_opens("expected a frame object")? {
                        Some(Level::Frame {
                            draft: Box::default(),
                            first: true,
                        })
                    } else {
                        None
                    };
                    self.keep(level, enter);
                }
                Level::Generations { first, index } => {
                    if !self.fields.scanner.next_element(first)? {
                        self.fields.path.pop();
                        continue;
                    }
                    self.fields.path.push(Segment::Index(*index));
                    *index += 1;
                    let enter = if self.fields.object_opens("expected a generation object")? {
                        Some(Level::Generation {
                            draft: Box::default(),
                            first: true,
                        })
                    } else {
                        None
                    };
                    self.keep(level, enter);
                }
            }
        }
    }

    /// Pushes a level back and `enter` on top of it. Without `enter`, the member has been read to its end.
    fn keep(&mut self, level: Level, enter: Option<Level>) {
        self.stack.push(level);
        match enter {
            Some(level) => self.stack.push(level),
            None => {
                self.fields.path.pop();
            }
        }
    }

    fn enter_children(&mut self, body: &mut BodyDraft) -> Result<Option<Level>, Stop> {
        body.seen_children = true;
        let depth = self
            .stack
            .iter()
            .filter(|level| matches!(level, Level::Children { .. }))
            .count();
        if !self.fields.object_opens("expected an object of frames")? {
            return Ok(None);
        }
        // The root is the first level, and these children are the next.
        if depth + 2 > MAX_FRAME_DEPTH && self.fields.scanner.peek() != Some(b'}') {
            return Err(Stop::FramesTooDeep);
        }
        Ok(Some(Level::Children { first: true }))
    }

    fn enter_generations(&mut self) -> Result<Option<Level>, Stop> {
        if self.fields.scanner.peek() != Some(b'[') {
            self.fields.fault_here("expected an array");
            self.fields.scanner.skip_value()?;
            return Ok(None);
        }
        self.fields.scanner.enter_array()?;
        Ok(Some(Level::Generations {
            first: true,
            index: 0,
        }))
    }

    /// Adds a finished frame to the frame or generation whose children are being read.
    fn attach_frame(&mut self, frame: Option<Frame>) {
        let Some(frame) = frame else { return };
        let owner = self.stack.iter_mut().rev().nth(1);
        match owner {
            Some(Level::Frame { draft, .. }) => draft.body.children.push_back_mut(Arc::new(frame)),
            Some(Level::Generation { draft, .. }) => draft.children.push_back_mut(Arc::new(frame)),
            _ => {}
        }
    }

    fn attach_generation(&mut self, generation: Generation) {
        if let Some(Level::Frame { draft, .. }) = self.stack.iter_mut().rev().nth(1) {
            draft.earlier.push_back_mut(Arc::new(generation));
        }
    }
}
