//! Dates and times in the forms that programs put into prompts.

use std::sync::LazyLock;

use regex_lite::Regex;

const YEAR: &str = r"(?:19|2[01])\d\d";
const MONTH: &str = r"(?:1[0-2]|0?[1-9])";
const DAY: &str = r"(?:3[01]|[12]\d|0?[1-9])";
/// Names and their short forms, in title or upper case.
const MONTH_NAME: &str = concat!(
    r"(?:J(?i:anuary|an\.?)|F(?i:ebruary|eb\.?)|M(?i:arch|ar\.?)|A(?i:pril|pr\.?)|M(?i:ay)",
    r"|J(?i:une|un\.?)|J(?i:uly|ul\.?)|A(?i:ugust|ug\.?)|S(?i:eptember|ept?\.?)",
    r"|O(?i:ctober|ct\.?)|N(?i:ovember|ov\.?)|D(?i:ecember|ec\.?))",
);
const WEEKDAY: &str = concat!(
    r"(?:M(?i:onday|on\.?)|T(?i:uesday|ues?\.?)|W(?i:ednesday|ed\.?)|T(?i:hursday|hur?s?\.?)",
    r"|F(?i:riday|ri\.?)|S(?i:aturday|at\.?)|S(?i:unday|un\.?))",
);
/// `Z`, `+01:00`, ` UTC`, ` GMT+0100`.
const ZONE: &str = r"(?:Z|z| ?UTC| ?GMT)?(?: ?[+-](?:0\d|1[0-5]):?[0-5]\d)?";

/// A date or time at the start of a text. The first alternative that matches wins, so longer forms come first.
static FORMS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // 2010 to 2100. Lower numbers are too often something else.
    let epoch = r"(?:12[6-9]|1[3-9]\d|[23]\d\d|40\d)\d{7}(?:\d{3})?(?:[.,]\d{1,9})?";
    // `2026-11-28`, `2026/11/28`, `2026.11.28`, `2026-11`.
    let year_first =
        format!(r"{YEAR}(?:-{MONTH}-{DAY}|/{MONTH}/{DAY}|\.{MONTH}\.{DAY}|-(?:0[1-9]|1[0-2]))");
    // `11/28/2026`, `11/28/26`, `28.11.2026`, `28-11-2026`.
    let year_last =
        format!(r"(?:{DAY}/{DAY}/(?:{YEAR}|\d\d)|{DAY}\.{DAY}\.{YEAR}|{DAY}-{DAY}-{YEAR})");
    // `20261128`.
    let compact = format!(r"{YEAR}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])");
    // `28 November 2026`, `28th of Nov`.
    let ordinal_day = format!(r"{DAY}(?:st|nd|rd|th|\.)?");
    let named_year = format!("(?:, | |-){YEAR}");
    let day_first = format!("{ordinal_day}(?: of | |-){MONTH_NAME}(?:{named_year})?");
    // `November 28, 2026`, `Nov 28`, `November 2026`, `November`.
    let month_first = format!("{MONTH_NAME}(?:{named_year}| {ordinal_day}(?:{named_year})?)?");
    let date = format!("(?:{year_first}|{year_last}|{compact}|{day_first}|{month_first})");
    // `10:15`, `10:15:30.123Z`, `9:05 PM`. The narrow space comes from `toLocaleTimeString`.
    let half_of_day = r"(?:[ \x{202f}]?(?:[AP]M|[ap]m|[ap]\.m\.))?";
    let time = format!(
        r"(?:2[0-4]|[01]?\d):[0-5]\d(?::(?:[0-5]\d|60)(?:[.,]\d{{1,9}})?)?{half_of_day}{ZONE}"
    );
    // `101530`, as in `20261128T101530`.
    let compact_time = format!(r"(?:[01]\d|2[0-4])[0-5]\d[0-6]\d{ZONE}");
    let date_and_time = format!(
        r"(?:{WEEKDAY}(?:[,.]? {date})?|{date})(?:(?:[Tt_]|,? (?:at )?)(?:{time}|{compact_time}))?"
    );
    Regex::new(&format!("^(?:{epoch}|{time}|{date_and_time})")).ok()
});

/// The length in bytes of the date or time at the start of `text`.
pub(super) fn length(text: &str) -> Option<usize> {
    // Most words need no search.
    let first = text.as_bytes().first()?;
    if !first.is_ascii_digit() && !b"ADFJMNOSTW".contains(first) {
        return None;
    }
    let length = FORMS.as_ref()?.find(text)?.end();
    let next = text.as_bytes().get(length);
    (!next.is_some_and(u8::is_ascii_alphanumeric)).then_some(length)
}

/// True if a JSON number may be seconds or milliseconds since 1970.
pub(super) fn is_epoch(number: &str) -> bool {
    length(number) == Some(number.len()) && number.len() >= 10
}

#[cfg(test)]
#[path = "../../tests/unit/diff/date.rs"]
mod tests;
