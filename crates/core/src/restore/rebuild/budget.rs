//! Sums up the usage of frames, before this run and in it.

use super::builder::Builder;
use super::draft::Index;
use crate::json::Scanner;
use crate::model::{Budget, Usage};
use crate::restore::read::event::Event;
use crate::restore::read::fields::{Field, Fields};
use crate::restore::read::payload::Payload;

impl<'t> Builder<'_, 't> {
    /// A frame that continues from a snapshot starts with the usage in the snapshot.
    pub(crate) fn budget_state(&mut self, frame: Index, event: &Event, fields: &Fields<'_, 't>) {
        if let Some(text) = fields.text(Field::BudgetState) {
            match read_budget(text) {
                Some(budget) => self.frames[frame as usize].budget = Some(budget),
                None => self.warn_field(event, Field::BudgetState, "a BudgetState object"),
            }
        }
    }

    pub(crate) fn usage(
        &mut self,
        order: u64,
        frame: Index,
        event: &Event,
        fields: &Fields<'_, 't>,
    ) {
        let usage = match self.take_payload(event) {
            Some(Payload::Usage(Some(usage))) => usage,
            Some(_) => return self.warn_field(event, Field::Delta, "a UsageStats object"),
            None => return,
        };
        let mut usage = *usage;
        usage.set_order(order);
        match &mut self.frames[frame as usize].usage {
            Some(known) if fields.range(Field::Delta).is_some() => known.add(&usage),
            known => *known = Some(usage),
        }
    }
}

fn read_budget(text: &str) -> Option<Budget> {
    if !text.starts_with('{') {
        return None;
    }
    let members = Scanner::new(text).members(["own", "aggregate"]).ok()?;
    let [own, aggregate] =
        members.map(|usage| usage.map_or(Ok(Usage::default()), |usage| Usage::read(usage, "")));
    Some(Budget {
        own: own.ok()?,
        aggregate: aggregate.ok()?,
    })
}
