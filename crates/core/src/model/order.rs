//! The order of a run's starts and ends.

/// Gives starts and ends their places in the order in which they come. What a recording has, keeps its
/// recorded place, moved on by as much as has come in between that the recording does not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Clock {
    /// The next place.
    pub next: u64,
    /// By how much recorded places are moved on.
    pub moved: u64,
}

impl Clock {
    /// The place of what comes now. `recorded`: the place that it has in the recording.
    pub(crate) fn place(&mut self, recorded: Option<u64>) -> u64 {
        let moved = recorded.map(|place| place.saturating_add(self.moved));
        if let Some(place) = moved.filter(|place| *place >= self.next) {
            self.next = place.saturating_add(1);
            return place;
        }
        let now = self.next;
        self.next = now.saturating_add(1);
        self.moved = self.moved.saturating_add(1);
        now
    }

    /// Goes on behind what was taken over.
    pub(crate) fn go_on_after(&mut self, places: &Places) {
        self.next = places.first.saturating_add(places.count());
    }
}

/// New places for what is recorded elsewhere: in the same order, one behind the other.
#[derive(Debug)]
pub(crate) struct Places {
    recorded: Vec<u64>,
    first: u64,
}

impl Places {
    /// `recorded`: the old places, in any order. `first`: the first of the new ones.
    pub(crate) fn new(mut recorded: Vec<u64>, first: u64) -> Self {
        recorded.sort_unstable();
        recorded.dedup();
        Self { recorded, first }
    }

    pub(crate) fn of(&self, recorded: u64) -> u64 {
        let rank = self.recorded.partition_point(|place| *place < recorded);
        self.first.saturating_add(rank as u64)
    }

    pub(crate) fn count(&self) -> u64 {
        self.recorded.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_replayed_in_its_order_keeps_its_places() {
        let mut clock = Clock::default();
        let places: Vec<u64> = [0, 1, 3, 7].map(|place| clock.place(Some(place))).into();
        assert_eq!(places, [0, 1, 3, 7]);
        assert_eq!(clock.moved, 0);
    }

    #[test]
    fn what_is_new_moves_on_what_comes_after_it() {
        let mut clock = Clock::default();
        let places = [Some(0), Some(4), None, None, Some(5), Some(9), None];
        let places: Vec<u64> = places.map(|place| clock.place(place)).into();
        assert_eq!(places, [0, 4, 5, 6, 7, 11, 12]);
    }

    #[test]
    fn what_comes_later_than_recorded_comes_later() {
        let mut clock = Clock::default();
        let places = [Some(0), Some(4), Some(2), Some(5)];
        let places: Vec<u64> = places.map(|place| clock.place(place)).into();
        assert_eq!(places, [0, 4, 5, 6]);
    }
}
