use std::fmt::Write;

use super::error::JsonErrorKind;

/// An integer with at most this many digits is exact in a double and is its own shortest form.
const EXACT_DIGITS: usize = 15;

/// Appends a number as `JSON.stringify` writes it. NaN and the infinities become `null`.
pub fn write_number(value: f64, out: &mut String) {
    if value.is_finite() {
        out.push_str(ryu_js::Buffer::new().format_finite(value));
    } else {
        out.push_str("null");
    }
}

pub fn write_count(count: u64, out: &mut String) {
    // Writing to a String cannot fail.
    let _ = write!(out, "{count}");
}

/// Appends a JSON number token as ECMAScript's `Number::toString` writes its value, which is the form of
/// `JSON.stringify` and RFC 8785: `1E2` → `100`, `-0` → `0`, `1e21` → `1e+21`.
///
/// # Errors
/// [`JsonErrorKind::NumberOutOfRange`] if the value rounds to infinity, [`JsonErrorKind::BadNumber`] if `token` is
/// not a number.
pub fn write_number_token(token: &str, out: &mut String) -> Result<(), JsonErrorKind> {
    if is_plain_integer(token) {
        out.push_str(token);
        return Ok(());
    }
    // `f64::from_str` rounds correctly for any number of digits.
    let value: f64 = token.parse().map_err(|_| JsonErrorKind::BadNumber)?;
    if !value.is_finite() {
        return Err(JsonErrorKind::NumberOutOfRange);
    }
    write_number(value, out);
    Ok(())
}

/// True if [`write_number_token`] would write the token unchanged.
pub(super) fn is_normal_number(token: &str) -> bool {
    is_plain_integer(token)
        || token.parse().is_ok_and(|value: f64| {
            value.is_finite() && ryu_js::Buffer::new().format_finite(value) == token
        })
}

/// True if the nearest double, as JavaScript writes it, has the value of the token: `1.0` and `5e2`, not `1e400`, an
/// integer with more digits than a double holds, or `-0`.
pub(super) fn is_lossless(token: &str) -> bool {
    let mut written = String::new();
    write_number_token(token, &mut written).is_ok() && decimal(token) == decimal(&written)
}

/// The value of a number token: its sign, its digits without zeros around them, and the exponent of the last one.
fn decimal(token: &str) -> Option<(bool, String, i64)> {
    let digits = token.strip_prefix('-').unwrap_or(token);
    let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = [whole, fraction].concat();
    let significant = all.trim_end_matches('0');
    let zeros = all.len() - significant.len();
    let exponent = exponent.parse::<i64>().ok()?;
    let shift = i64::try_from(zeros).ok()? - i64::try_from(fraction.len()).ok()?;
    let significant = significant.trim_start_matches('0').to_owned();
    let last = if significant.is_empty() {
        0
    } else {
        exponent.checked_add(shift)?
    };
    Some((token.starts_with('-'), significant, last))
}

fn is_plain_integer(token: &str) -> bool {
    let digits = token.strip_prefix('-').unwrap_or(token).as_bytes();
    match digits {
        [b'0'] => token.len() == 1,
        [b'1'..=b'9', rest @ ..] => {
            rest.len() < EXACT_DIGITS && rest.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    }
}
