use std::cell::RefCell;
use std::sync::Arc;

use agent_rewind_core::json::{quoted, write_joined};
use agent_rewind_core::redact::{
    Find, Options, Redactor as CoreRedactor, StreamRedactor, UserRule,
};
use napi_derive::napi;

use crate::error::{Result, json_error, rule_error};
use crate::js_text::JsText;

/// A rule of the user: a pattern with its flags, or names of members.
#[napi(object)]
pub struct BindingRedactRule {
    pub id: String,
    pub pattern: Option<String>,
    pub flags: Option<String>,
    pub keys: Option<Vec<String>>,
}

#[napi(object)]
pub struct BindingRedactOptions {
    pub rules: Vec<BindingRedactRule>,
    pub key: Option<String>,
    /// Ids of built-in rules to disable.
    pub without: Vec<String>,
}

/// Finds and replaces secrets in JSON text.
#[napi]
pub struct Redactor(Arc<CoreRedactor>);

#[napi]
impl Redactor {
    #[napi(constructor, catch_unwind)]
    pub fn new(options: BindingRedactOptions) -> Result<Self> {
        let rules = options.rules.into_iter().map(user_rule).collect();
        CoreRedactor::new(&Options {
            rules,
            key: options.key.map(String::into_bytes),
            without: options.without,
        })
        .map(|redactor| Self(Arc::new(redactor)))
        .map_err(rule_error)
    }

    /// Identifies the key without revealing it.
    #[napi(getter, catch_unwind)]
    pub fn key_id(&self) -> Option<String> {
        self.0.key_id()
    }

    /// The redacted JSON text. Absent if it contains no secret.
    #[napi(catch_unwind)]
    pub fn redact(&self, #[napi(ts_arg_type = "string")] text: JsText) -> Result<Option<String>> {
        self.0.redact_json(&text).map_err(json_error)
    }

    /// The secrets in a JSON text, as JSON text of a list of findings.
    #[napi(catch_unwind)]
    pub fn find(&self, text: String) -> Result<String> {
        let findings = self.0.find_json(&text).map_err(json_error)?;
        let mut out = "[".to_owned();
        write_joined(&findings, &mut out, |finding, out| {
            let (rule, pointer) = (&finding.rule, quoted(&finding.pointer));
            let key = if finding.is_key { r#","key":true"# } else { "" };
            let (start, end) = (finding.span.start, finding.span.end);
            out.push_str(&format!(
                r#"{{"rule":"{rule}","pointer":{pointer}{key},"span":[{start},{end}]}}"#
            ));
        });
        out.push(']');
        Ok(out)
    }

    /// Creates a redactor for streamed text that holds back this many bytes.
    #[napi(catch_unwind)]
    pub fn stream(&self, hold_back: u32) -> RedactStream {
        let redactor = Arc::clone(&self.0);
        RedactStream(RefCell::new(StreamRedactor::new(
            redactor,
            hold_back as usize,
        )))
    }
}

fn user_rule(rule: BindingRedactRule) -> UserRule {
    let find = match rule.pattern {
        Some(source) => Find::Pattern {
            source,
            flags: rule.flags.unwrap_or_default(),
        },
        None => Find::Keys(rule.keys.unwrap_or_default()),
    };
    UserRule { id: rule.id, find }
}

/// Redacts text that arrives in chunks.
#[napi]
pub struct RedactStream(RefCell<StreamRedactor>);

#[napi]
impl RedactStream {
    #[napi(catch_unwind)]
    pub fn push(&self, #[napi(ts_arg_type = "string")] chunk: JsText) -> String {
        self.0.borrow_mut().push(&chunk)
    }

    #[napi(catch_unwind)]
    pub fn finish(&self) -> String {
        self.0.borrow_mut().finish()
    }
}
