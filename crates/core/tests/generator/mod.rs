//! Random documents for tests, with an independent canonical form. It is built from trees after the text of RFC 8785
//! and shares no code with the core.

use std::fmt::Write;

/// Strings are UTF-16 units, as in JavaScript. The keys of an object are unique.
#[derive(Debug, Clone)]
pub enum Json {
    Literal(&'static str),
    /// Formats of one number, the canonical one first.
    Number(&'static [&'static str]),
    String(Vec<u16>),
    Array(Vec<Json>),
    Object(Vec<(Vec<u16>, Json)>),
}

const NUMBERS: [&[&str]; 12] = [
    &["0", "-0", "0.0", "-0e-5", "0E+2"],
    &["1", "1.0", "10e-1", "0.1E1"],
    &["-17", "-17.000", "-1.7e1"],
    &[
        "123456789012345680000",
        "123456789012345678901",
        "12345678901234568e4",
    ],
    &["1e+21", "1e21", "1000000000000000000000", "1E+021"],
    &["100000000000000000000", "1e20"],
    &["5e-324", "4.9e-324", "5E-324"],
    &["7.038531e-26", "0.00000000000000000000000007038531"],
    &["9007199254740992", "9007199254740993", "9007199254740992.4"],
    &["0.000001", "1e-6", "1.0e-06"],
    &["1e-7", "0.0000001", "10E-8"],
    &["1.7976931348623157e+308", "179769313486231570e291"],
];

/// Pieces of keys and strings: characters that sort differently by byte, code unit and code point, characters that
/// must or can be escaped, and long prefixes that many keys share.
const PIECES: [&str; 26] = [
    "a",
    "b",
    "A",
    "_",
    "0",
    "10",
    "9",
    "__proto__",
    "content",
    "tool_call",
    "tool_call_id",
    " ",
    "\"",
    "\\",
    "/",
    "\n",
    "\u{8}",
    "\u{1}",
    "\u{1f}",
    "\u{7f}",
    "é",
    "中",
    "\u{2028}",
    "\u{e000}",
    "\u{ffff}",
    "😀",
];

/// A small deterministic random generator (xorshift).
pub struct Generator {
    state: u64,
}

impl Generator {
    pub fn new(seed: u64) -> Self {
        Self { state: seed | 1 }
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) as usize % bound
    }

    pub fn document(&mut self) -> Json {
        self.value(5)
    }

    pub fn array(&mut self) -> Json {
        let count = self.below(4);
        Json::Array((0..count).map(|_| self.value(4)).collect())
    }

    pub fn object(&mut self) -> Json {
        self.object_of(4)
    }

    fn value(&mut self, depth: usize) -> Json {
        match self.below(if depth == 0 { 5 } else { 10 }) {
            0 => Json::Literal(["null", "true", "false"][self.below(3)]),
            1 | 2 => Json::Number(NUMBERS[self.below(NUMBERS.len())]),
            3 | 4 => Json::String(self.string(6)),
            5 | 6 => {
                let count = self.below(5);
                Json::Array((0..count).map(|_| self.value(depth - 1)).collect())
            }
            _ => self.object_of(depth),
        }
    }

    fn object_of(&mut self, depth: usize) -> Json {
        let mut members: Vec<(Vec<u16>, Json)> = Vec::new();
        for _ in 0..self.below(7) {
            let key = self.string(3);
            if members.iter().all(|(known, _)| *known != key) {
                members.push((key, self.value(depth - 1)));
            }
        }
        Json::Object(members)
    }

    fn string(&mut self, pieces: usize) -> Vec<u16> {
        let mut units = Vec::new();
        for _ in 0..self.below(pieces) {
            match self.below(40) {
                0 => units.push(0xD83D),
                1 => units.push(0xDE00),
                2 => units.extend(std::iter::repeat_n(u16::from(b'x'), self.below(150))),
                _ => units.extend(PIECES[self.below(PIECES.len())].encode_utf16()),
            }
        }
        units
    }
}

impl Json {
    /// Without lone surrogates, which most libraries reject.
    pub fn is_well_formed(&self) -> bool {
        let well_formed =
            |units: &[u16]| char::decode_utf16(units.iter().copied()).all(|unit| unit.is_ok());
        match self {
            Self::Literal(_) | Self::Number(_) => true,
            Self::String(units) => well_formed(units),
            Self::Array(elements) => elements.iter().all(Self::is_well_formed),
            Self::Object(members) => members
                .iter()
                .all(|(key, value)| well_formed(key) && value.is_well_formed()),
        }
    }

    pub fn canonical(&self) -> String {
        self.written(true)
    }

    /// As `JSON.stringify` writes it, with the keys in their own order.
    pub fn stringified(&self) -> String {
        self.written(false)
    }

    fn written(&self, sorted: bool) -> String {
        match self {
            Self::Literal(word) => (*word).to_owned(),
            Self::Number(formats) => formats[0].to_owned(),
            Self::String(units) => stringified(units),
            Self::Array(elements) => {
                let elements: Vec<String> = elements
                    .iter()
                    .map(|element| element.written(sorted))
                    .collect();
                format!("[{}]", elements.join(","))
            }
            Self::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                if sorted {
                    members.sort_by(|a, b| a.0.cmp(&b.0));
                }
                let members: Vec<String> = members
                    .iter()
                    .map(|(key, value)| format!("{}:{}", stringified(key), value.written(sorted)))
                    .collect();
                format!("{{{}}}", members.join(","))
            }
        }
    }

    /// With white space, other number formats and unnecessary escapes.
    pub fn randomly_formatted(&self, generator: &mut Generator) -> String {
        let mut out = String::new();
        self.format_randomly(generator, &mut out);
        out
    }

    fn format_randomly(&self, generator: &mut Generator, out: &mut String) {
        space(generator, out);
        match self {
            Self::Literal(word) => out.push_str(word),
            Self::Number(formats) => out.push_str(formats[generator.below(formats.len())]),
            Self::String(units) => spell_string(units, generator, out),
            Self::Array(elements) => {
                out.push('[');
                for (index, element) in elements.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    element.format_randomly(generator, out);
                }
                space(generator, out);
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (index, (key, value)) in members.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    space(generator, out);
                    spell_string(key, generator, out);
                    space(generator, out);
                    out.push(':');
                    value.format_randomly(generator, out);
                }
                space(generator, out);
                out.push('}');
            }
        }
        space(generator, out);
    }
}

fn space(generator: &mut Generator, out: &mut String) {
    out.push_str(["", "", "", " ", "\n", "\t \r\n"][generator.below(6)]);
}

fn stringified(units: &[u16]) -> String {
    let mut out = String::from("\"");
    for decoded in char::decode_utf16(units.iter().copied()) {
        match decoded {
            Ok('"') => out.push_str("\\\""),
            Ok('\\') => out.push_str("\\\\"),
            Ok('\u{8}') => out.push_str("\\b"),
            Ok('\u{c}') => out.push_str("\\f"),
            Ok('\n') => out.push_str("\\n"),
            Ok('\r') => out.push_str("\\r"),
            Ok('\t') => out.push_str("\\t"),
            Ok(control) if control < ' ' => write!(out, "\\u{:04x}", u32::from(control)).unwrap(),
            Ok(character) => out.push(character),
            Err(lone) => write!(out, "\\u{:04x}", lone.unpaired_surrogate()).unwrap(),
        }
    }
    out.push('"');
    out
}

fn spell_string(units: &[u16], generator: &mut Generator, out: &mut String) {
    out.push('"');
    for decoded in char::decode_utf16(units.iter().copied()) {
        let mut pair = [0; 2];
        let (plain, units) = match decoded {
            Ok(character) => {
                let plain = (character >= ' ' && character != '"' && character != '\\')
                    .then_some(character);
                (plain, &*character.encode_utf16(&mut pair))
            }
            Err(lone) => {
                pair[0] = lone.unpaired_surrogate();
                (None, &pair[..1])
            }
        };
        match (plain, generator.below(5)) {
            (Some('/'), 0) => out.push_str("\\/"),
            (Some(plain), 1..) => out.push(plain),
            _ if units == [u16::from(b'\n')] && generator.below(2) == 0 => out.push_str("\\n"),
            (_, odd) => {
                for unit in units {
                    if odd % 2 == 0 {
                        write!(out, "\\u{unit:04x}")
                    } else {
                        write!(out, "\\u{unit:04X}")
                    }
                    .unwrap();
                }
            }
        }
    }
    out.push('"');
}
