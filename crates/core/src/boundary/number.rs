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
    if value.is_nan() {
        return out.extend_from_slice(b"NaN");
    }
    if value.is_infinite() {
        let text: &[u8] = if value < 0.0 {
            b"-Infinity"
        } else {
            b"Infinity"
        };
        return out.extend_from_slice(text);
    }
    // `-d.ddde-x` with the shortest digits.
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    out.extend_from_slice(sign.as_bytes());
    if !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        let size = exponent.unsigned_abs();
        out.extend_from_slice(format!("{mantissa}e{sign}{size:02}").as_bytes());
        return;
    }
    let digits: Vec<u8> = mantissa.bytes().filter(|byte| *byte != b'.').collect();
    let Ok(before_point) = usize::try_from(exponent + 1) else {
        // 0.000ddd
        out.extend_from_slice(b"0.");
        out.resize(
            out.len() + usize::try_from(-exponent - 1).unwrap_or(0),
            b'0',
        );
        return out.extend_from_slice(&digits);
    };
    if before_point == 0 {
        out.extend_from_slice(b"0.");
        return out.extend_from_slice(&digits);
    }
    if before_point >= digits.len() {
        out.extend_from_slice(&digits);
        out.resize(out.len() + before_point - digits.len(), b'0');
        return out.extend_from_slice(b".0");
    }
    let (whole, fraction) = digits.split_at(before_point);
    out.extend_from_slice(whole);
    out.push(b'.');
    out.extend_from_slice(fraction);
}

#[cfg(test)]
#[path = "../../tests/unit/boundary/number.rs"]
mod tests;
