//! Explains why the recording has no answer for a call: the nearest recorded request, and the differences from it.

use std::sync::Arc;

use crate::diff::{Diff, MAX_DIFFERENCES, Summary, diff, explain, nearest, summarize};
use crate::json::JsonStr;
use crate::model::Call;

#[derive(Debug, Clone)]
pub struct Explanation {
    pub nearest: Arc<Call>,
    pub diff: Diff,
    pub summary: Summary,
}

impl Explanation {
    /// Compares a request document with those of recorded calls. Of equally near ones, the earlier candidate is chosen.
    /// `None` if no request was kept.
    #[must_use]
    pub fn of(candidates: &[Arc<Call>], actual: &str) -> Option<Self> {
        let kept = candidates
            .iter()
            .filter_map(|call| Some((call, call.request.as_ref()?.pieces()?)));
        let nearest = Arc::clone(nearest(kept, actual)?);
        let recorded = nearest.request.as_ref()?.pieces()?.concat();
        let diff = diff(&recorded, actual, MAX_DIFFERENCES).ok()?;
        let summary = summarize(&recorded, actual, &diff);
        Some(Self {
            nearest,
            diff,
            summary,
        })
    }

    /// The explanation in words.
    #[must_use]
    pub fn text(&self) -> String {
        let call_id = &self.nearest.call_id;
        if self.diff.is_empty() {
            return match &self.nearest.within {
                Some(outer) => format!(
                    "The request equals that of {call_id}, which answers only inside {outer}."
                ),
                None => format!("The request equals that of {call_id}, which is used up."),
            };
        }
        let mut text = format!(
            "The nearest recorded one is {call_id}: {}.",
            explain(&self.diff)
        );
        if self.diff.more == 0
            && self
                .diff
                .differences
                .iter()
                .all(|difference| difference.nature.is_volatile())
        {
            text.push_str(" Values that change from run to run are left out of the hash by options.normalize.");
        }
        text
    }

    /// Writes the explanation as a JSON object.
    pub fn write_json(&self, out: &mut String) {
        out.push_str(r#"{"nearest":{"callId":"#);
        self.nearest.call_id.write_quoted(out);
        out.push_str(&format!(
            r#","contentHash":"{}"}},"text":"#,
            self.nearest.hash
        ));
        JsonStr::from_plain(&self.text()).write_quoted(out);
        // Their members without braces.
        let summary = serde_json::to_string(&self.summary).unwrap_or_default();
        out.push_str(summary.replacen('{', ",", 1).trim_end_matches('}'));
        out.push_str(&self.diff.to_json().replacen('{', ",", 1));
    }
}
