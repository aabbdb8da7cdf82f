//! Dates and ids that differ within longer texts.

use super::Nature;
use super::literal::{Window, first_character, floor, is_white_space};
use super::{date, id};

/// A date or an id may begin this many bytes before the first difference.
const LOOK_BACK: usize = 128;

/// The nature of the difference between two bodies, if dates and ids account for all of it. The first one decides.
/// `window` is the differing range.
pub(super) fn nature(recorded: &str, actual: &str, window: Window) -> Option<Nature> {
    let mut pair = Pair::before(recorded, actual, window.start);
    let mut found = None;
    while !pair.has_only_common_end(window) {
        if let Some((nature, recorded, actual)) = pair.token() {
            if pair.recorded.get(..recorded) != pair.actual.get(..actual) {
                found = found.or(Some(nature));
            }
            pair.skip(recorded, actual);
        } else {
            pair.step()?;
        }
    }
    found
}

/// For a string that consists of a single date or UUID.
pub(super) fn whole(body: &str) -> Option<Nature> {
    if date::length(body) == Some(body.len()) {
        Some(Nature::Date)
    } else if id::uuid(body) == Some(body.len()) {
        Some(Nature::Uuid)
    } else {
        None
    }
}

/// The unread rest of two texts that are read in step.
struct Pair<'t> {
    recorded: &'t str,
    actual: &'t str,
    /// Bytes read of the recorded text.
    read: usize,
    before: Before,
}

/// The character class before the next character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A letter or a digit.
    Word,
    /// A hyphen or an underscore after a letter or a digit.
    Hyphen,
    Other,
}

impl<'t> Pair<'t> {
    /// A position some way before `start`. The texts are equal up to `start`.
    fn before(recorded: &'t str, actual: &'t str, start: usize) -> Self {
        let read = floor(recorded, start.saturating_sub(LOOK_BACK));
        let mut pair = Self {
            recorded: &recorded[read..],
            actual: &actual[read..],
            read,
            before: if read == 0 {
                Before::Other
            } else {
                Before::Word
            },
        };
        // Do not start in the middle of a date: its rest would look like something else.
        while pair.read > 0 && pair.read < start {
            let passed_space = first_character(pair.recorded).is_none_or(is_white_space);
            if pair.step().is_none() || passed_space {
                break;
            }
        }
        pair
    }

    /// True if only the common suffix is left.
    fn has_only_common_end(&self, window: Window) -> bool {
        self.read >= window.recorded_end && self.recorded.len() == self.actual.len()
    }

    /// A date or an id that begins here in both texts: its nature and its lengths in bytes.
    fn token(&self) -> Option<(Nature, usize, usize)> {
        if self.before == Before::Word || self.is_far_from_difference() {
            return None;
        }
        let both = |length: fn(&str) -> Option<usize>| {
            Some((length(self.recorded)?, length(self.actual)?))
        };
        if let Some((recorded, actual)) = both(id::uuid) {
            return Some((Nature::Uuid, recorded, actual));
        }
        if let Some((recorded, actual)) = both(date::length) {
            return Some((Nature::Date, recorded, actual));
        }
        let prefixed = self.before == Before::Hyphen;
        let (recorded, actual) = id::random_pair(self.recorded, self.actual, prefixed)?;
        Some((Nature::RandomId, recorded, actual))
    }

    /// True if no token that begins here reaches the next difference. Long equal stretches are passed fast.
    fn is_far_from_difference(&self) -> bool {
        let [recorded, actual] =
            [self.recorded, self.actual].map(|text| text.as_bytes().get(..=LOOK_BACK));
        recorded.is_some() && recorded == actual
    }

    /// Skips these bytes, which end with a letter or a digit.
    fn skip(&mut self, recorded: usize, actual: usize) {
        self.recorded = self.recorded.get(recorded..).unwrap_or_default();
        self.actual = self.actual.get(actual..).unwrap_or_default();
        self.read += recorded;
        self.before = Before::Word;
    }

    /// Skips a character that is equal in both texts.
    fn step(&mut self) -> Option<()> {
        let character = first_character(self.recorded)?;
        if first_character(self.actual) != Some(character) {
            return None;
        }
        let before = match character {
            "-" | "_" if self.before != Before::Other => Before::Hyphen,
            _ if character.chars().all(char::is_alphanumeric) => Before::Word,
            _ => Before::Other,
        };
        self.skip(character.len(), character.len());
        self.before = before;
        Some(())
    }
}
