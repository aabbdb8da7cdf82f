//! Redaction of text that comes in chunks.

use std::sync::Arc;

use super::view::View;
use super::walk::Walk;
use super::{Cluster, Redactor, merged, placeholder, without};

/// Text that has been handed out is kept so far, because what stands before a secret may tell of it.
const CONTEXT: usize = 256;

/// Redacts text that comes in chunks: a secret may lie over any number of them. Holds back at most
/// so many bytes as were asked for, and the chunk that came last.
pub struct StreamRedactor {
    redactor: Arc<Redactor>,
    hold_back: usize,
    /// What was handed out last, and what is held back.
    buffer: String,
    /// Where in the buffer what is held back begins.
    done: usize,
    /// A secret that is longer than what may be held back is being passed over.
    inside: Option<Inside>,
}

/// What the rest of a secret that began earlier is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    /// Up to the line that ends a key.
    PrivateKey,
    /// Up to the first character that is no part of a word.
    Word,
}

impl StreamRedactor {
    #[must_use]
    pub fn new(redactor: Arc<Redactor>, hold_back: usize) -> Self {
        Self {
            redactor,
            hold_back,
            buffer: String::new(),
            done: 0,
            inside: None,
        }
    }

    /// Takes a chunk, and gives what is certain to hold no secret.
    pub fn push(&mut self, chunk: &str) -> String {
        self.buffer.push_str(chunk);
        self.pass_over();
        if self.buffer.len() - self.done <= self.hold_back {
            return String::new();
        }
        let clusters = self.clusters();
        let wanted = floor(&self.buffer, self.buffer.len() - self.hold_back);
        let cut = self.cut(wanted, &clusters);
        let out = self.hand_out(cut, &clusters);
        if cut < self.buffer.len() {
            self.start_inside(cut, &clusters, out)
        } else {
            out
        }
    }

    /// Gives what was held back. The redactor can be used anew.
    pub fn finish(&mut self) -> String {
        self.pass_over();
        let clusters = self.clusters();
        let out = self.hand_out(self.buffer.len(), &clusters);
        self.buffer.clear();
        self.done = 0;
        self.inside = None;
        out
    }

    fn clusters(&self) -> Vec<Cluster> {
        let mut walk = Walk::new(&self.redactor.rules, &self.redactor.enabled);
        walk.text(&View::whole(&self.buffer));
        let kept = placeholder::placeholders(&self.buffer, &self.redactor.rules);
        without(merged(walk.found), &kept)
    }

    /// Where to cut, at or before a place: not inside of a secret, of a word or of a placeholder.
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
            // Whole, with something after it that ends it.
            Some(cluster) if cluster.end < self.buffer.len() => cluster.end,
            Some(cluster) => cluster.start.max(self.done),
            None => cut,
        }
    }

    /// Hands out what stands before the cut, redacted.
    fn hand_out(&mut self, cut: usize, clusters: &[Cluster]) -> String {
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
        self.forget();
        out
    }

    /// Drops what is no longer needed before what is held back.
    fn forget(&mut self) {
        if self.done > 2 * CONTEXT {
            let from = floor(&self.buffer, self.done - CONTEXT);
            self.buffer.drain(..from);
            self.done -= from;
        }
    }

    /// A secret that has grown longer than what may be held back is replaced as far as it is known,
    /// and its rest is passed over.
    fn start_inside(&mut self, _: usize, _: &[Cluster], mut out: String) -> String {
        if self.buffer.len() - self.done <= self.hold_back.saturating_mul(2).max(CONTEXT) {
            return out;
        }
        let clusters = self.clusters();
        let open = clusters
            .iter()
            .find(|cluster| cluster.end == self.buffer.len() && cluster.start >= self.done);
        let Some(open) = open.cloned() else {
            return out;
        };
        let is_key = self.buffer[open.start..].starts_with("-----BEGIN ");
        out.push_str(&self.hand_out(self.buffer.len(), &clusters));
        self.inside = Some(if is_key {
            Inside::PrivateKey
        } else {
            Inside::Word
        });
        out
    }

    /// Drops the rest of a secret whose placeholder was handed out.
    fn pass_over(&mut self) {
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
            (None, Inside::PrivateKey) => floor(held, held.len().saturating_sub(80)),
        };
        let from = self.done;
        self.buffer.drain(from..from + dropped);
    }
}

fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}
