//! Replay flags: numbered changes of the rules by which a recording answers.
//!
//! A recording names the flags that it was made under, and is replayed under the same flags for as long as it exists.
//! A changed rule never changes the meaning of an old recording. A new rule gets the next number and a row in
//! [`Flag::ALL`]. The code that applies it asks [`Flags::has`], and keeps the old rule for recordings without the flag.
//! A number is never used again, and a flag that has been published is never removed.

use crate::json::{JsonError, Scanner, quoted, write_count, write_joined};
use crate::util::Fault;

/// One change of a replay rule. The number is part of the file formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flag {
    /// A request with content that its hash does not cover is a miss. Its hash may be equal to the hash of a different
    /// request: two instances of one class, or two functions, count as equal. Without the flag, the recorded answer
    /// is returned, and the report of the replay lists the call.
    ExactRequests = 1,
    /// A call or frame that is asked inside a call belongs to it: it answers only inside the same call, and is used up
    /// when the recorded answer of that call is returned. Without the flag, it answers anywhere in the frame, and adapters
    /// journal nothing inside a call.
    InnerCalls = 2,
    /// A retry that a client reports belongs to the call that it repeats, also if equal requests run in parallel.
    /// Without the flag, it belongs to the last equal call of its frame.
    OwnAttempts = 3,
    /// Calls that ended in one tick of the event loop, one right after the other, are released in one tick. Without
    /// the flag, each end has a tick of its own.
    SharedTicks = 4,
    /// The content of objects that JSON lacks is part of a hash: bytes, entries, and the fields of class instances.
    /// Without the flag only the name of their class is. And props with content that their hash does not cover do not
    /// identify a frame: it is found by its callId, is not reused, and answers no request that another frame with
    /// equal props has recorded too. Without the flag they identify it like any other props.
    ExactContent = 5,
    /// A failure counts as handled only if something shows that the program had seen it: who waited for it and for a
    /// later call, or that nothing else ran in between. Without the flag, any later start in its frame counts.
    SeenFailures = 6,
    /// The document of an HTTP request contains all of its headers and parameters that may change the answer, digests
    /// of its secrets, and numbers and members that JSON loses. Without the flag, five headers count, values of secret
    /// parameters do not, and a body counts by what `JSON.parse` makes of it.
    WholeRequests = 7,
}

impl Flag {
    pub const ALL: &[Self] = &[
        Self::ExactRequests,
        Self::InnerCalls,
        Self::OwnAttempts,
        Self::SharedTicks,
        Self::ExactContent,
        Self::SeenFailures,
        Self::WholeRequests,
    ];

    pub const fn number(self) -> u32 {
        self as u32
    }

    /// The version of the package that introduced the flag.
    pub const fn since(self) -> &'static str {
        match self {
            Self::ExactRequests
            | Self::InnerCalls
            | Self::OwnAttempts
            | Self::SharedTicks
            | Self::ExactContent
            | Self::SeenFailures
            | Self::WholeRequests => "0.1.0",
        }
    }

    const fn bit(self) -> u32 {
        1 << (self.number() - 1)
    }
}

/// The replay flags of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flags(u32);

impl Flags {
    /// The rules of recordings that name no recorder: those made before there were flags, by other recorders, or by
    /// hand.
    pub const NONE: Self = Self(0);

    /// The rules of new recordings.
    pub const CURRENT: Self = {
        let mut bits = 0;
        let mut index = 0;
        while index < Flag::ALL.len() {
            bits |= Flag::ALL[index].bit();
            index += 1;
        }
        Self(bits)
    };

    pub const fn has(self, flag: Flag) -> bool {
        self.0 & flag.bit() != 0
    }

    /// The numbers of the flags, in ascending order.
    pub fn numbers(self) -> impl Iterator<Item = u32> {
        let flags = Flag::ALL.iter().filter(move |flag| self.has(**flag));
        flags.map(|flag| flag.number())
    }

    fn insert(&mut self, flag: Flag) {
        self.0 |= flag.bit();
    }
}

/// The program that made a recording, and the rules that it recorded under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorder {
    /// Version of the package, for information only. Replay depends on the flags alone.
    pub version: String,
    pub flags: Flags,
    /// The key of the digests that stand for secrets in requests. Absent without such digests.
    pub salt: Option<String>,
}

impl Recorder {
    /// This version of the package, recording under these flags.
    pub fn this(flags: Flags, salt: Option<String>) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            flags,
            salt,
        }
    }

    /// Reads `{ version, flags, salt? }`. `path` names it in the faults.
    ///
    /// # Errors
    /// All faults. An unknown flag is a fault, because the recording cannot be replayed without its rule.
    pub fn read(text: &str, path: &str) -> Result<Self, Vec<Fault>> {
        let mut faults = Vec::new();
        match read(text, path, &mut faults) {
            Ok(recorder) if faults.is_empty() => Ok(recorder),
            Ok(_) => Err(faults),
            Err(error) => Err(vec![fault(path, error.to_string())]),
        }
    }

    pub fn write(&self, out: &mut String) {
        let version = quoted(&self.version);
        out.push_str(&format!(r#"{{"version":{version},"flags":["#));
        write_joined(self.flags.numbers(), out, |number, out| {
            write_count(number.into(), out);
        });
        out.push(']');
        if let Some(salt) = &self.salt {
            out.push_str(&format!(r#","salt":{}"#, quoted(salt)));
        }
        out.push('}');
    }
}

fn fault(path: &str, message: impl Into<String>) -> Fault {
    Fault {
        path: path.to_owned(),
        message: message.into(),
    }
}

fn read(text: &str, path: &str, faults: &mut Vec<Fault>) -> Result<Recorder, JsonError> {
    let mut recorder = Recorder {
        version: String::new(),
        flags: Flags::NONE,
        salt: None,
    };
    if !text.starts_with('{') {
        faults.push(fault(path, "expected an object"));
        return Ok(recorder);
    }
    let [version, flags, salt] = Scanner::new(text).members(["version", "flags", "salt"])?;
    let string = |value: Option<&str>| {
        let literal = Scanner::new(value?).string().ok()?;
        Some(literal.to_json_str().to_display().into_owned())
    };
    recorder.salt = string(salt);
    let numbers = Scanner::new(flags.unwrap_or("null")).elements()?;
    for (index, number) in numbers.into_iter().enumerate() {
        let mut known = Flag::ALL.iter();
        match known.find(|flag| number.parse() == Ok(flag.number())) {
            Some(flag) => recorder.flags.insert(*flag),
            None => faults.push(fault(&format!("{path}.flags.{index}"), unknown(number))),
        }
    }
    match string(version) {
        Some(version) => recorder.version = version,
        None => faults.push(fault(&format!("{path}.version"), "expected a string")),
    }
    if !flags.is_some_and(|flags| flags.starts_with('[')) {
        let message = "expected a list of numbers";
        faults.push(fault(&format!("{path}.flags"), message));
    }
    Ok(recorder)
}

fn unknown(text: &str) -> String {
    match text.parse::<u32>() {
        Ok(number) if number > 0 => format!(
            "unknown replay flag {number}: recorded by a newer version, update agent-rewind to replay it"
        ),
        _ => "expected the number of a replay flag".to_owned(),
    }
}

#[cfg(test)]
#[path = "../../tests/unit/model/flags.rs"]
mod tests;
