//! What the last changes have made of the file's text, so that taking one back brings back every byte.
//!
//! A value set back is written as it would be written anew; a comment that stood beside a removed line, or a list that
//! was laid out by hand, would be gone for good.

use watchbill_protocol::settings::SettingKey;

use crate::values::Value;

/// So many steps can be taken back.
const STEPS: usize = 32;

/// The steps, the newest last. Any change by somebody else makes them void: their texts are not the file's any more.
#[derive(Debug, Default)]
pub(crate) struct Undo(Vec<Step>);

#[derive(Debug)]
struct Step {
    key: SettingKey,
    value: Option<Value>,
    before: String,
    after: String,
}

impl Undo {
    /// Notes that `key`, which had this value, was changed.
    pub(crate) fn note(&mut self, key: SettingKey, value: Option<Value>, before: String, after: String) {
        if self.0.len() == STEPS {
            self.0.remove(0);
        }
        self.0.push(Step { key, value, before, after });
    }

    /// The text as it was, where just this takes back the last change of `text`.
    pub(crate) fn take_back(&mut self, text: &str, key: SettingKey, value: Option<&Value>) -> Option<String> {
        let step = self.0.last()?;
        if step.after != text {
            self.0.clear();
            return None;
        }
        let matches = step.key == key && step.value.as_ref() == value;
        self.0.pop_if(|_| matches).map(|step| step.before)
    }
}
