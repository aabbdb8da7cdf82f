//! Meaningless tokens: UUIDs and random ids.

/// The shortest token that can be random: on its own, and after a prefix such as `call_`.
const SHORTEST: usize = 8;
const SHORTEST_PREFIXED: usize = 6;

/// From this length on, digits alone or letters alone can be random.
const LONG: usize = 16;

/// Longer tokens are data, such as images and signatures.
const LONGEST: usize = 128;

/// The length in bytes of the UUID at the start of `text`.
pub(super) fn uuid(text: &str) -> Option<usize> {
    const LENGTH: usize = 36;
    let bytes = text.as_bytes();
    let is_uuid = bytes
        .get(..LENGTH)?
        .iter()
        .enumerate()
        .all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    (is_uuid && !bytes.get(LENGTH).is_some_and(u8::is_ascii_alphanumeric)).then_some(LENGTH)
}

/// The lengths of the tokens at the start of two texts, if they differ like two random ids from the same generator.
/// `prefixed` is true if a word and a hyphen or underscore come before them.
pub(super) fn random_pair(recorded: &str, actual: &str, prefixed: bool) -> Option<(usize, usize)> {
    let (recorded, actual) = (token(recorded)?, token(actual)?);
    if parts(recorded).next() == parts(actual).next() {
        // Later parts are compared when the walk reaches them.
        return None;
    }
    let are_random = parts_are_random(recorded, actual, prefixed)
        || are_scattered(recorded, actual)
        || are_fractions(recorded, actual);
    are_random.then_some((recorded.len(), actual.len()))
}

/// The letters, digits, hyphens and underscores at the start of a text.
fn token(text: &str) -> Option<&str> {
    let is_inside = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let length = text.bytes().take(LONGEST + 1).take_while(is_inside).count();
    text.get(..length).filter(|_| length <= LONGEST)
}

fn parts(token: &str) -> impl Iterator<Item = &str> {
    token.split(['-', '_'])
}

/// True for tokens with parts of equal lengths, if at least one differing part is random and no differing part is a
/// word.
fn parts_are_random(recorded: &str, actual: &str, prefixed: bool) -> bool {
    if !parts(recorded)
        .map(str::len)
        .eq(parts(actual).map(str::len))
    {
        return false;
    }
    let mut any_random = false;
    for (at, (left, right)) in parts(recorded).zip(parts(actual)).enumerate() {
        if left == right {
            continue;
        }
        let shapes = [left, right].map(Shape::of);
        let is_random = is_random(left, right, shapes, prefixed || at > 0);
        if !is_random && shapes.iter().all(|shape| shape.digits == 0) {
            return false;
        }
        any_random |= is_random;
    }
    any_random
}

/// Both parts have the same length.
fn is_random(left: &str, right: &str, shapes: [Shape; 2], prefixed: bool) -> bool {
    let length = left.len();
    let shortest = if prefixed {
        SHORTEST_PREFIXED
    } else {
        SHORTEST
    };
    if length < shortest {
        return false;
    }
    let all = |test: fn(&Shape) -> bool| shapes.iter().all(test);
    let any = |test: fn(&Shape) -> bool| shapes.iter().any(test);
    if all(|shape| shape.hex && shape.digits > 0) {
        return prefixed || length >= LONG || any(|shape| shape.letters() > 0);
    }
    if !prefixed && !have_one_alphabet(shapes) {
        return false;
    }
    if all(Shape::is_mixed) {
        return are_unlike(left, right) && (prefixed || !all(|shape| shape.word_and_number));
    }
    if any(|shape| shape.is_mixed() && !shape.word_and_number) {
        // The other one happens to have no digits.
        return all(|shape| shape.letters() > 0)
            && (prefixed && length >= SHORTEST || all(Shape::mixes_case));
    }
    length >= LONG && all(|shape| shape.letters() > 0 && shape.is_irregular())
}

/// Mixed characters with hyphens and underscores anywhere (nanoid).
fn are_scattered(recorded: &str, actual: &str) -> bool {
    let shapes = [recorded, actual].map(Shape::of);
    recorded.len() == actual.len()
        && recorded.len() >= 10
        && are_unlike(recorded, actual)
        && shapes.iter().any(Shape::is_mixed)
        && shapes.iter().all(Shape::mixes_case)
}

/// True if few characters are equal. Ids that begin with a timestamp have more in common, and are longer.
fn are_unlike(left: &str, right: &str) -> bool {
    let pairs = left.bytes().zip(right.bytes());
    let equal = pairs.filter(|(left, right)| left == right).count();
    left.len() >= 20 || equal * 5 < left.len() * 2
}

fn have_one_alphabet([left, right]: [Shape; 2]) -> bool {
    (left.upper > 0) == (right.upper > 0) && (left.lower > 0) == (right.lower > 0)
}

/// Digits of a random fraction in base 36 (`Math.random().toString(36)`). Trailing zeros are dropped, so lengths
/// vary.
fn are_fractions(recorded: &str, actual: &str) -> bool {
    recorded.len().abs_diff(actual.len()) <= 2
        && [recorded, actual].iter().all(|token| {
            let shape = Shape::of(token);
            let is_plain = shape.upper == 0 && shape.digits + shape.lower == token.len();
            token.len() >= SHORTEST && is_plain && shape.is_mixed() && shape.is_irregular()
        })
}

/// The character classes of a token.
#[derive(Debug, Clone, Copy)]
struct Shape {
    length: usize,
    digits: usize,
    upper: usize,
    lower: usize,
    /// The number of neighboring characters of different classes: upper case, lower case, other.
    changes: usize,
    hex: bool,
    /// A word and a number, such as `chapter12`.
    word_and_number: bool,
}

impl Shape {
    fn of(token: &str) -> Self {
        let bytes = token.as_bytes();
        let count = |test: fn(&u8) -> bool| bytes.iter().filter(|byte| test(byte)).count();
        let sort = |byte: &u8| (byte.is_ascii_lowercase(), byte.is_ascii_uppercase());
        let (upper, lower) = (count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase));
        let word = bytes
            .iter()
            .take_while(|byte| byte.is_ascii_alphabetic())
            .count();
        let is_one_case = lower == 0 || bytes.iter().skip(1).all(|byte| !byte.is_ascii_uppercase());
        Self {
            length: bytes.len(),
            digits: count(u8::is_ascii_digit),
            upper,
            lower,
            changes: bytes
                .windows(2)
                .filter(|pair| sort(&pair[0]) != sort(&pair[1]))
                .count(),
            hex: bytes.iter().all(u8::is_ascii_hexdigit),
            word_and_number: word >= 4 && word == upper + lower && is_one_case,
        }
    }

    fn letters(&self) -> usize {
        self.upper + self.lower
    }

    fn is_mixed(&self) -> bool {
        self.digits > 0 && self.letters() > 0
    }

    /// Upper and lower case mixed as no name does.
    fn mixes_case(&self) -> bool {
        self.upper > 0 && self.lower > 0 && self.is_irregular()
    }

    /// More changes than a name has. `getUserById` has few.
    fn is_irregular(&self) -> bool {
        self.changes * 5 >= self.length * 2
    }
}

#[cfg(test)]
#[path = "../../tests/unit/diff/id.rs"]
mod tests;
