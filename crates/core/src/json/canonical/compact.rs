use crate::json::error::{JsonError, JsonErrorKind};
use crate::json::number::write_number_token;
use crate::json::scan::{MAX_OPEN, Scanner};

type Result<T> = std::result::Result<T, JsonError>;

/// The form in which numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    /// The form of `JSON.stringify`.
    Ecma,
    AsWritten,
}

/// The text as `JSON.stringify` would write it if it kept the order of keys and duplicate keys.
pub(super) fn compact(text: &str, numbers: Numbers) -> Result<String> {
    let mut compactor = Compactor::new(text, numbers);
    compactor.run(usize::MAX)?;
    Ok(compactor.out)
}

/// Maps a byte offset in the compact form of `text` to the start of that token in `text`.
pub(super) fn source_offset(text: &str, offset: usize) -> usize {
    let mut compactor = Compactor::new(text, Numbers::Ecma);
    match compactor.run(offset) {
        Ok(()) => compactor.scanner.position(),
        Err(error) => error.offset,
    }
}

struct Compactor<'a> {
    scanner: Scanner<'a>,
    /// One entry per open container; true for objects.
    open: Vec<bool>,
    numbers: Numbers,
    out: String,
}

impl<'a> Compactor<'a> {
    fn new(text: &'a str, numbers: Numbers) -> Self {
        Self {
            scanner: Scanner::new(text),
            open: Vec::new(),
            numbers,
            out: String::with_capacity(text.len()),
        }
    }

    /// Runs to the end, or stops before the key that would be written at offset `stop`.
    fn run(&mut self, stop: usize) -> Result<()> {
        loop {
            let entered = self.begin_value()?;
            if !entered && !self.next_item()? {
                return self.scanner.finish();
            }
            if self.open.last() == Some(&true) {
                self.scanner.peek();
                if self.out.len() == stop {
                    return Ok(());
                }
                self.string()?;
                self.scanner.expect(b':')?;
                self.out.push(':');
            }
        }
    }

    /// Writes a scalar or enters a container. Returns true if it entered a container that has items.
    fn begin_value(&mut self) -> Result<bool> {
        match self.scanner.peek() {
            Some(b'{') => {
                self.open('{', true)?;
                Ok(self.scanner.peek() != Some(b'}'))
            }
            Some(b'[') => {
                self.open('[', false)?;
                Ok(self.scanner.peek() != Some(b']'))
            }
            Some(b'"') => self.string().map(|()| false),
            Some(b'-' | b'0'..=b'9') => self.number().map(|()| false),
            _ => self.literal().map(|()| false),
        }
    }

    fn open(&mut self, bracket: char, is_object: bool) -> Result<()> {
        self.pass(bracket);
        if self.open.len() == MAX_OPEN {
            return self.scanner.error(JsonErrorKind::TooDeep);
        }
        self.open.push(is_object);
        Ok(())
    }

    /// Closes the containers that end here. Returns true if the container that is then open has another item.
    fn next_item(&mut self) -> Result<bool> {
        while let Some(is_object) = self.open.last() {
            match (self.scanner.peek(), *is_object) {
                (Some(b','), _) => {
                    self.pass(',');
                    return Ok(true);
                }
                (Some(b'}'), true) => self.close('}'),
                (Some(b']'), false) => self.close(']'),
                _ => return self.scanner.unexpected(),
            }
        }
        Ok(false)
    }

    fn close(&mut self, bracket: char) {
        self.pass(bracket);
        self.open.pop();
    }

    fn pass(&mut self, punctuation: char) {
        self.scanner.advance();
        self.out.push(punctuation);
    }

    fn string(&mut self) -> Result<()> {
        if self.scanner.peek() != Some(b'"') {
            return self.scanner.unexpected();
        }
        let raw = self.scanner.string()?;
        self.out.push('"');
        self.out.push_str(&raw.normalized());
        self.out.push('"');
        Ok(())
    }

    fn number(&mut self) -> Result<()> {
        let offset = self.scanner.position();
        let token = self.scanner.number()?;
        if self.numbers == Numbers::AsWritten {
            self.out.push_str(token);
            return Ok(());
        }
        write_number_token(token, &mut self.out).map_err(|kind| JsonError { kind, offset })
    }

    fn literal(&mut self) -> Result<()> {
        let start = self.scanner.position();
        self.scanner.number_or_literal()?;
        self.out
            .push_str(self.scanner.slice(start..self.scanner.position()));
        Ok(())
    }
}
