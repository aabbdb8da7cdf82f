//! Payment card numbers: those of a known issuer with a valid check digit.

use super::super::rule::Builtin;
use super::{Hit, ends_style, run};

const SHORTEST: usize = 13;
const LONGEST: usize = 19;

/// The card number that begins here, and the position to continue from.
pub(super) fn at(bytes: &[u8], at: usize) -> (Option<Hit>, usize) {
    let first_end = run(bytes, at, |byte| byte.is_ascii_digit());
    if !begins(bytes, at) {
        return (None, first_end);
    }
    let mut digits: Vec<u8> = bytes[at..first_end.min(at + LONGEST + 1)].to_vec();
    let mut end = first_end;
    if digits.len() == 4 {
        // In groups, with the same separator throughout.
        let separator = match bytes.get(end) {
            Some(separator @ (b' ' | b'-')) => *separator,
            _ => return (None, first_end),
        };
        let mut groups = vec![4];
        while bytes.get(end) == Some(&separator) && digits.len() < LONGEST {
            let group_end = run(bytes, end + 1, |byte| byte.is_ascii_digit());
            if !(1..=6).contains(&(group_end - end - 1)) {
                break;
            }
            groups.push(group_end - end - 1);
            digits.extend(&bytes[end + 1..group_end]);
            end = group_end;
            if is_grouping(&groups) && ends(bytes, end) && is_card_number(&digits) {
                return (Some(Hit::new(at, end, Builtin::CardNumber)), end);
            }
        }
        return (None, first_end);
    }
    let is_card = ends(bytes, end) && is_card_number(&digits);
    (is_card.then(|| Hit::new(at, end, Builtin::CardNumber)), end)
}

fn is_grouping(groups: &[usize]) -> bool {
    matches!(groups, [4, 4, 4, 4 | 1] | [4, 6, 5 | 4] | [4, 4, 4, 4, 3])
}

fn begins(bytes: &[u8], at: usize) -> bool {
    match at.checked_sub(1).map(|before| bytes[before]) {
        None => true,
        // A fraction, or a part of a longer number.
        Some(b'.' | b',') => !at
            .checked_sub(2)
            .is_some_and(|before| bytes[before].is_ascii_digit()),
        Some(before) => !before.is_ascii_alphanumeric() || ends_style(&bytes[..at]),
    }
}

fn ends(bytes: &[u8], end: usize) -> bool {
    let digit_follows = || bytes.get(end + 1).is_some_and(u8::is_ascii_alphanumeric);
    match bytes.get(end) {
        None => true,
        Some(b'.' | b'-') => !digit_follows(),
        Some(after) => !after.is_ascii_alphanumeric(),
    }
}

/// True if the digits are a card number: issuer, length and check digit match.
pub(in super::super) fn is_card_number(digits: &[u8]) -> bool {
    if !(SHORTEST..=LONGEST).contains(&digits.len()) || !digits.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let prefix = |length: usize| {
        digits[..length]
            .iter()
            .fold(0_u32, |number, digit| number * 10 + u32::from(digit - b'0'))
    };
    let issued = match digits.len() {
        13 => prefix(1) == 4,
        14 => matches!(prefix(3), 300..=305 | 309) || matches!(prefix(2), 36 | 38 | 39),
        15 => matches!(prefix(2), 34 | 37),
        16 => {
            prefix(1) == 4
                || matches!(prefix(2), 51..=55 | 62 | 65)
                || matches!(prefix(4), 2221..=2720 | 3528..=3589 | 6011)
                || matches!(prefix(3), 644..=649)
        }
        19 => prefix(1) == 4 || prefix(2) == 62,
        _ => prefix(2) == 62,
    };
    issued && has_check_digit(digits) && digits.iter().any(|digit| *digit != digits[0])
}

/// The Luhn check.
fn has_check_digit(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let value = u32::from(digit - b'0') << (place % 2);
            if value > 9 { value - 9 } else { value }
        })
        .sum();
    sum.is_multiple_of(10)
}
