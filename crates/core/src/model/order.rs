//! The order of a run's starts and ends.

/// Assigns each start and end a number, its order, as it happens. A replayed start or end keeps its recorded order,
/// moved by the number of starts and ends so far that the recording does not contain.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Clock {
    pub next: u64,
    /// The number that is added to recorded orders.
    pub moved: u64,
}

impl Clock {
    /// The order of the start or end that happens now. `recorded`: its order in the recording.
    pub(crate) fn assign(&mut self, recorded: Option<u64>) -> u64 {
        let moved = recorded.map(|order| order.saturating_add(self.moved));
        if let Some(order) = moved.filter(|order| *order >= self.next) {
            self.next = order.saturating_add(1);
            return order;
        }
        let now = self.next;
        self.next = now.saturating_add(1);
        self.moved = self.moved.saturating_add(1);
        now
    }

    /// Continues after a copy of a recorded frame that was renumbered from `next` on.
    pub(crate) fn continue_after(&mut self, copied: &Renumbering) {
        self.next = copied.next();
    }
}

/// New orders for recorded ones. They keep their sequence.
#[derive(Debug)]
pub(crate) enum Renumbering {
    /// Consecutive orders from `first` on. `recorded`: all recorded orders, ascending.
    Consecutive { recorded: Vec<u64>, first: u64 },
    /// The recorded orders, increased by `moved`, but not outside of a span.
    Within { moved: u64, first: u64, last: u64 },
}

impl Renumbering {
    /// `recorded`: the old orders, in any sequence. `first`: the first of the new ones.
    pub(crate) fn new(mut recorded: Vec<u64>, first: u64) -> Self {
        recorded.sort_unstable();
        recorded.dedup();
        Self::Consecutive { recorded, first }
    }

    pub(crate) fn of(&self, order: u64) -> u64 {
        match self {
            Self::Consecutive { recorded, first } => {
                let rank = recorded.partition_point(|known| *known < order);
                first.saturating_add(rank as u64)
            }
            Self::Within { moved, first, last } => {
                order.saturating_add(*moved).min(*last).max(*first)
            }
        }
    }

    /// The order after the last new one.
    fn next(&self) -> u64 {
        match self {
            Self::Consecutive { recorded, first } => first.saturating_add(recorded.len() as u64),
            Self::Within { last, .. } => last.saturating_add(1),
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/model/order.rs"]
mod tests;
