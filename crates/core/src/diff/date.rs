//! Dates and times in the forms in which programs put them into prompts.

use std::ops::RangeInclusive;

/// What is left of a text behind what was read; `None` if it was not there.
type Rest<'a> = Option<&'a [u8]>;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];

/// The narrow space is that of `toLocaleTimeString`.
const HALVES_OF_DAY: [&str; 12] = [
    " AM",
    " PM",
    " am",
    " pm",
    "AM",
    "PM",
    "am",
    "pm",
    " a.m.",
    " p.m.",
    "\u{202f}AM",
    "\u{202f}PM",
];

/// 2010 to 2100, in seconds: lower numbers are too often something else.
const EPOCH_SECONDS: RangeInclusive<u64> = 1_262_304_000..=4_102_444_800;
const EPOCH_MILLISECONDS: RangeInclusive<u64> = 1_262_304_000_000..=4_102_444_800_000;

/// The length of the date or time that `text` begins with, in bytes.
pub(super) fn length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let forms: &[fn(&[u8]) -> Rest<'_>] = match bytes.first()? {
        b'0'..=b'9' => &[date_and_time, time, epoch],
        b'A'..=b'Z' => &[date_and_time],
        _ => return None,
    };
    let rest = forms
        .iter()
        .filter_map(|form| form(bytes))
        .min_by_key(|rest| rest.len())?;
    (!rest.first().is_some_and(u8::is_ascii_alphanumeric)).then_some(bytes.len() - rest.len())
}

/// Whether a JSON number may be seconds or milliseconds since 1970.
pub(super) fn is_epoch(number: &str) -> bool {
    epoch(number.as_bytes()).is_some_and(<[u8]>::is_empty)
}

fn epoch(text: &[u8]) -> Rest<'_> {
    let milliseconds = number(text, 13..=13, EPOCH_MILLISECONDS);
    let rest = milliseconds.or_else(|| number(text, 10..=10, EPOCH_SECONDS))?;
    Some(fraction(rest).unwrap_or(rest))
}

fn date_and_time(text: &[u8]) -> Rest<'_> {
    let rest = date(text)?;
    let separators = ["T", "t", " ", ", ", " at ", ", at ", "_"];
    let times = separators.iter().filter_map(|separator| {
        let rest = after(rest, separator)?;
        time(rest).or_else(|| compact_time(rest).map(zone))
    });
    Some(times.min_by_key(|rest| rest.len()).unwrap_or(rest))
}

fn date(text: &[u8]) -> Rest<'_> {
    let Some(rest) = name(text, &WEEKDAYS) else {
        return dated(text);
    };
    let joined = [", ", " ", ". "]
        .iter()
        .find_map(|separator| dated(after(rest, separator)?));
    Some(joined.unwrap_or(rest))
}

/// Without a weekday.
fn dated(text: &[u8]) -> Rest<'_> {
    let forms = [year_first, year_last, compact, day_and_name, name_and_day];
    forms
        .iter()
        .filter_map(|form| form(text))
        .min_by_key(|rest| rest.len())
}

/// `2026-11-28`, `2026/11/28`, `2026.11.28`, `2026-11`.
fn year_first(text: &[u8]) -> Rest<'_> {
    let rest = year(text)?;
    let (separator, rest) = separator(rest)?;
    let behind_month = month(rest)?;
    let whole = byte(behind_month, separator).and_then(day);
    whole.or_else(|| number(rest, 2..=2, 1..=12).filter(|_| separator == b'-'))
}

/// `11/28/2026`, `28.11.2026`, `28-11-2026`, `11/28/26`.
fn year_last(text: &[u8]) -> Rest<'_> {
    let rest = day(text)?;
    let (separator, rest) = separator(rest)?;
    let rest = byte(day(rest)?, separator)?;
    year(rest).or_else(|| number(rest, 2..=2, 0..=99).filter(|_| separator == b'/'))
}

/// `20261128`.
fn compact(text: &[u8]) -> Rest<'_> {
    let rest = number(text, 8..=8, 19_000_101..=21_991_231)?;
    let [month_digits, day_digits] = [text.get(4..6)?, text.get(6..8)?];
    (month(month_digits).is_some() && day(day_digits).is_some()).then_some(rest)
}

/// `28 November 2026`, `28th of Nov`.
fn day_and_name(text: &[u8]) -> Rest<'_> {
    let rest = ordinal(day(text)?);
    let rest = [" of ", " ", "-", ". "]
        .iter()
        .find_map(|separator| name(after(rest, separator)?, &MONTHS))?;
    Some(named_year(rest).unwrap_or(rest))
}

/// `November 28, 2026`, `Nov 28`, `November 2026`, `November`.
fn name_and_day(text: &[u8]) -> Rest<'_> {
    let rest = name(text, &MONTHS)?;
    let with_day = byte(rest, b' ').and_then(day).map(ordinal);
    let with_year = named_year(with_day.unwrap_or(rest));
    Some(with_year.or(with_day).unwrap_or(rest))
}

fn named_year(text: &[u8]) -> Rest<'_> {
    [", ", " ", "-"]
        .iter()
        .find_map(|separator| year(after(text, separator)?))
}

/// `10:15`, `10:15:30.123Z`, `9:05 PM`.
fn time(text: &[u8]) -> Rest<'_> {
    let rest = number(text, 1..=2, 0..=24)?;
    let rest = number(byte(rest, b':')?, 2..=2, 0..=59)?;
    let seconds = byte(rest, b':').and_then(|rest| number(rest, 2..=2, 0..=60));
    let rest = seconds.map_or(rest, |rest| fraction(rest).unwrap_or(rest));
    let mut halves = HALVES_OF_DAY.iter();
    Some(zone(
        halves.find_map(|half| after(rest, half)).unwrap_or(rest),
    ))
}

/// `101530`, as it stands behind `20261128T`.
fn compact_time(text: &[u8]) -> Rest<'_> {
    number(text, 6..=6, 0..=245_960)
}

fn fraction(text: &[u8]) -> Rest<'_> {
    let rest = byte(text, b'.').or_else(|| byte(text, b','))?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (1..=9).contains(&digits).then(|| &rest[digits..])
}

/// What is left behind a zone, if there is one: `Z`, `+01:00`, ` UTC`, ` GMT+0100`.
fn zone(text: &[u8]) -> &[u8] {
    let named = ["Z", "z", " UTC", " GMT", "UTC", "GMT"];
    let rest = named
        .iter()
        .find_map(|name| after(text, name))
        .unwrap_or(text);
    let offset = [b'+', b'-'].iter().find_map(|sign| {
        let rest = byte(byte(rest, b' ').unwrap_or(rest), *sign)?;
        let split = number(rest, 2..=2, 0..=15).and_then(|rest| byte(rest, b':'));
        let joined = number(rest, 4..=4, 0..=1_559);
        split
            .and_then(|rest| number(rest, 2..=2, 0..=59))
            .or(joined)
    });
    offset.unwrap_or(rest)
}

fn year(text: &[u8]) -> Rest<'_> {
    number(text, 4..=4, 1900..=2199)
}

fn month(text: &[u8]) -> Rest<'_> {
    number(text, 1..=2, 1..=12)
}

fn day(text: &[u8]) -> Rest<'_> {
    number(text, 1..=2, 1..=31)
}

fn ordinal(text: &[u8]) -> &[u8] {
    let endings = ["st", "nd", "rd", "th", "."];
    endings
        .iter()
        .find_map(|ending| after(text, ending))
        .unwrap_or(text)
}

fn separator(text: &[u8]) -> Option<(u8, &[u8])> {
    let (first, rest) = text.split_first()?;
    matches!(first, b'-' | b'/' | b'.').then_some((*first, rest))
}

/// A whole run of digits.
fn number(text: &[u8], digits: RangeInclusive<usize>, values: RangeInclusive<u64>) -> Rest<'_> {
    /// So many never overflow.
    const MAX_DIGITS: usize = 18;
    let run = text
        .iter()
        .take(MAX_DIGITS + 1)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if run > MAX_DIGITS || !digits.contains(&run) {
        return None;
    }
    let (number, rest) = text.split_at(run);
    let value = number
        .iter()
        .fold(0, |value, digit| value * 10 + u64::from(digit - b'0'));
    values.contains(&value).then_some(rest)
}

/// A name, or a short form of it with or without a full stop.
fn name<'a>(text: &'a [u8], names: &[&str]) -> Rest<'a> {
    const LONGER_SHORT_FORMS: [&[u8]; 4] = [b"Tues", b"Thur", b"Thurs", b"Sept"];
    let letters = text
        .iter()
        .take(10)
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let (word, rest) = text.split_at(letters);
    if !word.first()?.is_ascii_uppercase() {
        return None;
    }
    let name = names.iter().find(|name| {
        let start = name.as_bytes().get(..letters);
        start.is_some_and(|start| start.eq_ignore_ascii_case(word))
    })?;
    if letters == name.len() {
        return Some(rest);
    }
    let is_short_form = letters == 3 || LONGER_SHORT_FORMS.contains(&word);
    is_short_form.then(|| after(rest, ".").unwrap_or(rest))
}

fn byte(text: &[u8], wanted: u8) -> Rest<'_> {
    text.split_first()
        .filter(|(first, _)| **first == wanted)
        .map(|(_, rest)| rest)
}

fn after<'a>(text: &'a [u8], prefix: &str) -> Rest<'a> {
    text.strip_prefix(prefix.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times() {
        for text in [
            "2026-11-28",
            "2026-11-28T10:15:30.123Z",
            "2026-11-28T10:15:30+01:00",
            "2026-11-28 10:15:30 UTC",
            "2026-11-28T10:15",
            "2026/11/28",
            "2026.11.28",
            "2026-11",
            "20261128",
            "20261128T101530Z",
            "11/28/2026",
            "11/28/2026, 9:05:07 PM",
            "11/28/2026, 9:05:07\u{202f}PM",
            "28.11.2026",
            "28.11.2026, 21:05:07",
            "11/28/26",
            "10:15",
            "10:15:30",
            "9:05 p.m.",
            "Sat Nov 28 2026",
            "Sat Nov 28 2026 10:15:30 GMT+0100",
            "Sat, 28 Nov 2026 10:15:30 GMT",
            "Saturday, November 28, 2026",
            "Saturday, November 28, 2026 at 9:05 PM",
            "November 28, 2026",
            "Nov. 28th, 2026",
            "28 November 2026",
            "28th of November",
            "28. November 2026",
            "28-Nov-2026",
            "Sept 5",
            "November 2026",
            "November",
            "Saturday",
            "1795977394",
            "1795977394.542",
            "1795977394381",
        ] {
            assert_eq!(length(text), Some(text.len()), "{text}");
            assert_eq!(length(&format!("{text}, then")), Some(text.len()), "{text}");
            assert_eq!(length(&format!("{text}x")), None, "{text}");
        }
    }

    #[test]
    fn other_texts() {
        for text in [
            "",
            "1",
            "42",
            "2026",
            "1234567890",
            "12345678",
            "2026-13-01",
            "2026-1",
            "10:75",
            "3.11.4",
            "1.2.3.4",
            "may",
            "monday",
            "Mondayish",
            "Marketing",
            "Ma",
            "1795977394381000",
            "99999999999999999999",
            "gpt-4o",
            "Sunda",
            "-1795977394",
        ] {
            assert_eq!(length(text), None, "{text}");
        }
    }

    #[test]
    fn epochs() {
        for (number, wanted) in [
            ("1795977394", true),
            ("1795977394381", true),
            ("1795977394.5", true),
            ("0", false),
            ("1234567890", false),
            ("-1795977394", false),
            ("1.795977394e+30", false),
        ] {
            assert_eq!(is_epoch(number), wanted, "{number}");
        }
    }
}
