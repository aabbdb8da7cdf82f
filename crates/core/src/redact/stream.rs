//! Redaction of streamed text.

use std::sync::Arc;

use super::{Cluster, Redactor, TextKind};

/// The amount of emitted text that is kept, because the text before a secret can identify it.
const CONTEXT: usize = 256;

/// Redacts text that arrives in chunks. A secret may span any number of chunks. Holds back at most the given number
/// of bytes and the last chunk.
pub struct StreamRedactor {
    redactor: Arc<Redactor>,
    hold_back: usize,
    /// The last emitted text, followed by the text held back.
    buffer: String,
    /// The start of the text held back.
    done: usize,
    /// The rest of a secret that is longer than the text that may be held back.
    inside: Option<Inside>,
}

/// The form of the rest of a secret.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    /// Up to the last line of a PEM key.
    PrivateKey,
    /// Up to the first character that is not part of a word.
    Word,
}

impl StreamRedactor {
    pub fn new(redactor: Arc<Redactor>, hold_back: usize) -> Self {
        Self {
            redactor,
            hold_back,
            buffer: String::new(),
            done: 0,
            inside: None,
        }
    }

    /// Adds a chunk. Returns the text that is certain to contain no secret.
    pub fn push(&mut self, chunk: &str) -> String {
        self.buffer.push_str(chunk);
        self.skip_secret();
        if self.buffer.len() - self.done <= self.hold_back {
            return String::new();
        }
        let clusters = self.clusters();
        let wanted = self
            .buffer
            .floor_char_boundary(self.buffer.len() - self.hold_back);
        let cut = self.cut(wanted, &clusters);
        let mut out = self.emit(cut, &clusters);
        if cut < self.buffer.len() {
            self.begin_long_secret(&mut out);
        }
        out
    }

    /// Returns the text held back. The redactor can then be reused.
    pub fn finish(&mut self) -> String {
        self.skip_secret();
        let clusters = self.clusters();
        let out = self.emit(self.buffer.len(), &clusters);
        self.buffer.clear();
        self.done = 0;
        self.inside = None;
        out
    }

    fn clusters(&self) -> Vec<Cluster> {
        self.redactor.clusters(&self.buffer, TextKind::Stream).0
    }

    /// The position to cut at, at most `wanted`: not within a secret, a word or a placeholder.
    fn cut(&self, wanted: usize, clusters: &[Cluster]) -> usize {
        let held = &self.buffer.as_bytes()[self.done..wanted];
        let word = held
            .iter()
            .rposition(u8::is_ascii_whitespace)
            .map(|space| self.done + space + 1);
        let cut = word.unwrap_or(wanted);
        match clusters
            .iter()
            .find(|cluster| cluster.start < cut && cut < cluster.end)
        {
            // The secret is complete: other text follows it.
            Some(cluster) if cluster.end < self.buffer.len() => cluster.end,
            Some(cluster) => cluster.start.max(self.done),
            None => cut,
        }
    }

    /// Returns the redacted text before the cut.
    fn emit(&mut self, cut: usize, clusters: &[Cluster]) -> String {
        let mut out = String::new();
        let mut at = self.done;
        for cluster in clusters.iter().filter(|cluster| cluster.end > self.done) {
            if cluster.start >= cut {
                break;
            }
            let start = cluster.start.max(at);
            out.push_str(&self.buffer[at..start]);
            let rest = Cluster {
                start,
                ..cluster.clone()
            };
            self.redactor.replace(&mut out, &self.buffer, &rest);
            at = cluster.end;
        }
        out.push_str(self.buffer.get(at..cut).unwrap_or_default());
        self.done = cut.max(at);
        self.trim_context();
        out
    }

    /// Drops emitted text that is no longer needed as context.
    fn trim_context(&mut self) {
        if self.done > 2 * CONTEXT {
            let from = self.buffer.floor_char_boundary(self.done - CONTEXT);
            self.buffer.drain(..from);
            self.done -= from;
        }
    }

    /// Replaces the known part of a secret that is longer than the text that may be held back, and skips its rest.
    fn begin_long_secret(&mut self, out: &mut String) {
        if self.buffer.len() - self.done <= self.hold_back.saturating_mul(2).max(CONTEXT) {
            return;
        }
        let clusters = self.clusters();
        let mut open = clusters
            .iter()
            .filter(|cluster| cluster.end == self.buffer.len() && cluster.start >= self.done);
        let Some(open) = open.next() else { return };
        let is_key = self.buffer[open.start..].starts_with("-----BEGIN ");
        out.push_str(&self.emit(self.buffer.len(), &clusters));
        self.inside = Some(if is_key {
            Inside::PrivateKey
        } else {
            Inside::Word
        });
    }

    /// Drops the rest of a secret whose placeholder was emitted.
    fn skip_secret(&mut self) {
        let Some(inside) = self.inside else { return };
        let held = &self.buffer[self.done..];
        let end = match inside {
            Inside::Word => held.find(|character: char| {
                !(character.is_ascii_alphanumeric() || "+/=_-.~%".contains(character))
            }),
            Inside::PrivateKey => held
                .find("-----END ")
                .and_then(|line| held[line + 9..].find("-----").map(|end| line + 9 + end + 5)),
        };
        let dropped = match (end, inside) {
            (Some(end), _) => {
                self.inside = None;
                end
            }
            (None, Inside::Word) => held.len(),
            // The last line may have begun.
            (None, Inside::PrivateKey) => held.floor_char_boundary(held.len().saturating_sub(80)),
        };
        let from = self.done;
        self.buffer.drain(from..from + dropped);
    }
}
