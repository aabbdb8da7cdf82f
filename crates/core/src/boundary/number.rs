//! Numbers as Python writes them.

/// The meaning of number tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// The text was written by `JSON.stringify`. Numbers with an integral value are integers. Four kinds of tokens
    /// that `JSON.stringify` never writes represent values that JSON lacks: `-0`; `<digits>e0` for a `BigInt`; `0e1`
    /// for NaN; `0e2` and `-0e2` for the infinities.
    JavaScript,
    /// Any other text, read like Python's `json.loads`: `1` is an integer, `1.0` and `1e0` are floats.
    Source,
}

/// Appends a number as Python's `json.dumps` writes it.
pub(super) fn write_python_number(token: &str, numbers: Numbers, out: &mut Vec<u8>) {
    let is_digits = !token.contains(['.', 'e', 'E']);
    match numbers {
        Numbers::Source if token == "-0" => out.push(b'0'),
        Numbers::JavaScript if token == "-0" => out.extend_from_slice(b"-0.0"),
        // An integer with this few digits has the same form in JavaScript and Python.
        _ if is_digits && (numbers == Numbers::Source || token.len() <= EXACT_DIGITS) => {
            out.extend_from_slice(token.as_bytes());
        }
        Numbers::Source => write_float(token.parse().unwrap_or(f64::NAN), out),
        Numbers::JavaScript => match (token, token.strip_suffix("e0")) {
            ("0e1", _) => write_float(f64::NAN, out),
            ("0e2", _) => write_float(f64::INFINITY, out),
            ("-0e2", _) => write_float(f64::NEG_INFINITY, out),
            (_, Some(bigint)) => out.extend_from_slice(bigint.as_bytes()),
            (_, None) => write_javascript(token.parse().unwrap_or(f64::NAN), out),
        },
    }
}

/// Integers with at most this many digits are exact in a double.
const EXACT_DIGITS: usize = 15;

/// Writes a JavaScript number. Integers are written with all digits, however large.
fn write_javascript(value: f64, out: &mut Vec<u8>) {
    if value.is_finite() && value.fract() == 0.0 {
        out.extend_from_slice(format!("{value:.0}").as_bytes());
    } else {
        write_float(value, out);
    }
}

/// As Python's `repr` of a float: the shortest digits that parse back to the value, with an exponent below 1e-4 and
/// from 1e16 on.
pub(super) fn write_float(value: f64, out: &mut Vec<u8>) {
    // Rust switches to exponents at the same values, but writes `e-7` for `e-07` and `inf` for `Infinity`.
    let text = format!("{value:?}");
    let text = match text.split_once('e') {
        Some((mantissa, exponent)) => {
            let (sign, digits) = match exponent.strip_prefix('-') {
                Some(digits) => ('-', digits),
                None => ('+', exponent),
            };
            format!("{mantissa}e{sign}{digits:0>2}")
        }
        None => text.replace("inf", "Infinity"),
    };
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
#[path = "../../tests/unit/boundary/number.rs"]
mod tests;
