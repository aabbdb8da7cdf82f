//! Dates and ids that differ inside longer texts.

use super::Nature;
use super::literal::{Window, first_character, floor, is_white_space};
use super::{date, id};

/// A date or an id may begin so many bytes before the first byte that differs.
const LOOK_BACK: usize = 128;

/// What differs between two bodies of string literals, if dates and ids account for all of it: the
/// first of them decides. `window` is where the two differ.
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

/// Of a string that is a date or a UUID and nothing else.
pub(super) fn whole(body: &str) -> Option<Nature> {
    if date::length(body) == Some(body.len()) {
        Some(Nature::Date)
    } else if id::uuid(body) == Some(body.len()) {
        Some(Nature::Uuid)
    } else {
        None
    }
}

/// Two texts read side by side: what is left of each.
struct Pair<'t> {
    recorded: &'t str,
    actual: &'t str,
    /// How many bytes of the recorded text have been read.
    read: usize,
    before: Before,
}

/// What stands before the next character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A letter or a digit.
    Word,
    /// A hyphen or an underscore that follows a letter or a digit.
    Hyphen,
    Other,
}

impl<'t> Pair<'t> {
    /// Some way before `start`, up to which the two are the same.
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
        // In the middle of a date, one would look like something else.
        while pair.read > 0 && pair.read < start {
            let passed_space = first_character(pair.recorded).is_none_or(is_white_space);
            if pair.step().is_none() || passed_space {
                break;
            }
        }
        pair
    }

    /// Whether what is left is the end that is the same in both.
    fn has_only_common_end(&self, window: Window) -> bool {
        self.read >= window.recorded_end && self.recorded.len() == self.actual.len()
    }

    /// A date or an id that begins here in both: its nature and its lengths in bytes.
    fn token(&self) -> Option<(Nature, usize, usize)> {
        if self.before == Before::Word {
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

    /// Passes so many bytes, which end with a letter or a digit.
    fn skip(&mut self, recorded: usize, actual: usize) {
        self.recorded = self.recorded.get(recorded..).unwrap_or_default();
        self.actual = self.actual.get(actual..).unwrap_or_default();
        self.read += recorded;
        self.before = Before::Word;
    }

    /// Passes a character that is the same in both.
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
