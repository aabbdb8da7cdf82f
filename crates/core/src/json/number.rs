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

#[cfg(test)]
mod tests {
    use super::*;

    fn written(token: &str) -> Result<String, JsonErrorKind> {
        let mut out = String::new();
        write_number_token(token, &mut out).map(|()| out)
    }

    #[test]
    fn writes_what_ecmascript_writes() {
        for (token, wanted) in [
            ("0", "0"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("0e5", "0"),
            ("-1", "-1"),
            ("1.0", "1"),
            ("1E2", "100"),
            ("4.50", "4.5"),
            ("2e-3", "0.002"),
            ("1e-7", "1e-7"),
            ("0.000001", "0.000001"),
            ("5e-324", "5e-324"),
            ("2e-324", "0"),
            ("1e21", "1e+21"),
            ("1e20", "100000000000000000000"),
            ("123456789012345680000", "123456789012345680000"),
            ("123456789012345678901", "123456789012345680000"),
            ("7.038531e-26", "7.038531e-26"),
            ("9007199254740993", "9007199254740992"),
            ("999999999999999", "999999999999999"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
            ("0.1", "0.1"),
            ("-1E-7", "-1e-7"),
        ] {
            assert_eq!(written(token).as_deref(), Ok(wanted), "{token}");
        }
    }

    #[test]
    fn writes_values() {
        for (value, wanted) in [
            (0.1 + 0.2, "0.30000000000000004"),
            (-0.0, "0"),
            (1e21, "1e+21"),
            (1_795_977_394_381.0, "1795977394381"),
            (f64::NAN, "null"),
            (f64::NEG_INFINITY, "null"),
        ] {
            let mut out = String::new();
            write_number(value, &mut out);
            assert_eq!(out, wanted);
        }
    }

    #[test]
    fn rejects_numbers_outside_doubles() {
        assert_eq!(written("1e309"), Err(JsonErrorKind::NumberOutOfRange));
        assert_eq!(written("-1.8e308"), Err(JsonErrorKind::NumberOutOfRange));
        assert_eq!(written("1x"), Err(JsonErrorKind::BadNumber));
        assert_eq!(written(""), Err(JsonErrorKind::BadNumber));
    }
}
