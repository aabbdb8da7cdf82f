//! The failures of a frame that the program may not have seen yet, and what shows that it has.

use std::cell::RefCell;

/// Something that happened in the program: a failure was handed out, or a call was started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Moment {
    /// `None` if an unknown number of awaiters is missing. Such a chain proves nothing.
    pub awaiters: Option<Awaiters>,
    /// The turn of the event loop. Each turn has another number.
    pub turn: u64,
}

/// The functions that waited for each other, from the frame inwards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Awaiters(Vec<Box<str>>);

impl Awaiters {
    /// Reads names from the inside out, one per line. `all[1]` is the second promise of `Promise.all`.
    pub fn read(lines: &str) -> Self {
        Self(lines.lines().rev().map(Box::from).collect())
    }

    /// False if both are in different branches of one combinator: then neither shows what the other one has seen.
    fn share_a_branch(&self, other: &Self) -> bool {
        let mut both = self.0.iter().zip(&other.0);
        let first = both.find(|(left, right)| left != right);
        first.is_none_or(|(left, right)| {
            let combinator = branch_of(left);
            combinator.is_none() || combinator != branch_of(right)
        })
    }
}

/// The combinator whose branch this is: `all` for `all[1]`.
fn branch_of(name: &str) -> Option<&str> {
    let (combinator, index) = name.strip_suffix(']')?.rsplit_once('[')?;
    let is_index = !index.is_empty() && index.bytes().all(|digit| digit.is_ascii_digit());
    is_index.then_some(combinator)
}

/// A failure that was handed out to the program.
#[derive(Debug)]
struct HandedOut<F> {
    failure: F,
    moment: Moment,
    /// Since its end, nothing else of the frame was open.
    alone: bool,
}

impl<F> HandedOut<F> {
    /// True if the program that starts a call now has seen the failure.
    fn was_seen(&self, start: &Moment) -> bool {
        match (&self.moment.awaiters, &start.awaiters) {
            (Some(failed), Some(starts)) => failed.share_a_branch(starts),
            _ if self.moment.turn == start.turn => true,
            (None, None) => self.alone,
            _ => false,
        }
    }
}

/// The failures that reached a live frame and that it has not handled so far.
#[derive(Debug)]
pub(crate) struct PendingFailures<F>(RefCell<Vec<HandedOut<F>>>);

impl<F> PendingFailures<F> {
    pub(crate) fn new() -> Self {
        Self(RefCell::default())
    }

    /// `alone`: nothing else of the frame is open.
    pub(crate) fn add(&self, failure: F, moment: Moment, alone: bool) {
        self.0.borrow_mut().push(HandedOut {
            failure,
            moment,
            alone,
        });
    }

    /// Removes and returns the failures that the program has seen if it starts something now.
    pub(crate) fn take_seen(&self, start: &Moment) -> Vec<F> {
        let (seen, mut unseen): (Vec<_>, Vec<_>) = self
            .0
            .take()
            .into_iter()
            .partition(|handed| handed.was_seen(start));
        for handed in &mut unseen {
            handed.alone = false;
        }
        self.0.replace(unseen);
        seen.into_iter().map(|handed| handed.failure).collect()
    }

    pub(crate) fn take_all(&self) -> Vec<F> {
        let all = self.0.take().into_iter();
        all.map(|handed| handed.failure).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }
}

#[cfg(test)]
#[path = "../../tests/unit/retry_rule/seen.rs"]
mod tests;
