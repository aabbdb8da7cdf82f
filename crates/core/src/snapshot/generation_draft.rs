//! Collects the fields of a generation while it is read.

use std::sync::Arc;

use rpds::VectorSync;

use super::fields::Fields;
use super::journal_draft::JournalDraft;
use super::memory::read_memory;
use super::read_requests::TablesRead;
use super::stop::Stop;
use crate::json::JsonText;
use crate::model::{Frame, Generation, Memory, Value};

/// The fields that a frame (for its last generation) and an earlier generation share.
#[derive(Default)]
pub(super) struct BodyDraft {
    pub(super) seen_children: bool,
    pub(super) children: VectorSync<Arc<Frame>>,
    pub(super) seen_journal: bool,
    journal: JournalDraft,
    pub(super) start: StartDraft,
}

/// The start of a generation.
#[derive(Default)]
pub(super) struct StartDraft {
    id: u64,
    props: Option<JsonText>,
    props_types: Option<JsonText>,
    pub(super) memory: Option<Memory>,
}

impl BodyDraft {
    pub(super) fn read_field(&mut self, key: &str, fields: &mut Fields<'_>) -> Result<(), Stop> {
        match key {
            "journal" => {
                self.seen_journal = true;
                self.journal.read_rows(fields)
            }
            "calls" => self.journal.read_calls(fields),
            _ => self.start.read_field(key, fields),
        }
    }

    pub(super) fn finish_generation(self, fields: &mut Fields<'_>) -> Generation {
        if !self.seen_journal {
            fields.require("journal");
        }
        self.finish(&fields.requests)
    }

    pub(super) fn finish(self, tables: &TablesRead) -> Generation {
        let StartDraft {
            id,
            props,
            props_types,
            memory,
        } = self.start;
        let props = props.map(|text| Value {
            text,
            types: props_types,
        });
        let mut generation = Generation::new(id, props, memory);
        generation.children = self.children;
        self.journal.finish(tables, &mut generation);
        generation
    }
}

impl StartDraft {
    pub(super) fn read_field(&mut self, key: &str, fields: &mut Fields<'_>) -> Result<(), Stop> {
        match key {
            "id" => self.id = fields.count()?.unwrap_or(0),
            "props" => self.props = Some(fields.span()?),
            "propsTypes" => self.props_types = Some(fields.span()?),
            "memory" => self.memory = read_memory(fields)?,
            _ => fields.skip()?,
        }
        Ok(())
    }
}
